//! The panes: one file each. A pane is a way to look at a session; it draws what fits into its area and
//! says what lies under the cursor. It keeps nothing and changes nothing: where its cursor is, how far
//! it is scrolled and what its keys do is the application's business.
//!
//! A pane consists of *items* (a source line, a cell, an element), counted from 0 and laid out row by row,
//! [`Pane::columns`] of them beside each other. The application draws the heading above the area.

pub mod answer;
pub mod arrays;
pub mod calls;
pub mod card;
pub mod cells;
pub mod code;
pub mod failure;
pub mod inverse;
pub mod messages;
mod parts;
mod sheet;
pub mod status;
pub mod tapes;
pub(super) mod text;
pub mod timeline;

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::app::messages::Message;
use super::keys::BareKey;
use super::theme::Theme;
use crate::answer::Answer;
use crate::listing::Line;
use crate::memory::Target;
use crate::outcome::Touch;
use crate::session::{Samples, Session};
use crate::view::card::CardView;

/// What a pane draws from.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub session: &'a Session,
    /// What the last step did: [`Session::footprint`].
    pub footprint: &'a [Touch],
    /// What the next step does; none where there is no step at all.
    pub card: Option<&'a CardView>,
    pub theme: &'a Theme,
    pub choices: &'a Choices,
    pub messages: &'a [Message],
    /// Where the pane is: without its heading.
    pub area: Rect,
    pub scroll: Scroll,
    pub is_focused: bool,
}

/// What the user has chosen to look at.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The file in the code pane, a number in the listing.
    pub file: u32,
    /// The array in the arrays pane; none: the first there is.
    pub array: Option<String>,
    pub plots: Plots,
    /// The cells that were selected, in each of the panes that have cells.
    pub selected: BTreeMap<PaneKind, Selected>,
    /// Whether the adjoint of the cell under the cursor is chosen, where there are adjoints.
    pub adjoint: bool,
    /// What was asked last, if it can be walked.
    pub answer: Option<Answer>,
    /// What is displayed after every motion.
    pub displayed: Vec<String>,
    /// What was searched last, to be highlighted; in lower case.
    pub search: Option<String>,
    /// The part of the branch that the time bar shows; none: all of it.
    pub zoom: Option<(i64, i64)>,
}

impl Choices {
    /// The steps that the time bar shows: the first and the last.
    pub fn shown(&self, session: &Session) -> (i64, i64) {
        let whole = session.timeline().span().steps();
        let part = self.zoom.map(|(from, to)| (from.max(whole.0), to.min(whole.1)));
        part.filter(|(from, to)| from < to).unwrap_or(whole)
    }

    /// The name that a pane's selected cell had, where it has none at the moment.
    pub fn lost(&self, kind: PaneKind) -> Option<&str> {
        let selected = self.selected.get(&kind).filter(|selected| !selected.has_row)?;
        Some(&selected.name)
    }
}

/// A cell that was selected, and stays so while frames come and go.
#[derive(Clone, Debug)]
pub struct Selected {
    /// Its name where it was selected.
    pub name: String,
    pub target: Target,
    /// Whether the selected frame has a name for it now, so that the pane has an item for it.
    pub has_row: bool,
}

/// The cells in the plot, and what is known of them.
#[derive(Clone, Debug, Default)]
pub struct Plots {
    /// Their names and themselves, at most [`MOST_PLOTS`]. A name means another cell in another call.
    pub cells: Vec<(String, Target)>,
    /// With one value for each cell in each column. Without columns until they are known.
    pub samples: Samples,
}

impl Plots {
    /// Whether calls were open at any of the steps: then they are plotted too.
    pub fn has_calls(&self) -> bool {
        self.samples.columns.iter().any(|sample| sample.depth.is_some_and(|depth| depth.high > 0.0))
    }
}

/// Cells that are plotted at once: a theme has as many styles.
pub use crate::command::plot::MOST_PLOTS;

/// Where a pane's cursor is, and what it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// The item under the cursor.
    pub cursor: usize,
    /// The first row shown.
    pub top: usize,
    /// Whether rows before and behind the cursor are to be seen too.
    pub has_context: bool,
}

/// What lies under the cursor or the mouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneSpot {
    Line(Line),
    /// An open procedure, as a backtrace counts them.
    Frame(usize),
    /// A cell that commands can name: `a`, `A[3]`, `M[1, 2]`, `a'`.
    Cell(String),
    /// A step of the current branch.
    Step(i64),
    /// Something else, to which a line leads.
    Leads(String),
}

