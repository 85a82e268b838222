//! Builder of the course book. mdBook renders the pages, the assembler's lexer highlights programs and sessions, and
//! any warning or broken link fails the build. This crate doesn't depend on the book's content.
//!
//! | module | subject |
//! |---|---|
//! | [`rasm`], [`session`], [`html`] | highlighted programs and console sessions |
//! | [`listings`] | the preprocessor, which mdBook can also run by itself |
//! | [`complaints`] | warnings of mdBook |
//! | [`references`], [`tags`] | links and loaded files of pages |

pub mod complaints;
pub mod html;
pub mod listings;
pub mod rasm;
pub mod references;
pub mod session;
pub mod tags;

use std::io;
use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use mdbook_driver::errors::Error;

use crate::complaints::Complaints;
use crate::listings::Listings;

/// Name of the marker file in an output folder. A later build may replace a folder that has this file.
const MARK: &str = ".built-by-reviver-book";

/// Reason why the book can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    #[error("{path}: this folder has no book.toml\n  help: name the folder of a book, or run the command in the repository's root folder", path = .0.display())]
    NoBook(PathBuf),
    #[error("{path}: the folder exists and isn't the output of an earlier build\n  help: name another folder with --out, or remove this one", path = .0.display())]
    Occupied(PathBuf),
    #[error("{path}: {error}", path = .path.display())]
    Inaccessible { path: PathBuf, error: io::Error },
    #[error("{path}: {error:#}", path = .path.display())]
    Unbuilt { path: PathBuf, error: Error },
    #[error("{path}: the book has faults\n{faults}\n  help: correct these faults; nothing was written", path = .path.display(), faults = .faults.join("\n"))]
    Unsound { path: PathBuf, faults: Vec<String> },
}

/// Builds a book into a folder that is new, empty, or the output of an earlier build. If the build fails, the folder
/// stays unchanged; otherwise it is replaced as a whole.
pub fn build(book: &Path, out: &Path) -> Result<(), BookError> {
    if !book.join("book.toml").is_file() {
        return Err(BookError::NoBook(book.to_owned()));
    }
    let out = at(out, std::path::absolute(out))?;
    if !may_be_replaced(&out)? {
        return Err(BookError::Occupied(out));
    }
    let parent = out.parent().unwrap_or(&out);
    at(parent, std::fs::create_dir_all(parent))?;
    let aside = at(parent, tempfile::Builder::new().prefix(".book-").tempdir_in(parent))?;
    let pages = aside.path().join("pages");
    let (built, mut faults) = Complaints::of(|| render(book, &pages));
    built.map_err(|error| BookError::Unbuilt { path: book.to_owned(), error })?;
    faults.extend(at(&pages, references::faults(&pages))?);
    if !faults.is_empty() {
        return Err(BookError::Unsound { path: book.to_owned(), faults });
    }
    let mark = pages.join(MARK);
    at(&mark, std::fs::write(&mark, ""))?;
    put_in_place(&pages, &out)
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, BookError> {
    result.map_err(|error| BookError::Inaccessible { path: path.to_owned(), error })
}

fn may_be_replaced(out: &Path) -> Result<bool, BookError> {
    if !at(out, out.try_exists())? {
        return Ok(true);
    }
    if !out.is_dir() {
        return Ok(false);
    }
    Ok(out.join(MARK).is_file() || at(out, std::fs::read_dir(out))?.next().is_none())
}

/// Renders the pages. A summary entry without a page is an error; mdBook alone would create an empty page.
fn render(book: &Path, pages: &Path) -> Result<(), Error> {
    let mut config = Config::from_disk(book.join("book.toml"))?;
    config.build.create_missing = false;
    config.build.build_dir = pages.to_owned();
    let mut book = MDBook::load_with_config(std::path::absolute(book)?, config)?;
    book.with_preprocessor(Listings);
    book.build()
}

fn put_in_place(pages: &Path, out: &Path) -> Result<(), BookError> {
    if at(out, out.try_exists())? {
        at(out, std::fs::remove_dir_all(out))?;
    }
    at(out, std::fs::rename(pages, out))
}
