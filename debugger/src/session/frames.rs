//! The selected frame: the open procedure whose names are meant, and to which questions about "here"
//! refer. A motion selects the innermost one again. Travels nowhere.

use super::{Session, SessionError};

impl Session {
    /// The call depth of the selected frame; 0 is main.
    pub fn depth(&self) -> usize {
        self.state().calls.len().saturating_sub(self.selected)
    }

    /// Selects a frame by its number, as a backtrace counts them: 0 is the innermost.
    ///
    /// # Errors
    /// So many calls aren't open.
    pub fn select_frame(&mut self, number: usize) -> Result<(), SessionError> {
        let outermost = self.state().calls.len();
        if number > outermost {
            return Err(SessionError::NoFrame { number, outermost });
        }
        self.selected = number;
        Ok(())
    }

    /// Selects the innermost open frame of a procedure.
    ///
    /// # Errors
    /// No such procedure is open.
    pub fn select_procedure(&mut self, name: &str) -> Result<(), SessionError> {
        let innermost = self.state().calls.len();
        let is_it =
            |&depth: &usize| self.memory.procedure(self.state(), depth).is_some_and(|p| p.name == name);
        let depth = (0..=innermost).rev().find(is_it);
        let depth = depth.ok_or_else(|| SessionError::NotOpen(name.to_owned()))?;
        self.select_frame(innermost - depth)
    }

    /// Selects the frame so many calls further out, or main's where there are fewer.
    ///
    /// # Errors
    /// Main's frame is selected already.
    pub fn up(&mut self, count: usize) -> Result<(), SessionError> {
        match self.depth() {
            0 => Err(SessionError::OutermostFrame),
            depth => self.select_frame(self.selected + count.min(depth)),
        }
    }

    /// Selects the frame so many calls further in, or the innermost where there are fewer.
    ///
    /// # Errors
    /// The innermost frame is selected already.
    pub fn down(&mut self, count: usize) -> Result<(), SessionError> {
        match self.selected {
            0 => Err(SessionError::InnermostFrame),
            selected => self.select_frame(selected.saturating_sub(count)),
        }
    }

    /// The instruction at which the selected frame stands: the call that is open in it, or in the
    /// innermost frame the next one; the last one at the end.
    pub fn selected_instruction(&self) -> u32 {
        match self.state().calls.get(self.depth()) {
            Some(call) => call.site,
            None => self.next_instruction().unwrap_or_else(|| self.state().position.saturating_sub(1)),
        }
    }

    /// The instruction that the selected frame goes on with: in an outer one that behind the open call.
    pub(super) fn next_in_frame(&self) -> u32 {
        match self.state().calls.get(self.depth()) {
            Some(call) if call.inverted => call.site.saturating_sub(1),
            Some(call) => call.site + 1,
            None => self.next_instruction().unwrap_or(self.program().end()),
        }
    }

    /// Every name that the selected frame knows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.memory.names(self.state(), self.depth())
    }
}
