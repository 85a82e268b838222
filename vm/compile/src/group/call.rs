//! Gradient calls of a SIMD group of lanes, on memory that successive calls reuse.

use std::ops::Range;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_vm::allocation::{self, OutOfMemory};
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::evidence::MOST_ROWS;
use reviver_vm::differentiate::group::{GROUP, GroupEvidence, InGroup, sum_sizes};
use reviver_vm::{CheckLevel, Program};

use crate::backend::{Backend, GroupCode, GroupJob, GroupOutcome};
use crate::call::{CallFunction, CallGoal, CallTask, Lift, renew};
use crate::compiled_run::{MOST_STEPS, RunPlan};
use crate::function::Demands;
use crate::rows::AdjointRows;
use crate::start::RunStart;

use super::divergence::GroupFunction;

/// Compiled call function for a SIMD group of lanes.
#[derive(Debug)]
pub struct GroupCall {
    program: Program,
    plan: RunPlan,
    /// The seeded cells of each row.
    rows: Vec<Vec<usize>>,
    /// The cells of the lanes' inputs.
    inputs: Vec<(Class, usize)>,
    working: Vec<(Class, Range<u32>)>,
    adjoints: Vec<Range<u32>>,
    layout: AdjointRows,
    demands: Demands,
    first_steps: u64,
    /// The identity of this call. [`GroupCall::run`] accepts only memory with the same identity, because native code
    /// relies on the sizes of the memory's arrays.
    memory_token: Arc<MemoryToken>,
    code: Box<dyn GroupCode>,
}

/// The identity that a call shares with the memory that it created.
#[derive(Debug)]
struct MemoryToken;

/// The outcome of a group's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupEnd {
    /// All lanes have their gradients.
    Done,
    /// Lanes diverged. Holds the index of the first lane that branched differently from lane 0.
    Diverged(usize),
    /// The group can't execute the call. The caller must execute the call for each lane separately.
    GivenUp,
}

/// The gradient of a row in each lane.
#[derive(Clone, Copy, Debug)]
pub struct GroupGradient<'g> {
    /// The bits of the row's seeded cells in each lane.
    pub values: &'g [InGroup<u64>],
    adjoints: &'g [InGroup<u64>],
}

impl GroupGradient<'_> {
    /// Returns the bits of the adjoint of a real in each lane.
    #[inline]
    pub fn adjoint(&self, cell: usize) -> InGroup<u64> {
        self.adjoints.get(cell).copied().unwrap_or_default()
    }
}

/// The memory of a group's calls.
#[derive(Debug)]
pub struct GroupMemory {
    made_for: Arc<MemoryToken>,
    inputs: Vec<(Class, usize)>,
    /// Largest magnitude at the start, over the reals that aren't inputs of lanes.
    largest: f64,
    start_ints: Vec<InGroup<i64>>,
    start_reals: Vec<InGroup<u64>>,
    ints: Vec<InGroup<i64>>,
    reals: Vec<InGroup<u64>>,
    adjoints: Vec<InGroup<u64>>,
    results: Vec<InGroup<u64>>,
    seeds: Vec<Vec<SeededCell>>,
    evidence: GroupEvidence,
}

