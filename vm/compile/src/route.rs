//! Code that leads all the way from one position of main to another: from an end of the program to the other one, or to
//! where a gradient turns. Whoever can begin anew needs no copy of the machine, unlike the [`crate::driver`], and so a short run
//! costs little more than its steps. Knows no form's meaning and no engine; interprets nothing.

use reviver_flow::graph::Way;
use reviver_vm::travel::{Leg, Travel};
use reviver_vm::{Machine, Program, checkpoint};

use crate::build::build;
use crate::driver::{Backend, Code, cells, inputs};
use crate::form::{SsaEnd, SsaForm, Version};
use crate::op::Input;
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

    fn version(&self, program: &Program) -> Version {
        let bound = RoutePlan::whole(program, self.travel).to;
        Version {
            position: self.from,
            way: if self.travel == Travel::Forward { Way::Along } else { Way::Against },
            gradient: self.gradient,
            is_watched: self.is_watched,
            stop: (self.to != bound).then_some(self.to),
        }
    }
}

/// A route's code.
#[derive(Debug)]
pub struct Route {
    program: Program,
    plan: RoutePlan,
    inputs: Vec<Input>,
    /// The most steps before it can pause.
    first_steps: u64,
    code: Box<dyn Code>,
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
        if !arrives(&form, plan.to) {
            return None;
        }
        let inputs = form.inputs().map(|(_, input)| input).collect();
        let first_steps = form.first_steps.into();
        let code = backend.compile(form)?;
        Some(Route { program: program.clone(), plan, inputs, first_steps, code })
    }

    /// The most steps that may be made before it looks how many are left.
    pub fn first_steps(&self) -> u64 {
        self.first_steps
    }

    /// Sends a machine on the way with at most so many steps. One that doesn't stand where the route begins, in its mode,
    /// stays there.
    pub fn run(&self, machine: &mut Machine, budget: u64) -> RouteEnd {
        if budget < self.first_steps || !self.begins_at(machine) {
            return RouteEnd::Underway;
        }
        let leg = Leg { travel: self.plan.travel, budget: budget.min(MOST_STEPS) };
        let (state, watcher) = machine.state_and_watcher(leg);
        // Main asks for none, as a rule.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs, state) };
        match self.code.run(Job { inputs: &inputs, cells: cells(state), left: leg.budget, watcher }) {
            CodeOutcome::Exit { position, steps, counts } => {
                state.position = position;
                state.step += leg.travel.sign() * steps as i64;
                state.counters.erased_bits += counts.erased_bits;
                state.counters.discarded_bits += counts.discarded_bits;
                state.counters.drops += counts.drops;
                if position == self.plan.to { RouteEnd::Arrived } else { RouteEnd::Underway }
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
    }
}

/// Whether a form can be left at a position.
fn arrives(form: &SsaForm, to: u32) -> bool {
    form.blocks.iter().any(|block| block.end == SsaEnd::Exit { position: to })
}
