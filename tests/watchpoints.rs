//! Watchpoints with a condition stop at the same writes in both directions. Random programs run to their ends and
//! back, and stops are compared.

use reviver_assembler::files::Disk;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::outcome::{HitKind, Motion, Print, Reason, Touch};
use reviver_debugger::points::WatchMode;
use reviver_debugger::session::{PointOptions, Session};
use reviver_debugger::timeline::TimelineLimits;
use reviver_isa::module::Shape;
use reviver_lab::campaign::{programs, subject};
use reviver_vm::Travel;

/// Number of programs outside of campaigns.
const PROGRAMS: u64 = 150;

/// Maximum number of steps of a program.
const LONGEST: u64 = 1_000;

/// Conditions to watch for; `CELL` and `OTHER` are replaced by cells of the program.
const CONDITIONS: [&str; 7] = [
    "$old < $new",
    "$new == CELL",
    "CELL > 0 or OTHER == 0",
    "$old == OTHER",
    "$step % 3 == 1",
    "$depth > 0 and $old != $new",
    "$new - $old != $position",
];

/// Stop at a write: its step, both values, and the error of the condition, if any.
type Written = (i64, String, String, Option<String>);

/// Continues in one direction until nothing stops the session any more. Returns the stopping writes in program order.
fn stops(session: &mut Session, travel: Travel) -> Vec<Written> {
    let mut found = Vec::new();
    loop {
        let motion = session.resume(travel);
        let Reason::Points(hits) = &motion.reason else { break };
        for hit in hits {
            let HitKind::Watch { touches, .. } = &hit.what else { panic!("nothing else was set: {hit:?}") };
            for Touch { step, before, after, .. } in touches {
                found.push((*step, before.clone(), after.clone(), hit.condition_error.clone()));
            }
        }
    }
    in_order(found, travel)
}

/// Returns the lines that a run to the other end has logged, in program order.
fn logged(motion: &Motion, travel: Travel) -> Vec<String> {
    assert_eq!(motion.printed.left_out(), 0, "there is room for all");
    let lines = motion.printed.lines().iter().filter_map(|print| match print {
        Print::Logged(line) => Some(line.clone()),
        Print::Shown { .. } => None,
    });
    in_order(lines.collect(), travel)
}

fn in_order<T>(mut found: Vec<T>, travel: Travel) -> Vec<T> {
    if travel == Travel::Backward {
        found.reverse();
    }
    found
}

/// Returns a session at the start of a random program, with a large or small history, and the names of the program's
/// cells.
fn session(seed: u64) -> (Session, Vec<String>) {
    let random = subject(seed);
    let opened = OpenedProgram::open("random.rasm", random.text.clone().into_bytes(), &Disk).unwrap();
    let plenty = TimelineLimits::default();
    let (spacing, short) = (1 + seed % 50, seed % 7 * 5);
    let (most, whole) = (128, false);
    let tight = TimelineLimits { history: 600, checkpoints: 0, most, spacing, short, whole, taped: false };
    let limits = if seed.is_multiple_of(2) { plenty } else { tight };
    let globals = opened.program.module().globals.iter();
    let names =
        globals.filter(|global| global.shape.cells() == 1).map(|global| global.name.clone()).collect();
    let session = Session::new(opened, random.machine(false).into_state(), limits).unwrap();
    (session.with_most_steps(LONGEST), names)
}

#[test]
fn both_implementations_stop_at_the_same_writes() {
    let (mut compared, mut passed) = (0, 0);
    for seed in 0..programs(PROGRAMS) {
        let (mut session, names) = session(seed);
        for (n, cell) in names.iter().enumerate() {
            let condition = CONDITIONS[(seed as usize + n) % CONDITIONS.len()];
            let other = &names[(n + 1) % names.len()];
            let condition = condition.replace("CELL", cell).replace("OTHER", other);
            let watch = if n % 2 == 0 { WatchMode::Change } else { WatchMode::Write };
            let options = PointOptions { condition: Some(condition.clone()), ..PointOptions::default() };
            let id = session.watch(cell, watch, &options).unwrap().id;
            let there = stops(&mut session, Travel::Forward);
            let back = stops(&mut session, Travel::Backward);
            assert_eq!(there, back, "seed {seed}: watch {cell} if {condition}");
            compared += there.len();
            session.condition(id, None).unwrap();
            passed += stops(&mut session, Travel::Forward).len() - there.len();
            session.goto_start();
            session.delete(id).unwrap();
        }
    }
    assert!(compared > 500 && passed > 500, "{compared} writes were compared, {passed} were passed");
}

