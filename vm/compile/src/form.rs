//! SSA form: blocks of operations on values, each of which is made in one place. Blocks have parameters instead of φ.
//! Knows no step and no engine.
//!
//! R. Cytron et al., "Efficiently computing static single assignment form and the control dependence graph" (1991); block
//! parameters are A. W. Appel's, "SSA is functional programming" (1998).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use reviver_flow::graph::Way;
use reviver_flow::{Activity, Flow};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_vm::CheckLevel;

use crate::known::KnownCells;
use crate::op::{Input, OpKind, SsaOp, SsaValue};
use crate::range::IntRange;

/// What a form is made of: the code from a position to where it is left, in one direction and one mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Where it begins: before the instruction of this index, and behind the one before.
    pub position: u32,
    pub way: Way,
    /// Whether steps carry adjoints.
    pub gradient: bool,
    /// Which of their sources receive some.
    pub activity: Activity,
    /// How much is checked.
    pub level: CheckLevel,
    /// Whether somebody watches jumps, and what is freed.
    pub is_watched: bool,
    /// Where the run is to stop, if it comes there.
    pub stops: StopPlaces,
    /// What is known of cells where it begins: code that begins where a program does is made for that.
    pub zeros: FrameZeros,
    /// What else is known of cells there.
    pub known: KnownCells,
    pub observed: Observed,
}

/// What somebody looks at where a form is left, besides counts and where that is. Where it pauses, or lacks room for a call, it hasn't
/// arrived: who doesn't go on from there begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observed {
    /// All memory, wherever that is.
    Anywhere,
    /// All memory where it arrives.
    Arrival,
    /// The adjoints where it arrives.
    Adjoints,
}

/// What is known of cells: what of main's frame holds 0, to the last bit, and that no cell at all has an adjoint of -0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameZeros {
    pub cells: bool,
    pub adjoints: bool,
    pub no_adjoint_is_negative: bool,
}

/// A position in the code, as it is come to one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StopPlace {
    pub position: u32,
    pub way: Way,
}

/// Places in the code, each once. A clone shares them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StopPlaces(Option<Arc<[StopPlace]>>);

impl StopPlaces {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = StopPlace> + '_ {
        self.0.iter().flat_map(|places| places.iter().copied())
    }
}

impl FromIterator<StopPlace> for StopPlaces {
    /// None are allocated where there are none, as in most versions.
    fn from_iter<I: IntoIterator<Item = StopPlace>>(places: I) -> StopPlaces {
        let places: BTreeSet<StopPlace> = places.into_iter().collect();
        StopPlaces((!places.is_empty()).then(|| places.into_iter().collect()))
    }
}

impl FrameZeros {
    /// Whether all of others are among them.
    pub fn include(self, others: FrameZeros) -> bool {
        self.cells >= others.cells
            && self.adjoints >= others.adjoints
            && self.no_adjoint_is_negative >= others.no_adjoint_is_negative
    }
}

/// Whether the bits of a real are those of -0, which fixed point hasn't got.
pub(crate) fn is_negative_zero(system: RealSystem, bits: u64) -> bool {
    match system {
        RealSystem::F64 => bits == (-0.0_f64).to_bits(),
        RealSystem::F32 => bits == u64::from((-0.0_f32).to_bits()),
        RealSystem::Fixed(_) => false,
    }
}

/// How many cells of a class there always are where a form runs, whatever calls are open: the program's own, main's, its constants, and as
/// many behind these as the form asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedCells {
    pub ints: u32,
    pub reals: u32,
}

impl FixedCells {
    /// Those of a form of a program.
    pub fn of(flow: &Flow, demands: Demands) -> FixedCells {
        let count = |class, more: u32| {
            u32::try_from(flow.layout().constants(class).end).map_or(0, |own| own.saturating_add(more))
        };
        FixedCells {
            ints: count(Class::Int, demands.frame_ints),
            reals: count(Class::Real, demands.frame_reals),
        }
    }
}

/// What a program computes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberKinds {
    pub word: Word,
    pub system: RealSystem,
    /// A real is vacant whose magnitude is at most this.
    pub tolerance: f64,
}

