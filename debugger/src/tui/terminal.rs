//! The terminal as a screen. This module opens the screen, converts the terminal's input to events, and restores the
//! terminal in every case. Only this file uses crossterm.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Stdout, stdin, stdout};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind, poll, read,
};
use crossterm::style::Print;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

use super::event::{Gesture, InputEvent, Mouse};
use super::keys::{BareKey, Key};
use super::sgr::Sixteen;
use super::split::Split;

/// The open screen. The terminal is restored when this value is dropped, and when the process panics.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Sixteen<Stdout>>>,
    /// The sequences that arrive in chunks and are incomplete.
    split: Split,
    /// The complete events that weren't handled yet, in the order of arrival.
    ready: VecDeque<InputEvent>,
    /// True while mouse capture is on.
    mouse: bool,
    /// The time and position of the last press of the mouse button, to detect a double click.
    pressed: Option<(Instant, Position)>,
    /// The time of the query for the background colour; `None` if there was no query, or if the terminal has
    /// answered it.
    asked: Option<Instant>,
}

/// Maximum time between the two presses of a double click.
const DOUBLE: Duration = Duration::from_millis(400);

/// Maximum time to wait for the terminal's answer before the screen is closed. Otherwise the shell would read
/// a late answer as typed text.
const ANSWERED: Duration = Duration::from_secs(1);

/// True while a screen is open that must be restored.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Returns true if both input and output are a terminal that supports drawing.
pub fn is_terminal() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stdin().is_terminal() && stdout().is_terminal() && !is_dumb
}

/// Returns the width of the terminal in columns, if it is known.
pub fn columns() -> Option<usize> {
    let size = crossterm::terminal::size().ok();
    size.map(|(columns, _)| usize::from(columns)).filter(|&columns| columns > 0)
}

impl Screen {
    /// Opens the screen.
    ///
    /// # Errors
    /// The terminal can't be configured.
    pub fn open() -> io::Result<Screen> {
        restore_on_panic();
        let open = || {
            enter()?;
            Terminal::new(CrosstermBackend::new(Sixteen::new(stdout())))
        };
        let screen = |terminal| Screen {
            terminal,
            split: Split::default(),
            ready: VecDeque::new(),
            mouse: false,
            pressed: None,
            asked: None,
        };
        open().map(screen).inspect_err(|_| restore())
    }

    /// Restores the terminal for other programs. [`Screen::reopen`] opens the screen again.
    pub fn close(&mut self) {
        self.await_answer();
        restore();
    }

    /// If the terminal hasn't answered a query, waits for the answer, but no longer than [`ANSWERED`] after the
    /// query. Other input during this time is dropped.
    fn await_answer(&mut self) {
        while let Some(left) = self.asked.and_then(|asked| ANSWERED.checked_sub(asked.elapsed())) {
            // A closed terminal sends no answer.
            if self.event(left).is_err() {
                return;
            }
        }
    }

    /// Opens the screen again after other programs have used the terminal.
    ///
    /// # Errors
    /// The terminal can't be configured.
    pub fn reopen(&mut self) -> io::Result<()> {
        restore();
        enter()?;
        self.set_mouse(self.mouse)?;
        self.clear()
    }

    /// Queries the background colour of the terminal. The answer, if any, arrives as an event.
    ///
    /// # Errors
    /// The query can't be written.
    pub fn ask_ground(&mut self) -> io::Result<()> {
        // The program `screen` may be shown on several terminals. It would forward the query, and each
        // terminal would answer.
        let is_screen = std::env::var_os("TERM")
            .is_some_and(|term| term == "screen" || term.as_encoded_bytes().starts_with(b"screen."));
        if is_screen {
            return Ok(());
        }
        self.asked = Some(Instant::now());
        execute!(stdout(), Print("\x1b]11;?\x07"))
    }

