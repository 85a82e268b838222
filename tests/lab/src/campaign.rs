//! Judging many programs by a law, and reporting the first that breaks it as a small program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::corners;
use crate::generate::{Profile, program};
use crate::laws::Law;
use crate::shrink::shrink;
use crate::subject::Subject;

/// The program of a seed, ready to run.
///
/// # Panics
/// If it doesn't assemble: then the generator or the assembler is wrong.
pub fn subject(seed: u64) -> Subject {
    let text = program(seed, &Profile::of_seed(seed));
    match Subject::new(&text) {
        Ok(subject) => subject,
        Err(error) => panic!("the program of seed {seed} doesn't assemble:\n{error}"),
    }
}

/// How many programs to judge: a test's own number, or what `REVIVER_CAMPAIGN` says.
pub fn programs(usual: u64) -> u64 {
    std::env::var("REVIVER_CAMPAIGN").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Judges the programs of the seeds from 0.
///
/// # Panics
/// With the law, the seed and a small program if one breaks the law.
pub fn judge(law: Law, programs: u64) {
    for seed in 0..programs {
        if let Err(reason) = verdict(law, &subject(seed)) {
            panic!("{}", report(law, seed, &reason));
        }
    }
}

/// Judges the programs at the edges of the rules.
///
/// # Panics
/// With the law and the program if one breaks the law.
pub fn judge_corners(law: Law) {
    for (what, text) in corners::ALL {
        let subject = Subject::new(text).unwrap_or_else(|error| panic!("{what} doesn't assemble:\n{error}"));
        if let Err(reason) = verdict(law, &subject) {
            panic!("\nthe law \"{}\" does not hold for {what}: {reason}\n\n{text}", law.name);
        }
    }
}

/// What a law says about a program; a panic counts as a broken law.
pub fn verdict(law: Law, subject: &Subject) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (law.check)(subject)))
        .unwrap_or_else(|_| Err("checking it panicked".into()))
}

fn report(law: Law, seed: u64, reason: &str) -> String {
    let text = program(seed, &Profile::of_seed(seed));
    let breaks = |text: &str| Subject::new(text).is_ok_and(|subject| verdict(law, &subject).is_err());
    let small = shrink(&text, breaks);
    let small_reason =
        Subject::new(&small).and_then(|subject| verdict(law, &subject)).err().unwrap_or_default();
    format!(
        "\nthe law \"{}\" does not hold for seed {seed}: {reason}\n\na small program that breaks it:\n\n{small}\n{small_reason}\n",
        law.name
    )
}
