//! Emitter of a lane's shader text: initialization, the run as statements, and the checks at its end. This module is
//! independent of programs and devices.

mod accesses;
mod body;
mod ends;
mod frame;
pub(crate) mod live;
mod operations;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use reviver_compile::call::region::Region;
use reviver_compile::emit_plan::{EmitPlan, followed};
use reviver_compile::function::NumberKinds;
use reviver_compile::op::{OpKind, SsaValue};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::cells::LaneMemory;
use crate::ends::{LaneEnd, LaneLosses};
use crate::graph::BlockGraph;
use crate::irreducible_loops::ReducibleGraph;
use crate::lane_run::LaneRun;
use crate::no_shader::NoShader;
use crate::operations::{IntegerType, Operations};
use crate::shader::{KernelKind, LaneShader};
use crate::statements::ShaderStatements;
use crate::structure::{StructureNode, structured};
use crate::tables::StartTables;
use crate::words::WordRun;
use frame::ShaderParts;
use live::{BlockValues, has_name};
use steps::numbers_of_steps;

/// The input of the emitter.
#[derive(Debug)]
pub(crate) struct LaneText {
    pub lane_run: LaneRun,
    pub memory: LaneMemory,
    /// Sources of the initial content of the lane's memory.
    pub first: Vec<WordRun>,
    pub constants: Vec<u64>,
    pub inputs: u32,
    pub outputs: u32,
    /// True if a lane reports its number of steps.
    pub reports_steps: bool,
    /// Results and checks, by the block where the lane's run ends.
    pub lane_ends: BTreeMap<u32, LaneEnd>,
    /// Data for the losses of a call function; `None` for a run without losses.
    pub losses: Option<LaneLosses>,
    /// Sources of the start values that loads at computed addresses read.
    pub tables: StartTables,
}

/// An emitted shader, with properties that callers need.
#[derive(Debug)]
pub(crate) struct EmittedShader {
    pub shader: LaneShader,
    /// The number of loops with several entries. In the shader, each such loop begins with a switch.
    pub irreducible_loops: u32,
    /// True if lanes compute, store or return reals; see [`LaneText::has_reals`].
    pub has_reals: bool,
}

/// Maximum number of words of a lane's memory. The bound exists because loops over these words initialize and compare
/// them, and the device limits the iterations of all loops.
pub(crate) const MOST_WORDS: u64 = 1 << 18;

/// Exclusive upper bound on the number of cells of each space in a lane. Because of this bound, addresses fit in 32
/// bits, and a bounds check needs only 32 bits. For an offset below this bound, if the unsigned 32-bit sum of an index
/// and the offset is less than an array's length, the 64-bit sum is also less.
const MOST_CELLS: u64 = 1 << 30;

impl LaneText {
    /// Emits the shader of the lanes.
    ///
    /// # Errors
    /// Fails if the lane's memory is too large.
    pub fn written(self) -> Result<EmittedShader, NoShader> {
        if self.memory.words > MOST_WORDS {
            return Err(NoShader::TooLarge { words: self.memory.words, most: MOST_WORDS });
        }
        let counts = self.memory.counts;
        let cells = [counts.ints, counts.adjoints.max(counts.reals), counts.references]
            .map(u64::from)
            .into_iter()
            .max();
        if let Some(words) = cells.filter(|&cells| cells >= MOST_CELLS) {
            return Err(NoShader::TooLarge { words, most: MOST_CELLS });
        }
        let function = &self.lane_run.function;
        let others: Vec<(u32, SsaValue)> = self.others();
        let plan =
            EmitPlan::with(function, self.lane_run.replacements.iter().copied(), others.iter().copied());
        let reducible = ReducibleGraph::of(graph(&self.lane_run, &plan));
        let is_named = |value| has_name(function, value) && !self.lane_run.inputs.contains_key(&value);
        let input = KernelInput {
            text: &self,
            values: BlockValues::of(function, &plan, &others, is_named),
            steps: numbers_of_steps(function, &plan)?,
            plan: &plan,
            nodes: structured(&reducible),
            reducible: &reducible,
        };
        let mut operations = Operations::new(function.numbers);
        let resumable = input.written(KernelKind::Resumable, &mut operations);
        let single = resumable.is_resumable.then(|| input.written(KernelKind::NonResumable, &mut operations));
        // The tables of operations are placed after the other constants.
        let functions = operations.prelude(self.constants.len());
        let whole = |pass: &EmittedKernel| format!("{}{functions}{}", pass.parts.head, pass.parts.main);
        let shader = LaneShader {
            wgsl: whole(&resumable),
            non_resumable: single.as_ref().map(whole),
            helper_iterations: resumable.helper_iterations,
            inputs: self.inputs,
            outputs: self.outputs,
            reports_steps: self.reports_steps,
            kept: u32::try_from(resumable.words).unwrap_or(u32::MAX),
            constants: self.constants.iter().copied().chain(operations.tables()).collect(),
        };
        Ok(EmittedShader {
            shader,
            irreducible_loops: reducible.irreducible_loops,
            has_reals: self.has_reals(),
        })
    }

