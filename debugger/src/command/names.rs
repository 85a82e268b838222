//! Fixed words that commands accept as arguments.

use crate::outcome::StopKind;
use crate::session::EventKind;

/// Builds the list of names of an enum's variants.
macro_rules! names_of {
    ($Kind:ident) => {{
        let mut names = [""; $Kind::ALL.len()];
        let mut n = 0;
        while n < names.len() {
            names[n] = $Kind::ALL[n].name();
            n += 1;
        }
        names
    }};
}

/// Names of the kinds of events on the timeline.
pub const EVENTS: &[&str] = &names_of!(EventKind);

/// Names of the reasons to stop, for `expect-stop`.
pub const REASONS: &[&str] = &names_of!(StopKind);
