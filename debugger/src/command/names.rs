//! Words that arguments may be one of.

use crate::outcome::StopKind;
use crate::session::EventKind;

/// The names of all kinds that an enum lists.
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

/// The kinds of events on the timeline.
pub const EVENTS: &[&str] = &names_of!(EventKind);

/// Why a motion stops, as `expect-stop` names it.
pub const REASONS: &[&str] = &names_of!(StopKind);
