//! The panes, one file each. A pane draws a view of a session into its area, and identifies the item under
//! the cursor. A pane has no state: the application stores cursors, scroll positions and key bindings.
//!
//! A pane consists of *items*, for example source lines, cells or elements of an array. Items are counted
//! from 0 and are laid out row by row, [`Pane::columns`] in each row. The application draws the heading above
//! the pane's area.

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

/// The data from which a pane is drawn.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The session at its current time point.
    pub session: &'a Session,
    /// The effects of the last step: [`Session::footprint`].
    pub footprint: &'a [Touch],
    /// The card of the next step; `None` if the program has no step at all.
    pub card: Option<&'a CardView>,
    /// The styles of the screen.
    pub theme: &'a Theme,
    /// The choices of the user: file, array, plots, selection.
    pub choices: &'a Choices,
    /// The messages, oldest first.
    pub messages: &'a [Message],
    /// The area of the pane, without its heading.
    pub area: Rect,
    /// The cursor and the first visible row of the pane.
    pub scroll: Scroll,
    /// True if the pane has the focus, so keys go to it.
    pub is_focused: bool,
}

/// The user's choices of what the panes show.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The file in the code pane, as an index into the listing.
    pub file: u32,
    /// The array in the arrays pane; `None` for the first one.
    pub array: Option<String>,
    /// The plotted cells and their samples.
    pub plots: Plots,
    /// The selected cell of each pane that shows cells.
    pub selected: BTreeMap<PaneKind, Selected>,
    /// True if commands for the selected cell act on the cell's adjoint instead of its value.
    pub adjoint: bool,
    /// The last answer that can be navigated.
    pub answer: Option<Answer>,
    /// The expressions displayed after every movement, with their values.
    pub displayed: Vec<String>,
    /// The last search text, in lower case. Its occurrences are highlighted.
    pub search: Option<String>,
    /// The first and the last step that the timeline bar shows; `None` if it shows the whole branch.
    pub zoom: Option<(i64, i64)>,
}

impl Choices {
    /// Returns the first and last step shown by the timeline bar.
    pub fn shown(&self, session: &Session) -> (i64, i64) {
        let whole = session.timeline().span().steps();
        let part = self.zoom.map(|(from, to)| (from.max(whole.0), to.min(whole.1)));
        part.filter(|(from, to)| from < to).unwrap_or(whole)
    }

    /// If a pane's selected cell has no name in the current frame, returns the name with which it was selected.
    /// Otherwise returns `None`.
    pub fn lost(&self, kind: PaneKind) -> Option<&str> {
        let selected = self.selected.get(&kind).filter(|selected| !selected.has_row)?;
        Some(&selected.name)
    }
}

/// A selected cell. It stays selected while frames open and close.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The name that the cell had when it was selected.
    pub name: String,
    /// The cell itself, in the frame in which it was selected.
    pub target: Target,
    /// True if the cell has a name in the frame that is selected now. Otherwise, no item of the pane shows the
    /// cell.
    pub has_row: bool,
}

/// The plotted cells and their samples.
#[derive(Clone, Debug, Default)]
pub struct Plots {
    /// The names and targets of the cells, at most [`MOST_PLOTS`]. In another call, the same name may refer
    /// to another cell.
    pub cells: Vec<(String, Target)>,
    /// The samples, with the values of every plotted cell. Before the cells are sampled, there are no columns.
    pub samples: Samples,
}

impl Plots {
    /// Returns true if a call was open at any sampled step. Then the call depth is plotted, too.
    pub fn has_calls(&self) -> bool {
        self.samples.columns.iter().any(|sample| sample.depth.is_some_and(|depth| depth.high > 0.0))
    }
}

/// Maximum number of plotted cells: a theme has this many plot styles.
pub use crate::command::plot::MOST_PLOTS;

/// The cursor and scroll position of a pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// The item under the cursor.
    pub cursor: usize,
    /// The first visible row.
    pub top: usize,
    /// True if some rows before and after the cursor must be visible, too.
    pub has_context: bool,
}

