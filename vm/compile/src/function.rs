//! SSA functions: blocks of operations on values, each defined once. Blocks have parameters instead of φ. This module
//! is independent of machine steps and engines.
//!
//! R. Cytron et al., "Efficiently computing static single assignment form and the control dependence graph" (1991);
//! block parameters instead of φ are from A. W. Appel, "SSA is functional programming" (1998).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::op::{Input, OpKind, Space, SsaOp, SsaValue};
use crate::range::IntRange;
use reviver_flow::graph::CodeDirection;
use reviver_flow::{Activity, Flow};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_vm::CheckLevel;

/// Key of an SSA function. It selects the code from a position to the next exits, in one direction and one mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Specialization {
    /// Position of the entry: between two instructions. It is the index of the second one.
    pub position: u32,
    /// Direction in which the code runs through the program.
    pub direction: CodeDirection,
    /// True if steps propagate adjoints.
    pub gradient: bool,
    /// Result of the activity analysis: the sources of each step that receive adjoints, or whose derivatives may be
    /// lost. Empty for code that is neither differentiated nor lifted to series.
    pub activity: Activity,
    /// Level that says which checks the code performs.
    pub level: CheckLevel,
    /// True if the code reports jumps and freed cells to a watcher.
    pub is_watched: bool,
    /// Places at which the code exits, because the run stops there.
    pub stops: StopPlaces,
    /// Known zeros at entry. Code that begins at the program's start relies on these zeros.
    pub zeros: ZerosAtEntry,
    /// Memory that the caller reads at exits. Stores to other memory may be eliminated.
    pub live_at_exits: LiveAtExits,
}

/// Liveness at exits: the memory that the caller reads after an exit. The caller always reads the counts and the exit's
/// position. An exit is a *return* unless it is at a safepoint, or is taken because there is no space for a call. After
/// an exit that isn't a return, the caller either continues the run at the exit's position, or starts the run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiveAtExits {
    /// The caller reads all memory, at every exit.
    All,
    /// The caller reads all memory, but only after a return.
    AllOnReturn,
    /// The caller reads only adjoints, and only after a return.
    AdjointsOnReturn,
}

/// Facts about zeros at entry, on which specialized code relies. A zero is +0, so all its bits are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ZerosAtEntry {
    /// True if all integer and real cells of main's frame are 0.
    pub cells: bool,
    /// True if all adjoints of main's frame are 0.
    pub adjoints: bool,
    /// True if no cell of the program has an adjoint of -0.
    pub no_adjoint_is_negative: bool,
}

/// Position in the code together with the direction in which the run reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StopPlace {
    /// Position between two instructions, as the index of the second one.
    pub position: u32,
    /// Direction of the run. Runs in the other direction don't stop at the position.
    pub direction: CodeDirection,
}

/// Set of places at which a run stops. Clones share the storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StopPlaces(Option<Arc<[StopPlace]>>);

impl StopPlaces {
    /// Iterates over all places in ascending order, by position and then by direction.
    pub fn iter(&self) -> impl Iterator<Item = StopPlace> + '_ {
        self.0.iter().flat_map(|places| places.iter().copied())
    }
}

impl FromIterator<StopPlace> for StopPlaces {
    /// Collects places. An empty set, as in most specializations, allocates nothing.
    fn from_iter<I: IntoIterator<Item = StopPlace>>(places: I) -> StopPlaces {
        let places: BTreeSet<StopPlace> = places.into_iter().collect();
        StopPlaces((!places.is_empty()).then(|| places.into_iter().collect()))
    }
}

impl ZerosAtEntry {
    /// Returns true if `self` states all facts that `others` states.
    pub fn include(self, others: ZerosAtEntry) -> bool {
        self.cells >= others.cells
            && self.adjoints >= others.adjoints
            && self.no_adjoint_is_negative >= others.no_adjoint_is_negative
    }
}

