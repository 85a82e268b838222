//! Executes random sequences of commands and compares the session with a model after each command.
//!
//! The model is a list of all states of a run, bit for bit. The model finds the destination of a command by
//! searching this list, so it needs no histories, checkpoints or stops.

mod support;

use std::sync::Arc;

use reviver_compile::evaluate::Evaluator;
use reviver_compile::tiered::TieredRuntime;
use reviver_debugger::format::PrintFormat;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::outcome::{Motion, OriginCause, Reason};
use reviver_debugger::points::{BreakPlace, WatchMode};
use reviver_debugger::session::{PointOptions, Session, TimePointName};
use reviver_debugger::timeline::{LongRuns, TimelineLimits};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Shape};
use reviver_isa::update::Update;
use reviver_vm::state::{Part, TapeEntry};
use reviver_vm::values::Value;
use reviver_vm::{Machine, State, Stop, Travel};

/// Number of command sequences, of all tests together.
const SEQUENCES: u64 = 2_000;
/// Number of commands in each sequence.
const COMMANDS: usize = 25;

/// A random number generator (xorshift, Marsaglia 2003) that produces the same sequence in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

/// A program with all its states from start to end, and the cells that can be watched.
struct Model {
    subject: OpenedProgram,
    states: Vec<State>,
    cells: Vec<String>,
    /// Arrays and their lengths.
    arrays: Vec<(String, usize)>,
    /// Step number of the first state on the timeline.
    first: i64,
    /// Number of the branch that the model describes.
    branch: usize,
}

impl Model {
    fn new(text: &str, tape: &[i64]) -> Model {
        let subject = support::subject(text);
        let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
        machine.state_mut().input = tape.iter().rev().map(|&v| TapeEntry::Int(v)).collect();
        let mut states = vec![machine.state().try_clone().unwrap()];
        while machine.step(Travel::Forward).is_ok_and(|stop| stop != Stop::Bound) {
            states.push(machine.state().try_clone().unwrap());
        }
        let globals = &subject.program.module().globals;
        let length = |global: &Global| match global.shape {
            Shape::Scalar => None,
            shape => Some((global.name.clone(), shape.cells() as usize)),
        };
        let arrays: Vec<(String, usize)> = globals.iter().filter_map(length).collect();
        let scalars = globals.iter().filter(|global| global.shape == Shape::Scalar);
        let mut cells: Vec<String> = scalars.map(|global| global.name.clone()).collect();
        cells.extend(arrays.iter().map(|(name, length)| format!("{name}[{}]", length - 1)));
        Model { cells, arrays, subject, states, first: 0, branch: 0 }
    }

    /// Creates the model of the branch that a session has just begun by an edit of adjoints. The model contains
    /// states in both directions from the edit, and the adjoints can be watched, too. `machine` is at the step of
    /// the edit, and has recorded the residues that running backward needs.
    fn of_line(subject: &OpenedProgram, machine: &mut Machine, session: &Session, reals: &[String]) -> Model {
        let State { step, rule_steps, .. } = *machine.state();
        *machine.state_mut() = State { step, rule_steps, ..session.state().try_clone().unwrap() };
        let mut machine = machine.try_clone().unwrap();
        let mut states = vec![machine.state().try_clone().unwrap()];
        while machine.step(Travel::Backward).is_ok_and(|stop| stop != Stop::Bound) {
            states.push(machine.state().try_clone().unwrap());
        }
        // The steps of a branch are counted from its origin.
        for state in &mut states {
            (state.step, state.rule_steps) = (state.step - step, state.rule_steps - rule_steps);
        }
        states.reverse();
        let first = session.step_number() - (states.len() as i64 - 1);
        machine = Machine::resume(subject.program.clone(), session.state().try_clone().unwrap(), None);
        while machine.step(Travel::Forward).is_ok_and(|stop| stop != Stop::Bound) {
            states.push(machine.state().try_clone().unwrap());
        }
        let cells = reals.iter().flat_map(|name| [name.clone(), format!("{name}'")]).collect();
        let arrays = Vec::new();
        Model { subject: subject.clone(), states, cells, arrays, first, branch: session.time_point().branch }
    }

    /// Creates a session at the start of the program. In a quarter of the sessions, an engine with compiled
    /// functions executes all runs that it can.
    fn session(&self, seed: u64) -> Session {
        let start = self.states[0].try_clone().unwrap();
        let session = Session::new(self.subject.clone(), start, limits(seed)).unwrap();
        match seed % 4 {
            1 => {
                let runtime = TieredRuntime::new(&self.subject.program, Evaluator);
                session.with_long_runs(&LongRuns::eager(Arc::new(runtime)))
            }
            _ => session,
        }
    }

    fn number(&self, cell: &str, step: usize) -> f64 {
        self.subject.program.approximate(self.value(cell, step))
    }

    /// Returns the value of a scalar, of an element, or of a scalar's adjoint (`x'`), at a step.
    fn value(&self, cell: &str, step: usize) -> Value {
        let (name, element) = cell.trim_end_matches(['\'', ']']).split_once('[').unwrap_or((cell, "0"));
        let (global, _) = self.subject.program.global(name.trim_end_matches('\'')).unwrap();
        let element: usize = element.trim_end_matches(']').parse().unwrap();
        if cell.ends_with('\'') {
            let adjoints = self.states[step].adjoints.as_ref().unwrap();
            return Value::Real(adjoints.cells[self.subject.program.cells(global).start]);
        }
        self.subject.program.read(&self.states[step], global)[element]
    }

