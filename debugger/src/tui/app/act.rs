//! Executes command lines in the application. Lines with commands of the session are sent to the session, also if a
//! key caused them. So the session's transcript records them. This file executes the commands of the screen.

use ratatui::buffer::Buffer;
use reviver_vm::Travel;

use super::background::Task;
use super::messages::Tone;
use super::overlay::Overlay;
use super::prompt::{Prompt, PromptPurpose};
use super::{App, Effect};
use crate::command::screen::{ArrayChoice, CursorMove, FocusTarget, ScreenAction};
use crate::render::render_error;
use crate::session::Session;
use crate::tui::panes::{PaneKind, PaneSpot};
use crate::view;

/// A `scrub` command moves by the number of steps that the timeline bar shows, divided by this number.
const SCRUB_PARTS: i64 = 50;

impl App {
    /// Executes a line, in which each `@` is replaced by the selected item.
    pub(super) fn run(&mut self, line: &str) -> Option<Effect> {
        match ScreenAction::of(line) {
            Some(Ok(action)) => {
                self.notice(line);
                self.act(action)
            }
            Some(Err(error)) => {
                self.say(Tone::Command, line);
                self.refuse(&render_error(&error))
            }
            None => match self.meant(line) {
                Ok(line) => {
                    self.player.pause();
                    self.send(Task::Command { line, is_quiet: false })
                }
                Err(why) => self.note_why(&why),
            },
        }
    }

    pub(super) fn note_why(&mut self, why: &str) -> Option<Effect> {
        self.say(Tone::Note, why);
        None
    }

    pub(super) fn act(&mut self, action: ScreenAction) -> Option<Effect> {
        match action {
            ScreenAction::Scrub(travel) => {
                let session = self.session()?;
                let line = format!("goto {}", scrubbed(session, self.choices.shown(session), travel));
                return self.run(&line);
            }
            ScreenAction::Toggle(toggled, line) => return self.toggle(toggled, &line),
            ScreenAction::Open => return self.open(),
            ScreenAction::Close => {
                self.close_answer();
            }
            ScreenAction::Leave => return self.leave(false),
            ScreenAction::Suspend => return Some(Effect::Suspend),
            ScreenAction::Mouse => return self.toggle_mouse(),
            ScreenAction::Redraw => {
                self.picture = Buffer::default();
                return Some(Effect::Clear);
            }
            ScreenAction::Play(travel) => self.player.toggle(travel.unwrap_or(self.player.travel)),
            ScreenAction::Faster => self.player.faster(),
            ScreenAction::Slower => self.player.slower(),
            ScreenAction::Ask(line) => return self.ask(&line),
            ScreenAction::AskSearch => self.prompt = Some(Prompt::new(PromptPurpose::Search, "")),
            ScreenAction::Search(text) => return self.search_for(&text),
            ScreenAction::SearchAgain { further } => self.search(further),
            ScreenAction::Here => self.follow(),
            ScreenAction::Adjoint => {
                self.select_default();
                self.choose_adjoint(!self.choices.adjoint);
            }
            ScreenAction::Focus(target) => return self.focus_on(&target),
            ScreenAction::ZoomTime(zoom) => return self.zoom_time(zoom),
            ScreenAction::Zoom => self.panes.zoomed = !self.panes.zoomed,
            ScreenAction::Cursor(to) => return self.move_focused(to),
            ScreenAction::Array(choice) => return self.choose_array(&choice),
            ScreenAction::Tour(turn) => return self.turn_tour(turn),
            ScreenAction::Keys => self.overlay = Some(Overlay::help(&self.keys)),
        }
        None
    }

    fn focus_on(&mut self, target: &FocusTarget) -> Option<Effect> {
        match target {
            FocusTarget::Next => self.turn_focus(true),
            FocusTarget::Previous => self.turn_focus(false),
            FocusTarget::Pane(name) => match PaneKind::named(name) {
                Some(kind) => self.panes.set_focus(kind),
                None => {
                    let names = PaneKind::ALL.map(PaneKind::name).join(", ");
                    return self.note_why(&format!("there is no pane `{name}`: there are {names}"));
                }
            },
        }
        None
    }

