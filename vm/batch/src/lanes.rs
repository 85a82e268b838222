//! Translates a program and the request for each lane to the lane's shader: the SSA function that lanes execute, their
//! inputs and their outputs. This module is independent of devices.

use std::collections::BTreeMap;
use std::ops::Range;

use reviver_compile::call::Lift;
use reviver_compile::op::Space;
use reviver_compile::rows::RowSeeds;
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::cells::{CellCounts, LaneMemory, SpacedCell, StartCells, read_start};
use crate::emitter::{EmittedShader, LaneText, MOST_WORDS};
use crate::ends::{Ends, RequestedWord};
use crate::functions::{self, LaneFunction};
use crate::lane_run::{LaneRun, LossRows};
use crate::no_shader::NoShader;
use crate::tables::StartTables;
use crate::words::{WordRun, word_runs};

/// A cell of a program, given by its memory space and its address in this space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderCell {
    /// The memory space of the cell: `Ints` or `Reals`.
    pub space: Space,
    /// The offset of the cell within its space, as in a [`reviver_vm::State`].
    pub address: usize,
}

/// The kind of run that every lane executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneRunKind {
    /// A run from one end of the program to the other.
    Whole(Travel),
    /// A gradient: a primal sweep to the turning point, at which the losses are final, and a reverse sweep with
    /// adjoints for each loss.
    Gradient {
        /// The seeded cells of each loss. A loss is the sum of seed·value over its seeded cells. At least one loss is
        /// required, and all seeded cells must be final at the same position.
        losses: Vec<Vec<SeededCell>>,
    },
    /// The gradient of one loss on dual numbers, which are values with their derivatives along a direction. Coefficient
    /// 1 of an adjoint is a component of the product of the loss's Hessian with the direction.
    GradientAlong {
        /// The seeded cells of the loss.
        loss: Vec<SeededCell>,
        /// The reals with a component of the direction. The components are input words after those of the inputs.
        direction: Vec<usize>,
    },
    /// A run to the end of the program on truncated Taylor series along a direction.
    ValuesAlong {
        /// The reals whose final coefficients may be requested, as the seeded cells of loss 0.
        reals: Vec<usize>,
        /// The reals with a component of the direction. The components are input words after those of the inputs.
        direction: Vec<usize>,
        /// The highest order of the coefficients.
        order: u32,
        /// True if a lane fails where it compares two reals that are equal, but have different higher coefficients.
        rejects_ties: bool,
    },
}

impl LaneRunKind {
    /// Returns the addresses and seeds of each loss; `None` for a run without losses.
    fn losses(&self) -> Option<Vec<Vec<(usize, u64)>>> {
        let seeded = |loss: &Vec<SeededCell>| loss.iter().map(|seed| (seed.cell, seed.seed)).collect();
        match self {
            LaneRunKind::Whole(_) => None,
            LaneRunKind::Gradient { losses } => Some(losses.iter().map(seeded).collect()),
            LaneRunKind::GradientAlong { loss, .. } => Some(vec![seeded(loss)]),
            // A run has no adjoints, so the seeds have no effect.
            LaneRunKind::ValuesAlong { reals, .. } => {
                Some(vec![reals.iter().map(|&real| (real, 0)).collect()])
            }
        }
    }

    /// Returns the reals with a component of the direction.
    fn direction(&self) -> &[usize] {
        match self {
            LaneRunKind::Whole(_) | LaneRunKind::Gradient { .. } => &[],
            LaneRunKind::GradientAlong { direction, .. } | LaneRunKind::ValuesAlong { direction, .. } => {
                direction
            }
        }
    }

    /// Returns the kind of numbers on which lanes compute. `moved` has the reals with a component of the direction.
    fn lift<'m>(&self, moved: &'m [Range<u32>]) -> Lift<'m> {
        match *self {
            LaneRunKind::Whole(_) | LaneRunKind::Gradient { .. } => Lift::NONE,
            LaneRunKind::GradientAlong { .. } => Lift { lanes: 2, rejects_ties: false, moved },
            LaneRunKind::ValuesAlong { order, rejects_ties, .. } => {
                Lift { lanes: order.saturating_add(1), rejects_ties, moved }
            }
        }
    }
}

