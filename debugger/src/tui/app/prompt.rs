//! The prompt: a line that the user types, either a command or a search text. Earlier lines can be recalled.

use std::collections::VecDeque;

use tui_input::{Input, InputRequest};

use crate::tui::keys::{BareKey, Key};

/// The purpose of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPurpose {
    Command,
    Search,
}

/// A line that is being typed.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub purpose: PromptPurpose,
    pub input: Input,
    /// Possible completions, shown to the user.
    pub hint: String,
    /// Candidates for completion, each with the completed line. The first candidate is the one that the next Tab
    /// inserts.
    round: VecDeque<(String, Input)>,
    /// The recalled earlier line: its index, counted back from the latest line (0), and the text that the user had
    /// typed before. `None` if no line is recalled.
    recalled: Option<(usize, String)>,
}

/// The effect of a key on the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The line isn't finished.
    More,
    /// The user cancelled the prompt.
    Left,
    Entered(String),
    /// The user requests completion of a word.
    Complete,
}

/// Maximum length of a line in characters, for pasted texts.
const LONGEST: usize = 1_000;

impl Prompt {
    pub fn new(purpose: PromptPurpose, text: &str) -> Prompt {
        let input = Input::new(text.to_owned());
        Prompt { purpose, input, hint: String::new(), round: VecDeque::new(), recalled: None }
    }

    /// Handles a key. `earlier` contains the lines that can be recalled, latest last.
    pub fn key(&mut self, key: Key, earlier: &[String]) -> Typed {
        if key.code != BareKey::Tab {
            self.hint.clear();
            self.round.clear();
        }
        let request = match key.code {
            BareKey::Enter => return Typed::Entered(self.input.value().trim().to_owned()),
            BareKey::Esc => return Typed::Left,
            BareKey::Char('c') if key.ctrl => return Typed::Left,
            BareKey::Tab if !key.shift => return Typed::Complete,
            BareKey::Backspace if self.input.value().is_empty() => return Typed::Left,
            BareKey::Up => return self.recall(earlier, true),
            BareKey::Down => return self.recall(earlier, false),
            _ => request(key),
        };
        let is_insert = matches!(request, Some(InputRequest::InsertChar(_)));
        if let Some(request) = request.filter(|_| !is_insert || self.has_room()) {
            self.input.handle(request);
            self.recalled = None;
        }
        Typed::More
    }

    /// Inserts a pasted text as one line; line breaks become blanks.
    pub fn paste(&mut self, text: &str) {
        let words = text.split(|c: char| c.is_control()).filter(|words| !words.is_empty());
        for (n, words) in words.enumerate() {
            for c in (n > 0).then_some(' ').into_iter().chain(words.chars()) {
                if self.has_room() {
                    self.input.handle(InputRequest::InsertChar(c));
                }
            }
        }
    }

    /// Returns the text before the cursor.
    pub fn before_cursor(&self) -> String {
        self.input.value().chars().take(self.input.cursor()).collect()
    }

    /// Replaces the word that begins at byte `start` by the longest common beginning of the candidates. If the
    /// common beginning adds nothing to the word, each call inserts the next candidate.
    pub fn complete(&mut self, start: usize, candidates: &[String]) {
        if let Some((_, input)) = self.round.front() {
            self.input = input.clone();
            self.round.rotate_left(1);
            self.hint = self.words();
            return;
        }
        let typed = self.before_cursor();
        let (Some(kept), Some(first)) = (typed.get(..start), candidates.first()) else { return };
        let common = candidates.iter().fold(first.as_str(), |common, other| common_start(common, other));
        let rest: String = self.input.value().chars().skip(self.input.cursor()).collect();
        // No blank follows the name of a folder, because the user may continue with a name in the folder.
        let is_whole = candidates.len() == 1 && rest.is_empty() && !common.ends_with('/');
        let with = |word: &str, space: &str| {
            let before = format!("{kept}{word}{space}");
            let cursor = before.chars().count();
            Input::new(before + &rest).with_cursor(cursor)
        };
        let completed = with(common, if is_whole { " " } else { "" });
        if candidates.len() > 1 && completed.value() == self.input.value() {
            self.round = candidates.iter().map(|word| (word.clone(), with(word, ""))).collect();
            self.hint = self.words();
        }
        self.input = completed;
    }

