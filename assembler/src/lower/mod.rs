//! Lowering: a syntax tree becomes a module, structured statements become branch pairs.
//!
//! A first pass reads what stands outside of bodies (`declare`), then each procedure is lowered in
//! turn, main first. Errors are reported and lowering goes on, so that one run finds them all. What
//! can be judged from the finished module alone is not checked here: `reviver_isa::verify` does.
//!
//! | file | subject |
//! |---|---|
//! | `declare` | settings, constants, globals, the heads of procedures and macros |
//! | `constant`, `values` | constant arithmetic; lengths and initial values |
//! | `elsewhere` | where else an unknown name is declared |
//! | `scope`, `frame`, `binding` | visible names; the frame's variables; what names a procedure declares |
//! | `applied` | operands, functions of them, and temporaries, as data |
//! | `operand`, `temporaries` | expressions to operands, indices and slices; what is computed for them |
//! | `lengths`, `length` | which parameters bring their lengths along; how long arrays and slices are |
//! | `instruction`, `call`, `label` | flat instructions and branch pairs |
//! | `condition`, `decision`, `branching`, `counted` | conditions; `if` and `from`; `for` |
//! | `routine`, `local_array` | `local` and `delocal`, `compute`; local arrays |
//! | `expand`, `copies` | macros; what copying costs |
//! | `record`, `recorded` | what is recorded of statements and names, and reading it back |
//! | `code`, `report` | what lowering makes: instructions and diagnostics |

mod applied;
mod binding;
mod branching;
mod call;
mod code;
mod condition;
mod constant;
mod copies;
mod counted;
mod decision;
mod declare;
mod elsewhere;
mod expand;
mod form;
mod frame;
mod instruction;
mod label;
mod length;
mod lengths;
mod local_array;
mod operand;
mod record;
mod recorded;
mod report;
mod routine;
mod scope;
mod tasks;
mod temporaries;
mod values;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrayvec::ArrayVec;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Class, Operand};
use reviver_isa::module::{Module, Parameter, Procedure, Shape};
use reviver_isa::structure::{Block, NameScope, Structure, Temporary};
use reviver_isa::update::Update;

use self::applied::Temporaries;
use self::code::LoweredCode;
use self::copies::Expansion;
use self::declare::Declared;
use self::frame::GrowingFrame;
use self::label::Labels;
use self::report::Reporter;
use self::scope::{ScopeKind, Scopes};
use crate::constants::{GivenConstant, RefusedConstant};
use crate::diagnostic::Diagnostic;
use crate::limits::AssemblyLimits;
use crate::source::{Sources, Span};
use crate::tree::{Body, Directive, Statement, StatementNode};

/// How deep bodies may nest, those of macros included. Lowering recurses once a level.
const DEEPEST: u32 = 200;

/// A module as far as it could be made, and where each part of it stands in the text.
pub(crate) struct Lowered {
    pub(crate) module: Module,
    /// The text of each instruction; in the body of a macro, the body's text.
    pub(crate) spans: Vec<Span>,
    /// Where instructions act, if not where their text stands; in order of the code.
    pub(crate) acts: Vec<(Range<u32>, Span)>,
    /// The outermost macro uses, by the instructions they became.
    pub(crate) uses: Vec<(Range<u32>, Span)>,
    pub(crate) globals: Vec<Span>,
    pub(crate) procedures: Vec<Span>,
    /// Instructions about which an error was reported.
    pub(crate) broken: HashSet<u32>,
    /// Nothing is declared and nothing is done.
    pub(crate) says_nothing: bool,
    /// Copies reached their limit, so that the code is incomplete.
    pub(crate) is_cut_off: bool,
    /// The text says itself which source lines are recorded.
    pub(crate) records_lines: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Constants that were given and can't be used.
    pub(crate) refused: Vec<RefusedConstant>,
}

/// Lowers a text whose includes are already in place. `sources` tell lines and columns; `constants` have
/// other values than the text says.
pub(crate) fn lower(
    body: &Body,
    sources: &Sources,
    constants: &[GivenConstant],
    limits: AssemblyLimits,
) -> Lowered {
    let mut report = Reporter::new();
    let declared = Declared::read(body, constants, &mut report);
    let flat = body.iter().filter(|node| matches!(node.statement, Statement::Instruction(_))).count();
    let bounds = 2 * (1 + declared.bodies().count());
    let mut lowering = Lowering {
        declared,
        report,
        code: LoweredCode::with_room(flat + bounds),
        current: Current::default(),
        expansion: Expansion::within(limits),
        depth: 0,
        undone: false,
        sources,
        collected: None,
        wants_constant: false,
        scopes: Vec::new(),
        temporaries: Vec::new(),
        recorded: Recorded::default(),
    };
    let done = lowering.procedures(body);
    lowering.finish(done)
}

