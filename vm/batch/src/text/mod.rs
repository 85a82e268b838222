//! Emitter of a lane's shader text: prologue, the run as statements, checks at its end. Independent of programs and
//! devices.

mod accesses;
mod body;
mod ends;
mod frame;
pub(crate) mod live;
mod operations;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use reviver_compile::call::region::Region;
use reviver_compile::form::NumberKinds;
use reviver_compile::op::{OpKind, SsaValue};
use reviver_compile::written::{TextPlan, followed};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::cells::LaneMemory;
use crate::ends::{LaneArrival, LaneGradient};
use crate::graph::BlockGraph;
use crate::journey::LaneJourney;
use crate::no_shader::NoShader;
use crate::operations::{IntegerType, Operations};
use crate::shader::{LaneShader, ShaderPass};
use crate::statements::ShaderStatements;
use crate::structure::{StructurePiece, structured};
use crate::switches::ReducibleGraph;
use crate::tables::StartTables;
use crate::words::WordRun;
use frame::ShaderParts;
use live::{BlockValues, has_name};
use steps::numbers_of_steps;

/// The input of the emitter.
#[derive(Debug)]
pub(crate) struct LaneText {
    pub journey: LaneJourney,
    pub memory: LaneMemory,
    /// The initial content of the lane's memory.
    pub first: Vec<WordRun>,
    pub constants: Vec<u64>,
    pub given: u32,
    pub found: u32,
    /// True if a lane reports its number of steps.
    pub tells_steps: bool,
    /// Results and checks, by the block where the lane's run ends.
    pub arrivals: BTreeMap<u32, LaneArrival>,
    /// Data for the losses of a gradient; None for a plain run.
    pub gradient: Option<LaneGradient>,
    /// Cells of the start that computed addresses reach.
    pub tables: StartTables,
}

/// An emitted shader, with statistics and properties of it.
#[derive(Debug)]
pub(crate) struct WrittenLanes {
    pub shader: LaneShader,
    /// The number of loops with several entries, each of which starts with a switch.
    pub switched: u32,
    /// See [`LaneText::has_reals`].
    pub has_reals: bool,
}

/// Upper bound on the words of a lane's memory. It is initialized and compared in loops, and their iterations count.
pub(crate) const MOST_WORDS: u64 = 1 << 18;

/// Exclusive upper bound on the cells of each space in a lane. It keeps addresses within 32 bits, and makes 32-bit
/// bounds checks safe. Take the unsigned sum of an index and a smaller offset: it is below an array's length only if
/// the 64-bit sum is.
const MOST_CELLS: u64 = 1 << 30;

impl LaneText {
    /// Emits the shader.
    ///
    /// # Errors
    /// Fails if the lane's memory is too large.
    pub fn written(self) -> Result<WrittenLanes, NoShader> {
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
        let form = &self.journey.form;
        let others: Vec<(u32, SsaValue)> = self.others();
        let plan = TextPlan::with(form, self.journey.stands_for.iter().copied(), others.iter().copied());
        let reducible = ReducibleGraph::of(graph(&self.journey, &plan));
        let is_named = |value| has_name(form, value) && !self.journey.given.contains_key(&value);
        let ways = LaneWays {
            text: &self,
            values: BlockValues::of(form, &plan, &others, is_named),
            steps: numbers_of_steps(form, &plan)?,
            plan: &plan,
            pieces: structured(&reducible),
            reducible: &reducible,
        };
        let mut operations = Operations::new(form.numbers);
        let resumable = ways.written(ShaderPass::Resumable, &mut operations);
        let single = resumable.keeps_lanes.then(|| ways.written(ShaderPass::Single, &mut operations));
        // The tables of operations follow the other constants.
        let functions = operations.prelude(self.constants.len());
        let whole = |pass: &WrittenPass| format!("{}{functions}{}", pass.parts.head, pass.parts.main);
        let shader = LaneShader {
            wgsl: whole(&resumable),
            single_pass: single.as_ref().map(whole),
            helper_rounds: resumable.helper_rounds,
            given: self.given,
            found: self.found,
            tells_steps: self.tells_steps,
            kept: u32::try_from(resumable.words).unwrap_or(u32::MAX),
            constants: self.constants.iter().copied().chain(operations.tables()).collect(),
        };
        Ok(WrittenLanes { shader, switched: reducible.switched, has_reals: self.has_reals() })
    }

