//! Translation of the flow to ops, block by block, once for each direction. The module reads no state.

pub(crate) mod calls;
mod windows;

use reviver_flow::graph::{BlockEnd, CodeDirection, Edge};
use reviver_flow::step::Orderings;
use reviver_flow::{Activity, Flow, Step, StepActivity, StepLink};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::Module;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::step::Operation;
use reviver_isa::update::{Action, Direction};

use crate::interp::op::{self, Kind, Op};
use crate::interp::window::{Entry, Indexing, Lookup};

use calls::ResolvedCall;
use windows::Windows;

/// The interpreter's code of a program.
pub(crate) struct Resolved {
    /// The code of both directions: the ops of all steps in order, and the inverses of all steps in the opposite order.
    pub code: [Vec<Op>; 2],
    /// One entry for each call site of the flow.
    pub calls: Vec<ResolvedCall>,
    /// The operand lookup of each op; empty if no step needs a window.
    pub lookups: [Vec<Lookup>; 2],
    /// The window entries of each procedure; empty if none of its steps needs a window.
    pub windows: Vec<Vec<Entry>>,
    pub indexings: Vec<Indexing>,
}

/// Resolves the flow of a module.
pub(crate) fn resolve(module: &Module, flow: &Flow) -> Resolved {
    let mut windows = Windows::new(flow, module.procedures.len());
    let numbered = numbered(module, flow, &mut windows);
    let (windows, indexings) = windows.finish();
    let directions = [CodeDirection::Forward, CodeDirection::Backward];
    let code =
        directions.map(|direction| with_landings(Emitter { flow, numbered: &numbered, direction }.code()));
    let needs_windows = windows.iter().any(|entries| !entries.is_empty());
    let lookups =
        directions.map(|direction| if needs_windows { lookups(&numbered, direction) } else { Vec::new() });
    Resolved { code, calls: calls::calls(module, flow), lookups, windows, indexings }
}

/// Returns the code with the flags that mark the activity of each step's sources.
pub(crate) fn with_activity(code: &[Vec<Op>; 2], activity: &Activity) -> [Vec<Op>; 2] {
    let known = |at: usize, op: &Op| {
        let is_carrier = op.operation().is_some_and(|operation| operation.class() == Class::Real);
        let step = if is_carrier { activity.step(at as u32) } else { StepActivity::default() };
        let passive =
            (1..3).filter(|&operand| step.is_passive(operand)).map(|operand| op::IS_PASSIVE[operand]);
        let flags = passive.fold(if step.loses_any() { op::MAY_LOSE } else { 0 }, |flags, flag| flags | flag);
        let others = if is_carrier { op.flags & !op::ACTIVITY } else { op.flags };
        Op { flags: others | flags, ..*op }
    };
    let [along, against] = code;
    let last = against.len().saturating_sub(1);
    [
        along.iter().enumerate().map(|(at, op)| known(at, op)).collect(),
        against.iter().enumerate().map(|(n, op)| known(last - n, op)).collect(),
    ]
}

/// The operands of a step, as addresses or as indices into the window.
#[derive(Clone, Copy, Default)]
struct Numbered {
    operands: [u32; 3],
    /// The lookup in the window; `None` if the operands are addresses.
    lookup: Option<Lookup>,
}

fn lookups(numbered: &[Numbered], direction: CodeDirection) -> Vec<Lookup> {
    let own = |numbered: &Numbered| numbered.lookup.unwrap_or_default();
    match direction {
        CodeDirection::Forward => numbered.iter().map(own).collect(),
        CodeDirection::Backward => numbered.iter().rev().map(own).collect(),
    }
}

/// Resolves the operands of all steps of the hot loop and of moves. Steps that name an adjoint, print or call
/// are resolved when they are executed.
fn numbered(module: &Module, flow: &Flow, windows: &mut Windows) -> Vec<Numbered> {
    let mut all = Vec::with_capacity(flow.steps().len());
    for (number, procedure) in module.procedures.iter().enumerate() {
        let steps = flow.steps().get(procedure.entry as usize..=procedure.exit as usize).unwrap_or_default();
        all.extend(steps.iter().map(|step| operands(number, step, windows)));
    }
    all
}

