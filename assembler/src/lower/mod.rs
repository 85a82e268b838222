//! Lowering: a syntax tree becomes a module, and structured statements become branch pairs.
//!
//! A first pass reads everything outside of bodies (`declare`). Then the procedures are lowered one by one,
//! main first. Lowering continues after an error, so that one run finds all errors. Rules that depend only on
//! the finished module are checked by `reviver_isa::verify`.
//!
//! | file | subject |
//! |---|---|
//! | `declare` | settings, constants, globals, the heads of procedures and macros |
//! | `constant`, `values` | constant arithmetic; lengths and initial values |
//! | `other_scopes` | declarations of unknown names in other scopes |
//! | `scope`, `frame`, `binding` | visible names; frame variables; the names that a procedure declares |
//! | `applied`, `signature` | operands, applied functions and temporaries as data; signatures of functions |
//! | `operand`, `temporaries` | expressions as operands, indices and slices; their temporaries |
//! | `lengths`, `length` | lengths passed with parameters; lengths of arrays and slices |
//! | `instruction`, `call`, `label` | flat instructions and branch pairs |
//! | `tasks` | parallel calls, and calls through cells |
//! | `condition`, `decision`, `branching`, `counted` | conditions; `if` and `from`; `for` |
//! | `routine`, `local_array` | `local` and `delocal`, `compute`; local arrays |
//! | `expand`, `copies` | macros; limits on copies |
//! | `record`, `recorded` | recording of statements and names, and reading such records |
//! | `code`, `report` | the results of lowering: instructions and diagnostics |

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
mod expand;
mod frame;
mod instruction;
mod label;
mod length;
mod lengths;
mod local_array;
mod operand;
mod other_scopes;
mod record;
mod recorded;
mod report;
mod routine;
mod scope;
pub(crate) mod signature;
mod tangent_rules;
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
use crate::constants::{RefusedConstant, Replacements};
use crate::diagnostic::Diagnostic;
use crate::limits::AssemblyLimits;
use crate::source::{Sources, Span};
use crate::tree::{Body, Directive, Statement, StatementNode};

/// The maximum nesting depth of bodies, including those of macros. Lowering recurses once per level.
const DEEPEST: u32 = 200;

/// The module, possibly incomplete, with the place of each part in the text.
pub(crate) struct Lowered {
    pub(crate) module: Module,
    /// The span of each instruction. For an instruction in a macro, it is the span in the macro's body.
    pub(crate) spans: Vec<Span>,
    /// Ranges of instructions with the places of the words for which they were generated, if these places
    /// differ from the spans. In order of the code.
    pub(crate) acts: Vec<(Range<u32>, Span)>,
    /// The outermost macro uses: the range of instructions and the place of each.
    pub(crate) uses: Vec<(Range<u32>, Span)>,
    pub(crate) globals: Vec<Span>,
    pub(crate) procedures: Vec<Span>,
    /// The numbers of the procedures that are tangent rules.
    pub(crate) tangent_rules: Vec<u32>,
    /// The indices of instructions about which errors were reported.
    pub(crate) broken: HashSet<u32>,
    /// True if the text has neither declarations nor statements.
    pub(crate) says_nothing: bool,
    /// True if copies reached their limit, so that the code is incomplete.
    pub(crate) is_cut_off: bool,
    /// True if the text specifies the recorded source lines.
    pub(crate) records_lines: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The given constants that can't be used.
    pub(crate) refused: Vec<RefusedConstant>,
}

