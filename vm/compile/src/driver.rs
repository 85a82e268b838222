//! Moves a machine by compiled code as far as there is some, and has the interpreter make the other steps. Code that
//! fails is no answer: the run goes back to a copy of the machine, and the interpreter says what happens, at which step.
//! Knows no form's meaning and no engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reviver_flow::Activity;
use reviver_flow::graph::Way;
use reviver_vm::onlooker::Onlooker;
use reviver_vm::state::Part;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::travel::{Leg, Stop, Travel};
use reviver_vm::{CheckLevel, Machine, Program, Runner, Trap, checkpoint};

use crate::backend::Backend;
use crate::build::paths::steps_to_entry;
use crate::compiled::Compiled;
use crate::form::{FrameZeros, Observed, StopPlace, StopPlaces, Version};
use crate::frames;
use crate::known::KnownCells;
use crate::passes::FormPass;
use crate::versions::{CodeTiming, VersionCode, Versions};

/// Runs one program by compiled code, of which each version is made when it is first needed.
#[derive(Debug)]
pub struct Driver<B> {
    versions: Versions<B>,
    level: CheckLevel,
    has_rules: bool,
    /// Steps that are still the interpreter's before anything is compiled.
    interpreted_first: AtomicU64,
    /// Steps that code has made.
    made: AtomicU64,
    /// Steps that the interpreter has made.
    interpreted: AtomicU64,
    /// Where versions with code begin that runs of one kind may enter.
    entries: Mutex<Option<(EntryKind, Arc<Stops>)>>,
}

/// A kind of runs that enter the same code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryKind {
    /// How many versions had got code, or were given up, before.
    changes: u64,
    gradient: bool,
    activity: Activity,
    is_watched: bool,
    places: StopPlaces,
}

/// Legs of fewer steps are the interpreter's.
const SHORTEST_LEG: u64 = 16;
/// Steps between two copies of the machine, or as many as it has cells.
const STEPS_BETWEEN_COPIES: u64 = 1 << 20;
/// So many cells are copied in no time.
const FEW_CELLS: u64 = 1 << 12;
/// Parts of a run, from one look of an onlooker to the next, are the interpreter's where they are shorter than so many steps
/// for each open call, up to so many calls.
const STEPS_PER_CALL: u64 = 16;
const MOST_CALLS: u64 = 1 << 10;
/// The most places to stop at that versions are made for: each is an exit.
const MOST_STOPS: usize = 64;
/// The most steps that are interpreted before code is looked for again.
const MOST_INTERPRETED: u64 = 1 << 12;
/// Attempts to find code where the machine happens to stand, before the interpreter goes on to where code is known to begin.
const FEW_ATTEMPTS: u32 = 4;

impl<B: Backend> Driver<B> {
    /// For runs of a program. Machines of other programs are the interpreter's.
    pub fn new(program: &Program, backend: B) -> Driver<B> {
        Driver {
            versions: Versions::new(program, backend),
            level: CheckLevel::Checked,
            has_rules: program.module().procedures.iter().any(|procedure| procedure.rule.is_some()),
            interpreted_first: AtomicU64::new(0),
            made: AtomicU64::new(0),
            interpreted: AtomicU64::new(0),
            entries: Mutex::default(),
        }
    }

    /// The same, but forms go through these passes only.
    #[must_use]
    pub fn improving(mut self, passes: &'static [FormPass]) -> Driver<B> {
        self.versions.improve(passes);
        self
    }

    /// The same, but code is compiled at another time than at once.
    #[must_use]
    pub fn compiling(mut self, timing: CodeTiming) -> Driver<B> {
        self.versions.compile_at(timing);
        self
    }

    /// The same, but nothing is compiled before so many steps are made: shorter runs are over by then.
    #[must_use]
    pub fn interpreting_first(self, steps: u64) -> Driver<B> {
        Driver { interpreted_first: AtomicU64::new(steps), ..self }
    }

