//! Plan of a batch: the input cells, the result cells, and the derivatives to compute in each lane. This module
//! executes nothing.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role, Shape};
use reviver_isa::names::adjoint_name;
use reviver_vm::differentiate::{Origin, Variable};
use reviver_vm::{Program, Travel};

use super::BatchOptions;
use crate::cells::{NamedCells, RealCells, check_distinct, variables};
use crate::error::Error;
use crate::executable::Executable;
use crate::gradient::approximate;
use crate::loss::{self, LossCell};
use crate::vectors;

/// Computation that each lane performs.
#[derive(Clone, Debug)]
pub enum LaneTask {
    /// Run from the inputs to the results.
    Run,
    /// Run backward from the results to the inputs.
    Back,
    /// Run from the inputs to the results and back again.
    RoundTrip,
    /// Run from the results to the inputs, and forward to the results again.
    RoundTripBack,
    /// Computes a loss and its derivatives by some reals, or by all real inputs if `by` is empty. For a seeded sum,
    /// each of its cells has a value column.
    Gradient {
        /// The loss or seeded sum.
        loss: LossCell,
        /// The reals to differentiate by; empty for all real inputs.
        by: Vec<RealCells>,
    },
    /// Computes a loss with its first and second derivatives by some reals.
    Hessian {
        /// The loss or seeded sum.
        loss: LossCell,
        /// The reals to differentiate by; empty for all real inputs.
        by: Vec<RealCells>,
    },
    /// Computes a loss, its gradient, and the product of its Hessian with a direction.
    HessianProduct {
        /// The loss or seeded sum.
        loss: LossCell,
        /// The direction. The gradient is taken by the reals of the direction.
        along: LaneDirection,
    },
    /// Computes some reals, and the product of their Jacobian with a direction.
    JacobianProduct {
        /// The reals to differentiate.
        of: Vec<RealCells>,
        /// The direction, the same in each lane.
        along: LaneDirection,
    },
    /// Computes some reals, and their derivatives by other reals.
    Jacobian {
        /// The reals to differentiate.
        of: Vec<RealCells>,
        /// The reals to differentiate by; empty for all real inputs.
        by: Vec<RealCells>,
    },
}

/// Direction of all lanes: a component for each of some real inputs.
#[derive(Clone, Debug)]
pub struct LaneDirection {
    pub(super) inputs: Vec<Variable>,
    pub(super) components: Vec<f64>,
}

impl LaneDirection {
    /// Creates a direction from the bits of its components.
    ///
    /// # Errors
    /// Cells of another program, a slice with another length than its cells, bits that are no number of the program, or
    /// a cell named twice.
    pub fn of_bits(executable: &Executable, parts: &[(RealCells, &[u64])]) -> Result<LaneDirection, Error> {
        let (program, id) = (executable.program(), executable.shared.id);
        Ok(LaneDirection::of(program, vectors::bit_components(program, id, parts)?))
    }

    /// Creates a direction from numbers, as [`LaneDirection::of_bits`] does from bits.
    ///
    /// # Errors
    /// The errors of [`LaneDirection::of_bits`].
    pub fn new(executable: &Executable, parts: &[(RealCells, &[f64])]) -> Result<LaneDirection, Error> {
        let (program, id) = (executable.program(), executable.shared.id);
        Ok(LaneDirection::of(program, vectors::components(program, id, parts)?))
    }

    fn of(program: &Program, parts: Vec<(Variable, u64)>) -> LaneDirection {
        let components = parts.iter().map(|&(_, bits)| approximate(program, bits)).collect();
        LaneDirection { inputs: parts.into_iter().map(|(input, _)| input).collect(), components }
    }
}

impl LaneTask {
    /// Returns true if lanes compute with dual numbers.
    pub(super) fn is_dual(&self) -> bool {
        matches!(
            self,
            LaneTask::Hessian { .. } | LaneTask::HessianProduct { .. } | LaneTask::JacobianProduct { .. }
        )
    }

    /// Returns the direction in which lanes start.
    pub fn travel(&self) -> Travel {
        match self {
            LaneTask::Back | LaneTask::RoundTripBack => Travel::Backward,
            _ => Travel::Forward,
        }
    }
}

