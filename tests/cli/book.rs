//! Course book: its sessions, listings, quoted messages and links are correct.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Folder, reviver, root, with_input};

/// Page of the book: a chapter, the preface, the answers, or the summary.
pub struct Chapter {
    pub path: PathBuf,
    pub text: String,
}

/// Block of `.rasm`; `refused` is true if the page expects an error.
pub struct Snippet<'p> {
    text: &'p str,
    refused: bool,
}

/// Lines of a file shown by a listing; the first and last are counted from 1.
pub struct Included {
    pub file: PathBuf,
    pub first: usize,
    pub last: usize,
}

impl Chapter {
    pub fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap()
    }

    pub fn listings(&self) -> Vec<Snippet<'_>> {
        let mut listings = Vec::new();
        for block in self.text.split("\n```rasm").skip(1) {
            let (kind, rest) = block.split_once('\n').unwrap();
            let refused = match kind {
                "" => false,
                ",fails" => true,
                other => panic!("{}: nothing is known of blocks of `rasm{other}`", self.name()),
            };
            listings.push(Snippet { text: rest.split("```").next().unwrap(), refused });
        }
        listings
    }

    /// Returns the text without its code blocks.
    fn prose(&self) -> String {
        self.text.split("```").step_by(2).collect()
    }

    /// Returns the lines that a listing includes, if it includes lines of a file.
    pub fn included(&self, listing: &Snippet<'_>) -> Option<Included> {
        let inside = listing.text.trim_end().strip_prefix("{{#include ")?.strip_suffix("}}")?;
        let mut parts = inside.split(':');
        let file = self.folder().join(parts.next().unwrap());
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {inside}: {e}", self.name()));
        let all = text.lines().count();
        let line = |part: Option<&str>, without: usize| match part {
            None | Some("") => without,
            Some(number) => number.parse().unwrap(),
        };
        Some(Included { first: line(parts.next(), 1), last: line(parts.next(), all), file })
    }
}

