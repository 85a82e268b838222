//! Breakpoints and watchpoints as data: location, condition, and user settings. This module checks whether
//! a point matches a state; it executes no steps.
//!
//! A breakpoint at an instruction is hit in every state in which that instruction comes next in time. The direction of
//! travel doesn't matter: a backward run stops right after it has undone the instruction. A `from` is a join, and a
//! jump lands after it. Therefore a breakpoint at a `from` is hit after the `from`, whether control jumped or fell
//! through. Inside an `uncall` the roles are exchanged: a breakpoint at a `br` is hit after the `br`.

use std::collections::HashSet;

use reviver_flow::{Access, StepLink};
use reviver_isa::update::{OperandShape, Update};
use reviver_vm::{Program, State, Travel};

use crate::cell_set::CellSet;
use crate::expression::{BoundExpression, ConsoleExpression, ExpressionError, Scene};
use crate::memory::{MODE_BIT, Memory, Scope, Target};
use reviver_vm::stops::Node;

/// The kind of access that triggers a watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// A write that changes the value.
    Change,
    /// Any write, even if the value stays the same.
    Write,
    /// A read of the value.
    Read,
    /// A read or any write.
    Access,
}

impl WatchMode {
    /// Returns the command that sets such a watchpoint, for messages.
    pub fn name(self) -> &'static str {
        match self {
            WatchMode::Change => "watch",
            WatchMode::Write => "watch (any write)",
            WatchMode::Read => "rwatch",
            WatchMode::Access => "awatch",
        }
    }

    /// Returns true if a step with these accesses triggers the watchpoint.
    pub fn wants(self, read: bool, written: bool, changed: bool) -> bool {
        match self {
            WatchMode::Change => changed,
            WatchMode::Write => written,
            WatchMode::Read => read,
            WatchMode::Access => read || written,
        }
    }
}

/// A location at which a breakpoint stops. A breakpoint on a line may have several locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakPlace {
    /// An instruction by its number in the module's code, whether the machine runs inverted or not.
    Instruction(u32),
    /// An instruction, only while the machine runs in the given direction.
    Entry {
        /// Number of the instruction in the module's code.
        at: u32,
        /// The direction: true if the machine must run inverted.
        inverted: bool,
    },
    /// The beginning of a procedure; for an inverted machine, the end of its text. The field is the number of the
    /// procedure.
    Procedure(u32),
}

/// The event that a point waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// Arrival at any of these locations.
    Break(Vec<BreakPlace>),
    /// An access to watched cells, or a change of a watched value.
    Watch {
        /// The cells or the expression that is watched.
        watched: WatchedPlace,
        /// The kind of access that triggers the point.
        watch: WatchMode,
        /// The frame in which the watchpoint was set.
        scope: Option<Scope>,
    },
}

/// The object of a watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchedPlace {
    /// The cells of a name, or of a slice.
    Cells(CellSet),
    /// The value of an expression. The value can change when a cell that the expression reads changes.
    Value(Box<BoundExpression>),
}

impl WatchedPlace {
    /// Returns the watched cell, or `None` unless exactly one cell is watched.
    pub fn cell(&self) -> Option<Target> {
        match self {
            WatchedPlace::Cells(cells) => cells.single(),
            WatchedPlace::Value(_) => None,
        }
    }
}

/// The identifier ([`Point::id`]) of points that the user hasn't set. For example, a search for a write sets such a
/// point internally.
pub const UNNUMBERED: u32 = 0;

/// A breakpoint or a watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The number that the user sees, counted from 1; [`UNNUMBERED`] for internal points.
    pub id: u32,
    /// The event that the point waits for.
    pub trigger: Trigger,
    /// The location or cell as the user wrote it.
    pub text: String,
    /// False while the point is switched off: it has no effect then.
    pub enabled: bool,
    /// True if the point is deleted after its first stop.
    pub temporary: bool,
    /// Condition that must hold for a hit to count; `None` if every hit counts.
    pub condition: Option<ConsoleExpression>,
    /// Number of further hits that are counted without stopping.
    pub ignore: u64,
    /// Number of hits so far, ignored ones included.
    pub hits: u64,
    /// Message that is printed instead of stopping.
    pub log: Option<LogMessage>,
}

