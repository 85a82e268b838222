//! Translates a program and the request for each lane to the lane's shader: which SSA functions it executes, its inputs
//! and its outputs. Independent of devices.

use std::collections::BTreeMap;

use reviver_compile::bounded::BoundedCalls;
use reviver_compile::op::Space;
use reviver_compile::rows::with_rows;
use reviver_compile::start::RouteStart;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::cells::{CellCounts, LaneMemory, SpacedCell, StartCells, StartWord};
use crate::ends::{AskedWord, Ends};
use crate::forms::{self, LaneForm};
use crate::journey::{LaneJourney, LossRows};
use crate::no_shader::NoShader;
use crate::text::{LaneText, MOST_WORDS, WrittenLanes};
use crate::words::{WordRun, word_runs};

/// A cell of a program, by its memory space and its address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderCell {
    /// The memory space of the cell: `Ints` or `Reals`.
    pub space: Space,
    /// The offset of the cell within its space, as in a [`reviver_vm::State`].
    pub address: usize,
}

/// The kind of run that every lane makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneWay {
    /// A run from one end of the program to the other.
    Whole(Travel),
    /// A forward sweep to the turning point, where the losses are final, and a reverse sweep with the adjoints of each
    /// loss.
    Gradient {
        /// Addresses of reals: at least one, and all final at the same place.
        losses: Vec<usize>,
    },
}

/// A number that is requested of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedNumber {
    /// The content of a cell at the end of the run.
    Cell(ShaderCell),
    /// The adjoint of a real with respect to one loss.
    Adjoint {
        /// The index of the loss among [`LaneWay::Gradient::losses`] (row of the Jacobian).
        row: usize,
        /// The address of the real.
        real: usize,
    },
    /// The value of a loss at the turning point.
    Loss {
        /// The index of the loss among [`LaneWay::Gradient::losses`].
        row: usize,
    },
}

/// The request for each lane: its kind of run, inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesRequest {
    /// The kind of run, the same for all lanes.
    pub way: LaneWay,
    /// The check level: unchecked lanes may omit checks that only find mistakes in a program.
    pub level: CheckLevel,
    /// The input cells, integers or reals. A lane's input words are their values, in this order.
    pub given: Vec<ShaderCell>,
    /// The output numbers. A lane's output words are these numbers, in this order.
    pub asked: Vec<AskedNumber>,
    /// True if the number of steps of each lane is requested, too.
    pub asks_steps: bool,
}

/// Returns the shader of a program's lanes. All cells that are not inputs have their values of `start`.
///
/// # Errors
/// Fails if the program does something that devices can't, or if a cell doesn't exist.
pub(crate) fn lane_shader(
    program: &Program,
    start: &RouteStart,
    request: &LanesRequest,
) -> Result<WrittenLanes, NoShader> {
    let (there, back) = forms_of(program, start, request)?;
    let state = start.state();
    let given = given(program, request)?;
    let cells = StartCells { state, given };
    let calls: Vec<BoundedCalls> = [Some(&there), back.as_ref().map(|(back, _)| back)]
        .into_iter()
        .flatten()
        .map(|way| way.calls)
        .collect();
    let counts = CellCounts::of(program, &calls);
    let rows = LossRows {
        losses: back.as_ref().map_or(Vec::new(), |(_, losses)| losses.clone()),
        stride: counts.reals,
    };
    let counts = counts.with_rows(rows.count().max(1));
    let asked = request.asked.iter().map(|&number| asked(program, number, &rows));
    let asked = asked.collect::<Result<Vec<AskedWord>, NoShader>>()?;
    let there = there.form;
    let back = match back {
        Some((back, _)) => Some(with_rows(back.form, rows.layout()).ok_or(NoShader::RowsPart)?),
        None => None,
    };
    let memory = LaneMemory::of(&[Some(&there), back.as_ref()], counts);
    if memory.words > MOST_WORDS {
        return Err(NoShader::TooLarge { words: memory.words, most: MOST_WORDS });
    }
    // Zeros in sums are loaded, so word 0 of the constants is 0.
    let mut constants = vec![0];
    let seeds: Vec<u32> = rows.seeds().collect();
    let first = beginning(&memory, &cells, (&seeds, one(program)), &mut constants);
    let mut journey = LaneJourney::of(there, back.map(|back| (back, rows)), &cells, &memory);
    let mut ends = Ends { program, start: &cells, memory: &memory, constants: &mut constants };
    let turning = ends.turning(&mut journey, &asked);
    let arrivals = match &request.way {
        LaneWay::Whole(travel) => ends.of_run(&mut journey, &asked, *travel)?,
        LaneWay::Gradient { .. } => ends.of_gradient(&mut journey, &asked, request.level.is_checked()),
    };
    let text = LaneText {
        first,
        constants,
        given: request.given.len() as u32,
        found: request.asked.len() as u32,
        tells_steps: request.asks_steps,
        arrivals: arrivals.into_iter().collect(),
        turning,
        journey,
        memory,
    };
    text.written()
}