/// Returns true if these are the bits of -0. Fixed point has no -0.
pub(crate) fn is_negative_zero(system: RealSystem, bits: u64) -> bool {
    match system {
        RealSystem::F64 => bits == (-0.0_f64).to_bits(),
        RealSystem::F32 => bits == u64::from((-0.0_f32).to_bits()),
        RealSystem::Fixed(_) => false,
    }
}

/// Lower bounds on the number of cells of each class while the code runs, for any open calls. The bounds count globals,
/// main's frame, constants, and the cells for inlined frames ([`Demands`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedCells {
    /// Lower bound on the number of integer cells.
    pub ints: u32,
    /// Lower bound on the number of real cells.
    pub reals: u32,
}

impl FixedCells {
    /// Computes the bound for a function with these demands.
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

/// Integer width, real number system and tolerance of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberKinds {
    /// Width of the integers. Results of integer operations wrap to this width.
    pub word: Word,
    /// Number system of all reals and adjoints.
    pub system: RealSystem,
    /// Largest magnitude of a vacant real.
    pub tolerance: f64,
}

impl NumberKinds {
    /// Returns the number kinds of a module.
    pub fn of(module: &Module) -> NumberKinds {
        NumberKinds { word: module.word, system: module.real, tolerance: module.tolerance() }
    }
}

/// Definition of a value: an operation's result or a block parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// An operation defines the value. Operations without a result have a value number too.
    Op(SsaOp),
    /// Block parameter of this class.
    Parameter(Class),
}

/// Edge to a block, with the arguments for the block's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Number of the target block.
    pub to: u32,
    /// Values of the target's parameters: as many, and of the same classes, in the same order.
    pub arguments: Vec<SsaValue>,
}

/// Terminator of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SsaEnd {
    /// Unconditional edge to one block.
    Jump(Jump),
    /// Takes the edge `yes` if the condition isn't 0, otherwise the edge `no`.
    Branch {
        /// Integer value that decides; any value other than 0 is true.
        condition: SsaValue,
        /// Edge that is taken if the condition isn't 0.
        yes: Jump,
        /// Edge that is taken if the condition is 0.
        no: Jump,
    },
    /// Safepoint: at a loop header, or where a restore replaces an `uncompute`. If at least `steps` + `skipped` steps
    /// are left in the budget, counts `skipped` steps as executed and takes the edge `next`. Otherwise takes the edge
    /// `stop`.
    Safepoint {
        /// Largest number of steps from this safepoint to the next safepoint or exit, without `skipped`.
        steps: u32,
        /// Number of steps of the `uncompute` that the restore replaces; `None` if no restore follows the safepoint.
        skipped: Option<SsaValue>,
        /// Edge that continues the run.
        next: Jump,
        /// Edge to the exit for an exhausted budget.
        stop: Jump,
    },
    /// Leaves the function by the [`SsaExit`] of this number, with all cells in memory.
    Exit {
        /// Index of the exit in [`SsaFunction::exits`].
        exit: u32,
    },
}

/// Exit of an SSA function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsaExit {
    /// Position of the machine between two instructions, as the index of the second one.
    pub position: u32,
    /// Direction of execution at the exit.
    pub direction: CodeDirection,
    /// Inlined calls that are open at the exit, the outermost first. In [`crate::op::Space::References`], their
    /// arguments follow the records of out-of-line calls, in the same order.
    pub calls: Vec<OpenedCall>,
    /// True for an exit that is taken because there is no space for one more call.
    pub is_full: bool,
}

/// Call of an out-of-line callee. The callee's code exists once in the SSA function. Each open call has a record of
/// [`Demands::record`] words: the number of the call (from 1 on), its arguments, and then the arguments of the inlined
/// calls that were open at the call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfLineCall {
    /// Number of the calling procedure body; 0 is the body that contains the entry.
    pub by: u32,
    /// Number of the called procedure body, numbered as `by`.
    pub callee: u32,
    /// Inlined calls that are open at the call site, the outermost first, followed by the call itself.
    pub opened: Vec<OpenedCall>,
    /// Distance in cells from the first integer of the caller's frame to the first integer of the callee's frame;
    /// unused if main calls.
    pub int_offset: u32,
    /// Distance in cells from the first real of the caller's frame to the first real of the callee's frame; unused if
    /// main calls.
    pub real_offset: u32,
}