/// A way to look at a session.
pub trait Pane {
    /// What its heading says, in few words.
    fn title(&self, context: &Context<'_>) -> String;

    /// Draws into the context's area, and nowhere else. The area may be empty.
    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer);

    /// Whether there is anything to see in it: else it has no tab, and focus passes it by.
    fn is_there(&self, context: &Context<'_>) -> bool {
        let _ = context;
        true
    }

    /// How many items there are, seen and unseen. A pane without items can't be scrolled.
    fn items(&self, context: &Context<'_>) -> usize {
        let _ = context;
        0
    }

    /// How many items lie beside each other; at least 1.
    fn columns(&self, context: &Context<'_>) -> usize {
        let _ = context;
        1
    }

    /// The part of the area where the items are: what is above it stays while they are scrolled.
    fn scrolled(&self, context: &Context<'_>) -> Rect {
        context.area
    }

    /// How many rows there are above those that are seen, and below them.
    fn hidden(&self, context: &Context<'_>) -> (usize, usize) {
        let rows = self.items(context).div_ceil(self.columns(context).max(1));
        let above = context.scroll.top.min(rows);
        (above, rows.saturating_sub(above + usize::from(self.scrolled(context).height)))
    }

    /// What an item is, for commands.
    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let _ = (context, item);
        None
    }

    /// The line that is carried out where something in the pane is opened.
    fn opens(&self) -> Option<&'static str> {
        None
    }

    /// Keys that stand for other lines while the pane has the focus.
    fn keys(&self) -> &'static [(BareKey, &'static str)] {
        &[]
    }

    /// What a search looks at; none where there is nothing to search.
    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        let _ = (context, item);
        None
    }

    /// The array at a place, where several stand below each other: the one there becomes the chosen one.
    fn array_at(&self, context: &Context<'_>, place: Position) -> Option<String> {
        let _ = (context, place);
        None
    }

    /// Whether a place is on an adjoint, where adjoints stand beside values.
    fn is_adjoint_at(&self, context: &Context<'_>, place: Position) -> bool {
        let _ = (context, place);
        false
    }

    /// The item under a place of the area.
    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let area = self.scrolled(context);
        if !area.contains(place) {
            return None;
        }
        let columns = self.columns(context).max(1);
        let row = context.scroll.top + usize::from(place.y - area.y);
        let column = usize::from(place.x - area.x) * columns / usize::from(area.width);
        let item = row.checked_mul(columns)? + column;
        (item < self.items(context)).then_some(item)
    }
}

macro_rules! panes {
    ($($kind:ident $name:literal $short:literal => $pane:expr;)+) => {
        /// The panes that there are; where they stand is the layout's to know.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PaneKind {
            $($kind),+
        }

        impl PaneKind {
            /// In the order in which focus goes round.
            pub const ALL: [PaneKind; [$(PaneKind::$kind),+].len()] = [$(PaneKind::$kind),+];

            /// What its tab says, and what it is called in lines.
            pub fn name(self) -> &'static str {
                match self {
                    $(PaneKind::$kind => $name),+
                }
            }

            /// What its tab says where there is little room.
            pub fn short_name(self) -> &'static str {
                match self {
                    $(PaneKind::$kind => $short),+
                }
            }

            pub fn pane(self) -> &'static dyn Pane {
                match self {
                    $(PaneKind::$kind => &$pane),+
                }
            }
        }
    };
}

// A row for each pane, in the order in which focus goes round: its names, long and short, and what draws it.
panes! {
    Code "code" "code" => code::CodeWidget;
    Inverse "inverse" "inv" => inverse::InverseWidget;
    Cells "cells" "cells" => cells::CellsWidget;
    Arrays "arrays" "arr" => arrays::ArraysWidget;
    Calls "calls" "calls" => calls::CallsWidget;
    Tapes "tapes" "tape" => tapes::TapesWidget;
    Messages "messages" "msg" => messages::MessagesWidget;
    Card "card" "card" => card::CardWidget;
    Failure "failure" "fail" => failure::FailureWidget;
    Answer "answer" "ans" => answer::AnswerWidget;
    Timeline "timeline" "time" => timeline::TimelineWidget;
}

impl PaneKind {
    /// The pane of a name.
    pub fn named(name: &str) -> Option<PaneKind> {
        PaneKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