/// A number that is requested of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedNumber {
    /// The content of a cell at the end of the run.
    Cell(ShaderCell),
    /// The adjoint of a real with respect to one loss.
    Adjoint {
        /// The index of the loss (row of the Jacobian).
        row: usize,
        /// The address of the real.
        real: usize,
        /// The order of the coefficient; 0 for plain numbers.
        order: u32,
    },
    /// The value of a seeded cell at the turning point.
    Value {
        /// The index of the loss.
        row: usize,
        /// The index of the cell among the seeded cells of the loss.
        seeded: usize,
        /// The order of the coefficient; 0 for plain numbers.
        order: u32,
    },
}

/// The request for each lane: its kind of run, inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesRequest {
    /// The kind of run, the same for all lanes.
    pub run_kind: LaneRunKind,
    /// The check level. Unchecked lanes may omit checks that only detect mistakes in a program.
    pub level: CheckLevel,
    /// The input cells, integers or reals. A lane's input words are their values, in this order, and then the components
    /// of the direction.
    pub inputs: Vec<ShaderCell>,
    /// The output numbers. A lane's output words are these numbers, in this order.
    pub outputs: Vec<RequestedNumber>,
    /// True if the number of steps of each lane is requested.
    pub reports_steps: bool,
}

/// Returns the shader of a program's lanes. At the start of a lane, each cell that isn't an input has its value in
/// `start`.
///
/// # Errors
/// Fails if the program does something that devices can't, or if a cell doesn't exist.
pub(crate) fn lane_shader(
    program: &Program,
    start: &RunStart,
    request: &LanesRequest,
) -> Result<EmittedShader, NoShader> {
    let losses = losses(program, request)?;
    let (inputs, direction) = (inputs(program, request)?, direction(program, request)?);
    let moved: Vec<Range<u32>> = direction.keys().map(|&real| real..real + 1).collect();
    let lift = request.run_kind.lift(&moved);
    let LaneFunction { mut function, calls, rows, lanes } = match &request.run_kind {
        LaneRunKind::Whole(travel) => functions::whole(start, *travel, request.level)?,
        LaneRunKind::Gradient { .. } | LaneRunKind::GradientAlong { .. } => {
            functions::gradient(start, &losses, request.level, lift)?
        }
        LaneRunKind::ValuesAlong { .. } => functions::run_on_series(start, &losses, lift)?,
    };
    let counts = CellCounts::of(program, calls, rows, lanes);
    let losses = LossRows { losses, rows, lanes };
    let seeds = rows.map(|rows| rows.seeded(&losses.losses).collect()).unwrap_or_default();
    let cells = StartCells { state: start.state(), inputs, seeds, lanes, direction };
    let requested = request.outputs.iter().map(|&number| requested_word(program, number, &losses));
    let requested = requested.collect::<Result<Vec<RequestedWord>, NoShader>>()?;
    read_start(&mut function, counts);
    let memory = LaneMemory::of(&function, counts);
    if memory.words > MOST_WORDS {
        return Err(NoShader::TooLarge { words: memory.words, most: MOST_WORDS });
    }
    // Word 0 of the constants must be 0: see `LaneShader::constants`.
    let mut constants = vec![0];
    let first = beginning(&memory, &cells, &mut constants);
    let tables = StartTables::of(&function, &cells, counts, &mut constants);
    let mut lane_run = LaneRun::of(function, losses, &cells, &memory);
    let mut ends = Ends { program, start: &cells, memory: &memory, constants: &mut constants };
    let losses = ends.losses(&lane_run, &requested);
    let lane_ends = match &request.run_kind {
        LaneRunKind::Whole(travel) => ends.of_run(&mut lane_run, &requested, *travel)?,
        LaneRunKind::Gradient { .. } => ends.of_call(&mut lane_run, &requested, request.level.is_checked()),
        LaneRunKind::GradientAlong { .. } => ends.of_call(&mut lane_run, &requested, true),
        LaneRunKind::ValuesAlong { .. } => ends.of_call(&mut lane_run, &requested, false),
    };
    let text = LaneText {
        first,
        tables,
        constants,
        inputs: (request.inputs.len() + request.run_kind.direction().len()) as u32,
        outputs: request.outputs.len() as u32,
        reports_steps: request.reports_steps,
        lane_ends: lane_ends.into_iter().collect(),
        losses,
        lane_run,
        memory,
    };
    text.written()
}

/// Returns the seeds of each loss: addresses of reals, with the bits of their adjoints at the turning point.
fn losses(program: &Program, request: &LanesRequest) -> Result<Vec<RowSeeds>, NoShader> {
    let Some(losses) = request.run_kind.losses() else { return Ok(Vec::new()) };
    if losses.is_empty() || losses.iter().any(Vec::is_empty) {
        return Err(NoShader::NoLoss);
    }
    let seed = |&(address, seed): &(usize, u64)| {
        let cell = known(program, ShaderCell { space: Space::Reals, address })?;
        if is_global(program, cell) { Ok((cell.1, seed)) } else { Err(NoShader::NoCell { address }) }
    };
    losses.iter().map(|loss| loss.iter().map(seed).collect()).collect()
}