/// Lowers a text with spliced includes. `sources` provide lines and columns.
pub(crate) fn lower(
    body: &Body,
    sources: &Sources,
    replacements: Replacements<'_>,
    limits: AssemblyLimits,
) -> Lowered {
    let mut report = Reporter::new();
    let declared = Declared::read(body, replacements, &mut report);
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

/// A lowered procedure, except for the links of its branch pairs.
struct LoweredProcedure {
    procedure: Procedure,
    labels: Labels,
}

/// The state of lowering the current procedure.
#[derive(Default)]
struct Current {
    is_main: bool,
    number: u32,
    entry: u32,
    parameters: Vec<Parameter>,
    frame: GrowingFrame,
    /// The variables whose `local` states a class.
    classed: HashSet<u32>,
    /// The variables that are temporaries, each with the number of functions in its expression.
    weights: HashMap<u32, u32>,
    scopes: Scopes,
    labels: Labels,
}

/// The state of lowering. Each file of this directory adds methods for the statements of its subject.
struct Lowering<'t> {
    declared: Declared<'t>,
    report: Reporter,
    code: LoweredCode,
    current: Current,
    expansion: Expansion,
    depth: u32,
    /// True while statements are lowered that undo a text, in `uncompute` or in a macro that is undone.
    undone: bool,
    sources: &'t Sources,
    /// The temporaries of the expressions resolved so far. `None` where expressions aren't allowed.
    collected: Option<Temporaries>,
    /// True if the current expression must be constant, so that functions of constants are computed during lowering.
    wants_constant: bool,
    /// The scopes of names in the procedures so far.
    scopes: Vec<NameScope>,
    /// The temporaries of expressions in the procedures so far.
    temporaries: Vec<Temporary>,
    /// The structure of another text, which this text records in directives.
    recorded: Recorded,
}

/// The blocks and names in the directives of a disassembly.
#[derive(Default)]
struct Recorded {
    blocks: Vec<Block>,
    scopes: Vec<NameScope>,
    temporaries: Vec<Temporary>,
}

impl<'t> Lowering<'t> {
    /// Lowers every procedure of the text, main first.
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

    /// Lowers a statement at the top level of a procedure. Only there `.ancilla` may declare frame variables.
    fn outer_node(&mut self, node: &StatementNode) {
        match &node.statement {
            Statement::Directive(Directive::Ancillas(ancillas)) => self.ancillas(ancillas),
            Statement::Directive(Directive::Block(block)) => self.recorded_block(block, node.span),
            Statement::Directive(Directive::Scope(scope)) => self.recorded_scope(scope),
            Statement::Directive(Directive::Value(value)) => self.recorded_value(value),
            // The first pass has already handled these.
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
            _ => self.node(node),
        }
    }

    /// Lowers one statement of any body.
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
                    "a label belongs in front of an instruction, not of a block or a macro",
                );
                self.compound(statement, node.span);
            }
        }
    }

    /// Lowers a statement other than a flat instruction.
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
            // The parser rejects these inside of bodies.
            Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
            Statement::Empty | Statement::Instruction(_) => {}
        }
    }

    /// Lowers the body of a block in a new scope.
    fn body(&mut self, body: &Body) {
        self.current.scopes.enter(ScopeKind::Block);
        self.nodes(body);
        self.leave_scope();
    }

    /// Lowers statements in the current scope.
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

    /// Closes the innermost scope. Locals that are still open are reported.
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

    /// Returns a frame variable for lowering's own use. The value of the variable is 0.
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
        // Main always has its `enter` and `exit`.
        let says_nothing = self.declared.is_bare() && self.code.instructions.len() <= 2;
        let records_lines = self.declared.records_lines();
        if self.declared.recorded_structure(&mut structure) {
            let Recorded { blocks, scopes, temporaries } = std::mem::take(&mut self.recorded);
            (structure.blocks, structure.scopes, structure.temporaries) = (blocks, scopes, temporaries);
        }
        let refused = self.declared.refused_constants();
        let tangent_rules = std::mem::take(&mut self.declared.tangent_rules);
        let head = self.declared.finish();
        Lowered {
            tangent_rules,
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

/// Returns at most three operands as a list.
fn operands<const N: usize>(list: [Operand; N]) -> ArrayVec<Operand, 3> {
    list.into_iter().take(3).collect()
}
