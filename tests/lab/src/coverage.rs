//! Coverage of runs: rows, signatures, branch outcomes, kinds of operands, call depths. Observes a machine step by
//! step, and inspects its module. This file doesn't depend on the program generator.

use std::collections::BTreeSet;

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::{Argument, Base, Class, Index, Instruction, Link, Operand, Place, Range};
use reviver_isa::module::{Extent, Module, Procedure, Rank, Shape};
use reviver_isa::update::{OperandShape, Over, Update};
use reviver_vm::state::Part;
use reviver_vm::{Machine, Travel};

use crate::run::{End, travel};

/// Observed features, each as a short text.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    seen: BTreeSet<String>,
    /// Number of steps that execute an instruction on reals.
    real_steps: u64,
    /// Number of steps that execute an instruction on reals in gradient mode.
    carrying_steps: u64,
}

impl Coverage {
    pub fn has(&self, what: &str) -> bool {
        self.seen.contains(what)
    }

    /// Returns the features in `wanted` that were not observed.
    pub fn missing(&self, wanted: impl IntoIterator<Item = String>) -> Vec<String> {
        wanted.into_iter().filter(|what| !self.has(what)).collect()
    }

    /// Returns the percentage of steps on reals in gradient mode.
    pub fn percent_in_gradient_mode(&self) -> u64 {
        self.carrying_steps * 100 / self.real_steps.max(1)
    }

    fn see(&mut self, what: impl Into<String>) {
        self.seen.insert(what.into());
    }

    /// Records whether each declared stack has values or is empty. `end` names the end of the program at which the
    /// machine is.
    fn stacks(&mut self, machine: &Machine, end: &str) {
        let globals = machine.program().module().globals.iter().enumerate();
        for (n, global) in globals.filter(|(_, global)| global.shape == Shape::Stack) {
            let count = if machine.program().count(machine.state(), n) > 0 { "values" } else { "nothing" };
            self.see(format!("{count} on `{}` of {} {end}", global.role.directive(), global.class.name()));
        }
    }

    /// Runs a machine forward, and records the features of its steps.
    pub fn watch(&mut self, mut machine: Machine, longest: u64) -> End {
        self.stacks(&machine, "at the start");
        for _ in 0..longest {
            let before = (machine.state().position, machine.state().inverted);
            let depth = machine.state().calls.len();
            let carried = machine.state().mode().then(|| machine.state().try_clone().unwrap().adjoints);
            let drops = machine.state().counters.drops;
            let end = travel(&mut machine, Travel::Forward, 1);
            if end != End::Budget {
                if end.arrived() {
                    self.stacks(&machine, "at the end");
                }
                return end;
            }
            self.step(&machine, before, depth);
            if let Some(adjoints) = carried {
                let changed = machine.state().adjoints != adjoints;
                self.carried(&machine, before, changed, machine.state().counters.drops > drops);
            }
        }
        End::Budget
    }

    /// Records the features of the step just executed.
    fn step(&mut self, machine: &Machine, (position, inverted): (u32, bool), depth: usize) {
        let program = machine.program().clone();
        let at = if inverted { position - 1 } else { position };
        let module = program.module();
        let procedure = &module.procedures[program.procedure_of(at)];
        let instruction = &module.code[at as usize];
        let update = if inverted { instruction.update.inverse() } else { instruction.update };
        self.depth(machine);
        self.real_steps += u64::from(is_on_reals(machine, (position, inverted)));
        if machine.state().calls.last().is_some_and(|call| call.part == Part::Rule) {
            let direction_name = if machine.state().inverted { "backward" } else { "forward" };
            self.see(format!("rule run {direction_name}"));
        }
        if update.shape() == OperandShape::Switch {
            let direction_name = if inverted { "backward" } else { "forward" };
            self.see(format!("{} run {direction_name}", instruction.update.name()));
        }
        if update.shape() == OperandShape::Branch {
            let straight = if inverted { at } else { at + 1 };
            let jumped = machine.state().position != straight;
            self.branch(module, procedure, instruction, inverted, jumped);
            return;
        }
        self.instruction(module, procedure, instruction, update);
        if machine.state().calls.len() < depth {
            self.see(if inverted { "exit through the entry" } else { "exit" });
        }
    }

