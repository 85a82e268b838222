//! The application reacts to keys, mouse and time, and draws the screen. [`App::handle`] takes an event and
//! returns an effect. [`App::draw`] draws a frame from the current state. The application depends on no terminal
//! and no thread. Its host runs the background tasks, which own the session while they run.

mod act;
mod arrangement;
mod background;
mod broken;
mod draw;
mod effect;
mod face;
mod guide;
mod heading;
mod hints;
mod leave;
mod meant;
pub mod messages;
mod overlay;
mod play;
mod plots;
mod point;
mod prompt;
mod report;
mod selection;
mod walk;
mod zoom;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::buffer::Buffer;
use reviver_files::UsedFiles;
use reviver_vm::Travel;

pub use background::{BackgroundTask, Done};
pub use effect::Effect;
pub use face::Face;

use self::arrangement::Arrangement;
use self::background::{Task, TaskResult};
use self::broken::Broken;
use self::messages::{Messages, Tone};
use self::overlay::{Overlay, OverlayAction};
use self::play::Player;
use self::prompt::{Prompt, PromptPurpose, Typed};
use super::event::{Gesture, InputEvent};
use super::keys::{Key, KeyMap};
use super::panes::{Choices, Context, PaneKind, Scroll, timeline};
use super::theme::{Theme, ThemeName};
use super::tour::reading::Tour;
use crate::command::completion::candidates;
use crate::command::screen::ScreenAction;
use crate::command::{Console, Outcome};
use crate::listing::{Line, OpenError};
use crate::outcome::Touch;
use crate::scale::column_of;
use crate::session::{Progress, Session};
use crate::session_content::unsaved_content;
use crate::timeline::StepSpan;
use crate::view::card::{CardView, card};
use crate::view::cell_rows::CellRows;
use crate::view::code::{counterpart, here};

/// The owner of the session: the application, or a background task.
#[derive(Debug)]
enum SessionPlace {
    Here(Box<Console>),
    Busy(BusySession),
    /// No session: the program has errors.
    Broken(Broken),
}

/// Data about a session that a background task owns.
#[derive(Debug)]
struct BusySession {
    what: String,
    elapsed: Duration,
    /// The range of steps of the session's branch.
    span: StepSpan,
    /// True if any event interrupts the task, because the user didn't request the task.
    is_optional: bool,
    /// True if the session has content that would be lost at its end, such as points or branches.
    is_kept: bool,
}

/// The debugger on a screen, without the terminal. It converts events to effects and frames.
#[derive(Debug)]
pub struct App {
    engine: SessionPlace,
    /// Flag that interrupts the session, even while a background task owns the session.
    interrupt: Arc<AtomicBool>,
    /// Progress of the session's current run.
    progress: Arc<Progress>,
    /// Events that arrived while a background task owned the session.
    waiting: VecDeque<InputEvent>,
    keys: KeyMap,
    theme: Theme,
    /// True if the theme follows the terminal's background.
    follows_ground: bool,
    panes: Arrangement,
    /// Number of rows that the cells of the program need.
    cell_rows: CellRows,
    choices: Choices,
    footprint: Vec<Touch>,
    card: Option<CardView>,
    messages: Messages,
    prompt: Option<Prompt>,
    overlay: Option<Overlay>,
    tour: Option<Tour>,
    /// Lines that the user has typed: first commands, then search texts.
    typed: [Vec<String>; 2],
    player: Player,
    plotted: plots::Plotted,
    mouse: bool,
    /// True if the last key executed a command whose answer is shown. If the next key is `q`, the user may want to
    /// close the answer.
    is_answered: bool,
    /// True if the last key requested to end the session, so that the confirmation question is shown.
    is_leaving: bool,
    /// True while the user drags the present on the timeline bar with the mouse.
    scrubs: bool,
    /// True if the next frame would differ from the last one.
    is_stale: bool,
    /// The last frame that was drawn while the application owned the session. It is shown while a background task
    /// owns the session.
    picture: Buffer,
}