impl GroupCall {
    /// Compiles a call function for the gradients of at most [`MOST_ROWS`] rows, with the turning point `turn`. `rows`
    /// has the seeded cells of each row, and `inputs` the cells of the lanes' inputs. Returns `None` if a group can't
    /// execute the function.
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        (turn, level): (u32, CheckLevel),
        (rows, inputs): (&[Vec<usize>], &[(Class, usize)]),
    ) -> Option<GroupCall> {
        if !(1..=MOST_ROWS).contains(&rows.len()) {
            return None;
        }
        let seeded: Vec<u32> =
            rows.iter().flatten().map(|&cell| u32::try_from(cell).ok()).collect::<Option<_>>()?;
        let task = CallTask {
            goal: CallGoal::Gradient,
            turn,
            level,
            seeded: &seeded,
            rows: rows.len() as u32,
            lift: Lift::NONE,
        };
        let CallFunction { function, end, working, adjoints, rows: layout, .. } =
            CallFunction::build(program, task)?;
        let (demands, first_steps) = (function.demands, function.first_steps.into());
        let ints = inputs.iter().filter(|(class, _)| *class == Class::Int).map(|&(_, cell)| cell as u32);
        let code = backend.compile_group(&GroupFunction::new(function, end, ints)?)?;
        let [plan, _] = RunPlan::gradient(program, turn, level);
        let (program, rows, inputs) = (program.clone(), rows.to_vec(), inputs.to_vec());
        let memory_token = Arc::new(MemoryToken);
        Some(GroupCall {
            program,
            plan,
            rows,
            inputs,
            working,
            adjoints,
            layout,
            demands,
            first_steps,
            memory_token,
            code,
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Creates memory for lanes that begin with the state `start`; only the inputs differ between lanes. `seeds` has
    /// the seeds of each row. Returns `None` if the call was compiled for other seeded cells, or if `start` doesn't
    /// meet the code's assumptions.
    ///
    /// # Errors
    /// Fails if the memory can't be allocated.
    pub fn memory(
        &self,
        start: &RunStart,
        seeds: Vec<Vec<SeededCell>>,
    ) -> Result<Option<GroupMemory>, OutOfMemory> {
        let own = self.rows.iter().map(|cells| cells.iter().copied());
        let is_own = seeds.len() == self.rows.len()
            && own.zip(&seeds).all(|(cells, seeds)| cells.eq(seeds.iter().map(|seed| seed.cell)));
        let begins = start.begins_calls(&self.program, self.plan.zeros(&self.program), self.demands);
        if is_own && begins { GroupMemory::new(self, start, seeds).map(Some) } else { Ok(None) }
    }

    /// Executes the call with at most `most_steps` steps of the primal sweep. Calls `each` with the number and the
    /// gradient of each row. `memory` must be memory that this call has created.
    pub fn run(
        &self,
        memory: &mut GroupMemory,
        most_steps: u64,
        mut each: impl FnMut(usize, GroupGradient<'_>),
    ) -> GroupEnd {
        assert!(Arc::ptr_eq(&memory.made_for, &self.memory_token), "the memory was created by another call");
        if most_steps < self.first_steps {
            return GroupEnd::GivenUp;
        }
        memory.begin(self);
        match self.code.run(memory.job(most_steps.min(MOST_STEPS))) {
            GroupOutcome::Finished { has_same_path: true } if self.is_verified(memory) => {}
            GroupOutcome::Finished { .. } | GroupOutcome::Failed => return GroupEnd::GivenUp,
            GroupOutcome::Diverged(first) => return GroupEnd::Diverged(first),
        }
        for row in 0..self.rows.len() {
            each(row, GroupGradient { values: memory.values(row), adjoints: self.adjoints_of(memory, row) });
        }
        GroupEnd::Done
    }

    fn adjoints_of<'r>(&self, memory: &'r GroupMemory, row: usize) -> &'r [InGroup<u64>] {
        let first = row * self.layout.stride as usize;
        memory.adjoints.get(first..first + memory.start_reals.len()).unwrap_or_default()
    }

    fn is_verified(&self, memory: &GroupMemory) -> bool {
        let largest = memory.largest();
        !self.plan.level.is_checked()
            || memory.seeds.iter().enumerate().all(|(row, seeds)| {
                let sums = sum_sizes(seeds, memory.values(row));
                let reals = (&memory.start_reals[..], self.adjoints_of(memory, row));
                memory.evidence.is_verified(largest, reals, (row, sums))
            })
    }
}

impl GroupMemory {
    fn new(
        call: &GroupCall,
        start: &RunStart,
        seeds: Vec<Vec<SeededCell>>,
    ) -> Result<GroupMemory, OutOfMemory> {
        let state = start.state();
        let (ints, reals) = (state.ints.len(), state.reals.len());
        let mut memory = GroupMemory {
            made_for: Arc::clone(&call.memory_token),
            inputs: call.inputs.clone(),
            largest: largest_but(&call.inputs, &state.reals),
            start_ints: allocation::zeros(ints)?,
            start_reals: allocation::zeros(reals)?,
            ints: allocation::zeros(ints + call.demands.frame_ints as usize)?,
            reals: allocation::zeros(reals + call.demands.frame_reals as usize)?,
            adjoints: allocation::zeros(call.layout.adjoints())?,
            results: allocation::zeros(seeds.iter().map(Vec::len).sum())?,
            seeds,
            evidence: GroupEvidence::default(),
        };
        memory.start_ints.iter_mut().zip(&state.ints).for_each(|(own, &value)| *own = [value; GROUP]);
        memory.start_reals.iter_mut().zip(&state.reals).for_each(|(own, &bits)| *own = [bits; GROUP]);
        Ok(memory)
    }

    /// Sets the input of index `n` in all lanes; each lane has its own number, given as bits.
    #[inline]
    pub fn give(&mut self, n: usize, bits: InGroup<u64>) {
        match self.inputs.get(n) {
            Some(&(Class::Int, cell)) => {
                let slot = self.start_ints.get_mut(cell);
                slot.into_iter().for_each(|own| *own = bits.map(|bits| bits as i64));
            }
            Some(&(Class::Real, cell)) => {
                self.start_reals.get_mut(cell).into_iter().for_each(|own| *own = bits);
            }
            None => {}
        }
    }

    /// Copies the lanes' start states to working memory, and sets the adjoints to their seeds.
    fn begin(&mut self, call: &GroupCall) {
        for (class, cells) in &call.working {
            let cells = cells.start as usize..cells.end as usize;
            match class {
                Class::Int => renew(&mut self.ints, &self.start_ints, cells),
                Class::Real => renew(&mut self.reals, &self.start_reals, cells),
            }
        }
        for cells in &call.adjoints {
            let end = self.adjoints.len().min(cells.end as usize);
            allocation::zero(self.adjoints.get_mut(cells.start as usize..end).unwrap_or_default());
        }
        let stride = call.layout.stride as usize;
        for row in 0..self.seeds.len() {
            // The code loads the adjoints of all seeded cells in each row, so unseeded ones are set to 0.
            for seed in self.seeds.iter().flatten() {
                let slot = self.adjoints.get_mut(row * stride + seed.cell);
                slot.into_iter().for_each(|adjoint| *adjoint = [0; GROUP]);
            }
            for seed in self.seeds.get(row).into_iter().flatten() {
                let slot = self.adjoints.get_mut(row * stride + seed.cell);
                slot.into_iter().for_each(|adjoint| *adjoint = [seed.seed; GROUP]);
            }
        }
    }

    fn job(&mut self, left: u64) -> GroupJob<'_> {
        GroupJob {
            ints: &mut self.ints,
            reals: &mut self.reals,
            adjoints: &mut self.adjoints,
            start_ints: &self.start_ints,
            start_reals: &self.start_reals,
            results: &mut self.results,
            left,
            evidence: &mut self.evidence,
        }
    }

    /// Returns the bits of a row's seeded cells at the turning point.
    fn values(&self, row: usize) -> &[InGroup<u64>] {
        let first: usize = self.seeds.iter().take(row).map(Vec::len).sum();
        let count = self.seeds.get(row).map_or(0, Vec::len);
        self.results.get(first..first + count).unwrap_or_default()
    }

    /// Returns, for each lane, the largest magnitude of a real at the start.
    fn largest(&self) -> InGroup<f64> {
        let reals = self.inputs.iter().filter(|(class, _)| *class == Class::Real);
        let inputs = reals.filter_map(|&(_, cell)| self.start_reals.get(cell));
        inputs.fold([self.largest; GROUP], |most, bits| {
            std::array::from_fn(|lane| most[lane].max(f64::from_bits(bits[lane]).abs()))
        })
    }
}

/// Returns the largest magnitude of the reals that aren't inputs of lanes.
fn largest_but(inputs: &[(Class, usize)], reals: &[u64]) -> f64 {
    let others = reals.iter().enumerate().filter(|&(cell, _)| !inputs.contains(&(Class::Real, cell)));
    others.fold(0.0, |most, (_, &bits)| f64::from_bits(bits).abs().max(most))
}