fn operands(procedure: usize, step: &Step, windows: &mut Windows) -> Numbered {
    let mut operands = [0; 3];
    let mut is_direct = true;
    for (operand, slot) in operands.iter_mut().zip(&step.slots) {
        match slot.address() {
            Some(address) => *operand = address,
            None => is_direct = false,
        }
    }
    if is_direct || step.names_adjoint() || !is_found_ahead(step.operation.update.action()) {
        return Numbered { operands, lookup: None };
    }
    match windows.number(procedure, step) {
        Some((operands, lookup)) => Numbered { operands, lookup: Some(lookup) },
        None => Numbered { operands, lookup: None },
    }
}

/// Returns true if the operands of steps with this action are located by windows.
fn is_found_ahead(action: Action) -> bool {
    match action {
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test
        | Action::Put(_)
        | Action::Take(_)
        | Action::Jump
        | Action::Join => true,
        Action::Show
        | Action::Begin
        | Action::End
        | Action::Call(_)
        | Action::Tasks(_)
        | Action::Switch(_) => false,
    }
}

/// The translation of blocks to ops in one direction.
struct Emitter<'a> {
    flow: &'a Flow,
    numbered: &'a [Numbered],
    direction: CodeDirection,
}

impl Emitter<'_> {
    fn code(&self) -> Vec<Op> {
        let mut code = Vec::with_capacity(self.flow.steps().len());
        let blocks = self.flow.graph().blocks();
        match self.direction {
            CodeDirection::Forward => (0..blocks.len()).for_each(|block| self.block(block, &mut code)),
            CodeDirection::Backward => (0..blocks.len()).rev().for_each(|block| self.block(block, &mut code)),
        }
        code
    }

    /// Emits a block: the entry or exit at which a call enters the block, if there is one, then the block's steps, and
    /// the gate at the block's end.
    fn block(&self, block: usize, code: &mut Vec<Op>) {
        let Some(own) = self.flow.graph().blocks().get(block).cloned() else { return };
        let near = match self.direction {
            CodeDirection::Forward => own.start.checked_sub(1),
            CodeDirection::Backward => Some(own.end),
        };
        let is_bound = |at: &u32| {
            let action = self.flow.step(*at).map(|step| step.operation.update.action());
            matches!(action, Some(Action::Begin | Action::End))
        };
        if let Some(at) = near.filter(is_bound) {
            code.push(self.op(at, Kind::Bound));
        }
        match self.direction {
            CodeDirection::Forward => own.for_each(|at| code.push(self.step(at))),
            CodeDirection::Backward => own.rev().for_each(|at| code.push(self.step(at))),
        }
        if let Some(end) = self.flow.end(block as u32, self.direction) {
            code.push(self.gate(end));
        }
    }

    /// Returns the operation of a step in the emitter's direction.
    fn operation(&self, step: &Step) -> Operation {
        match self.direction {
            CodeDirection::Forward => step.operation,
            CodeDirection::Backward => step.inverse(),
        }
    }

    fn op(&self, at: u32, kind: Kind) -> Op {
        let step = self.flow.step(at);
        let operation = step.map(|step| self.operation(step));
        let Numbered { operands: [a, b, c], lookup } =
            self.numbered.get(at as usize).copied().unwrap_or_default();
        Op {
            kind,
            function: operation.map_or(Function::Copy, |operation| operation.function),
            update: operation.map_or(reviver_isa::Update::Exit, |operation| operation.update),
            flags: match lookup {
                None => 0,
                Some(lookup) if lookup.is_empty() => op::WINDOWED,
                Some(_) => op::WINDOWED | op::LOOKED_UP,
            },
            a,
            b,
            c,
        }
    }

    /// Returns the op of a step within a block.
    fn step(&self, at: u32) -> Op {
        let kind = |step: &Step| match step.operation.update.action() {
            Action::Accumulate
            | Action::Replace
            | Action::Erase(_)
            | Action::Map
            | Action::Exchange
            | Action::Rotate
            | Action::Clear
            | Action::Test => match step.names_adjoint() {
                true => Kind::OnAdjoints,
                false => Kind::of(self.operation(step)),
            },
            Action::Put(_) | Action::Take(_) => match (step.names_adjoint(), step.class()) {
                (true, _) => Kind::MoveAdjoint,
                (false, Class::Int) => Kind::MoveInt,
                (false, Class::Real) => Kind::MoveReal,
            },
            Action::Show => Kind::Show,
            Action::Tasks(_) => Kind::Tasks,
            // Steps with these actions occur only at the ends of blocks.
            Action::Jump
            | Action::Join
            | Action::Begin
            | Action::End
            | Action::Call(_)
            | Action::Switch(_) => Kind::Bound,
        };
        let kind = self.flow.step(at).map_or(Kind::Bound, kind);
        self.op(at, kind)
    }

    /// Returns the op of the gate at the end of a block.
    fn gate(&self, end: BlockEnd) -> Op {
        match end {
            BlockEnd::Go { next: Edge { join, .. } } => self.half(join.unwrap_or(0), None),
            BlockEnd::Branch { at, taken, .. } => self.half(at, Some(taken)),
            BlockEnd::Call { at, .. } => self.call(at),
            BlockEnd::Switch { at, .. } => {
                let update = self.flow.step(at).map(|step| self.operation(step).update.action());
                self.op(at, if update == Some(Action::Switch(true)) { Kind::GradOn } else { Kind::GradOff })
            }
            BlockEnd::Leave { at } => self.op(at, Kind::Leave),
        }
    }

    /// Returns the op of a call, which is the same in both directions. `verify` rejects calls without a procedure, or
    /// with several.
    fn call(&self, at: u32) -> Op {
        let step = self.flow.step(at);
        let turns =
            step.is_some_and(|step| step.operation.update.action() == Action::Call(Direction::Backward));
        let number = match step.map(|step| step.link) {
            Some(StepLink::Call(number)) => number,
            Some(StepLink::None | StepLink::Partner(_)) | None => 0,
        };
        let kind = if turns { Kind::Uncall } else { Kind::Call };
        Op { a: number, ..self.op(at, kind) }
    }

    /// Returns the op of a branch half. If the half jumps, `taken` is the edge of the jump; if it is a join, `taken` is
    /// `None`.
    fn half(&self, at: u32, taken: Option<Edge>) -> Op {
        let Some(step) = self.flow.step(at) else { return self.op(at, Kind::Bound) };
        let of_class = |int, real| if step.class() == Class::Int { int } else { real };
        let kind = match (taken, step.names_adjoint()) {
            (Some(_), _) if step.operation.function == Function::Always => Kind::Jump,
            (Some(_), true) => Kind::BrOnAdjoints,
            (Some(_), false) => of_class(Kind::BrInt, Kind::BrReal),
            (None, true) => Kind::FromOnAdjoints,
            (None, false) => of_class(Kind::FromInt, Kind::FromReal),
        };
        let Orderings(orderings) = step.orderings();
        let op = self.op(at, kind);
        let lands = taken.map_or(0, |edge| self.landing(edge));
        let marked = if taken.is_some() && self.flow.may_diverge(at) { op::IS_MARKED } else { 0 };
        Op { flags: op.flags | marked | orderings << op::ORDERINGS, c: lands, ..op }
    }

    /// Returns the index, in the code of this direction, of the first op of the block that an edge leads to.
    fn landing(&self, edge: Edge) -> u32 {
        let steps = self.flow.steps().len() as u32;
        let block = self.flow.graph().blocks().get(edge.to as usize);
        let behind = block.map_or(0, |block| match self.direction {
            CodeDirection::Forward => block.start,
            CodeDirection::Backward => steps - block.end,
        });
        behind - u32::from(!keeps(Rule::LandingsAreAfterThePartner))
    }
}

