//! Grammar of expectations: parses a line to data. The grammar doesn't depend on a program. Later checks find out
//! whether the program has the cells that a line names.

mod error;
mod given;
mod numbers;
mod property;
mod results;
mod same_as;
mod words;

use reviver_vm::Travel;

pub use error::GrammarError;
pub use given::{GivenWords, RequestedReals};
pub use property::Property;
pub use results::{DerivativeResult, RunResult};
pub use same_as::{DrawnInput, SameAs};

/// An expectation in parsed form.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// A run to its end and back: a line `run` or `back`.
    Run(ExpectedRun),
    /// Derivatives and their expected values: a line `grad`, `hessian` or `jacobian`.
    Derivative(ExpectedDerivative),
    /// A comparison with another program on random inputs: a line `same as`.
    SameAs(SameAs),
    /// A property of all runs or of the text: a line such as `restored`.
    Property(Property),
}

/// A run forward or backward: `run … -> …` or `back … -> …`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedRun {
    /// The direction of the first run: `Forward` for `run`, `Backward` for `back`.
    pub travel: Travel,
    /// The inputs before the arrow; after `back`, these are results of the program.
    pub given: GivenWords,
    /// The expected outcome after the first run.
    pub end: ExpectedEnd<RunResult>,
}

/// A derivative: `grad LOSS … -> …`, `hessian LOSS … -> …` or `jacobian … -> …`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedDerivative {
    /// The kind of derivative, which decides the valid result words.
    pub kind: DerivativeKind,
    /// The inputs at which the program is differentiated.
    pub given: GivenWords,
    /// The expected outcome: numbers, a trap or a rejection.
    pub end: ExpectedEnd<DerivativeResult>,
}

/// The kind of a derivative, with its loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivativeKind {
    /// The first derivatives of a loss by the inputs.
    Grad {
        /// The name of a single cell, such as `y` or `A[3]`.
        loss: String,
    },
    /// The second derivatives of a loss by pairs of inputs.
    Hessian {
        /// The name of a single cell, such as `y` or `A[3]`.
        loss: String,
    },
    /// The first derivatives of cells, one row each, by the inputs.
    Jacobian,
}

/// The expected outcome: the part of a line after the arrow.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedEnd<R> {
    /// The expected results. If there are none, the line only requires that the run succeeds.
    Results(Vec<R>),
    /// A trap with this code, or with a message that contains this text.
    Trap(String),
    /// An error before the run, with a message that contains this text.
    Refused(String),
}

impl<R> ExpectedEnd<R> {
    fn parse(
        text: &str,
        result: impl Fn(&str) -> Result<R, GrammarError>,
    ) -> Result<ExpectedEnd<R>, GrammarError> {
        if let Some(message) = words::quoted(text, "trap")? {
            return Ok(ExpectedEnd::Trap(message));
        }
        if let Some(message) = words::quoted(text, "error")? {
            return Ok(ExpectedEnd::Refused(message));
        }
        let words = words::words(text);
        words.iter().map(|word| result(word)).collect::<Result<_, _>>().map(ExpectedEnd::Results)
    }

    /// Returns the expected results; empty for a trap or an error.
    pub fn results(&self) -> &[R] {
        match self {
            ExpectedEnd::Results(results) => results,
            ExpectedEnd::Trap(_) | ExpectedEnd::Refused(_) => &[],
        }
    }
}

/// Parses a line, given without its mark.
///
/// # Errors
/// The unexpected text, with the expected syntax.
pub fn parse(text: &str) -> Result<Expectation, GrammarError> {
    match text.split_whitespace().next().unwrap_or_default() {
        "run" => run(text, Travel::Forward).map(Expectation::Run),
        "back" => run(text, Travel::Backward).map(Expectation::Run),
        "grad" | "hessian" | "jacobian" => derivative(text).map(Expectation::Derivative),
        "same" => same_as::parse(text).map(Expectation::SameAs),
        _ => property::parse(text).map(Expectation::Property),
    }
}

fn run(text: &str, travel: Travel) -> Result<ExpectedRun, GrammarError> {
    let (before, behind) = sides(text)?;
    let given = GivenWords::parse(before.iter().skip(1).map(String::as_str))?;
    Ok(ExpectedRun { travel, given, end: ExpectedEnd::parse(behind, RunResult::parse)? })
}

