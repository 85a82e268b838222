//! What each action does. Whatever concerns the session becomes a command line, so that a key does just
//! what its command does, and the transcript of the session has it.

use ratatui::buffer::Buffer;
use reviver_vm::Travel::{Backward, Forward};

use super::messages::Tone;
use super::overlay::Overlay;
use super::prompt::{Prompt, PromptPurpose};
use super::{App, Effect};
use crate::listing::Line;
use crate::points::Trigger;
use crate::session::Session;
use crate::tui::keys::{HelpGroup, KeyAction};
use crate::tui::panes::{PaneKind, PaneSpot};
use crate::view;

/// Into how many parts scrubbing with keys divides the known history.
const SCRUB_PARTS: i64 = 50;

impl App {
    pub(super) fn act(&mut self, action: KeyAction) -> Option<Effect> {
        if action.group() == HelpGroup::Cells {
            self.select_default();
        }
        match self.command_line(action) {
            Some(Ok(line)) => self.run(&line),
            Some(Err(why)) => {
                self.say(Tone::Note, &why);
                None
            }
            None => self.act_here(action),
        }
    }

    /// The command that an action stands for, or why there is none at the moment; none for actions that
    /// concern the screen alone.
    fn command_line(&self, action: KeyAction) -> Option<Result<String, String>> {
        let line = match action {
            KeyAction::Step => "step",
            KeyAction::ReverseStep => "reverse-step",
            KeyAction::Next => "next",
            KeyAction::ReverseNext => "reverse-next",
            KeyAction::Finish => "finish",
            KeyAction::ReverseFinish => "reverse-finish",
            KeyAction::Continue => "continue",
            KeyAction::ReverseContinue => "reverse-continue",
            KeyAction::GotoStart => "goto start",
            KeyAction::GotoEnd => "goto end",
            KeyAction::Undo => "undo",
            KeyAction::Redo => "redo",
            KeyAction::TimelineUp => "timeline up",
            KeyAction::FrameUp => "up",
            KeyAction::FrameDown => "down",
            KeyAction::NextEvent => "next-event",
            KeyAction::LastEvent => "last-event",
            _ => return self.command_with_argument(action),
        };
        Some(Ok(line.to_owned()))
    }

    fn command_with_argument(&self, action: KeyAction) -> Option<Result<String, String>> {
        let session = self.session()?;
        Some(match action {
            KeyAction::RunToCursor => self.at_cursor(session, "until"),
            KeyAction::ReverseRunToCursor => self.at_cursor(session, "reverse-until"),
            KeyAction::Scrub => Ok(format!("goto {}", scrubbed(session, 1))),
            KeyAction::ReverseScrub => Ok(format!("goto {}", scrubbed(session, -1))),
            KeyAction::Breakpoint => self.breakpoint(session),
            KeyAction::Fence => {
                let is_here = session.fences().any(|step| step == session.step_number());
                Ok(if is_here { "fence delete" } else { "fence" }.to_owned())
            }
            KeyAction::NextWrite => self.with_cell("next-write"),
            KeyAction::LastWrite => self.with_cell("last"),
            KeyAction::Why => self.with_cell("why"),
            KeyAction::History => self.with_cell("history"),
            KeyAction::Watch => self.watch(session),
            KeyAction::Plot => self.plot(session),
            KeyAction::Open => return self.open(session),
            _ => return None,
        })
    }

    fn act_here(&mut self, action: KeyAction) -> Option<Effect> {
        match action {
            KeyAction::Play => self.player.toggle(Forward),
            KeyAction::ReversePlay => self.player.toggle(Backward),
            KeyAction::PlayPause => self.player.toggle(self.player.travel),
            KeyAction::Faster => self.player.faster(),
            KeyAction::Slower => self.player.slower(),
            KeyAction::Goto => self.ask("goto "),
            KeyAction::Mark => self.ask("mark "),
            KeyAction::Edit => match self.with_cell("set") {
                Ok(line) => self.ask(&format!("{line} = ")),
                Err(why) => self.say(Tone::Note, &why),
            },
            KeyAction::Command => self.ask(""),
            KeyAction::Search => self.prompt = Some(Prompt::new(PromptPurpose::Search, "")),
            KeyAction::SearchNext => self.search(true),
            KeyAction::SearchPrevious => self.search(false),
            KeyAction::Here => self.follow(),
            KeyAction::Help => self.overlay = Some(Overlay::help(&self.keys)),
            KeyAction::Mouse => return self.toggle_mouse(),
            KeyAction::Redraw => {
                self.picture = Buffer::default();
                return Some(Effect::Clear);
            }
            KeyAction::Quit => return Some(Effect::Quit),
            KeyAction::NextArray => self.turn_array(true),
            KeyAction::PreviousArray => self.turn_array(false),
            other => self.look(other),
        }
        None
    }

