//! Replaces `@` in a line by the selected item. Also executes `toggle` lines, which set an item, or remove the item
//! if it is set.

use super::{App, Effect};
use crate::command::screen::Toggled;
use crate::command::table::{ArgumentKind, Command};
use crate::command::{breakpoints_at, find_topic, named};
use crate::memory::Target;
use crate::points::Trigger;
use crate::session::Session;
use crate::tui::panes::{PaneKind, PaneSpot};

/// Placeholder for the selected item.
const SELECTED: &str = "@";

impl App {
    /// Replaces each word `@` of a line by the selected item. The command determines the kind of the item: a
    /// cell, a line, a step or a frame. Returns an error message if no such item is selected.
    pub(super) fn meant(&mut self, line: &str) -> Result<String, String> {
        if !line.split_whitespace().any(|word| word == SELECTED) {
            return Ok(line.to_owned());
        }
        // If the line is no command, the session reports the error later.
        let Ok((row, rest)) = named(line) else { return Ok(line.to_owned()) };
        let selected = self.selected_for(row, rest)?;
        let words = line.split(' ').map(|word| if word == SELECTED { selected.as_str() } else { word });
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    /// Returns the selected item of the kind that a command takes, as text.
    fn selected_for(&mut self, row: &'static Command, rest: &str) -> Result<String, String> {
        match row.argument {
            ArgumentKind::Cell | ArgumentKind::Expression => {
                self.select_default();
                self.selected_name()
            }
            ArgumentKind::Place => self
                .cursor_place()
                .ok_or_else(|| "no line is under the cursor: choose one in the code".to_owned()),
            ArgumentKind::Step => match self.step_under_cursor() {
                Some(step) => Ok(step.to_string()),
                None => Err("no step is under the cursor: choose one in the timeline".to_owned()),
            },
            ArgumentKind::Procedure => match self.spot(PaneKind::Calls) {
                Some(PaneSpot::Frame(number)) => Ok(number.to_string()),
                _ => Err("no call is under the cursor: choose one in the calls".to_owned()),
            },
            ArgumentKind::Topic => {
                let topic = rest.split_whitespace().next().and_then(|word| find_topic(word).ok());
                topic.map_or_else(|| Err(takes_nothing(row)), |topic| self.selected_for(topic, ""))
            }
            _ => Err(takes_nothing(row)),
        }
    }

    /// Returns the step under the cursor of the focused pane. If the focused pane shows no steps, returns the step
    /// under the cursor of the timeline pane.
    fn step_under_cursor(&self) -> Option<i64> {
        let spots = [self.panes.focus(), PaneKind::Timeline].into_iter().filter_map(|kind| self.spot(kind));
        spots.into_iter().find_map(|spot| if let PaneSpot::Step(step) = spot { Some(step) } else { None })
    }

    /// Returns the line under the cursor of the code pane as a place. The place includes the file name if the
    /// current instruction is in another file than the cursor.
    fn cursor_place(&self) -> Option<String> {
        let session = self.session()?;
        let cursor = self.panes.scroll(PaneKind::Code).cursor;
        let (file, line) = (self.choices.file, u32::try_from(cursor).unwrap_or(u32::MAX).saturating_add(1));
        match session.listing().files().get(file as usize) {
            Some(source) if file != session.current_file() => Some(format!("{}:{line}", source.name)),
            _ => Some(line.to_string()),
        }
    }

    /// Executes a line that sets an item. If the item is set already, removes the item instead.
    pub(super) fn toggle(&mut self, toggled: Toggled, line: &str) -> Option<Effect> {
        let line = match self.meant(line) {
            Ok(line) => line,
            Err(why) => return self.note_why(&why),
        };
        let taken = self.session().and_then(|session| self.removal_of(session, toggled, &line));
        self.run(&taken.unwrap_or(line))
    }

    /// Returns the line that removes the item that `line` would set. Returns `None` if the item isn't set.
    fn removal_of(&self, session: &Session, toggled: Toggled, line: &str) -> Option<String> {
        let (row, rest) = named(line).ok()?;
        let (place, _) = row.point_options(rest).ok()?;
        match toggled {
            Toggled::Fence => {
                let is_here = session.fences().any(|step| step == session.step_number());
                is_here.then(|| "fence delete".to_owned())
            }
            Toggled::Break => breakpoints_at(session, place).first().map(|id| format!("delete {id}")),
            Toggled::Watch => {
                let wanted = session.watched(place.strip_suffix(" any").unwrap_or(place)).ok()?;
                let is_it = |trigger: &Trigger| matches!(trigger, Trigger::Watch { watched, .. } if *watched == wanted);
                let point = session.points().iter().find(|point| is_it(&point.trigger));
                point.map(|point| format!("delete {}", point.id))
            }
            Toggled::Plot => {
                let wanted = target(session, place)?;
                let is_plotted = self.choices.plots.cells.iter().any(|(_, plotted)| *plotted == wanted);
                is_plotted.then(|| format!("unplot {place}"))
            }
        }
    }
}

fn takes_nothing(row: &Command) -> String {
    format!("`@` is a cell, a line, a step or a frame, and `{}` takes none of these", row.name)
}

fn target(session: &Session, cell: &str) -> Option<Target> {
    Some(session.memory().target(session.state(), session.cell(cell).ok()?))
}