    /// Draws a frame and writes the changes since the last one.
    ///
    /// # Errors
    /// The changes can't be written.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Makes the next [`Screen::draw`] write the whole frame instead of the changes only.
    ///
    /// # Errors
    /// The size of the terminal can't be determined.
    pub fn clear(&mut self) -> io::Result<()> {
        // A resize makes the next frame complete. `Terminal::clear` would query the cursor position, and fail
        // if the terminal doesn't answer.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Switches mouse capture on or off.
    ///
    /// # Errors
    /// The mode can't be written.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        if on { execute!(stdout(), EnableMouseCapture) } else { execute!(stdout(), DisableMouseCapture) }
    }

    /// Returns the next event, or `None` if none arrives within this time. Drops events that have no meaning
    /// here.
    ///
    /// # Errors
    /// The terminal can't be read.
    pub fn event(&mut self, within: Duration) -> io::Result<Option<InputEvent>> {
        let started = Instant::now();
        loop {
            if let Some(event) = self.ready.pop_front() {
                if matches!(event, InputEvent::Ground(_)) {
                    self.asked = None;
                }
                return Ok(Some(self.doubled(event)));
            }
            let now = Instant::now();
            let left = within.saturating_sub(now - started);
            let patience = self.split.patience(now).map_or(left, |patience| patience.min(left));
            if poll(patience)? {
                let arrived = event(read()?);
                let now = Instant::now();
                self.ready.extend(arrived.into_iter().flat_map(|event| self.split.take(event, now)));
            } else {
                self.ready.extend(self.split.expire(Instant::now()));
                if left.is_zero() && self.ready.is_empty() {
                    return Ok(None);
                }
            }
        }
    }

    /// If a press is the second one of a double click, converts it to [`Gesture::DoublePress`].
    fn doubled(&mut self, event: InputEvent) -> InputEvent {
        let InputEvent::Mouse(Mouse { place, gesture: Gesture::Press }) = event else { return event };
        let is_double = self.pressed.is_some_and(|(when, before)| before == place && when.elapsed() < DOUBLE);
        // A third press begins a new double click.
        self.pressed = (!is_double).then(|| (Instant::now(), place));
        let gesture = if is_double { Gesture::DoublePress } else { Gesture::Press };
        InputEvent::Mouse(Mouse { place, gesture })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.await_answer();
        }
        restore();
    }
}

fn enter() -> io::Result<()> {
    without_memory::keep();
    IS_OPEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Restores the terminal. Errors are ignored, because the remaining steps may still succeed.
fn restore() {
    if IS_OPEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            stdout(),
            DisableMouseCapture,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = disable_raw_mode();
    }
}

/// Restores the terminal when the process ends for lack of memory. The function allocates no memory and waits
/// for no lock.
pub fn restore_without_memory() {
    if IS_OPEN.swap(false, Ordering::SeqCst) {
        without_memory::give_back();
    }
}

#[cfg(unix)]
mod without_memory {
    use std::sync::OnceLock;

    use rustix::io::write;
    use rustix::stdio::{stdin, stdout};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    /// The terminal settings before the first screen was opened.
    static SETTINGS: OnceLock<Termios> = OnceLock::new();

    /// Escape sequences that end mouse capture and bracketed paste, leave the alternate screen, and show the
    /// cursor.
    const SEQUENCES: &[u8] =
        b"\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h";

    pub fn keep() {
        if let Ok(settings) = tcgetattr(stdin()) {
            SETTINGS.get_or_init(|| settings);
        }
    }

    pub fn give_back() {
        let _ = write(stdout(), SEQUENCES);
        if let Some(settings) = SETTINGS.get() {
            let _ = tcsetattr(stdin(), OptionalActions::Now, settings);
        }
    }
}

/// Does nothing, because on this platform the console restores its modes when the process ends.
#[cfg(not(unix))]
mod without_memory {
    pub fn keep() {}

    pub fn give_back() {}
}

