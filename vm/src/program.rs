//! A verified program: a module that broke no rule, laid out in memory and resolved for the
//! interpreter, once in each direction. Knows no state.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use reviver_flow::tree::StatementTree;
use reviver_flow::{Activity, CallSite, Flow, IndependentCells, Layout, Step};
use reviver_isa::instruction::{Argument, Call, Class, Link, Operand};
use reviver_isa::module::{Module, Parameter, Procedure};
use reviver_isa::structure::Block;
use reviver_isa::update::OperandShape;
use reviver_isa::verify::{Violation, verify};

use crate::interp::op::Op;
use crate::interp::resolve::calls::ResolvedCall;
use crate::interp::resolve::{Resolved, resolve, with_activity};
use crate::interp::window::{Entry, Indexing, Lookup, Lookups, Window};
use crate::state::notation::Notation;
use crate::state::{CallRecord, Part};

/// The travel directions index [`Program::code`].
pub const FORWARD: usize = 0;
pub const BACKWARD: usize = 1;

/// A program that can run.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    flow: Arc<Flow>,
    tree: Arc<StatementTree>,
    /// The instructions in order; and the inverse of each, in the opposite order.
    pub(crate) code: Arc<[Vec<Op>; 2]>,
    /// The same, where a run that stops at some of them looks up what jumps land on.
    pub(crate) landings: Arc<[Vec<Op>; 2]>,
    /// How the operands of each op are found; empty where no procedure needs a window.
    lookups: Arc<[Vec<Lookup>; 2]>,
    indexings: Arc<[Indexing]>,
    /// The window of each procedure; empty where none of its steps needs one.
    pub(crate) windows: Arc<[Vec<Entry>]>,
    pub(crate) needs_windows: bool,
    /// The calls by their numbers in the flow.
    calls: Arc<[ResolvedCall]>,
    /// Where the constants lie among the reals.
    pub(crate) pool: Range<usize>,
    /// Whether any instruction names an adjoint cell.
    pub(crate) needs_adjoints: bool,
    /// Whether any procedure that is called has a rule.
    pub(crate) has_rules: bool,
    /// Which sources carry derivatives, in gradient mode.
    activity: Activity,
    /// How integers are spelled.
    notation: Notation,
    hash: u128,
}

impl Program {
    /// Verifies a module and resolves it. `hash` identifies the program in state files; equal
    /// images have equal hashes.
    ///
    /// # Errors
    /// Every broken rule, and whatever the machine doesn't carry out yet.
    pub fn new(module: Module, hash: u128) -> Result<Program, Vec<Violation>> {
        let violations = verify(&module);
        if !violations.is_empty() {
            return Err(violations);
        }
        let flow = Flow::of(&module);
        let Resolved { code, calls, lookups, windows, indexings } = resolve(&module, &flow);
        let has_rules = calls.iter().any(|call| call.rule.is_some());
        let code = Arc::new(code);
        Ok(Program {
            tree: Arc::new(StatementTree::new(&module.structure)),
            landings: Arc::clone(&code),
            code,
            lookups: Arc::new(lookups),
            indexings: indexings.into(),
            needs_windows: windows.iter().any(|entries| !entries.is_empty()),
            windows: windows.into(),
            calls: calls.into(),
            pool: flow.layout().constants(Class::Real),
            needs_adjoints: flow.steps().iter().any(Step::names_adjoint),
            has_rules,
            activity: Activity::default(),
            notation: Notation::default(),
            hash,
            flow: Arc::new(flow),
            module: Arc::new(module),
        })
    }

    /// The same program with other code of the same length. What jumps land on stays as it was.
    pub(crate) fn with_code(&self, code: [Vec<Op>; 2]) -> Program {
        Program { code: Arc::new(code), ..self.clone() }
    }

    /// The same program, prepared for derivatives with respect to some numbers: of any loss, or of losses in cells with these offsets
    /// among the reals. In gradient mode nothing is carried to cells that don't depend on these numbers.
    #[must_use]
    pub fn differentiated_by(&self, independent: &IndependentCells, losses: Option<&[usize]>) -> Program {
        let losses: Option<Vec<u32>> = losses.map(|losses| losses.iter().map(|&cell| cell as u32).collect());
        if self.activity.is_of(independent, losses.as_deref()) {
            return self.clone();
        }
        let activity = Activity::of(&self.module, &self.flow, independent, losses.as_deref());
        let code = Arc::new(with_activity(&self.landings, &activity));
        Program { activity, landings: Arc::clone(&code), code, ..self.clone() }
    }

    /// The same program, prepared for some losses as [`Program::differentiated_by`] says: with respect to what it is prepared for, or
    /// else to every number at the start.
    #[must_use]
    pub fn for_losses(&self, losses: Option<&[usize]>) -> Program {
        let independent = self.activity.independent().cloned();
        self.differentiated_by(&independent.unwrap_or_else(|| self.numbers()), losses)
    }

    /// Every real at the start: the globals', and those on the stack and the tape.
    pub(crate) fn numbers(&self) -> IndependentCells {
        let reals = self.layout().main_reals;
        let cells = (reals > 0).then_some(0..reals).into_iter().collect();
        IndependentCells { cells, on_stack: true, on_tape: true }
    }

    /// Which sources carry derivatives, in gradient mode. All do in a program that isn't prepared for any.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The same program, whose integers are written, and read, in another notation. Nothing that it
    /// computes is another.
    #[must_use]
    pub fn with_notation(self, notation: Notation) -> Program {
        Program { notation, ..self }
    }