    /// Returns true if lanes compute, store or return a real. If they don't, the shader contains no float types, so
    /// devices without float types can execute it.
    fn has_reals(&self) -> bool {
        let function = &self.lane_run.function;
        let is_real = |value: SsaValue| function.class(value) == Some(Class::Real);
        // A literal is written as an expression at each use, so it isn't a computation.
        let computes = |value: &SsaValue| {
            function.op(*value).is_some_and(|op| {
                op.kind.facts().operands.contains(&Class::Real)
                    || (is_real(*value) && !op.operands.is_empty())
            })
        };
        let in_blocks = function.blocks.iter().any(|block| {
            block.parameters.iter().any(|value| is_real(*value)) || block.ops.iter().any(computes)
        });
        in_blocks
            || self.others().into_iter().any(|(_, value)| is_real(value))
            || self.memory.runs.iter().any(|run| run.space.class() == Class::Real)
    }

    /// Returns pairs of a block and a value that the emitter uses in the block, in addition to the SSA function's own
    /// uses.
    fn others(&self) -> Vec<(u32, SsaValue)> {
        let lane_ends = self
            .lane_ends
            .iter()
            .flat_map(|(&block, lane_end)| lane_end.values().into_iter().map(move |value| (block, value)));
        lane_ends.collect()
    }
}

/// The input that the emitter needs for both kernels of a shader.
struct KernelInput<'a> {
    text: &'a LaneText,
    plan: &'a EmitPlan,
    reducible: &'a ReducibleGraph,
    nodes: Vec<StructureNode>,
    values: BlockValues,
    /// The values that are numbers of steps; see [`numbers_of_steps`].
    steps: BTreeSet<SsaValue>,
}

/// The text of one kernel, without the helper functions of its operations.
struct EmittedKernel {
    parts: ShaderParts,
    /// True if a lane of this kernel may be suspended.
    is_resumable: bool,
    /// The number of words that a suspended lane needs, including the words of its memory.
    words: u64,
    /// Upper bound on the iterations of a helper function's loop; see [`LaneShader::helper_iterations`].
    helper_iterations: u32,
}

impl KernelInput<'_> {
    fn written(&self, pass: KernelKind, operations: &mut Operations) -> EmittedKernel {
        let (text, function) = (self.text, &self.text.lane_run.function);
        let statements = ShaderStatements::of(&self.nodes, pass);
        let (kept, control) = match pass {
            KernelKind::NonResumable => (BTreeMap::new(), Vec::new()),
            KernelKind::Resumable => (
                self.values.live_at_heads(function, self.plan, &statements, self.reducible),
                control_words(text, &statements, self.reducible),
            ),
        };
        let mut writer = Writer {
            pass,
            has_reals: text.has_reals(),
            control,
            operations,
            steps: &self.steps,
            numbers: function.numbers,
            text,
            plan: self.plan,
            statements: &statements,
            reducible: self.reducible,
            variables: self.values.variables(&statements, &kept),
            kept: &kept,
            region: Region::Forward,
            lines: Vec::new(),
            depth: 1,
            helper_iterations: 0,
        };
        let parts = writer.parts();
        EmittedKernel {
            parts,
            is_resumable: writer.has_iterations(),
            words: u64::from(writer.memory_at()) + text.memory.words,
            helper_iterations: writer.helper_iterations,
        }
    }
}

/// Returns the control-flow graph of the reachable blocks.
fn graph(lane_run: &LaneRun, plan: &EmitPlan) -> BlockGraph {
    let mut graph = BlockGraph { successors: vec![Vec::new(); lane_run.function.blocks.len()] };
    for &number in &plan.order {
        let block = lane_run.function.blocks.get(number as usize);
        if let (Some(block), Some(to)) = (block, graph.successors.get_mut(number as usize)) {
            to.extend(followed(&block.end).iter().map(|jump| jump.to));
        }
    }
    graph
}

/// A variable of the shader that isn't an SSA value and that a suspended lane must keep.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ControlWord {
    name: String,
    of: ControlType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControlType {
    Label,
    /// A number of steps, as a signed 64-bit integer for any width of the program's words.
    Steps,
    Mark,
    Real,
}

/// Returns the variables other than SSA values that are saved for every suspended lane.
fn control_words(
    text: &LaneText,
    statements: &ShaderStatements,
    reducible: &ReducibleGraph,
) -> Vec<ControlWord> {
    if statements.heads.is_empty() {
        return Vec::new();
    }
    let mut words = vec![
        ControlWord { name: "lead".to_owned(), of: ControlType::Label },
        ControlWord { name: "clock".to_owned(), of: ControlType::Steps },
    ];
    if !reducible.dispatch_nodes.is_empty() {
        words.push(ControlWord { name: "chosen".to_owned(), of: ControlType::Label });
    }
    if text.is_watched() {
        words.push(ControlWord { name: "path".to_owned(), of: ControlType::Mark });
        words.extend(text.evidence().map(|name| ControlWord { name, of: ControlType::Real }));
    }
    words
}

