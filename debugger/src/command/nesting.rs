//! Nesting of scripts, with limits on depth and number of commands.

use std::path::PathBuf;

/// The scripts being executed, innermost last. A script may execute other scripts. Limits on the nesting depth and
/// on the number of commands ensure that every script ends.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenScripts {
    /// The paths of the scripts, as the commands write them, and their canonical paths, if they are known.
    paths: Vec<(String, Option<PathBuf>)>,
    /// Number of commands executed by nested scripts.
    nested: usize,
}

impl OpenScripts {
    /// Maximum nesting depth of scripts.
    const DEEPEST: usize = 10;
    /// Maximum number of commands that all nested scripts together may execute.
    const MOST_NESTED: usize = 100_000;

    /// Begins the execution of a script.
    ///
    /// # Errors
    /// The script is being executed already, or too many scripts are nested.
    pub fn enter(&mut self, path: &str) -> Result<(), String> {
        let place = std::fs::canonicalize(path).ok();
        let chain =
            || self.paths.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" in ");
        let is_open = place.is_some() && self.paths.iter().any(|(_, open)| *open == place);
        if is_open {
            let chain = chain();
            let message = format!(
                "`{path}` is already being executed, so it would never end (the command is in {chain})"
            );
            return Err(message);
        }
        if self.paths.len() >= OpenScripts::DEEPEST {
            let message = format!(
                "`{path}` is nested too deeply: at most {} scripts may be nested (the command is in {})",
                OpenScripts::DEEPEST,
                chain()
            );
            return Err(message);
        }
        self.paths.push((path.to_owned(), place));
        Ok(())
    }

    /// Counts a command of the innermost script.
    ///
    /// # Errors
    /// The maximum number of commands is exceeded.
    pub fn count(&mut self) -> Result<(), String> {
        if self.paths.len() > 1 {
            self.nested += 1;
        }
        match self.nested > OpenScripts::MOST_NESTED {
            true => Err(format!(
                "scripts that other scripts execute may have at most {} commands together",
                OpenScripts::MOST_NESTED
            )),
            false => Ok(()),
        }
    }

    /// Ends the execution of the innermost script.
    pub fn leave(&mut self) {
        self.paths.pop();
        if self.paths.is_empty() {
            self.nested = 0;
        }
    }
}
