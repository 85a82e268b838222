//! The two ways of a gradient for a group, and several lists of seeds at once, a row for each. What a group comes to is what each of its lanes comes to alone, to the last bit: code makes the same
//! operations in the same order, and the judge is the same. Interprets nothing.

use std::ops::RangeInclusive;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::group::{GroupTurn, InGroup};
use reviver_vm::room::OutOfMemory;
use reviver_vm::travel::{Leg, Travel};
use reviver_vm::watch::{Rounding, Watch, Watcher};
use reviver_vm::{CheckLevel, Program};

use crate::backend::{Backend, GroupCode, GroupJob, GroupOutcome};
use crate::form::{Demands, SsaForm};
use crate::known::KnownCells;
use crate::left::left_by;
use crate::route::{MOST_STEPS, RoutePlan};
use crate::start::RouteStart;
use crate::turning::TurningRoutes;

use super::form::{GroupForm, GroupStart, SpreadInts};
use super::room::{GroupRoom, RoomToken};

/// Both ways of groups, as code leads them.
#[derive(Debug)]
pub struct GroupRoutes {
    /// The same ways of one lane, which say where they may begin.
    alone: Arc<TurningRoutes>,
    there: GroupWay,
    back: GroupWay,
    /// What the way back leaves as it is at the start, whatever that is: nothing writes or judges it.
    settled: KnownCells,
    level: CheckLevel,
    /// The cells that are seeded, a list for each row.
    rows: Vec<Vec<usize>>,
    given: Vec<(Class, usize)>,
    /// What rooms are known by that were made for these ways: native code asks nothing of cells.
    rooms: Arc<RoomToken>,
}

/// One of the ways.
#[derive(Debug)]
struct GroupWay {
    travel: Travel,
    demands: Demands,
    first_steps: u64,
    is_watched: bool,
    /// The adjoints that it may make others than 0.
    adjoints: Option<RangeInclusive<u32>>,
    code: Box<dyn GroupCode>,
}

/// What has become of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEnd {
    /// What it has come to was told.
    Done,
    /// So many lanes, the first ones, take another way than the next one.
    Parted(usize),
    /// Its lanes have to go alone.
    GivenUp,
}

/// What a group has come to for one of its rows.
#[derive(Clone, Copy, Debug)]
pub struct GroupGradient<'g> {
    row: usize,
    rows: usize,
    /// The bits of the seeded cells in each lane.
    pub values: &'g [InGroup<u64>],
    adjoints: &'g [InGroup<u64>],
}

impl GroupGradient<'_> {
    /// The bits of the adjoint of a real, in each lane.
    #[inline]
    pub fn adjoint(&self, cell: usize) -> InGroup<u64> {
        self.adjoints.get(cell * self.rows + self.row).copied().unwrap_or_default()
    }
}

