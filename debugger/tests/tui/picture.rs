//! Tests of pictures of the screen: every character is at its position and in its colour, and the XML is
//! well-formed.

use std::path::{Path, PathBuf};

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;
use reviver_assembler::files::Disk;
use reviver_debugger::command::Console;
use reviver_debugger::command::picture::DRAWN;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::session::Session;
use reviver_debugger::tui::app::{App, Face};
use reviver_debugger::tui::keys::KeyMap;

use reviver_debugger::tui::theme::{Theme, ThemeName};
use reviver_files::UsedFiles;

use crate::screen::Screen;
use crate::support;

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    let _ = std::fs::remove_file(&file);
    file
}

fn session(program: &str) -> Session {
    Session::at_begin(opened(program)).unwrap()
}

fn opened(program: &str) -> OpenedProgram {
    let path = support::path(program);
    let text = std::fs::read(&path).unwrap();
    OpenedProgram::open(&path, text, &Disk).unwrap()
}

/// An element of a picture: its name, its attributes and its text.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    fn number(&self, key: &str) -> usize {
        self.get(key).unwrap().parse().unwrap()
    }
}

fn unescaped(text: &str) -> String {
    assert!(!text.contains(['<', '>']), "{text}");
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{text}");
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Parses an XML text, and returns its elements in order. Panics if an element isn't closed correctly.
fn elements(xml: &str) -> Vec<Element> {
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<Element> = Vec::new();
    let body = xml.strip_prefix(DRAWN).expect("the first line tells what it is");
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(found[open.pop().unwrap()].name, name);
        } else {
            let is_empty = tag.ends_with('/');
            let (name, rest) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
            let mut pieces = rest.split('"');
            let mut attributes = Vec::new();
            while let (Some(key), Some(value)) = (pieces.next(), pieces.next()) {
                attributes.push((key.trim().trim_end_matches('=').to_owned(), unescaped(value)));
            }
            found.push(Element { name: name.to_owned(), attributes, text: unescaped(text) });
            if !is_empty {
                open.push(found.len() - 1);
            }
        }
    }
    assert!(open.is_empty());
    found
}

/// Returns true for characters that are drawn as rectangles.
fn is_drawn(c: &str) -> bool {
    c.chars().all(|c| ('─'..='▓').contains(&c) && !"▲▼◆●○►◄▷".contains(c))
}

/// Compares a picture with a frame. Each character that is drawn as text must be at its position, in its
/// colour and weight, and the picture must contain no other text.
fn check(picture: &str, frame: &Buffer, rows: usize) {
    let elements = elements(picture);
    let width = usize::from(frame.area.width);
    let mut expected = Vec::new();
    for (n, cell) in frame.content().iter().enumerate().take(rows * width) {
        let is_text = !cell.symbol().trim().is_empty() && !is_drawn(cell.symbol());
        if is_text {
            let weight = cell.modifier.contains(Modifier::BOLD);
            expected.push((n / width, n % width, cell.symbol().to_owned(), weight));
        }
    }
    let mut found = Vec::new();
    for text in elements.iter().filter(|element| element.name == "text") {
        let (row, column) = ((text.number("y") - 12 - 13) / 17, (text.number("x") - 12) / 8);
        let cells = text.number("textLength") / 8;
        let chars: Vec<char> = text.text.chars().collect();
        // A wide character occupies two cells.
        let each = cells / chars.len();
        assert_eq!(each * chars.len(), cells, "{text:?}");
        for (n, c) in chars.into_iter().enumerate().filter(|(_, c)| *c != ' ') {
            let weight = text.get("font-weight") == Some("bold");
            found.push((row, column + n * each, c.to_string(), weight));
        }
    }
    found.retain(|(row, ..)| *row < rows);
    found.sort();
    assert_eq!(found, expected);
}

/// Executes `picture` on a screen. Returns the picture and the frame before the command; in the picture, the
/// last row shows the command.
fn pictured(screen: &mut Screen, name: &str, options: &str) -> (String, Buffer) {
    let frame = screen.terminal.backend().buffer().clone();
    let file = file(name);
    screen.command(&format!("picture {} {options}", file.display()));
    assert!(screen.last_row().starts_with("saved to "), "{}", screen.last_row());
    (std::fs::read_to_string(file).unwrap(), frame)
}