    /// How integers are written.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// The module it was made of.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// What it does, before any engine.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.flow.layout()
    }

    /// How the operands of the code of one direction are found in windows.
    pub(crate) fn lookups(&self, direction: usize) -> Lookups<'_> {
        Lookups { own: &self.lookups[direction], indexings: &self.indexings }
    }

    /// A window with room for each call.
    pub(crate) fn window(&self) -> Window {
        Window::with_room(self.windows.iter().map(Vec::len).max().unwrap_or(0))
    }

    /// A call by its number in the flow: as it is written, and resolved.
    pub(crate) fn call(&self, number: u32) -> (&CallSite, &ResolvedCall) {
        (&self.flow.calls()[number as usize], &self.calls[number as usize])
    }

    /// The variables of a procedure's frame that the text names, with these names. Of a program that
    /// records no text all of them, by their own names.
    pub fn written_names(&self, procedure: usize) -> impl Iterator<Item = (u32, &str)> {
        let module = self.module();
        let frame = module.procedures.get(procedure).map_or(&[][..], |procedure| &procedure.frame);
        (0..).zip(frame).filter_map(move |(n, variable)| {
            let written = module.structure.source_name(procedure as u32, n);
            let own = module.structure.lines.is_empty().then_some(variable.name.as_str());
            Some((n, written.or(own)?))
        })
    }

    /// The blocks of the text around an instruction, innermost first.
    pub fn blocks_around(&self, at: u32) -> impl Iterator<Item = &Block> {
        self.tree.around(&self.module.structure, at)
    }

    /// The block of whose own words an instruction is a part, and the number of its seam; none where the
    /// instruction was written as it is.
    pub fn seam(&self, at: u32) -> Option<(&Block, usize)> {
        self.tree.seam(&self.module.structure, at)
    }

    /// Identifies the program in state files.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Whether the program switches gradient mode itself.
    pub fn switches_mode(&self) -> bool {
        self.module.code.iter().any(|instruction| instruction.update.shape() == OperandShape::Switch)
    }

    /// Whether any instruction names an adjoint.
    pub fn names_adjoints(&self) -> bool {
        self.needs_adjoints
    }

    /// Whether the program reads the gradient mode bit, so that the mode changes more than adjoints.
    pub fn reads_mode(&self) -> bool {
        self.module.code.iter().any(|instruction| {
            let passes_mode = |call: &Call| call.arguments.contains(&Argument::Scalar(Operand::Mode));
            instruction.operands.contains(&Operand::Mode)
                || matches!(&instruction.link, Link::Calls(calls) if calls.iter().any(passes_mode))
        })
    }

    /// The parameters of a procedure by its number.
    pub(crate) fn parameters(&self, procedure: u32) -> &[Parameter] {
        self.module.procedures.get(procedure as usize).map_or(&[], |procedure| &procedure.parameters)
    }

    /// The procedure that the instruction at an index calls; none where it calls none.
    pub fn callee(&self, site: u32) -> Option<usize> {
        match &self.module.code.get(site as usize)?.link {
            Link::Calls(calls) => calls.first().map(|call| call.procedure as usize),
            _ => None,
        }
    }

    /// The procedure that stands in for the adjoint of another.
    pub fn rule(&self, procedure: usize) -> Option<usize> {
        self.module.procedures.get(procedure)?.rule.map(|rule| rule as usize)
    }

    /// The procedure that an open call executes now: in gradient mode a callee with a rule takes turns
    /// with it.
    pub fn executed(&self, record: &CallRecord) -> Option<usize> {
        let callee = self.callee(record.site)?;
        match record.part {
            Part::Whole | Part::Body => Some(callee),
            Part::Rule => self.rule(callee),
        }
    }

    /// Where the constants lie among the cells of a class: nothing changes them, and they have no adjoints.
    pub fn constants(&self, class: Class) -> Range<usize> {
        self.layout().constants(class)
    }

    /// The position before main's first instruction.
    pub fn begin(&self) -> u32 {
        self.main().entry + 1
    }

    /// The position behind main's last instruction.
    pub fn end(&self) -> u32 {
        self.main().exit
    }

    fn main(&self) -> &Procedure {
        &self.module.procedures[0]
    }

    /// The procedure that an instruction belongs to.
    pub fn procedure_of(&self, at: u32) -> usize {
        self.module.procedures.partition_point(|p| p.exit < at)
    }

    /// The procedures that tasks execute.
    pub fn tasks(&self) -> HashSet<usize> {
        let tasks = self.calls.iter().filter(|call| call.is_task);
        tasks.flat_map(|call| [Part::Whole, Part::Rule].map(|part| call.executed(part))).collect()
    }

    /// Where the code of one direction holds the instruction before (or behind) a position.
    pub(crate) fn counter(&self, position: u32, direction: usize) -> usize {
        match direction {
            FORWARD => position as usize,
            _ => self.code[BACKWARD].len() - position as usize,
        }
    }

    /// The inverse of [`Program::counter`].
    pub(crate) fn position(&self, counter: usize, direction: usize) -> u32 {
        match direction {
            FORWARD => counter as u32,
            _ => (self.code[BACKWARD].len() - counter) as u32,
        }
    }

    /// The index in the module's code of the instruction at a counter.
    pub(crate) fn instruction_at(&self, counter: usize, direction: usize) -> u32 {
        match direction {
            FORWARD => counter as u32,
            _ => (self.code[BACKWARD].len() - 1 - counter) as u32,
        }
    }
}
