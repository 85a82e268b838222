//! Results and checks at the end of a lane's run: its output words, and the conditions that its cells must satisfy.
//! Independent of shader text.

use reviver_compile::op::{Space, SsaValue};
use reviver_flow::layout::Layout;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Shape, Values};
use reviver_isa::number::literal_bits;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel};

use crate::cells::{LaneMemory, SpacedCell, StartCells, StartWord};
use crate::functions::results;
use crate::lane_run::{CellHome, LaneRun};
use crate::no_shader::NoShader;
use crate::words::{WordRun, word_runs};

/// An output word of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedWord {
    /// The content of a cell at the end of the run.
    Cell(SpacedCell),
    /// The content of a seeded real at the turning point.
    Value(u32),
}

/// Results and checks in a block where a lane's run ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneEnd {
    /// The home of each output word, a value or a memory word; None for words that are written at the turning point.
    pub outputs: Vec<Option<CellHome>>,
    pub compared: Vec<Compared>,
    /// Input reals with their adjoints. The sum of their products estimates the size of a loss to first order.
    pub terms: Vec<LossTerms>,
}

/// Input reals, with the adjoints of each output row.
#[derive(Clone, Debug)]
pub(crate) enum LossTerms {
    /// One input word, with its adjoint in each row.
    Value(SsaValue, Vec<CellHome>),
    /// `count` input words from `given` on. Their adjoints are in memory, from a word in each row on.
    Words { given: u32, count: u32, adjoints: Vec<u32> },
}

/// Upper bound on input reals with adjoints outside of memory that contribute to the size estimate of a loss.
const MOST_TERMS: usize = 1 << 10;

/// The tolerance of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    Same,
    /// Floats differ by at most the tolerance.
    Close,
}

/// Numbers that are compared with their expected values.
#[derive(Clone, Debug)]
pub(crate) enum Compared {
    /// A number that is an SSA value.
    Value { class: Class, found: SsaValue, expected: SsaValue, closeness: Closeness },
    /// Words of the lane's memory.
    Words { expected: WordRun, closeness: Closeness },
}

/// Data for the losses of a gradient and its verification.
#[derive(Clone, Debug)]
pub(crate) struct LaneGradient {
    /// For each result, the rows with the magnitude of its seed there, and the output words that receive it.
    pub results: Vec<(Vec<(usize, f64)>, Vec<u32>)>,
    /// The largest magnitude of a seed in each row.
    pub largest_seeds: Vec<f64>,
    /// Upper bound on the absolute initial values of all reals that are not inputs.
    pub largest: f64,
    /// Runs of input words that are reals: the first word, and their number.
    pub inputs: Vec<(u32, u32)>,
}

impl LaneEnd {
    /// Returns the SSA values that the return needs.
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
    /// Returns the words of the lane's memory that are compared.
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

/// Generates the conditions on a program's cells at the end of a run.
pub(crate) struct Ends<'a> {
    pub program: &'a Program,
    pub start: &'a StartCells<'a>,
    pub memory: &'a LaneMemory,
    pub constants: &'a mut Vec<u64>,
}