    /// The same, but code without a loop that makes fewer steps than these is left to the interpreter, which is as fast as
    /// going there and back.
    #[must_use]
    pub fn leaving(mut self, least_steps: u32) -> Driver<B> {
        self.versions.leave(least_steps);
        self
    }

    /// The same, but code checks as much as a level asks for. Code that isn't checked tells those who watch nothing.
    #[must_use]
    pub fn checking(self, level: CheckLevel) -> Driver<B> {
        Driver { level, ..self }
    }

    /// Whether it may run a machine: one of its program, whose state is one of the program's too. Native code asks nothing of
    /// cells and references.
    fn takes(&self, machine: &Machine) -> bool {
        std::ptr::eq(self.versions.program().flow(), machine.program().flow())
            && checkpoint::fits(machine.program(), machine.state())
    }

    /// The code at which a machine stands; or how many steps it may be to where there is some.
    /// `begins` tells that the run hasn't moved yet: only then it is worth looking at the cells of main's frame.
    fn code(
        &self,
        machine: &Machine,
        stops: &StopPlaces,
        travel: Travel,
        begins: bool,
    ) -> Result<Arc<Compiled>, u64> {
        let (program, state) = (machine.program(), machine.state());
        // Steps in rules are counted apart.
        if self.has_rules && state.calls.iter().any(|call| call.part == Part::Rule) {
            return Err(1);
        }
        let way = way_of(machine, travel);
        let steps = steps_to_entry(program.flow(), state.position, way);
        if steps > 0 {
            return Err(steps);
        }
        let (is_watched, gradient) = (self.is_watched(machine), state.mode());
        let zeros = if begins { frames::zeros(program, state) } else { FrameZeros::default() };
        let (position, level, stops) = (state.position, self.level, stops.clone());
        let (known, observed) = (KnownCells::default(), Observed::Anywhere);
        let activity = if gradient { program.activity().clone() } else { Activity::default() };
        let version =
            Version { position, way, gradient, activity, level, is_watched, stops, zeros, known, observed };
        let steps = self.made.load(Ordering::Relaxed) + self.interpreted.load(Ordering::Relaxed);
        match self.versions.code(&version, steps, || machine.is_asked_to_stop()) {
            VersionCode::Ready(code) if !code.is_slow() && code.fits(program, state) => Ok(code),
            VersionCode::Ready(_) | VersionCode::Never | VersionCode::NotYet => Err(1),
        }
    }

    /// Whether code has to tell the machine of jumps and of what is freed. Exact numbers come back by themselves.
    fn is_watched(&self, machine: &Machine) -> bool {
        let watches = self.level.is_checked() && !machine.program().module().real.is_exact();
        watches && machine.reports().watch().is_some()
    }

