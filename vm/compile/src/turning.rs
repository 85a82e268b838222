//! The two ways of a gradient: the route to where it turns, and the route back from there, which takes for granted what the first one has left.
//! Where neither needs more of a machine than cells, they go without one. Judges nothing: whether the way back was the way there is for
//! [`reviver_vm::differentiate`] to say.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::bare::BareTurn;
use reviver_vm::differentiate::seeds::SumSize;
use reviver_vm::differentiate::{SeededCell, TurnedPass};
use reviver_vm::room::OutOfMemory;
use reviver_vm::{CheckLevel, Machine, Program};

use crate::backend::Backend;
use crate::bare::BareRoom;
use crate::form::Demands;
use crate::frames;
use crate::route::{Route, RouteEnd, RoutePlan, RouteRoom};
use crate::start::RouteStart;

/// The ways of gradients that turn at one position, as far as code leads them.
#[derive(Debug)]
pub struct TurningRoutes {
    turn: u32,
    there: Option<Route>,
    back: Option<Route>,
    level: CheckLevel,
    /// Main's frame: the way back takes for granted that no real there has an adjoint.
    reals_of_main: std::ops::Range<u32>,
}

/// The result of a gradient call without a machine. The room has its adjoints, and the values of the seeded cells.
#[derive(Clone, Copy, Debug)]
pub struct BareTrip {
    /// Steps of the way there, and of the way back.
    pub steps: u64,
    pub steps_back: u64,
    /// By how much the seeded sum may be off ([`reviver_vm::differentiate::Trust::loss_error`]).
    pub loss_error: Option<f64>,
}

/// How far gradients have come without a machine: the number of lists of seeds that are done, and how the next one ended if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareProgress {
    pub done: usize,
    pub end: BareEnd,
}

/// How gradients without a machine end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareEnd {
    /// All that was begun is done.
    Done,
    /// Nothing was begun.
    NeedsMachine,
    /// Code that leads there or back hasn't arrived: neither will a machine that is sent by it.
    Stranded,
    /// The judge doesn't vouch for the way back, and won't for the same one of a machine.
    Refused,
}

/// Both ways, and what they demand.
struct BareWays<'r> {
    there: &'r Route,
    back: &'r Route,
    demands: [Demands; 2],
}

impl TurningRoutes {
    /// Compiles the ways of gradients that turn at a position.
    pub fn new(program: &Program, backend: &impl Backend, turn: u32, level: CheckLevel) -> TurningRoutes {
        let [there, back] = RoutePlan::gradient(program, turn, level);
        let there = Route::new(program, backend, there);
        let left = there.as_ref().map(Route::left).unwrap_or_default();
        let back = Route::knowing(left, program, backend, back);
        let reals_of_main = program.flow().layout().main_frame(Class::Real);
        TurningRoutes { turn, there, back, level, reals_of_main }
    }

    /// Where they turn.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// How much they check.
    pub(crate) fn level(&self) -> CheckLevel {
        self.level
    }

    /// The way there, if code leads it.
    pub fn there(&self) -> Option<&Route> {
        self.there.as_ref()
    }

    /// The way back, if code leads it.
    pub fn back(&self) -> Option<&Route> {
        self.back.as_ref()
    }

    /// Both ways, if all that the way back asks of adjoints holds where the way there has come from a start, and some cells are seeded.
    fn both(&self, start: &RouteStart, seeds: &[SeededCell]) -> Option<(&Route, &Route)> {
        let (there, back) = (self.there.as_ref()?, self.back.as_ref()?);
        let is_seeded = seeds.iter().all(|seed| self.begin_without_adjoints(start.program(), seed.cell));
        let is_as_asked = is_seeded && start.state().adjoints.is_none();
        is_as_asked.then_some((there, back))
    }

    /// Whether no real of main's frame has an adjoint where a gradient turns, if none has one at the start.
    fn begin_without_adjoints(&self, program: &Program, loss: usize) -> bool {
        !self.reals_of_main.contains(&(loss as u32)) && !program.names_adjoints()
    }

    /// Sends a machine both ways for some seeds, with at most `most` steps there and no more than that and `slack` back. `values` receives the
    /// bits of the seeded cells. None where the machine hasn't arrived, or not by code alone: then its cells hold anything.
    ///
    /// # Errors
    /// There is no memory for the state, or for adjoints.
    pub fn run(
        &self,
        (start, seeds): (&RouteStart, &[SeededCell]),
        (machine, room): (&mut Machine, &mut RouteRoom),
        values: &mut Vec<u64>,
        (most, slack): (u64, u64),
    ) -> Result<Option<TurnedPass>, OutOfMemory> {
        let Some((there, back)) = self.both(start, seeds) else { return Ok(None) };
        if there.run_from(start, machine, room, most)? != RouteEnd::Arrived {
            return Ok(None);
        }
        let pass = TurnedPass::new(machine, start.state(), seeds, values)?;
        // The machine has come here by code, and has now the mode and the adjoints that the way back begins with: there is nothing to look at.
        let made = pass.step().abs_diff(start.state().step);
        let budget = budget_back(back, made, slack);
        Ok((back.go(machine, room, budget) == RouteEnd::Arrived).then_some(pass))
    }