    fn last(&self) -> usize {
        self.states.len() - 1
    }

    /// Returns the index of the instruction that a forward step from a state executes. `step` is the index of the
    /// state.
    fn next(&self, step: usize) -> u32 {
        let state = &self.states[step];
        if state.inverted { state.position.wrapping_sub(1) } else { state.position }
    }

    /// Returns a random instruction at which a breakpoint stops runs in both directions.
    fn place(&self, dice: &mut Dice) -> Option<u32> {
        use reviver_isa::Update::{Br, Enter, Exit, From};
        let at = self.next(dice.below(self.states.len()));
        let instruction = self.subject.program.module().code.get(at as usize)?;
        (!matches!(instruction.update, Br | From | Enter | Exit)).then_some(at)
    }
}

/// The points and fences of the model.
#[derive(Default)]
struct Points {
    points: Vec<Point>,
    fences: Vec<usize>,
}

/// A breakpoint or a watchpoint.
struct Point {
    id: u32,
    trigger: Trigger,
    condition: Option<Condition>,
    /// Number of further hits that don't stop a run.
    ignored: u64,
}

enum Trigger {
    Break(u32),
    Watch(Watched),
}

/// The cells that one watchpoint watches: a cell, an array, a slice, or a sum of two cells.
struct Watched {
    text: String,
    cells: Vec<String>,
    /// True if the sum of the cells is watched, false if each cell is watched separately.
    is_sum: bool,
}

impl Watched {
    fn cell(cell: &str) -> Watched {
        Watched { text: cell.to_owned(), cells: vec![cell.to_owned()], is_sum: false }
    }

    /// Returns a random cell, array, slice, or sum of two cells.
    fn random(model: &Model, dice: &mut Dice) -> Option<Watched> {
        let any = |dice: &mut Dice| model.cells.get(dice.below(model.cells.len())).cloned();
        match (dice.below(4), model.arrays.get(dice.below(model.arrays.len()))) {
            (0, _) => {
                let cells = vec![any(dice)?, any(dice)?];
                Some(Watched { text: cells.join(" + "), cells, is_sum: true })
            }
            (1 | 2, Some((name, length))) => {
                let from = dice.below(*length);
                let to = from + 1 + dice.below(length - from);
                let whole = (from, to) == (0, *length);
                let text = if whole { name.clone() } else { format!("{name}[{from}..{to}]") };
                let cells = (from..to).map(|n| format!("{name}[{n}]")).collect();
                Some(Watched { text, cells, is_sum: false })
            }
            _ => any(dice).map(|cell| Watched::cell(&cell)),
        }
    }

    fn differs(&self, model: &Model, from: usize, to: usize) -> bool {
        match self.is_sum {
            true => {
                let bits = |step| self.values(model, step).first().map(|sum| sum.to_bits());
                bits(from) != bits(to)
            }
            false => self.cells.iter().any(|cell| model.value(cell, from) != model.value(cell, to)),
        }
    }

    /// Returns the values that [`Condition::Grows`] compares: the sum, or the value of each cell.
    fn values(&self, model: &Model, step: usize) -> Vec<f64> {
        let number = |cell: &String| model.number(cell, step);
        match self.is_sum {
            true => self.cells.iter().map(number).reduce(|a, b| a + b).into_iter().collect(),
            false => self.cells.iter().map(number).collect(),
        }
    }
}

/// Condition of a point. The condition of a watchpoint is evaluated in the state after the write. In a run in either
/// direction, *after* refers to the order of the program.
#[derive(Clone, Copy)]
enum Condition {
    /// True at steps with this remainder modulo 3.
    Rest(i64),
    /// True if the value after the write is greater than the value before it, in the order of the program.
    Grows,
    /// True if the cell equals `$new`. This condition holds after every write.
    Written,
}

impl Condition {
    fn random(dice: &mut Dice, is_watch: bool) -> Option<Condition> {
        match dice.below(if is_watch { 5 } else { 3 }) {
            0 => Some(Condition::Rest(dice.below(3) as i64)),
            3 => Some(Condition::Grows),
            4 => Some(Condition::Written),
            _ => None,
        }
    }

    fn text(self, cell: &str) -> String {
        match self {
            Condition::Rest(rest) => format!("($step % 3 + 3) % 3 == {rest}"),
            Condition::Grows => "$old < $new".into(),
            Condition::Written => format!("({cell}) == $new"),
        }
    }

    /// Returns true if the condition holds in the state with index `at`. For a watchpoint, `at` is the index of the
    /// state after the write.
    fn holds(self, model: &Model, trigger: &Trigger, at: usize) -> bool {
        match (self, trigger) {
            (Condition::Rest(rest), _) => (model.first + at as i64).rem_euclid(3) == rest,
            (Condition::Grows, Trigger::Watch(watched)) => {
                let (before, after) = (watched.values(model, at - 1), watched.values(model, at));
                before.iter().zip(after).any(|(before, after)| *before < after)
            }
            (Condition::Grows, Trigger::Break(_)) => false,
            (Condition::Written, _) => true,
        }
    }
}

