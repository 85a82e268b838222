//! Compares shipped programs, random programs, each instruction row, and edge cases: runs in both directions, and
//! gradients.

use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_ctext::error::NoText;
use reviver_ctext::text::{CGradient, CText};
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_lab::c_programs::{CAnswer, CAsked, CQuestion, CompiledPrograms, compiler, given, links};
use reviver_lab::generate::Profile;
use reviver_lab::generate::program;
use reviver_lab::run::{End, travel};
use reviver_lab::subject::Subject;
use reviver_lab::{corners, specimens};
use reviver_vm::differentiate::{self, gradient};
use reviver_vm::{CheckLevel, Machine, Program, Travel};

/// Step limit of the compared runs. Longer runs are left out, because C text has no step limit.
const MOST_STEPS: u64 = 2_000_000;

/// A program with its C text.
pub struct Candidate {
    what: String,
    program: Arc<Program>,
    loss: Option<String>,
    level: CheckLevel,
    pub text: CText,
}

impl Candidate {
    fn of(what: &str, program: Arc<Program>, number: usize) -> Result<Candidate, NoText> {
        Candidate::at(CheckLevel::Checked, what, program, number)
    }

    /// Generates the text of a program at a check level, with the gradient of its first real result if that is
    /// possible.
    ///
    /// # Errors
    /// Fails if there is no text even without a gradient.
    pub fn at(
        level: CheckLevel,
        what: &str,
        program: Arc<Program>,
        number: usize,
    ) -> Result<Candidate, NoText> {
        let name = format!("p{number}");
        let loss = loss(&program);
        let with_loss = CText::of(&program, &name, loss.as_deref().map(CGradient::Loss), level);
        let (text, loss) = match with_loss {
            Ok(text) => (text, loss),
            // Perhaps there is a text without the gradient.
            Err(_) => (CText::of(&program, &name, None, level)?, None),
        };
        Ok(Candidate { what: what.to_owned(), program, loss, level, text })
    }

    pub fn has_loss(&self) -> bool {
        self.loss.is_some()
    }
}

/// Returns the name of the first cell of a real result.
fn loss(program: &Program) -> Option<String> {
    let globals = program.module().globals.iter().enumerate();
    let mut results = globals.filter(|(_, global)| {
        global.class == Class::Real
            && matches!(global.role, Role::Out | Role::InOut)
            && global.shape.cells() > 0
    });
    results.next().map(|(n, _)| program.cell_name(n, 0))
}

/// The answer that is expected for a question.
#[derive(Clone, Debug)]
enum Expected {
    Same(CAnswer),
    /// A failure status, because the interpreter traps, or recomputes the gradient with a history.
    Status,
    /// This answer or a failure status, because the interpreter gives this answer with a warning about derivatives.
    Warned(CAnswer),
}

/// Returns questions about a program, each with the expected answer.
fn questions(candidate: &Candidate, number: usize) -> Vec<(CQuestion, Expected)> {
    let program = &candidate.program;
    let mut found = Vec::new();
    let mut machine = Machine::at_begin(program.clone()).unwrap();
    let start = machine.state().try_clone().unwrap();
    let question = CQuestion::of(number, CAsked::There, machine.state());
    match travel(&mut machine, Travel::Forward, MOST_STEPS) {
        End::Budget => return found,
        End::Trap(_) => found.push((question, Expected::Status)),
        End::Bound => {
            found.push((question, Expected::Same(answer(&machine))));
            clear_frame(&mut machine);
            let question = CQuestion::of(number, CAsked::Back, machine.state());
            machine.state_mut().step = 0;
            machine.state_mut().counters = Default::default();
            match travel(&mut machine, Travel::Backward, MOST_STEPS) {
                End::Budget => {}
                End::Trap(_) => found.push((question, Expected::Status)),
                End::Bound => found.push((question, Expected::Same(answer(&machine)))),
            }
        }
    }
    if let Some(loss) = &candidate.loss {
        let question = CQuestion::of(number, CAsked::Gradient, &start);
        let subject = differentiate::Subject::new(program.clone(), start, false, MOST_STEPS).unwrap();
        let (global, _) = program.global(loss.split('[').next().unwrap()).unwrap();
        let variable = subject.variables(global).unwrap().remove(0);
        let expected = gradient(&subject, &variable)
            .ok()
            .filter(|gradient| gradient.verification_report.recomputed.is_none());
        let expected = expected.map(|gradient| {
            let mut adjoints = gradient.values.clone();
            for (n, _) in given(program).filter(|(_, global)| global.class == Class::Real) {
                adjoints.extend(program.cells(n).map(|cell| gradient.adjoints.cells[cell]));
            }
            let is_warned = gradient.verification_report.reports.iter().next().is_some();
            let answer = CAnswer {
                status: 0,
                steps: 0,
                counts: [0; 3],
                ints: Vec::new(),
                reals: Vec::new(),
                adjoints,
            };
            if is_warned { Expected::Warned(answer) } else { Expected::Same(answer) }
        });
        found.push((question, expected.unwrap_or(Expected::Status)));
    }
    found
}