    /// Actions that move the focus or a cursor.
    fn look(&mut self, action: KeyAction) {
        match action {
            KeyAction::FocusNext => self.turn_focus(true),
            KeyAction::FocusPrevious => self.turn_focus(false),
            KeyAction::FocusCode => self.panes.set_focus(PaneKind::Code),
            KeyAction::FocusInverse => self.panes.set_focus(PaneKind::Inverse),
            KeyAction::FocusCells => self.panes.set_focus(PaneKind::Cells),
            KeyAction::FocusArrays => self.panes.set_focus(PaneKind::Arrays),
            KeyAction::FocusCalls => self.panes.set_focus(PaneKind::Calls),
            KeyAction::FocusTapes => self.panes.set_focus(PaneKind::Tapes),
            KeyAction::FocusMessages => self.panes.set_focus(PaneKind::Messages),
            KeyAction::FocusCard => self.panes.set_focus(PaneKind::Card),
            KeyAction::FocusTimeline => self.panes.set_focus(PaneKind::Timeline),
            KeyAction::Adjoint => self.choose_adjoint(!self.choices.adjoint),
            // Values and adjoints stand beside each other there.
            KeyAction::ItemLeft if self.panes.focus() == PaneKind::Cells => self.choose_adjoint(false),
            KeyAction::ItemRight if self.panes.focus() == PaneKind::Cells => self.choose_adjoint(true),
            KeyAction::Zoom => self.panes.zoomed = !self.panes.zoomed,
            other => self.move_cursor(self.panes.focus(), other),
        }
    }

    /// Chooses the adjoints of cells, or their values, for what is done with the selected cell.
    fn choose_adjoint(&mut self, adjoint: bool) {
        let shows = self.session().is_some_and(view::cells::shows_adjoints);
        self.choices.adjoint = adjoint && shows;
        if adjoint && !shows {
            self.say(Tone::Note, "there are no adjoints yet: `gradient LOSS` begins to carry them");
        }
    }

    fn ask(&mut self, text: &str) {
        self.prompt = Some(Prompt::new(PromptPurpose::Command, text));
    }

    fn toggle_mouse(&mut self) -> Option<Effect> {
        self.mouse = !self.mouse;
        let text = if self.mouse { "the mouse is on: it no longer selects text" } else { "the mouse is off" };
        self.say(Tone::Note, text);
        Some(Effect::Mouse(self.mouse))
    }

    /// The focus goes round the panes that have something to show.
    fn turn_focus(&mut self, further: bool) {
        let has_failed = self.panes.latest(&[PaneKind::Failure, PaneKind::Card]) == Some(PaneKind::Failure);
        let kinds: Vec<PaneKind> =
            PaneKind::ALL.into_iter().filter(|kind| *kind != PaneKind::Failure || has_failed).collect();
        let now = kinds.iter().position(|kind| *kind == self.panes.focus()).unwrap_or_default();
        let next = if further { now + 1 } else { now + kinds.len() - 1 } % kinds.len();
        kinds.get(next).into_iter().for_each(|kind| self.panes.set_focus(*kind));
    }

    /// Moves the cursor of a pane.
    pub(super) fn move_cursor(&mut self, kind: PaneKind, action: KeyAction) {
        let Some(context) = self.context(kind) else { return };
        let pane = kind.pane();
        let (items, columns) = (pane.items(&context), pane.columns(&context).max(1));
        let page = columns.saturating_mul(usize::from(context.area.height.max(2)) - 1);
        let cursor = context.scroll.cursor.min(items.saturating_sub(1));
        let moved = match action {
            KeyAction::Up => cursor.checked_sub(columns).unwrap_or(cursor),
            KeyAction::Down => Some(cursor + columns).filter(|moved| *moved < items).unwrap_or(cursor),
            KeyAction::ItemLeft => cursor.saturating_sub(1),
            KeyAction::ItemRight => cursor + 1,
            KeyAction::PageUp => cursor.saturating_sub(page),
            KeyAction::PageDown => cursor.saturating_add(page),
            KeyAction::Top => 0,
            KeyAction::Bottom => usize::MAX,
            _ => cursor,
        };
        self.panes.set_cursor(kind, moved.min(items.saturating_sub(1)));
        self.select(kind);
    }