impl LaneText {
    /// Returns true if the lane has a gradient whose reverse sweep is verified, and its reals are floats.
    fn is_watched(&self) -> bool {
        self.has_adjoints() && self.lane_run.function.specialization.is_watched
    }

    /// Returns true if the lane has a gradient.
    fn has_adjoints(&self) -> bool {
        self.losses.as_ref().is_some_and(|losses| losses.has_adjoints)
    }

    /// Returns the row numbers of the losses, from 0; empty for a run without losses.
    fn rows(&self) -> std::ops::Range<usize> {
        0..self.lane_run.adjoints.losses.len()
    }

    /// Returns the names of the variables that verify the reverse sweep of a gradient. They are the largest number, the
    /// largest freed number, the largest difference that rounding explains, and for each row the loss and its error.
    fn evidence(&self) -> impl Iterator<Item = String> {
        let of_rows = self.rows().flat_map(|row| [format!("loss{row}"), format!("error{row}")]);
        ["largest", "freed", "most"].map(str::to_owned).into_iter().chain(of_rows)
    }

    /// Returns true if the lane has a gradient whose reverse sweep is verified, for any number system.
    fn is_verified(&self) -> bool {
        self.has_adjoints() && self.lane_run.function.specialization.level.is_checked()
    }
}

/// Emitter of one kernel of a shader.
struct Writer<'a> {
    text: &'a LaneText,
    pass: KernelKind,
    /// True if lanes compute, store or return reals; see [`LaneText::has_reals`].
    has_reals: bool,
    plan: &'a EmitPlan,
    statements: &'a ShaderStatements,
    reducible: &'a ReducibleGraph,
    /// The values that are saved at each loop head for a suspended lane.
    kept: &'a BTreeMap<u32, Vec<SsaValue>>,
    variables: BTreeSet<SsaValue>,
    /// The values that are numbers of steps; see [`numbers_of_steps`].
    steps: &'a BTreeSet<SsaValue>,
    control: Vec<ControlWord>,
    operations: &'a mut Operations,
    numbers: NumberKinds,
    /// The sweep that the current operation belongs to.
    region: Region,
    lines: Vec<String>,
    depth: usize,
    /// Upper bound on the iterations of a loop in the helper functions called so far.
    helper_iterations: u32,
}

impl Writer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth), text.as_ref()));
    }

    /// Emits a line that opens a block of the text.
    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Returns the index of the first word of the lane's memory among the words saved for a lane.
    fn memory_at(&self) -> u32 {
        self.control.len() as u32 + self.kept.values().map(Vec::len).max().unwrap_or(0) as u32
    }

    /// Returns the expression that denotes a value at its use: a literal or a name.
    fn value(&self, value: SsaValue) -> String {
        let value = self.plan.resolved(value);
        let function = &self.text.lane_run.function;
        match function.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => self.operations.literal(Class::Int, literal as u64),
            Some(OpKind::Real(bits)) => self.operations.literal(Class::Real, bits),
            Some(_) | None => match self.text.lane_run.inputs.get(&value) {
                Some(word) => format!("g{word}"),
                None => format!("v{}", value.0),
            },
        }
    }

    /// Returns the expression of a value, converted to the type of step numbers (64 bits).
    fn value_in_steps(&self, value: SsaValue) -> String {
        let value = self.plan.resolved(value);
        match self.text.lane_run.function.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => IntegerType::Wide.literal(literal),
            _ if self.steps.contains(&value) => self.value(value),
            Some(_) | None => self.operations.integers().widened(&self.value(value)),
        }
    }

    /// Returns the expression of `value`, converted to the type of `other`.
    fn value_for(&self, value: SsaValue, other: SsaValue) -> String {
        match self.steps.contains(&other) {
            true => self.value_in_steps(value),
            false => self.value(value),
        }
    }

    fn type_of(&self, value: SsaValue) -> &'static str {
        if self.steps.contains(&value) {
            return IntegerType::Wide.name();
        }
        let class = self.text.lane_run.function.class(value).unwrap_or(Class::Int);
        self.operations.type_of(class)
    }

    /// Returns the literal integer 0.
    fn zero(&self) -> String {
        self.operations.literal(Class::Int, 0)
    }

    /// Returns the name of the type of reals.
    fn real(&self) -> &'static str {
        self.operations.type_of(Class::Real)
    }

    /// Returns the literal of the real that is nearest to `value` on one side: at most `value` if `is_most` is true,
    /// otherwise at least `value`.
    fn near(&self, value: f64, is_most: bool) -> String {
        let bits = match self.numbers.system {
            RealSystem::F64 => value.to_bits(),
            RealSystem::F32 => {
                let near = value as f32;
                let is_beyond = (f64::from(near) > value) == is_most && f64::from(near) != value;
                let inner = match (is_beyond, is_most) {
                    (false, _) => near,
                    (true, true) => near.next_down(),
                    (true, false) => near.next_up(),
                };
                u64::from(inner.to_bits())
            }
            RealSystem::Fixed(_) => 0,
        };
        self.operations.literal(Class::Real, bits)
    }
}