    /// Opens the item under the cursor. If the item leads to a destination, executes the destination's command
    /// line. Otherwise executes the line that the item's pane defines for opening items.
    fn open(&mut self) -> Option<Effect> {
        let kind = self.panes.focus();
        match self.spot(kind) {
            Some(PaneSpot::Leads(line)) => self.run(&line),
            // If a row of an answer has no destination, it is unfolded instead, if it has nested rows.
            None if kind == PaneKind::Answer => self.unfold(),
            _ => self.run(kind.pane().opens()?),
        }
    }

    fn move_focused(&mut self, to: CursorMove) -> Option<Effect> {
        match (self.panes.focus(), to) {
            // In the cells pane, values and adjoints are shown next to each other.
            (PaneKind::Cells, CursorMove::Left) => self.choose_adjoint(false),
            (PaneKind::Cells, CursorMove::Right) => self.choose_adjoint(true),
            (PaneKind::Answer, CursorMove::Left) => self.fold(),
            (PaneKind::Answer, CursorMove::Right) => return self.unfold(),
            (kind, to) => self.move_cursor(kind, to),
        }
        None
    }

    /// Selects the adjoint or the value of the selected cell as the target of commands. If there are no adjoints, a
    /// message says so.
    fn choose_adjoint(&mut self, adjoint: bool) {
        let shows = self.session().is_some_and(view::cells::shows_adjoints);
        self.choices.adjoint = adjoint && shows;
        if adjoint && !shows {
            self.say(Tone::Note, "there are no adjoints yet: begin a gradient with `gradient LOSS`");
        }
    }

    /// Opens the prompt with the beginning of a line, for the user to complete.
    fn ask(&mut self, begun: &str) -> Option<Effect> {
        match self.meant(begun) {
            Ok(begun) => {
                let blank = if begun.is_empty() { "" } else { " " };
                self.prompt = Some(Prompt::new(PromptPurpose::Command, &format!("{begun}{blank}")));
                None
            }
            Err(why) => self.note_why(&why),
        }
    }

    fn toggle_mouse(&mut self) -> Option<Effect> {
        self.mouse = !self.mouse;
        let text = if self.mouse {
            "the mouse is on: the terminal no longer selects text"
        } else {
            "the mouse is off"
        };
        self.say(Tone::Note, text);
        Some(Effect::Mouse(self.mouse))
    }

    /// Moves the focus to the next or the previous pane that has content. After the last pane, the first one
    /// follows.
    fn turn_focus(&mut self, further: bool) {
        let is_there =
            |kind: &PaneKind| self.context(*kind).is_some_and(|context| kind.pane().is_there(&context));
        let kinds: Vec<PaneKind> = PaneKind::ALL.into_iter().filter(is_there).collect();
        let now = kinds.iter().position(|kind| *kind == self.panes.focus()).unwrap_or_default();
        let count = kinds.len().max(1);
        let next = if further { now + 1 } else { now + count - 1 } % count;
        kinds.get(next).into_iter().for_each(|kind| self.panes.set_focus(*kind));
    }

    /// Moves the cursor of a pane.
    pub(super) fn move_cursor(&mut self, kind: PaneKind, to: CursorMove) {
        let Some(context) = self.context(kind) else { return };
        let pane = kind.pane();
        let (items, columns) = (pane.items(&context), pane.columns(&context).max(1));
        let height = kind.pane().scrolled(&context).height;
        let page = columns.saturating_mul(usize::from(height.max(2)) - 1);
        let cursor = context.scroll.cursor.min(items.saturating_sub(1));
        let moved = match to {
            CursorMove::Up => cursor.checked_sub(columns).unwrap_or(cursor),
            CursorMove::Down => Some(cursor + columns).filter(|moved| *moved < items).unwrap_or(cursor),
            CursorMove::Left => cursor.saturating_sub(1),
            CursorMove::Right => cursor + 1,
            CursorMove::PageUp => cursor.saturating_sub(page),
            CursorMove::PageDown => cursor.saturating_add(page),
            CursorMove::Top => 0,
            CursorMove::Bottom => usize::MAX,
        };
        self.panes.set_cursor(kind, moved.min(items.saturating_sub(1)));
        self.select(kind);
    }

