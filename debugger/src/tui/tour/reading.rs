//! Where a reader stands in the tour: which pages a program has, which one is read, whether it was tried, and what the last
//! step was. Draws nothing, and carries nothing out.

use reviver_vm::Program;

use super::pages::{LAST, PAGES, TourNeed, TourPage};
use super::words::KeyedWords;
use crate::command::named;
use crate::tui::keys::KeyMap;

/// A tour through the screen of one program.
#[derive(Clone, Debug)]
pub struct Tour {
    pages: Vec<&'static TourPage>,
    /// What the program hasn't got, so that pages were left out.
    lacking: Vec<TourNeed>,
    at: usize,
    /// Whether what the page speaks of was tried.
    is_tried: bool,
    /// What the last step was.
    pub told: String,
}

impl Tour {
    /// At the first page. What a program hasn't got is left out.
    pub fn of(program: &Program) -> Tour {
        let (pages, left_out): (Vec<_>, Vec<_>) =
            PAGES.iter().partition(|page| page.needs.is_none_or(|need| need.is_met(program)));
        let lacking = left_out.into_iter().filter_map(|page| page.needs).collect();
        Tour { pages, lacking, at: 0, is_tried: false, told: String::new() }
    }

    /// To the next page. Whether the tour goes on: behind the last page it is over.
    pub fn further(&mut self) -> bool {
        let is_there = self.at < self.pages.len();
        if is_there {
            (self.at, self.is_tried) = (self.at + 1, false);
        }
        is_there
    }

    /// To the page before, if there is one; the tour goes on in any case.
    pub fn back(&mut self) -> bool {
        (self.at, self.is_tried) = (self.at.saturating_sub(1), false);
        true
    }

    /// Notices that a line was carried out.
    pub fn notice(&mut self, line: &str) {
        let Ok((row, _)) = named(line) else { return };
        self.is_tried |= self.page().tried_by.contains(&row.name);
    }

    fn page(&self) -> &'static TourPage {
        self.pages.get(self.at).copied().unwrap_or(&LAST)
    }

    /// The heading: which page of how many, and whether it was tried.
    pub fn heading(&self) -> String {
        let tried = if self.is_tried { " ✓ tried" } else { "" };
        format!("tour {} of {}: {}{tried}", self.at + 1, self.pages.len() + 1, self.page().title)
    }

    /// The page, with the keys of a map.
    pub fn words(&self, keys: &KeyMap) -> KeyedWords {
        let words = KeyedWords::of(self.page().words, keys);
        if self.at < self.pages.len() || self.lacking.is_empty() {
            return words;
        }
        let lacking: Vec<&str> = self.lacking.iter().map(|need| need.elsewhere()).collect();
        words.and(&format!("Not in this program: {}.", lacking.join("; ")), keys)
    }

    /// The keys that lead through the tour.
    pub fn ways(keys: &KeyMap) -> String {
        let ways = [("tour next", "next"), ("tour back", "back"), ("tour leave", "leave")];
        ways.map(|(line, word)| format!("{} {word}", keys.way_to(line))).join("  ")
    }
}