/// Effect of a point when the run has reached its location, or has made the access that it watches.
#[derive(Clone, Debug, PartialEq)]
pub enum PointVerdict {
    /// The condition doesn't hold, so the point has no effect.
    Passes,
    /// The point was hit; the hit is counted.
    Counts {
        /// The reason why the condition has no value; such a condition counts as true.
        condition_error: Option<String>,
        /// The message that is printed instead of stopping.
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
    /// Parses a text such as `round {i}: a = {a}`.
    ///
    /// # Errors
    /// An expression in braces is invalid, or a brace isn't closed.
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

    /// Returns the message as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the expressions in braces.
    pub fn expressions(&self) -> impl Iterator<Item = &ConsoleExpression> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(_) => None,
            MessagePart::Value(expression) => Some(expression),
        })
    }

    /// Renders the message with the values of a scene. An expression without a value is replaced by its
    /// error.
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
    /// Returns the scene in which the condition and the message are evaluated, given the scene of the innermost frame.
    /// A breakpoint uses the innermost frame. A watchpoint can be triggered in any procedure, so the names of the frame
    /// in which the watchpoint was set take precedence while that frame is open.
    pub fn scene<'a>(&self, innermost: Scene<'a>) -> Scene<'a> {
        let Trigger::Watch { scope: Some(scope), .. } = self.trigger else { return innermost };
        let is_open = innermost.memory.scope(innermost.state, scope.depth) == Some(scope);
        innermost.after_names_of(is_open.then_some(scope.depth))
    }

    /// Evaluates the condition and the message of a point that was reached. `innermost` is the scene of the
    /// innermost frame. A condition without a value doesn't prevent the hit.
    pub fn verdict(&self, innermost: Scene<'_>) -> PointVerdict {
        let condition_error = match self.holds(innermost) {
            Ok(false) => return PointVerdict::Passes,
            Ok(true) => None,
            Err(error) => Some(error.to_string()),
        };
        let message = self.log.as_ref().map(|log| log.fill(self.scene(innermost)));
        PointVerdict::Counts { condition_error, message }
    }

    /// Returns true if the condition holds, given the scene of the innermost frame.
    ///
    /// # Errors
    /// The condition has no value here.
    pub fn holds(&self, innermost: Scene<'_>) -> Result<bool, ExpressionError> {
        let scene = self.scene(innermost);
        self.condition.as_ref().map_or(Ok(true), |condition| condition.holds(scene))
    }
}

impl BreakPlace {
    /// Returns the nodes that match the location when travelling in the given direction: first the node for a machine
    /// that runs forward, then the node for an inverted machine.
    pub fn nodes(self, program: &Program, travel: Travel) -> [Node; 2] {
        let [plain, inverted] = self.positions(program);
        let backward = travel == Travel::Backward;
        [Node { position: plain, backward }, Node { position: inverted, backward: !backward }]
    }

    /// Returns true if a state is at the location.
    pub fn is_at(self, program: &Program, state: &State) -> bool {
        self.positions(program)[usize::from(state.inverted)] == state.position
    }

    /// Returns the position of the location in code that runs forward, and in code that runs inverted (inside
    /// an `uncall`).
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

    /// Returns the instruction that is shown for the location.
    pub fn instruction(self, program: &Program) -> u32 {
        match self {
            BreakPlace::Instruction(at) | BreakPlace::Entry { at, .. } => at,
            BreakPlace::Procedure(_) => self.positions(program)[0],
        }
    }
}

/// Returns every instruction that may trigger a watchpoint. The list is computed without a state, so it may contain
/// instructions that never trigger the watchpoint.
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
            // In gradient mode, any instruction that names a cell may change the cell's adjoint.
            let is_asked = cells.first().is_adjoint() || is_asked && !slot.adjoint;
            touches |= is_asked && cells.may_have(memory, procedure, slot);
        });
        // These steps may read call arguments, or the cells of a branch's partner. Such reads are checked when the step
        // is reached. Going backward, a call is undone at the beginning of its procedure.
        let shape = step.operation.update.shape();
        let links = reads_too && (step.link != StepLink::None || shape == OperandShape::Boundary);
        // A task accumulates adjoints separately for the cells that it only reads. So the bounds of the task change
        // these adjoints.
        let bounds_task = cells.first().is_adjoint()
            && match shape {
                OperandShape::Call => flow.accumulates_separately(memory.program().module(), at),
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
