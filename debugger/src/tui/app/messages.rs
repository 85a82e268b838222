//! The messages of the session, as a list of lines.

/// The purpose of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A line typed by the user.
    Command,
    /// The result of a command.
    Reply,
    /// A notice that needs no reaction.
    Note,
    /// The reason why a command failed.
    Error,
}

/// A line of the dialogue between user and debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The purpose of the line, which selects its style.
    pub tone: Tone,
    /// One line of text, without a line end.
    pub text: String,
}

/// Maximum number of lines kept.
const MOST: usize = 5_000;

/// The messages, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    lines: Vec<Message>,
    /// The message in the last row of the screen. The next key removes the message.
    current: Option<Message>,
}

impl Messages {
    /// Returns the kept lines, oldest first.
    pub fn lines(&self) -> &[Message] {
        &self.lines
    }

    /// Appends the lines of a text to the list, and shows the first line of the text in the last row of the
    /// screen.
    pub fn say(&mut self, tone: Tone, text: &str) {
        let count = text.lines().count();
        let excess = (self.lines.len() + count).saturating_sub(MOST).min(self.lines.len());
        self.lines.drain(..excess);
        // Tabs become blanks, because a cell of the screen can't show a tab.
        let message = |line: &str| Message { tone, text: line.replace('\t', "    ") };
        self.current = text.lines().next().map(message);
        self.lines.extend(text.lines().skip(count.saturating_sub(MOST)).map(message));
    }

    /// Shows a line in the last row without adding it to the list.
    pub fn show(&mut self, tone: Tone, text: String) {
        self.current = Some(Message { tone, text });
    }

    /// Returns the line shown in the screen's last row.
    pub fn current(&self) -> Option<&Message> {
        self.current.as_ref()
    }

    /// Removes the message from the last row. The message stays in the list.
    pub fn dismiss(&mut self) {
        self.current = None;
    }
}