    /// Places at which the interpreter stops because code begins there that a machine may enter, besides those at which it stops
    /// anyway; none where there is no such code.
    fn entries(&self, machine: &Machine, places: &StopPlaces) -> Option<Arc<Stops>> {
        let kind = EntryKind {
            changes: self.versions.changes(),
            gradient: machine.state().mode(),
            activity: machine.program().activity().clone(),
            is_watched: self.is_watched(machine),
            places: places.clone(),
        };
        let mut last = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, entries)) = last.as_ref().filter(|(known, _)| *known == kind) {
            return Some(Arc::clone(entries));
        }
        let is_entered = |version: &Version| {
            (version.gradient, version.is_watched) == (kind.gradient, kind.is_watched)
                && (!kind.gradient || version.activity == kind.activity)
                && version.stops == kind.places
                && version.zeros == FrameZeros::default()
        };
        let node = |position, way| Node { position, backward: way == Way::Against };
        let mut nodes = self
            .versions
            .entries(|version| is_entered(version).then_some(node(version.position, version.way)));
        if nodes.is_empty() {
            return None;
        }
        nodes.extend(places.iter().map(|place| node(place.position, place.way)));
        let entries = Arc::new(Stops::new(machine.program(), nodes));
        *last = Some((kind, Arc::clone(&entries)));
        Some(entries)
    }

    /// Steps to be interpreted before the first copy of a machine is made: what copying many cells costs is to be small
    /// beside them.
    fn steps_first(&self, cells: u64) -> u64 {
        self.interpreted_first.load(Ordering::Relaxed).max(cells.saturating_sub(FEW_CELLS) / 2)
    }

    fn travel(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        leg: Leg,
        mut onlooker: Option<&mut dyn Onlooker>,
    ) -> Result<Stop, Trap> {
        let cells = (machine.state().ints.len() + machine.state().reals.len()) as u64;
        let is_short = leg.budget < SHORTEST_LEG.max(4 * cells);
        // The places to stop at that a debugger knows may be many.
        let stops_often = stops.is_some_and(|stops| stops.nodes().len() > MOST_STOPS);
        if machine.residues().is_some() || is_short || stops_often || !self.takes(machine) {
            return interpreted(machine, stops, leg, &mut onlooker);
        }
        let mut journey = Journey {
            driver: self,
            stops,
            places: stops.into_iter().flat_map(Stops::nodes).map(stop_place).collect(),
            leg,
            onlooker,
            copy: None,
            references: Vec::new(),
            has_begun: false,
        };
        // What the steps need is made before the first one.
        let outcome = journey.interpret(machine, self.steps_first(cells));
        let made = leg.budget - journey.leg.budget;
        // Several machines may take from it.
        let less = |steps: u64| Some(steps.saturating_sub(made));
        let _ = self.interpreted_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        match outcome? {
            Some(stop) => Ok(stop),
            None => journey.go(machine),
        }
    }
}

impl<B: Backend> Runner for Driver<B> {
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap> {
        self.travel(machine, stops, leg, None)
    }

