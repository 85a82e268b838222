//! The debugger on a screen. [`app`] is the application, which knows no terminal; [`terminal`] is the only
//! part that does; here the two meet. The session's long runs happen on a thread of their own, so that
//! the screen stays alive.

pub mod app;
mod colour;
pub mod event;
pub mod keys;
pub mod layout;
pub mod panes;
pub mod picture;
mod sgr;
mod signals;
mod split;
pub mod terminal;
pub mod theme;
pub mod tour;

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use self::app::{App, Done, Effect};
use self::event::InputEvent;
use self::keys::Key;
use self::signals::Signals;
use self::terminal::Screen;

/// Why there is no screen.
#[derive(Debug, Error)]
pub enum TuiError {
    #[error("this is not a terminal; `reviver repl` works without one")]
    NoTerminal,
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
}

/// What a run on another thread comes to.
type Returning = Receiver<thread::Result<Done>>;

/// Most commands are done within this time: no frame is drawn for the meantime.
const AT_ONCE: Duration = Duration::from_millis(8);

/// How often a run on the other thread is asked whether it is done.
const GLANCE: Duration = Duration::from_millis(10);

/// How long a signal may wait where nothing but an event is expected.
const LONG: Duration = Duration::from_millis(200);

/// How long the first frame waits for the terminal to tell its background.
const ANSWER: Duration = Duration::from_millis(150);

/// Runs the application on the terminal until the user quits. A signal that ends the process does so when
/// the terminal is given back.
///
/// # Errors
/// No terminal, or one that fails.
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
    // A terminal that was hung up has failed as well: the signal says it better.
    match signal {
        Some(signal) => Ok(signals::end_by(signal)?),
        None => Ok(ended?),
    }
}

/// The application, the terminal, and what is under way.
struct Stage {
    app: App,
    screen: Screen,
    signals: Signals,
    returning: Option<Returning>,
    last_tick: Instant,
}

/// Whether to go on.
type Goes = io::Result<ControlFlow<()>>;

impl Stage {
    fn run(&mut self) -> io::Result<()> {
        if self.app.follows_ground() {
            // Most answer at once. Who answers later changes the colours of a screen that is seen already.
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

    /// Heeds signals, draws if there is something new, then waits for the next thing to happen.
    fn turn(&mut self) -> Goes {
        if self.signals.end().is_some() {
            return Ok(ControlFlow::Break(()));
        }
        if self.signals.take_resumed() {
            self.reopen()?;
        }
        // At rest there is nothing to interrupt.
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
            // What came at rest doesn't mean what this event may start.
            self.signals.take_interrupt();
        }
        let effect = match event {
            Some(event) => self.app.handle(event),
            None => self.tick(),
        };
        self.carry_out(effect.into_iter().collect())
    }

    /// How long to wait for an event.
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

    fn carry_out(&mut self, effects: Vec<Effect>) -> Goes {
        let mut due = VecDeque::from(effects);
        while let Some(next) = due.pop_front() {
            match next {
                Effect::Quit => return Ok(ControlFlow::Break(())),
                Effect::Mouse(on) => self.screen.set_mouse(on)?,
                Effect::Clear => self.screen.clear()?,
                Effect::Suspend => self.suspend()?,
                Effect::Run(errand) => {
                    self.returning = Some(errand.start());
                    self.last_tick = Instant::now();
                    let done = self.arrived(AT_ONCE)?;
                    due.extend(done.into_iter().flat_map(|done| self.app.returned(done)));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Gives the terminal back and stops until the shell lets the job go on.
    fn suspend(&mut self) -> io::Result<()> {
        self.screen.close();
        signals::stop_job()?;
        self.reopen()
    }

    /// Takes the terminal anew: others have used it, and its size may have changed.
    fn reopen(&mut self) -> io::Result<()> {
        self.signals.take_resumed();
        self.screen.reopen()?;
        // Nothing comes of it but a new frame.
        self.app.handle(InputEvent::Resize);
        Ok(())
    }

    /// What came back from the other thread, within a time. A panic there goes on here.
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