/// Sets the flags of each jumping half that select how its partner's condition is evaluated.
fn with_landings(mut code: Vec<Op>) -> Vec<Op> {
    for at in 0..code.len() {
        let op = code[at];
        if matches!(op.kind, Kind::Jump | Kind::BrInt | Kind::BrReal | Kind::BrOnAdjoints) {
            code[at] = landing(op, code[op.c as usize - 1]);
        }
    }
    code
}

/// Sets the flags of a jumping half that select how the condition of its partner `join` is evaluated. An unconditional
/// jump has no condition, so it takes over the partner's condition and operands, unless these need an element lookup.
fn landing(op: Op, join: Op) -> Op {
    let flag = match join {
        Op { function: Function::Always, .. } => op::LANDS_ALWAYS,
        Op { kind: Kind::FromInt, a, b, flags, .. }
            if op.kind == Kind::Jump && flags & op::LOOKED_UP == 0 =>
        {
            let flags = flags | op.flags & op::IS_MARKED;
            return Op { kind: Kind::JumpOntoInts, a, b, flags, ..op };
        }
        Op { kind: Kind::FromInt, .. } => op::LANDS_ON_INTS,
        Op { kind: Kind::FromReal, .. } => op::LANDS_ON_REALS,
        _ => 0,
    };
    Op { flags: op.flags | flag, ..op }
}
