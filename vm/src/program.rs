//! A verified program: a module without violations, with its memory layout and the interpreter's code for both
//! directions. A program contains no state.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use reviver_flow::tree::StatementTree;
use reviver_flow::{Activity, CallSite, Flow, IndependentCells, Layout, Step};
use reviver_isa::instruction::{Argument, Call, Class, Link, Operand};
use reviver_isa::module::{Module, Parameter, Procedure};
use reviver_isa::structure::Block;
use reviver_isa::verify::{Violation, verify};

use crate::interp::op::Op;
use crate::interp::resolve::calls::ResolvedCall;
use crate::interp::resolve::{Resolved, resolve, with_activity};
use crate::interp::window::{Entry, Indexing, Lookup, Lookups, Window};
use crate::state::notation::Notation;
use crate::state::{CallRecord, Part};

/// Index of the forward direction in a program's code.
pub const FORWARD: usize = 0;
/// Index of the backward direction in a program's code.
pub const BACKWARD: usize = 1;

/// A program that can be executed.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    flow: Arc<Flow>,
    tree: Arc<StatementTree>,
    /// The code of both directions: the ops of all instructions in order, and the inverses of all instructions in the
    /// opposite order.
    pub(crate) code: Arc<[Vec<Op>; 2]>,
    /// The same ops without breakpoints, used to evaluate the condition of a jump's partner.
    pub(crate) landings: Arc<[Vec<Op>; 2]>,
    /// The operand lookup of each op; empty if no procedure needs a window.
    lookups: Arc<[Vec<Lookup>; 2]>,
    indexings: Arc<[Indexing]>,
    /// The window entries of each procedure; empty if none of its steps needs a window.
    pub(crate) windows: Arc<[Vec<Entry>]>,
    pub(crate) needs_windows: bool,
    /// The resolved calls, by their numbers in the flow.
    calls: Arc<[ResolvedCall]>,
    /// The range of constants among the real cells.
    pub(crate) pool: Range<usize>,
    /// True if any instruction names an adjoint.
    pub(crate) needs_adjoints: bool,
    /// True if any called procedure has a derivative rule.
    pub(crate) has_rules: bool,
    /// The activity analysis: the sources of each step that receive derivatives in gradient mode.
    activity: Activity,
    /// The notation for integers in text.
    notation: Notation,
    hash: u128,
}

impl Program {
    /// Verifies a module and resolves it. `hash` identifies the program in state files; equal images have
    /// equal hashes.
    ///
    /// # Errors
    /// Returns every violation of the rules, and every feature that the machine doesn't support.
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

    /// Returns the program with other code of the same length, such as code with breakpoints. `landings` stay
    /// unchanged.
    pub(crate) fn with_code(&self, code: [Vec<Op>; 2]) -> Program {
        Program { code: Arc::new(code), ..self.clone() }
    }

    /// Returns the program prepared for derivatives with respect to `independent`. `losses` are offsets among the
    /// reals; if it is `None`, every real may be a loss. In gradient mode, adjoints aren't propagated to cells that
    /// don't depend on the independent numbers.
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

    /// Returns the program prepared for losses as in [`Program::differentiated_by`]. The independent numbers
    /// stay those of an earlier preparation, or else are all initial numbers.
    #[must_use]
    pub fn for_losses(&self, losses: Option<&[usize]>) -> Program {
        let independent = self.activity.independent().cloned();
        self.differentiated_by(&independent.unwrap_or_else(|| self.numbers()), losses)
    }

    /// Returns all initial reals as independent numbers: the globals, and the reals on the stack and on the tape.
    pub(crate) fn numbers(&self) -> IndependentCells {
        let reals = self.layout().main_reals;
        let cells = (reals > 0).then_some(0..reals).into_iter().collect();
        IndependentCells { cells, on_stack: true, on_tape: true }
    }

    /// Returns the sources that carry derivatives in gradient mode: all sources, if the program isn't prepared.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Returns the program with another notation for integers in text. The values that the program computes stay the
    /// same.
    #[must_use]
    pub fn with_notation(self, notation: Notation) -> Program {
        Program { notation, ..self }
    }

