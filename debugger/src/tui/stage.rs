//! Connects the application with the terminal. Background tasks of the session run on another thread, so that
//! the screen stays responsive.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::app::{App, Done, Effect};
use super::event::InputEvent;
use super::keys::Key;
use super::signals::{self, Signals};
use super::terminal::{self, Screen};

/// The reason why the screen can't be opened.
#[derive(Debug, Error)]
pub enum TuiError {
    /// The input or the output isn't a terminal, or the terminal is `dumb`.
    #[error("this is not a terminal: run `reviver repl`, which works without a terminal")]
    NoTerminal,
    /// The terminal couldn't be read, written or configured.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
}

/// Receiver for the result of a background task.
type Returning = Receiver<thread::Result<Done>>;

/// Time for which the screen waits for a background task before it draws a frame. Most commands finish within
/// this time.
const AT_ONCE: Duration = Duration::from_millis(8);

/// Time between two checks for the result of a background task.
const GLANCE: Duration = Duration::from_millis(10);

/// Maximum time between two checks for signals, while the application waits for events.
const LONG: Duration = Duration::from_millis(200);

/// Maximum time for which the first frame waits for the terminal to report its background.
const ANSWER: Duration = Duration::from_millis(150);

/// Runs the application on the terminal until the user quits. If a signal ends the process, the terminal is
/// restored first.
///
/// # Errors
/// There is no terminal, or the terminal fails.
pub fn run(app: App) -> Result<(), TuiError> {
    if !terminal::is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    let signals = Signals::catch()?;
    let screen = Screen::open()?;
    let mut stage = Stage { app, screen, signals, returning: None, last_tick: Instant::now() };
    let ended = stage.run();
    let signal = stage.signals.end();
    drop(stage);
    // If the terminal was closed, a signal arrived and a read failed. The signal is the more useful reason.
    match signal {
        Some(signal) => Ok(signals::end_by(signal)?),
        None => Ok(ended?),
    }
}

/// The application, the terminal, and the background task.
struct Stage {
    app: App,
    screen: Screen,
    signals: Signals,
    returning: Option<Returning>,
    last_tick: Instant,
}

/// Result of one iteration of the main loop: continue, or end.
type LoopEnd = io::Result<ControlFlow<()>>;

impl Stage {
    fn run(&mut self) -> io::Result<()> {
        if self.app.follows_ground() {
            // Most terminals report their background within `ANSWER`. A later report changes the colours of the
            // visible screen.
            self.screen.ask_ground()?;
            if let Some(event) = self.screen.event(ANSWER)? {
                let effect = self.app.handle(event);
                if self.carry_out(effect.into_iter().collect())?.is_break() {
                    return Ok(());
                }
            }
        }
        while self.turn()?.is_continue() {}
        Ok(())
    }

    /// Executes one iteration of the main loop: handles signals, draws a new frame if needed, and handles the
    /// next event.
    fn turn(&mut self) -> LoopEnd {
        if self.signals.end().is_some() {
            return Ok(ControlFlow::Break(()));
        }
        if self.signals.take_resumed() {
            self.reopen()?;
        }
        // An interrupt is passed to the application only if a task or playback runs; otherwise there is nothing to
        // interrupt.
        if self.signals.take_interrupt() && self.app.patience().is_some() {
            let effect = self.app.handle(InputEvent::Key(Key::ctrl('c')));
            return self.carry_out(effect.into_iter().collect());
        }
        if self.app.is_stale() {
            self.screen.draw(|frame| self.app.draw(frame))?;
        }
        if let Some(done) = self.arrived(Duration::ZERO)? {
            let effects = self.app.returned(done);
            return self.carry_out(effects);
        }
        let event = self.screen.event(self.patience())?;
        if self.app.patience().is_none() {
            // An interrupt that arrived while the application was idle is dropped, so that it doesn't
            // interrupt the task that this event may start.
            self.signals.take_interrupt();
        }
        let effect = match event {
            Some(event) => self.app.handle(event),
            None => self.tick(),
        };
        self.carry_out(effect.into_iter().collect())
    }

    /// Returns the maximum time to wait for the next event.
    fn patience(&self) -> Duration {
        let due = self.app.patience().map(|patience| patience.saturating_sub(self.last_tick.elapsed()));
        let glance = self.returning.as_ref().map(|_| GLANCE);
        due.into_iter().chain(glance).min().unwrap_or(LONG)
    }

    fn tick(&mut self) -> Option<Effect> {
        let elapsed = self.last_tick.elapsed();
        if self.app.patience().is_none_or(|patience| elapsed < patience) {
            return None;
        }
        self.last_tick = Instant::now();
        self.app.handle(InputEvent::Tick(elapsed))
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> LoopEnd {
        let mut due = VecDeque::from(effects);
        while let Some(next) = due.pop_front() {
            match next {
                Effect::Quit => return Ok(ControlFlow::Break(())),
                Effect::Mouse(on) => self.screen.set_mouse(on)?,
                Effect::Clear => self.screen.clear()?,
                Effect::Suspend => self.suspend()?,
                Effect::Run(background_task) => {
                    self.returning = Some(background_task.start());
                    self.last_tick = Instant::now();
                    let done = self.arrived(AT_ONCE)?;
                    due.extend(done.into_iter().flat_map(|done| self.app.returned(done)));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Restores the terminal and stops the process. When the shell continues the job, opens the screen again.
    fn suspend(&mut self) -> io::Result<()> {
        self.screen.close();
        signals::stop_job()?;
        self.reopen()
    }

    /// Opens the screen again and draws all of it, because other programs have used the terminal.
    fn reopen(&mut self) -> io::Result<()> {
        self.signals.take_resumed();
        self.screen.reopen()?;
        // A resize event makes the application draw a new frame.
        self.app.handle(InputEvent::Resize);
        Ok(())
    }

    /// Returns the result of the background task, if the result arrives within this time. If the task has
    /// panicked, the panic continues on this thread.
    fn arrived(&mut self, within: Duration) -> io::Result<Option<Done>> {
        let Some(returning) = &self.returning else { return Ok(None) };
        match returning.recv_timeout(within) {
            Ok(Ok(done)) => {
                self.returning = None;
                Ok(Some(done))
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(io::Error::other("the thread of a task has ended without a result"))
            }
        }
    }
}
