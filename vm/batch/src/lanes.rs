//! From a program and what is asked of each lane to the lane's shader: which forms it goes through, what it is given, and what it comes to.
//! Knows no device.

use std::collections::BTreeMap;

use reviver_compile::bounded::BoundedCalls;
use reviver_compile::op::Space;
use reviver_compile::start::RouteStart;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::cells::{CellCounts, LaneMemory, SpacedCell, StartCells, StartWord};
use crate::ends::Ends;
use crate::forms::{self, LaneForm};
use crate::journey::LaneJourney;
use crate::no_shader::NoShader;
use crate::text::{LaneText, MOST_WORDS, WrittenLanes};
use crate::words::{WordRun, word_runs};

/// A cell of a program, by its space and its address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderCell {
    pub space: Space,
    pub address: usize,
}

/// The way that every lane goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneWay {
    /// From one end of the program to the other.
    Whole(Travel),
    /// To where a loss is final, a real by its address, and back with adjoints.
    Gradient { loss: usize },
}

/// What is asked of each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesRequest {
    pub way: LaneWay,
    pub level: CheckLevel,
    /// The cells of which each lane has numbers of its own, integers or reals: the words that it is given are theirs, in this order.
    pub given: Vec<ShaderCell>,
    /// The cells that are read where a lane arrives, or the adjoints: the words that it has come to are theirs, in this order, and of a
    /// gradient one more: the loss.
    pub asked: Vec<ShaderCell>,
    /// Whether the steps of lanes are asked for, too.
    pub asks_steps: bool,
}

/// The shader of a program's lanes. All cells but those that are given are as in a start.
///
/// # Errors
/// The program does something that devices can't, or a cell isn't there.
pub(crate) fn lane_shader(
    program: &Program,
    start: &RouteStart,
    request: &LanesRequest,
) -> Result<WrittenLanes, NoShader> {
    let (there, back) = forms_of(program, start, request)?;
    let state = start.state();
    let given = given(program, request)?;
    let asked = request
        .asked
        .iter()
        .map(|&cell| known(program, cell))
        .collect::<Result<Vec<SpacedCell>, NoShader>>()?;
    let cells = StartCells { state, given };
    let calls: Vec<BoundedCalls> = [Some(&there), back.as_ref().map(|(back, _)| back)]
        .into_iter()
        .flatten()
        .map(|way| way.calls)
        .collect();
    let (there, back) = (there.form, back.map(|(back, loss)| (back.form, loss)));
    let counts = CellCounts::of(program, &calls);
    let memory = LaneMemory::of(&[Some(&there), back.as_ref().map(|(back, _)| back)], counts);
    if memory.words > MOST_WORDS {
        return Err(NoShader::TooLarge { words: memory.words, most: MOST_WORDS });
    }
    let loss = back.as_ref().map(|(_, loss)| *loss);
    // Zeros in sums are loaded.
    let mut constants = vec![0];
    let first = beginning(&memory, &cells, loss.map(|loss| (loss, one(program))), &mut constants);
    let mut journey = LaneJourney::of(there, back, &cells, &memory);
    let mut ends = Ends { program, start: &cells, memory: &memory, constants: &mut constants };
    let turning = loss.and_then(|loss| ends.turning(&mut journey, loss));
    let arrivals = match request.way {
        LaneWay::Whole(travel) => ends.of_run(&mut journey, &asked, travel)?,
        LaneWay::Gradient { .. } => ends.of_gradient(&mut journey, &asked, request.level.is_checked()),
    };
    let text = LaneText {
        first,
        constants,
        given: request.given.len() as u32,
        found: request.asked.len() as u32 + u32::from(loss.is_some()),
        tells_steps: request.asks_steps,
        arrivals: arrivals.into_iter().collect(),
        turning,
        journey,
        memory,
    };
    text.written()
}

/// A way there, and perhaps one back with the adjoint of a real.
type LaneForms = (LaneForm, Option<(LaneForm, u32)>);

fn forms_of(program: &Program, start: &RouteStart, request: &LanesRequest) -> Result<LaneForms, NoShader> {
    let has_adjoints = start.state().adjoints.as_ref().is_some_and(|all| all.all().any(|&bits| bits != 0));
    let (there, back) = match request.way {
        LaneWay::Whole(travel) => (forms::whole(start, travel, request.level)?, None),
        LaneWay::Gradient { loss } => {
            let address = known(program, ShaderCell { space: Space::Reals, address: loss })?.1;
            let [there, back] = forms::gradient(start, loss, request.level)?;
            (there, Some((back, address)))
        }
    };
    if !start.suits(&there.form.version) || (has_adjoints && back.is_some()) {
        return Err(NoShader::Start);
    }
    Ok((there, back))
}

/// The bits of 1.
fn one(program: &Program) -> u64 {
    reviver_isa::number::literal_bits(program.module().real, 1.0)
}

/// The numbers of the words that cells are given.
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

/// A cell of the program, if it is one.
fn known(program: &Program, cell: ShaderCell) -> Result<SpacedCell, NoShader> {
    let end = program.flow().layout().constants(cell.space.class()).end;
    let address = u32::try_from(cell.address).ok().filter(|_| cell.address < end);
    let address = address.filter(|_| cell.space != Space::References);
    address.map(|address| (cell.space, address)).ok_or(NoShader::NoCell { address: cell.address })
}

/// Whether a cell is one of a global.
fn is_global(program: &Program, (space, address): SpacedCell) -> bool {
    let globals = program.module().globals.iter().enumerate();
    let of_class = globals.filter(|(_, global)| global.class == space.class());
    of_class.into_iter().any(|(n, _)| program.cells(n).contains(&(address as usize)))
}

/// What fills a lane's memory where it begins, with the loss's adjoint and its bits.
fn beginning(
    memory: &LaneMemory,
    cells: &StartCells,
    loss: Option<(u32, u64)>,
    constants: &mut Vec<u64>,
) -> Vec<WordRun> {
    let mut runs = Vec::new();
    // Records are written before they are read.
    for run in memory.runs.iter().filter(|run| run.space != Space::References) {
        let words = (run.first..run.end).map(|address| match loss {
            Some((loss, bits)) if (run.space, address) == (Space::Adjoints, loss) => StartWord::Same(bits),
            Some(_) | None => cells.word((run.space, address)),
        });
        runs.extend(word_runs(run.word, words, constants));
    }
    runs
}
