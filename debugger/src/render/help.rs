//! Rendering of help: the texts of the command table, in columns.

use std::fmt::Write as _;

use super::RenderedText;
use crate::columns::wrapped;
use crate::command::table::Command;

/// Width of the help text, in columns.
const HELP_WIDTH: usize = 79;

impl RenderedText<'_> {
    pub(super) fn help(&mut self, commands: &[&'static Command]) {
        match commands {
            [command] => self.help_on(command),
            _ => {
                self.summaries(commands);
                line!(self, "`help COMMAND` explains a command and its arguments.");
            }
        }
    }

    fn help_on(&mut self, command: &Command) {
        line!(self, "{}", command.usage);
        if !command.aliases.is_empty() {
            line!(self, "also: {}", command.aliases.join(", "));
        }
        wrapped(command.help, HELP_WIDTH).iter().for_each(|text| line!(self, "{text}"));
        self.summaries(&command.topics().iter().collect::<Vec<_>>());
    }

    /// Renders each command with the first sentence of its help.
    fn summaries(&mut self, commands: &[&'static Command]) {
        let widest = commands.iter().map(|command| command.name.len()).max().unwrap_or(0);
        for command in commands {
            let mut name = command.name;
            for text in wrapped(command.summary(), HELP_WIDTH - widest - 2) {
                line!(self, "{name:<widest$}  {text}");
                name = "";
            }
        }
    }
}
