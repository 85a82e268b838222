//! Results and checks at the end of a lane's run: its output words, and the conditions that its cells must satisfy.
//! This module is independent of shader text.

use reviver_compile::op::{Space, SsaValue};
use reviver_flow::layout::Layout;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Shape, Values};
use reviver_isa::number::literal_bits;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel};

use crate::cells::{LaneMemory, SpacedCell, StartCells, StartWord};
use crate::functions::results;
use crate::lane_run::{CellHome, LaneRun, LossRows};
use crate::no_shader::NoShader;
use crate::words::{WordRun, word_runs};

/// An output word of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedWord {
    /// The content of a cell at the end of the run, by its address in the lane's memory.
    Cell(SpacedCell),
    /// A coefficient of a seeded real at the turning point: the real and the order of the coefficient.
    Value(u32, u32),
}

/// Results and checks at the end of a lane's run, in a block where the run may end.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneEnd {
    /// The home of each output word's content: a value or a memory word. `None` for a value at the turning point,
    /// because that word is output at the turning point.
    pub outputs: Vec<Option<CellHome>>,
    pub compared: Vec<Compared>,
    /// Input reals with their adjoints. The error of a loss is compared with the sum of |real·adjoint| over these
    /// reals.
    pub terms: Vec<LossTerms>,
}

/// Input reals, with their adjoints in each row.
#[derive(Clone, Debug)]
pub(crate) enum LossTerms {
    /// One input real, with the home of its adjoint in each row.
    Value(SsaValue, Vec<CellHome>),
    /// Input reals in `count` input words from the number `input` on. Their adjoints are consecutive words of memory;
    /// `adjoints` has the first of these words for each row.
    Words { input: u32, count: u32, adjoints: Vec<u32> },
}

/// Maximum number of input reals in this sum. The bound applies only to reals whose adjoints have no memory word.
const MOST_TERMS: usize = 1 << 10;

/// The tolerance with which two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    Same,
    /// Floats may differ by at most the number system's tolerance.
    Close,
}

/// Numbers that are compared with their expected values.
#[derive(Clone, Debug)]
pub(crate) enum Compared {
    /// The SSA value `found` must equal the SSA value `expected`, up to the tolerance.
    Value { class: Class, found: SsaValue, expected: SsaValue, closeness: Closeness },
    /// The words of a run must equal the words of its source, up to the tolerance.
    Words { expected: WordRun, closeness: Closeness },
}

/// A result of a call function: a coefficient of a seeded real at the turning point.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeededResult {
    /// The rows in which the real has a seed, with the magnitude of the seed; empty for higher coefficients.
    pub rows: Vec<(usize, f64)>,
    /// The output words that receive the coefficient.
    pub words: Vec<u32>,
}

/// Data for the losses of a call function, and for the verification of a gradient.
#[derive(Clone, Debug)]
pub(crate) struct LaneLosses {
    /// True for a gradient, false for a run.
    pub has_adjoints: bool,
    /// The results in the function's order. All coefficients of a real are adjacent.
    pub results: Vec<SeededResult>,
    /// The largest magnitude of a seed in each row.
    pub largest_seeds: Vec<f64>,
    /// Upper bound on the magnitudes, at the start, of all reals that aren't inputs.
    pub largest: f64,
    /// Runs of input words that are reals: the number of the first word, and the number of words.
    pub inputs: Vec<(u32, u32)>,
}

impl LaneEnd {
    /// Returns the SSA values that the results and checks use.
    pub fn values(&self) -> Vec<SsaValue> {
        let mut values: Vec<SsaValue> =
            self.outputs.iter().flatten().filter_map(|&home| value(home)).collect();
        for compared in &self.compared {
            if let Compared::Value { found, expected, .. } = compared {
                values.extend([*found, *expected]);
            }
        }
        for terms in &self.terms {
            if let LossTerms::Value(start, adjoints) = terms {
                values.push(*start);
                values.extend(adjoints.iter().filter_map(|&home| value(home)));
            }
        }
        values
    }
}