/// Resolves a requested number to an output word of a lane. Fails if the program doesn't have the cell, or the request
/// doesn't have the loss or the seeded cell.
fn requested_word(
    program: &Program,
    number: RequestedNumber,
    losses: &LossRows,
) -> Result<RequestedWord, NoShader> {
    let row_of = |row: usize| u32::try_from(row).ok().filter(|&row| row < losses.count());
    match number {
        RequestedNumber::Cell(cell) => {
            let (space, address) = known(program, cell)?;
            let lanes = if space.class() == Class::Real { losses.lanes } else { 1 };
            Ok(RequestedWord::Cell((space, address.saturating_mul(lanes))))
        }
        RequestedNumber::Adjoint { order, .. } | RequestedNumber::Value { order, .. }
            if order >= losses.lanes =>
        {
            Err(NoShader::NoOrder { order })
        }
        RequestedNumber::Adjoint { row, real, order } => {
            let (_, address) = known(program, ShaderCell { space: Space::Reals, address: real })?;
            let row = row_of(row).ok_or(NoShader::NoRow { row })?;
            let adjoint = losses.adjoint(row, address).saturating_add(order);
            Ok(RequestedWord::Cell((Space::Adjoints, adjoint)))
        }
        RequestedNumber::Value { row, seeded, order } => {
            let cell = losses.losses.get(row).and_then(|loss| loss.get(seeded));
            cell.map(|&(cell, _)| RequestedWord::Value(cell, order)).ok_or(NoShader::NoRow { row })
        }
    }
}

/// Maps each input cell to the number of its input word. Fails if an input isn't a cell of a global, or if the request
/// lists an input twice.
fn inputs(program: &Program, request: &LanesRequest) -> Result<BTreeMap<SpacedCell, u32>, NoShader> {
    let mut inputs = BTreeMap::new();
    for (word, &cell) in (0..).zip(&request.inputs) {
        let known = known(program, cell)?;
        let is_given_again = inputs.insert(known, word).is_some();
        if known.0 == Space::Adjoints || is_given_again || !is_global(program, known) {
            return Err(NoShader::NoCell { address: cell.address });
        }
    }
    Ok(inputs)
}

/// Maps each real with a component of the direction to the number of the component's input word. Fails if such a real
/// isn't a cell of a global, or is listed twice.
fn direction(program: &Program, request: &LanesRequest) -> Result<BTreeMap<u32, u32>, NoShader> {
    let mut direction = BTreeMap::new();
    for (word, &address) in (request.inputs.len() as u32..).zip(request.run_kind.direction()) {
        let cell = known(program, ShaderCell { space: Space::Reals, address })?;
        if direction.insert(cell.1, word).is_some() || !is_global(program, cell) {
            return Err(NoShader::NoCell { address });
        }
    }
    Ok(direction)
}

/// Returns a cell's space and address; fails if the program has no such cell.
fn known(program: &Program, cell: ShaderCell) -> Result<SpacedCell, NoShader> {
    let end = program.flow().layout().constants(cell.space.class()).end;
    let address = u32::try_from(cell.address).ok().filter(|_| cell.address < end);
    let address = address.filter(|_| cell.space != Space::References);
    address.map(|address| (cell.space, address)).ok_or(NoShader::NoCell { address: cell.address })
}

/// Returns true if a cell belongs to a global variable.
fn is_global(program: &Program, (space, address): SpacedCell) -> bool {
    let globals = program.module().globals.iter().enumerate();
    let of_class = globals.filter(|(_, global)| global.class == space.class());
    of_class.into_iter().any(|(n, _)| program.cells(n).contains(&(address as usize)))
}

/// Returns the initial content of a lane's memory. Appends the constants of this content to `constants`.
fn beginning(memory: &LaneMemory, cells: &StartCells, constants: &mut Vec<u64>) -> Vec<WordRun> {
    let mut runs = Vec::new();
    // Call records are written before they are read, so they need no initial content.
    for run in memory.runs.iter().filter(|run| run.space != Space::References) {
        let words = (run.first..run.end).map(|address| cells.word((run.space, address)));
        runs.extend(word_runs(run.word, words, constants));
    }
    runs
}