/// Watched expressions other than cells: slices of `ARRAY`, of which every element is compared, and computations.
const WATCHED: [&str; 6] = [
    "ARRAY[LOW..HIGH]",
    "ARRAY[..HIGH step 2]",
    "CELL + OTHER",
    "CELL > OTHER",
    "ARRAY[CELL] + 0",
    "7 / CELL",
];

/// Returns the steps at which the values of texts change, by checking every step.
fn changes(session: &mut Session, texts: &[String]) -> Vec<i64> {
    session.goto_start();
    let look = |session: &mut Session| {
        session.select_frame(session.state().calls.len()).unwrap();
        texts.iter().map(|text| session.evaluate(text).ok().map(|(_, text)| text)).collect::<Vec<_>>()
    };
    let (mut found, mut before) = (Vec::new(), look(session));
    loop {
        let here = session.step_number();
        session.step(Travel::Forward, 1);
        if session.step_number() == here {
            return found;
        }
        let now = look(session);
        if now != before {
            found.push(here);
        }
        before = now;
    }
}

/// Returns the steps at which a watchpoint stops on the way to the other end, each once and in program order.
fn stopped(session: &mut Session, travel: Travel) -> Vec<i64> {
    let mut steps: Vec<i64> = stops(session, travel).into_iter().map(|(step, ..)| step).collect();
    steps.dedup();
    steps
}

#[test]
fn watched_slices_and_expressions_stop_at_every_change() {
    let mut compared = [0; WATCHED.len()];
    for seed in 0..programs(PROGRAMS) {
        let (mut session, names) = session(seed);
        let globals = &session.program().module().globals;
        let vectors = globals.iter().filter_map(|global| match global.shape {
            Shape::Vector(length) if length > 1 => Some((global.name.clone(), length)),
            _ => None,
        });
        let vectors: Vec<(String, u32)> = vectors.collect();
        let (Some((array, length)), [cell, .., other]) =
            (vectors.get(seed as usize % vectors.len().max(1)), &names[..])
        else {
            continue;
        };
        let (low, high) = (seed as u32 % (length - 1), length - seed as u32 / 7 % 2);
        for (watched, compared) in WATCHED.iter().zip(&mut compared) {
            let named = watched.replace("ARRAY", array).replace("CELL", cell).replace("OTHER", other);
            let text = named.replace("LOW", &low.to_string()).replace("HIGH", &high.to_string());
            let elements: Vec<u32> = match watched.contains("..") {
                true if watched.contains("step") => (0..high).step_by(2).collect(),
                true => (low..high).collect(),
                false => Vec::new(),
            };
            let mut texts: Vec<String> = elements.iter().map(|n| format!("{array}[{n}]")).collect();
            if texts.is_empty() {
                texts.push(text.clone());
            }
            session.goto_start();
            session.select_frame(session.state().calls.len()).unwrap();
            let id = match session.watch(&text, WatchMode::Change, &PointOptions::default()) {
                Ok(point) => point.id,
                Err(error) => {
                    // A real can't be an index.
                    assert!(error.to_string().contains("takes integers only"), "{text}: {error}");
                    continue;
                }
            };
            session.enable(id, false).unwrap();
            let expected = changes(&mut session, &texts);
            session.goto_start();
            session.enable(id, true).unwrap();
            assert_eq!(stopped(&mut session, Travel::Forward), expected, "seed {seed}: watch {text}");
            assert_eq!(stopped(&mut session, Travel::Backward), expected, "seed {seed}: watch {text}, back");
            *compared += expected.len();
            session.delete(id).unwrap();
        }
    }
    assert!(compared.iter().all(|count| *count > 20), "{compared:?}");
}

#[test]
fn both_implementations_log_the_same() {
    let mut compared = 0;
    for seed in 0..programs(PROGRAMS) {
        let (mut session, names) = session(seed);
        for cell in &names {
            let log = Some(format!("{{$step}}: {{$old}} -> {{$new}}, {{{cell}}}"));
            let options = PointOptions { log, ..PointOptions::default() };
            let id = session.watch(cell, WatchMode::Change, &options).unwrap().id;
            let there = logged(&session.resume(Travel::Forward), Travel::Forward);
            let back = logged(&session.resume(Travel::Backward), Travel::Backward);
            assert_eq!(there, back, "seed {seed}: {cell}");
            compared += there.len();
            session.delete(id).unwrap();
        }
    }
    assert!(compared > 500, "{compared} messages were compared");
}
