//! Tiered runtime: executes the steps of a machine by compiled code where it exists, and interprets all other steps.
//! When a check in compiled code fails, the runtime returns to a copy of the machine, and the interpreter repeats the
//! steps to the exact trap. This module is independent of the meaning of operations, and uses no particular engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reviver_flow::Activity;
use reviver_flow::graph::CodeDirection;
use reviver_vm::differentiate::series_call::{SeriesCall, SeriesResult};
use reviver_vm::observer::Observer;
use reviver_vm::state::Part;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::travel::{Segment, Stop, Travel};
use reviver_vm::{CheckLevel, Machine, Program, Runner, Trap, checkpoint};

use crate::backend::Backend;
use crate::build::control_flow::steps_to_entry;
use crate::call::SeriesCalls;
use crate::code_cache::{CodeCache, CodeStatus, CompileTiming};
use crate::compiled::Compiled;
use crate::frames;
use crate::function::{LiveAtExits, Specialization, StopPlace, StopPlaces, ZerosAtEntry};
use crate::passes::Pass;

/// Tiered runtime of one program. It compiles each specialization when it is first needed.
#[derive(Debug)]
pub struct TieredRuntime<B> {
    code_cache: CodeCache<B>,
    level: CheckLevel,
    has_rules: bool,
    /// Remaining number of steps that are interpreted before anything is compiled.
    interpreted_first: AtomicU64,
    /// Number of steps executed by compiled code.
    made: AtomicU64,
    /// Number of steps executed by the interpreter.
    interpreted: AtomicU64,
    /// Cached entry points of compiled code, for runs of one kind.
    entries: Mutex<Option<(EntryKind, Arc<Stops>)>>,
    series_calls: SeriesCalls,
}

/// Properties of a run that decide which compiled code the run can enter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryKind {
    /// Value of the change counter of the code cache when the entry points were collected.
    changes: u64,
    gradient: bool,
    activity: Activity,
    is_watched: bool,
    places: StopPlaces,
}

/// Least length, in steps, of a segment for which compiled code is used. Shorter segments are interpreted.
const SHORTEST_SEGMENT: u64 = 16;
/// Number of steps between two copies of the machine. If the machine has more cells, the number of cells is used
/// instead.
const STEPS_BETWEEN_COPIES: u64 = 1 << 20;
/// Number of cells that can be copied at negligible cost.
const FEW_CELLS: u64 = 1 << 12;
/// Least number of steps per open call for which compiled code is entered, counted from the machine's position to the
/// next position that the observer gets. Shorter parts of a run are interpreted, because compiled code needs a record
/// of each open call. At most [`MOST_CALLS`] calls are counted.
const STEPS_PER_CALL: u64 = 16;
const MOST_CALLS: u64 = 1 << 10;
/// Upper bound on stop places of a specialization. The bound exists because each stop place becomes an exit.
const MOST_STOPS: usize = 64;
/// Upper bound on steps that are interpreted before compiled code is searched for again.
const MOST_INTERPRETED: u64 = 1 << 12;
/// Number of attempts to find code at the machine's current position, before the interpreter continues to a known entry
/// point.
const FEW_ATTEMPTS: u32 = 4;

impl<B: Backend> TieredRuntime<B> {
    /// Creates a tiered runtime for runs of a program. Machines of other programs are interpreted.
    pub fn new(program: &Program, backend: B) -> TieredRuntime<B> {
        TieredRuntime {
            code_cache: CodeCache::new(program, backend),
            level: CheckLevel::Checked,
            has_rules: program.module().procedures.iter().any(|procedure| procedure.rule.is_some()),
            interpreted_first: AtomicU64::new(0),
            made: AtomicU64::new(0),
            interpreted: AtomicU64::new(0),
            entries: Mutex::default(),
            series_calls: SeriesCalls::default(),
        }
    }

    /// Returns the runtime with other optimization passes; used in tests.
    #[must_use]
    pub fn with_passes(mut self, passes: &'static [Pass]) -> TieredRuntime<B> {
        self.code_cache.improve(passes);
        self
    }

    /// Returns the runtime with another choice of [`CompileTiming`]. The default is [`CompileTiming::AtOnce`].
    #[must_use]
    pub fn with_timing(mut self, timing: CompileTiming) -> TieredRuntime<B> {
        self.code_cache.compile_at(timing);
        self
    }

