//! Advice for arguments that clap refuses: cells that are given without `--set`.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use super::Arguments;

/// Adds the corrected command to an error, if the refused argument is recognized as a cell. `given` are the arguments
/// after the program's name.
pub fn advise(error: &mut clap::Error, given: &[String]) {
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg).cloned() else { return };
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let root = Arguments::command();
    let takes_cells =
        |command: &Command| command.get_arguments().any(|argument| argument.get_long() == Some("set"));
    let Some(command) = given.first().and_then(|name| root.find_subcommand(name)) else { return };
    let Some(meant) = meant(&refused, given).filter(|_| takes_cells(command)) else { return };
    let file = given.iter().skip(1).find(|word| is_program(word)).map_or("FILE", |file| &**file);
    let tip = format!("set a cell with `--set`: `reviver {} {file} --set {meant}`", command.get_name());
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error.remove(ContextKind::SuggestedArg);
}

/// Returns the cell and value that a refused argument means, as `NAME=VALUE`.
fn meant(refused: &str, given: &[String]) -> Option<String> {
    let at = given.iter().position(|word| word == refused || word.starts_with(&format!("{refused}=")));
    let next = at.and_then(|at| given.get(at + 1)).map(String::as_str);
    let before = at.and_then(|at| at.checked_sub(1)).and_then(|before| given.get(before)).map(String::as_str);
    let whole = at.and_then(|at| given.get(at)).map_or(refused, String::as_str);
    if let Some(option) = whole.strip_prefix("--").or_else(|| whole.strip_prefix('-')) {
        return match option.split_once('=') {
            Some((name, value)) => pair(name, value),
            None => pair(option, next?),
        };
    }
    if let Some((name, value)) = whole.split_once('=') {
        return pair(name, value);
    }
    if is_value(whole) {
        // The refused argument is the value in `--set n 10`, or a value without a name.
        return before
            .filter(|name| is_name(name))
            .and_then(|name| pair(name, whole))
            .or_else(|| pair("n", whole));
    }
    // The refused argument is the program's file, and the argument before it, which clap took for the file, is the
    // cell.
    let first = given.iter().skip(1).find_map(|word| word.split_once('='));
    first.filter(|_| is_program(whole)).and_then(|(name, value)| pair(name, value))
}

fn pair(name: &str, value: &str) -> Option<String> {
    (is_name(name) && !value.is_empty() && value.split(',').all(is_value)).then(|| format!("{name}={value}"))
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_value(text: &str) -> bool {
    text.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with('@')
}

fn is_program(text: &str) -> bool {
    text.ends_with(".rasm") || text.ends_with(".rbc")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(refused: &str, line: &str) -> Option<String> {
        meant(refused, &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn cells_are_recognized() {
        let expected = |cell: &str| Some(cell.to_owned());
        assert_eq!(typed("n=10", "run fib.rasm n=10"), expected("n=10"));
        assert_eq!(typed("-n", "run fib.rasm -n 10"), expected("n=10"));
        assert_eq!(typed("-n", "run fib.rasm -n=10"), expected("n=10"));
        assert_eq!(typed("--n", "run fib.rasm --n -1.5"), expected("n=-1.5"));
        assert_eq!(typed("--count", "run fib.rasm --count=3"), expected("count=3"));
        assert_eq!(typed("10", "run fib.rasm --set n 10"), expected("n=10"));
        assert_eq!(typed("A=1,2,3", "run sort.rasm A=1,2,3"), expected("A=1,2,3"));
        assert_eq!(typed("fib.rasm", "run n=10 fib.rasm"), expected("n=10"));
        assert_eq!(typed("-q", "run fib.rasm -q"), None);
        assert_eq!(typed("--verbose", "run fib.rasm --verbose"), None);
        assert_eq!(typed("other.rasm", "run fib.rasm other.rasm"), None);
    }
}