/// A procedure whose code is complete, but for its pairs.
struct LoweredProcedure {
    procedure: Procedure,
    labels: Labels,
}

/// The procedure being lowered.
#[derive(Default)]
struct Current {
    is_main: bool,
    number: u32,
    entry: u32,
    parameters: Vec<Parameter>,
    frame: GrowingFrame,
    /// The variables whose `local` says their class.
    classed: HashSet<u32>,
    /// The variables that hold values of expressions, and how many functions each of these applies.
    weights: HashMap<u32, u32>,
    scopes: Scopes,
    labels: Labels,
}

/// All that lowering knows. Each file of this directory adds the statements of its subject.
struct Lowering<'t> {
    declared: Declared<'t>,
    report: Reporter,
    code: LoweredCode,
    current: Current,
    expansion: Expansion,
    depth: u32,
    /// Whether the text is lowered from its end to its beginning, to be undone.
    undone: bool,
    sources: &'t Sources,
    /// What the expressions resolved so far are computed by, where expressions are taken.
    collected: Option<Temporaries>,
    /// The expression at hand must be a constant, so that functions of constants are computed, too.
    wants_constant: bool,
    /// The names of the procedures so far.
    scopes: Vec<NameScope>,
    /// The variables of the procedures that hold values of expressions.
    temporaries: Vec<Temporary>,
    /// What the text records of another one.
    recorded: Recorded,
}

/// Blocks and names that directives of the disassembler tell of.
#[derive(Default)]
struct Recorded {
    blocks: Vec<Block>,
    scopes: Vec<NameScope>,
    temporaries: Vec<Temporary>,
}

impl<'t> Lowering<'t> {
    /// Every procedure of the text, main first.
    fn procedures(&mut self, main: &Body) -> Vec<LoweredProcedure> {
        let bodies: Vec<_> = self.declared.bodies().collect();
        let mut done = Vec::with_capacity(bodies.len() + 1);
        done.push(self.procedure(0, main, Span::default()));
        for (number, tree) in (1..).zip(bodies) {
            done.push(self.procedure(number, &tree.body, tree.end));
        }
        done
    }

    fn procedure(&mut self, number: u32, body: &Body, end: Span) -> LoweredProcedure {
        let entry = self.code.here();
        self.current = Current { is_main: number == 0, number, entry, ..Current::default() };
        self.current.scopes.enter(ScopeKind::Block);
        let head = self.declared.head(number);
        self.parameters(number);
        let entry = self.code.plain(Update::Enter, ArrayVec::new(), head.span);
        for node in body {
            self.outer_node(node);
        }
        self.leave_scope();
        self.current.labels.refuse_waiting(&mut self.report, "nothing follows it");
        let exit = self.code.plain(Update::Exit, ArrayVec::new(), end);
        self.close_names(exit);
        let current = std::mem::take(&mut self.current);
        LoweredProcedure {
            procedure: Procedure {
                name: head.name.into(),
                parameters: current.parameters,
                frame: current.frame.variables,
                entry,
                exit,
                rule: head.rule,
            },
            labels: current.labels,
        }
    }

    /// A statement of a procedure's own body, where variables of the frame may be declared.
    fn outer_node(&mut self, node: &StatementNode) {
        match &node.statement {
            Statement::Directive(Directive::Ancillas(ancillas)) => self.ancillas(ancillas),
            Statement::Directive(Directive::Block(block)) => self.recorded_block(block, node.span),
            Statement::Directive(Directive::Scope(scope)) => self.recorded_scope(scope),
            Statement::Directive(Directive::Value(value)) => self.recorded_value(value),
            // The first pass has read what stands outside of every procedure.
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
            _ => self.node(node),
        }
    }

    /// One statement of any body.
    fn node(&mut self, node: &StatementNode) {
        if self.expansion.refuses(&mut self.report, node.span, self.code.here()) {
            return;
        }
        if let Some(label) = &node.label {
            self.current.labels.wait(label);
        }
        match &node.statement {
            Statement::Empty => {}
            Statement::Instruction(instruction) => self.instruction(instruction, node.span),
            statement => {
                self.current.labels.refuse_waiting(
                    &mut self.report,
                    "a label stands in front of an instruction, not of a block or a macro",
                );
                self.compound(statement, node.span);
            }
        }
    }