    /// Returns true if a real is computed, stored or returned. If not, the shader contains no float types, in any
    /// number system, so that devices without such types can execute it.
    fn has_reals(&self) -> bool {
        let form = &self.journey.form;
        let is_real = |value: SsaValue| form.class(value) == Some(Class::Real);
        // A literal is written where it is used, so it is not a computation.
        let computes = |value: &SsaValue| {
            form.op(*value).is_some_and(|op| {
                op.kind.facts().operands.contains(&Class::Real)
                    || (is_real(*value) && !op.operands.is_empty())
            })
        };
        let in_blocks = form.blocks.iter().any(|block| {
            block.parameters.iter().any(|value| is_real(*value)) || block.ops.iter().any(computes)
        });
        in_blocks
            || self.others().into_iter().any(|(_, value)| is_real(value))
            || self.memory.runs.iter().any(|run| run.space.class() == Class::Real)
    }

    /// Returns the values that blocks use in addition to the SSA function's own uses.
    fn others(&self) -> Vec<(u32, SsaValue)> {
        let arrivals = self
            .arrivals
            .iter()
            .flat_map(|(&block, arrival)| arrival.values().into_iter().map(move |value| (block, value)));
        arrivals.collect()
    }
}

/// Input of the emitter for both kernels of a shader.
struct LaneWays<'a> {
    text: &'a LaneText,
    plan: &'a TextPlan,
    reducible: &'a ReducibleGraph,
    pieces: Vec<StructurePiece>,
    values: BlockValues,
    /// See [`numbers_of_steps`].
    steps: BTreeSet<SsaValue>,
}

/// The text of one kernel, without the helper functions of its operations.
struct WrittenPass {
    parts: ShaderParts,
    /// True if a lane may be suspended.
    keeps_lanes: bool,
    /// The words saved for a suspended lane, including those of its cells.
    words: u64,
    /// See [`LaneShader::helper_rounds`].
    helper_rounds: u32,
}

impl LaneWays<'_> {
    fn written(&self, pass: ShaderPass, operations: &mut Operations) -> WrittenPass {
        let (text, form) = (self.text, &self.text.journey.form);
        let statements = ShaderStatements::of(&self.pieces, pass);
        let (kept, control) = match pass {
            ShaderPass::Single => (BTreeMap::new(), Vec::new()),
            ShaderPass::Resumable => (
                self.values.live_at_heads(form, self.plan, &statements, self.reducible),
                control_words(text, &statements, self.reducible),
            ),
        };
        let mut writer = Writer {
            pass,
            has_reals: text.has_reals(),
            control,
            operations,
            steps: &self.steps,
            numbers: form.numbers,
            text,
            plan: self.plan,
            statements: &statements,
            reducible: self.reducible,
            variables: self.values.variables(&statements, &kept),
            kept: &kept,
            region: Region::Forward,
            lines: Vec::new(),
            depth: 1,
            helper_rounds: 0,
        };
        let parts = writer.parts();
        WrittenPass {
            parts,
            keeps_lanes: writer.has_rounds(),
            words: u64::from(writer.memory_at()) + text.memory.words,
            helper_rounds: writer.helper_rounds,
        }
    }
}

/// Returns the control-flow graph of the reachable blocks.
fn graph(journey: &LaneJourney, plan: &TextPlan) -> BlockGraph {
    let mut graph = BlockGraph { successors: vec![Vec::new(); journey.form.blocks.len()] };
    for &number in &plan.order {
        let block = journey.form.blocks.get(number as usize);
        if let (Some(block), Some(to)) = (block, graph.successors.get_mut(number as usize)) {
            to.extend(followed(&block.end).iter().map(|jump| jump.to));
        }
    }
    graph
}

