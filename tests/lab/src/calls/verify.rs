//! Checks random programs against the laws of calls on one engine. For the first violation it reports a shrunk program.
//! It counts the comparisons of each law. So the tests notice a law that compares nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::laws::{ALL, CallCase, CallLaw, Compared};
use super::subject::{CallSubject, of_seed};
use super::{CallEngine, ReadyCalls};
use crate::shrink::shrink;

/// Number of lanes for each program.
const LANES: usize = 64;

/// Number of programs that an engine prepares together.
const TOGETHER: u64 = 32;

/// Counts of the comparisons on an engine.
#[derive(Debug, Default)]
pub struct LawTally {
    pub programs: usize,
    /// Number of programs that the engine accepts.
    pub ready: usize,
    /// Comparison counts by the name of the law.
    pub laws: BTreeMap<&'static str, Compared>,
}

/// Checks the programs of a range of seeds: each by the first law, and by every `each`-th of the other laws. The
/// choice of the other laws varies from program to program.
///
/// # Panics
/// Panics with law, engine, seed, and a shrunk program if a law is violated.
pub fn verify_laws(engine: &dyn CallEngine, seeds: Range<u64>, each: usize) -> LawTally {
    let mut tally = LawTally::default();
    let mut first = seeds.start;
    while first < seeds.end {
        let end = seeds.end.min(first + TOGETHER);
        let texts: Vec<(u64, String)> = (first..end).map(|seed| (seed, of_seed(seed))).collect();
        judge_together(engine, &texts, each, &mut tally);
        first = end;
    }
    tally
}

/// Check of one law on one program. `subject` and `other` are indices into the list of programs that are prepared
/// together; `other` is the law's second program, if it needs one.
struct Trial {
    seed: u64,
    law: CallLaw,
    subject: usize,
    other: Option<usize>,
}

fn judge_together(engine: &dyn CallEngine, texts: &[(u64, String)], each: usize, tally: &mut LawTally) {
    let (mut subjects, mut trials) = (Vec::new(), Vec::new());
    for (seed, text) in texts {
        let subject = CallSubject::new(text)
            .unwrap_or_else(|error| panic!("the program of seed {seed} doesn't assemble:\n{error}"));
        let place = subjects.len();
        let laws =
            ALL.iter().enumerate().filter(|(n, _)| *n == 0 || (n + *seed as usize).is_multiple_of(each));
        let others: Vec<(CallLaw, Option<CallSubject>)> =
            laws.map(|(_, law)| (*law, (law.other)(&subject))).collect();
        subjects.push(subject);
        for (law, other) in others {
            let other = other.map(|other| {
                subjects.push(other);
                subjects.len() - 1
            });
            trials.push(Trial { seed: *seed, law, subject: place, other });
        }
    }
    let ready = engine.prepare(&subjects);
    tally.programs += texts.len();
    let own: BTreeSet<usize> = trials.iter().map(|trial| trial.subject).collect();
    tally.ready += own.iter().filter(|&&n| ready[n].is_some()).count();
    for trial in trials {
        let subject = (&subjects[trial.subject], ready[trial.subject].as_deref());
        let other = trial.other.map(|n| (&subjects[n], ready[n].as_deref()));
        match verdict(trial.law, subject, other) {
            Ok(compared) => tally.laws.entry(trial.law.name).or_default().add(compared),
            Err(reason) => panic!("{}", report(engine, trial.law, trial.seed, &subject.0.text, &reason)),
        }
    }
}

/// Checks a law on a program. A panic counts as a violation. If the engine refused a program, nothing is compared.
fn verdict(
    law: CallLaw,
    (subject, ready): (&CallSubject, Option<&dyn ReadyCalls>),
    other: Option<(&CallSubject, Option<&dyn ReadyCalls>)>,
) -> Result<Compared, String> {
    let Some(ready) = ready else { return Ok(Compared::default()) };
    let other = match other {
        Some((_, None)) => return Ok(Compared::default()),
        Some((subject, Some(ready))) => Some((subject, ready)),
        None => None,
    };
    let lanes = subject.lanes(LANES);
    let case = CallCase { subject, ready, other, lanes: &lanes };
    catch_unwind(AssertUnwindSafe(|| (law.check)(&case)))
        .unwrap_or_else(|_| Err("checking it panicked".to_owned()))
}

/// Prepares a single program text, and checks a law on it. Used for shrinking.
fn verdict_of(engine: &dyn CallEngine, law: CallLaw, text: &str) -> Result<Compared, String> {
    let Ok(subject) = CallSubject::new(text) else { return Ok(Compared::default()) };
    let mut subjects = vec![subject];
    subjects.extend((law.other)(&subjects[0]));
    let ready = engine.prepare(&subjects);
    let ready = |n: usize| subjects.get(n).map(|subject| (subject, ready[n].as_deref()));
    ready(0).map_or(Ok(Compared::default()), |subject| verdict(law, subject, ready(1)))
}

fn report(engine: &dyn CallEngine, law: CallLaw, seed: u64, text: &str, reason: &str) -> String {
    let small = shrink(text, |text| verdict_of(engine, law, text).is_err());
    let small_reason = verdict_of(engine, law, &small).err().unwrap_or_default();
    let (law, engine) = (law.name, engine.name());
    format!(
        "\nthe law \"{law}\" does not hold on {engine} for seed {seed}: {reason}\n\na small program that breaks it:\n\n{small}\n{small_reason}\n",
    )
}
