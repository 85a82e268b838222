//! What was said during the session, line by line.

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The line that the user has typed.
    Command,
    Reply,
    /// Something that needs no answer.
    Note,
    Error,
}

/// A line of the conversation between the user and the debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub tone: Tone,
    pub text: String,
}

/// Lines that are kept.
const MOST: usize = 5_000;

/// The lines, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    lines: Vec<Message>,
    /// What the screen's last row shows until the next key.
    current: Option<Message>,
}

impl Messages {
    pub fn lines(&self) -> &[Message] {
        &self.lines
    }

    /// Adds a text, and shows its first line.
    pub fn say(&mut self, tone: Tone, text: &str) {
        let count = text.lines().count();
        let excess = (self.lines.len() + count).saturating_sub(MOST).min(self.lines.len());
        self.lines.drain(..excess);
        // A tab has no width of its own in a cell of the screen.
        let message = |line: &str| Message { tone, text: line.replace('\t', "    ") };
        self.current = text.lines().next().map(message);
        self.lines.extend(text.lines().skip(count.saturating_sub(MOST)).map(message));
    }

    /// Shows a line in the last row that sums up what was said.
    pub fn show(&mut self, tone: Tone, text: String) {
        self.current = Some(Message { tone, text });
    }

    /// The line to be shown in the screen's last row.
    pub fn current(&self) -> Option<&Message> {
        self.current.as_ref()
    }

    /// Takes it from there; it stays in the list.
    pub fn dismiss(&mut self) {
        self.current = None;
    }
}