fn derivative(text: &str) -> Result<ExpectedDerivative, GrammarError> {
    let (before, behind) = sides(text)?;
    let is_given = |word: &&str| word.contains('=') || *word == GivenWords::EXACT;
    let (given, names): (Vec<&str>, Vec<&str>) = before.iter().map(String::as_str).partition(is_given);
    let loss = |name: &str| name.to_owned();
    let kind = match names[..] {
        ["grad", name] => DerivativeKind::Grad { loss: loss(name) },
        ["hessian", name] => DerivativeKind::Hessian { loss: loss(name) },
        ["jacobian"] => DerivativeKind::Jacobian,
        _ => return Err(GrammarError::Derivative),
    };
    let parse = match kind {
        DerivativeKind::Grad { .. } => DerivativeResult::of_gradient,
        DerivativeKind::Hessian { .. } | DerivativeKind::Jacobian => DerivativeResult::of_matrix,
    };
    Ok(ExpectedDerivative { kind, given: GivenWords::parse(given)?, end: ExpectedEnd::parse(behind, parse)? })
}

/// Returns the words before the arrow `->`, and the text after it.
fn sides(text: &str) -> Result<(Vec<String>, &str), GrammarError> {
    let (before, behind) = text.split_once("->").ok_or(GrammarError::NoArrow)?;
    Ok((words::words(before), behind.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_read() {
        let Ok(Expectation::Run(run)) = parse("run n=10 A=3,1 path= exact -> a=55 x~0.5 tape=1,2 erases=64")
        else {
            panic!("a run")
        };
        assert!(run.given.exact);
        assert_eq!(run.given.cells[2], ("path".to_owned(), Vec::new()));
        assert_eq!(run.end.results().len(), 4);
        let Ok(Expectation::Derivative(grad)) = parse("grad y x=2 -> value~8 A[3]~1 drops=3 mended") else {
            panic!("a gradient")
        };
        assert_eq!(grad.kind, DerivativeKind::Grad { loss: "y".into() });
        assert!(matches!(parse("jacobian -> M[0,1],x~3"), Ok(Expectation::Derivative(_))));
        let Ok(Expectation::SameAs(same)) =
            parse("same as reference.rasm on 100 random n in 0..1000, x in -0.5..2.5 seed 7")
        else {
            panic!("a reference")
        };
        assert_eq!(
            (&*same.reference, same.count, same.seed, same.inputs.len()),
            ("reference.rasm", 100, 7, 2)
        );
        assert!(matches!(
            parse("same\t as  reference.rasm  on 5  random n  in 0x0 .. 1_000 , seed  7"),
            Ok(Expectation::SameAs(_))
        ));
        assert_eq!(parse("at  most 0xc  steps"), parse("at most 12 steps"));
        assert_eq!(parse("at most 12 steps"), Ok(Expectation::Property(Property::AtMost(12))));
        assert_eq!(
            parse("uses no `overwrite`"),
            Ok(Expectation::Property(Property::UsesNo("overwrite".into())))
        );
    }

    #[test]
    fn invalid_expectations_are_reported() {
        for (text, part) in [
            ("runs -> a=1", "no expectation begins with `runs`"),
            ("", "the expectation is empty: write"),
            ("uses no overwrite, erase", "a line for each word"),
            ("at most steps 12", "write `at most N steps`"),
            ("restored yes", "`yes` can't follow here"),
            ("run -> a=1 trap", "`trap \"text\"`"),
            ("no garbge", "did you mean `no garbage`?"),
            ("run a=1", "no `->`"),
            ("run -> trap \"T10", "write `trap \"text\"`"),
            ("run -> trap T10", "write `trap \"text\"`"),
            ("run -> error \"a\" b=1", "write `error \"text\"`"),
            ("run a -> b=1", "`a` is no input"),
            ("run a=1 b=2 a=3 -> b=1", "`a` is given twice"),
            ("run a=1,b=2 -> b=1", "separate the words by blanks"),
            ("run real=f16 -> b=1", "`f16`"),
            ("run word=7 -> b=1", "`7`"),
            ("run -> b", "`b` describes no result"),
            ("run -> x~1,y", "`y` isn't a number"),
            ("run -> erases=many", "`many` is no count"),
            ("grad -> x~1", "grad LOSS"),
            ("grad y -> x,y~1", "`x,y`"),
            ("hessian y -> x~1", "a row and a column"),
            ("same as it", "same as FILE on N random"),
            ("same as f.rasm on 0 random n in 0..3", "at least one"),
            ("same as f.rasm on 1000000000000 random n in 0..3", "at most 1000000"),
            ("same as f.rasm on 5 random n in 3..3", "is empty"),
            ("same as f.rasm on 5 random n 0..3", "`n 0..3`"),
            ("same as f.rasm on 5 random n in 0..3 seed x", "`x` is no seed"),
            ("at most many steps", "`many` is no count"),
            ("at most -1 steps", "a whole number of at least 0"),
            ("uses no `swap", "write `uses no WORD`"),
            ("uses no overwrit", "`overwrit` is no word of the language"),
        ] {
            assert!(error(text).contains(part), "{text}: {}", error(text));
        }
    }
}