/// Call that is open at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedCall {
    /// Index of the call instruction.
    pub site: u32,
    /// True if the machine reverses its direction at the call.
    pub turns: bool,
    /// Number of arguments of the call.
    pub references: u32,
    /// Number of integer cells in the callee's frame.
    pub frame_ints: u32,
    /// Number of real cells in the callee's frame.
    pub frame_reals: u32,
}

/// Memory that an SSA function needs in addition to the program's own cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Number of zeroed integer cells after those of the machine, for the frames of inlined calls.
    pub frame_ints: u32,
    /// Number of zeroed real cells after those of the machine, for the frames of inlined calls.
    pub frame_reals: u32,
    /// Largest number of inlined calls that are open at once.
    pub depth: u32,
    /// Number of words for the arguments of open inlined calls.
    pub references: u32,
    /// Number of words of a call record; 0 if main is the only procedure body. Each open out-of-line callee has a
    /// record, but main has none.
    pub record: u32,
    /// Memory needed for each open out-of-line call.
    pub level: LevelDemands,
}

/// Upper bounds on the memory of one open out-of-line call, together with the inlined calls that are open at its site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelDemands {
    /// Number of integer cells in the frames of these calls.
    pub ints: u32,
    /// Number of real cells in the frames of these calls.
    pub reals: u32,
    /// Number of these calls, which counts toward the depth limit.
    pub depth: u32,
}

/// Index, in [`Space::References`], of the word that holds the end of the call records. This word precedes the records;
/// only code with out-of-line calls uses it.
pub const TOP_WORD: u32 = 0;
/// Index of the first word of the first call record.
pub const FIRST_RECORD: u32 = 1;
/// Number of words of a reference.
pub const REFERENCE_WORDS: u32 = 3;

impl Demands {
    /// Returns demands that suffice for either of two SSA functions.
    #[must_use]
    pub fn max(self, other: Demands) -> Demands {
        Demands {
            frame_ints: self.frame_ints.max(other.frame_ints),
            frame_reals: self.frame_reals.max(other.frame_reals),
            depth: self.depth.max(other.depth),
            references: self.references.max(other.references),
            record: self.record.max(other.record),
            level: LevelDemands {
                ints: self.level.ints.max(other.level.ints),
                reals: self.level.reals.max(other.level.reals),
                depth: self.level.depth.max(other.level.depth),
            },
        }
    }
}

