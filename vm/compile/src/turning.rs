//! The two ways of a gradient: the route to where it turns, and the route back from there, which takes for granted what the first one has left.
//! Where neither needs more of a machine than cells, they go without one. Judges nothing: whether the way back was the way there is for
//! [`reviver_vm::differentiate`] to say.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::TurnedPass;
use reviver_vm::differentiate::bare::BareTurn;
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

/// What a gradient came to without a machine, whose adjoints are in the room.
#[derive(Clone, Copy, Debug)]
pub struct BareTrip {
    /// The bits of the loss.
    pub value: u64,
    /// Steps of the way there, and of the way back.
    pub steps: u64,
    pub steps_back: u64,
    /// By how much the loss may be off ([`reviver_vm::differentiate::Trust::loss_error`]).
    pub loss_error: Option<f64>,
}

/// How far gradients have come without a machine: so many losses are done, and how the next one ended if there is one.
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

    /// Both ways, if all that the way back asks of adjoints holds where the way there has come from a start, and one of them is that of a loss.
    fn both(&self, start: &RouteStart, loss: usize) -> Option<(&Route, &Route)> {
        let (there, back) = (self.there.as_ref()?, self.back.as_ref()?);
        let is_as_asked =
            self.begin_without_adjoints(start.program(), loss) && start.state().adjoints.is_none();
        is_as_asked.then_some((there, back))
    }

    /// Whether no real of main's frame has an adjoint where a gradient turns, if none has one at the start.
    fn begin_without_adjoints(&self, program: &Program, loss: usize) -> bool {
        !self.reals_of_main.contains(&(loss as u32)) && !program.names_adjoints()
    }

    /// Sends a machine both ways for a loss, a cell by its place among the reals, with at most `most` steps there and no more than that and `slack`
    /// back. None where it hasn't arrived, or not by code alone: then its cells hold anything.
    ///
    /// # Errors
    /// There is no memory for the state, or for adjoints.
    pub fn run(
        &self,
        (start, loss): (&RouteStart, usize),
        (machine, room): (&mut Machine, &mut RouteRoom),
        (most, slack): (u64, u64),
    ) -> Result<Option<TurnedPass>, OutOfMemory> {
        let Some((there, back)) = self.both(start, loss) else { return Ok(None) };
        if there.run_from(start, machine, room, most)? != RouteEnd::Arrived {
            return Ok(None);
        }
        let pass = TurnedPass::new(machine, start.state(), loss)?;
        // The machine has come here by code, and has now the mode and the one adjoint that the way back begins with: there is nothing to look at.
        let made = pass.step().abs_diff(start.state().step);
        let budget = budget_back(back, made, slack);
        Ok((back.go(machine, room, budget) == RouteEnd::Arrived).then_some(pass))
    }

    /// Goes there once without a machine, and back for each of some losses: `each` is told what came of one, by its number among them. Where that
    /// ends before all are done, somebody else does the next one.
    pub fn run_bare(
        &self,
        (start, losses): (&RouteStart, impl Iterator<Item = usize> + Clone),
        room: &mut BareRoom,
        (most, slack): (u64, u64),
        mut each: impl FnMut(usize, BareTrip, &[u64]),
    ) -> BareProgress {
        let none = |end| BareProgress { done: 0, end };
        let Some(ways) =
            self.bare_ways(start, losses.clone()).filter(|ways| most >= ways.there.first_steps())
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
        // Without the memory for that each loss goes there by itself.
        let is_remembered = losses.clone().nth(1).is_none() || room.remember().is_ok();
        room.turn();
        let mut done = 0;
        for loss in losses.take(if is_remembered { usize::MAX } else { 1 }) {
            if done > 0 {
                room.return_to_turn();
            }
            match self.back_bare(&ways, (start, turn, steps), room, (loss, slack)) {
                Ok(trip) => each(done, trip, room.adjoints()),
                Err(end) => return BareProgress { done, end },
            }
            done += 1;
        }
        BareProgress { done, end: BareEnd::Done }
    }

    /// Whether code leads both ways from a start for some losses, and needs no machine.
    pub(crate) fn are_bare(&self, start: &RouteStart, losses: impl Iterator<Item = usize>) -> bool {
        self.bare_ways(start, losses).is_some()
    }

    /// Whether there are starts from which code leads both ways for some losses, and needs no machine.
    pub(crate) fn may_be_bare(&self, program: &Program, losses: &[usize]) -> bool {
        let is_plain =
            |route: &Option<Route>| route.as_ref().is_some_and(|route| route.bare_demands().is_some());
        is_plain(&self.there)
            && is_plain(&self.back)
            && losses.iter().all(|&loss| self.begin_without_adjoints(program, loss))
    }

    /// The ways, if they need no machine, and a start lacks nothing of what they take for granted.
    fn bare_ways(&self, start: &RouteStart, losses: impl Iterator<Item = usize>) -> Option<BareWays<'_>> {
        let found = losses.map(|loss| self.both(start, loss)).reduce(|one, other| one.and(other));
        let (there, back) = found??;
        let demands = [there.bare_demands()?, back.bare_demands()?];
        let fits = |&demands: &Demands| frames::levels(start.program(), start.state(), demands, 0).is_some();
        let begins = there.is_of(start.program()) && there.begins_from(start) && demands.iter().all(fits);
        begins.then_some(BareWays { there, back, demands })
    }

    /// Goes back for a loss from where the way there has turned, after so many steps.
    fn back_bare(
        &self,
        ways: &BareWays,
        (start, turn, steps): (&RouteStart, BareTurn, u64),
        room: &mut BareRoom,
        (loss, slack): (usize, u64),
    ) -> Result<BareTrip, BareEnd> {
        let (program, state) = (start.program(), start.state());
        let value = BareTurn::round(program, &mut room.cells(), loss);
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
                let (cells, watch) = room.cells_and_watch();
                let vouched = turn.vouched(program, state, &cells, watch, value);
                Some(vouched.ok_or(BareEnd::Refused)?)
            }
        };
        Ok(BareTrip { value, steps, steps_back, loss_error })
    }
}

/// The most steps of a way back, where so many were made there.
fn budget_back(back: &Route, made: u64, slack: u64) -> u64 {
    made.saturating_add(slack).saturating_add(back.first_steps())
}
