//! Compiled runs of whole programs, from one end to the other ([`CompiledRun`]), and the plans of such runs and of a
//! gradient's sweeps ([`RunPlan`]).
//!
//! After a failed check, the caller starts the run again. So a compiled run needs no copy of the machine, unlike the
//! tiered runtime ([`crate::tiered`]), and a short run costs little more than its steps. This module uses no particular
//! engine, is independent of the meaning of operations, and never interprets.

use reviver_flow::Activity;
use reviver_flow::graph::CodeDirection;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::travel::{Segment, Travel};
use reviver_vm::{CheckLevel, Machine, Program, State, checkpoint};

use crate::backend::Backend;
use crate::build::build_within;
use crate::compiled::{Compiled, MOST_WORK};
use crate::frames;
use crate::function::{LiveAtExits, Specialization, SsaFunction, StopPlace, ZerosAtEntry};
use crate::passes::{PASSES, Pass, optimized};
use crate::start::RunStart;

/// Plan of a run through main's code: its first and last position, its direction and its mode. A compiled run executes
/// one plan, from one end of the program to the other. The call functions of [`crate::call`] join the plans of two
/// sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Direction of the run, which leads from `from` to `to`.
    pub travel: Travel,
    /// Position at which the run begins: the index of the instruction after it.
    pub from: u32,
    /// Position at which the run ends: an end of the program, or a turning point.
    pub to: u32,
    /// True if steps propagate adjoints.
    pub gradient: bool,
    /// Level that says which checks the code performs.
    pub level: CheckLevel,
    /// True if the code reports jumps and freed cells to a watcher, as [`Machine::watch`] does. Exact number systems
    /// need no watcher.
    pub is_watched: bool,
    /// True if the code will be lifted to series. A check then fails where a forward run over series may lose a
    /// derivative.
    pub is_lifted: bool,
}

impl RunPlan {
    /// Returns the plan of a whole run: from the beginning to the end, or from the end to the beginning.
    pub fn whole(program: &Program, travel: Travel, level: CheckLevel) -> RunPlan {
        let (begin, end) = (program.begin(), program.end());
        let (from, to) = if travel == Travel::Forward { (begin, end) } else { (end, begin) };
        RunPlan { travel, from, to, gradient: false, level, is_watched: false, is_lifted: false }
    }

    /// Returns the plans of a gradient's primal sweep and reverse sweep, which meet at the turning point `turn`. Only
    /// checked sweeps are watched.
    pub fn gradient(program: &Program, turn: u32, level: CheckLevel) -> [RunPlan; 2] {
        let is_watched = level.is_checked() && !program.module().real.is_exact();
        let primal_plan = RunPlan { to: turn, is_watched, ..RunPlan::whole(program, Travel::Forward, level) };
        let back = RunPlan::whole(program, Travel::Backward, level);
        [primal_plan, RunPlan { from: turn, gradient: true, is_watched, ..back }]
    }

    /// Returns the specialization of the plan's code.
    pub fn specialization(&self, program: &Program) -> Specialization {
        let bound = RunPlan::whole(program, self.travel, self.level).to;
        let direction =
            if self.travel == Travel::Forward { CodeDirection::Forward } else { CodeDirection::Backward };
        Specialization {
            position: self.from,
            direction,
            gradient: self.gradient,
            activity: if self.gradient || self.is_lifted {
                program.activity().clone()
            } else {
                Activity::default()
            },
            level: self.level,
            is_watched: self.is_watched,
            stops: (self.to != bound)
                .then_some(StopPlace { position: self.to, direction })
                .into_iter()
                .collect(),
            zeros: self.zeros(program),
            live_at_exits: self.live_at_exits(),
        }
    }

    /// Builds the SSA function of the plan, with the given liveness at exits, and applies passes. Returns `None` if no
    /// code reaches the end of the plan.
    pub(crate) fn function(
        &self,
        program: &Program,
        live_at_exits: LiveAtExits,
        passes: &[Pass],
    ) -> Option<SsaFunction> {
        let specialization = Specialization { live_at_exits, ..self.specialization(program) };
        let function = build_within(program.module(), program.flow(), specialization, MOST_WORK).ok()?;
        arrives(&function, self.to).then(|| optimized(function, passes))
    }

    /// Returns the liveness at exits. If a reverse sweep isn't verified, its only results are adjoints.
    fn live_at_exits(&self) -> LiveAtExits {
        match (self.gradient, self.level) {
            (true, CheckLevel::Unchecked) => LiveAtExits::AdjointsOnReturn,
            (true, CheckLevel::Checked) | (false, _) => LiveAtExits::All,
        }
    }

    /// Returns the zeros that the code assumes at entry. At both ends of the program, main's frame is 0 unless a caller
    /// has changed it; so each machine or start state is checked before a run. At the turning point of a gradient, only
    /// seeded cells have adjoints other than 0, and seeded cells are globals.
    pub(crate) fn zeros(&self, program: &Program) -> ZerosAtEntry {
        let are_few = frames::are_few(program);
        ZerosAtEntry {
            cells: are_few && !self.gradient,
            adjoints: are_few && self.gradient,
            no_adjoint_is_negative: self.gradient,
        }
    }
}

