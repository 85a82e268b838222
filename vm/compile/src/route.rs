//! Code that leads all the way from one position of main to another: from an end of the program to the other one, or to
//! where a gradient turns. Whoever can begin anew needs no copy of the machine, unlike the [`crate::driver`], and so a short run
//! costs little more than its steps. Knows no form's meaning and no engine; interprets nothing.

use reviver_flow::graph::Way;
use reviver_vm::travel::{Leg, Travel};
use reviver_vm::{Machine, Program, checkpoint};

use crate::build::build;
use crate::driver::{Backend, Code, cells, inputs};
use crate::form::{Demands, FormExit, FrameZeros, StopPlace, Version};
use crate::frames;
use crate::op::Input;
use crate::passes::{PASSES, improved};
use crate::run::{CodeOutcome, Job};

/// Where a route leads from and to, and in which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePlan {
    pub travel: Travel,
    pub from: u32,
    pub to: u32,
    /// Whether steps carry adjoints.
    pub gradient: bool,
    /// Whether the machine watches its way ([`Machine::watch`]). What is exact needs none.
    pub is_watched: bool,
}

impl RoutePlan {
    /// From the beginning to the end, or from there back.
    pub fn whole(program: &Program, travel: Travel) -> RoutePlan {
        let (begin, end) = (program.begin(), program.end());
        let (from, to) = if travel == Travel::Forward { (begin, end) } else { (end, begin) };
        RoutePlan { travel, from, to, gradient: false, is_watched: false }
    }

    /// The two ways of a gradient that turns at a position.
    pub fn gradient(program: &Program, turn: u32) -> [RoutePlan; 2] {
        let is_watched = !program.module().real.is_exact();
        let there = RoutePlan { to: turn, is_watched, ..RoutePlan::whole(program, Travel::Forward) };
        let back = RoutePlan::whole(program, Travel::Backward);
        [there, RoutePlan { from: turn, gradient: true, is_watched, ..back }]
    }

    /// Whether an exit is where it leads to.
    fn ends_with(&self, exit: &FormExit) -> bool {
        exit.position == self.to && exit.calls.is_empty()
    }

    fn version(&self, program: &Program) -> Version {
        let bound = RoutePlan::whole(program, self.travel).to;
        let way = if self.travel == Travel::Forward { Way::Along } else { Way::Against };
        let stop = (self.to != bound).then_some(StopPlace { position: self.to, way });
        let RoutePlan { gradient, is_watched, .. } = *self;
        Version { position: self.from, way, gradient, is_watched, stop, zeros: self.zeros(program) }
    }

    /// What main's frame holds where a route begins: nothing at both ends of a program; and where a gradient turns, no adjoints.
    fn zeros(&self, program: &Program) -> FrameZeros {
        let layout = program.flow().layout();
        let cells =
            (layout.pool_ints_start - layout.main_ints).max(layout.pool_reals_start - layout.main_reals);
        let is_looked_at = cells <= frames::MOST_LOOKED_AT;
        let is_end = [program.begin(), program.end()].contains(&self.from);
        FrameZeros { cells: is_looked_at && is_end, adjoints: is_looked_at && self.gradient }
    }
}

/// A route's code.
#[derive(Debug)]
pub struct Route {
    program: Program,
    plan: RoutePlan,
    zeros: FrameZeros,
    inputs: Vec<Input>,
    exits: Vec<FormExit>,
    demands: Demands,
    /// The most steps before it can pause.
    first_steps: u64,
    code: Box<dyn Code>,
}

/// Memory that runs of routes take besides the machine's; it serves again and again.
#[derive(Debug, Default)]
pub struct RouteRoom {
    /// What open calls pass where code is left.
    references: Vec<i64>,
}

/// What became of a machine that was sent on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteEnd {
    /// It is where the route leads to.
    Arrived,
    /// It stands somewhere on the way, perhaps still at the beginning; any engine goes on from there.
    Underway,
    /// Its cells hold anything: it has to begin anew, and an interpreter says what happens.
    Failed,
}

/// So many steps no run makes; numbers of steps stay far from where they wrap.
const MOST_STEPS: u64 = 1 << 62;

impl Route {
    /// Compiles a route. None where no code leads there without somebody's help, or where none can be made.
    pub fn new(program: &Program, backend: &impl Backend, plan: RoutePlan) -> Option<Route> {
        let form = build(program.module(), program.flow(), plan.version(program)).ok()?;
        if !form.exits.iter().any(|exit| plan.ends_with(exit)) {
            return None;
        }
        let zeros = plan.zeros(program);
        let inputs = form.inputs().map(|(_, input)| input).collect();
        let (exits, demands, first_steps) = (form.exits.clone(), form.demands, form.first_steps.into());
        let code = backend.compile(improved(form, &PASSES))?;
        Some(Route { program: program.clone(), plan, zeros, inputs, exits, demands, first_steps, code })
    }

    /// The most steps that may be made before it looks how many are left.
    pub fn first_steps(&self) -> u64 {
        self.first_steps
    }

    /// Sends a machine on the way with at most so many steps. One that doesn't stand where the route begins, in its mode,
    /// stays there.
    pub fn run(&self, machine: &mut Machine, room: &mut RouteRoom, budget: u64) -> RouteEnd {
        if budget < self.first_steps || !self.begins_at(machine) {
            return RouteEnd::Underway;
        }
        let leg = Leg { travel: self.plan.travel, budget: budget.min(MOST_STEPS) };
        let (state, watcher) = machine.state_and_watcher(leg);
        // Main asks for none, as a rule.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs, state) };
        if frames::extend(state, self.demands).is_err() {
            return RouteEnd::Failed;
        }
        room.references.resize(self.demands.references as usize, 0);
        let cells = cells(state, &mut room.references);
        match self.code.run(Job { inputs: &inputs, cells, left: leg.budget, watcher }) {
            CodeOutcome::Exit { exit, steps, counts } => {
                let Some(exit) = self.exits.get(exit as usize) else { return RouteEnd::Failed };
                frames::leave(state, exit, self.demands, &room.references);
                let sign = leg.travel.sign();
                state.step += sign * steps as i64;
                state.counters.erased_bits += counts.erased_bits;
                state.counters.discarded_bits += counts.discarded_bits;
                state.counters.drops += counts.drops;
                state.counters.calls = state.counters.calls.wrapping_add(sign * counts.calls as i64);
                if self.plan.ends_with(exit) { RouteEnd::Arrived } else { RouteEnd::Underway }
            }
            CodeOutcome::Failed => RouteEnd::Failed,
        }
    }

    /// Whether a machine stands where it begins. Native code asks nothing of cells, so all of them must be there.
    fn begins_at(&self, machine: &Machine) -> bool {
        let (state, plan) = (machine.state(), &self.plan);
        std::ptr::eq(self.program.flow(), machine.program().flow())
            && (state.position, state.inverted, state.mode()) == (plan.from, false, plan.gradient)
            && state.calls.is_empty()
            && machine.residues().is_none()
            && machine.reports().watch().is_some() == plan.is_watched
            && checkpoint::fits(machine.program(), state)
            && frames::have_room(machine.program(), state, self.demands)
            && self.finds_zeros(frames::zeros(machine.program(), state))
    }

    /// Whether what the code takes to be 0 is.
    fn finds_zeros(&self, found: FrameZeros) -> bool {
        (found.cells || !self.zeros.cells) && (found.adjoints || !self.zeros.adjoints)
    }
}
