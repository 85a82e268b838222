//! Splits the words of a lane's memory into runs with a common source. At the start of a lane, a run is filled from its
//! source; at the end, a run is compared with its source. This module is independent of SSA functions.

use crate::cells::StartWord;

/// Consecutive words of a lane's memory with a common source, from which they are filled or with which they are
/// compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordRun {
    /// The number of the first word in the lane's memory.
    pub word: u32,
    pub count: u32,
    pub source: WordSource,
}

/// The source of a run of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordSource {
    /// All words of the run have these bits.
    Same(u64),
    /// Consecutive input words of the lane; the first one has this number.
    Input(u32),
    /// Consecutive constants; the first one has this number.
    Table(u32),
}

/// Splits words into runs with a common source; `first` is the number of the first word. Combines short runs of
/// constants to a table, and appends the table to `constants`.
pub(crate) fn word_runs(
    first: u32,
    words: impl Iterator<Item = StartWord>,
    constants: &mut Vec<u64>,
) -> Vec<WordRun> {
    let mut runs: Vec<WordRun> = Vec::new();
    for (word, start) in (first..).zip(words) {
        let last = runs.last_mut().filter(|run| run.word + run.count == word);
        match (start, last) {
            (StartWord::Input(input), Some(run))
                if run.source == WordSource::Input(input.wrapping_sub(run.count)) =>
            {
                run.count += 1;
            }
            (StartWord::Same(bits), Some(run)) if run.source == WordSource::Same(bits) => run.count += 1,
            (StartWord::Input(input), _) => {
                runs.push(WordRun { word, count: 1, source: WordSource::Input(input) });
            }
            (StartWord::Same(bits), _) => {
                runs.push(WordRun { word, count: 1, source: WordSource::Same(bits) })
            }
        }
    }
    joined(runs, constants)
}

/// Merges short adjacent runs of constants to a run whose source is a table in `constants`.
fn joined(runs: Vec<WordRun>, constants: &mut Vec<u64>) -> Vec<WordRun> {
    let mut joined: Vec<WordRun> = Vec::new();
    for run in runs {
        let WordSource::Same(bits) = run.source else {
            joined.push(run);
            continue;
        };
        let is_short = run.count < SHORT;
        match joined.last_mut() {
            Some(last) if is_short && ends_table(last, constants) => {
                constants.extend(std::iter::repeat_n(bits, run.count as usize));
                last.count += run.count;
            }
            Some(WordRun { count, source: WordSource::Same(before), word: _ })
                if is_short && *count < SHORT =>
            {
                let at = constants.len() as u32;
                constants.extend(std::iter::repeat_n(*before, *count as usize));
                constants.extend(std::iter::repeat_n(bits, run.count as usize));
                if let Some(last) = joined.last_mut() {
                    last.count += run.count;
                    last.source = WordSource::Table(at);
                }
            }
            _ => joined.push(run),
        }
    }
    joined
}

/// Minimum number of equal words that form their own run instead of joining a table.
const SHORT: u32 = 8;

/// Returns true if the run's table is at the end of the constants, so that it can be extended.
fn ends_table(run: &WordRun, constants: &[u64]) -> bool {
    matches!(run.source, WordSource::Table(at) if at as usize + run.count as usize == constants.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_words_of_one_source_are_one_run() {
        let (same, input) = (StartWord::Same, StartWord::Input);
        let zeros = [same(0); 9].into_iter();
        let words = zeros.chain([input(4), input(5), same(1), same(2), same(3), input(9)]);
        let mut constants = vec![0];
        let runs = word_runs(10, words, &mut constants);
        let run = |word, count, source| WordRun { word, count, source };
        let expected = [
            run(10, 9, WordSource::Same(0)),
            run(19, 2, WordSource::Input(4)),
            run(21, 3, WordSource::Table(1)),
            run(24, 1, WordSource::Input(9)),
        ];
        assert_eq!(runs, expected);
        assert_eq!(constants, [0, 1, 2, 3]);
    }
}