    /// Returns the runtime with another number of steps that are interpreted before anything is compiled. Runs with
    /// fewer steps cause no compilation.
    #[must_use]
    pub fn with_interpreted_steps(self, steps: u64) -> TieredRuntime<B> {
        TieredRuntime { interpreted_first: AtomicU64::new(steps), ..self }
    }

    /// Returns the runtime with another lower bound on the number of steps of loop-free code. Code with fewer steps
    /// isn't compiled, because interpreting its steps is as fast as entering and leaving it.
    #[must_use]
    pub fn with_least_steps(mut self, least_steps: u32) -> TieredRuntime<B> {
        self.code_cache.leave(least_steps);
        self
    }

    /// Returns the runtime with another check level. Unchecked code doesn't report to watchers.
    #[must_use]
    pub fn with_check_level(self, level: CheckLevel) -> TieredRuntime<B> {
        TieredRuntime { level, ..self }
    }

    /// Returns true if the machine runs this program and its state fits the program. Native code relies on this,
    /// because it doesn't check addresses and references.
    fn takes(&self, machine: &Machine) -> bool {
        std::ptr::eq(self.code_cache.program().flow(), machine.program().flow())
            && checkpoint::fits(machine.program(), machine.state())
    }

    /// Returns the code for the machine's position, or the number of steps after which there may be code. `begins` is
    /// true if the run hasn't moved yet. Main's frame is checked for zeros only at the beginning, because a check at
    /// each later search would take too long.
    fn code(
        &self,
        machine: &Machine,
        stops: &StopPlaces,
        travel: Travel,
        begins: bool,
    ) -> Result<Arc<Compiled>, u64> {
        let (program, state) = (machine.program(), machine.state());
        // The machine counts the steps in rules separately, so they aren't compiled.
        if self.has_rules && state.calls.iter().any(|call| call.part == Part::Rule) {
            return Err(1);
        }
        let direction = direction_of(machine, travel);
        let steps = steps_to_entry(program.flow(), state.position, direction);
        if steps > 0 {
            return Err(steps);
        }
        let (is_watched, gradient) = (self.is_watched(machine), state.mode());
        let zeros = if begins { frames::zeros(program, state) } else { ZerosAtEntry::default() };
        let (position, level, stops) = (state.position, self.level, stops.clone());
        let live_at_exits = LiveAtExits::All;
        let activity = if gradient { program.activity().clone() } else { Activity::default() };
        let specialization = Specialization {
            position,
            direction,
            gradient,
            activity,
            level,
            is_watched,
            stops,
            zeros,
            live_at_exits,
        };
        let steps = self.made.load(Ordering::Relaxed) + self.interpreted.load(Ordering::Relaxed);
        match self.code_cache.code(&specialization, steps, || machine.is_asked_to_stop()) {
            CodeStatus::Ready(code) if !code.is_slow() && code.fits(program, state) => Ok(code),
            CodeStatus::Ready(_) | CodeStatus::Never | CodeStatus::NotYet => Err(1),
        }
    }

    /// Returns true if code must report jumps and freed cells to the machine's watcher. Exact number systems need no
    /// watcher, because they lose no bits.
    fn is_watched(&self, machine: &Machine) -> bool {
        let watches = self.level.is_checked() && !machine.program().module().real.is_exact();
        watches && machine.reports().watch().is_some()
    }

