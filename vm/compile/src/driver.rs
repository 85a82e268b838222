//! Moves a machine by compiled code as far as there is some, and has the interpreter make the other steps. Code that
//! fails is no answer: the run goes back to a copy of the machine, and the interpreter says what happens, at which step.
//! Knows no form's meaning and no engine.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use reviver_flow::Activity;
use reviver_flow::graph::Way;
use reviver_vm::onlooker::Onlooker;
use reviver_vm::state::Part;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::travel::{Leg, Stop, Travel};
use reviver_vm::{CheckLevel, Machine, Program, Runner, Trap, checkpoint};

use crate::backend::Backend;
use crate::build::build;
use crate::build::paths::steps_to_entry;
use crate::compiled::Compiled;
use crate::error::Outside;
use crate::form::{FrameZeros, Observed, SsaBlock, SsaEnd, StopPlace, StopPlaces, Version};
use crate::frames;
use crate::known::KnownCells;
use crate::passes::{FormPass, PASSES, improved};

/// Runs one program by compiled code, of which each version is made when it is first needed.
#[derive(Debug)]
pub struct Driver<B> {
    program: Program,
    backend: B,
    level: CheckLevel,
    has_rules: bool,
    /// What forms go through before code is made of them.
    passes: &'static [FormPass],
    /// Code without a loop that makes fewer steps isn't made.
    least_steps: u32,
    /// Steps that are still the interpreter's before anything is compiled.
    interpreted_first: AtomicU64,
    versions: RwLock<HashMap<Version, Option<Arc<Compiled>>>>,
    /// Steps that code has made.
    made: AtomicU64,
    /// Whether something couldn't be compiled, or so much was: then nothing more is tried.
    has_given_up: AtomicBool,
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
/// The most versions.
const MOST_VERSIONS: usize = 1 << 12;
/// The most places to stop at that versions are made for: each is an exit.
const MOST_STOPS: usize = 64;
/// The most steps that are interpreted before code is looked for again.
const MOST_INTERPRETED: u64 = 1 << 12;

impl<B: Backend> Driver<B> {
    /// For runs of a program. Machines of other programs are the interpreter's.
    pub fn new(program: &Program, backend: B) -> Driver<B> {
        Driver {
            program: program.clone(),
            backend,
            level: CheckLevel::Checked,
            has_rules: program.module().procedures.iter().any(|procedure| procedure.rule.is_some()),
            passes: &PASSES,
            least_steps: 1,
            interpreted_first: AtomicU64::new(0),
            versions: RwLock::default(),
            made: AtomicU64::new(0),
            has_given_up: AtomicBool::new(false),
        }
    }

    /// The same, but forms go through these passes only.
    #[must_use]
    pub fn improving(self, passes: &'static [FormPass]) -> Driver<B> {
        Driver { passes, ..self }
    }

    /// The same, but nothing is compiled before so many steps are made: shorter runs are over by then.
    #[must_use]
    pub fn interpreting_first(self, steps: u64) -> Driver<B> {
        Driver { interpreted_first: AtomicU64::new(steps), ..self }
    }

    /// The same, but code without a loop that makes fewer steps than these is left to the interpreter, which is as fast as
    /// going there and back.
    #[must_use]
    pub fn leaving(self, least_steps: u32) -> Driver<B> {
        Driver { least_steps: least_steps.max(1), ..self }
    }

    /// The same, but code checks as much as a level asks for. Code that isn't checked tells those who watch nothing.
    #[must_use]
    pub fn checking(self, level: CheckLevel) -> Driver<B> {
        Driver { level, ..self }
    }

    /// Whether it may run a machine: one of its program, whose state is one of the program's too. Native code asks nothing of
    /// cells and references.
    fn takes(&self, machine: &Machine) -> bool {
        std::ptr::eq(self.program.flow(), machine.program().flow())
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
        let way = match (state.inverted, travel) {
            (false, Travel::Forward) | (true, Travel::Backward) => Way::Along,
            (false, Travel::Backward) | (true, Travel::Forward) => Way::Against,
        };
        let steps = steps_to_entry(program.flow(), state.position, way);
        if steps > 0 {
            return Err(steps);
        }
        // Exact numbers come back by themselves.
        let watches = self.level.is_checked() && !program.module().real.is_exact();
        let is_watched = watches && machine.reports().watch().is_some();
        let gradient = state.mode();
        let zeros = if begins { frames::zeros(program, state) } else { FrameZeros::default() };
        let (position, level, stops) = (state.position, self.level, stops.clone());
        let (known, observed) = (KnownCells::default(), Observed::Anywhere);
        let activity = if gradient { program.activity().clone() } else { Activity::default() };
        let version =
            Version { position, way, gradient, activity, level, is_watched, stops, zeros, known, observed };
        let code = self.versions.read().unwrap_or_else(PoisonError::into_inner).get(&version).cloned();
        let found = match code {
            Some(found) => found,
            None if self.has_given_up.load(Ordering::Relaxed) => None,
            None => self.made(version),
        };
        let fits = |code: &Arc<Compiled>| code.fits(program, state);
        found.filter(fits).ok_or(1)
    }

    /// Compiles a version, unless it makes no step.
    fn made(&self, version: Version) -> Option<Arc<Compiled>> {
        let compiled = self.compiled(version.clone()).unwrap_or_else(|_| {
            self.has_given_up.store(true, Ordering::Relaxed);
            None
        });
        let made = compiled.map(Arc::new);
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        versions.insert(version, made.clone());
        if versions.len() >= MOST_VERSIONS {
            self.has_given_up.store(true, Ordering::Relaxed);
        }
        made
    }

    fn compiled(&self, version: Version) -> Result<Option<Compiled>, Outside> {
        let form = build(self.program.module(), self.program.flow(), version)?;
        let is_loop = |block: &SsaBlock| matches!(block.end, SsaEnd::Pause { .. });
        let is_long = form.first_steps >= self.least_steps || form.blocks.iter().any(is_loop);
        // What makes no step leads nowhere.
        if form.first_steps == 0 || !is_long {
            return Ok(None);
        }
        Compiled::of(improved(form, self.passes), &self.backend).map(Some).ok_or(Outside::TooLarge)
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
        let before = machine.state().step;
        let budget = steps.min(self.leg.budget);
        let stop = interpreted(machine, self.stops, Leg { budget, ..self.leg }, &mut self.onlooker)?;
        self.leg.budget -= machine.state().step.abs_diff(before);
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

/// A place to stop at, as versions know it.
fn stop_place(node: Node) -> StopPlace {
    StopPlace { position: node.position, way: if node.backward { Way::Against } else { Way::Along } }
}