    /// Records how a step in gradient mode affected adjoints: changed them, or dropped one.
    fn carried(&mut self, machine: &Machine, before: (u32, bool), changed: bool, dropped: bool) {
        let (instruction, update) = acted(machine, before);
        self.carrying_steps += u64::from(is_on_reals(machine, before));
        let plain = !instruction.operands.iter().any(names_adjoint);
        if changed && plain && update.shape() != OperandShape::Boundary {
            self.see(format!("{} carries", update.name()));
        }
        if dropped {
            self.see("drop");
        }
    }

    fn depth(&mut self, machine: &Machine) {
        let state = machine.state();
        for deep in 1..=state.calls.len().min(4) {
            self.see(format!("call depth {deep}"));
        }
        // After an even number of nested uncalls, the machine runs forward again.
        let inside: Vec<bool> =
            state.calls.iter().map(|call| call.inverted).chain([state.inverted]).collect();
        let turns = inside.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if turns >= 2 && !state.inverted {
            self.see("uncall inside uncall");
        }
        if state.frame.ints < state.ints.len() as u32 && !state.calls.is_empty() {
            self.see("frame with integers");
        }
        if state.frame.reals < state.reals.len() as u32 && !state.calls.is_empty() {
            self.see("frame with reals");
        }
    }

    /// Records the outcome of a branch, and that of its partner if the jump was taken.
    fn branch(
        &mut self,
        module: &Module,
        procedure: &Procedure,
        instruction: &Instruction,
        inverted: bool,
        jumped: bool,
    ) {
        let class_of = |half: &Instruction| {
            half.operands.first().map_or(Class::Int, |operand| class(module, procedure, operand))
        };
        let acting = if inverted { instruction.update.inverse() } else { instruction.update };
        let outcome = if jumped { "jumped" } else { "passed" };
        self.see(half(acting, instruction.function, class_of(instruction), inverted, outcome));
        instruction.operands.iter().for_each(|operand| self.operand(module, procedure, operand));
        if let (true, Link::Partner(partner)) = (jumped, &instruction.link) {
            let landing = &module.code[*partner as usize];
            self.see(half(acting.inverse(), landing.function, class_of(landing), inverted, "reached"));
        }
    }

    fn instruction(
        &mut self,
        module: &Module,
        procedure: &Procedure,
        instruction: &Instruction,
        update: Update,
    ) {
        let classes: Vec<Class> =
            instruction.operands.iter().map(|operand| class(module, procedure, operand)).collect();
        match (classes.as_slice(), update.shape()) {
            ([target, sources @ ..], OperandShape::Accumulate) => {
                self.see(row(update, *target));
                let fits = |signature: &Signature| {
                    signature.result() == *target
                        && sources.iter().enumerate().all(|(n, class)| signature.source(n) == *class)
                };
                if let Some(signature) = instruction.function.signatures().find(fits) {
                    self.see(function(instruction.function, signature));
                }
            }
            ([first, ..], _) => self.see(row(update, *first)),
            ([], _) => self.see(update.name()),
        }
        instruction.operands.iter().for_each(|operand| self.operand(module, procedure, operand));
        if let Link::Calls(calls) = &instruction.link {
            for call in calls.iter() {
                let callee = module.procedures.get(call.procedure as usize);
                let parameters = callee.map_or([].as_slice(), |callee| &callee.parameters);
                for (argument, parameter) in call.arguments.iter().zip(parameters) {
                    self.argument(module, procedure, argument, parameter.rank);
                }
            }
        }
    }

    fn operand(&mut self, module: &Module, procedure: &Procedure, operand: &Operand) {
        let Operand::Place(place) = operand else {
            self.see(if *operand == Operand::Mode { "mode" } else { "immediate" });
            return;
        };
        if place.adjoint {
            let subscript = subscript(module, procedure, place);
            self.see(format!("adjoint of {subscript}"));
            return;
        }
        let base = match place.base {
            Base::Global(_) => "global",
            Base::Frame(_) => "frame",
            Base::Parameter(_) => "parameter",
        };
        self.see(format!("{base} {}", subscript(module, procedure, place)));
    }

