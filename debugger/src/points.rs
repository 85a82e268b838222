//! Breakpoints and watchpoints as data: where they are, when they count, what was said about them.
//! Knows how a point is found in a state; makes no step.
//!
//! A breakpoint at an instruction is hit in every state in which that instruction is the next one in
//! time. So it doesn't matter from which side one arrives: going backward one stops where the
//! instruction has just been undone. A `from` is where two ways meet, and who jumps lands behind it: a
//! breakpoint at a `from` is hit behind it, on both ways (inside an `uncall` that is so for a `br`).

use std::collections::HashSet;

use reviver_flow::{Access, StepLink};
use reviver_isa::update::{OperandShape, Update};
use reviver_vm::{Program, State, Travel};

use crate::cell_set::CellSet;
use crate::expression::{BoundExpression, ConsoleExpression, ExpressionError, Scene};
use crate::memory::{MODE_BIT, Memory, Scope, Target};
use reviver_vm::stops::Node;

/// What a watchpoint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// A write that changes the content.
    Change,
    /// Any write, of an equal value too.
    Write,
    Read,
    /// A read or any write.
    Access,
}

impl WatchMode {
    pub fn name(self) -> &'static str {
        match self {
            WatchMode::Change => "watch",
            WatchMode::Write => "watch (any write)",
            WatchMode::Read => "rwatch",
            WatchMode::Access => "awatch",
        }
    }

    /// Whether a step that did this is one of those waited for.
    pub fn wants(self, read: bool, written: bool, changed: bool) -> bool {
        match self {
            WatchMode::Change => changed,
            WatchMode::Write => written,
            WatchMode::Read => read,
            WatchMode::Access => read || written,
        }
    }
}

/// Where a breakpoint stops, of which a line may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakPlace {
    Instruction(u32),
    /// An instruction where the machine itself runs in one direction only.
    Entry {
        at: u32,
        inverted: bool,
    },
    /// Where a procedure begins, in the machine's own direction; its number.
    Procedure(u32),
}

/// What a point waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// Any of these places.
    Break(Vec<BreakPlace>),
    Watch {
        watched: WatchedPlace,
        watch: WatchMode,
        /// Where it was set.
        scope: Option<Scope>,
    },
}

/// What a watchpoint watches.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchedPlace {
    Cells(CellSet),
    /// The value of an expression, which changes with the cells that it reads.
    Value(Box<BoundExpression>),
}

impl WatchedPlace {
    /// The one cell, if it is that.
    pub fn cell(&self) -> Option<Target> {
        match self {
            WatchedPlace::Cells(cells) => cells.single(),
            WatchedPlace::Value(_) => None,
        }
    }
}

/// The number of a point that the user hasn't set: a question about a cell has one while it travels.
pub const UNNUMBERED: u32 = 0;

/// A breakpoint or a watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub id: u32,
    pub trigger: Trigger,
    /// As the user named the place or the cell.
    pub text: String,
    pub enabled: bool,
    /// Gone once it has stopped somebody.
    pub temporary: bool,
    /// It counts only where this holds.
    pub condition: Option<ConsoleExpression>,
    /// So many times it doesn't stop, only count.
    pub ignore: u64,
    pub hits: u64,
    /// Instead of stopping, this is printed.
    pub log: Option<LogMessage>,
}

/// What becomes of a point that was reached.
#[derive(Clone, Debug, PartialEq)]
pub enum PointVerdict {
    /// Its condition doesn't hold.
    Passes,
    Counts {
        /// Why the condition has no value.
        condition_error: Option<String>,
        /// What is printed instead of stopping.
        message: Option<String>,
    },
}

/// A text with expressions in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct LogMessage {
    text: String,
    parts: Vec<MessagePart>,
}

#[derive(Clone, Debug, PartialEq)]
enum MessagePart {
    Text(String),
    Value(ConsoleExpression),
}

impl LogMessage {
    /// Reads a text like `round {i}: a = {a}`.
    ///
    /// # Errors
    /// What is wrong with an expression in it.
    pub fn parse(text: &str) -> Result<LogMessage, ExpressionError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, behind) = after.split_once('}').ok_or(ExpressionError::Unclosed('{'))?;
            parts.push(MessagePart::Text(before.to_owned()));
            parts.push(MessagePart::Value(ConsoleExpression::parse(inside)?));
            rest = behind;
        }
        parts.push(MessagePart::Text(rest.to_owned()));
        Ok(LogMessage { text: text.to_owned(), parts })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands in its braces.
    pub fn expressions(&self) -> impl Iterator<Item = &ConsoleExpression> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(_) => None,
            MessagePart::Value(expression) => Some(expression),
        })
    }

    /// With the values of a scene; an expression without one says why.
    pub fn fill(&self, scene: Scene<'_>) -> String {
        let fill = |part: &MessagePart| match part {
            MessagePart::Text(text) => text.clone(),
            MessagePart::Value(expression) => match expression.evaluate(scene) {
                Ok(value) => scene.text(value),
                Err(error) => format!("<{error}>"),
            },
        };
        self.parts.iter().map(fill).collect()
    }
}