    /// Goes there once without a machine, and back for each list of seeds: `each` receives what came of one, by its number among them. Where that
    /// ends before all are done, somebody else does the next one.
    pub fn run_bare<'s>(
        &self,
        (start, outputs): (&RouteStart, impl Iterator<Item = &'s [SeededCell]> + Clone),
        room: &mut BareRoom,
        (most, slack): (u64, u64),
        mut each: impl FnMut(usize, BareTrip, &BareRoom),
    ) -> BareProgress {
        let none = |end| BareProgress { done: 0, end };
        let Some(ways) =
            self.bare_ways(start, outputs.clone()).filter(|ways| most >= ways.there.first_steps())
        else {
            return none(BareEnd::NeedsMachine);
        };
        if room.begin(start.state(), ways.demands, ways.there.is_watched()).is_err() {
            *room = BareRoom::default();
            return none(BareEnd::NeedsMachine);
        }
        let Some(steps) = ways.there.go_bare(room, most, start.state().own_steps()) else {
            return none(BareEnd::Stranded);
        };
        let turn = match ways.there.is_watched() {
            true => BareTurn::new(start.program(), start.state(), room.cells().reals),
            false => BareTurn::default(),
        };
        // Without the memory for that each one goes there by itself.
        let is_remembered = outputs.clone().nth(1).is_none() || room.remember().is_ok();
        room.turn();
        let mut done = 0;
        for seeds in outputs.take(if is_remembered { usize::MAX } else { 1 }) {
            if done > 0 {
                room.return_to_turn();
            }
            match self.back_bare(&ways, (start, turn, steps), room, (seeds, slack)) {
                Ok(trip) => each(done, trip, room),
                Err(end) => return BareProgress { done, end },
            }
            done += 1;
        }
        BareProgress { done, end: BareEnd::Done }
    }

    /// Whether code leads both ways from a start for some lists of seeds, and needs no machine.
    pub(crate) fn are_bare<'s>(
        &self,
        start: &RouteStart,
        outputs: impl Iterator<Item = &'s [SeededCell]>,
    ) -> bool {
        self.bare_ways(start, outputs).is_some()
    }

    /// Whether there are starts from which code leads both ways where some cells are seeded, and needs no machine.
    pub(crate) fn may_be_bare(&self, program: &Program, mut cells: impl Iterator<Item = usize>) -> bool {
        let is_plain =
            |route: &Option<Route>| route.as_ref().is_some_and(|route| route.bare_demands().is_some());
        is_plain(&self.there)
            && is_plain(&self.back)
            && cells.all(|cell| self.begin_without_adjoints(program, cell))
    }

    /// The ways, if they need no machine, and a start lacks nothing of what they take for granted.
    fn bare_ways<'s>(
        &self,
        start: &RouteStart,
        outputs: impl Iterator<Item = &'s [SeededCell]>,
    ) -> Option<BareWays<'_>> {
        let found = outputs.map(|seeds| self.both(start, seeds)).reduce(|one, other| one.and(other));
        let (there, back) = found??;
        let demands = [there.bare_demands()?, back.bare_demands()?];
        let fits = |&demands: &Demands| frames::levels(start.program(), start.state(), demands, 0).is_some();
        let begins = there.is_of(start.program()) && there.begins_from(start) && demands.iter().all(fits);
        begins.then_some(BareWays { there, back, demands })
    }

    /// Goes back with some seeds from where the way there has turned, after so many steps.
    fn back_bare(
        &self,
        ways: &BareWays,
        (start, turn, steps): (&RouteStart, BareTurn, u64),
        room: &mut BareRoom,
        (seeds, slack): (&[SeededCell], u64),
    ) -> Result<BareTrip, BareEnd> {
        let (program, state) = (start.program(), start.state());
        room.seed(seeds).map_err(|_| BareEnd::NeedsMachine)?;
        let steps_back = ways
            .back
            .go_bare(room, budget_back(ways.back, steps, slack), state.own_steps() + steps as i64)
            .ok_or(BareEnd::Stranded)?;
        let loss_error = match self.level {
            CheckLevel::Unchecked => None,
            CheckLevel::Checked if ways.back.is_watched() && steps_back != steps => {
                return Err(BareEnd::Refused);
            }
            CheckLevel::Checked => {
                let sum = SumSize::of(program, seeds, room.values());
                let (cells, watch) = room.cells_and_watch();
                let vouched = turn.vouched(program, state, &cells, watch, sum);
                Some(vouched.ok_or(BareEnd::Refused)?)
            }
        };
        Ok(BareTrip { steps, steps_back, loss_error })
    }
}

/// The most steps of a way back, where so many were made there.
fn budget_back(back: &Route, made: u64, slack: u64) -> u64 {
    made.saturating_add(slack).saturating_add(back.first_steps())
}