impl Points {
    /// Returns true if a movement from a state to the adjacent state stops at the adjacent state. Also counts the hits
    /// of points.
    fn stop(&mut self, model: &Model, from: usize, to: usize) -> bool {
        let next = model.next(to);
        let mut stops = self.fences.contains(&to);
        for point in &mut self.points {
            let is_hit = match &point.trigger {
                Trigger::Break(at) => *at == next,
                Trigger::Watch(watched) => watched.differs(model, from, to),
            };
            let at = match &point.trigger {
                Trigger::Break(_) => to,
                Trigger::Watch(_) => from.max(to),
            };
            let holds = |condition: Condition| condition.holds(model, &point.trigger, at);
            if !is_hit || !point.condition.is_none_or(holds) {
                continue;
            }
            stops |= point.ignored == 0;
            point.ignored = point.ignored.saturating_sub(1);
        }
        stops
    }
}

/// Moves through the states of the model. `stays` is called for each state that is reached, and ends the
/// movement if it returns true.
fn walk(
    model: &Model,
    mut here: usize,
    travel: Travel,
    mut stays: impl FnMut(usize, usize) -> bool,
) -> usize {
    loop {
        let next = usize::try_from(here as i64 + travel.sign()).ok().filter(|next| *next <= model.last());
        let Some(next) = next else { return here };
        if stays(here, next) {
            return next;
        }
        here = next;
    }
}

struct Play<'a> {
    model: &'a Model,
    session: Session,
    here: usize,
    points: Points,
    trail: Vec<usize>,
    undone: Vec<usize>,
    marks: Vec<usize>,
    /// True if undo leads to time points that aren't in the model.
    branched: bool,
    log: Vec<String>,
}