/// Maximum number of events that are stored while a background task owns the session.
const MOST_WAITING: usize = 256;

impl App {
    /// Creates the application for a session. `files` has the files that were read to open the session.
    pub fn new(mut session: Session, files: UsedFiles, keys: KeyMap, theme: Theme) -> App {
        let (interrupt, progress, card) = (session.interrupt(), session.progress(), card(&mut session));
        let cell_rows = CellRows::of(session.program());
        let mut app = App::with(
            SessionPlace::Here(Box::new(Console::new(session, files, Box::new(Face::default())))),
            keys,
            theme,
        );
        (app.interrupt, app.progress) = (interrupt, progress);
        (app.card, app.cell_rows) = (card, cell_rows);
        app.follow();
        app
    }

    /// Creates the application for a program that can't be debugged; it shows the diagnostics.
    pub fn broken(error: &OpenError, keys: KeyMap, theme: Theme) -> App {
        App::with(SessionPlace::Broken(Broken::new(error)), keys, theme)
    }

    fn with(engine: SessionPlace, keys: KeyMap, theme: Theme) -> App {
        App {
            engine,
            interrupt: Arc::default(),
            progress: Arc::default(),
            waiting: VecDeque::new(),
            keys,
            theme,
            follows_ground: false,
            panes: Arrangement::new(),
            cell_rows: CellRows::default(),
            choices: Choices::default(),
            footprint: Vec::new(),
            card: None,
            messages: Messages::default(),
            prompt: None,
            overlay: None,
            tour: None,
            typed: [Vec::new(), Vec::new()],
            player: Player::new(),
            plotted: plots::Plotted::default(),
            mouse: false,
            is_answered: false,
            is_leaving: false,
            scrubs: false,
            is_stale: true,
            picture: Buffer::default(),
        }
    }

    /// Makes the theme follow the terminal's background: the theme changes when the terminal reports its
    /// background.
    #[must_use]
    pub fn following_ground(self) -> App {
        App { follows_ground: self.theme.name != ThemeName::Plain, ..self }
    }

    /// Returns true if the theme follows the terminal's background.
    pub fn follows_ground(&self) -> bool {
        self.follows_ground
    }

    /// Adds a text to the messages, for example the assembler's warnings.
    pub fn note(&mut self, text: &str) {
        self.say(Tone::Note, text);
    }

    /// Returns the session. Returns `None` while a background task owns it, or if the program can't be debugged.
    pub fn session(&self) -> Option<&Session> {
        self.console().map(|console| &console.session)
    }

    /// Returns the messages so far.
    pub fn messages(&self) -> &[messages::Message] {
        self.messages.lines()
    }

    /// Returns the focused pane.
    pub fn focus(&self) -> PaneKind {
        self.panes.focus()
    }

    /// Returns true if the next frame would differ from the last one.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Returns the time after which a tick is needed. Returns `None` if the application needs no tick before
    /// the next event.
    pub fn patience(&self) -> Option<Duration> {
        match &self.engine {
            SessionPlace::Busy(_) => Some(Duration::from_millis(100)),
            SessionPlace::Here(_) if self.player.is_playing => Some(play::TICK),
            SessionPlace::Here(console) if self.needs_samples(&console.session) => Some(plots::REST),
            _ => None,
        }
    }

    /// Handles an event and returns the resulting effect, if any.
    pub fn handle(&mut self, event: InputEvent) -> Option<Effect> {
        match event {
            InputEvent::Tick(elapsed) => self.tick(elapsed),
            InputEvent::Resize => {
                self.is_stale = true;
                None
            }
            InputEvent::Ground(ground) => {
                let name = self.theme.name.on(ground);
                if self.follows_ground && name != self.theme.name {
                    (self.theme, self.is_stale) = (Theme::new(name), true);
                }
                None
            }
            InputEvent::Key(key) if key == Key::ctrl('c') => self.interrupt(),
            InputEvent::Key(key) if self.suspends(key) => Some(Effect::Suspend),
            _ if matches!(self.engine, SessionPlace::Busy(_)) => {
                self.keep(event);
                None
            }
            InputEvent::Key(key) => self.key(key),
            InputEvent::Paste(text) => {
                self.is_stale |= self.prompt.as_mut().map(|prompt| prompt.paste(&text)).is_some();
                None
            }
            InputEvent::Mouse(mouse) => self.point(mouse),
        }
    }

