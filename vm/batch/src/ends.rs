//! What is asked where a lane arrives: the words that it has come to, and that nothing else is otherwise than it must be. Knows no text.

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

/// A word that a lane is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedWord {
    /// What is in a cell where it arrives.
    Cell(SpacedCell),
    /// The loss of a row, where the gradient turns.
    Loss { row: usize },
}

/// What is asked in a block where lanes arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneArrival {
    /// What a lane has come to, word after word; none where a word is told where the gradient turns.
    pub found: Vec<Option<CellHome>>,
    pub compared: Vec<Compared>,
    /// Reals that are values where lanes begin, with the adjoint of each row: their products say how large a loss is to first order.
    pub terms: Vec<(SsaValue, Vec<CellHome>)>,
}

/// So many reals that lanes are given say how large a loss is.
const MOST_TERMS: usize = 1 << 10;

/// How a number must be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    Same,
    /// Floats differ by the tolerance at most.
    Close,
    /// Floats differ by what rounding explains, and that changes the loss by no more than rounding does.
    Restored,
}

/// Numbers that must be others.
#[derive(Clone, Debug)]
pub(crate) enum Compared {
    /// A number that is a value, with its adjoint in each row if these are asked for.
    Value { class: Class, found: SsaValue, expected: SsaValue, likeness: Likeness, adjoints: Vec<CellHome> },
    /// Words of the lane's own, and where in each row their adjoints begin, if these have words too.
    Words { class: Class, expected: WordRun, likeness: Likeness, adjoints: Vec<u32> },
}

/// Where a gradient turns.
#[derive(Clone, Debug)]
pub(crate) struct LaneTurning {
    pub block: u32,
    /// The losses, one a row, each with the words in which it is told.
    pub losses: Vec<(CellHome, Vec<u32>)>,
    /// No number in any lane that isn't named here is larger where lanes begin.
    pub largest: f64,
    /// The other reals, where lanes begin and where they turn, and those that are in memory there.
    pub reals: Vec<SsaValue>,
    pub words: Vec<MemoryRun>,
    /// Those in memory that lanes are given.
    pub first: Vec<WordRun>,
}

impl LaneTurning {
    /// The values that are asked for.
    pub fn values(&self) -> Vec<SsaValue> {
        let losses = self.losses.iter().filter_map(|(home, _)| value(*home));
        self.reals.iter().copied().chain(losses).collect()
    }
}

impl LaneArrival {
    /// The values that are asked for.
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
    /// The words of the lane's memory that are compared.
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

/// What a program's cells must be where a lane arrives.
pub(crate) struct Ends<'a> {
    pub program: &'a Program,
    pub start: &'a StartCells<'a>,
    pub memory: &'a LaneMemory,
    pub constants: &'a mut Vec<u64>,
}

impl Ends<'_> {
    /// What is asked at each arrival of a plain run: these words, and that whatever should be used up is.
    ///
    /// # Errors
    /// Something never is.
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

    /// What is asked where a gradient has come back: these words, and that the cells are those of the start.
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

    /// What is asked where a gradient turns; none of a way that doesn't.
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

    /// What lanes are given of some cells in memory.
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

    /// Lanes take nothing from stacks, so what is in one where they begin is there where they arrive.
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

    /// What must hold what it holds at first, or 0, where a run arrives.
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

    /// Compares the cells of a declaration with what they hold at first.
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

    /// Compares all cells with what they hold where lanes begin.
    fn restored(&mut self, journey: &mut LaneJourney, block: u32, arrival: &mut LaneArrival) {
        let layout = self.program.flow().layout();
        let ends = [Class::Int, Class::Real].map(|class| layout.constants(class).end as u32);
        for cell @ (space, address) in journey.left() {
            let class = space.class();
            // The mode, and what has no own value in the program.
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

    /// Where the adjoints of a real are where a lane arrives in a block, one a row.
    fn adjoints(&self, journey: &mut LaneJourney, block: u32, real: u32) -> Vec<CellHome> {
        let rows = journey.adjoints.clone();
        let of_row = |row| {
            journey.at_arrival(block, (Space::Adjoints, rows.adjoint(row, real)), self.start, self.memory)
        };
        (0..rows.count()).map(of_row).collect()
    }

    /// What lanes are given as reals, with the adjoints. Without others a loss counts as smaller than it is.
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

    /// Only floats are anything but the same.
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

/// A declaration with what its cells hold at first.
struct CellsAtFirst {
    name: String,
    class: Class,
    first: u32,
    initial: Vec<u64>,
}