/// The object under the cursor or the mouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneSpot {
    /// A line of the source text.
    Line(Line),
    /// An open procedure, by its backtrace number.
    Frame(usize),
    /// A cell that commands can name: `a`, `A[3]`, `M[1, 2]`, `a'`.
    Cell(String),
    /// A step of the current branch.
    Step(i64),
    /// A destination that is reached by executing this line.
    Leads(String),
}

/// The implementation of a kind of pane. It has no state.
pub trait Pane {
    /// Returns the text of the heading, in a few words.
    fn title(&self, context: &Context<'_>) -> String;

    /// Draws into the context's area and nowhere else. The area may be empty.
    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer);

    /// Returns true if the pane has content. Without content it has no tab, and can't get the focus.
    fn is_there(&self, context: &Context<'_>) -> bool {
        let _ = context;
        true
    }

    /// Returns the number of items, including those scrolled out of sight. A pane without items can't be
    /// scrolled.
    fn items(&self, context: &Context<'_>) -> usize {
        let _ = context;
        0
    }

    /// Returns the number of items in a row; at least 1.
    fn columns(&self, context: &Context<'_>) -> usize {
        let _ = context;
        1
    }

    /// Returns the part of the area in which items scroll. Rows above this part are fixed.
    fn scrolled(&self, context: &Context<'_>) -> Rect {
        context.area
    }

    /// Returns the numbers of rows above and below the visible ones.
    fn hidden(&self, context: &Context<'_>) -> (usize, usize) {
        let rows = self.items(context).div_ceil(self.columns(context).max(1));
        let above = context.scroll.top.min(rows);
        (above, rows.saturating_sub(above + usize::from(self.scrolled(context).height)))
    }

    /// Returns the object that commands for an item act on.
    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let _ = (context, item);
        None
    }

    /// Returns the command line that opens an item. For items that lead to a destination, the destination's line
    /// is used instead.
    fn opens(&self) -> Option<&'static str> {
        None
    }

    /// Returns bindings of keys that replace those of the key map while the pane is focused.
    fn keys(&self) -> &'static [(BareKey, &'static str)] {
        &[]
    }

    /// Returns the text of an item that searches compare, or `None` if the item has no text.
    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        let _ = (context, item);
        None
    }

    /// If several arrays are shown below each other, returns the name of the array at a position. The
    /// application then makes it the chosen array.
    fn array_at(&self, context: &Context<'_>, place: Position) -> Option<String> {
        let _ = (context, place);
        None
    }

    /// Returns true if an adjoint, shown next to its value, is at a position.
    fn is_adjoint_at(&self, context: &Context<'_>, place: Position) -> bool {
        let _ = (context, place);
        false
    }

    /// Returns the item at a position of the area.
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
        /// The kinds of panes; their positions are determined by the layout.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each variant is the pane that its row names")]
        pub enum PaneKind {
            $($kind),+
        }

        impl PaneKind {
            /// All kinds, in the order of the focus.
            pub const ALL: [PaneKind; [$(PaneKind::$kind),+].len()] = [$(PaneKind::$kind),+];

            /// Returns the name on the pane's tab. Command lines such as `focus code` use it, too.
            pub fn name(self) -> &'static str {
                match self {
                    $(PaneKind::$kind => $name),+
                }
            }

            /// Returns the name on the pane's tab if there is little room.
            pub fn short_name(self) -> &'static str {
                match self {
                    $(PaneKind::$kind => $short),+
                }
            }

            /// Returns the implementation of the pane.
            pub fn pane(self) -> &'static dyn Pane {
                match self {
                    $(PaneKind::$kind => &$pane),+
                }
            }
        }
    };
}

// One row for each pane, in the order in which the focus moves. A row has the long and the short name of the pane,
// and its implementation.
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
    /// Returns the pane with a name.
    pub fn named(name: &str) -> Option<PaneKind> {
        PaneKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