    /// Takes the session back and handles the result of its task. Then handles the stored events, until one
    /// of them starts a background task again.
    pub fn returned(&mut self, done: Done) -> Vec<Effect> {
        self.is_stale = true;
        self.engine = SessionPlace::Here(done.console);
        self.footprint = done.footprint;
        let before = std::mem::replace(&mut self.card, done.card);
        self.keep_selected();
        if done.has_moved {
            self.follow_elements();
        }
        self.forget_samples();
        self.choices.displayed = self.console().map(report::displayed).unwrap_or_default();
        match done.result {
            TaskResult::Command { line, is_quiet, outcome } => {
                outcome.iter().for_each(|outcome| self.describe_step(before.as_ref(), outcome));
                let quits = outcome.as_ref().is_ok_and(Outcome::quits);
                self.report(&line, is_quiet, done.has_moved, outcome);
                if quits {
                    return vec![Effect::Quit];
                }
            }
            TaskResult::Looked => self.take_plots(),
            TaskResult::Sampled(samples) => self.sampled(samples),
            TaskResult::Asked { number, rows } => self.answered(number, rows),
        }
        let mut effects = Vec::new();
        while matches!(self.engine, SessionPlace::Here(_))
            && let Some(event) = self.waiting.pop_front()
        {
            effects.extend(self.handle(event));
        }
        effects
    }

    /// Returns true if a key suspends the process. Such a key acts even during a background task, but not while the
    /// user types text at the prompt.
    fn suspends(&self, key: Key) -> bool {
        let is_typed = self.prompt.is_some() && !key.ctrl && !key.alt;
        !is_typed && self.asked_by(key) == Some(ScreenAction::Suspend)
    }

    /// Returns the screen action that a key is bound to, if any.
    fn asked_by(&self, key: Key) -> Option<ScreenAction> {
        ScreenAction::of(self.keys.get(key)?)?.ok()
    }

    fn console(&self) -> Option<&Console> {
        match &self.engine {
            SessionPlace::Here(console) => Some(console),
            _ => None,
        }
    }

    fn say(&mut self, tone: Tone, text: &str) {
        let kind = PaneKind::Messages;
        // The messages pane scrolls to the last lines, unless the user reads earlier ones.
        let cursor = self.panes.scroll(kind).cursor;
        let reads_earlier =
            self.context(kind).is_some_and(|context| cursor + 1 < kind.pane().items(&context));
        self.messages.say(tone, text);
        if self.panes.focus() != kind || !reads_earlier {
            self.panes.set_cursor(kind, usize::MAX - 1);
        }
        self.is_stale = true;
    }

    /// Reacts to Ctrl-C: interrupts the running task. Without a task, pauses playback. Without playback, closes the
    /// prompt or the overlay. Never ends the session.
    fn interrupt(&mut self) -> Option<Effect> {
        self.is_stale = true;
        let was_playing = std::mem::take(&mut self.player.is_playing);
        if let SessionPlace::Busy(_) = self.engine {
            self.waiting.clear();
            self.interrupt.store(true, Ordering::Relaxed);
        } else if was_playing {
            self.say(Tone::Note, "paused");
        } else if self.prompt.take().is_none() && self.overlay.take().is_none() {
            let leave = self.keys.input_for("leave");
            self.say(Tone::Note, &format!("nothing is running; {leave} ends the session"));
        }
        None
    }

