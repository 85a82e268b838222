//! Splits a line into words and quoted texts. Any number of blanks separates words. This module doesn't interpret the
//! words.

use super::GrammarError;

/// Returns the words of a line. Blanks around `=`, `~` and commas don't separate words: `n = 10` is `n=10`, and `A=1,
/// 2` is `A=1,2`. A comma between two complete words, as in `a=1, b=2`, belongs to neither word.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if goes_on(last, word) => last.push_str(word),
            Some(last) => {
                last.truncate(last.trim_end_matches(',').len());
                words.push(word.to_owned());
            }
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns true if two pieces belong to one word, because the second continues the first. No word begins with a number,
/// so a number after a sign such as `=` continues the word as its value. After an empty stack (`path=`), a new word
/// begins. A name after a comma is the second name of an entry: `y, x~2`.
fn goes_on(last: &str, next: &str) -> bool {
    let is_value = next.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_name = last.ends_with(',') && !last.contains(['=', '~']) && !next.contains('=');
    next.starts_with(['=', '~', ',']) || last.ends_with(['=', '~', ',']) && is_value || is_name
}

/// Returns the quoted text after a word. Returns `None` if the line doesn't begin with that word.
///
/// # Errors
/// The word isn't followed by exactly one quoted text.
pub(super) fn quoted(line: &str, word: &'static str) -> Result<Option<String>, GrammarError> {
    let Some(rest) = line.strip_prefix(word) else { return Ok(None) };
    if !rest.starts_with(|c: char| c.is_whitespace() || c == '"') {
        return Ok(None);
    }
    let rest = rest.trim();
    let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) => Ok(Some(inner.to_owned())),
        None => Err(GrammarError::Unquoted { word, found: rest.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_signs_separate_no_words() {
        assert_eq!(words("run  n = 10\tA=1, 2 ,3"), ["run", "n=10", "A=1,2,3"]);
        assert_eq!(words("path= exact a =-1 b= .5"), ["path=", "exact", "a=-1", "b=.5"]);
        assert_eq!(words("x ~ 1, y~2, z=3"), ["x~1", "y~2", "z=3"]);
        assert_eq!(words("M[0, 1], x ~ 3, y , z~2"), ["M[0,1],x~3", "y,z~2"]);
        assert_eq!(words(" \t"), [""; 0]);
    }

    #[test]
    fn a_text_is_enclosed_in_quotation_marks() {
        assert_eq!(quoted("trap  \"a b\" ", "trap"), Ok(Some("a b".into())));
        assert_eq!(quoted("trap\"a\"", "trap"), Ok(Some("a".into())));
        assert_eq!((quoted("trapped=1", "trap"), quoted("trap", "trap")), (Ok(None), Ok(None)));
        for wrong in ["trap \"a", "trap a\"", "trap a", "trap \"", "trap \"a\" b=1", "trap \"a\" \"b\""] {
            assert!(quoted(wrong, "trap").is_err(), "{wrong}");
        }
    }
}