    /// Returns the entry points of compiled code that the machine can enter, together with the run's own stop places.
    /// Returns `None` if there is no such code.
    fn entries(&self, machine: &Machine, places: &StopPlaces) -> Option<Arc<Stops>> {
        let kind = EntryKind {
            changes: self.code_cache.changes(),
            gradient: machine.state().mode(),
            activity: machine.program().activity().clone(),
            is_watched: self.is_watched(machine),
            places: places.clone(),
        };
        let mut last = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, entries)) = last.as_ref().filter(|(known, _)| *known == kind) {
            return Some(Arc::clone(entries));
        }
        let is_entered = |specialization: &Specialization| {
            (specialization.gradient, specialization.is_watched) == (kind.gradient, kind.is_watched)
                && (!kind.gradient || specialization.activity == kind.activity)
                && specialization.stops == kind.places
                && specialization.zeros == ZerosAtEntry::default()
        };
        let node = |position, direction| Node { position, backward: direction == CodeDirection::Backward };
        let mut nodes = self.code_cache.entries(|specialization| {
            is_entered(specialization).then_some(node(specialization.position, specialization.direction))
        });
        if nodes.is_empty() {
            return None;
        }
        nodes.extend(places.iter().map(|place| node(place.position, place.direction)));
        let entries = Arc::new(Stops::new(machine.program(), nodes));
        *last = Some((kind, Arc::clone(&entries)));
        Some(entries)
    }

    /// Returns the number of steps to interpret before the machine is copied for the first time. Interpreting them
    /// takes much longer than copying the cells.
    fn steps_first(&self, cells: u64) -> u64 {
        self.interpreted_first.load(Ordering::Relaxed).max(cells.saturating_sub(FEW_CELLS) / 2)
    }

    fn travel(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        segment: Segment,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Stop, Trap> {
        let cells = (machine.state().ints.len() + machine.state().reals.len()) as u64;
        let is_short = segment.budget < SHORTEST_SEGMENT.max(4 * cells);
        // A debugger may pass very many stop places.
        let stops_often = stops.is_some_and(|stops| stops.nodes().len() > MOST_STOPS);
        if machine.residues().is_some() || is_short || stops_often || !self.takes(machine) {
            return interpreted(machine, stops, segment, &mut observer);
        }
        let mut tiered_run = TieredRun {
            runtime: self,
            stops,
            places: stops.into_iter().flat_map(Stops::nodes).map(stop_place).collect(),
            segment,
            observer,
            copy: None,
            references: Vec::new(),
            has_begun: false,
        };
        // These steps count as interpreted first steps, even if the run stops during them.
        let outcome = tiered_run.interpret(machine, self.steps_first(cells));
        let made = segment.budget - tiered_run.segment.budget;
        // Several machines may reduce the counter at the same time.
        let less = |steps: u64| Some(steps.saturating_sub(made));
        let _ = self.interpreted_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        match outcome? {
            Some(stop) => Ok(stop),
            None => tiered_run.go(machine),
        }
    }
}

impl<B: Backend> Runner for TieredRuntime<B> {
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap> {
        self.travel(machine, stops, segment, None)
    }

    fn run_observed(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        segment: Segment,
        observer: &mut dyn Observer,
    ) -> Result<Stop, Trap> {
        self.travel(machine, stops, segment, Some(observer))
    }

    fn series_call(&self, call: &SeriesCall) -> Option<SeriesResult> {
        if !std::ptr::eq(self.code_cache.program().flow(), call.program.flow()) {
            return None;
        }
        let (result, steps) =
            self.series_calls.make(self.code_cache.backend(), call, self.code_cache.never_waits())?;
        self.made.fetch_add(steps, Ordering::Relaxed);
        Some(result)
    }