    fn argument(&mut self, module: &Module, procedure: &Procedure, argument: &Argument, rank: Rank) {
        match argument {
            Argument::Scalar(operand) => {
                self.see("scalar argument");
                self.operand(module, procedure, operand);
            }
            Argument::Slice(slice) => self.see(match slice.range {
                Range::Whole if rank == Rank::Matrix => "whole matrix",
                Range::Whole => "whole slice",
                Range::Span { step: 1, .. } => "span",
                Range::Span { .. } => "span with a step",
                Range::Row(_) => "row",
                Range::Column(_) => "column",
            }),
        }
    }
}

/// Returns the instruction that a step executed, and its update, which is inverted in a backward step.
fn acted(machine: &Machine, (position, inverted): (u32, bool)) -> (&Instruction, Update) {
    let at = if inverted { position - 1 } else { position };
    let instruction = &machine.program().module().code[at as usize];
    (instruction, if inverted { instruction.update.inverse() } else { instruction.update })
}

fn names_adjoint(operand: &Operand) -> bool {
    matches!(operand, Operand::Place(place) if place.adjoint)
}

/// Returns true if the instruction that a step executed changes real cells.
fn is_on_reals(machine: &Machine, (position, inverted): (u32, bool)) -> bool {
    let (instruction, update) = acted(machine, (position, inverted));
    let at = if inverted { position - 1 } else { position };
    let module = machine.program().module();
    let procedure = &module.procedures[machine.program().procedure_of(at)];
    let target = instruction.operands.first().map(|operand| class(module, procedure, operand));
    update.shape().targets() > 0 && target == Some(Class::Real)
}

/// Returns the kind of access to a cell.
fn subscript(module: &Module, procedure: &Procedure, place: &Place) -> &'static str {
    let extent = module.declaration(procedure, place.base).map(|declaration| declaration.extent);
    let computed = place.index.as_deref().is_some_and(|index| index.terms().any(|term| term.cell.is_some()));
    match (extent, place.index.as_deref(), computed) {
        (_, None, _) => "scalar",
        (Some(Extent::Slice), _, true) => "slice, computed index",
        (Some(Extent::Slice), _, false) => "slice, constant index",
        (Some(Extent::Matrix), _, true) => "passed matrix, computed index",
        (Some(Extent::Matrix), _, false) => "passed matrix, constant index",
        (_, Some(Index::One(_)), true) => "vector, computed index",
        (_, Some(Index::One(_)), false) => "vector, constant index",
        (_, Some(Index::Two(..)), true) => "matrix, computed index",
        (_, Some(Index::Two(..)), false) => "matrix, constant index",
    }
}

fn class(module: &Module, procedure: &Procedure, operand: &Operand) -> Class {
    match operand {
        Operand::Int(_) | Operand::Mode => Class::Int,
        Operand::Real(_) => Class::Real,
        Operand::Place(place) => {
            module.declaration(procedure, place.base).map_or(Class::Int, |declaration| declaration.class)
        }
    }
}

fn row(update: Update, class: Class) -> String {
    format!("{} {}", update.name(), class.name())
}

fn function(function: Function, signature: Signature) -> String {
    format!("{} {signature:?}", function.name())
}

/// Returns the name of the feature that an executed branch covers. `acting` is the role of the branch, which depends on
/// the direction: a `from` acts as a `br` in a backward run.
fn half(acting: Update, condition: Function, class: Class, inverted: bool, outcome: &str) -> String {
    let direction = if inverted { "run backward" } else { "run forward" };
    format!("{} {} {} {outcome}, {direction}", acting.name(), condition.name(), class.name())
}

/// Returns every row that the machine executes, in every signature and class.
pub fn rows() -> Vec<String> {
    let functions = Function::ALL.iter().copied().filter(|f| *f != Function::Always);
    let signatures = functions.flat_map(|f| f.signatures().map(move |signature| function(f, signature)));
    let updates = Update::ALL.iter().copied().flat_map(update_rows);
    signatures.chain(updates).collect()
}