    fn words(&self) -> String {
        self.round.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join("  ")
    }

    fn has_room(&self) -> bool {
        self.input.value().chars().count() < LONGEST
    }

    fn recall(&mut self, earlier: &[String], further: bool) -> Typed {
        let (now, draft) = match self.recalled.take() {
            Some((n, draft)) => (n + 1, draft),
            None => (0, self.input.value().to_owned()),
        };
        let wanted = if further { (now + 1).min(earlier.len()) } else { now.saturating_sub(1) };
        let text = wanted.checked_sub(1).and_then(|n| earlier.iter().rev().nth(n));
        self.input = Input::new(text.unwrap_or(&draft).clone());
        self.recalled = wanted.checked_sub(1).map(|n| (n, draft));
        Typed::More
    }
}

fn request(key: Key) -> Option<InputRequest> {
    Some(match key.code {
        BareKey::Char('w') if key.ctrl => InputRequest::DeletePrevWord,
        BareKey::Char('u') if key.ctrl => InputRequest::DeleteFromStart,
        BareKey::Char(c) if !key.ctrl && !key.alt => InputRequest::InsertChar(c),
        BareKey::Left => InputRequest::GoToPrevChar,
        BareKey::Right => InputRequest::GoToNextChar,
        BareKey::Home => InputRequest::GoToStart,
        BareKey::End => InputRequest::GoToEnd,
        BareKey::Backspace => InputRequest::DeletePrevChar,
        BareKey::Delete => InputRequest::DeleteNextChar,
        _ => return None,
    })
}

fn common_start<'a>(one: &'a str, other: &str) -> &'a str {
    let differs = one.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
    let end = differs.map_or(one.len().min(other.len()), |((at, _), _)| at);
    one.get(..end).unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Prompt {
        let mut prompt = Prompt::new(PromptPurpose::Command, "");
        text.chars().for_each(|c| assert_eq!(prompt.key(Key::char(c), &[]), Typed::More));
        prompt
    }

    #[test]
    fn earlier_lines_and_the_draft_are_recalled() {
        let earlier = ["one".to_owned(), "two".to_owned()];
        let mut prompt = typed("dr");
        let mut after = |code| {
            prompt.key(Key::plain(code), &earlier);
            prompt.input.value().to_owned()
        };
        let seen = [BareKey::Up, BareKey::Up, BareKey::Up, BareKey::Down, BareKey::Down, BareKey::Down]
            .map(&mut after);
        assert_eq!(seen, ["two", "one", "one", "two", "dr", "dr"]);
    }

    #[test]
    fn completion_adds_the_common_prefix_then_lists_then_cycles() {
        let candidates = ["reverse-step".to_owned(), "reverse-next".to_owned()];
        let mut prompt = typed("rev");
        prompt.complete(0, &candidates);
        assert_eq!((prompt.input.value(), prompt.hint.as_str()), ("reverse-", ""));
        prompt.complete(0, &candidates);
        assert_eq!(prompt.hint, "reverse-step  reverse-next");
        let round = ["reverse-step", "reverse-next", "reverse-step"];
        for expected in round {
            prompt.complete(0, &candidates);
            assert_eq!(prompt.input.value(), expected);
        }
        let mut prompt = typed("rev");
        prompt.complete(0, &candidates[..1]);
        assert_eq!(prompt.input.value(), "reverse-step ");
        prompt.complete(99, &candidates);
        assert_eq!(prompt.input.value(), "reverse-step ");
    }

    #[test]
    fn a_paste_is_one_line() {
        let mut prompt = typed("");
        prompt.paste(&format!("a{}\nquit\n", "é".repeat(2_000)));
        assert_eq!(prompt.input.value().chars().count(), LONGEST);
        let mut prompt = typed("goto ");
        prompt.paste("7\r\nstep\n");
        assert_eq!(prompt.input.value(), "goto 7 step");
        assert_eq!(
            Prompt::new(PromptPurpose::Search, "").key(Key::plain(BareKey::Backspace), &[]),
            Typed::Left
        );
    }
}
