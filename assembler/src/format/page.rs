//! Columns of labels, statements and comments. This module handles plain text.

/// The column of a statement outside of blocks: a label of 7 characters fits before it.
const STATEMENTS: usize = 8;
/// The indentation of a block, in columns.
const STEP: usize = 4;
/// The minimum number of blanks between a statement and its comment.
const BEFORE_COMMENT: usize = 2;
/// The maximum width of a line that takes part in the alignment of comments. The comment of a longer line
/// follows the line directly.
const LONGEST: usize = 60;

/// The indentation of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indent {
    /// Column 0: directives and their comments.
    Margin,
    /// The number of enclosing blocks.
    Depth(usize),
}

impl Indent {
    fn column(self) -> usize {
        match self {
            Indent::Margin => 0,
            Indent::Depth(depth) => STATEMENTS + STEP * depth,
        }
    }
}

/// The text under construction. Consecutive lines that have comments and the same indentation are held back
/// until the last of them is known, so that their comments can be aligned.
#[derive(Default)]
pub(super) struct LayoutPage {
    text: String,
    waiting: Vec<(String, String)>,
    /// The indentation of the lines that are held back.
    indent: Option<Indent>,
    blank: bool,
}

impl LayoutPage {
    /// Adds a line with its label, its code and its comment.
    pub(super) fn line(&mut self, label: Option<&str>, indent: Indent, code: &str, comment: Option<&str>) {
        let mut line = String::with_capacity(indent.column() + code.len());
        if let Some(label) = label {
            line.push_str(label);
            line.push(':');
        }
        if !code.is_empty() {
            let padding = indent.column().saturating_sub(line.len());
            let separate = usize::from(!line.is_empty());
            line.extend(std::iter::repeat_n(' ', padding.max(separate)));
            line.push_str(code);
        }
        match comment {
            Some(comment) => {
                if self.indent.replace(indent) != Some(indent) {
                    self.flush();
                }
                self.begin_line();
                self.waiting.push((line, spaced(comment)));
            }
            None => self.plain(&line),
        }
    }

    /// Adds a line that is only a comment.
    pub(super) fn comment(&mut self, indent: Indent, comment: &str) {
        let line = format!("{}{}", " ".repeat(indent.column()), spaced(comment));
        self.plain(&line);
    }

    /// Adds a blank line. Of consecutive blank lines only one is written, and none at the beginning and the end
    /// of the text.
    pub(super) fn blank(&mut self) {
        self.flush();
        self.blank = !self.text.is_empty();
    }

    fn plain(&mut self, line: &str) {
        self.flush();
        self.begin_line();
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn begin_line(&mut self) {
        if std::mem::take(&mut self.blank) {
            self.text.push('\n');
        }
    }

    fn flush(&mut self) {
        let columns = self.waiting.iter().map(|(line, _)| last_line(line).chars().count());
        let column = columns.filter(|column| *column <= LONGEST).max().unwrap_or(0) + BEFORE_COMMENT;
        for (line, comment) in self.waiting.drain(..) {
            let padding = column.saturating_sub(last_line(&line).chars().count()).max(BEFORE_COMMENT);
            self.text.push_str(&line);
            self.text.extend(std::iter::repeat_n(' ', padding));
            self.text.push_str(&comment);
            self.text.push('\n');
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}

/// Returns the last line of a statement that has several lines.
fn last_line(code: &str) -> &str {
    code.rsplit('\n').next().unwrap_or(code)
}

/// Returns a comment with its semicolon, and with a space before words.
fn spaced(comment: &str) -> String {
    let comment = comment.trim_end();
    let words = comment.starts_with(|c: char| c.is_alphanumeric());
    if words { format!("; {comment}") } else { format!(";{comment}") }
}