/// Input cell. Either each lane has its own number for the cell, or all lanes share one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneCell {
    /// Cell name, such as `x`, `A[3]`, `M[1,2]`.
    pub name: String,
    /// Class of the cell: integer or real.
    pub class: Class,
    /// Index of the global declaration.
    pub global: usize,
    /// Index among the cells of the class.
    pub cell: usize,
}

/// Column of results: one number for each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Name of the cell, or of a derivative: `x'` for a single loss, `y/x` for a Jacobian, `x'/z` for a
    /// Hessian, `y/times` or `x'/times` for a product with a direction.
    pub name: String,
    /// Class of the number: integer or real.
    pub class: Class,
    /// Source of the number in each lane.
    pub source: ResultSource,
}

impl ResultColumn {
    /// Returns true for a derivative, false for a value.
    pub fn is_derivative(&self) -> bool {
        matches!(
            self.source,
            ResultSource::Adjoint { .. } | ResultSource::Second { .. } | ResultSource::Product { .. }
        )
    }
}

/// Source of the numbers in a result column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSource {
    /// Cell of a lane's final state, by its index among the cells of its class.
    Cell(usize),
    /// Value of one of the loss's cells.
    Value {
        /// Index of the loss in the plan.
        loss: usize,
        /// Index of the cell among the seeded cells of the loss.
        seeded: usize,
    },
    /// Derivative of a loss by a real at the start of the run.
    Adjoint {
        /// Index of the loss in the plan.
        loss: usize,
        /// Index of the real among the real cells.
        cell: usize,
    },
    /// Second derivative of the loss, in a row and a column of the Hessian.
    Second {
        /// Index of the row's real among those to differentiate by.
        row: usize,
        /// Index of the column's real among those to differentiate by.
        column: usize,
    },
    /// Component of a product with the direction.
    Product {
        /// Index of the component. For a Jacobian it is the index of a result, for a Hessian that of a real of the
        /// direction.
        index: usize,
    },
}

/// Content of a column that belongs to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossColumn {
    /// Value of a cell of the loss, by its index among the seeded cells.
    Value(usize),
    /// Derivative of the loss by a real at the start of the run, by the real's index.
    Adjoint(usize),
}

/// Complete description of the computation in each lane of a batch.
#[derive(Debug)]
pub struct LanePlan {
    /// Program that the lanes execute.
    pub executable: Executable,
    /// Computation in each lane.
    pub task: LaneTask,
    /// Options of the batch.
    pub options: BatchOptions,
    /// Cells of the input columns, in column order.
    pub inputs: Vec<LaneCell>,
    /// Cells that all lanes share, with the bits of their numbers.
    pub shared: Vec<(LaneCell, u64)>,
    /// Losses to differentiate, in order.
    pub losses: Vec<LossCell>,
    /// Result columns of each lane.
    pub results: Vec<ResultColumn>,
    /// Indices of the result columns that are summed over all lanes: the loss, and its derivatives by shared inputs.
    /// Callers see those derivatives only as sums.
    pub summed: Vec<usize>,
    /// Result columns of each loss: the index of the column, and its content.
    reported: Vec<Vec<(usize, LossColumn)>>,
}

/// Maximum number of losses in one reverse sweep. In such a sweep each real has an adjoint for each loss, and every
/// adjoint takes a register.
const MOST_ROWS: usize = 4;

impl LanePlan {
    /// Groups consecutive losses that one reverse sweep may differentiate. `may` returns true if two losses may be in
    /// the same group. Each item is a group, with the index of its first loss.
    pub(super) fn together(
        &self,
        may: fn(&LossCell, &LossCell) -> bool,
    ) -> impl Iterator<Item = (usize, &[LossCell])> {
        let all = self.losses.chunk_by(may).flat_map(|losses| losses.chunks(MOST_ROWS));
        all.scan(0, |next, losses| {
            let first = *next;
            *next += losses.len();
            Some((first, losses))
        })
    }