impl LaneEnd {
    /// Returns the runs of words of the lane's memory that are compared.
    pub fn runs(&self) -> impl Iterator<Item = &WordRun> {
        self.compared.iter().filter_map(|compared| match compared {
            Compared::Words { expected, .. } => Some(expected),
            Compared::Value { .. } => None,
        })
    }
}

fn memory_word(home: CellHome) -> Option<u32> {
    match home {
        CellHome::Value(_) => None,
        CellHome::Memory(word) => Some(word),
    }
}

fn value(home: CellHome) -> Option<SsaValue> {
    match home {
        CellHome::Value(value) => Some(value),
        CellHome::Memory(_) => None,
    }
}

/// Generates the results and checks at the end of a lane's run.
pub(crate) struct Ends<'a> {
    pub program: &'a Program,
    pub start: &'a StartCells<'a>,
    pub memory: &'a LaneMemory,
    pub constants: &'a mut Vec<u64>,
}

impl Ends<'_> {
    /// Returns results and checks for each block where a plain run ends. The checks fail unless every cell except a
    /// declared result has its initial value, or 0 for variables of main.
    ///
    /// # Errors
    /// Fails if a cell that isn't a declared result ends every run with a value other than the required one.
    pub fn of_run(
        &mut self,
        lane_run: &mut LaneRun,
        requested: &[RequestedWord],
        travel: Travel,
    ) -> Result<Vec<(u32, LaneEnd)>, NoShader> {
        self.no_stack_is_left(travel)?;
        let wanted = self.vacant(travel);
        let blocks: Vec<u32> = lane_run.lane_ends.keys().copied().collect();
        let mut lane_ends = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut lane_end = self.lane_end(lane_run, block, requested);
            for declared in &wanted {
                self.used_up(lane_run, block, declared, &mut lane_end)?;
            }
            lane_ends.push((block, lane_end));
        }
        Ok(lane_ends)
    }

    /// Returns results and checks for each block where a call function ends. They are the output words and, for a
    /// verified gradient, the input reals with their adjoints.
    pub fn of_call(
        &mut self,
        lane_run: &mut LaneRun,
        requested: &[RequestedWord],
        is_verified: bool,
    ) -> Vec<(u32, LaneEnd)> {
        let blocks: Vec<u32> = lane_run.lane_ends.keys().copied().collect();
        let arrived = |block| {
            let mut lane_end = self.lane_end(lane_run, block, requested);
            if is_verified {
                lane_end.terms = self.terms(lane_run, block);
            }
            (block, lane_end)
        };
        blocks.into_iter().map(arrived).collect()
    }

    /// Returns the data for the losses of a call function; `None` for a run without losses.
    pub fn losses(&self, lane_run: &LaneRun, requested: &[RequestedWord]) -> Option<LaneLosses> {
        let LossRows { losses, rows, lanes } = &lane_run.adjoints;
        if losses.is_empty() {
            return None;
        }
        let (cells, lanes) = (results(losses), *lanes as usize);
        let mut results: Vec<SeededResult> = vec![SeededResult::default(); cells.len() * lanes];
        let number = |cell: u32, order: usize| Some(cells.binary_search(&cell).ok()? * lanes + order);
        for (row, seeds) in losses.iter().enumerate() {
            for &(cell, seed) in seeds {
                let result = number(cell, 0).and_then(|result| results.get_mut(result));
                result.into_iter().for_each(|result| result.rows.push((row, self.magnitude(seed))));
            }
        }
        for (word, requested) in (0..).zip(requested) {
            if let RequestedWord::Value(cell, order) = *requested {
                let result = number(cell, order as usize).and_then(|result| results.get_mut(result));
                result.into_iter().for_each(|result| result.words.push(word));
            }
        }
        let others = self.start.state.reals.iter().enumerate();
        let others = others.filter(|(n, _)| !self.start.inputs.contains_key(&(Space::Reals, *n as u32)));
        let sizes = others.map(|(_, &bits)| self.magnitude(bits));
        let mut inputs: Vec<(u32, u32)> = Vec::new();
        let reals = self.start.inputs.iter().filter(|((space, _), _)| *space == Space::Reals);
        for (_, &word) in reals {
            match inputs.last_mut() {
                Some((first, count)) if *first + *count == word => *count += 1,
                _ => inputs.push((word, 1)),
            }
        }
        let largest_seeds = losses
            .iter()
            .map(|seeds| seeds.iter().map(|&(_, seed)| self.magnitude(seed)).fold(0.0, f64::max));
        Some(LaneLosses {
            has_adjoints: rows.is_some(),
            results,
            largest_seeds: largest_seeds.collect(),
            largest: sizes.fold(0.0, f64::max),
            inputs,
        })
    }

    /// Returns the magnitude of a real.
    fn magnitude(&self, bits: u64) -> f64 {
        self.program.approximate(Value::Real(bits)).abs()
    }

    fn lane_end(&self, lane_run: &mut LaneRun, block: u32, requested: &[RequestedWord]) -> LaneEnd {
        let outputs = requested.iter().map(|&requested| match requested {
            RequestedWord::Cell(cell) => Some(lane_run.at_end(block, cell, self.start, self.memory)),
            RequestedWord::Value(..) => None,
        });
        LaneEnd { outputs: outputs.collect(), ..LaneEnd::default() }
    }

    /// Fails if a stack of the program isn't empty at the start. Lanes don't pop from stacks, so a stack that isn't
    /// empty at the start isn't empty at the end.
    fn no_stack_is_left(&self, travel: Travel) -> Result<(), NoShader> {
        let is_stack = |name: &str| {
            let globals = &self.program.module().globals;
            globals.iter().any(|global| global.name == name && global.shape == Shape::Stack)
        };
        let left = self.program.garbage(self.start.state, travel).into_iter();
        match left.map(|garbage| garbage.name).find(|name| is_stack(name)) {
            Some(name) => Err(NoShader::Leftover { name }),
            None => Ok(()),
        }
    }

    /// Returns the cells that must hold their initial value, or 0 for variables of main, at the end of a run.
    fn vacant(&self, travel: Travel) -> Vec<CellsAtFirst> {
        let (module, layout) = (self.program.module(), self.program.flow().layout());
        let is_free = |global: &Global| match travel {
            Travel::Forward => global.role.is_result(),
            Travel::Backward => global.role.is_given(),
        };
        let globals = module.globals.iter().zip(&layout.globals).filter(|(global, _)| !is_free(global));
        let globals = globals.map(|(global, &first)| {
            let cells = u32::try_from(global.shape.cells()).unwrap_or(u32::MAX);
            let initial = (0..cells as usize).map(|n| match &global.initial {
                Values::Ints(ints) => ints.get(n).map_or(0, |&value| value as u64),
                Values::Reals(reals) => reals.get(n).map_or(0, |&value| literal_bits(module.real, value)),
            });
            CellsAtFirst { name: global.name.clone(), class: global.class, first, initial: initial.collect() }
        });
        globals.chain(self.main_frame(layout)).collect()
    }

    fn main_frame(&self, layout: &Layout) -> Vec<CellsAtFirst> {
        let main = self.program.module().procedures.iter().take(1).flat_map(|main| &main.frame);
        let offsets = layout.frames.iter().take(1).flatten();
        let declared = main.zip(offsets).map(|(variable, offset)| {
            let start = match variable.class {
                Class::Int => layout.main_ints,
                Class::Real => layout.main_reals,
            };
            let initial = vec![0; usize::try_from(variable.shape.cells()).unwrap_or(0)];
            CellsAtFirst {
                name: variable.name.clone(),
                class: variable.class,
                first: start + offset,
                initial,
            }
        });
        declared.collect()
    }

    /// Adds checks that the cells of a declaration have their initial values at the end of a run that ends in `block`.
    fn used_up(
        &mut self,
        lane_run: &mut LaneRun,
        block: u32,
        declared: &CellsAtFirst,
        lane_end: &mut LaneEnd,
    ) -> Result<(), NoShader> {
        let (class, space) = (declared.class, space(declared.class));
        let closeness = self.closeness(class);
        for (address, &bits) in (declared.first..).zip(&declared.initial) {
            if self.memory.word((space, address)).is_some() {
                continue;
            }
            if let CellHome::Value(found) = lane_run.at_end(block, (space, address), self.start, self.memory)
            {
                if lane_run.is_never(found, class, bits) {
                    return Err(NoShader::Leftover { name: declared.name.clone() });
                }
                let expected = lane_run.literal(space, bits);
                lane_end.compared.push(Compared::Value { class, found, expected, closeness });
            }
        }
        let end = declared.first.saturating_add(declared.initial.len() as u32);
        for run in self.memory.parts(space, declared.first, end) {
            let words = (run.first..run.end).map(|address| {
                let at = (address - declared.first) as usize;
                StartWord::Same(declared.initial.get(at).copied().unwrap_or(0))
            });
            for expected in word_runs(run.word, words, self.constants) {
                lane_end.compared.push(Compared::Words { expected, closeness });
            }
        }
        Ok(())
    }

    /// Returns the homes of the adjoints of a real in a block where a run ends, one for each output row.
    fn adjoints(&self, lane_run: &mut LaneRun, block: u32, real: u32) -> Vec<CellHome> {
        let rows = 0..lane_run.adjoints.count();
        let of_row = |row| {
            let adjoint = (Space::Adjoints, lane_run.adjoints.adjoint(row, real));
            lane_run.at_end(block, adjoint, self.start, self.memory)
        };
        rows.map(of_row).collect()
    }

    /// Returns the input reals with their adjoints. Omits all other reals, so the sum of |real·adjoint| may be smaller
    /// than the sum over all reals.
    fn terms(&self, lane_run: &mut LaneRun, block: u32) -> Vec<LossTerms> {
        let mut terms = Vec::new();
        let mut values = 0;
        for (&(space, address), &word) in
            self.start.inputs.iter().filter(|((space, _), _)| *space == Space::Reals)
        {
            let homes = self.adjoints(lane_run, block, address);
            let words: Vec<u32> = homes.iter().filter_map(|&home| memory_word(home)).collect();
            // The adjoints of adjacent reals have adjacent words only if each real has one coefficient.
            let is_in_memory = words.len() == homes.len();
            match terms.last_mut() {
                Some(LossTerms::Words { input, count, adjoints })
                    if is_in_memory
                        && *input + *count == word
                        && adjoints.iter().zip(&words).all(|(first, word)| first + *count == *word) =>
                {
                    *count += 1;
                }
                _ if is_in_memory => terms.push(LossTerms::Words { input: word, count: 1, adjoints: words }),
                _ if values < MOST_TERMS => {
                    values += 1;
                    let cell = (space, address.saturating_mul(self.start.lanes));
                    terms.push(LossTerms::Value(lane_run.at_start(cell, self.start), homes));
                }
                _ => {}
            }
        }
        terms
    }

    /// Returns the tolerance for comparing cells of a class. Floats are compared with a tolerance; other numbers must
    /// be equal.
    fn closeness(&self, class: Class) -> Closeness {
        let is_exact = self.program.module().real.is_exact();
        if class == Class::Int || is_exact { Closeness::Same } else { Closeness::Close }
    }
}

fn space(class: Class) -> Space {
    match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    }
}

/// A declared variable, with the initial values of its cells.
struct CellsAtFirst {
    name: String,
    class: Class,
    first: u32,
    initial: Vec<u64>,
}
