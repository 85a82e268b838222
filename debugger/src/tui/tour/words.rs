//! Texts that contain keys, as words that are wrapped into rows. The keys are looked up in the key map, so that a
//! page names the keys of the chosen preset and the user's own keys.

use crate::columns::width;
use crate::tui::keys::KeyMap;

/// A part of a word. The flag is true if the part is a key.
type WordPart = (String, bool);

/// Words, each as a list of parts. For example, a key and the comma after it are two parts of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedWords(Vec<Vec<WordPart>>);

impl KeyedWords {
    /// Parses a text. Each command line in braces is replaced by its key.
    pub fn of(text: &str, keys: &KeyMap) -> KeyedWords {
        let mut words: Vec<Vec<WordPart>> = vec![Vec::new()];
        let mut rest = text;
        while let Some((before, line, after)) = braced(rest) {
            add(&mut words, before);
            words.last_mut().into_iter().for_each(|word| word.push((keys.input_for(line), true)));
            rest = after;
        }
        add(&mut words, rest);
        words.retain(|word| !word.is_empty());
        KeyedWords(words)
    }

    /// Appends the words of another text.
    #[must_use]
    pub fn and(mut self, text: &str, keys: &KeyMap) -> KeyedWords {
        self.0.extend(KeyedWords::of(text, keys).0);
        self
    }

    /// Wraps the words into rows of at most `most` columns, with a blank between words. A longer word is
    /// alone in its row.
    pub fn rows(&self, most: usize) -> Vec<Vec<WordPart>> {
        let mut rows: Vec<Vec<WordPart>> = Vec::new();
        let mut used = 0;
        for word in &self.0 {
            let wide = columns(word);
            match rows.last_mut().filter(|_| used + 1 + wide <= most) {
                Some(row) => {
                    row.push((" ".to_owned(), false));
                    row.extend(word.iter().cloned());
                    used += 1 + wide;
                }
                None => {
                    rows.push(word.clone());
                    used = wide;
                }
            }
        }
        rows
    }
}

fn braced(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (line, after) = rest.split_once('}')?;
    Some((before, line, after))
}

/// Appends a text to words. The part of the text before its first blank is added to the last word.
fn add(words: &mut Vec<Vec<WordPart>>, text: &str) {
    for (n, part) in text.split(' ').enumerate() {
        if n > 0 {
            words.push(Vec::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
            word.push((part.to_owned(), false));
        }
    }
}

fn columns(word: &[WordPart]) -> usize {
    word.iter().map(|(text, _)| width(text)).sum()
}

#[cfg(test)]
mod tests {
    use super::KeyedWords;
    use crate::tui::keys::{KeyMap, Preset};

    fn rows(text: &str, most: usize) -> Vec<String> {
        let rows = KeyedWords::of(text, &KeyMap::new(Preset::Vi)).rows(most);
        rows.into_iter().map(|row| row.into_iter().map(|(text, _)| text).collect()).collect()
    }

    #[test]
    fn keys_are_those_of_the_map() {
        assert_eq!(rows("{step}, then {next}.", 40), ["l, then o."]);
        assert_eq!(rows("({end}) {no such line}", 40), ["($) :no such line"]);
    }

    #[test]
    fn punctuation_stays_with_its_word() {
        assert_eq!(rows("one {step}, two", 6), ["one l,", "two"]);
        assert_eq!(rows("one {step}, two", 5), ["one", "l,", "two"]);
        assert_eq!(rows("", 5), Vec::<String>::new());
    }
}