    /// Returns the notation for integers in text.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// Returns the module of the program.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the flow of the program.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.flow.layout()
    }

    /// Returns the operand lookups for the code of one direction.
    pub(crate) fn lookups(&self, direction: usize) -> Lookups<'_> {
        Lookups { own: &self.lookups[direction], indexings: &self.indexings }
    }

    /// Returns a window with enough capacity for every procedure.
    pub(crate) fn window(&self) -> Window {
        Window::with_capacity(self.windows.iter().map(Vec::len).max().unwrap_or(0))
    }

    /// Returns a call by its number in the flow, as a call site and as a resolved call.
    pub(crate) fn call(&self, number: u32) -> (&CallSite, &ResolvedCall) {
        (&self.flow.calls()[number as usize], &self.calls[number as usize])
    }

    /// Returns the frame variables of a procedure that have a name in the source text, with these names. If
    /// the program records no text, all variables are returned, with their own names.
    pub fn written_names(&self, procedure: usize) -> impl Iterator<Item = (u32, &str)> {
        let module = self.module();
        let frame = module.procedures.get(procedure).map_or(&[][..], |procedure| &procedure.frame);
        (0..).zip(frame).filter_map(move |(n, variable)| {
            let written = module.structure.source_name(procedure as u32, n);
            let own = module.structure.lines.is_empty().then_some(variable.name.as_str());
            Some((n, written.or(own)?))
        })
    }

    /// Returns the blocks of the text around an instruction, innermost first.
    pub fn blocks_around(&self, at: u32) -> impl Iterator<Item = &Block> {
        self.tree.around(&self.module.structure, at)
    }

    /// Returns the block from whose keyword an instruction was generated, and the number of the keyword within the
    /// block, from 0. Returns `None` for an instruction that the text states directly.
    pub fn seam(&self, at: u32) -> Option<(&Block, usize)> {
        self.tree.seam(&self.module.structure, at)
    }

    /// Returns the hash that identifies the program in state files.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Returns true if the program itself switches gradient mode.
    pub fn switches_mode(&self) -> bool {
        self.module.switches_mode()
    }

    /// Returns true if any instruction names an adjoint.
    pub fn names_adjoints(&self) -> bool {
        self.needs_adjoints
    }

    /// Returns true if the program reads the gradient mode bit. Then the mode may affect more than adjoints.
    pub fn reads_mode(&self) -> bool {
        self.module.code.iter().any(|instruction| {
            let passes_mode = |call: &Call| call.arguments.contains(&Argument::Scalar(Operand::Mode));
            instruction.operands.contains(&Operand::Mode)
                || matches!(&instruction.link, Link::Calls(calls) if calls.iter().any(passes_mode))
        })
    }

    /// Returns the parameters of the procedure with this number.
    pub(crate) fn parameters(&self, procedure: u32) -> &[Parameter] {
        self.module.procedures.get(procedure as usize).map_or(&[], |procedure| &procedure.parameters)
    }

    /// Returns the procedure that the instruction at `site` calls; `None` if it isn't a call.
    pub fn callee(&self, site: u32) -> Option<usize> {
        match &self.module.code.get(site as usize)?.link {
            Link::Calls(calls) => calls.first().map(|call| call.procedure as usize),
            _ => None,
        }
    }

    /// Returns the derivative rule of a procedure, which replaces its adjoint; `None` if it has no rule.
    pub fn rule(&self, procedure: usize) -> Option<usize> {
        self.module.procedures.get(procedure)?.rule.map(|rule| rule as usize)
    }

    /// Returns the procedure that an open call executes now: the callee, or in gradient mode possibly the callee's
    /// derivative rule.
    pub fn executed(&self, record: &CallRecord) -> Option<usize> {
        let callee = self.callee(record.site)?;
        match record.part {
            Part::Whole | Part::Body => Some(callee),
            Part::Rule => self.rule(callee),
        }
    }

    /// Returns the range of the constants among the cells of a class. Constants never change, and have no
    /// adjoints.
    pub fn constants(&self, class: Class) -> Range<usize> {
        self.layout().constants(class)
    }

    /// Returns the position before main's first instruction.
    pub fn begin(&self) -> u32 {
        self.main().entry + 1
    }

    /// Returns the position after main's last instruction.
    pub fn end(&self) -> u32 {
        self.main().exit
    }

    fn main(&self) -> &Procedure {
        &self.module.procedures[0]
    }

    /// Returns the number of the procedure that contains an instruction.
    pub fn procedure_of(&self, at: u32) -> usize {
        self.module.procedures.partition_point(|p| p.exit < at)
    }

    /// Returns the procedures that tasks execute.
    pub fn tasks(&self) -> HashSet<usize> {
        let tasks = self.calls.iter().filter(|call| call.is_task);
        tasks.flat_map(|call| [Part::Whole, Part::Rule].map(|part| call.executed(part))).collect()
    }

    /// Returns the counter of a position: the index, in the code of one direction, of the next instruction in this
    /// direction.
    pub(crate) fn counter(&self, position: u32, direction: usize) -> usize {
        match direction {
            FORWARD => position as usize,
            _ => self.code[BACKWARD].len() - position as usize,
        }
    }

    /// Returns the position of a counter; the inverse of [`Program::counter`].
    pub(crate) fn position(&self, counter: usize, direction: usize) -> u32 {
        match direction {
            FORWARD => counter as u32,
            _ => (self.code[BACKWARD].len() - counter) as u32,
        }
    }

    /// Returns the index in the module's code of the instruction at a counter.
    pub(crate) fn instruction_at(&self, counter: usize, direction: usize) -> u32 {
        match direction {
            FORWARD => counter as u32,
            _ => (self.code[BACKWARD].len() - 1 - counter) as u32,
        }
    }
}