    fn run_seen(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        leg: Leg,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Stop, Trap> {
        self.travel(machine, stops, leg, Some(onlooker))
    }

    fn steps_made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

/// Has the interpreter make the steps of a leg.
fn interpreted(
    machine: &mut Machine,
    stops: Option<&Stops>,
    leg: Leg,
    onlooker: &mut Option<&mut dyn Onlooker>,
) -> Result<Stop, Trap> {
    match onlooker {
        Some(onlooker) => machine.interpret_seen(stops, leg, *onlooker),
        None => machine.interpret(stops, leg),
    }
}

/// A run under way.
struct Journey<'d, 'o, B> {
    driver: &'d Driver<B>,
    stops: Option<&'d Stops>,
    /// The same, for versions.
    places: StopPlaces,
    /// What is left of it.
    leg: Leg,
    onlooker: Option<&'o mut dyn Onlooker>,
    copy: Option<Snapshot>,
    /// Memory for what open calls pass where code is left.
    references: Vec<i64>,
    /// Whether code was looked for already.
    has_begun: bool,
}

/// A machine as it was, and what was left of the run then.
struct Snapshot {
    machine: Machine,
    budget: u64,
}

impl<B: Backend> Journey<'_, '_, B> {
    fn go(mut self, machine: &mut Machine) -> Result<Stop, Trap> {
        let mut in_vain = 0;
        loop {
            let node = Node::of(machine.state(), self.leg.travel);
            if self.stops.is_some_and(|stops| stops.contains(node)) {
                return Ok(Stop::Budget);
            }
            let begins = !std::mem::replace(&mut self.has_begun, true);
            let code = match self.driver.code(machine, &self.places, self.leg.travel, begins) {
                Ok(code) => code,
                Err(steps) => {
                    let steps = steps.max(1 << in_vain);
                    in_vain = (in_vain + 1).min(MOST_INTERPRETED.ilog2());
                    if let Some(stop) = self.interpret(machine, steps)? {
                        return Ok(stop);
                    }
                    if in_vain >= FEW_ATTEMPTS
                        && let Some(stop) = self.interpret_to_entry(machine)?
                    {
                        return Ok(stop);
                    }
                    continue;
                }
            };
            in_vain = 0;
            if self.leg.budget < code.first_steps || !self.has_copy(machine) {
                return interpreted(machine, self.stops, self.leg, &mut self.onlooker);
            }
            let due =
                self.onlooker.as_ref().map_or(u64::MAX, |onlooker| onlooker.due(machine.state()).max(1));
            // What code is told of calls takes a while.
            let calls = (machine.state().calls.len() as u64).min(MOST_CALLS);
            if due < code.first_steps.max(STEPS_PER_CALL * calls) {
                if let Some(stop) = self.interpret(machine, due)? {
                    return Ok(stop);
                }
                continue;
            }
            let left = self.leg.budget.min(STEPS_BETWEEN_COPIES.max(code.first_steps)).min(due);
            let leg = Leg { budget: left, ..self.leg };
            if let Some(steps) = code.run(machine, leg, &mut self.references) {
                self.leg.budget -= steps;
                self.driver.made.fetch_add(steps, Ordering::Relaxed);
                // A run that used up its steps could have made more.
                if left - steps >= code.first_steps && code.is_slow_after(steps) {
                    self.driver.versions.changed();
                }
                if let Some(onlooker) = &mut self.onlooker {
                    onlooker.look(machine.state());
                }
                // There may be no room for a call that comes first.
                if steps == 0
                    && let Some(stop) = self.interpret(machine, 1)?
                {
                    return Ok(stop);
                }
                continue;
            }
            let Some(copy) = self.copy.take() else { continue };
            let again = copy.budget - self.leg.budget;
            *machine = copy.machine;
            self.leg.budget = copy.budget;
            if let Some(stop) = self.interpret(machine, again + left)? {
                return Ok(stop);
            }
        }
    }

    /// Has the interpreter make so many steps. The stop, if the run ends with them.
    fn interpret(&mut self, machine: &mut Machine, steps: u64) -> Result<Option<Stop>, Trap> {
        self.interpret_up_to(machine, self.stops, steps)
    }

    /// Has the interpreter make steps up to where code begins, but at most [`MOST_INTERPRETED`].
    fn interpret_to_entry(&mut self, machine: &mut Machine) -> Result<Option<Stop>, Trap> {
        // To find the places takes about as long as so many steps.
        let length = machine.program().module().code.len() as u64;
        if self.leg.budget < MOST_INTERPRETED.max(length) {
            return Ok(None);
        }
        match self.driver.entries(machine, &self.places) {
            Some(entries) => self.interpret_up_to(machine, Some(&entries), MOST_INTERPRETED),
            None => Ok(None),
        }
    }

    fn interpret_up_to(
        &mut self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        steps: u64,
    ) -> Result<Option<Stop>, Trap> {
        let before = machine.state().step;
        let budget = steps.min(self.leg.budget);
        let stop = interpreted(machine, stops, Leg { budget, ..self.leg }, &mut self.onlooker)?;
        let made = machine.state().step.abs_diff(before);
        self.leg.budget -= made;
        self.driver.interpreted.fetch_add(made, Ordering::Relaxed);
        Ok((stop != Stop::Budget || self.leg.budget == 0).then_some(stop))
    }

    /// Whether there is a copy of the machine that isn't too old. There is none where memory has run out.
    fn has_copy(&mut self, machine: &Machine) -> bool {
        let state = machine.state();
        let between = STEPS_BETWEEN_COPIES.max((state.ints.len() + state.reals.len()) as u64);
        if self.copy.as_ref().is_none_or(|copy| copy.budget - self.leg.budget >= between) {
            let machine = machine.try_clone().ok();
            self.copy = machine.map(|machine| Snapshot { machine, budget: self.leg.budget });
        }
        self.copy.is_some()
    }
}

/// The direction in which a machine goes through the code.
fn way_of(machine: &Machine, travel: Travel) -> Way {
    match (machine.state().inverted, travel) {
        (false, Travel::Forward) | (true, Travel::Backward) => Way::Along,
        (false, Travel::Backward) | (true, Travel::Forward) => Way::Against,
    }
}

/// A place to stop at, as versions know it.
fn stop_place(node: Node) -> StopPlace {
    StopPlace { position: node.position, way: if node.backward { Way::Against } else { Way::Along } }
}