/// A variable that lives as long as the lane and isn't an SSA value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ControlWord {
    name: String,
    of: ControlType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControlType {
    Label,
    /// A number of steps: signed 64 bits, for any width of the program's words.
    Steps,
    Mark,
    Real,
}

/// Returns the control variables that are saved for every suspended lane.
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
    if !reducible.switches.is_empty() {
        words.push(ControlWord { name: "chosen".to_owned(), of: ControlType::Label });
    }
    if text.is_watched() {
        words.push(ControlWord { name: "path".to_owned(), of: ControlType::Mark });
        words.extend(text.evidence().map(|name| ControlWord { name, of: ControlType::Real }));
    }
    words
}

impl LaneText {
    /// Returns true if the reverse sweep of a gradient is verified with floats.
    fn is_watched(&self) -> bool {
        self.gradient.is_some() && self.journey.form.version.is_watched
    }

    /// Returns the output rows of a gradient; empty for a plain run.
    fn rows(&self) -> std::ops::Range<usize> {
        0..self.journey.adjoints.losses.len()
    }

    /// Returns the names of the variables that verify the reverse sweep of a gradient: the largest number, the largest freed one, the
    /// largest difference that rounding explains, and for each row the loss and the error in it.
    fn evidence(&self) -> impl Iterator<Item = String> {
        let of_rows = self.rows().flat_map(|row| [format!("loss{row}"), format!("error{row}")]);
        ["largest", "freed", "most"].map(str::to_owned).into_iter().chain(of_rows)
    }

    /// Returns true if the reverse sweep of a gradient is verified at all.
    fn is_verified(&self) -> bool {
        self.gradient.is_some() && self.journey.form.version.level.is_checked()
    }
}

/// Emitter of one kernel of a shader.
struct Writer<'a> {
    text: &'a LaneText,
    pass: ShaderPass,
    /// See [`LaneText::has_reals`].
    has_reals: bool,
    plan: &'a TextPlan,
    statements: &'a ShaderStatements,
    reducible: &'a ReducibleGraph,
    /// The values saved at each loop head.
    kept: &'a BTreeMap<u32, Vec<SsaValue>>,
    variables: BTreeSet<SsaValue>,
    /// See [`numbers_of_steps`].
    steps: &'a BTreeSet<SsaValue>,
    control: Vec<ControlWord>,
    operations: &'a mut Operations,
    numbers: NumberKinds,
    /// The sweep of the current operation.
    region: Region,
    lines: Vec<String>,
    depth: usize,
    /// Upper bound on the iterations of a loop in the helper functions called so far.
    helper_rounds: u32,
}

impl Writer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth), text.as_ref()));
    }

    /// Emits a line that opens a block.
    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Returns the number of the first saved word that belongs to the lane's memory.
    fn memory_at(&self) -> u32 {
        self.control.len() as u32 + self.kept.values().map(Vec::len).max().unwrap_or(0) as u32
    }

    /// Returns the text of a value at its use.
    fn value(&self, value: SsaValue) -> String {
        let value = self.plan.resolved(value);
        let form = &self.text.journey.form;
        match form.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => self.operations.literal(Class::Int, literal as u64),
            Some(OpKind::Real(bits)) => self.operations.literal(Class::Real, bits),
            Some(_) | None => match self.text.journey.given.get(&value) {
                Some(word) => format!("g{word}"),
                None => format!("v{}", value.0),
            },
        }
    }

    /// Returns the text of a value as a number of steps (64 bits).
    fn value_in_steps(&self, value: SsaValue) -> String {
        let value = self.plan.resolved(value);
        match self.text.journey.form.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => IntegerType::Wide.literal(literal),
            _ if self.steps.contains(&value) => self.value(value),
            Some(_) | None => self.operations.integers().widened(&self.value(value)),
        }
    }

    /// Returns the text of a value, converted to the type of another value.
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
        let class = self.text.journey.form.class(value).unwrap_or(Class::Int);
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

    /// Returns a literal real next to a number: at most the number if `is_most` is true, otherwise at least the number.
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