/// Compiled code of a whole run.
#[derive(Debug)]
pub struct CompiledRun {
    program: Program,
    plan: RunPlan,
    /// Zeros that the code assumes at entry.
    zeros: ZerosAtEntry,
    compiled: Compiled,
}

/// Reusable memory of compiled runs, in addition to the machine's.
#[derive(Debug, Default)]
pub struct RunBuffers {
    /// Buffer for call records, and for the arguments of calls that are open at an exit.
    references: Vec<i64>,
}

/// Outcome of a compiled run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The machine is at the end of the compiled run.
    Finished,
    /// The machine is between the two ends, or still at the beginning. Any engine can continue from this state.
    Underway,
    /// A check failed, so the machine's cells are undefined. The caller must set the machine to the start again, and
    /// interpret the run.
    Failed,
}

/// Upper bound on step budgets. No run is that long, and sums of such step counts don't overflow.
pub(crate) const MOST_STEPS: u64 = 1 << 62;

impl CompiledRun {
    /// Compiles a whole run. Returns `None` if the run needs steps that aren't compiled, or if the backend can't
    /// compile it.
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        travel: Travel,
        level: CheckLevel,
    ) -> Option<CompiledRun> {
        let plan = RunPlan::whole(program, travel, level);
        let function = plan.function(program, LiveAtExits::All, &PASSES)?;
        let compiled = Compiled::of(function, backend)?;
        Some(CompiledRun { program: program.clone(), plan, zeros: plan.zeros(program), compiled })
    }

    /// Returns the largest number of steps before the code first checks its budget. Code isn't run with a smaller
    /// budget.
    pub fn first_steps(&self) -> u64 {
        self.compiled.first_steps
    }

    /// Runs a machine from its current state for at most `budget` steps. Doesn't move the machine unless it is at the
    /// beginning of the compiled run, and in the compiled run's mode.
    pub fn run(&self, machine: &mut Machine, buffers: &mut RunBuffers, budget: u64) -> RunEnd {
        if budget < self.first_steps() || !self.begins_at(machine) {
            return RunEnd::Underway;
        }
        self.go(machine, buffers, budget)
    }

    /// Sets a machine to a start, and runs it for at most `budget` steps. Returns [`RunEnd::Failed`]
    /// for a start or a machine of another program.
    ///
    /// # Errors
    /// Fails if there is no memory for the state. The machine's state is then undefined until a later call sets the
    /// machine to a start.
    pub fn run_from(
        &self,
        start: &RunStart,
        machine: &mut Machine,
        buffers: &mut RunBuffers,
        budget: u64,
    ) -> Result<RunEnd, OutOfMemory> {
        if !self.is_of(start.program()) || !self.is_of(machine.program()) {
            return Ok(RunEnd::Failed);
        }
        machine.renew(start.state())?;
        if !self.begins_from(start) || budget < self.first_steps() {
            return Ok(RunEnd::Underway);
        }
        Ok(self.go(machine, buffers, budget))
    }

    /// Returns true if a start of the same program meets the assumptions of the code.
    fn begins_from(&self, start: &RunStart) -> bool {
        self.is_at_start(start.state()) && start.zeros().include(self.zeros)
    }

    /// Runs a machine that is at the beginning of the compiled run and meets the assumptions of the code.
    fn go(&self, machine: &mut Machine, buffers: &mut RunBuffers, budget: u64) -> RunEnd {
        // The interpreter allocates adjoints before its first step, too.
        if self.program.names_adjoints() && machine.state_mut().make_adjoints().is_err() {
            return RunEnd::Underway;
        }
        let segment = Segment { travel: self.plan.travel, budget: budget.min(MOST_STEPS) };
        match self.compiled.run(machine, segment, &mut buffers.references) {
            Some(_) if self.is_there(machine.state()) => RunEnd::Finished,
            Some(_) => RunEnd::Underway,
            None => RunEnd::Failed,
        }
    }

    fn is_of(&self, program: &Program) -> bool {
        std::ptr::eq(self.program.flow(), program.flow())
    }

    fn is_at_start(&self, state: &State) -> bool {
        (state.position, state.inverted, state.mode()) == (self.plan.from, false, false)
            && state.calls.is_empty()
    }

    fn is_there(&self, state: &State) -> bool {
        state.position == self.plan.to && state.calls.is_empty()
    }

    /// Returns true if a machine is at the beginning of the compiled run. All cells of the machine must exist, because
    /// native code doesn't check addresses.
    fn begins_at(&self, machine: &Machine) -> bool {
        let state = machine.state();
        self.is_of(machine.program())
            && self.is_at_start(state)
            && machine.residues().is_none()
            && machine.reports().watch().is_none()
            && checkpoint::fits(machine.program(), state)
            && frames::are_known(&self.program, state, self.zeros)
    }
}

/// Returns true if a function has an exit at the position `to` without open calls.
fn arrives(function: &SsaFunction, to: u32) -> bool {
    function.exits.iter().any(|exit| exit.position == to && exit.calls.is_empty())
}
