//! The selected frame. Commands resolve names in this frame, and commands about the current place refer to its
//! current instruction. Every movement selects the innermost frame.

use super::{Session, SessionError};

impl Session {
    /// Returns the call depth of the selected frame; 0 is main.
    pub fn depth(&self) -> usize {
        self.state().calls.len().saturating_sub(self.selected)
    }

    /// Selects a frame by its backtrace number: 0 is the innermost.
    ///
    /// # Errors
    /// There is no frame with this number, because fewer calls are open.
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

    /// Selects the frame `count` calls further out, at most main's.
    ///
    /// # Errors
    /// Main's frame is selected already.
    pub fn up(&mut self, count: usize) -> Result<(), SessionError> {
        match self.depth() {
            0 => Err(SessionError::OutermostFrame),
            depth => self.select_frame(self.selected + count.min(depth)),
        }
    }

    /// Selects the frame `count` calls further in, at most the innermost.
    ///
    /// # Errors
    /// The innermost frame is selected already.
    pub fn down(&mut self, count: usize) -> Result<(), SessionError> {
        match self.selected {
            0 => Err(SessionError::InnermostFrame),
            selected => self.select_frame(selected.saturating_sub(count)),
        }
    }

    /// Returns the current instruction of the selected frame: its open call, or in the innermost frame the
    /// next instruction. At the end of the program the last instruction is returned.
    pub fn selected_instruction(&self) -> u32 {
        match self.state().calls.get(self.depth()) {
            Some(call) => call.site,
            None => self.next_instruction().unwrap_or_else(|| self.state().position.saturating_sub(1)),
        }
    }

    /// Returns the instruction with which the selected frame continues. In an outer frame, it is the instruction
    /// after the frame's open call.
    pub(super) fn next_in_frame(&self) -> u32 {
        match self.state().calls.get(self.depth()) {
            Some(call) if call.inverted => call.site.saturating_sub(1),
            Some(call) => call.site + 1,
            None => self.next_instruction().unwrap_or(self.program().end()),
        }
    }

    /// Returns every name visible in the selected frame.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.memory.names(self.state(), self.depth())
    }
}