/// Clears main's frame. A backward run begins with 0 in the frame, without the rounding errors of the forward run.
fn clear_frame(machine: &mut Machine) {
    let program = machine.program().clone();
    let layout = program.flow().layout();
    let state = machine.state_mut();
    state.ints[layout.main_ints as usize..layout.pool_ints_start as usize].fill(0);
    state.reals[layout.main_reals as usize..layout.pool_reals_start as usize].fill(0);
}

fn answer(machine: &Machine) -> CAnswer {
    let state = machine.state();
    let adjoints = state.adjoints.as_ref().map_or_else(|| vec![0; state.reals.len()], |a| a.cells.clone());
    let counters = &state.counters;
    CAnswer {
        status: 0,
        steps: state.step,
        counts: [counters.erased_bits, counters.discarded_bits, counters.drops],
        ints: state.ints.clone(),
        reals: state.reals.clone(),
        adjoints,
    }
}

/// Compiles programs and compares their answers with the expected ones. Returns the number of questions.
fn compare(candidates: &[Candidate], level: &str) -> usize {
    compiler().map_or(usize::MAX, |compiler| compare_by(&compiler, candidates, &[level]))
}

/// Compiles programs with a given compiler and options, and compares their answers. Returns the number of questions.
///
/// # Panics
/// Panics if an answer differs from the expected one.
pub fn compare_by(compiler: &str, candidates: &[Candidate], options: &[&str]) -> usize {
    let asked: Vec<(CQuestion, Expected)> =
        candidates.iter().enumerate().flat_map(|(n, candidate)| questions(candidate, n)).collect();
    let programs: Vec<_> = candidates.iter().map(|c| (&*c.program, &c.text, c.loss.is_some())).collect();
    let compiled = CompiledPrograms::new(compiler, options, &programs);
    let only: Vec<CQuestion> = asked.iter().map(|(question, _)| question.clone()).collect();
    let mut wrong = Vec::new();
    for ((question, expected), found) in asked.iter().zip(compiled.ask(&only)) {
        let Candidate { what, level, .. } = &candidates[question.program];
        let is_same = |expected: &CAnswer| match question.function {
            CAsked::Gradient => found.status == 0 && found.adjoints == expected.adjoints,
            // Unchecked code doesn't count discarded bits.
            _ if !level.is_checked() => {
                let counts = [expected.counts[0], 0, expected.counts[2]];
                found == CAnswer { counts, ..expected.clone() }
            }
            _ => found == *expected,
        };
        let is_right = match expected {
            Expected::Same(expected) => is_same(expected),
            // Unchecked code may miss a failure.
            Expected::Status => found.status != 0 || !level.is_checked(),
            Expected::Warned(expected) => found.status != 0 || is_same(expected),
        };
        if !is_right {
            wrong.push(format!(
                "{what}, {:?}:\n  found {found:x?}\n  expected {expected:x?}",
                question.function
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        asked.len(),
        wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    asked.len()
}

/// Returns the programs that have a C text, and the errors of the others.
fn candidates(
    texts: impl Iterator<Item = (String, Arc<Program>)>,
) -> (Vec<Candidate>, Vec<(String, NoText)>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (what, program) in texts {
        match Candidate::of(&what, program, found.len()) {
            Ok(candidate) => found.push(candidate),
            Err(error) => refused.push((what, error)),
        }
    }
    (found, refused)
}

#[test]
fn shipped_programs_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm"));
    let programs = texts.filter_map(|path| {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(path).unwrap(), &Disk).module.unwrap();
        let short = path.file_stem().unwrap().to_string_lossy().into_owned();
        Some((short, Arc::new(Program::new(module, 0).ok()?)))
    });
    let (candidates, refused) = candidates(programs);
    for (what, error) in &refused {
        println!("{what}: {error}");
    }
    assert!(candidates.len() > 20, "only {} programs have a text", candidates.len());
    // Only a few texts are compiled with the options that users choose, because that takes several times as long.
    let (few, most) = candidates.split_at(10);
    assert!(compare(few, "-O3") > 15);
    assert!(compare(most, "-O1") > 60);
}

#[test]
fn every_row_agrees() {
    let texts = specimens::all()
        .into_iter()
        .flat_map(|specimen| specimen.texts.into_iter().map(move |text| (specimen.row.clone(), text)));
    let corners = corners::all().into_iter().map(|(what, text)| (what.to_owned(), text));
    let programs = texts.chain(corners).filter_map(|(what, text)| {
        let subject = Subject::new(&text).ok()?;
        subject.tape.is_empty().then_some((what, subject.program))
    });
    let (candidates, refused) = candidates(programs);
    for (what, error) in &refused {
        println!("{what}: {error}");
    }
    assert!(compare(&candidates, "-O1") > 500);
}

/// Tests programs with edge cases for which careless C code has undefined behaviour.
#[test]
fn edges_of_the_rules_are_defined_in_c() {
    let options = ["-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"];
    let Some(compiler) = compiler() else { return };
    if !links(&compiler, &options) {
        println!("NOT TRIED: {compiler} has no sanitizers");
        return;
    }
    let corners = corners::all().into_iter().filter_map(|(what, text)| {
        let subject = Subject::new(&text).ok()?;
        subject.tape.is_empty().then_some((what.to_owned(), subject.program))
    });
    let rows = specimens::all().into_iter();
    let rows = rows.flat_map(|specimen| {
        let texts = specimen.texts.into_iter().step_by(4).map(move |text| (specimen.row.clone(), text));
        texts.filter_map(|(what, text)| Some((what, Subject::new(&text).ok()?.program)))
    });
    let (candidates, _) = candidates(corners.chain(rows));
    assert!(compare_by(&compiler, &candidates, &options) > 100);
}

/// Programs with sums that overflow. Each run must return a status, although an overflow may prolong a loop, and sums
/// may be checked only at the end.
const TOO_LARGE: [&str; 4] = [
    ".inout a: real, b: real, n\nadd b, 1e300\nfrom n == 0\n add a, b * 1e7\n add n, 1\nuntil a < 0.0\n",
    ".inout x[3]: real, y: real\nadd y, 1e307\nfor t in 0..50\n for i in 0..3\n  add x[i], y\n rof\nrof\n",
    ".inout x[3]: real, y: real, n\nadd y, 1e307\nfrom n == 0\n for i in 0..3\n  add x[i], y\n rof\n add n, 1\n\
     until x[1] < 0.0\n",
    ".inout x[3]: real, y[3]: real, s: real\nfor i in 0..3\n add y[i], 1e200\nrof\nfor t in 0..2\n for i in 0..3\n\
     \x20 add s, x[i] * y[i]\n  add x[i], y[(i + 1) % 3] * y[i]\n rof\nrof\n",
];

#[test]
fn sums_that_are_too_large_are_reported() {
    let Some(compiler) = compiler() else { return };
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        let candidates: Vec<Candidate> = (0..)
            .zip(TOO_LARGE)
            .map(|(n, text)| Candidate::at(level, text, Subject::new(text).unwrap().program, n).unwrap())
            .collect();
        let programs: Vec<_> = candidates.iter().map(|c| (&*c.program, &c.text, c.has_loss())).collect();
        let asked: Vec<CQuestion> = (0..)
            .zip(&candidates)
            .map(|(n, candidate)| {
                let mut machine = Machine::at_begin(candidate.program.clone()).unwrap();
                let question = CQuestion::of(n, CAsked::There, machine.state());
                let end = travel(&mut machine, Travel::Forward, MOST_STEPS);
                assert!(matches!(end, End::Trap(_)), "{}", candidate.what);
                question
            })
            .collect();
        let answers = CompiledPrograms::new(&compiler, &["-O1"], &programs).ask(&asked);
        for (candidate, answer) in candidates.iter().zip(answers) {
            assert_eq!(answer.status, NOT_FINITE, "{}", candidate.what);
        }
    }
}

/// Bounds checks of loop counters are hoisted before the loop. If the loop always executes its first iteration, the
/// hoisted check covers the first index, whatever the bound of the loop is.
#[test]
fn hoisted_bounds_checks_fail_like_iterations() {
    let loops = (0..8).map(|n| {
        let text = format!(
            ".inout x[6]: real, y: real, n\nadd n, {n}\nlocal i = 0\nfrom i == 0\n add y, x[i] + 1.0\n add i, 1\nuntil i >= n\n\
             delocal i = max(n, 1)\nfor i in 0..n\n add x[i], 1.0\nrof\n"
        );
        let program = Subject::new(&text).unwrap().program;
        (text, program)
    });
    let (candidates, refused) = candidates(loops);
    assert!(refused.is_empty());
    // Both directions are compared, except for the run that exceeds its array.
    assert!(compare(&candidates, "-O1") >= 8 + 7);
}

/// The number of the status `NOT_FINITE`.
const NOT_FINITE: i64 = 4;

#[test]
fn random_programs_agree() {
    // Stacks, tapes and mode switches have no C text. So three of four programs have no mode switches. One of these
    // three has no procedures either.
    let subjects = (0..6000).map(|seed| {
        let profile = Profile::of_seed(seed);
        let plain = Profile { gradient: false, ..profile.clone() };
        let alone = Profile { procedures: 0, ..plain.clone() };
        let profile = match seed % 4 {
            0 => &profile,
            1 | 3 => &plain,
            _ => &alone,
        };
        (seed, program(seed, profile))
    });
    let programs = subjects.filter_map(|(seed, text)| {
        let subject = Subject::new(&text).ok()?;
        Some((format!("seed {seed}"), subject.program))
    });
    let mut found = Vec::new();
    for (what, program) in programs {
        if found.len() == 100 {
            break;
        }
        if let Ok(candidate) = Candidate::of(&what, program, found.len()) {
            found.push(candidate);
        }
    }
    assert_eq!(found.len(), 100);
    assert!(compare(&found, "-O1") > 150);
}
