//! How scripts are nested in one another, and how much that may come to.

use std::path::PathBuf;

/// Scripts that carry one another out, the innermost last. What they come to is bounded, however they are
/// written: a script is no program.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenScripts {
    /// As they were named, and where they really are.
    paths: Vec<(String, Option<PathBuf>)>,
    /// Commands that were carried out by scripts within a script.
    nested: usize,
}

impl OpenScripts {
    /// Scripts within one another, and commands that those within one carry out, at most.
    const DEEPEST: usize = 10;
    const MOST_NESTED: usize = 100_000;

    /// Another script begins, under this path.
    ///
    /// # Errors
    /// It is being carried out already, or too many are.
    pub fn enter(&mut self, path: &str) -> Result<(), String> {
        let place = std::fs::canonicalize(path).ok();
        let chain =
            || self.paths.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" in ");
        let is_open = place.is_some() && self.paths.iter().any(|(_, open)| *open == place);
        if is_open {
            let chain = chain();
            let message =
                format!("`{path}` is being carried out already: it would never end (it is in {chain})");
            return Err(message);
        }
        if self.paths.len() >= OpenScripts::DEEPEST {
            let message = format!(
                "`{path}` is nested too deeply: no more than {} scripts carry one another out (it is in {})",
                OpenScripts::DEEPEST,
                chain()
            );
            return Err(message);
        }
        self.paths.push((path.to_owned(), place));
        Ok(())
    }

    /// Another command of the innermost script is due.
    ///
    /// # Errors
    /// There were too many.
    pub fn count(&mut self) -> Result<(), String> {
        if self.paths.len() > 1 {
            self.nested += 1;
        }
        match self.nested > OpenScripts::MOST_NESTED {
            true => Err(format!(
                "the scripts within a script have carried out {} commands: there are no more to be",
                OpenScripts::MOST_NESTED
            )),
            false => Ok(()),
        }
    }

    /// The innermost script has ended.
    pub fn leave(&mut self) {
        self.paths.pop();
        if self.paths.is_empty() {
            self.nested = 0;
        }
    }
}
