//! Tiered runtime: moves a machine by compiled code where it exists, and interprets all other steps. When a check in
//! compiled code fails, the runtime returns to a copy of the machine, and the interpreter repeats the steps to the
//! exact trap. This module knows neither the meaning of an SSA function nor an engine.

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
use crate::passes::FormPass;
use crate::versions::{CodeTiming, VersionCode, Versions};

/// Tiered runtime of one program. It compiles each specialization when it is first needed.
#[derive(Debug)]
pub struct Driver<B> {
    versions: Versions<B>,
    level: CheckLevel,
    has_rules: bool,
    /// Number of steps that are still interpreted before anything is compiled.
    interpreted_first: AtomicU64,
    /// Number of steps executed by compiled code.
    made: AtomicU64,
    /// Number of steps executed by the interpreter.
    interpreted: AtomicU64,
    /// Cached entry points of compiled code, for runs of one kind.
    entries: Mutex<Option<(EntryKind, Arc<Stops>)>>,
}

/// Properties of a run that decide which compiled code it can enter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryKind {
    /// Value of the change counter of the code cache when the entry points were collected.
    changes: u64,
    gradient: bool,
    activity: Activity,
    is_watched: bool,
    places: StopPlaces,
}

/// Least number of steps for which compiled code is used; shorter runs are interpreted.
const SHORTEST_LEG: u64 = 16;
/// Number of steps between two copies of the machine; at least as many as the machine has cells.
const STEPS_BETWEEN_COPIES: u64 = 1 << 20;
/// Number of cells that can be copied at negligible cost.
const FEW_CELLS: u64 = 1 << 12;
/// Steps per open call below which a part of a run, from one call of the observer to the next, is interpreted: passing
/// open calls to compiled code costs time. At most [`MOST_CALLS`] calls are counted.
const STEPS_PER_CALL: u64 = 16;
const MOST_CALLS: u64 = 1 << 10;
/// Upper bound on stop places of a specialization: each becomes an exit.
const MOST_STOPS: usize = 64;
/// Upper bound on steps that are interpreted before compiled code is searched for again.
const MOST_INTERPRETED: u64 = 1 << 12;
/// Number of attempts to find code at the machine's current position, before the interpreter runs on to a known entry
/// point.
const FEW_ATTEMPTS: u32 = 4;

impl<B: Backend> Driver<B> {
    /// Creates a tiered runtime for runs of a program. Machines of other programs are interpreted.
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

    /// Returns the runtime with other optimization passes; used in tests.
    #[must_use]
    pub fn improving(mut self, passes: &'static [FormPass]) -> Driver<B> {
        self.versions.improve(passes);
        self
    }

    /// Returns the runtime with another time of compilation; the default is at once, on the run's thread.
    #[must_use]
    pub fn compiling(mut self, timing: CodeTiming) -> Driver<B> {
        self.versions.compile_at(timing);
        self
    }

    /// Returns the runtime with a number of steps that are interpreted before anything is compiled. Shorter runs cause
    /// no compilation.
    #[must_use]
    pub fn interpreting_first(self, steps: u64) -> Driver<B> {
        Driver { interpreted_first: AtomicU64::new(steps), ..self }
    }

    /// Returns the runtime with a lower bound on the steps of loop-free code. The interpreter is as fast as entering
    /// and leaving shorter code.
    #[must_use]
    pub fn leaving(mut self, least_steps: u32) -> Driver<B> {
        self.versions.leave(least_steps);
        self
    }

    /// Returns the runtime with another check level. Unchecked code doesn't report to watchers.
    #[must_use]
    pub fn checking(self, level: CheckLevel) -> Driver<B> {
        Driver { level, ..self }
    }

    /// Returns true if the machine runs this program and its state fits the program. Native code doesn't check
    /// addresses and references again.
    fn takes(&self, machine: &Machine) -> bool {
        std::ptr::eq(self.versions.program().flow(), machine.program().flow())
            && checkpoint::fits(machine.program(), machine.state())
    }