impl Ends<'_> {
    /// Returns results and checks of each end of a plain run: the output words, and that every cell except declared
    /// results has its initial value, or 0.
    ///
    /// # Errors
    /// Fails if such a cell never has that value.
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

    /// Returns results and checks of each end of a gradient: the output words, and the input reals with their adjoints
    /// if the gradient is verified.
    pub fn of_gradient(
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

    /// Returns the data for the losses of a gradient; None for a plain run.
    pub fn gradient(&self, lane_run: &LaneRun, requested: &[RequestedWord]) -> Option<LaneGradient> {
        lane_run.adjoints.rows?;
        let losses = &lane_run.adjoints.losses;
        let results = results(losses).into_iter().map(|result| {
            let seeds =
                losses.iter().enumerate().flat_map(|(row, seeds)| seeds.iter().map(move |seed| (row, seed)));
            let rows = seeds.filter(|(_, (cell, _))| *cell == result);
            let rows = rows.map(|(row, &(_, seed))| (row, self.magnitude(seed))).collect();
            let words = (0..).zip(asked).filter(|(_, asked)| **asked == RequestedWord::Value(result));
            (rows, words.map(|(word, _)| word).collect())
        });
        let others = self.start.state.reals.iter().enumerate();
        let others = others.filter(|(n, _)| !self.start.given.contains_key(&(Space::Reals, *n as u32)));
        let sizes = others.map(|(_, &bits)| self.magnitude(bits));
        let mut given: Vec<(u32, u32)> = Vec::new();
        let reals = self.start.given.iter().filter(|((space, _), _)| *space == Space::Reals);
        for (_, &word) in reals {
            match inputs.last_mut() {
                Some((first, count)) if *first + *count == word => *count += 1,
                _ => inputs.push((word, 1)),
            }
        }
        let largest_seeds = losses
            .iter()
            .map(|seeds| seeds.iter().map(|&(_, seed)| self.magnitude(seed)).fold(0.0, f64::max));
        Some(LaneGradient {
            results: results.collect(),
            largest_seeds: largest_seeds.collect(),
            largest: sizes.fold(0.0, f64::max),
            given,
        })
    }

    /// Returns the magnitude of a real.
    fn magnitude(&self, bits: u64) -> f64 {
        self.program.approximate(Value::Real(bits)).abs()
    }

    fn lane_end(&self, lane_run: &mut LaneRun, block: u32, requested: &[RequestedWord]) -> LaneEnd {
        let outputs = requested.iter().map(|&requested| match requested {
            RequestedWord::Cell(cell) => Some(lane_run.at_end(block, cell, self.start, self.memory)),
            RequestedWord::Value(_) => None,
        });
        LaneEnd { outputs: outputs.collect(), ..LaneEnd::default() }
    }

    /// Refuses programs with a non-empty stack. Lanes take nothing from stacks, so a stack that isn't empty at the
    /// start isn't empty at the end.
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

    /// Returns the cells that must hold their initial value, or 0, at the end of a run.
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

    /// Compares the cells of a declaration with their initial values.
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

    /// Returns the homes of the adjoints of a real at a return block, one for each output row.
    fn adjoints(&self, lane_run: &mut LaneRun, block: u32, real: u32) -> Vec<CellHome> {
        let rows = 0..lane_run.adjoints.count();
        let of_row = |row| {
            let adjoint = (Space::Adjoints, lane_run.adjoints.adjoint(row, real));
            lane_run.at_end(block, adjoint, self.start, self.memory)
        };
        rows.map(of_row).collect()
    }

    /// Returns the input reals with their adjoints. Reals that aren't inputs are left out, so a loss may count as
    /// smaller than it is.
    fn terms(&self, lane_run: &mut LaneRun, block: u32) -> Vec<LossTerms> {
        let mut terms = Vec::new();
        let mut values = 0;
        for (&(space, address), &word) in
            self.start.inputs.iter().filter(|((space, _), _)| *space == Space::Reals)
        {
            let homes = self.adjoints(lane_run, block, address);
            let words: Vec<u32> = homes.iter().filter_map(|&home| memory_word(home)).collect();
            let is_in_memory = words.len() == homes.len();
            match terms.last_mut() {
                Some(LossTerms::Words { given, count, adjoints })
                    if is_in_memory
                        && *given + *count == word
                        && adjoints.iter().zip(&words).all(|(first, word)| first + *count == *word) =>
                {
                    *count += 1;
                }
                _ if is_in_memory => terms.push(LossTerms::Words { given: word, count: 1, adjoints: words }),
                _ if values < MOST_TERMS => {
                    values += 1;
                    terms.push(LossTerms::Value(lane_run.at_start((space, address), self.start), homes));
                }
                _ => {}
            }
        }
        terms
    }

    /// Returns the tolerance for a class. Only floats have one; other numbers are compared exactly.
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

/// A declaration, with the initial values of its cells.
struct CellsAtFirst {
    name: String,
    class: Class,
    first: u32,
    initial: Vec<u64>,
}