impl NumberKinds {
    /// Those of a module.
    pub fn of(module: &Module) -> NumberKinds {
        NumberKinds { word: module.word, system: module.real, tolerance: module.tolerance() }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    Op(SsaOp),
    /// A parameter of a block.
    Parameter(Class),
}

/// A way into a block, with what is passed for its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The number of the block.
    pub to: u32,
    pub arguments: Vec<SsaValue>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SsaEnd {
    Go(Jump),
    /// `yes` where an integer isn't 0.
    Branch {
        condition: SsaValue,
        yes: Jump,
        no: Jump,
    },
    /// The head of a loop, or where steps are skipped: `stop` where fewer than so many steps may still be made, which is the most
    /// that are made until another end of this kind, or an exit. Skipped ones are made here, besides: as many as an integer says.
    Pause {
        steps: u32,
        skipped: Option<SsaValue>,
        next: Jump,
        stop: Jump,
    },
    /// All cells are in memory, and the machine goes on: by the number of a [`FormExit`].
    Exit {
        exit: u32,
    },
}

/// Where a form is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormExit {
    /// The machine stands before the instruction of this index, and behind the one before.
    pub position: u32,
    /// The direction in which the code was gone through there.
    pub way: Way,
    /// The calls that were put in place and are open, the outermost first. What they pass is in [`crate::op::Space::References`],
    /// in this order, behind the records of the calls that were not.
    pub calls: Vec<OpenedCall>,
    /// Whether it is left because there is no room for one more call.
    pub is_full: bool,
}

/// A call that isn't put in place: the callee is a *function* of the form, whose code is there once. While it runs, a record of
/// [`Demands::record`] words says what is open: the number of the call (from 1 on), what it passes, and then what the calls
/// pass that were put in place where it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormCall {
    /// The functions that call and are called, by their numbers: 0 is the one that the form begins in.
    pub by: u32,
    pub callee: u32,
    /// The calls that were put in place and are open, the outermost first, and then the call itself.
    pub opened: Vec<OpenedCall>,
    /// From the first cell of the caller's frame to that of the callee's, of each class. Nobody asks where main calls.
    pub further_ints: u32,
    pub further_reals: u32,
}

/// A call that is open where a form is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedCall {
    /// The instruction.
    pub site: u32,
    /// Whether the machine turns there.
    pub turns: bool,
    /// How many arguments it has.
    pub references: u32,
    /// Cells of the callee's frame, of each class.
    pub frame_ints: u32,
    pub frame_reals: u32,
}

/// What a form needs of the machine besides what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Cells behind those of the machine, all 0, of each class, for calls that are put in place.
    pub frame_ints: u32,
    pub frame_reals: u32,
    /// How many of those may be open at once.
    pub depth: u32,
    /// Words for what they pass.
    pub references: u32,
    /// Words of a record, of which there is one for each function that is open but main; none where main is the only one.
    pub record: u32,
    /// What a function takes that is called.
    pub level: LevelDemands,
}

/// What each open call of a function takes at most, those included that were put in place where it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelDemands {
    pub ints: u32,
    pub reals: u32,
    /// Calls.
    pub depth: u32,
}

/// The word in which code with records says where they end; it lies before them.
pub const TOP_WORD: u32 = 0;
/// The first word of the first record.
pub const FIRST_RECORD: u32 = 1;
/// Words of a reference.
pub const REFERENCE_WORDS: u32 = 3;