    pub(super) fn new(
        executable: &Executable,
        task: LaneTask,
        columns: &[&str],
        shared: Vec<(LaneCell, u64)>,
        options: BatchOptions,
    ) -> Result<LanePlan, Error> {
        let travel = task.travel();
        let inputs = columns.iter().map(|name| lane_cell(executable, name, travel));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        check_given(executable.program(), travel, &inputs, &shared)?;
        let mut plan = LanePlan {
            executable: executable.clone(),
            losses: losses(executable, &task)?,
            task,
            options,
            inputs,
            shared,
            results: Vec::new(),
            summed: Vec::new(),
            reported: Vec::new(),
        };
        plan.results = plan.columns()?;
        plan.reported = plan.by_loss();
        plan.summed = plan.sums();
        Ok(plan)
    }

    /// Returns true if native code covers the whole run, forward and backward.
    pub fn is_native(&self) -> bool {
        self.executable.is_native() && self.losses.iter().all(LossCell::is_native)
    }

    /// Returns the result columns of a loss.
    pub(super) fn columns_of(&self, loss: usize) -> &[(usize, LossColumn)] {
        self.reported.get(loss).map_or(&[], Vec::as_slice)
    }

    fn by_loss(&self) -> Vec<Vec<(usize, LossColumn)>> {
        let mut reported = vec![Vec::new(); self.losses.len()];
        for (n, column) in self.results.iter().enumerate() {
            let (loss, column) = match column.source {
                ResultSource::Value { loss, seeded } => (loss, LossColumn::Value(seeded)),
                ResultSource::Adjoint { loss, cell } => (loss, LossColumn::Adjoint(cell)),
                ResultSource::Cell(_) | ResultSource::Second { .. } | ResultSource::Product { .. } => {
                    continue;
                }
            };
            reported.get_mut(loss).into_iter().for_each(|reported: &mut Vec<_>| reported.push((n, column)));
        }
        reported
    }

