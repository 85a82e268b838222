//! Code that leads all the way from one position of main to another: from an end of the program to the other one, or to
//! where a gradient turns. Whoever can begin anew needs no copy of the machine, unlike the [`crate::driver`], and so a short run
//! costs little more than its steps. Knows no form's meaning and no engine; interprets nothing.

use reviver_flow::Activity;
use reviver_flow::graph::Way;
use reviver_vm::room::OutOfMemory;
use reviver_vm::travel::{Leg, Travel};
use reviver_vm::{CheckLevel, Machine, Program, State, checkpoint};

use crate::backend::Backend;
use crate::build::build_within;
use crate::compiled::{Compiled, MOST_WORK};
use crate::form::{FrameZeros, Observed, SsaForm, StopPlace, Version};
use crate::frames;
use crate::known::KnownCells;
use crate::passes::{PASSES, improved};
use crate::start::RouteStart;

/// Where a route leads from and to, and in which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePlan {
    pub travel: Travel,
    pub from: u32,
    pub to: u32,
    /// Whether steps carry adjoints.
    pub gradient: bool,
    /// How much is checked.
    pub level: CheckLevel,
    /// Whether the machine watches its way ([`Machine::watch`]). What is exact needs none.
    pub is_watched: bool,
}

impl RoutePlan {
    /// From the beginning to the end, or from there back.
    pub fn whole(program: &Program, travel: Travel, level: CheckLevel) -> RoutePlan {
        let (begin, end) = (program.begin(), program.end());
        let (from, to) = if travel == Travel::Forward { (begin, end) } else { (end, begin) };
        RoutePlan { travel, from, to, gradient: false, level, is_watched: false }
    }

    /// The two ways of a gradient that turns at a position. Only where everything is checked somebody watches.
    pub fn gradient(program: &Program, turn: u32, level: CheckLevel) -> [RoutePlan; 2] {
        let is_watched = level.is_checked() && !program.module().real.is_exact();
        let there = RoutePlan { to: turn, is_watched, ..RoutePlan::whole(program, Travel::Forward, level) };
        let back = RoutePlan::whole(program, Travel::Backward, level);
        [there, RoutePlan { from: turn, gradient: true, is_watched, ..back }]
    }

    /// The version of its code, where this is known of cells at the beginning.
    pub fn version(&self, program: &Program, known: KnownCells) -> Version {
        let bound = RoutePlan::whole(program, self.travel, self.level).to;
        let way = if self.travel == Travel::Forward { Way::Along } else { Way::Against };
        Version {
            position: self.from,
            way,
            gradient: self.gradient,
            activity: if self.gradient { program.activity().clone() } else { Activity::default() },
            level: self.level,
            is_watched: self.is_watched,
            stops: (self.to != bound).then_some(StopPlace { position: self.to, way }).into_iter().collect(),
            zeros: self.zeros(program),
            known,
            observed: self.observed(),
        }
    }

    /// The form of its code, where this is known of cells at the beginning. None where no code leads there.
    pub(crate) fn form(&self, program: &Program, known: KnownCells) -> Option<SsaForm> {
        let version = self.version(program, known);
        let form = build_within(program.module(), program.flow(), version, MOST_WORK).ok()?;
        arrives(&form, self.to).then(|| improved(form, &PASSES))
    }

    /// Of a way back that nobody judges only adjoints are asked for.
    fn observed(&self) -> Observed {
        match (self.gradient, self.level) {
            (true, CheckLevel::Unchecked) => Observed::Adjoints,
            (true, CheckLevel::Checked) | (false, _) => Observed::Anywhere,
        }
    }

    /// What is known of cells where it begins: a run from an end has used nothing yet, and a gradient's adjoints
    /// are 0 but for the loss's.
    pub(crate) fn zeros(&self, program: &Program) -> FrameZeros {
        let are_few = frames::are_few(program);
        FrameZeros {
            cells: are_few && !self.gradient,
            adjoints: are_few && self.gradient,
            no_adjoint_is_negative: self.gradient,
        }
    }
}