impl SsaEnd {
    /// Iterates over the outgoing edges.
    pub fn jumps(&self) -> impl Iterator<Item = &Jump> {
        let (first, second) = match self {
            SsaEnd::Jump(jump) => (Some(jump), None),
            SsaEnd::Branch { yes: first, no: second, .. }
            | SsaEnd::Safepoint { next: first, stop: second, .. } => (Some(first), Some(second)),
            SsaEnd::Exit { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Returns the block for an exhausted step budget, if this is a safepoint.
    pub(crate) fn stop(&self) -> Option<u32> {
        match self {
            SsaEnd::Safepoint { stop, .. } => Some(stop.to),
            SsaEnd::Jump(_) | SsaEnd::Branch { .. } | SsaEnd::Exit { .. } => None,
        }
    }

    /// Returns the integer operand of this terminator, if it has one.
    pub fn value(&self) -> Option<SsaValue> {
        match self {
            SsaEnd::Branch { condition, .. } => Some(*condition),
            SsaEnd::Safepoint { skipped, .. } => *skipped,
            SsaEnd::Jump(_) | SsaEnd::Exit { .. } => None,
        }
    }

    /// Iterates over the outgoing edges, mutably.
    pub fn jumps_mut(&mut self) -> impl Iterator<Item = &mut Jump> {
        let (first, second) = match self {
            SsaEnd::Jump(jump) => (Some(jump), None),
            SsaEnd::Branch { yes: first, no: second, .. }
            | SsaEnd::Safepoint { next: first, stop: second, .. } => (Some(first), Some(second)),
            SsaEnd::Exit { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Basic block: operations that are executed one after another, and a terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsaBlock {
    /// Block parameters (φ). Each edge to the block passes an argument for each of them.
    pub parameters: Vec<SsaValue>,
    /// Operations in order of execution, each by its value. An operation without a result has a value, too; no operand
    /// refers to that value.
    pub ops: Vec<SsaValue>,
    /// Number of machine steps that are counted at the end of the block.
    pub steps: u32,
    /// Number of those steps in `steps` that enter or leave a call.
    pub calls: u32,
    /// Terminator, which leads to other blocks or to an exit.
    pub end: SsaEnd,
}

/// The cells that computed addresses may reach, as half-open ranges of addresses, disjoint and in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReachedCells {
    /// Ranges of addresses of integers.
    pub ints: Vec<(u32, u32)>,
    /// Ranges of addresses of reals. Their adjoints may be reached, too.
    pub reals: Vec<(u32, u32)>,
}

/// The step from which an operation was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOrigin {
    /// The instruction of the step.
    pub at: u32,
    /// The part of the step that the operation computes.
    pub part: StepPart,
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// The value of the step's function.
    Function,
    /// The new value of a target, computed from its old value.
    Update,
    /// Any other part, such as a check, an address, a partial derivative or an adjoint.
    Other,
}

/// SSA function of one specialization. Its entry is block 0, which has no predecessors.
#[derive(Clone, Debug, PartialEq)]
pub struct SsaFunction {
    /// Specialization for which the function was built.
    pub specialization: Specialization,
    /// Number kinds in which all operations compute.
    pub numbers: NumberKinds,
    /// Lower bounds on the numbers of cells in memory while the code runs. Passes use them to find addresses that
    /// always exist.
    pub cells: FixedCells,
    /// The cells that computed addresses may reach; `None` if they aren't known. Ranges of addresses are often wider,
    /// because passes drop checks of indices.
    pub reached: Option<ReachedCells>,
    /// Definition of each value, indexed by the value's number.
    pub definitions: Vec<Definition>,
    /// Origin of each value, if known; used when code is inspected.
    pub origins: Vec<Option<StepOrigin>>,
    /// Basic blocks, indexed by their numbers; block 0 is the entry.
    pub blocks: Vec<SsaBlock>,
    /// Ranges of block parameters, as far as passes have inferred them.
    pub ranges: BTreeMap<SsaValue, IntRange>,
    /// Exits, indexed by the numbers in [`SsaEnd::Exit`].
    pub exits: Vec<SsaExit>,
    /// Out-of-line calls. The call of number n in a record is at index n - 1.
    pub calls: Vec<OutOfLineCall>,
    /// Memory that the caller must provide before a run.
    pub demands: Demands,
    /// Largest number of steps from the entry to an exit or to the first safepoint. If the entry leads directly to a
    /// safepoint, the next safepoint counts as the first one. Code is run only with a budget of at least this number of
    /// steps.
    pub first_steps: u32,
}

impl SsaFunction {
    /// Returns the number of operations in all blocks.
    pub fn length(&self) -> usize {
        self.blocks.iter().map(|block| block.ops.len()).sum()
    }

    /// Returns the definition of a value, or `None` if there is no such value.
    pub fn definition(&self, value: SsaValue) -> Option<&Definition> {
        self.definitions.get(value.0 as usize)
    }

    /// Returns the operation that defines a value, if an operation does.
    pub fn op(&self, value: SsaValue) -> Option<&SsaOp> {
        match self.definition(value)? {
            Definition::Op(op) => Some(op),
            Definition::Parameter(_) => None,
        }
    }

    /// Returns the step from which an operation was generated, if it is known.
    pub fn origin(&self, value: SsaValue) -> Option<StepOrigin> {
        self.origins.get(value.0 as usize).copied().flatten()
    }

    /// Returns the class of a value, if it has one.
    pub fn class(&self, value: SsaValue) -> Option<Class> {
        match self.definition(value)? {
            Definition::Op(op) => op.kind.facts().result,
            Definition::Parameter(class) => Some(*class),
        }
    }

    /// Defines a value by an unguarded operation. The caller must add the value to a block.
    pub fn define(&mut self, kind: OpKind, operands: &[SsaValue]) -> SsaValue {
        let value = SsaValue(self.definitions.len() as u32);
        let operands = operands.iter().copied().collect();
        self.definitions.push(Definition::Op(SsaOp { kind, operands, guard: None }));
        value
    }

    /// Replaces the definition of a value by an operation without operands.
    pub(crate) fn replace(&mut self, value: SsaValue, kind: OpKind) {
        if let Some(definition) = self.definitions.get_mut(value.0 as usize) {
            *definition = Definition::Op(SsaOp { kind, operands: [].into_iter().collect(), guard: None });
        }
    }

    /// Changes a load from working memory to a load from the start state. The caller must ensure that no store changes
    /// the cell before the load.
    pub fn read_start(&mut self, load: SsaValue) {
        if let Some(Definition::Op(op)) = self.definitions.get_mut(load.0 as usize) {
            op.kind = match op.kind {
                OpKind::Load(Space::Ints) => OpKind::Load(Space::StartInts),
                OpKind::Load(Space::Reals) => OpKind::Load(Space::StartReals),
                kind => kind,
            };
        }
    }

    /// Returns the blocks that end in a return: an exit that isn't at a safepoint, and isn't taken because there is no
    /// space for a call.
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

    /// Returns true if the function begins in main and makes no out-of-line call. Such a function has no inputs, and
    /// uses only the cells of a machine.
    pub fn is_plain(&self) -> bool {
        self.demands.record == 0 && self.calls.is_empty() && self.inputs().next().is_none()
    }

    /// Iterates over the inputs of the function, each with its value.
    pub fn inputs(&self) -> impl Iterator<Item = (SsaValue, Input)> {
        (0..).map(SsaValue).zip(&self.definitions).filter_map(|(value, definition)| match definition {
            Definition::Op(SsaOp { kind: OpKind::Input(input), .. }) => Some((value, *input)),
            Definition::Op(_) | Definition::Parameter(_) => None,
        })
    }

    /// Appends the blocks and exits of another function, and returns the new number of the other function's entry
    /// block. Adds no edge to this block. The call numbers in the other function's records stay the same.
    pub fn append(&mut self, other: SsaFunction) -> u32 {
        let (first, first_exit) = (self.blocks.len() as u32, self.exits.len() as u32);
        let by = self.definitions.len() as u32;
        let moved = |value: SsaValue| SsaValue(value.0 + by);
        self.definitions.extend(other.definitions.into_iter().map(|definition| match definition {
            Definition::Op(op) => Definition::Op(SsaOp {
                operands: op.operands.into_iter().map(moved).collect(),
                guard: op.guard.map(moved),
                ..op
            }),
            parameter @ Definition::Parameter(_) => parameter,
        }));
        // Values beyond the end of `origins` have no known origin.
        self.origins.resize(by as usize, None);
        self.origins.extend(other.origins);
        self.ranges.extend(other.ranges.into_iter().map(|(value, range)| (moved(value), range)));
        self.exits.extend(other.exits);
        for mut block in other.blocks {
            block.parameters.iter_mut().chain(&mut block.ops).for_each(|value| *value = moved(*value));
            for jump in block.end.jumps_mut() {
                jump.to += first;
                jump.arguments.iter_mut().for_each(|value| *value = moved(*value));
            }
            match &mut block.end {
                SsaEnd::Branch { condition, .. } => *condition = moved(*condition),
                SsaEnd::Safepoint { skipped: Some(skipped), .. } => *skipped = moved(*skipped),
                SsaEnd::Exit { exit } => *exit += first_exit,
                SsaEnd::Safepoint { skipped: None, .. } | SsaEnd::Jump(_) => {}
            }
            self.blocks.push(block);
        }
        first
    }
}