    /// A statement that is no flat instruction.
    fn compound(&mut self, statement: &Statement, span: Span) {
        match statement {
            Statement::If(tree) => self.if_statement(tree),
            Statement::Loop(tree) => self.loop_statement(tree),
            Statement::For(tree) => self.for_statement(tree),
            Statement::Compute(tree) => self.compute(tree, span),
            Statement::Tasks(tree) => self.tasks(tree, span),
            Statement::CallVia(tree) => self.call_via(tree, span),
            Statement::Local(tree) => self.local(tree, span),
            Statement::Delocal(tree) => self.delocal(tree, span),
            Statement::MacroUse { name, arguments, undo } => self.expand(name, arguments, *undo, span),
            // The parser refuses them inside of bodies.
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
            Statement::Empty | Statement::Instruction(_) => {}
        }
    }

    /// The body of a block, with a scope of its own.
    fn body(&mut self, body: &Body) {
        self.current.scopes.enter(ScopeKind::Block);
        self.nodes(body);
        self.leave_scope();
    }

    /// Statements in the scope that is open.
    fn nodes(&mut self, body: &Body) {
        if self.depth >= DEEPEST {
            if let Some(node) = body.first() {
                let message = format!("blocks and macros nest more than {DEEPEST} deep");
                self.report.add(Diagnostic::error(ProblemCode::TooMuch, message, node.span, "too deep"));
            }
            return;
        }
        self.depth += 1;
        for node in body {
            self.node(node);
        }
        self.current.labels.refuse_waiting(&mut self.report, "nothing follows it in this block");
        self.depth -= 1;
    }

    /// Closes the innermost scope, where every local must have ended.
    fn leave_scope(&mut self) {
        for (name, local) in self.current.scopes.leave() {
            if let Some(variable) = local.open {
                self.current.frame.release(&name, variable);
            }
            let message = format!("the local `{name}` is still open at the end of its block");
            self.report.add(
                Diagnostic::error(ProblemCode::LocalLeftOpen, message, local.span, "opened here")
                    .help(format!("end it with `delocal {name} = …` in the same block")),
            );
        }
    }

    /// A fresh variable of the frame for lowering's own use.
    fn scratch(&mut self, name: &'static str, class: Class) -> u32 {
        let declared = &self.declared;
        let elsewhere = |name: &str| declared.is_global(name);
        self.current.frame.acquire(&name.into(), class, Shape::Scalar, elsewhere)
    }

    fn finish(mut self, done: Vec<LoweredProcedure>) -> Lowered {
        let (procedures, labels): (Vec<_>, Vec<_>) =
            done.into_iter().map(|done| (done.procedure, done.labels)).unzip();
        label::pair_all(&labels, &mut self.code, &mut self.report);
        let mut structure = Structure {
            labels: labels.iter().flat_map(Labels::names).collect(),
            blocks: std::mem::take(&mut self.code.blocks),
            scopes: std::mem::take(&mut self.scopes),
            temporaries: std::mem::take(&mut self.temporaries),
            ..Structure::default()
        };
        // Main is never without its `enter` and `exit`.
        let says_nothing = self.declared.is_bare() && self.code.instructions.len() <= 2;
        let records_lines = self.declared.records_lines();
        if self.declared.recorded_structure(&mut structure) {
            let Recorded { blocks, scopes, temporaries } = std::mem::take(&mut self.recorded);
            (structure.blocks, structure.scopes, structure.temporaries) = (blocks, scopes, temporaries);
        }
        let refused = self.declared.refused_constants();
        let head = self.declared.finish();
        Lowered {
            module: Module {
                word: head.word,
                real: head.real,
                limits: head.limits,
                tolerance: head.tolerance,
                inverse: head.inverse,
                globals: head.globals,
                procedures,
                code: self.code.instructions,
                structure,
            },
            spans: self.code.spans,
            acts: self.code.acts,
            uses: self.code.uses,
            globals: head.global_spans,
            procedures: head.procedure_spans,
            broken: self.code.broken,
            says_nothing,
            is_cut_off: self.expansion.is_exhausted,
            records_lines,
            diagnostics: self.report.finish(),
            refused,
        }
    }
}

/// Operands of an instruction from any number up to three.
fn operands<const N: usize>(list: [Operand; N]) -> ArrayVec<Operand, 3> {
    list.into_iter().take(3).collect()
}
