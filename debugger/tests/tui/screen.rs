//! A screen without a terminal, for tests. Tests type keys and read the drawn text; background tasks are
//! performed at once.

use reviver_files::UsedFiles;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::session::Session;
use reviver_debugger::tui::app::{App, BackgroundTask, Effect};
use reviver_debugger::tui::event::{Gesture, InputEvent, Mouse};
use reviver_debugger::tui::keys::{BareKey, Key, KeyMap};
use reviver_debugger::tui::theme::{Theme, ThemeName};

pub struct Screen {
    pub app: App,
    pub terminal: Terminal<TestBackend>,
    pub has_quit: bool,
    /// Maximum time of a command. After this time, the test interrupts the command.
    pub patience: Duration,
}

impl Screen {
    pub fn new(app: App, width: u16, height: u16) -> Screen {
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut screen = Screen { app, terminal, has_quit: false, patience: Duration::from_secs(60) };
        screen.draw();
        screen
    }

    pub fn open(subject: OpenedProgram, width: u16, height: u16) -> Screen {
        Screen::new(app(subject), width, height)
    }

    /// Types keys in the notation of key files, separated by blanks.
    pub fn keys(&mut self, keys: &str) -> &mut Screen {
        keys.split_whitespace().for_each(|key| self.event(InputEvent::Key(key.parse().unwrap())));
        self
    }

    /// Types a command line.
    pub fn command(&mut self, line: &str) -> &mut Screen {
        let keys = ":".chars().chain(line.chars()).map(Key::char);
        keys.for_each(|key| self.event(InputEvent::Key(key)));
        self.event(InputEvent::Key(Key::plain(BareKey::Enter)));
        self
    }

    pub fn mouse(&mut self, gesture: Gesture, x: u16, y: u16) -> &mut Screen {
        self.event(InputEvent::Mouse(Mouse { place: Position { x, y }, gesture }));
        self
    }

    /// Handles an event, executes the effects that it causes, and draws a frame.
    pub fn event(&mut self, event: InputEvent) {
        let effect = self.app.handle(event);
        self.carry_out(effect);
        self.draw();
    }

    pub fn carry_out(&mut self, effects: impl IntoIterator<Item = Effect>) {
        let mut due: VecDeque<Effect> = effects.into_iter().collect();
        while let Some(next) = due.pop_front() {
            match next {
                Effect::Quit => self.has_quit = true,
                Effect::Mouse(_) | Effect::Suspend => {}
                Effect::Clear => self.terminal.clear().unwrap(),
                Effect::Run(background_task) => due.extend(self.run(background_task)),
            }
        }
    }

    fn run(&mut self, background_task: BackgroundTask) -> Vec<Effect> {
        let returning = background_task.start();
        loop {
            match returning.recv_timeout(self.patience) {
                Ok(done) => return self.app.returned(done.unwrap_or_else(|panic| resume_unwind(panic))),
                Err(_) => assert!(self.app.handle(InputEvent::Key(Key::ctrl('c'))).is_none()),
            }
        }
    }

    /// Handles an event that causes a background task, and returns the task without performing it.
    pub fn send(&mut self, event: InputEvent) -> BackgroundTask {
        match self.app.handle(event) {
            Some(Effect::Run(background_task)) => background_task,
            other => panic!("no errand but {other:?}"),
        }
    }

    pub fn draw(&mut self) {
        if self.app.is_stale() {
            self.terminal.draw(|frame| self.app.draw(frame)).unwrap();
        }
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.event(InputEvent::Resize);
    }

    /// Returns the text on the screen.
    pub fn text(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let rows = buffer.content().chunks(usize::from(buffer.area.width).max(1));
        let row = |cells: &[ratatui::buffer::Cell]| {
            let text: String = cells.iter().map(|cell| cell.symbol()).collect();
            text.trim_end().to_owned() + "\n"
        };
        rows.map(row).collect()
    }

    /// Returns the last row, which shows the last message.
    pub fn last_row(&self) -> String {
        self.text().lines().last().unwrap_or_default().to_owned()
    }

    pub fn step(&self) -> i64 {
        self.app.session().unwrap().step_number()
    }
}

pub fn app(subject: OpenedProgram) -> App {
    app_of(Session::at_begin(subject).unwrap())
}

pub fn app_of(session: Session) -> App {
    App::new(session, UsedFiles::default(), KeyMap::default(), Theme::new(ThemeName::Dark))
}
