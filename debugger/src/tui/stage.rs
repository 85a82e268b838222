//! Connection of the application with the terminal. Long runs of the session are executed on a separate thread, so
//! that the screen stays responsive.

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
    #[error("this is not a terminal; `reviver repl` works without one")]
    NoTerminal,
    /// The terminal couldn't be read, written or configured.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
}

/// Receiver for the result of a background task.
type Returning = Receiver<thread::Result<Done>>;

/// Time within which most commands finish; no intermediate frame is drawn before.
const AT_ONCE: Duration = Duration::from_millis(8);

/// Time between two checks for the result of a background task.
const GLANCE: Duration = Duration::from_millis(10);

/// Maximum time until a signal is handled while the application waits for events.
const LONG: Duration = Duration::from_millis(200);

/// Time that the first frame waits for the terminal to report its background.
const ANSWER: Duration = Duration::from_millis(150);

/// Runs the application on the terminal until the user quits. A signal that ends the process takes effect
/// after the terminal has been restored.
///
/// # Errors
/// There is no terminal, or it fails.
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
    // When the terminal was closed, it has failed too, and the signal is the better reason.
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

/// Result of a step of the main loop: continue or end.
type LoopEnd = io::Result<ControlFlow<()>>;

impl Stage {
    fn run(&mut self) -> io::Result<()> {
        if self.app.follows_ground() {
            // Most terminals answer at once. A later answer changes the colours of the visible screen.
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

    /// Handles signals, draws a new frame if needed, and waits for the next event.
    fn turn(&mut self) -> LoopEnd {
        if self.signals.end().is_some() {
            return Ok(ControlFlow::Break(()));
        }
        if self.signals.take_resumed() {
            self.reopen()?;
        }
        // Without an activity there is nothing to interrupt.
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
            // An interrupt received while idle must not interrupt the activity that this event may start.
            self.signals.take_interrupt();
        }
        let effect = match event {
            Some(event) => self.app.handle(event),
            None => self.tick(),
        };
        self.carry_out(effect.into_iter().collect())
    }

    /// Returns how long to wait for an event.
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

    /// Restores the terminal and stops the process until the shell continues the job.
    fn suspend(&mut self) -> io::Result<()> {
        self.screen.close();
        signals::stop_job()?;
        self.reopen()
    }

    /// Reopens the terminal: other programs have used it, and its size may have changed.
    fn reopen(&mut self) -> io::Result<()> {
        self.signals.take_resumed();
        self.screen.reopen()?;
        // A resize event has no effect other than a new frame.
        self.app.handle(InputEvent::Resize);
        Ok(())
    }

    /// Returns the result of the background task if it arrives in time. A panic in the task is resumed
    /// here.
    fn arrived(&mut self, within: Duration) -> io::Result<Option<Done>> {
        let Some(returning) = &self.returning else { return Ok(None) };
        match returning.recv_timeout(within) {
            Ok(Ok(done)) => {
                self.returning = None;
                Ok(Some(done))
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("a thread is gone")),
        }
    }
}