impl SsaEnd {
    /// Where it leads.
    pub fn jumps(&self) -> impl Iterator<Item = &Jump> {
        let (first, second) = match self {
            SsaEnd::Go(jump) => (Some(jump), None),
            SsaEnd::Branch { yes: first, no: second, .. }
            | SsaEnd::Pause { next: first, stop: second, .. } => (Some(first), Some(second)),
            SsaEnd::Exit { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The block that it leads to where the steps don't last, if it is a pause.
    pub(crate) fn stop(&self) -> Option<u32> {
        match self {
            SsaEnd::Pause { stop, .. } => Some(stop.to),
            SsaEnd::Go(_) | SsaEnd::Branch { .. } | SsaEnd::Exit { .. } => None,
        }
    }

    /// The integer that it looks at, if it does.
    pub fn value(&self) -> Option<SsaValue> {
        match self {
            SsaEnd::Branch { condition, .. } => Some(*condition),
            SsaEnd::Pause { skipped, .. } => *skipped,
            SsaEnd::Go(_) | SsaEnd::Exit { .. } => None,
        }
    }

    /// Where it leads to, to be changed.
    pub fn jumps_mut(&mut self) -> impl Iterator<Item = &mut Jump> {
        let (first, second) = match self {
            SsaEnd::Go(jump) => (Some(jump), None),
            SsaEnd::Branch { yes: first, no: second, .. }
            | SsaEnd::Pause { next: first, stop: second, .. } => (Some(first), Some(second)),
            SsaEnd::Exit { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Operations that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsaBlock {
    pub parameters: Vec<SsaValue>,
    /// The operations in their order, by what they give; of one that gives nothing, no operand is its value.
    pub ops: Vec<SsaValue>,
    /// Steps of the machine that are made when it ends.
    pub steps: u32,
    /// How many of them enter a call or leave one.
    pub calls: u32,
    pub end: SsaEnd,
}

/// A version in SSA form. It begins with block 0, which nothing leads back to.
#[derive(Clone, Debug, PartialEq)]
pub struct SsaForm {
    pub version: Version,
    pub numbers: NumberKinds,
    pub cells: FixedCells,
    pub definitions: Vec<Definition>,
    /// The instructions that operations were made for, by the numbers of their values, as far as they are known: for those who
    /// read code.
    pub instructions: Vec<Option<u32>>,
    pub blocks: Vec<SsaBlock>,
    /// Between which numbers parameters lie, as far as passes have found it.
    pub ranges: BTreeMap<SsaValue, IntRange>,
    pub exits: Vec<FormExit>,
    /// The calls that aren't put in place, each by its number, less 1.
    pub calls: Vec<FormCall>,
    pub demands: Demands,
    /// The most steps from the beginning to an exit, or to a pause behind the one that it may begin with. Code is run
    /// where at least so many may be made.
    pub first_steps: u32,
}

impl SsaForm {
    /// The number of its operations.
    pub fn length(&self) -> usize {
        self.blocks.iter().map(|block| block.ops.len()).sum()
    }

    /// Where a value comes from; none of a value that isn't there.
    pub fn definition(&self, value: SsaValue) -> Option<&Definition> {
        self.definitions.get(value.0 as usize)
    }

    /// The operation that gives a value, if one does.
    pub fn op(&self, value: SsaValue) -> Option<&SsaOp> {
        match self.definition(value)? {
            Definition::Op(op) => Some(op),
            Definition::Parameter(_) => None,
        }
    }

    /// The instruction that an operation was made for, if it is known.
    pub fn instruction(&self, value: SsaValue) -> Option<u32> {
        self.instructions.get(value.0 as usize).copied().flatten()
    }

    /// The class of a value, if it has one.
    pub fn class(&self, value: SsaValue) -> Option<Class> {
        match self.definition(value)? {
            Definition::Op(op) => op.kind.facts().gives,
            Definition::Parameter(class) => Some(*class),
        }
    }

    /// Makes a value of an operation that isn't guarded; whoever asks puts it into a block.
    pub fn define(&mut self, kind: OpKind, operands: &[SsaValue]) -> SsaValue {
        let value = SsaValue(self.definitions.len() as u32);
        let operands = operands.iter().copied().collect();
        self.definitions.push(Definition::Op(SsaOp { kind, operands, guard: None }));
        value
    }

    /// Puts another operation without operands in the place of one.
    pub(crate) fn replace(&mut self, value: SsaValue, kind: OpKind) {
        if let Some(definition) = self.definitions.get_mut(value.0 as usize) {
            *definition = Definition::Op(SsaOp { kind, operands: [].into_iter().collect(), guard: None });
        }
    }

    /// The blocks of the exits where it arrives: neither pauses nor lacks room for a call.
    pub fn arrivals(&self) -> HashSet<u32> {
        let stops: HashSet<u32> = self.blocks.iter().filter_map(|block| block.end.stop()).collect();
        let numbered = (0..).zip(&self.blocks);
        let arrives = |&(number, block): &(u32, &SsaBlock)| {
            let SsaEnd::Exit { exit } = block.end else { return false };
            let is_full = self.exits.get(exit as usize).is_some_and(|exit| exit.is_full);
            !is_full && !stops.contains(&number)
        };
        numbered.filter(arrives).map(|(number, _)| number).collect()
    }

    /// Whether it begins in main and calls no function: then it has to be given nothing, and needs nothing of a machine but its cells.
    pub fn is_plain(&self) -> bool {
        self.demands.record == 0 && self.calls.is_empty() && self.inputs().next().is_none()
    }

    /// What it has to be given, by the values that stand for it.
    pub fn inputs(&self) -> impl Iterator<Item = (SsaValue, Input)> {
        (0..).map(SsaValue).zip(&self.definitions).filter_map(|(value, definition)| match definition {
            Definition::Op(SsaOp { kind: OpKind::Input(input), .. }) => Some((value, *input)),
            Definition::Op(_) | Definition::Parameter(_) => None,
        })
    }
}