    /// The line under the cursor of the code pane.
    fn cursor_line(&self) -> Line {
        let cursor = self.panes.scroll(PaneKind::Code).cursor;
        Line { file: self.choices.file, line: u32::try_from(cursor).unwrap_or(u32::MAX).saturating_add(1) }
    }

    /// A command with the line under the cursor: by its number, and the file's name if the machine stands
    /// in another.
    fn at_cursor(&self, session: &Session, command: &str) -> Result<String, String> {
        let Line { file, line } = self.cursor_line();
        match session.listing().files().get(file as usize) {
            Some(source) if file != session.current_file() => Ok(format!("{command} {}:{line}", source.name)),
            _ => Ok(format!("{command} {line}")),
        }
    }

    fn breakpoint(&self, session: &Session) -> Result<String, String> {
        let Line { file, line } = self.cursor_line();
        let code = view::code::code(session, file, line, 1);
        match code.lines.first().and_then(|line| line.breakpoints.first()) {
            Some(mark) => Ok(format!("delete {}", mark.id)),
            None => self.at_cursor(session, "break"),
        }
    }

    fn watch(&self, session: &Session) -> Result<String, String> {
        let line = self.with_cell("watch")?;
        let cell = self.selected_cell().and_then(|name| session.cell(&name).ok());
        let wanted = cell.map(|cell| session.memory().target(session.state(), cell));
        let is_on =
            |trigger: &Trigger| matches!(trigger, Trigger::Watch { target, .. } if Some(*target) == wanted);
        let point = session.points().iter().find(|point| is_on(&point.trigger));
        Ok(point.map_or(line, |point| format!("delete {}", point.id)))
    }

    /// What opening the thing under the cursor means, if it is a command.
    fn open(&self, session: &Session) -> Option<Result<String, String>> {
        match self.panes.focus() {
            PaneKind::Code => Some(self.breakpoint(session)),
            PaneKind::Cells | PaneKind::Arrays => Some(self.with_cell("why")),
            focus => match self.spot(focus)? {
                PaneSpot::Step(step) => Some(Ok(format!("goto {step}"))),
                PaneSpot::Frame(number) => Some(Ok(format!("frame {number}"))),
                PaneSpot::Cell(_) | PaneSpot::Line(_) => None,
            },
        }
    }

    fn turn_array(&mut self, further: bool) {
        let Some(session) = self.session() else { return };
        let arrays = view::cells::cells(session, &[]).arrays;
        let Some(last) = arrays.len().checked_sub(1) else { return };
        let chosen = self.choices.array.as_ref();
        let now = arrays.iter().position(|array| Some(&array.name) == chosen).unwrap_or_default();
        let next = if further { now.min(last) + 1 } else { now + last } % (last + 1);
        self.choices.array = arrays.get(next).map(|array| array.name.clone());
        self.panes.set_cursor(PaneKind::Arrays, 0);
        self.select(PaneKind::Arrays);
        self.panes.raise(PaneKind::Arrays);
    }

    /// Moves the cursor to the next item that has the text in it, round the end; in the focused pane, or
    /// in the code if that has no text.
    pub(super) fn search(&mut self, further: bool) {
        let Some(wanted) = self.choices.search.clone() else {
            return self.say(Tone::Note, "nothing was searched yet");
        };
        if let Some(overlay) = &mut self.overlay {
            if !overlay.search(&wanted, further, self.messages.lines(), &self.theme) {
                // The messages stay as they are: the overlay may show some of them.
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

/// The step a part of the known history away.
fn scrubbed(session: &Session, parts: i64) -> i64 {
    let (first, last) = session.timeline().span().steps();
    let part = (last.saturating_sub(first) / SCRUB_PARTS).max(1);
    session.step_number().saturating_add(part.saturating_mul(parts))
}