    /// Returns the result columns that callers see, without those that only feed a sum.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &ResultColumn)> {
        let is_sum =
            |n, column: &ResultColumn| column.is_derivative() && self.summed.binary_search(&n).is_ok();
        self.results.iter().enumerate().filter(move |&(n, column)| !is_sum(n, column))
    }

    fn columns(&self) -> Result<Vec<ResultColumn>, Error> {
        let program = self.executable.program();
        match &self.task {
            LaneTask::Run | LaneTask::RoundTrip => Ok(ends(program, Role::is_result)),
            LaneTask::Back | LaneTask::RoundTripBack => Ok(ends(program, Role::is_given)),
            LaneTask::Gradient { by, .. } => {
                let by = self.by(by)?;
                let value = self.values().into_iter();
                Ok(value.chain(derivatives(0, &by, adjoint_name)).collect())
            }
            LaneTask::Hessian { by, .. } => {
                let by = self.by(by)?;
                let value = self.values().into_iter();
                Ok(value.chain(derivatives(0, &by, adjoint_name)).chain(second_derivatives(&by)).collect())
            }
            LaneTask::HessianProduct { along, .. } => {
                let name = |input: &Variable| program.cell_name(input.global, input.element);
                let by: Vec<(String, usize)> =
                    along.inputs.iter().filter_map(|input| Some((name(input), cell_of(input)?))).collect();
                let products = products(by.iter().map(|(name, _)| adjoint_name(name)));
                let value = self.values().into_iter();
                Ok(value.chain(derivatives(0, &by, adjoint_name)).chain(products).collect())
            }
            LaneTask::JacobianProduct { .. } => {
                let values = self.values();
                let products: Vec<ResultColumn> =
                    products(values.iter().map(|value| value.name.clone())).collect();
                Ok(values.into_iter().chain(products).collect())
            }
            LaneTask::Jacobian { by, .. } => {
                let by = self.by(by)?;
                let values = self.values();
                let rows = values.iter().enumerate();
                let derivatives: Vec<ResultColumn> = rows
                    .flat_map(|(n, value)| derivatives(n, &by, |name| format!("{}/{name}", value.name)))
                    .collect();
                Ok(values.into_iter().chain(derivatives).collect())
            }
        }
    }

    /// Returns the value columns of the losses.
    fn values(&self) -> Vec<ResultColumn> {
        let program = self.executable.program();
        let named = self.losses.iter().enumerate().flat_map(|(n, loss)| {
            loss.shared.variables.iter().enumerate().map(move |(seeded, variable)| {
                let name = program.cell_name(variable.global, variable.element);
                ResultColumn { name, class: Class::Real, source: ResultSource::Value { loss: n, seeded } }
            })
        });
        named.collect()
    }

    /// Returns the name and the cell index of each real to differentiate by.
    fn by(&self, cells: &[RealCells]) -> Result<Vec<(String, usize)>, Error> {
        let shared = &self.executable.shared;
        let all = loss::inputs(&shared.program, shared.id, &shared.begin)?;
        let cells = if cells.is_empty() { &all[..] } else { cells };
        if cells.iter().any(|cells| cells.0.executable != shared.id) {
            return Err(Error::Foreign);
        }
        check_distinct(&shared.program, cells)?;
        let named = cells.iter().flat_map(|cells| {
            let elements = (cells.0.element..).zip(cells.0.range());
            elements.map(|(element, cell)| (shared.program.cell_name(cells.0.global, element), cell))
        });
        Ok(named.collect())
    }

    /// Returns the variable of each column of derivatives, in order. Lanes that compute with dual numbers differentiate
    /// by these variables.
    pub(super) fn dual_inputs(&self) -> Result<Vec<Variable>, Error> {
        let shared = &self.executable.shared;
        match &self.task {
            LaneTask::Hessian { by, .. } if by.is_empty() => {
                Ok(variables(&loss::inputs(&shared.program, shared.id, &shared.begin)?).collect())
            }
            LaneTask::Hessian { by, .. } => Ok(variables(by).collect()),
            LaneTask::HessianProduct { along, .. } | LaneTask::JacobianProduct { along, .. } => {
                Ok(along.inputs.clone())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the indices of the summed columns. Only gradients have sums, because a gradient has one loss in each
    /// lane.
    fn sums(&self) -> Vec<usize> {
        if !matches!(self.task, LaneTask::Gradient { .. }) {
            return Vec::new();
        }
        let is_shared = |cell: usize| {
            self.shared.iter().any(|(shared, _)| shared.class == Class::Real && shared.cell == cell)
        };
        let is_summed = |column: &ResultColumn| match column.source {
            ResultSource::Value { .. } => true,
            ResultSource::Adjoint { cell, .. } => is_shared(cell),
            ResultSource::Cell(_) | ResultSource::Second { .. } | ResultSource::Product { .. } => false,
        };
        (0..self.results.len()).filter(|&n| self.results.get(n).is_some_and(is_summed)).collect()
    }
}

/// Resolves a column name to an input cell.
fn lane_cell(executable: &Executable, name: &str, travel: Travel) -> Result<LaneCell, Error> {
    let found = named(executable, name)?;
    let program = executable.program();
    let Some(declared) = program.module().globals.get(found.global) else { return Err(Error::Foreign) };
    if !program.takes(declared.role, travel) {
        let (name, backward) = (name.to_owned(), travel == Travel::Backward);
        return Err(Error::NotTaken { name, role: declared.role, backward });
    }
    if declared.is_shared && travel == Travel::Forward {
        return Err(Error::SharedColumn { name: name.to_owned() });
    }
    if found.count() != 1 {
        return Err(found.several(program));
    }
    Ok(of_cell(program, declared, found.global, found.element, found.range().start))
}

/// Returns the cells of a name, of either class.
pub(super) fn named(executable: &Executable, name: &str) -> Result<NamedCells, Error> {
    match executable.ints(name) {
        Err(Error::Class { .. }) => executable.reals(name).map(|cells| cells.0),
        found => found.map(|cells| cells.0),
    }
}

pub(super) fn of_cell(
    program: &Program,
    declared: &Global,
    global: usize,
    element: usize,
    cell: usize,
) -> LaneCell {
    LaneCell { name: program.cell_name(global, element), class: declared.class, global, cell }
}

/// Checks that each cell is given at most once, and that no required cell is missing.
fn check_given(
    program: &Program,
    travel: Travel,
    inputs: &[LaneCell],
    shared: &[(LaneCell, u64)],
) -> Result<(), Error> {
    let given = || inputs.iter().chain(shared.iter().map(|(cell, _)| cell));
    let mut cells: Vec<(usize, usize, &str)> =
        given().map(|cell| (cell.global, cell.cell, cell.name.as_str())).collect();
    cells.sort_unstable();
    if let Some(twice) = cells.windows(2).find(|pair| matches!(pair, [a, b] if (a.0, a.1) == (b.0, b.1))) {
        return Err(Error::TwiceGiven { name: twice.first().map_or("", |cell| cell.2).to_owned() });
    }
    let globals = program.module().globals.iter().enumerate();
    let taken = globals.filter(|(_, global)| program.takes(global.role, travel));
    let mut names = Vec::new();
    for (n, global) in taken {
        if global.shape == Shape::Stack {
            if program.needs_everything(travel) {
                return Err(Error::Stack { name: global.name.clone() });
            }
            continue;
        }
        let from = cells.partition_point(|cell| cell.0 < n);
        let count = cells.partition_point(|cell| cell.0 <= n) - from;
        let all = program.cells(n);
        let has_default =
            global.default.is_some() && (travel == Travel::Forward || global.role == Role::InOut);
        if count == all.len() || count == 0 && has_default {
            continue;
        }
        let given = |cell: usize| cells.binary_search_by_key(&(n, cell), |cell| (cell.0, cell.1)).is_ok();
        let missing = all.clone().enumerate().filter(|(_, cell)| !given(*cell));
        names.extend(missing.map(|(element, _)| program.cell_name(n, element)));
    }
    if names.is_empty() { Ok(()) } else { Err(Error::MissingColumns { names }) }
}

/// Returns the losses of a task, in order.
fn losses(executable: &Executable, task: &LaneTask) -> Result<Vec<LossCell>, Error> {
    let program = executable.program();
    match task {
        LaneTask::Gradient { loss, .. }
        | LaneTask::Hessian { loss, .. }
        | LaneTask::HessianProduct { loss, .. } => match loss.shared.of.id == executable.shared.id {
            true => Ok(vec![loss.clone()]),
            false => Err(Error::Foreign),
        },
        LaneTask::Jacobian { of, .. } | LaneTask::JacobianProduct { of, .. } => {
            if of.iter().any(|cells| cells.0.executable != executable.shared.id) {
                return Err(Error::Foreign);
            }
            let cells = of.iter().flat_map(|cells| {
                let elements = cells.0.element..cells.0.element + cells.0.count();
                elements.map(|element| program.cell_name(cells.0.global, element))
            });
            cells.map(|name| executable.loss(&name)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns a result column for each cell of the globals whose role satisfies `wanted`. The columns have the cells'
/// final values.
fn ends(program: &Program, wanted: impl Fn(Role) -> bool) -> Vec<ResultColumn> {
    let globals = program.module().globals.iter().enumerate().filter(|(_, global)| wanted(global.role));
    let columns = globals.flat_map(|(n, global)| {
        program.cells(n).enumerate().map(move |(element, cell)| ResultColumn {
            name: program.cell_name(n, element),
            class: global.class,
            source: ResultSource::Cell(cell),
        })
    });
    columns.collect()
}

fn derivatives(
    loss: usize,
    by: &[(String, usize)],
    name: impl Fn(&str) -> String,
) -> impl Iterator<Item = ResultColumn> {
    by.iter().map(move |(input, cell)| ResultColumn {
        name: name(input),
        class: Class::Real,
        source: ResultSource::Adjoint { loss, cell: *cell },
    })
}

/// Returns the columns of the Hessian, row by row.
fn second_derivatives(by: &[(String, usize)]) -> impl Iterator<Item = ResultColumn> + '_ {
    by.iter().enumerate().flat_map(move |(row, (first, _))| {
        by.iter().enumerate().map(move |(column, (second, _))| ResultColumn {
            name: format!("{}/{second}", adjoint_name(first)),
            class: Class::Real,
            source: ResultSource::Second { row, column },
        })
    })
}

/// Returns the columns of a product with a direction, one column `NAME/times` for each of `names`.
fn products(names: impl Iterator<Item = String>) -> impl Iterator<Item = ResultColumn> {
    names.enumerate().map(|(index, name)| ResultColumn {
        name: format!("{name}/times"),
        class: Class::Real,
        source: ResultSource::Product { index },
    })
}

/// Returns the cell of a variable; `None` if the variable is on a stack or tape.
pub(super) fn cell_of(variable: &Variable) -> Option<usize> {
    match variable.origin {
        Origin::Cell(cell) => Some(cell),
        Origin::Stack(_) | Origin::Tape(_) => None,
    }
}