impl Point {
    /// What the names in its condition and its message mean, given the innermost frame: at a breakpoint
    /// those of that frame. A write is seen in whichever procedure makes it, so names of the frame where a
    /// watchpoint was set go before those, as long as that frame is open.
    pub fn scene<'a>(&self, innermost: Scene<'a>) -> Scene<'a> {
        let Trigger::Watch { scope: Some(scope), .. } = self.trigger else { return innermost };
        let is_open = innermost.memory.scope(innermost.state, scope.depth) == Some(scope);
        innermost.after_names_of(is_open.then_some(scope.depth))
    }

    /// What becomes of it where it was reached, given the innermost frame.
    pub fn judge(&self, innermost: Scene<'_>) -> PointVerdict {
        let condition_error = match self.holds(innermost) {
            Ok(false) => return PointVerdict::Passes,
            Ok(true) => None,
            Err(error) => Some(error.to_string()),
        };
        let message = self.log.as_ref().map(|log| log.fill(self.scene(innermost)));
        PointVerdict::Counts { condition_error, message }
    }

    /// Whether its condition holds, given the innermost frame.
    ///
    /// # Errors
    /// A condition without a value here.
    pub fn holds(&self, innermost: Scene<'_>) -> Result<bool, ExpressionError> {
        let scene = self.scene(innermost);
        self.condition.as_ref().map_or(Ok(true), |condition| condition.holds(scene))
    }
}

impl BreakPlace {
    /// The nodes at which somebody who travels this way is at the place.
    pub fn nodes(self, program: &Program, travel: Travel) -> [Node; 2] {
        let [plain, inverted] = self.positions(program);
        let backward = travel == Travel::Backward;
        [Node { position: plain, backward }, Node { position: inverted, backward: !backward }]
    }

    /// Whether a state is at the place.
    pub fn is_at(self, program: &Program, state: &State) -> bool {
        self.positions(program)[usize::from(state.inverted)] == state.position
    }

    /// The position outside of an `uncall`, and the one inside.
    fn positions(self, program: &Program) -> [u32; 2] {
        match self {
            BreakPlace::Instruction(at) => {
                let update = program.module().code.get(at as usize).map(|i| i.update);
                [
                    if update == Some(Update::From) { at + 1 } else { at },
                    if update == Some(Update::Br) { at } else { at + 1 },
                ]
            }
            BreakPlace::Entry { at, inverted } => {
                let mut positions = BreakPlace::Instruction(at).positions(program);
                positions[usize::from(!inverted)] = u32::MAX;
                positions
            }
            BreakPlace::Procedure(n) => {
                let bounds = program.module().procedures.get(n as usize);
                bounds.map_or([u32::MAX; 2], |p| [p.entry + 1, p.exit])
            }
        }
    }

    /// The instruction that people see there.
    pub fn instruction(self, program: &Program) -> u32 {
        match self {
            BreakPlace::Instruction(at) | BreakPlace::Entry { at, .. } => at,
            BreakPlace::Procedure(_) => self.positions(program)[0],
        }
    }
}

/// Every instruction whose step may do what a watchpoint waits for, as far as the text tells.
pub fn candidates(memory: &Memory, cells: CellSet, watch: WatchMode) -> Vec<u32> {
    let flow = memory.program().flow();
    let reads_too = matches!(watch, WatchMode::Read | WatchMode::Access);
    let tasks = if cells.first().is_adjoint() { memory.program().tasks() } else { HashSet::new() };
    let mut found = Vec::new();
    for (at, step) in (0..).zip(flow.steps()) {
        let procedure = memory.program().procedure_of(at);
        let mut touches = false;
        flow.visit_accesses(at, |access, slot| {
            let is_asked = match access {
                Access::Write => watch != WatchMode::Read,
                Access::Read => reads_too,
            };
            // In gradient mode whatever names a cell may touch its adjoint.
            let is_asked = cells.first().is_adjoint() || is_asked && !slot.adjoint;
            touches |= is_asked && cells.may_have(memory, procedure, slot);
        });
        // What a call's arguments and a branch's partner read is cheap to find out there; going back, a call is
        // undone where its procedure begins.
        let shape = step.operation.update.shape();
        let links = reads_too && (step.link != StepLink::None || shape == OperandShape::Boundary);
        // A task that only reads a cell adds its adjoint up apart.
        let bounds_task = cells.first().is_adjoint()
            && match shape {
                OperandShape::Call => flow.adds_up_apart(memory.program().module(), at),
                OperandShape::Boundary => tasks.contains(&procedure),
                _ => false,
            };
        let switches = cells.first() == Target::Static(MODE_BIT)
            && matches!(shape, OperandShape::Switch | OperandShape::Call | OperandShape::Boundary);
        if touches || links || switches || bounds_task {
            found.push(at);
        }
    }
    found
}
