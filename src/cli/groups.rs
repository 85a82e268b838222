//! The commands by group, in the order of `reviver --help` and `docs/commands.md`.

use clap::Command;

/// Commands with a common subject.
pub struct CommandGroup {
    pub title: &'static str,
    pub commands: &'static [&'static str],
}

/// All commands. Each command is in exactly one group.
pub const GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        title: "Run and inspect",
        commands: &["run", "debug", "repl", "check", "test", "bench", "plot", "graph", "circuit", "tradeoff"],
    },
    CommandGroup { title: "Derivatives", commands: &["grad", "jacobian", "jvp", "hessian", "taylor"] },
    CommandGroup { title: "Many inputs", commands: &["batch", "devices"] },
    CommandGroup {
        title: "Build and convert",
        commands: &["asm", "disasm", "build", "expand", "fmt", "invert", "opt", "bennett"],
    },
    CommandGroup { title: "Learn", commands: &["course", "isa", "explain", "completions"] },
];

/// Returns the template of the main help page. Clap puts all subcommands under one heading, so the template lists the
/// groups of commands itself.
pub fn help_template(commands: &Command) -> String {
    let (header, literal) = (commands.get_styles().get_header(), commands.get_styles().get_literal());
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for group in GROUPS {
        template += &format!("\n{header}{}:{header:#}\n", group.title);
        for name in group.commands {
            template += &format!("  {literal}{name:<11}{literal:#}  {}\n", summary(commands, name));
        }
    }
    template += "\n`reviver help COMMAND` explains a command.\n";
    template + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

/// Returns the one-line description of a command.
fn summary(commands: &Command, name: &str) -> String {
    let command = commands.find_subcommand(name).expect("every command of a group exists");
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, CommandFactory as _};

    use super::super::Arguments;
    use super::*;

    /// Verbs with which a description may begin.
    const VERBS: [&str; 16] = [
        "Assemble",
        "Check",
        "Compare",
        "Compute",
        "Debug",
        "Draw",
        "Explain",
        "Learn",
        "List",
        "Measure",
        "Plot",
        "Print",
        "Report",
        "Run",
        "Translate",
        "Write",
    ];

    /// Pairs of a command and the page of the documentation about it.
    const PAGES: [(&str, &str); 25] = [
        ("run", "levels.md"),
        ("debug", "debugger.md"),
        ("repl", "scripts.md"),
        ("check", "errors.md"),
        ("test", "test.md"),
        ("plot", "pictures.md"),
        ("graph", "pictures.md"),
        ("circuit", "pictures.md"),
        ("tradeoff", "bennett.md"),
        ("grad", "derivatives.md"),
        ("jacobian", "derivatives.md"),
        ("jvp", "derivatives.md"),
        ("hessian", "derivatives.md"),
        ("taylor", "derivatives.md"),
        ("batch", "batch.md"),
        ("devices", "devices.md"),
        ("asm", "language.md"),
        ("build", "c.md"),
        ("expand", "lowering.md"),
        ("invert", "inverse.md"),
        ("opt", "optimization.md"),
        ("bennett", "bennett.md"),
        ("course", "../course/README.md"),
        ("isa", "isa.md"),
        ("explain", "errors.md"),
    ];

    /// If at least this number of commands share an option, the page lists the option only once.
    const COMMON: usize = 3;

    const BEGINNING: &str = "# Commands

This page lists every command of `reviver`, its options and the exit codes. It is generated from the definitions of the
command line; `UPDATE_COMMANDS=1 cargo test --bin reviver page` writes it again.
";

    const EXIT_CODES: &str = "
## Exit codes

| code | meaning |
|---|---|
| 0 | success |
| 1 | a check failed |
| 2 | wrong usage |
| 3 | a program can't be assembled or loaded, or a file can't be read or written |
| 4 | the program trapped, or memory ran out |
| 5 | the step limit was reached |
| 129, 130, 143 | stopped by SIGHUP, Ctrl-C, SIGTERM |
";

    fn names() -> impl Iterator<Item = &'static str> {
        GROUPS.iter().flat_map(|group| group.commands).copied()
    }

    #[test]
    fn every_command_is_in_one_group() {
        let commands = Arguments::command();
        let mut defined: Vec<&str> = commands.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = names().collect();
        defined.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, defined);
    }

    /// Each description begins with a verb, and fits into a line of 80 columns.
    #[test]
    fn descriptions_begin_with_a_verb() {
        let commands = Arguments::command();
        for name in names() {
            let summary = summary(&commands, name);
            let verb = summary.split(' ').next().unwrap_or_default();
            assert!(VERBS.contains(&verb), "{name}: {summary}");
            assert!(summary.len() <= 65, "{name}: {summary}");
        }
    }

    #[test]
    fn the_page_of_commands_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
        let current = page();
        if std::env::var_os("UPDATE_COMMANDS").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == current,
            "docs/commands.md differs from the command line; to write it again, run\n\
             UPDATE_COMMANDS=1 cargo test --bin reviver page"
        );
    }

    fn page() -> String {
        let mut root = Arguments::command();
        root.build();
        let mut page = BEGINNING.to_owned();
        for group in GROUPS {
            page += &format!("\n## {}\n\n| command | effect | page |\n|---|---|---|\n", group.title);
            page.extend(group.commands.iter().map(|name| rows(&root, name)));
        }
        page += &format!("\n## Common options\n\nAt least {COMMON} commands have these options.\n");
        page += "\n| option | effect | commands |\n|---|---|---|\n";
        page.extend(common(&root).iter().map(|(argument, users)| {
            let users: Vec<String> = users.iter().map(|user| format!("`{user}`")).collect();
            format!("| {} | {} | {} |\n", spelling(argument), effect(argument), users.join(", "))
        }));
        for name in names() {
            page += &own_options(&root, name);
        }
        page + EXIT_CODES
    }

    /// Returns the rows of a command and its subcommands: usage, effect and page.
    fn rows(root: &Command, name: &str) -> String {
        let page = PAGES.iter().find(|(command, _)| *command == name);
        let page = page.map_or_else(String::new, |(_, page)| format!("[{page}]({page})"));
        let own = command(root, name);
        let within =
            own.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set());
        let row = |command: &Command| {
            let effect = command.get_about().map(ToString::to_string).unwrap_or_default();
            format!("| `{}` | {} | {page} |\n", cell(&usage(command)), cell(&effect))
        };
        std::iter::once(own).chain(within).map(row).collect()
    }

    fn usage(command: &Command) -> String {
        let usage = command.clone().render_usage().to_string();
        usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().replace(" [OPTIONS]", "")
    }

    fn command<'c>(root: &'c Command, name: &str) -> &'c Command {
        root.find_subcommand(name).unwrap()
    }

    /// Returns the visible options of a command.
    fn options(command: &Command) -> impl Iterator<Item = &Arg> {
        command.get_arguments().filter(|argument| {
            !argument.is_positional() && argument.get_id() != "help" && !argument.is_hide_set()
        })
    }

    /// Returns true if two options are the same option: they have the same name, value and help.
    fn is_same(one: &Arg, other: &Arg) -> bool {
        one.to_string() == other.to_string() && effect(one) == effect(other)
    }

    /// Returns the options that at least [`COMMON`] commands share, each with the names of these commands.
    fn common(root: &Command) -> Vec<(&Arg, Vec<&'static str>)> {
        let mut found: Vec<(&Arg, Vec<&'static str>)> = Vec::new();
        for name in names() {
            for option in options(command(root, name)) {
                match found.iter_mut().find(|(known, _)| is_same(known, option)) {
                    Some((_, users)) => users.push(name),
                    None => found.push((option, vec![name])),
                }
            }
        }
        found.retain(|(_, users)| users.len() >= COMMON);
        found
    }

    /// Returns the section with those options of a command that aren't common options; empty if there are none.
    fn own_options(root: &Command, name: &str) -> String {
        let common = common(root);
        let is_own = |option: &&Arg| !common.iter().any(|(known, _)| is_same(known, option));
        let rows: String = options(command(root, name))
            .filter(is_own)
            .map(|option| format!("| {} | {} |\n", spelling(option), effect(option)))
            .collect();
        match rows.is_empty() {
            true => rows,
            false => format!("\n## Options of `{name}`\n\n| option | effect |\n|---|---|\n{rows}"),
        }
    }

    /// Returns an option with its value and its aliases.
    fn spelling(option: &Arg) -> String {
        let aliases = option.get_visible_aliases().unwrap_or_default();
        let aliases: String = aliases.iter().map(|alias| format!(", also `--{alias}`")).collect();
        format!("`{}`{aliases}", cell(&option.to_string()))
    }

    /// Returns an option's help with its default.
    fn effect(option: &Arg) -> String {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let defaults: Vec<_> =
            option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let takes_value = option.get_action().takes_values() && !defaults.is_empty();
        let default =
            if takes_value { format!(" [default: {}]", defaults.join(", ")) } else { String::new() };
        cell(&(help + &default))
    }

    /// Escapes a text for a cell of a table.
    fn cell(text: &str) -> String {
        text.replace('\n', " ").replace('|', "\\|")
    }
}