/// The SSA function of a run or forward sweep, and that of the reverse sweep with the addresses of its losses.
type LaneForms = (LaneForm, Option<(LaneForm, Vec<u32>)>);

fn forms_of(program: &Program, start: &RouteStart, request: &LanesRequest) -> Result<LaneForms, NoShader> {
    let has_adjoints = start.state().adjoints.as_ref().is_some_and(|all| all.all().any(|&bits| bits != 0));
    let (there, back) = match &request.way {
        LaneWay::Whole(travel) => (forms::whole(start, *travel, request.level)?, None),
        LaneWay::Gradient { losses } => {
            let address =
                |&address: &usize| Ok(known(program, ShaderCell { space: Space::Reals, address })?.1);
            if losses.is_empty() {
                return Err(NoShader::NoLoss);
            }
            let addresses = losses.iter().map(address).collect::<Result<Vec<u32>, NoShader>>()?;
            let [there, back] = forms::gradient(start, losses, request.level)?;
            (there, Some((back, addresses)))
        }
    };
    if !start.suits(&there.form.version) || (has_adjoints && back.is_some()) {
        return Err(NoShader::Start);
    }
    Ok((there, back))
}

/// Returns the bits of the real 1, the seed of a loss.
fn one(program: &Program) -> u64 {
    reviver_isa::number::literal_bits(program.module().real, 1.0)
}

/// Resolves a requested number to a cell or a loss.
fn asked(program: &Program, number: AskedNumber, rows: &LossRows) -> Result<AskedWord, NoShader> {
    let row_of = |row: usize| u32::try_from(row).ok().filter(|&row| row < rows.count());
    match number {
        AskedNumber::Cell(cell) => Ok(AskedWord::Cell(known(program, cell)?)),
        AskedNumber::Adjoint { row, real } => {
            let (_, address) = known(program, ShaderCell { space: Space::Reals, address: real })?;
            let row = row_of(row).ok_or(NoShader::NoCell { address: real })?;
            Ok(AskedWord::Cell((Space::Adjoints, rows.adjoint(row, address))))
        }
        AskedNumber::Loss { row } => match row_of(row) {
            Some(_) => Ok(AskedWord::Loss { row }),
            None => Err(NoShader::NoCell { address: row }),
        },
    }
}

/// Maps each input cell to the number of its input word.
fn given(program: &Program, request: &LanesRequest) -> Result<BTreeMap<SpacedCell, u32>, NoShader> {
    let mut given = BTreeMap::new();
    for (word, &cell) in (0..).zip(&request.given) {
        let known = known(program, cell)?;
        let is_given_again = given.insert(known, word).is_some();
        if known.0 == Space::Adjoints || is_given_again || !is_global(program, known) {
            return Err(NoShader::NoCell { address: cell.address });
        }
    }
    Ok(given)
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

/// Returns the initial content of a lane's memory; `seeds` are the adjoints of the losses and `bits` is the seed's
/// value.
fn beginning(
    memory: &LaneMemory,
    cells: &StartCells,
    (seeds, bits): (&[u32], u64),
    constants: &mut Vec<u64>,
) -> Vec<WordRun> {
    let mut runs = Vec::new();
    // Call records are written before they are read, so they need no initial content.
    for run in memory.runs.iter().filter(|run| run.space != Space::References) {
        let is_seed = |address: &u32| run.space == Space::Adjoints && seeds.contains(address);
        let words = (run.first..run.end).map(|address| match is_seed(&address) {
            true => StartWord::Same(bits),
            false => cells.word((run.space, address)),
        });
        runs.extend(word_runs(run.word, words, constants));
    }
    runs
}
