//! Tests of the built book: all pages exist, nothing warns, the pages need no network, and every listing is
//! highlighted and shows the text of its source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use reviver_book::rasm::WordKind;
use reviver_book::tags::tags;
use reviver_book::{BookError, build, html};
use tempfile::TempDir;

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../book")
}

/// Returns the book's pages, built once for all tests.
fn pages() -> &'static Path {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            build(&book(), &folder.path().join("pages")).unwrap_or_else(|error| panic!("{error}"));
            folder
        })
        .path()
}

fn page(name: &str) -> String {
    let path = pages().join("pages").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the sources of the pages, without the summary.
fn chapters() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(book().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let is_chapter =
        |path: &PathBuf| !path.ends_with("SUMMARY.md") && path.extension().is_some_and(|e| e == "md");
    let chapters: Vec<PathBuf> = entries.filter(is_chapter).collect();
    assert!(chapters.len() > 13, "{chapters:?}");
    chapters
}

/// Returns the texts of a chapter's blocks in a language, with included files expanded.
fn blocks(chapter: &Path, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(chapter).unwrap();
    let start = format!("\n```{language}");
    let starts = text.split(&start).skip(1);
    let inside = starts.map(|start| start.split_once('\n').unwrap().1.split("```").next().unwrap());
    inside.map(|block| included(chapter, block)).collect()
}

fn included(chapter: &Path, block: &str) -> String {
    let Some(named) = block.trim_end().strip_prefix("{{#include ").and_then(|b| b.strip_suffix("}}")) else {
        return block.to_owned();
    };
    let mut parts = named.split(':');
    let file = chapter.parent().unwrap().join(parts.next().unwrap());
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut number =
        |without: usize| parts.next().filter(|p| !p.is_empty()).map_or(without, |p| p.parse().unwrap());
    let (first, last) = (number(1), number(lines.len()));
    lines[first - 1..last].join("\n") + "\n"
}

/// Returns the listings of a page: the displayed text and the HTML of each.
fn listings(page: &str, class: &str) -> Vec<(String, String)> {
    let start = format!("<pre class=\"{class}\">");
    let starts = page.split(&start).skip(1);
    let marked = starts.map(|start| start.split("</pre>").next().unwrap().to_owned());
    marked.map(|marked| (html::shown(&marked), marked)).collect()
}

fn page_of(chapter: &Path) -> String {
    page(&format!("{}.html", chapter.file_stem().unwrap().to_str().unwrap()))
}

#[test]
fn every_chapter_becomes_a_page() {
    for chapter in chapters() {
        let page = page_of(&chapter);
        let title = std::fs::read_to_string(&chapter).unwrap();
        let title = title.lines().next().unwrap().trim_start_matches("# ");
        assert!(
            html::shown(&page).contains(&title.replace('\'', "’")) || html::shown(&page).contains(title),
            "{title}"
        );
    }
}

#[test]
fn every_program_and_session_is_marked_and_shows_its_source() {
    let (mut programs, mut sessions) = (0, 0);
    for chapter in chapters() {
        let page = page_of(&chapter);
        for (language, class, count) in
            [("rasm", "rasm", &mut programs), ("console", "session", &mut sessions)]
        {
            let (wanted, found) = (blocks(&chapter, language), listings(&page, class));
            assert_eq!(found.len(), wanted.len(), "{}: {language}", chapter.display());
            for ((shown, marked), wanted) in found.iter().zip(&wanted) {
                assert_eq!(shown, wanted, "{}", chapter.display());
                let mark = if language == "rasm" { "class=\"rasm-" } else { "class=\"session-typed\"" };
                assert!(marked.contains(mark), "{}: nothing is marked in\n{wanted}", chapter.display());
            }
            *count += wanted.len();
        }
        assert!(!page.contains("language-rasm") && !page.contains("{{#"), "{}", chapter.display());
    }
    assert!(programs > 50 && sessions > 100, "{programs} programs, {sessions} sessions");
}

#[test]
fn pages_load_their_own_styles_and_scripts_alone() {
    // `build` has already checked that all loaded files are in the book, and that every link has a target.
    let page = page("02-debugger.html");
    let style =
        tags(&page).into_iter().filter_map(|tag| tag.attribute("href")).find(|to| to.starts_with("rasm"));
    assert!(style.is_some(), "no page has the style of listings");
    assert!(!page.contains("MathJax") && !page.contains("searcher"), "what the book doesn't have");
}

/// Returns the colors of the style sheet, by theme and variable.
fn colours() -> Vec<(String, [f64; 3])> {
    let style = std::fs::read_to_string(book().join("rasm.css")).unwrap();
    let lines = style.lines().filter_map(|line| line.trim().strip_prefix("--listing-"));
    let colour = |line: &str| {
        let (name, value) = line.split_once(": #").unwrap();
        let part = |n: usize| f64::from(u8::from_str_radix(&value[2 * n..2 * n + 2], 16).unwrap()) / 255.0;
        (name.to_owned(), [part(0), part(1), part(2)])
    };
    lines.map(colour).collect()
}

/// Returns the relative luminance of a color, by the WCAG formula.
fn luminance(colour: [f64; 3]) -> f64 {
    let linear = colour.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[test]
fn listings_are_readable_in_light_and_dark() {
    let colours = colours();
    let themes: Vec<_> = colours.chunks(5).collect();
    assert_eq!(themes.len(), 3, "light, dark, paper");
    for theme in themes {
        let (name, ground) = &theme[0];
        assert_eq!(name, "ground");
        for (name, colour) in &theme[1..] {
            let (a, b) = (luminance(*colour), luminance(*ground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 5.0, "{name}: {contrast}");
        }
    }
}

#[test]
fn kinds_of_words_differ_in_more_than_red_and_green() {
    let style = std::fs::read_to_string(book().join("rasm.css")).unwrap();
    let looks = WordKind::MARKED.map(|kind| {
        let class = kind.class().unwrap();
        let rule =
            style.split(&format!(".{class} {{")).nth(1).unwrap_or_else(|| panic!("no style for {class}"));
        rule.split('}').next().unwrap()
    });
    assert_eq!(looks.iter().collect::<BTreeSet<_>>().len(), looks.len(), "two kinds look alike");
    // The colors differ in blue and red: from values to keywords, blue increases and red decreases. So color-blind
    // readers can distinguish them.
    for theme in colours().chunks(5) {
        let (keyword, value) = (theme[2].1, theme[3].1);
        assert!(keyword[2] - keyword[0] > 0.3 && value[0] - value[2] > 0.3, "{theme:?}");
    }
}

/// Creates a book with one page.
fn small(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("book.toml"), "[output.html]\ninput-404 = \"\"\n").unwrap();
    std::fs::write(folder.path().join("src/SUMMARY.md"), "# Summary\n\n- [One](one.md)\n").unwrap();
    std::fs::write(folder.path().join("src/one.md"), text).unwrap();
    folder
}

#[test]
fn a_book_with_faults_is_refused() {
    let bad = [
        ("# One\n\n[gone](gone.md)\n", "has no target"),
        ("# One\n\n[gone](#gone)\n", "has no target"),
        ("# One\n\n```rasm\n{{#include gone.rasm}}\n```\n", "gone.rasm"),
        ("# One\n\n![far](https://e/f.png)\n", "loaded from a network"),
        ("# One\n\n<div>\n", "div"),
    ];
    for (text, wanted) in bad {
        let folder = small(text);
        let out = folder.path().join("out");
        let error = build(folder.path(), &out).expect_err(text);
        assert!(matches!(error, BookError::Unsound { .. }), "{error}");
        assert!(error.to_string().contains(wanted), "{text}: {error}");
        assert!(!out.exists(), "{text} left something");
    }
}

#[test]
fn a_missing_page_is_reported_and_not_created() {
    let folder = small("# One\n");
    std::fs::remove_file(folder.path().join("src/one.md")).unwrap();
    let error = build(folder.path(), &folder.path().join("out")).unwrap_err().to_string();
    assert!(error.contains("one.md"), "{error}");
    assert!(!folder.path().join("src/one.md").exists());
}

#[test]
fn a_book_replaces_only_an_earlier_book() {
    let folder = small("# One\n");
    let out = folder.path().join("out");
    build(folder.path(), &out).unwrap();
    std::fs::write(out.join("old.html"), "").unwrap();
    build(folder.path(), &out).unwrap();
    assert!(out.join("one.html").exists() && !out.join("old.html").exists());

    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("letter.txt"), "dear").unwrap();
    for taken in [&own, &own.join("letter.txt")] {
        let error = build(folder.path(), taken).unwrap_err();
        assert!(matches!(error, BookError::Occupied(_)), "{error}");
    }
    assert_eq!(std::fs::read_to_string(own.join("letter.txt")).unwrap(), "dear");
    let error = build(&own, &out).unwrap_err();
    assert!(matches!(error, BookError::NoBook(_)), "{error}");
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_reviver-book"))
}

#[test]
fn the_command_reports_its_output_folder_or_its_error() {
    let folder = small("# One\n\n```rasm\nadd a, 1\n```\n");
    let run = |book: &Path| command().arg(book).arg("--out").arg(folder.path().join("out")).output().unwrap();
    let built = run(folder.path());
    assert!(built.status.success(), "{built:?}");
    let path = String::from_utf8(built.stdout).unwrap();
    assert!(Path::new(path.trim_end()).is_file(), "{path}");
    let refused = run(&folder.path().join("src"));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("no book.toml"));
}

#[test]
fn the_command_is_a_preprocessor_too() {
    let supports =
        |renderer| command().args(["preprocess", "supports", renderer]).status().unwrap().success();
    assert!(supports("html") && !supports("markdown"));

    let folder = small("# One\n\n```rasm\nadd a, 1\n```\n");
    let loaded = mdbook_driver::MDBook::load(folder.path()).unwrap();
    let context = mdbook_preprocessor::PreprocessorContext::new(
        folder.path().to_owned(),
        loaded.config.clone(),
        "html".to_owned(),
    );
    let input = serde_json::to_vec(&(context, &loaded.book)).unwrap();
    let mut child = command().arg("preprocess").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let book: mdbook_preprocessor::book::Book = serde_json::from_slice(&output.stdout).unwrap();
    let mut texts = book.chapters().map(|chapter| chapter.content.as_str());
    assert!(texts.next().unwrap().contains("<pre class=\"rasm\">"));
}
