//! Results and checks at the end of a lane's run: its output words, and the conditions that its cells must satisfy.
//! Independent of shader text.

use reviver_compile::op::{Space, SsaValue};
use reviver_flow::layout::{Layout, MODE};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Shape, Values};
use reviver_isa::number::literal_bits;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel};

use crate::cells::{LaneMemory, MemoryRun, SpacedCell, StartCells, StartWord};
use crate::journey::{CellHome, LaneJourney, LossRows};
use crate::no_shader::NoShader;
use crate::words::{WordRun, WordSource, word_runs};

/// An output word of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedWord {
    /// The content of a cell at the end of the run.
    Cell(SpacedCell),
    /// The loss of an output row, read at the turning point.
    Loss { row: usize },
}

/// Results and checks in a block where a lane's run ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneArrival {
    /// The home of each output word, a value or a memory word; None for words that are written at the turning point.
    pub found: Vec<Option<CellHome>>,
    pub compared: Vec<Compared>,
    /// Input reals that are SSA values, with the adjoint of each output row. The sum of their products estimates the
    /// size of a loss to first order.
    pub terms: Vec<(SsaValue, Vec<CellHome>)>,
}

/// Upper bound on input reals that contribute to the size estimate of a loss.
const MOST_TERMS: usize = 1 << 10;

/// The tolerance of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    Same,
    /// Floats differ by at most the tolerance.
    Close,
    /// Floats differ by at most what rounding explains, and the difference changes the loss by no more than rounding
    /// does.
    Restored,
}

/// Numbers that are compared with their expected values.
#[derive(Clone, Debug)]
pub(crate) enum Compared {
    /// A number that is an SSA value, with its adjoint in each output row if the comparison needs adjoints.
    Value { class: Class, found: SsaValue, expected: SsaValue, likeness: Likeness, adjoints: Vec<CellHome> },
    /// Words of the lane's memory, and the first word of their adjoints in each output row, if the adjoints have words,
    /// too.
    Words { class: Class, expected: WordRun, likeness: Likeness, adjoints: Vec<u32> },
}

/// Data for the turning point of a gradient.
#[derive(Clone, Debug)]
pub(crate) struct LaneTurning {
    pub block: u32,
    /// The loss of each output row, with the output words that receive it.
    pub losses: Vec<(CellHome, Vec<u32>)>,
    /// Upper bound on the absolute initial values of all reals that are not inputs.
    pub largest: f64,
    /// Reals that count towards the largest number: SSA values at the start and at the turning point, and words in
    /// memory at the turning point.
    pub reals: Vec<SsaValue>,
    pub words: Vec<MemoryRun>,
    /// Input reals that are in memory.
    pub first: Vec<WordRun>,
}

impl LaneTurning {
    /// Returns the SSA values that the turning point needs.
    pub fn values(&self) -> Vec<SsaValue> {
        let losses = self.losses.iter().filter_map(|(home, _)| value(*home));
        self.reals.iter().copied().chain(losses).collect()
    }
}

impl LaneArrival {
    /// Returns the SSA values that the arrival needs.
    pub fn values(&self) -> Vec<SsaValue> {
        let mut values: Vec<SsaValue> = self.found.iter().flatten().filter_map(|&home| value(home)).collect();
        let of_homes = |homes: &[CellHome]| homes.iter().filter_map(|&home| value(home)).collect::<Vec<_>>();
        for compared in &self.compared {
            if let Compared::Value { found, expected, adjoints, .. } = compared {
                values.extend([*found, *expected]);
                values.extend(of_homes(adjoints));
            }
        }
        for (start, adjoints) in &self.terms {
            values.push(*start);
            values.extend(of_homes(adjoints));
        }
        values
    }
}