/// A route's code.
#[derive(Debug)]
pub struct Route {
    program: Program,
    plan: RoutePlan,
    /// What the plan says of cells where it begins.
    zeros: FrameZeros,
    compiled: Compiled,
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
pub(crate) const MOST_STEPS: u64 = 1 << 62;

impl Route {
    /// Compiles a route. None where no code leads there without somebody's help, or where none can be made.
    pub fn new(program: &Program, backend: &impl Backend, plan: RoutePlan) -> Option<Route> {
        let form = plan.form(program, KnownCells::default())?;
        let compiled = Compiled::of(form, backend)?;
        Some(Route { program: program.clone(), plan, zeros: plan.zeros(program), compiled })
    }

    /// The most steps that may be made before it looks how many are left.
    pub fn first_steps(&self) -> u64 {
        self.compiled.first_steps
    }

    /// Sends a machine on the way with at most so many steps. One that doesn't stand where the route begins, in its mode,
    /// stays there.
    pub fn run(&self, machine: &mut Machine, room: &mut RouteRoom, budget: u64) -> RouteEnd {
        if budget < self.first_steps() || !self.begins_at(machine) {
            return RouteEnd::Underway;
        }
        self.go(machine, room, budget)
    }

    /// Has a machine begin anew, watched if the plan says so, and sends it on the way with at most so many steps. A machine of another
    /// program has failed.
    ///
    /// # Errors
    /// There is no memory for the state; what the machine is then, only another beginning mends.
    pub fn run_from(
        &self,
        start: &RouteStart,
        machine: &mut Machine,
        room: &mut RouteRoom,
        budget: u64,
    ) -> Result<RouteEnd, OutOfMemory> {
        if !self.is_of(start.program()) || !self.is_of(machine.program()) {
            return Ok(RouteEnd::Failed);
        }
        machine.renew(start.state())?;
        if self.plan.is_watched {
            machine.watch();
        }
        if !self.begins_from(start) || budget < self.first_steps() {
            return Ok(RouteEnd::Underway);
        }
        Ok(self.go(machine, room, budget))
    }

    /// Whether a start of its program lacks nothing of what its code takes for granted.
    #[inline]
    pub(crate) fn begins_from(&self, start: &RouteStart) -> bool {
        self.stands_at_its_place(start.state()) && start.zeros().include(self.zeros)
    }

    /// Moves a machine that stands where the route begins, and lacks nothing of what code takes for granted.
    pub(crate) fn go(&self, machine: &mut Machine, room: &mut RouteRoom, budget: u64) -> RouteEnd {
        // As an interpreter does before the first step.
        if self.program.names_adjoints() && machine.state_mut().make_adjoints().is_err() {
            return RouteEnd::Underway;
        }
        let leg = Leg { travel: self.plan.travel, budget: budget.min(MOST_STEPS) };
        match self.compiled.run(machine, leg, &mut room.references) {
            Some(_) if self.is_there(machine.state()) => RouteEnd::Arrived,
            Some(_) if self.plan.observed() == Observed::Anywhere => RouteEnd::Underway,
            Some(_) | None => RouteEnd::Failed,
        }
    }

    pub(crate) fn is_of(&self, program: &Program) -> bool {
        std::ptr::eq(self.program.flow(), program.flow())
    }

    fn stands_at_its_place(&self, state: &State) -> bool {
        (state.position, state.inverted, state.mode()) == (self.plan.from, false, self.plan.gradient)
            && state.calls.is_empty()
    }

    fn is_there(&self, state: &State) -> bool {
        state.position == self.plan.to && state.calls.is_empty()
    }

    /// Whether a machine stands where it begins. Native code asks nothing of cells, so all of them must be there.
    fn begins_at(&self, machine: &Machine) -> bool {
        let (state, plan) = (machine.state(), &self.plan);
        self.is_of(machine.program())
            && self.stands_at_its_place(state)
            && machine.residues().is_none()
            && machine.reports().watch().is_some() == plan.is_watched
            && checkpoint::fits(machine.program(), state)
            && frames::are_known(&self.program, state, self.zeros)
    }
}

/// Whether a form can be left at a position.
fn arrives(form: &SsaForm, to: u32) -> bool {
    form.exits.iter().any(|exit| exit.position == to && exit.calls.is_empty())
}
