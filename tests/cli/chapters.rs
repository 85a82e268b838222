//! The embedded book: every chapter can be read, and every program that it names is available.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Folder, reviver, root};

fn chapters() -> Vec<Value> {
    reviver("course read --json").expect(0).json()["chapters"].as_array().unwrap().clone()
}

fn text(chapter: &Value) -> String {
    let name = chapter["name"].as_str().unwrap();
    let object = reviver(&format!("course read {name} --json")).expect(0).json();
    object["text"].as_str().unwrap().to_owned()
}

#[test]
fn every_chapter_has_its_listings_and_no_markup_for_the_builder() {
    let chapters = chapters();
    let pages = std::fs::read_dir(root().join("course/book/src")).unwrap();
    let pages = pages.filter(|page| page.as_ref().unwrap().path().extension().is_some_and(|e| e == "md"));
    // The summary isn't a chapter: it lists the chapters.
    assert_eq!(chapters.len(), pages.count() - 1);
    for (n, chapter) in chapters.iter().filter(|chapter| !chapter["number"].is_null()).enumerate() {
        assert_eq!(chapter["number"], json!(n + 1));
    }
    for chapter in &chapters {
        let text = text(chapter);
        assert!(text.starts_with("# "), "{chapter}");
        for leftover in ["{{#", "<!--", "![", "pictures/"] {
            assert!(!text.contains(leftover), "{chapter} has {leftover}");
        }
    }
    let pictures = chapters.iter().map(|chapter| text(chapter).matches("[picture: ").count()).sum::<usize>();
    assert!(pictures >= 10, "{pictures} pictures are told in words");
}

#[test]
fn chapters_are_found_by_number_or_name() {
    reviver("course read").expect(0).prints_part("       5  Garbage and Bennett's trick\n");
    let printed = reviver("course read 5").expect(0).prints_part("# 5. Garbage and Bennett's trick\n");
    for other in ["05", "05-garbage", "course/book/src/05-garbage.md"] {
        assert!(reviver(&format!("course read {other}")).expect(0).stdout == printed.stdout, "{other}");
    }
    // The chapter shows lines 35 to 54 of `bennett.rasm`, and no adjacent lines.
    let bennett = std::fs::read_to_string(root().join("programs/bennett.rasm")).unwrap();
    let lines: Vec<&str> = bennett.lines().collect();
    printed.prints_part(&format!("```rasm\n{}\n```\n", lines[34..54].join("\n")));
    reviver("course read 04-branch")
        .expect(2)
        .says("the book has no chapter `04-branch`")
        .says("04-branches");
    let folded = reviver("course read 5 --columns 60").expect(0).stdout;
    let prose = folded.lines().filter(|line| line.starts_with("Euclid's algorithm finds"));
    assert_eq!(prose.map(str::len).collect::<Vec<_>>(), [59], "{folded}");
    reviver("course read 5 --columns 0").expect(2).says("at least 1");
    reviver("course read garbage").expect(2).says("did you mean `05-garbage`?");
    reviver("course read 99").expect(2).says("`reviver course read` lists the chapters");
}

/// Returns the program files that a text names, as a user would type them.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "`()[]:,'\"".contains(c));
    words
        // In a shell loop, a variable replaces the name.
        .filter(|word| word.ends_with(".rasm") && !word.contains('$'))
        .filter(|word| word.starts_with("programs/") || word.starts_with("course/book/programs/"))
        .collect()
}

#[test]
fn sessions_of_the_book_run_in_the_copied_folder() {
    let folder = Folder::new();
    folder.reviver("course start mine").expect(0).prints_part("and the programs of the book are in mine");
    let texts: Vec<String> = chapters().iter().map(text).collect();
    let named: BTreeSet<&str> = texts.iter().flat_map(|text| named(text)).collect();
    assert!(named.len() >= 40, "{named:?}");
    for path in named {
        folder.reviver(&format!("check mine/{path}")).expect(0);
    }
    folder.file("mine/programs/fib.rasm", "; my own\n");
    folder.reviver("course start mine").expect(0).prints_part("all files are in mine already");
    assert_eq!(folder.read("mine/programs/fib.rasm"), b"; my own\n");
}