    fn steps_made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

/// Interprets a segment of a run.
fn interpreted(
    machine: &mut Machine,
    stops: Option<&Stops>,
    segment: Segment,
    observer: &mut Option<&mut dyn Observer>,
) -> Result<Stop, Trap> {
    match observer {
        Some(observer) => machine.interpret_observed(stops, segment, *observer),
        None => machine.interpret(stops, segment),
    }
}

/// State of a run in progress.
struct TieredRun<'d, 'o, B> {
    runtime: &'d TieredRuntime<B>,
    stops: Option<&'d Stops>,
    /// Stop places, in the form that specializations use.
    places: StopPlaces,
    /// Remaining segment of the run.
    segment: Segment,
    observer: Option<&'o mut dyn Observer>,
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

impl<B: Backend> TieredRun<'_, '_, B> {
    fn go(mut self, machine: &mut Machine) -> Result<Stop, Trap> {
        let mut in_vain = 0;
        loop {
            let node = Node::of(machine.state(), self.segment.travel);
            if self.stops.is_some_and(|stops| stops.contains(node)) {
                return Ok(Stop::Budget);
            }
            let begins = !std::mem::replace(&mut self.has_begun, true);
            let code = match self.runtime.code(machine, &self.places, self.segment.travel, begins) {
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
            if self.segment.budget < code.first_steps || !self.has_copy(machine) {
                return interpreted(machine, self.stops, self.segment, &mut self.observer);
            }
            let due =
                self.observer.as_ref().map_or(u64::MAX, |observer| observer.due(machine.state()).max(1));
            // Writing the records of open calls takes time.
            let calls = (machine.state().calls.len() as u64).min(MOST_CALLS);
            if due < code.first_steps.max(STEPS_PER_CALL * calls) {
                if let Some(stop) = self.interpret(machine, due)? {
                    return Ok(stop);
                }
                continue;
            }
            let left = self.segment.budget.min(STEPS_BETWEEN_COPIES.max(code.first_steps)).min(due);
            let segment = Segment { budget: left, ..self.segment };
            if let Some(steps) = code.run(machine, segment, &mut self.references) {
                self.segment.budget -= steps;
                self.runtime.made.fetch_add(steps, Ordering::Relaxed);
                // If the budget was used up, the run would have been longer with a larger budget, so its length doesn't
                // show that the code is slow.
                if left - steps >= code.first_steps && code.is_slow_after(steps) {
                    self.runtime.code_cache.changed();
                }
                if let Some(observer) = &mut self.observer {
                    observer.look(machine.state());
                }
                // If the code executed no step, it may have exited because there was no space for a call record.
                if steps == 0
                    && let Some(stop) = self.interpret(machine, 1)?
                {
                    return Ok(stop);
                }
                continue;
            }
            let Some(copy) = self.copy.take() else { continue };
            let again = copy.budget - self.segment.budget;
            *machine = copy.machine;
            self.segment.budget = copy.budget;
            if let Some(stop) = self.interpret(machine, again + left)? {
                return Ok(stop);
            }
        }
    }

    /// Interprets at most `steps` steps. Returns the stop if the run ends during these steps.
    fn interpret(&mut self, machine: &mut Machine, steps: u64) -> Result<Option<Stop>, Trap> {
        self.interpret_up_to(machine, self.stops, steps)
    }

    /// Interprets up to the next known entry point, but at most [`MOST_INTERPRETED`] steps.
    fn interpret_to_entry(&mut self, machine: &mut Machine) -> Result<Option<Stop>, Trap> {
        // Collecting the entry points takes about as long as interpreting this many steps.
        let length = machine.program().module().code.len() as u64;
        if self.segment.budget < MOST_INTERPRETED.max(length) {
            return Ok(None);
        }
        match self.runtime.entries(machine, &self.places) {
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
        let budget = steps.min(self.segment.budget);
        let stop = interpreted(machine, stops, Segment { budget, ..self.segment }, &mut self.observer)?;
        let made = machine.state().step.abs_diff(before);
        self.segment.budget -= made;
        self.runtime.interpreted.fetch_add(made, Ordering::Relaxed);
        Ok((stop != Stop::Budget || self.segment.budget == 0).then_some(stop))
    }

    /// Copies the machine, unless there is a sufficiently recent copy. Returns false if memory for the copy is refused.
    fn has_copy(&mut self, machine: &Machine) -> bool {
        let state = machine.state();
        let between = STEPS_BETWEEN_COPIES.max((state.ints.len() + state.reals.len()) as u64);
        if self.copy.as_ref().is_none_or(|copy| copy.budget - self.segment.budget >= between) {
            let machine = machine.try_clone().ok();
            self.copy = machine.map(|machine| Snapshot { machine, budget: self.segment.budget });
        }
        self.copy.is_some()
    }
}

/// Returns the direction in which a machine traverses the code.
fn direction_of(machine: &Machine, travel: Travel) -> CodeDirection {
    match (machine.state().inverted, travel) {
        (false, Travel::Forward) | (true, Travel::Backward) => CodeDirection::Forward,
        (false, Travel::Backward) | (true, Travel::Forward) => CodeDirection::Backward,
    }
}

/// Converts a stop node to the form that specializations use.
fn stop_place(node: Node) -> StopPlace {
    StopPlace {
        position: node.position,
        direction: if node.backward { CodeDirection::Backward } else { CodeDirection::Forward },
    }
}