/// Installs a panic hook that restores the terminal before the message is printed. On the screen, the message
/// would be lost.
fn restore_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            restore();
            print(what);
        }));
    });
}

fn event(event: crossterm::event::Event) -> Option<InputEvent> {
    use crossterm::event::Event as Sent;
    match event {
        Sent::Key(key) => self::key(key).map(InputEvent::Key),
        Sent::Mouse(mouse) => self::mouse(mouse).map(InputEvent::Mouse),
        Sent::Paste(text) => Some(InputEvent::Paste(text)),
        Sent::Resize(..) => Some(InputEvent::Resize),
        Sent::FocusGained | Sent::FocusLost => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let held = |modifier| event.modifiers.contains(modifier);
    let (mut shift, code) = (held(KeyModifiers::SHIFT), event.code);
    let code = match code {
        // For these keys, Shift is ignored, because few terminals report it.
        KeyCode::Char(' ') => {
            shift = false;
            BareKey::Char(' ')
        }
        KeyCode::Enter => {
            shift = false;
            BareKey::Enter
        }
        KeyCode::Char(c) => BareKey::Char(c),
        KeyCode::F(n) => BareKey::F(n),
        KeyCode::Left => BareKey::Left,
        KeyCode::Right => BareKey::Right,
        KeyCode::Up => BareKey::Up,
        KeyCode::Down => BareKey::Down,
        KeyCode::Home => BareKey::Home,
        KeyCode::End => BareKey::End,
        KeyCode::PageUp => BareKey::PageUp,
        KeyCode::PageDown => BareKey::PageDown,
        KeyCode::Insert => BareKey::Insert,
        KeyCode::Delete => BareKey::Delete,
        KeyCode::Backspace => BareKey::Backspace,
        KeyCode::Tab => BareKey::Tab,
        KeyCode::BackTab => {
            shift = true;
            BareKey::Tab
        }
        KeyCode::Esc => BareKey::Esc,
        _ => return None,
    };
    Some(Key::new(code, held(KeyModifiers::CONTROL), held(KeyModifiers::ALT), shift))
}

fn mouse(event: MouseEvent) -> Option<Mouse> {
    let gesture = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Press,
        MouseEventKind::Drag(MouseButton::Left) => Gesture::Drag,
        MouseEventKind::Up(MouseButton::Left) => Gesture::Release,
        MouseEventKind::ScrollUp => Gesture::ScrollUp,
        MouseEventKind::ScrollDown => Gesture::ScrollDown,
        _ => return None,
    };
    Some(Mouse { place: Position { x: event.column, y: event.row }, gesture })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<String> {
        key(KeyEvent::new(code, modifiers)).map(|key| key.to_string())
    }

    #[test]
    fn terminal_events_are_the_keys_as_written() {
        let none = KeyModifiers::NONE;
        assert_eq!(press(KeyCode::Char('S'), KeyModifiers::SHIFT).as_deref(), Some("S"));
        assert_eq!(press(KeyCode::Char('S'), none).as_deref(), Some("S"));
        assert_eq!(press(KeyCode::BackTab, none).as_deref(), Some("Shift-Tab"));
        assert_eq!(press(KeyCode::F(5), KeyModifiers::SHIFT).as_deref(), Some("Shift-F5"));
        assert_eq!(press(KeyCode::Char('L'), KeyModifiers::CONTROL).as_deref(), Some("Ctrl-L"));
        assert_eq!(press(KeyCode::Enter, KeyModifiers::SHIFT).as_deref(), Some("Enter"));
        assert_eq!(press(KeyCode::Char(' '), KeyModifiers::SHIFT).as_deref(), Some("Space"));
        assert_eq!(press(KeyCode::CapsLock, none), None);
    }

    #[test]
    fn a_key_release_is_ignored() {
        let released = KeyEvent::new_with_kind(KeyCode::Char('s'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(key(released), None);
    }
}