impl<'a> Play<'a> {
    fn new(model: &'a Model, session: Session, here: usize, log: Vec<String>) -> Play<'a> {
        Play {
            model,
            session,
            here,
            points: Points::default(),
            trail: Vec::new(),
            undone: Vec::new(),
            marks: Vec::new(),
            branched: false,
            log,
        }
    }

    fn arrive(&mut self, to: usize) {
        if to != self.here {
            self.trail.push(self.here);
            self.undone.clear();
        }
        self.here = to;
    }

    fn moved(&mut self, what: String, to: usize, motion: Option<Motion>) {
        self.log.push(what);
        self.arrive(to);
        if let Some(motion) = motion {
            let is_bound =
                matches!(motion.reason, Reason::HistoryBegin | Reason::HistoryEnd | Reason::Trap(_));
            if is_bound {
                assert!(to == 0 || to == self.model.last(), "{}", self.log.join("\n"));
            }
        }
    }

    fn step(&mut self, travel: Travel, count: usize) {
        let mut left = count;
        let (model, points) = (self.model, &mut self.points);
        let to = walk(model, self.here, travel, |from, to| {
            left -= 1;
            points.stop(model, from, to) || left == 0
        });
        let motion = self.session.step(travel, count as u64);
        self.moved(format!("step {travel:?} {count}"), to, Some(motion));
    }

    fn resume(&mut self, travel: Travel) {
        let (model, points) = (self.model, &mut self.points);
        let to = walk(model, self.here, travel, |from, to| points.stop(model, from, to));
        let motion = self.session.resume(travel);
        self.moved(format!("continue {travel:?}"), to, Some(motion));
    }

    fn next(&mut self, travel: Travel) {
        let (model, points) = (self.model, &mut self.points);
        let depth = |step: usize| model.states[step].calls.len();
        let first = depth(self.here);
        let to =
            walk(model, self.here, travel, |from, to| points.stop(model, from, to) || depth(to) <= first);
        let motion = self.session.next(travel, 1);
        self.moved(format!("next {travel:?}"), to, Some(motion));
    }

    /// Runs to the end of an open call. `outward` is the number of levels from the innermost call outward to
    /// this call. If there are fewer open calls, the run goes to the end of the outermost call.
    fn finish(&mut self, travel: Travel, outward: usize) {
        let (model, points) = (self.model, &mut self.points);
        let depth = |step: usize| model.states[step].calls.len();
        let innermost = depth(self.here);
        let first = innermost.saturating_sub(outward);
        self.session.select_frame(0).unwrap();
        assert_eq!(self.session.up(outward).is_ok(), innermost > 0);
        assert_eq!(self.session.depth(), first);
        let Ok(motion) = self.session.finish(travel) else {
            assert_eq!(first, 0);
            return;
        };
        let to = walk(model, self.here, travel, |from, to| points.stop(model, from, to) || depth(to) < first);
        assert_eq!(self.session.depth(), self.session.state().calls.len(), "a motion selects the innermost");
        self.moved(format!("up {outward}, finish {travel:?}"), to, Some(motion));
    }

    fn goto(&mut self, step: usize) {
        let motion = self.session.goto(self.model.first + step as i64);
        self.moved(format!("goto {step}"), step.min(self.model.last()), Some(motion));
    }

    /// Runs to an instruction; points can stop the run.
    fn until(&mut self, travel: Travel, dice: &mut Dice) {
        let Some(at) = self.model.place(dice) else { return };
        let (model, points) = (self.model, &mut self.points);
        let to =
            walk(model, self.here, travel, |from, to| points.stop(model, from, to) || model.next(to) == at);
        let (places, _) = self.session.places(&format!("*{at}")).unwrap();
        let motion = self.session.run_to(&places, travel);
        self.moved(format!("until *{at} {travel:?}"), to, Some(motion));
    }

    fn set_point(&mut self, dice: &mut Dice) {
        let is_watch = dice.below(2) == 1;
        let condition = Condition::random(dice, is_watch);
        let options = |cell: &str| PointOptions {
            condition: condition.map(|condition| condition.text(cell)),
            ..PointOptions::default()
        };
        let (trigger, id) = if is_watch {
            let Some(watched) = Watched::random(self.model, dice) else { return };
            // If several cells are watched, a condition that names one of them would be wrong for the others. So
            // the condition uses `$new`.
            let text = if watched.cells.len() > 1 && !watched.is_sum { "$new" } else { &watched.text };
            let id = self.session.watch(&watched.text, WatchMode::Change, &options(text)).unwrap().id;
            (Trigger::Watch(watched), id)
        } else {
            let Some(at) = self.model.place(dice) else { return };
            (Trigger::Break(at), self.session.break_at(&format!("*{at}"), &options("")).unwrap().id)
        };
        let ignored = if dice.below(3) == 0 { dice.below(5) as u64 } else { 0 };
        let point = self.session.ignore(id, ignored).unwrap();
        let reported = point.condition.as_ref().map(|condition| condition.text().to_owned());
        self.log.push(format!("point {}, {reported:?}, ignores {ignored}", point.text));
        self.points.points.push(Point { id, trigger, condition, ignored });
    }

    /// Sets a fence at the current step. If there is one already, removes it.
    fn fence(&mut self) {
        self.log.push(format!("fence at {}", self.here));
        match self.points.fences.iter().position(|fence| *fence == self.here) {
            Some(n) => {
                self.session.remove_fence().unwrap();
                self.points.fences.remove(n);
            }
            None => {
                self.session.fence();
                self.points.fences.push(self.here);
            }
        }
    }

    /// Travels to the nearest write that changes a cell, optionally with a condition. Fences stop the
    /// travel, points don't.
    fn go_to_write(&mut self, travel: Travel, dice: &mut Dice) {
        let cells = &self.model.cells;
        let Some(cell) = cells.get(dice.below(cells.len())).cloned() else { return };
        let condition = Condition::random(dice, true);
        let model = self.model;
        let (fences, trigger) = (&self.points.fences, Trigger::Watch(Watched::cell(&cell)));
        let mut is_found = false;
        let to = walk(model, self.here, travel, |from, to| {
            let is_change = model.value(&cell, from) != model.value(&cell, to);
            let holds = condition.is_none_or(|condition| condition.holds(model, &trigger, from.max(to)));
            is_found = fences.contains(&to) || is_change && holds;
            is_found
        });
        // If there is no such write, the session doesn't move.
        let to = if is_found { to } else { self.here };
        let more = condition.map_or(String::new(), |condition| format!(" and {}", condition.text(&cell)));
        let text = format!("$old != $new{more}");
        let motion = match travel {
            Travel::Forward => self.session.next_write(&cell, Some(&text)),
            Travel::Backward => self.session.last_write(&cell, Some(&text)),
        };
        self.moved(format!("{travel:?} to a write of {cell} if {text}"), to, Some(motion.unwrap()));
    }

    /// Checks the history of a cell, which must list every change in the order of the steps. Also checks that `why`
    /// reports the last write.
    fn ask(&mut self, dice: &mut Dice) {
        let values: Vec<&String> = self.model.cells.iter().filter(|cell| !cell.ends_with('\'')).collect();
        let Some(&cell) = values.get(dice.below(values.len())) else { return };
        self.log.push(format!("history {cell}"));
        let changes: Vec<i64> = (0..self.here)
            .filter(|step| self.model.value(cell, *step) != self.model.value(cell, step + 1))
            .map(|step| self.model.first + step as i64)
            .collect();
        let history = self.session.history(cell, usize::MAX - 1).unwrap();
        let reported = history.writes.iter().filter(|write| write.is_changed()).map(|write| write.step);
        assert_eq!(reported.collect::<Vec<_>>(), changes, "{}", self.log.join("\n"));
        let cause = self.session.why(cell, 0).unwrap().remove(0).cause;
        let written = match &cause {
            OriginCause::Written { write, .. } => Some(write.step),
            _ => None,
        };
        let last = history.writes.last().map(|write| write.step);
        assert_eq!(written, last, "{}: {cause:?}", self.log.join("\n"));
        self.ask_on(cell, dice);
    }

    /// Checks the open questions of answers. A session that answers such a question later must give the same answer
    /// as a session at the question's time point. The pages of a history, joined, must be the whole history.
    fn ask_on(&mut self, cell: &str, dice: &mut Dice) {
        let log = self.log.join("\n");
        let whole = self.session.history(cell, usize::MAX - 1).unwrap().writes;
        let mut page = self.session.history(cell, 1 + dice.below(3)).unwrap();
        let mut reported = page.writes.clone();
        while let Some(question) = page.further {
            page = self.session.history_before(&question, 1 + dice.below(3)).unwrap();
            reported.splice(0..0, page.writes.clone());
        }
        assert_eq!(reported, whole, "{}", log);
        let answer = self.session.why(cell, dice.below(3)).unwrap();
        for link in &answer {
            match &link.cause {
                OriginCause::Written { write, .. } => assert_eq!(write.after, link.value, "{}", log),
                OriginCause::Deeper(question) => {
                    let asked = self.session.why_further(link, 1).unwrap();
                    let mut visitor = self.session.try_clone().unwrap();
                    visitor.goto(question.at.step);
                    // The session may be in another frame, in which the name refers to another cell.
                    if let Ok(there) = visitor.why(&link.cell, 1)
                        && there[0].value == asked[0].value
                    {
                        assert_eq!(there[0].cause, asked[0].cause, "{}: {link:?}", log);
                    }
                }
                _ => {}
            }
        }
    }

    /// Checks the table of a cell's values at an instruction. The table begins at the first step that the session has
    /// reached. It has a row for each state in which the instruction is the next one and a condition holds.
    fn trace(&mut self, dice: &mut Dice) {
        let model = self.model;
        let (Some(at), Some(cell)) = (model.place(dice), model.cells.get(dice.below(model.cells.len())))
        else {
            return;
        };
        let rest = dice.below(3) as i64;
        let first = self.session.timeline().branch().extent().0 - model.first;
        let expected: Vec<(i64, String)> = (first as usize..=model.last())
            .filter(|step| model.next(*step) == at && (model.first + *step as i64).rem_euclid(3) != rest)
            .map(|step| (model.first + step as i64, self.session.program().text(model.value(cell, step))))
            .collect();
        let condition = format!("($step % 3 + 3) % 3 != {rest}");
        self.log.push(format!("trace {cell} at *{at} if {condition}"));
        // Inside a call, the name is resolved in the frame of the call.
        let is_plain = expected.iter().all(|(step, _)| {
            model.states.get((step - model.first) as usize).is_some_and(|state| state.calls.is_empty())
        });
        let asked = (PrintFormat::default(), usize::MAX);
        let trace = self.session.trace(&[cell], &format!("*{at}"), Some(&condition), asked).unwrap();
        let reported =
            trace.rows.into_iter().map(|row| (row.at.step, row.values.into_iter().next().unwrap()));
        let reported: Vec<(i64, String)> =
            reported.map(|(step, value)| (step, value.unwrap_or_default())).collect();
        let steps = |rows: &[(i64, String)]| rows.iter().map(|(step, _)| *step).collect::<Vec<_>>();
        assert_eq!(steps(&reported), steps(&expected), "{}", self.log.join("\n"));
        assert!(!is_plain || reported == expected, "{reported:?} {expected:?} {}", self.log.join("\n"));
    }

    /// Checks the execution counts of lines at the current step. The session first counts the steps that it hasn't
    /// counted yet.
    fn counts(&mut self, dice: &mut Dice) {
        if self.model.branch != 0 {
            return;
        }
        self.log.push("counts".into());
        assert!(self.session.count_lines(u64::MAX), "{}", self.log.join("\n"));
        self.compare();
        let program = self.session.program().clone();
        let at = self.model.next(dice.below(self.model.states.len()));
        let line = self.session.listing().line(at);
        let Some(count) = self.session.count_of(line).filter(|_| line.file == 0) else { return };
        let name = self.session.listing().files()[0].name.clone();
        let Ok((places, _)) = self.session.places(&format!("{name}:{}", line.line)) else { return };
        // An execution of a line that begins with a join is counted after the join.
        let is_behind = |place: &BreakPlace| match *place {
            BreakPlace::Entry { at, inverted } => {
                let join = if inverted { Update::Br } else { Update::From };
                program.module().code[at as usize].update == join
            }
            _ => false,
        };
        let comes = |step: &usize| {
            let is_at = |place: &&BreakPlace| place.is_at(&program, &self.model.states[*step]);
            let mut at = places.iter().filter(is_at);
            at.any(|place| if is_behind(place) { *step > 0 } else { *step < self.here })
        };
        let expected = (0..=self.here).filter(comes).count() as u64;
        assert_eq!(count, expected, "line {}: {}", line.line, self.log.join("\n"));
    }

    /// Checks the difference of two states. It consists of exactly the cells with different values, each with
    /// its last write between the two states.
    fn diff(&mut self, dice: &mut Dice) {
        let model = self.model;
        let steps = [dice.below(model.states.len()), dice.below(model.states.len())];
        let (from, to) = (steps[0].min(steps[1]), steps[0].max(steps[1]));
        self.log.push(format!("diff {steps:?}"));
        let [a, b] = steps.map(|step| TimePointName::Step(model.first + step as i64));
        let found = self.session.difference(&a, &b, usize::MAX).unwrap();
        let step = |step: usize| model.first + step as i64;
        assert_eq!((found.from.step, found.to.step), (step(from), step(to)), "{}", self.log.join("\n"));
        for cell in &model.cells {
            let reported = found.cells.iter().find(|reported| reported.cell == *cell);
            let values = [from, to].map(|step| model.value(cell, step));
            let has_adjoints = |step: usize| model.states[step].adjoints.is_some();
            if cell.ends_with('\'') && !(has_adjoints(from) && has_adjoints(to)) {
                continue;
            }
            assert_eq!(reported.is_some(), values[0] != values[1], "{cell}: {}", self.log.join("\n"));
            let Some(reported) = reported else { continue };
            let texts = values.map(|value| self.session.program().text(value));
            assert_eq!(
                [&reported.before, &reported.after],
                [&texts[0], &texts[1]],
                "{}",
                self.log.join("\n")
            );
            let writer = reported.writer.as_ref().map(|write| (write.step - model.first) as usize);
            let is_last = |writer: usize| {
                (from..to).contains(&writer)
                    && (cell.ends_with('\'') || model.value(cell, writer + 1) == values[1])
            };
            assert!(writer.is_some_and(is_last), "{cell}, {writer:?}: {}", self.log.join("\n"));
        }
    }

    fn turn(&mut self, dice: &mut Dice) {
        let travel = if dice.below(2) == 0 { Travel::Forward } else { Travel::Backward };
        match dice.below(23) {
            0..=2 => self.step(travel, 1 + dice.below(3)),
            3 => self.step(travel, 1 + dice.below(self.model.states.len())),
            4 | 5 => self.resume(travel),
            6 => self.next(travel),
            7 => self.finish(travel, dice.below(3)),
            8 => self.goto(dice.below(self.model.states.len() + 2)),
            9 => {
                let motion = if dice.below(2) == 0 {
                    let motion = self.session.goto_start();
                    (0, "goto start", motion)
                } else {
                    (self.model.last(), "goto end", self.session.goto_end())
                };
                self.moved(motion.1.into(), motion.0, Some(motion.2));
            }
            10 => self.set_point(dice),
            11 => {
                let ids: Vec<u32> = self.session.points().iter().map(|point| point.id).collect();
                ids.into_iter().for_each(|id| self.session.delete(id).unwrap());
                self.points.points.clear();
                self.log.push("delete".into());
            }
            12 => {
                self.session.mark(&format!("m{}", self.marks.len()));
                self.marks.push(self.here);
                if dice.below(2) == 0 {
                    let mark = dice.below(self.marks.len());
                    let motion = self.session.goto_mark(&format!("m{mark}")).unwrap();
                    self.moved(format!("goto mark {mark}"), self.marks[mark], Some(motion));
                }
            }
            13 => self.undo(),
            14 | 15 => self.until(travel, dice),
            16 => self.fence(),
            17 => self.ask(dice),
            18 => self.go_to_write(travel, dice),
            19 => self.trace(dice),
            20 => self.diff(dice),
            21 => self.counts(dice),
            _ => self.branch(dice, travel),
        }
        self.compare();
        self.peek(travel);
        self.compare();
    }

    /// Checks that peeking at an adjacent state changes nothing in the session.
    fn peek(&mut self, travel: Travel) {
        self.log.push(format!("peek {travel:?}"));
        let extent = self.session.timeline().branch().extent();
        let seen = self.session.peek(travel, |state, _| state.try_clone().unwrap());
        let neighbour = usize::try_from(self.here as i64 + travel.sign()).ok();
        match neighbour.and_then(|step| self.model.states.get(step)) {
            Some(expected) => same(&seen.unwrap(), expected, &self.log),
            None => assert!(seen.is_none(), "{}", self.log.join("\n")),
        }
        assert_eq!(self.session.timeline().branch().extent(), extent, "{}", self.log.join("\n"));
    }

    fn undo(&mut self) {
        if self.branched {
            return;
        }
        if let Some(to) = self.trail.pop() {
            self.session.undo().unwrap();
            self.undone.push(self.here);
            self.here = to;
            self.log.push("undo".into());
        } else {
            assert!(self.session.undo().is_err());
        }
        if let Some(to) = self.undone.last().copied().filter(|to| to % 2 == 0) {
            self.session.redo().unwrap();
            self.undone.pop();
            self.trail.push(self.here);
            self.here = to;
            self.log.push("redo".into());
        }
    }

    /// Edits a cell, moves forward and back in the new branch, and returns to the parent branch.
    fn branch(&mut self, dice: &mut Dice, travel: Travel) {
        let Some(cell) = self.model.cells.first() else { return };
        self.log.push(format!("set {cell}, walk {travel:?}, up"));
        if !self.session.set(cell, "3").unwrap().is_change {
            // The cell had this value already, so `set` began no branch.
            return;
        }
        let edited = self.session.state().try_clone().unwrap();
        let mut seen = vec![edited.try_clone().unwrap()];
        for _ in 0..dice.below(40) {
            let before = self.session.step_number();
            self.session.step(travel, 1);
            if self.session.step_number() == before {
                break;
            }
            seen.push(self.session.state().try_clone().unwrap());
        }
        while let Some(expected) = seen.pop() {
            same(self.session.state(), &expected, &self.log);
            if !seen.is_empty() {
                self.session.goto(self.session.step_number() - travel.sign());
            }
        }
        same(self.session.state(), &edited, &self.log);
        self.session.timeline_up().unwrap();
        // On the other branch, the session has hit points. The model hasn't counted these hits.
        for point in &self.points.points {
            self.session.ignore(point.id, point.ignored).unwrap();
        }
        // Undo leads through the other branch, whose time points aren't in the model.
        self.branched = true;
        while self.session.undo().is_ok() {}
        while self.session.redo().is_ok() {}
        assert_eq!(self.session.time_point().branch, self.model.branch, "{}", self.log.join("\n"));
    }

    fn compare(&self) {
        let here = self.model.first + self.here as i64;
        assert_eq!(self.session.step_number(), here, "{}", self.log.join("\n"));
        same(self.session.state(), &self.model.states[self.here], &self.log);
    }
}

/// Asserts that states are bitwise equal. The record of the last `show` that printed may differ, because going
/// backward doesn't undo it.
fn same(found: &State, expected: &State, log: &[String]) {
    let mut found = found.try_clone().unwrap();
    found.counters.shown = expected.counters.shown;
    // A state without allocated adjoints equals a state whose adjoints are all 0.
    if expected.adjoints.is_none() && found.adjoints.iter().flat_map(|a| a.all()).all(|&bits| bits == 0) {
        found.adjoints = None;
    }
    assert!(found == *expected, "{}\nfound {found:?}\nexpected {expected:?}", log.join("\n"));
}

fn play(model: &Model, sequences: std::ops::Range<u64>) {
    for seed in sequences {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let session = model.session(seed);
        let log = vec![format!("seed {seed}")];
        let mut play = Play::new(model, session, 0, log);
        for _ in 0..COMMANDS {
            play.turn(&mut dice);
        }
    }
}

fn limits(seed: u64) -> TimelineLimits {
    let (most, whole, taped) = (seed as usize % 6, seed % 5 == 4, seed % 10 == 4);
    let (spacing, short) = (1 + seed % 50, seed % 7 * 5);
    let tight = TimelineLimits { history: 600, checkpoints: 0, most, spacing, short, whole, taped };
    if seed.is_multiple_of(3) { TimelineLimits::default() } else { tight }
}

/// Begins gradients of random reals at random steps, mostly at the end, and executes random commands on the new
/// branches. Returns the maximum number of adjoints that were dropped on a branch, and a flag. The flag is true if a
/// derivative rule was called.
fn play_gradients(text: &str, sequences: std::ops::Range<u64>) -> (u64, bool) {
    let (mut drops, mut ruled) = (0, false);
    let own = Model::new(text, &[]);
    let globals = own.subject.program.module().globals.iter();
    let reals: Vec<String> =
        globals.filter(|global| global.class == Class::Real).map(|global| global.name.clone()).collect();
    for seed in sequences {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut session = own.session(seed);
        let step = if dice.below(3) == 0 { dice.below(own.states.len()) } else { own.last() };
        session.goto(step as i64);
        let loss = &reals[dice.below(reals.len())];
        let mut log = vec![format!("seed {seed}: gradient {loss} at {step}")];
        if session.gradient(loss).is_err() {
            // The session refuses a gradient only inside a call of a procedure with a derivative rule.
            assert!(!own.states[step].calls.is_empty(), "{log:?}");
            continue;
        }
        let mut machine =
            Machine::resume(own.subject.program.clone(), own.states[0].try_clone().unwrap(), None);
        machine.keep_residues();
        machine.run_to_step(step as i64).unwrap();
        let mut model = Model::of_line(&own.subject, &mut machine, &session, &reals);
        if dice.below(3) == 0 {
            let steps = dice.below(model.last());
            session.goto(session.step_number() - steps as i64);
            machine.run(Travel::Backward, steps as u64).unwrap();
            session.set(&format!("{loss}'"), "0.25").unwrap();
            log.push(format!("set {loss}' {steps} steps before"));
            model = Model::of_line(&own.subject, &mut machine, &session, &reals);
        }
        let step = session.step_number();
        // An edit at the origin of a branch belongs to this branch, and begins no other one. So the session leaves the
        // origin and returns to it.
        for step in [step + 1, step - 1, step] {
            session.goto(step);
        }
        let here = (step - model.first) as usize;
        let mut play = Play::new(&model, session, here, log);
        drops = drops.max(model.states[0].counters.drops);
        ruled |= model.states.iter().any(|s| s.calls.iter().any(|call| call.part == Part::Rule));
        // Undo leads to time points before this branch, which aren't in the model.
        play.branched = true;
        for _ in 0..COMMANDS {
            play.turn(&mut dice);
        }
    }
    (drops, ruled)
}

/// Calls [`play_gradients`] for a program that drops adjoints and has a derivative rule, and asserts that
/// both happened.
fn play_gradients_with_drops(text: &str, sequences: std::ops::Range<u64>) {
    let (drops, ruled) = play_gradients(text, sequences);
    assert!(drops > 0 && ruled, "nothing was dropped, or no rule was called");
}

#[test]
fn a_loop_over_integers() {
    play(&Model::new(&support::text("fib.rasm"), &[]), 0..SEQUENCES / 4);
}

#[test]
fn floats_with_residues() {
    let text = support::text("leapfrog.rasm").replace(".real fixed", ".real f64").replace("100_000", "12");
    play(&Model::new(&text, &[]), 0..SEQUENCES / 4);
}

#[test]
fn an_array_that_is_sorted() {
    play(&Model::new(&support::text("sort.rasm"), &[]), 0..SEQUENCES / 4);
}

#[test]
fn recursion_and_uncalls() {
    let text = support::text("fib_recursive.rasm").replace("default 10", "default 5");
    play(&Model::new(&text, &[]), 0..SEQUENCES / 4);
}

#[test]
fn tapes_and_stacks() {
    let text = support::text("reverse_string.rasm").replace("default 0", "default 5");
    play(&Model::new(&text, &[5, 6, 7, 8, 9]), 0..SEQUENCES / 4);
}

/// Program with calls, uncalls, floats that lose bits, and erasures.
const LOSSY: &str = "
.real f64
.inout x: real default 0.7
.inout y: real default 0.1
.out n
        for i in 0..5
            call   turn(x, y, 0.3)
            uncall turn(y, x, 0.7)
            overwrite n, i
        rof
        erase  n
        uncall turn(x, y, 0.3)

.proc turn(inout u: real, inout v: real, in k: real)
        add.mul  u, v, k
        call     half(u, v)
        sub.mul  v, u, k
.end

.proc half(inout u: real, inout v: real)
        local t = square(u)
            sub.sin v, t
        delocal t = square(u)
.end
";

#[test]
fn calls_over_floats_and_erasures() {
    play(&Model::new(LOSSY, &[]), 0..SEQUENCES / 4);
}

/// Program with every kind of adjoint propagation: by functions, by exchanged cells, through temporary cells, through a
/// procedure with a rule, and through a stack. Some adjoints are dropped.
const ADJOINTS: &str = "
.real f64
.inout x: real default 0.7
.inout y: real default 0.4
.out loss: real
        for i in 0..3
            call   log1p(loss, x)
            rot    x, y, 0.3
            uncall half(x, y)
            swap   x, y
        rof
        local t = mul(x, y)
            push   t
            neg    loss
            pop    t
            add.sin loss, t
        delocal t = mul(x, y)

.proc half(inout u: real, inout v: real)
        local t = square(u)
            sub.sin v, t
        delocal t = square(u)
.end

.proc log1p(inout v: real, in u: real) rule log1p_adjoint
.ancilla t: real
        add.sum t, u, 1
        add.log v, t
        sub.sum t, u, 1
.end

.proc log1p_adjoint(inout v: real, in u: real)
.ancilla t: real
        add.sum t, u, 1
        add.div u', v', t
        sub.sum t, u, 1
.end
";

#[test]
fn gradients_over_floats_with_a_rule() {
    play_gradients_with_drops(ADJOINTS, 0..SEQUENCES / 4);
}

/// Variant of [`ADJOINTS`] that erases and overwrites values, and frees cells that aren't exactly 0.
const FORGETFUL: &str = "
.inout seen: real default 5
.inout rest: real default 1e-12
.inout marks
        overwrite loss, 3
        vacate rest
        for i in 0..3
            overwrite seen, x
            overwrite marks, i
            add.mul   loss, seen, x
            push      y
            pop       rest
            erase     y
            swap      y, rest
        rof
        erase marks
        erase seen
";

#[test]
fn gradients_over_erasures_and_residues() {
    let text = ADJOINTS.replacen("        for", &format!("{FORGETFUL}        for"), 1);
    play_gradients_with_drops(&text, 0..SEQUENCES / 4);
}

#[test]
fn gradients_in_fixed_point_drop_adjoints() {
    play_gradients_with_drops(&ADJOINTS.replace(".real f64", ".real fixed"), 0..SEQUENCES / 4);
}

/// A program that computes its gradient itself.
const SELF: &str = "
.real f64
.inout x: real default 3
.out y: real, slope: real
        call   f(y, x)
        grad.on
        add    y', 1
        uncall f(y, x)
        add    slope, x'
        call   f(y, x)
        sub    y', 1
        grad.off

.proc f(inout y: real, in x: real)
        local t = square(x)
            add.sin y, t
        delocal t = square(x)
.end
";

#[test]
fn a_program_that_switches_the_mode() {
    play(&Model::new(SELF, &[]), 0..SEQUENCES / 4);
}

/// Tasks that read the same cells and fork again.
const TASKS: &str = "
.real f64
.inout x: real default 0.7
.inout y: real default 0.4
.out loss: real, u: real, v: real
.ancilla A[4]: real
        par   for i in 0..4 call gain(A[i], x, y)
        par   gain(u, x, y), both(v, loss, y, x * 0.3)
        unpar for i in 0..4 call gain(A[i], x, y)

.proc both(inout a: real, inout b: real, in p: real, in q: real)
        par   gain(a, p, q), gain(b, q, p)
.end

.proc gain(inout a: real, in p: real, in q: real)
        add   a, p * q
        add.sin a, q
.end
";

#[test]
fn tasks_are_travelled_one_after_the_other() {
    play(&Model::new(TASKS, &[]), 0..SEQUENCES / 4);
}

/// Tasks that read the same cells accumulate the adjoints of these cells separately.
#[test]
fn gradients_of_tasks() {
    play_gradients(TASKS, 0..SEQUENCES / 4);
}