impl GroupRoutes {
    /// Compiles the ways of some seeded cells, a list for each row, that turn at a position, for lanes that are given some cells, by their places among those of their classes. None where a group
    /// can't go there, or nobody makes code of it.
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        alone: &Arc<TurningRoutes>,
        rows: &[Vec<usize>],
        given: &[(Class, usize)],
    ) -> Option<GroupRoutes> {
        if !alone.may_be_bare(program, rows.iter().flatten().copied()) {
            return None;
        }
        let (turn, level) = (alone.turn(), alone.level());
        let [plan_there, plan_back] = RoutePlan::gradient(program, turn, level);
        let form = plan_there.form(program, KnownCells::default())?;
        let left = left_by(&form, turn);
        let ints = given.iter().filter(|(class, _)| *class == Class::Int).map(|&(_, cell)| cell as u32);
        let begun = GroupStart { rows, ints: ints.collect(), settled: KnownCells::default() };
        let (there, ints) = GroupWay::new((&plan_there, form), backend, begun)?;
        let form = plan_back.form(program, left)?;
        let settled = match plan_there.zeros(program).cells {
            true => zeros_of_frame(program, &left_by(&form, plan_back.to)),
            false => KnownCells::default(),
        };
        let begun = GroupStart { rows, ints, settled: settled.clone() };
        let (back, _) = GroupWay::new((&plan_back, form), backend, begun)?;
        let (alone, rows, given) = (Arc::clone(alone), rows.to_vec(), given.to_vec());
        let rooms = Arc::new(RoomToken);
        Some(GroupRoutes { alone, there, back, settled, level, rows, given, rooms })
    }

    /// The number of lists of seeds that are differentiated at once.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Makes a room for groups whose lanes begin as a start does, but for what they are given, with the seeds of each row, which are of the
    /// cells that the ways were made for. None where they can't begin there.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn room(
        &self,
        start: &RouteStart,
        seeds: Vec<Vec<SeededCell>>,
    ) -> Result<Option<GroupRoom>, OutOfMemory> {
        let own = self.rows.iter().map(|cells| cells.iter().copied());
        let is_own = seeds.len() == self.rows.len()
            && own.zip(&seeds).all(|(cells, seeds)| cells.eq(seeds.iter().map(|seed| seed.cell)));
        if !is_own || !self.alone.are_bare(start, seeds.iter().map(Vec::as_slice)) {
            return Ok(None);
        }
        let demands = ([self.there.demands, self.back.demands], seeds);
        GroupRoom::new(start.state(), &self.given, (&self.rooms, &self.settled), demands).map(Some)
    }

    /// Goes both ways with at most `most` steps there, and no more than that and `slack` back: `each` receives what it has come to for each row, by its number, once it has come back from
    /// all of them.
    pub fn run(
        &self,
        room: &mut GroupRoom,
        (most, slack): (u64, u64),
        mut each: impl FnMut(usize, GroupGradient<'_>),
    ) -> GroupEnd {
        // Code asks nothing of cells.
        assert!(
            Arc::ptr_eq(&room.made_for, &self.rooms)
                && [self.there.demands, self.back.demands]
                    .iter()
                    .all(|&way| room.has_room_for(way, self.rows.len())),
            "cells are made for the ways that lead over them"
        );
        match self.both_ways(room, (most, slack)) {
            Ok(()) => {
                let (rows, adjoints, mut values) = (self.rows.len(), &room.adjoints[..], &room.values[..]);
                for (row, cells) in self.rows.iter().enumerate() {
                    let (own, others) = values.split_at(cells.len().min(values.len()));
                    each(row, GroupGradient { row, rows, values: own, adjoints });
                    values = others;
                }
                GroupEnd::Done
            }
            Err(end) => end,
        }
    }

    /// Goes both ways, unless it ends otherwise, and looks whether they are the same.
    fn both_ways(&self, room: &mut GroupRoom, (most, slack): (u64, u64)) -> Result<(), GroupEnd> {
        let mut watch = Watch::default();
        room.renew();
        let begun = room.begun;
        let steps = self.there.go(room, &mut watch, most, begun)?;
        let turn = if self.there.is_watched { room.turned() } else { GroupTurn::default() };
        room.turn(self.back.adjoints.clone());
        let budget = steps.saturating_add(slack).saturating_add(self.back.first_steps);
        let steps_back = self.back.go(room, &mut watch, budget, begun + steps as i64)?;
        let is_vouched = match self.level {
            CheckLevel::Checked => {
                (steps_back == steps || !self.back.is_watched) && room.vouched(turn, &watch)
            }
            CheckLevel::Unchecked => true,
        };
        if is_vouched { Ok(()) } else { Err(GroupEnd::GivenUp) }
    }
}

/// Those of some cells that are 0, and main's own, where a run finds 0.
fn zeros_of_frame(program: &Program, cells: &KnownCells) -> KnownCells {
    let layout = program.flow().layout();
    cells.filtered(|(class, cell), bits| bits == 0 && layout.main_frame(class).contains(&cell))
}

impl GroupWay {
    /// The way of a form from a start; and the integers that may differ where it has arrived.
    fn new(
        (plan, form): (&RoutePlan, SsaForm),
        backend: &impl Backend,
        begun: GroupStart<'_>,
    ) -> Option<(GroupWay, SpreadInts)> {
        let form = GroupForm::new(form, plan.to, begun)?;
        let (demands, first_steps) = (form.form().demands, form.form().first_steps.into());
        let code = backend.compile_group(&form)?;
        let (travel, is_watched, adjoints) = (plan.travel, plan.is_watched, form.adjoints());
        let way = GroupWay { travel, demands, first_steps, is_watched, adjoints, code };
        Some((way, form.ints().clone()))
    }

    /// Moves the cells of a group where so many steps were made before; how many further ones it has made, if it has arrived.
    fn go(&self, room: &mut GroupRoom, watch: &mut Watch, budget: u64, made: i64) -> Result<u64, GroupEnd> {
        if budget < self.first_steps {
            return Err(GroupEnd::GivenUp);
        }
        let leg = Leg { travel: self.travel, budget: budget.min(MOST_STEPS) };
        let rounding = Rounding::of(RealSystem::F64);
        let mut watcher = self.is_watched.then(|| Watcher::new(watch, leg, made, rounding));
        let GroupRoom { ints, reals, adjoints, seen, .. } = room;
        let watcher = watcher.as_mut();
        match self.code.run(GroupJob { ints, reals, adjoints, left: leg.budget, watcher, seen }) {
            GroupOutcome::Arrived(steps) => Ok(steps),
            GroupOutcome::Parted(first) => Err(GroupEnd::Parted(first)),
            GroupOutcome::Failed => Err(GroupEnd::GivenUp),
        }
    }
}
