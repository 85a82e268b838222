//! The user's position in the tour: the pages for a program, the current page, a flag that is true if the user has
//! tried out this page, and the description of the last step.

use reviver_vm::Program;

use super::pages::{LAST, PAGES, TourNeed, TourPage};
use super::words::KeyedWords;
use crate::command::named;
use crate::tui::keys::KeyMap;

/// A tour of the screen for one program.
#[derive(Clone, Debug)]
pub struct Tour {
    pages: Vec<&'static TourPage>,
    /// The features that the program lacks. The pages about them were omitted.
    lacking: Vec<TourNeed>,
    at: usize,
    /// True if the user has tried the current page.
    is_tried: bool,
    /// Description of the last step.
    pub reported: String,
}

impl Tour {
    /// Creates a tour at its first page. Pages about features that the program lacks are omitted.
    pub fn of(program: &Program) -> Tour {
        let (pages, left_out): (Vec<_>, Vec<_>) =
            PAGES.iter().partition(|page| page.needs.is_none_or(|need| need.is_met(program)));
        let lacking = left_out.into_iter().filter_map(|page| page.needs).collect();
        Tour { pages, lacking, at: 0, is_tried: false, reported: String::new() }
    }

    /// Moves to the next page. Returns false after the last page, where the tour ends.
    pub fn further(&mut self) -> bool {
        let is_there = self.at < self.pages.len();
        if is_there {
            (self.at, self.is_tried) = (self.at + 1, false);
        }
        is_there
    }

    /// Moves to the previous page, if there is one. Returns true, which means that the tour continues.
    pub fn back(&mut self) -> bool {
        (self.at, self.is_tried) = (self.at.saturating_sub(1), false);
        true
    }

    /// Marks the current page as tried if the executed line is one of its commands.
    pub fn notice(&mut self, line: &str) {
        let Ok((row, _)) = named(line) else { return };
        self.is_tried |= self.page().tried_by.contains(&row.name);
    }

    fn page(&self) -> &'static TourPage {
        self.pages.get(self.at).copied().unwrap_or(&LAST)
    }

    /// Returns the heading: the page number, the number of pages, the title, and a mark if the page was
    /// tried.
    pub fn heading(&self) -> String {
        let tried = if self.is_tried { " ✓ tried" } else { "" };
        format!("tour {} of {}: {}{tried}", self.at + 1, self.pages.len() + 1, self.page().title)
    }

    /// Returns the text of the current page, in which command lines are replaced by their keys.
    pub fn words(&self, keys: &KeyMap) -> KeyedWords {
        let words = KeyedWords::of(self.page().words, keys);
        if self.at < self.pages.len() || self.lacking.is_empty() {
            return words;
        }
        let lacking: Vec<&str> = self.lacking.iter().map(|need| need.elsewhere()).collect();
        words.and(&format!("Not in this program: {}.", lacking.join("; ")), keys)
    }

    /// Returns a text with the keys that turn the pages and end the tour.
    pub fn navigation_keys(keys: &KeyMap) -> String {
        let navigation_keys = [("tour next", "next"), ("tour back", "back"), ("tour leave", "leave")];
        navigation_keys.map(|(line, word)| format!("{} {word}", keys.input_for(line))).join("  ")
    }
}