impl LaneArrival {
    /// Returns the words of the lane's memory that are compared.
    pub fn runs(&self) -> impl Iterator<Item = &WordRun> {
        self.compared.iter().filter_map(|compared| match compared {
            Compared::Words { expected, .. } => Some(expected),
            Compared::Value { .. } => None,
        })
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
        journey: &mut LaneJourney,
        asked: &[AskedWord],
        travel: Travel,
    ) -> Result<Vec<(u32, LaneArrival)>, NoShader> {
        self.no_stack_is_left(travel)?;
        let wanted = self.vacant(travel);
        let blocks: Vec<u32> = journey.arrivals.keys().copied().collect();
        let mut arrivals = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut arrival = self.arrival(journey, block, asked);
            for declared in &wanted {
                self.used_up(journey, block, declared, &mut arrival)?;
            }
            arrivals.push((block, arrival));
        }
        Ok(arrivals)
    }

    /// Returns results and checks of each end of a gradient: the output words, and that the cells have their initial
    /// values again.
    pub fn of_gradient(
        &mut self,
        journey: &mut LaneJourney,
        asked: &[AskedWord],
        is_judged: bool,
    ) -> Vec<(u32, LaneArrival)> {
        let blocks: Vec<u32> = journey.arrivals.keys().copied().collect();
        let judged = |block| {
            let mut arrival = self.arrival(journey, block, asked);
            if is_judged {
                self.restored(journey, block, &mut arrival);
                arrival.terms = self.terms(journey, block);
            }
            (block, arrival)
        };
        blocks.into_iter().map(judged).collect()
    }

    /// Returns the data for the turning point; None for a run that has none.
    pub fn turning(&self, journey: &mut LaneJourney, asked: &[AskedWord]) -> Option<LaneTurning> {
        let block = journey.turn?;
        let losses = journey.adjoints.losses.clone().into_iter().enumerate().map(|(row, loss)| {
            let cell = (Space::Reals, loss);
            let home = match self.memory.word(cell) {
                Some(word) => CellHome::Memory(word),
                None => CellHome::Value(journey.at_turn(cell, self.start)),
            };
            let words = (0..).zip(asked).filter(|(_, asked)| **asked == AskedWord::Loss { row });
            (home, words.map(|(word, _)| word).collect())
        });
        let losses = losses.collect();
        let is_value = |cell: &SpacedCell| cell.0 == Space::Reals && self.memory.word(*cell).is_none();
        let given: Vec<SpacedCell> = self.start.given.keys().copied().filter(is_value).collect();
        let mut reals: Vec<SsaValue> =
            given.into_iter().map(|cell| journey.at_start(cell, self.start)).collect();
        reals.extend(journey.turned_reals());
        let others = self.start.state.reals.iter().enumerate();
        let others = others.filter(|(n, _)| !self.start.given.contains_key(&(Space::Reals, *n as u32)));
        let sizes = others.map(|(_, &bits)| self.program.approximate(Value::Real(bits)).abs());
        let largest = sizes.fold(0.0, f64::max);
        let end = self.program.flow().layout().constants(Class::Real).end as u32;
        let words = self.memory.parts(Space::Reals, 0, end);
        let first = words.iter().flat_map(|run| self.given_words(run)).collect();
        Some(LaneTurning { block, losses, largest, reals, first, words })
    }

    /// Returns the runs of input words among some cells in memory.
    fn given_words(&self, run: &MemoryRun) -> Vec<WordRun> {
        let words = (run.first..run.end).map(|address| self.start.word((run.space, address)));
        let mut runs = word_runs(run.word, words, &mut Vec::new());
        runs.retain(|run| matches!(run.source, WordSource::Given(_)));
        runs
    }

    fn arrival(&self, journey: &mut LaneJourney, block: u32, asked: &[AskedWord]) -> LaneArrival {
        let found = asked.iter().map(|&asked| match asked {
            AskedWord::Cell(cell) => Some(journey.at_arrival(block, cell, self.start, self.memory)),
            AskedWord::Loss { .. } => None,
        });
        LaneArrival { found: found.collect(), ..LaneArrival::default() }
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
        journey: &mut LaneJourney,
        block: u32,
        declared: &CellsAtFirst,
        arrival: &mut LaneArrival,
    ) -> Result<(), NoShader> {
        let (class, space) = (declared.class, space(declared.class));
        let likeness = self.likeness(class, Likeness::Close);
        for (address, &bits) in (declared.first..).zip(&declared.initial) {
            if self.memory.word((space, address)).is_some() {
                continue;
            }
            if let CellHome::Value(found) =
                journey.at_arrival(block, (space, address), self.start, self.memory)
            {
                if journey.is_never(found, class, bits) {
                    return Err(NoShader::Leftover { name: declared.name.clone() });
                }
                let expected = journey.literal(space, bits);
                arrival.compared.push(Compared::Value {
                    class,
                    found,
                    expected,
                    likeness,
                    adjoints: Vec::new(),
                });
            }
        }
        let end = declared.first.saturating_add(declared.initial.len() as u32);
        for run in self.memory.parts(space, declared.first, end) {
            let words = (run.first..run.end).map(|address| {
                let at = (address - declared.first) as usize;
                StartWord::Same(declared.initial.get(at).copied().unwrap_or(0))
            });
            for expected in word_runs(run.word, words, self.constants) {
                arrival.compared.push(Compared::Words { class, expected, likeness, adjoints: Vec::new() });
            }
        }
        Ok(())
    }

    /// Compares all cells with their values at the start of the lane.
    fn restored(&mut self, journey: &mut LaneJourney, block: u32, arrival: &mut LaneArrival) {
        let layout = self.program.flow().layout();
        let ends = [Class::Int, Class::Real].map(|class| layout.constants(class).end as u32);
        for cell @ (space, address) in journey.left() {
            let class = space.class();
            // The mode is not compared, nor cells without a value in the program.
            let is_judged = match space {
                Space::Ints => address != MODE as u32 && address < ends[0],
                Space::Reals => address < ends[1],
                _ => false,
            };
            let home = journey.at_arrival(block, cell, self.start, self.memory);
            let (true, CellHome::Value(found)) = (is_judged, home) else { continue };
            let likeness = self.likeness(class, Likeness::Restored);
            let expected = journey.at_start(cell, self.start);
            let adjoints = match likeness {
                Likeness::Restored => self.adjoints(journey, block, address),
                Likeness::Same | Likeness::Close => Vec::new(),
            };
            arrival.compared.push(Compared::Value { class, found, expected, likeness, adjoints });
        }
        let spaces = [(Space::Ints, ends[0]), (Space::Reals, ends[1])];
        let runs: Vec<MemoryRun> =
            spaces.iter().flat_map(|&(space, end)| self.memory.parts(space, 0, end)).collect();
        for run in runs {
            let likeness = self.likeness(run.space.class(), Likeness::Restored);
            self.restored_words(&journey.adjoints, run, likeness, arrival);
        }
    }

    /// Returns the homes of the adjoints of a real at an arrival block, one for each output row.
    fn adjoints(&self, journey: &mut LaneJourney, block: u32, real: u32) -> Vec<CellHome> {
        let rows = journey.adjoints.clone();
        let of_row = |row| {
            journey.at_arrival(block, (Space::Adjoints, rows.adjoint(row, real)), self.start, self.memory)
        };
        (0..rows.count()).map(of_row).collect()
    }

    /// Returns the input reals with their adjoints. Reals that aren't inputs are left out, so a loss may count as
    /// smaller than it is.
    fn terms(&self, journey: &mut LaneJourney, block: u32) -> Vec<(SsaValue, Vec<CellHome>)> {
        let is_value = |cell: &SpacedCell| cell.0 == Space::Reals && self.memory.word(*cell).is_none();
        let given = self.start.given.keys().copied().filter(is_value);
        let terms = given.take(MOST_TERMS).map(|(space, address)| {
            let start = journey.at_start((space, address), self.start);
            (start, self.adjoints(journey, block, address))
        });
        terms.collect()
    }

    fn restored_words(
        &mut self,
        rows: &LossRows,
        run: MemoryRun,
        likeness: Likeness,
        arrival: &mut LaneArrival,
    ) {
        let class = run.space.class();
        let words = (run.first..run.end).map(|address| self.start.word((run.space, address)));
        for expected in word_runs(run.word, words, self.constants) {
            let first = run.first + (expected.word - run.word);
            let of_row = |row| {
                let first = rows.adjoint(row, first);
                let last = (Space::Adjoints, first + expected.count - 1);
                let word = self.memory.word((Space::Adjoints, first))?;
                (class == Class::Real && self.memory.word(last) == Some(word + expected.count - 1))
                    .then_some(word)
            };
            let adjoints = (0..rows.count()).map(of_row).collect::<Option<Vec<u32>>>().unwrap_or_default();
            arrival.compared.push(Compared::Words { class, expected, likeness, adjoints });
        }
    }

    /// Returns the tolerance for a class. Only floats have one; other numbers are compared exactly.
    fn likeness(&self, class: Class, of_floats: Likeness) -> Likeness {
        let is_exact = self.program.module().real.is_exact();
        if class == Class::Int || is_exact { Likeness::Same } else { of_floats }
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