/// Returns the classes over which the machine executes an update.
fn update_rows(update: Update) -> Vec<String> {
    let both = [Class::Int, Class::Real];
    let legal = |class: Class| {
        let needed = if class == Class::Int { Over::Integers } else { Over::AdditiveReals };
        update.over().contains(&needed)
    };
    match update.shape() {
        OperandShape::Accumulate
        | OperandShape::Single
        | OperandShape::Exchange
        | OperandShape::Rotate
        | OperandShape::Show => {
            both.into_iter().filter(|&class| legal(class)).map(|class| row(update, class)).collect()
        }
        OperandShape::Condition => both.map(|class| row(update, class)).to_vec(),
        OperandShape::Call | OperandShape::Tasks => vec![update.name().to_owned()],
        // A branch is covered by its outcomes, and a mode switch by separate programs. A procedure's entry or exit
        // isn't a separate step.
        OperandShape::Branch | OperandShape::Boundary | OperandShape::Switch => Vec::new(),
    }
}

/// Returns the features of both outcomes of every branch instruction, in both directions. A `br` jumps or is passed.
/// A `from` is reached by its partner's jump, or from above.
pub fn outcomes() -> Vec<String> {
    let mut all = Vec::new();
    for inverted in [false, true] {
        for (update, outcome) in [(Update::Br, "jumped"), (Update::From, "reached")] {
            all.push(half(update, Function::Always, Class::Int, inverted, outcome));
            for condition in Function::ALL.iter().filter(|f| f.is_condition() && f.arity() == 2) {
                for class in [Class::Int, Class::Real] {
                    all.push(half(update, *condition, class, inverted, outcome));
                    all.push(half(update, *condition, class, inverted, "passed"));
                }
            }
        }
    }
    all
}

/// Returns the features of gradient mode: each way in which adjoints propagate, drops, derivative rules in both
/// directions, and adjoints as operands.
pub fn gradients() -> Vec<String> {
    let carrying = ["add", "sub", "neg", "swap", "rot", "irot", "vacate"];
    let moving = ["push", "pop", "read", "unread", "write", "unwrite"];
    let carries = carrying.iter().chain(&moving).map(|update| format!("{update} carries"));
    let rest = [
        "drop",
        "mode",
        "rule run forward",
        "rule run backward",
        "grad.on run forward",
        "grad.on run backward",
        "grad.off run forward",
        "grad.off run backward",
        "adjoint of scalar",
        "adjoint of vector, constant index",
        "adjoint of vector, computed index",
        "adjoint of matrix, constant index",
        "adjoint of matrix, computed index",
        "adjoint of slice, constant index",
        "adjoint of slice, computed index",
        "adjoint of passed matrix, constant index",
        "adjoint of passed matrix, computed index",
    ];
    carries.chain(rest.map(str::to_owned)).collect()
}

/// Returns features of declared stacks: both classes, as inputs and results, with and without values.
pub fn stacks() -> Vec<String> {
    let mut all = Vec::new();
    for class in ["int", "real"] {
        for (role, end) in [(".in", "start"), (".inout", "start"), (".inout", "end"), (".out", "end")] {
            all.push(format!("values on `{role}` of {class} at the {end}"));
        }
        for what in ["values", "nothing"] {
            all.push(format!("{what} on `.garbage` of {class} at the end"));
        }
        for end in ["start", "end"] {
            all.push(format!("nothing on `.var` of {class} at the {end}"));
        }
        all.push(format!("nothing on `.in` of {class} at the end"));
    }
    all
}

/// Returns the features of call depths, of kinds of operands, and of the ways in which operands are passed.
pub fn places() -> Vec<String> {
    let mut all: Vec<String> = [
        "call depth 1",
        "call depth 2",
        "call depth 3",
        "call depth 4",
        "uncall inside uncall",
        "exit",
        "exit through the entry",
        "frame with integers",
        "frame with reals",
        "immediate",
        "scalar argument",
        "whole slice",
        "whole matrix",
        "span",
        "span with a step",
        "row",
        "column",
        "parameter scalar",
        "parameter slice, constant index",
        "parameter slice, computed index",
        "parameter passed matrix, constant index",
        "parameter passed matrix, computed index",
    ]
    .map(str::to_owned)
    .to_vec();
    for base in ["global", "frame"] {
        all.push(format!("{base} scalar"));
        for array in ["vector", "matrix"] {
            for index in ["constant", "computed"] {
                all.push(format!("{base} {array}, {index} index"));
            }
        }
    }
    all
}