    fn choose_array(&mut self, choice: &ArrayChoice) -> Option<Effect> {
        let arrays = view::cells::cells(self.session()?, &[]).arrays;
        let Some(last) = arrays.len().checked_sub(1) else {
            return self.note_why("there are no arrays here");
        };
        let chosen = self.choices.array.as_ref();
        let now = arrays.iter().position(|array| Some(&array.name) == chosen).unwrap_or_default();
        let wanted = match choice {
            ArrayChoice::Next => (now.min(last) + 1) % (last + 1),
            ArrayChoice::Previous => (now + last) % (last + 1),
            ArrayChoice::Named(name) => match arrays.iter().position(|array| array.name == *name) {
                Some(wanted) => wanted,
                None => return self.note_why(&format!("there is no array `{name}` here")),
            },
        };
        self.choices.array = arrays.get(wanted).map(|array| array.name.clone());
        self.panes.set_cursor(PaneKind::Arrays, 0);
        self.select(PaneKind::Arrays);
        self.panes.raise(PaneKind::Arrays);
        None
    }

    pub(super) fn search_for(&mut self, text: &str) -> Option<Effect> {
        self.choices.search = Some(text.to_lowercase());
        self.search(true);
        None
    }

    /// Moves the cursor to the next item that contains the search text. After the last item, the search
    /// continues with the first. Searches the focused pane, or the code pane if the focused one has no text.
    pub(super) fn search(&mut self, further: bool) {
        let Some(wanted) = self.choices.search.clone() else {
            return self.say(Tone::Note, "there was no search yet: begin one with `search TEXT`");
        };
        if let Some(overlay) = &mut self.overlay {
            if !overlay.search(&wanted, further, self.messages.lines(), &self.theme) {
                // This message is shown only in the last row. It isn't added to the list of messages, because an
                // overlay may show lines of the list.
                self.messages.show(Tone::Note, format!("there is no `{wanted}` in these lines"));
            }
            return;
        }
        let focus = self.panes.focus();
        let has_text = |kind: PaneKind| {
            self.context(kind).is_some_and(|context| kind.pane().text(&context, 0).is_some())
        };
        let kind = if has_text(focus) { focus } else { PaneKind::Code };
        let Some(found) = self.found(kind, &wanted, further) else {
            return self.say(Tone::Note, &format!("there is no `{wanted}` in the {}", kind.name()));
        };
        self.panes.set_cursor(kind, found);
        self.select(kind);
        self.panes.raise(kind);
    }

    fn found(&self, kind: PaneKind, wanted: &str, further: bool) -> Option<usize> {
        let context = self.context(kind)?;
        let items = kind.pane().items(&context);
        let cursor = context.scroll.cursor.min(items.saturating_sub(1));
        let has = |item: &usize| {
            let text = kind.pane().text(&context, *item);
            text.is_some_and(|text| text.to_lowercase().contains(wanted))
        };
        match further {
            true => (cursor + 1..items).chain(0..items.min(cursor + 1)).find(has),
            false => (0..cursor).rev().chain((cursor..items).rev()).find(has),
        }
    }
}

/// Returns the step to which a `scrub` command travels from the current step, given the range of steps that the
/// timeline bar shows.
fn scrubbed(session: &Session, (first, last): (i64, i64), travel: Travel) -> i64 {
    let part = (last.saturating_sub(first) / SCRUB_PARTS).max(1);
    session.step_number().saturating_add(part.saturating_mul(travel.sign()))
}
