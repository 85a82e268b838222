//! Syntax errors of expectations, each with the expected syntax.

use thiserror::Error;

/// The reason why a line can't be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum GrammarError {
    #[error("no expectation begins with `{first}`{}", did_you_mean(near.as_deref()))]
    Unknown { first: String, near: Option<String> },
    #[error(
        "the expectation is empty: write for example `run n=10 -> a=55`, `restored` or `at most 12 steps`"
    )]
    Nothing,
    #[error("`{0}` can't follow here: write each property on a separate line")]
    Superfluous(String),
    #[error("write `uses no WORD`, a line for each word")]
    UsesNo,
    #[error("write `points N` with a whole number N up to 1000: each line below it then gives N points")]
    Points,
    #[error("write `at most N steps`")]
    AtMost,
    #[error("there is no `->` between the inputs and the expected results")]
    NoArrow,
    #[error("`{0}` is no input: write `name=value`, `tape=1,2`, `real=f32`, `word=8` or `exact`")]
    NotGiven(String),
    #[error("`{0}` is given twice: leave one of the two out")]
    GivenTwice(String),
    #[error("`{0}` sets several cells in one word: separate the words by blanks, such as `a=1 b=2`")]
    GivenTogether(String),
    #[error("there is no number system `{0}`: write `real=f64`, `real=f32` or `real=fixed`")]
    NoSystem(String),
    #[error("there are no integers of `{0}` bits: write `word=8`, `word=16`, `word=32` or `word=64`")]
    NoWord(String),
    #[error(
        "`{0}` describes no result: write `name=value`, `name~value`, `tape=1,2`, `drifts`, `unrestored` or `erases=64`; or `trap \"text\"` or `error \"text\"` alone"
    )]
    NoResult(String),
    #[error(
        "`{0}` is no expectation of a derivative: write `value~8`, `x~12`, `tape~1`, `drops=3`, `reported=1`, `disagrees` or `mended`"
    )]
    NoDerivative(String),
    #[error(
        "`{found}` isn't a text in quotes: write `{word} \"text\"`, with one quotation mark on either side and nothing after it"
    )]
    Unquoted { word: &'static str, found: String },
    #[error("`{0}` names no entry of a matrix: write a row and a column, such as `y,x~2`")]
    NoEntry(String),
    #[error("`{0}` isn't a number")]
    NoNumber(String),
    #[error("`{0}` is no count: write a whole number of at least 0")]
    NoCount(String),
    #[error("write `grad LOSS … -> …`, `hessian LOSS … -> …` or `jacobian … -> …`")]
    Derivative,
    #[error("write `same as FILE on N random n in 0..1000, m in -5..5 seed 7`")]
    SameAs,
    #[error("`{0}` is no random input: write a name with a range, such as `n in 0..1000`")]
    NoDraw(String),
    #[error("`{0}` is empty: write an upper bound above the lower one (the range excludes its upper bound)")]
    NoRange(String),
    #[error("`{0}` is no seed: write a whole number from 0 to 18446744073709551615")]
    NoSeed(String),
    #[error("0 runs compare nothing: write at least one")]
    NoRuns,
    #[error("{0} runs are too many for one line: write at most {1}")]
    TooManyRuns(u64, u64),
    #[error("`{word}` is no word of the language{}", did_you_mean(near.as_deref()))]
    NoSuchWord { word: String, near: Option<String> },
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"))
}
