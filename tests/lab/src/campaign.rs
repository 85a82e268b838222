//! Checks many programs against a law. The report of the first violation has a shrunk program.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::corners;
use crate::engine::{ALL, Engine, REFERENCE};
use crate::generate::{Profile, program};
use crate::laws::Law;
use crate::shrink::shrink;
use crate::subject::Subject;

/// Seeds below this number are those of runs without a campaign. Their programs are assembled once for all laws.
const MOST_KEPT: u64 = 1024;

/// Returns the program of a seed, ready to run.
///
/// # Panics
/// Panics if it doesn't assemble, which is a fault of the generator or the assembler.
pub fn subject(seed: u64) -> Subject {
    static KEPT: Mutex<Option<HashMap<u64, Subject>>> = Mutex::new(None);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(subject) = kept().as_ref().and_then(|kept| kept.get(&seed)) {
        return subject.clone();
    }
    let text = program(seed, &Profile::of_seed(seed));
    match Subject::on(REFERENCE, &text) {
        Ok(subject) if seed < MOST_KEPT => {
            kept().get_or_insert_default().entry(seed).or_insert(subject).clone()
        }
        Ok(subject) => subject,
        Err(error) => panic!("the program of seed {seed} doesn't assemble:\n{error}"),
    }
}

/// Returns the seeds to test. The environment variable `REVIVER_CAMPAIGN` is a range of seeds, such as
/// `20000..30000`, or a number n for the seeds `0..n`. Without the variable, the seeds are `0..usual`.
///
/// # Panics
/// Panics if the variable has any other value, because an empty campaign would look successful.
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(asked) = std::env::var("REVIVER_CAMPAIGN") else { return 0..usual };
    let (first, end) = asked.split_once("..").unwrap_or(("0", &asked));
    match (first.parse(), end.parse()) {
        (Ok(first), Ok(end)) => first..end,
        _ => panic!(
            "REVIVER_CAMPAIGN is a number of programs, or a range of seeds such as `20000..30000`, not `{asked}`"
        ),
    }
}

/// Returns the number of random cases to try: the number of seeds in the campaign, or `usual` if there is no
/// campaign.
pub fn programs(usual: u64) -> u64 {
    let Range { start, end } = seeds(usual);
    end.saturating_sub(start)
}

/// Checks the programs of a range of seeds. Slow engines check only a part of the seeds, see [`Engine::share`].
///
/// # Panics
/// Panics with law, engine, seed, and a shrunk program if the law is violated.
pub fn check_law(law: Law, seeds: Range<u64>) {
    for &engine in ALL {
        for seed in engine.share(seeds.clone()) {
            if let Err(reason) = verdict(law, &subject(seed).with_engine(engine)) {
                panic!("{}", report(law, engine, seed, &reason));
            }
        }
    }
}

/// Checks all corner cases on every engine.
///
/// # Panics
/// Panics with law, engine and program if the law is violated.
pub fn check_corners(law: Law) {
    static CORNERS: LazyLock<Vec<(&str, Subject)>> = LazyLock::new(|| {
        let assembled = |(what, text): (&'static str, String)| match Subject::new(&text) {
            Ok(subject) => (what, subject),
            Err(error) => panic!("{what} doesn't assemble:\n{error}"),
        };
        corners::all().into_iter().map(assembled).collect()
    });
    for (&engine, (what, subject)) in ALL.iter().flat_map(|e| CORNERS.iter().map(move |c| (e, c))) {
        if let Err(reason) = verdict(law, &subject.with_engine(engine)) {
            let (law, engine, text) = (law.name, engine.name, &subject.text);
            panic!("\nthe law \"{law}\" does not hold on {engine} for {what}: {reason}\n\n{text}");
        }
    }
}

/// Checks a law on a program. A panic counts as a violation.
pub fn verdict(law: Law, subject: &Subject) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (law.check)(subject)))
        .unwrap_or_else(|_| Err("checking it panicked".into()))
}

fn report(law: Law, engine: Engine, seed: u64, reason: &str) -> String {
    let text = program(seed, &Profile::of_seed(seed));
    let breaks = |text: &str| Subject::on(engine, text).is_ok_and(|subject| verdict(law, &subject).is_err());
    let small = shrink(&text, breaks);
    let small_reason =
        Subject::on(engine, &small).and_then(|subject| verdict(law, &subject)).err().unwrap_or_default();
    let (law, engine) = (law.name, engine.name);
    format!(
        "\nthe law \"{law}\" does not hold on {engine} for seed {seed}: {reason}\n\na small program that breaks it:\n\n{small}\n{small_reason}\n",
    )
}