pub fn pages() -> Vec<Chapter> {
    let entries = std::fs::read_dir(root().join("course/book/src")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths: BTreeSet<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    let page = |path: PathBuf| Chapter { text: std::fs::read_to_string(&path).unwrap(), path };
    let pages: Vec<Chapter> = paths.into_iter().map(page).collect();
    assert!(pages.len() > 13, "the book has {} pages only", pages.len());
    pages
}

/// Returns the paths of the files that a text links to.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap());
    files.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// Joins a text into one line, so that searches ignore line ends.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(unix)]
#[test]
fn sessions_of_the_book_are_current() {
    for page in pages().iter().filter(|page| page.name() != "SUMMARY.md") {
        crate::transcripts::are_true(page.name(), &page.text, 1);
    }
}

#[test]
fn listings_of_the_book_assemble_or_are_refused_as_stated() {
    let folder = Folder::new();
    let mut refused = 0;
    for page in pages() {
        let shown = on_one_line(&page.text);
        for listing in page.listings() {
            let file = match page.included(&listing) {
                Some(included) => included.file.display().to_string(),
                None => folder.file("listing.rasm", listing.text),
            };
            if !listing.refused {
                reviver(&format!("check {file}")).expect(0);
                reviver(&format!("fmt --check {file}")).expect(0);
                continue;
            }
            let errors = reviver(&format!("check {file}")).expect(3).stderr;
            let coded = errors.lines().filter_map(|line| line.strip_prefix("error["));
            for message in coded.filter_map(|line| Some(line.split_once("]: ")?.1)) {
                assert!(shown.contains(message), "{} doesn't tell the message: {message}", page.name());
                refused += 1;
            }
        }
    }
    assert!(refused > 3, "{refused} messages of refused listings");
}

/// Listings refer to lines by number, so a change of a program could silently shift them. The test requires whole
/// paragraphs, which detects most such shifts.
#[test]
fn the_book_shows_whole_paragraphs_of_programs() {
    let mut shown = 0;
    for page in pages() {
        for listing in page.listings() {
            let Some(Included { file, first, last }) = page.included(&listing) else {
                assert!(!listing.text.contains("{{"), "{}: {}", page.name(), listing.text);
                continue;
            };
            let text = std::fs::read_to_string(&file).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let is_blank =
                |number: usize| lines.get(number.wrapping_sub(1)).is_none_or(|line| line.is_empty());
            let whole = is_blank(first - 1)
                && !is_blank(first)
                && !is_blank(last)
                && is_blank(last + 1)
                && first <= last;
            assert!(whole, "{}: {}:{first}:{last}", page.name(), file.display());
            shown += 1;
        }
    }
    assert!(shown > 30, "{shown} listings are parts of programs");
}

#[test]
fn the_book_links_to_files_that_exist() {
    for page in pages() {
        for link in links(&page.prose()) {
            assert!(page.folder().join(link).exists(), "{} links to {link}", page.name());
        }
    }
}

#[test]
fn every_page_of_the_book_is_in_its_summary_once() {
    let summary = std::fs::read_to_string(root().join("course/book/src/SUMMARY.md")).unwrap();
    let listed: Vec<&str> = links(&summary).collect();
    for page in pages().iter().filter(|page| page.name() != "SUMMARY.md") {
        assert_eq!(listed.iter().filter(|link| **link == page.name()).count(), 1, "{}", page.name());
    }
}

/// Graded exercise, with the chapter and the title from its `task.md`.
struct Graded {
    named: String,
    chapter: usize,
}

impl Graded {
    fn of(task: &str) -> Graded {
        let behind = |start: &str| task.lines().find_map(|line| line.strip_prefix(start)).unwrap();
        let (number, title) = behind("# ").split_once(". ").unwrap();
        let (chapter, _) = behind("Chapter ").split_once(',').unwrap();
        Graded { named: format!("{number} *{title}*"), chapter: chapter.parse().unwrap() }
    }
}

impl Chapter {
    /// Returns the section under the heading `Exercises`.
    fn exercises(&self) -> &str {
        let (_, behind) = self.text.split_once("\n## Exercises\n").unwrap();
        behind.split("\n## ").next().unwrap()
    }
}

#[test]
fn chapters_name_their_graded_exercises() {
    let pages = pages();
    let mut found = 0;
    for entry in std::fs::read_dir(root().join("course/exercises")).unwrap() {
        let task = std::fs::read_to_string(entry.unwrap().path().join("task.md")).unwrap();
        let Graded { named, chapter } = Graded::of(&task);
        let start = format!("{chapter:02}-");
        let page = pages.iter().find(|page| page.name().starts_with(&start)).unwrap();
        let exercises = on_one_line(page.exercises());
        assert!(exercises.contains(&format!(" {named}")), "{} doesn't name {named}", page.name());
        found += 1;
    }
    assert!(found > 30, "{found} exercises that grade themselves");
}

/// Every program must be mentioned on a page, because readers wouldn't find it otherwise.
#[test]
fn every_program_of_the_book_is_shown() {
    let all: String = pages().iter().map(|page| page.text.as_str()).collect();
    for entry in std::fs::read_dir(root().join("course/book/programs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(all.contains(&format!("#include ../programs/{name}")), "no page shows {name}");
    }
}

/// Picture on a page. The comment below the picture has the command that draws the picture.
struct ShownPicture {
    pub file: PathBuf,
    description: String,
    arguments: String,
}

impl ShownPicture {
    /// Draws the picture. The text after `with:` has the commands of a debugger script, which draws into `FILE`.
    fn drawn(&self) -> String {
        let Some((arguments, script)) = self.arguments.split_once(", with: ") else {
            return reviver(&self.arguments).expect(0).stdout;
        };
        let folder = Folder::new();
        let script = script.replace("FILE", &folder.at("drawn.svg")).replace("; ", "\n");
        with_input(arguments, script.as_bytes()).expect(0);
        String::from_utf8(folder.read("drawn.svg")).unwrap()
    }
}

impl Chapter {
    fn pictures(&self) -> Vec<ShownPicture> {
        let mut pictures = Vec::new();
        for shown in self.prose().split("\n![").skip(1) {
            let (description, rest) = shown.split_once("](").unwrap();
            let (file, rest) = rest.split_once(')').unwrap();
            let drawn = rest.trim_start().strip_prefix("<!-- drawn by: reviver ");
            let arguments = drawn.and_then(|drawn| drawn.split_once(" -->"));
            let (arguments, _) =
                arguments.unwrap_or_else(|| panic!("{}: nobody says who drew {file}", self.name()));
            pictures.push(ShownPicture {
                file: self.folder().join(file),
                description: description.to_owned(),
                arguments: arguments.to_owned(),
            });
        }
        pictures
    }
}

/// `UPDATE_PICTURES=1` draws the pictures again.
#[test]
fn the_pictures_of_the_book_are_drawn_from_runs() {
    let updates = std::env::var_os("UPDATE_PICTURES").is_some();
    let mut shown = BTreeSet::new();
    for page in pages() {
        for picture in page.pictures() {
            let drawn = picture.drawn();
            if updates {
                std::fs::write(&picture.file, &drawn).unwrap();
            }
            let kept = std::fs::read_to_string(&picture.file).unwrap_or_default();
            assert!(
                kept == drawn,
                "{} is another picture than `reviver {}` draws: UPDATE_PICTURES=1 writes it",
                picture.file.display(),
                picture.arguments
            );
            assert!(picture.description.len() > 20, "{} says too little", picture.file.display());
            shown.insert(picture.file.file_name().unwrap().to_owned());
        }
    }
    let kept = std::fs::read_dir(root().join("course/book/src/pictures")).unwrap();
    let kept: BTreeSet<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(shown, kept, "each picture is shown somewhere");
    assert!(shown.len() >= 10);
}