    /// Returns the code for the machine's position, or the number of steps after which there may be some. `begins` is
    /// true if the run hasn't moved yet: only then are the cells of main's frame checked for zeros, because later it
    /// wouldn't pay.
    fn code(
        &self,
        machine: &Machine,
        stops: &StopPlaces,
        travel: Travel,
        begins: bool,
    ) -> Result<Arc<Compiled>, u64> {
        let (program, state) = (machine.program(), machine.state());
        // Steps in rules are counted separately.
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
        let observed = Observed::Anywhere;
        let activity = if gradient { program.activity().clone() } else { Activity::default() };
        let version =
            Version { position, way, gradient, activity, level, is_watched, stops, zeros, observed };
        let steps = self.made.load(Ordering::Relaxed) + self.interpreted.load(Ordering::Relaxed);
        match self.versions.code(&version, steps, || machine.is_asked_to_stop()) {
            VersionCode::Ready(code) if !code.is_slow() && code.fits(program, state) => Ok(code),
            VersionCode::Ready(_) | VersionCode::Never | VersionCode::NotYet => Err(1),
        }
    }

    /// Returns true if code must report jumps and freed cells to the machine. Exact numbers always reverse, so they
    /// need no watch.
    fn is_watched(&self, machine: &Machine) -> bool {
        let watches = self.level.is_checked() && !machine.program().module().real.is_exact();
        watches && machine.reports().watch().is_some()
    }

    /// Returns the places at which code begins that the machine can enter, together with the run's own stop places.
    /// Returns `None` if there is no such code.
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

    /// Returns the number of steps to interpret before the machine is copied for the first time. The cost of copying
    /// many cells must be small compared with these steps.
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
        // A debugger may pass very many stop places.
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
        // The budget of first steps is reduced by the steps executed here, before the outcome is examined.
        let outcome = journey.interpret(machine, self.steps_first(cells));
        let made = leg.budget - journey.leg.budget;
        // Several machines may reduce the counter at the same time.
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

/// Interprets a segment of a run.
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

/// State of a run in progress.
struct Journey<'d, 'o, B> {
    driver: &'d Driver<B>,
    stops: Option<&'d Stops>,
    /// Stop places, in the form that specializations use.
    places: StopPlaces,
    /// Remaining segment of the run.
    leg: Leg,
    onlooker: Option<&'o mut dyn Onlooker>,
    copy: Option<Snapshot>,
    /// Buffer for call records and arguments of open calls.
    references: Vec<i64>,
    /// True after the first search for code.
    has_begun: bool,
}

/// Copy of a machine, with the step budget that was left at that time.
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
            // Writing the records of open calls takes time.
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
                // If the budget was used up, the run could have been longer, so it says nothing about slowness.
                if left - steps >= code.first_steps && code.is_slow_after(steps) {
                    self.driver.versions.changed();
                }
                if let Some(onlooker) = &mut self.onlooker {
                    onlooker.look(machine.state());
                }
                // A first call may have found no space for its record.
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

    /// Interprets at most `steps` steps. Returns the stop if the run ends with them.
    fn interpret(&mut self, machine: &mut Machine, steps: u64) -> Result<Option<Stop>, Trap> {
        self.interpret_up_to(machine, self.stops, steps)
    }

    /// Interprets up to the next known entry point, but at most [`MOST_INTERPRETED`] steps.
    fn interpret_to_entry(&mut self, machine: &mut Machine) -> Result<Option<Stop>, Trap> {
        // Collecting the entry points takes about as long as interpreting this many steps.
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

    /// Returns true if there is a sufficiently recent copy of the machine, after making one if necessary. Returns
    /// false if memory for a copy is refused.
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

/// Returns the direction in which a machine traverses the code.
fn way_of(machine: &Machine, travel: Travel) -> Way {
    match (machine.state().inverted, travel) {
        (false, Travel::Forward) | (true, Travel::Backward) => Way::Along,
        (false, Travel::Backward) | (true, Travel::Forward) => Way::Against,
    }
}

/// Converts a stop node to the form that specializations use.
fn stop_place(node: Node) -> StopPlace {
    StopPlace { position: node.position, way: if node.backward { Way::Against } else { Way::Along } }
}
