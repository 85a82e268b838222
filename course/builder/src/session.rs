//! Console sessions as HTML. Commands look different from output, and programs typed as input are highlighted. This
//! module executes nothing.

use crate::{html, rasm};

/// Prompt at the start of a command line.
const PROMPT: &str = "$ ";

/// Returns a session as highlighted HTML. A browser displays exactly the session's text.
pub fn marked(session: &str) -> String {
    let mut lines = session.split_inclusive('\n');
    let mut marked = String::with_capacity(session.len() * 2);
    while let Some(line) = lines.next() {
        let Some(typed) = line.strip_prefix(PROMPT) else {
            marked.push_str(&html::escaped(line));
            continue;
        };
        marked.push_str(&html::span(Some("session-prompt"), PROMPT));
        marked.push_str(&html::span(Some("session-typed"), typed));
        if let Some(end) = end_of_text(typed) {
            let (text, last) = typed_below(&mut lines, end);
            let is_program = typed.contains(".rasm <<");
            marked.push_str(&if is_program { rasm::marked(&text) } else { html::escaped(&text) });
            marked.push_str(&html::span(Some("session-typed"), last));
        }
    }
    marked
}

/// Returns the word that ends a here-document, if a command begins one: `EOF` in `<<'EOF'`.
fn end_of_text(command: &str) -> Option<&str> {
    let (_, behind) = command.split_once("<<'")?;
    Some(behind.split_once('\'')?.0)
}

/// Returns the text of a here-document, and the line that ends it. The second part is empty if the session ends without
/// such a line.
fn typed_below<'s>(lines: &mut impl Iterator<Item = &'s str>, end: &str) -> (String, &'s str) {
    let mut text = String::new();
    for line in lines {
        if line.trim_end_matches(['\r', '\n']) == end {
            return (text, line);
        }
        text.push_str(line);
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_is_highlighted() {
        let session = "$ reviver run a.rasm\nb = 1 < 2\n";
        assert_eq!(
            marked(session),
            "<span class=\"session-prompt\">$ </span><span class=\"session-typed\">reviver run a.rasm\n</span>b = 1 &lt; 2\n"
        );
    }

    #[test]
    fn typed_programs_are_highlighted_and_other_texts_are_not() {
        let session = |file: &str| format!("$ cat > {file} <<'END'\nadd a, 1\nEND\n$ ls\nadd\n");
        let typed = session("a.rasm");
        assert_eq!(marked(&typed).matches("rasm-keyword").count(), 1);
        assert_eq!(html::shown(&marked(&typed)), typed);
        assert!(!marked(&session("a.txt")).contains("rasm-keyword"));
        assert_eq!(marked(&session("a.txt")).matches("session-typed").count(), 3);
    }

    #[test]
    fn an_unterminated_text_is_shown() {
        let session = "$ cat > a.rasm <<'END'\nadd a, 1\n";
        assert_eq!(html::shown(&marked(session)), session);
    }
}