    /// Stores an event until the background task has ended. Of consecutive mouse drags, only the last one is
    /// stored.
    fn keep(&mut self, event: InputEvent) {
        let is_optional = matches!(self.engine, SessionPlace::Busy(BusySession { is_optional: true, .. }));
        self.is_stale |= !is_optional;
        let is_drag =
            |event: &InputEvent| matches!(event, InputEvent::Mouse(mouse) if mouse.gesture == Gesture::Drag);
        if is_drag(&event) && self.waiting.back().is_some_and(is_drag) {
            self.waiting.pop_back();
        }
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(event);
        }
        // A request to end the session interrupts the task. Any event interrupts an optional task.
        if is_optional || self.waits_to_quit() {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if a stored key will end the session. Keys after a key that opens the prompt don't count,
    /// because they will be typed as text.
    fn waits_to_quit(&self) -> bool {
        let actions = self.waiting.iter().filter_map(|event| match event {
            InputEvent::Key(key) => self.asked_by(*key),
            _ => None,
        });
        let is_decisive = |action: &ScreenAction| {
            matches!(action, ScreenAction::Ask(_) | ScreenAction::AskSearch | ScreenAction::Leave)
        };
        self.prompt.is_none() && actions.into_iter().find(is_decisive) == Some(ScreenAction::Leave)
    }

    fn key(&mut self, key: Key) -> Option<Effect> {
        self.is_stale = true;
        let is_again = std::mem::take(&mut self.is_leaving);
        let is_answered = std::mem::take(&mut self.is_answered);
        if self.prompt.is_some() {
            return self.type_key(key);
        }
        self.messages.dismiss();
        let line = self.line_of(key).map(str::to_owned);
        if let SessionPlace::Broken(broken) = &mut self.engine {
            return broken.act(&line?);
        }
        if let Some(overlay) = &mut self.overlay {
            match overlay.key(key, line.as_deref()) {
                OverlayAction::Taken => return None,
                OverlayAction::Search => {
                    self.prompt = Some(Prompt::new(PromptPurpose::Search, ""));
                    return None;
                }
                OverlayAction::Found(further) => {
                    self.search(further);
                    return None;
                }
                OverlayAction::Closes => {
                    self.overlay = None;
                    return None;
                }
                OverlayAction::Passes => self.overlay = None,
            }
        }
        match line {
            Some(_) if is_again && self.asked_by(key) == Some(ScreenAction::Leave) => Some(Effect::Quit),
            Some(_) if is_answered && self.asked_by(key) == Some(ScreenAction::Leave) => self.leave(true),
            Some(line) => self.run(&line),
            None => self.note_why(&format!(
                "{key} does nothing; {} shows the keys that have an effect",
                self.keys.input_for("keys")
            )),
        }
    }

    /// Returns the line that a key is bound to in the focused pane.
    fn line_of(&self, key: Key) -> Option<&str> {
        let of_pane = self.panes.focus().pane().keys();
        let own = of_pane.iter().find(|(bare, _)| key == Key::plain(*bare)).map(|(_, line)| *line);
        own.filter(|_| self.overlay.is_none()).or_else(|| self.keys.get(key))
    }

    fn type_key(&mut self, key: Key) -> Option<Effect> {
        let prompt = self.prompt.as_mut()?;
        let purpose = prompt.purpose;
        match prompt.key(key, &self.typed[purpose as usize]) {
            Typed::More => {}
            Typed::Left => self.prompt = None,
            Typed::Complete => self.complete(),
            Typed::Entered(line) => {
                self.prompt = None;
                return self.entered(purpose, line);
            }
        }
        None
    }

    fn complete(&mut self) {
        let (SessionPlace::Here(console), Some(prompt)) = (&self.engine, &mut self.prompt) else { return };
        if prompt.purpose == PromptPurpose::Command {
            let panes = PaneKind::ALL.map(PaneKind::name);
            let (start, candidates) = candidates(console, Some(&panes), &prompt.before_cursor());
            prompt.complete(start, &candidates);
        }
    }

    fn entered(&mut self, purpose: PromptPurpose, line: String) -> Option<Effect> {
        let typed = &mut self.typed[purpose as usize];
        if !line.is_empty() && typed.last() != Some(&line) {
            typed.push(line.clone());
        }
        match purpose {
            PromptPurpose::Command if line.is_empty() => None,
            PromptPurpose::Command => self.run(&line),
            PromptPurpose::Search => {
                if !line.is_empty() {
                    return self.search_for(&line);
                }
                self.search(true);
                None
            }
        }
    }

    fn send(&mut self, task: Task) -> Option<Effect> {
        let what = match &task {
            Task::Command { line, .. } => line.clone(),
            Task::Look => String::new(),
            Task::Sample { .. } => "sampling the plotted cells".to_owned(),
            Task::Ask { .. } => "searching further back".to_owned(),
        };
        let is_optional = matches!(task, Task::Sample { .. });
        let span = self.session()?.timeline().span();
        let is_kept = self.session().is_some_and(|session| unsaved_content(session).is_some());
        let away = BusySession { what, elapsed: Duration::ZERO, span, is_optional, is_kept };
        let away = SessionPlace::Busy(away);
        let face = self.face_for(&task);
        match std::mem::replace(&mut self.engine, away) {
            SessionPlace::Here(mut console) => {
                if let Some(face) = face {
                    console.painter = face;
                }
                Some(Effect::Run(BackgroundTask { console, task }))
            }
            other => {
                self.engine = other;
                None
            }
        }
    }

    fn tick(&mut self, elapsed: Duration) -> Option<Effect> {
        match &mut self.engine {
            SessionPlace::Busy(away) => {
                away.elapsed += elapsed;
                self.is_stale = true;
                None
            }
            SessionPlace::Here(_) if self.player.is_playing => {
                let verb = if self.player.travel == Travel::Forward { "step" } else { "reverse-step" };
                match self.player.tick(elapsed) {
                    0 => None,
                    steps => self.send(Task::Command { line: format!("{verb} {steps}"), is_quiet: true }),
                }
            }
            SessionPlace::Here(_) => self.sample(),
            SessionPlace::Broken(_) => None,
        }
    }

    /// Scrolls the code pane and the inverse program to the machine's position, and the timeline to the
    /// present.
    fn follow(&mut self) {
        let Some(session) = self.session() else { return };
        let (line, counterpart) = (here(session), counterpart(session));
        self.show_line(line);
        if let Some(counterpart) = counterpart {
            self.panes.look_at(PaneKind::Inverse, counterpart);
        }
        self.follow_time();
    }

    /// Moves the cursor of the timeline bar to the present.
    fn follow_time(&mut self) {
        let columns = timeline::columns(self.panes.area(PaneKind::Timeline));
        let Some(session) = self.session() else { return };
        let column = column_of(session.timeline().span().steps(), session.step_number(), columns);
        self.panes.set_cursor(PaneKind::Timeline, column.unwrap_or(0));
    }

    /// Shows a source line in the code pane, with some lines before and after it.
    fn show_line(&mut self, line: Line) {
        if self.choices.file != line.file {
            self.choices.file = line.file;
            self.panes.set_scroll(PaneKind::Code, Scroll::default());
        }
        self.panes.look_at(PaneKind::Code, line.line.saturating_sub(1) as usize);
    }

    fn show_failure(&mut self, is_trap: bool) {
        let (shown, other) = match is_trap {
            true => (PaneKind::Failure, PaneKind::Card),
            false => (PaneKind::Card, PaneKind::Failure),
        };
        if self.panes.latest(&[shown, other]) == Some(other) {
            // While the user navigates an answer, the answer keeps the focus.
            let walks = self.panes.focus() == PaneKind::Answer;
            self.panes.raise(shown);
            if walks {
                self.panes.set_focus(PaneKind::Answer);
            }
        }
    }

    /// Returns the data from which a pane is drawn, or `None` while a background task owns the session.
    fn context(&self, kind: PaneKind) -> Option<Context<'_>> {
        Some(Context {
            session: self.session()?,
            footprint: &self.footprint,
            card: self.card.as_ref(),
            theme: &self.theme,
            choices: &self.choices,
            messages: self.messages.lines(),
            area: self.panes.area(kind),
            scroll: self.panes.scroll(kind),
            is_focused: self.panes.focus() == kind,
        })
    }
}