#[test]
fn a_picture_has_every_character_of_the_screen() {
    for (n, theme) in ThemeName::ALL.into_iter().enumerate() {
        for (width, height) in [(60, 12), (80, 24), (120, 40), (170, 45)] {
            let app =
                App::new(session("besselj.rasm"), UsedFiles::default(), KeyMap::default(), Theme::new(theme));
            let mut screen = Screen::new(app, width, height);
            screen.command("goto end").command("gradient out").command("break imul");
            screen.command("reverse-continue").command("plot sum").keys("3 Down Down");
            let (picture, frame) = pictured(&mut screen, &format!("all-{n}-{width}.svg"), "");
            check(&picture, &frame, usize::from(height) - 1);
        }
    }
}

#[test]
fn a_script_draws_a_screen_that_was_just_opened() {
    let mut console = Console::new(session("fib.rasm"), UsedFiles::default(), Box::new(Face::default()));
    let file = file("script.svg");
    for line in ["goto 18", "mark middle", "display a + b", "plot n"] {
        console.execute(line).unwrap();
    }
    let (before, transcript) = (console.session.time_point(), console.transcript());
    console.execute(&format!("picture {} 80x24", file.display())).unwrap();
    let picture = std::fs::read_to_string(&file).unwrap();
    assert_eq!((console.session.time_point(), console.transcript()), (before, transcript));

    let mut screen = Screen::open(opened("fib.rasm"), 80, 24);
    for line in ["goto 18", "mark middle", "display a + b", "plot n"] {
        screen.command(line);
    }
    check(&picture, screen.terminal.backend().buffer(), 23);
    let root = &elements(&picture)[0];
    assert_eq!((root.number("width"), root.number("height")), (80 * 8 + 24, 24 * 17 + 24));
    let label = root.get("aria-label").unwrap();
    assert!(label.ends_with("fib.rasm in the debugger, at step 18"), "{label}");
}

#[test]
fn size_and_theme_can_be_chosen() {
    let mut screen = Screen::new(
        App::new(session("fib.rasm"), UsedFiles::default(), KeyMap::default(), Theme::new(ThemeName::Dark)),
        80,
        24,
    );
    let ground = |picture: &str| elements(picture)[2].get("fill").unwrap().to_owned();
    let (own, _) = pictured(&mut screen, "own.svg", "");
    let (other, _) = pictured(&mut screen, "other.svg", "light 120x40");
    assert_eq!((ground(&own), ground(&other)), ("#1c1c1c".into(), "#ffffff".into()));
    assert_eq!(elements(&other)[0].number("width"), 120 * 8 + 24);
    assert!(other.len() > own.len());
}

#[test]
fn screen_text_is_escaped_in_pictures() {
    let text = ".out a ; <b> & \"c\" 漢字 ]]>\nadd a, 1 ; </text></svg>\n";
    let mut screen = Screen::open(support::subject(text), 80, 24);
    let (picture, frame) = pictured(&mut screen, "escaped.svg", "");
    check(&picture, &frame, 23);
    assert!(elements(&picture).iter().any(|element| element.text.contains("</text></svg>")));
}

#[test]
fn other_files_are_not_replaced() {
    let mut console = Console::new(session("fib.rasm"), UsedFiles::default(), Box::new(Face::default()));
    let (notes, picture) = (file("notes"), file("again.svg"));
    std::fs::write(&notes, "<svg>mine</svg>").unwrap();
    let error = console.execute(&format!("picture {}", notes.display())).unwrap_err().to_string();
    assert!(error.contains("is not a picture of the debugger"), "{error}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "<svg>mine</svg>");
    let draw = format!("picture {}", picture.display());
    console.execute(&draw).unwrap();
    let first = std::fs::read_to_string(&picture).unwrap();
    console.execute("goto end").unwrap();
    console.execute(&draw).unwrap();
    assert_ne!(std::fs::read_to_string(&picture).unwrap(), first);
}
