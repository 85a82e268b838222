//! Checks links and loaded files in built pages. Links inside the book must have a target. Every loaded file must be
//! in the book, so that the book needs no network. Links to other sites aren't followed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::tags::tags;

/// A page's link targets and references.
struct Page {
    anchors: BTreeSet<String>,
    references: Vec<Reference>,
}

/// Reference from a page or style sheet.
struct Reference {
    target: String,
    /// True for a link that a reader may follow. False for a file that is loaded with the page.
    chosen: bool,
}

/// Returns the broken references in a folder's style sheets and pages, one line each. The references in style sheets
/// are first; style sheets and pages are in file order.
pub fn faults(folder: &Path) -> io::Result<Vec<String>> {
    let files = files(folder)?;
    let mut pages = BTreeMap::new();
    let mut faults = Vec::new();
    for file in &files {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("html") => {
                pages.insert(file.clone(), Page::of(&std::fs::read_to_string(folder.join(file))?));
            }
            Some("css") => {
                let style = std::fs::read_to_string(folder.join(file))?;
                let loaded = loaded_by(&style).into_iter().filter_map(|target| {
                    fault(file, &Reference { target, chosen: false }, &files, &BTreeMap::new())
                });
                faults.extend(loaded);
            }
            _ => {}
        }
    }
    for (file, page) in &pages {
        faults.extend(page.references.iter().filter_map(|found| fault(file, found, &files, &pages)));
    }
    Ok(faults)
}

/// Returns every file of a folder, relative to it.
fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

impl Page {
    fn of(text: &str) -> Page {
        let tags = tags(text);
        let anchors = tags.iter().filter_map(|tag| tag.attribute("id")).map(str::to_owned).collect();
        let references = tags.iter().flat_map(|tag| {
            let target = |name| tag.attribute(name).map(str::to_owned);
            let linked = target("href").map(|target| Reference { target, chosen: tag.name == "a" });
            let loaded = target("src").map(|target| Reference { target, chosen: false });
            linked.into_iter().chain(loaded)
        });
        Page { anchors, references: references.collect() }
    }
}

/// Returns the files that a style sheet loads.
fn loaded_by(style: &str) -> Vec<String> {
    let target = |text: &str, end: &[char]| {
        text.split(end).next().unwrap_or_default().trim_matches([' ', '"', '\'']).to_owned()
    };
    let urls = style.split("url(").skip(1).map(|behind| target(behind, &[')']));
    let imports = style.split("@import \"").skip(1).map(|behind| target(behind, &['"']));
    urls.chain(imports).collect()
}

/// Returns a sentence about a reference that is broken, or that loads a file from outside the book. Otherwise `None`.
fn fault(
    file: &Path,
    reference: &Reference,
    files: &BTreeSet<PathBuf>,
    pages: &BTreeMap<PathBuf, Page>,
) -> Option<String> {
    let target = reference.target.as_str();
    let place = file.display();
    if target.starts_with("data:") {
        return None;
    }
    if target.contains("://") || target.starts_with("//") || target.starts_with("mailto:") {
        let loaded = format!("{place}: `{target}` is loaded from a network; copy the file into the book");
        return Some(loaded).filter(|_| !reference.chosen);
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = match path.split('?').next() {
        None | Some("") => Some(file.to_owned()),
        Some(path) => beside(file, path),
    };
    let Some(to) = to.filter(|to| files.contains(to)) else {
        return Some(format!("{place}: `{target}` has no target: the book has no such file"));
    };
    let has_anchor = pages.get(&to).is_none_or(|page| page.anchors.contains(anchor));
    (!anchor.is_empty() && !has_anchor)
        .then(|| format!("{place}: `{target}` has no target: {} has no such heading", to.display()))
}

/// Resolves a path that is named in `file` to a path relative to the root folder. Returns `None` if the path leads out
/// of the root folder.
fn beside(file: &Path, named: &str) -> Option<PathBuf> {
    let mut path = file.parent()?.to_owned();
    for component in Path::new(named).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(name: &str, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("in/b.html"), "<h1 id=\"c\">C</h1>").unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        faults(folder.path()).unwrap()
    }

    #[test]
    fn valid_references_are_accepted() {
        let page = "<h2 id=\"d\"></h2><a href=\"in/b.html#c\"></a><a href=\"#d\"></a><a href=\"https://e\"></a><img src=\"in/b.html?v=1\">";
        assert_eq!(faults_of("a.html", page), [] as [&str; 0]);
        assert_eq!(faults_of("a.css", "a { src: url('in/b.html'); b: url(data:x) }"), [] as [&str; 0]);
    }

    #[test]
    fn broken_references_are_reported() {
        let bad =
            ["<a href=\"c.html\">", "<a href=\"in/b.html#d\">", "<a href=\"#d\">", "<img src=\"../b.png\">"];
        for page in bad {
            let found = faults_of("a.html", page);
            assert_eq!(found.len(), 1, "{page}: {found:?}");
            assert!(found[0].starts_with("a.html: `") && found[0].contains("has no target"), "{found:?}");
        }
    }

    #[test]
    fn references_to_the_network_are_reported() {
        for page in [
            "<script src=\"https://e/f.js\"></script>",
            "<link href=\"//e/f.css\">",
            "<img src=\"http://e\">",
        ] {
            assert!(faults_of("a.html", page).concat().contains("is loaded from a network"), "{page}");
        }
        for style in ["@import \"https://e\";", "a { b: url( \"http://e\" ) }"] {
            assert!(faults_of("a.css", style).concat().contains("is loaded from a network"), "{style}");
        }
    }
}
