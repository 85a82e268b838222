//! A verified program: a module that broke no rule, laid out in memory and resolved for the
//! interpreter, once in each direction. Knows no state.

use std::ops::Range;
use std::sync::Arc;

use reviver_isa::instruction::{Argument, Call, Class, Link, Operand};
use reviver_isa::module::{Module, Procedure};
use reviver_isa::structure::{Block, Outline};
use reviver_isa::update::Shape;
use reviver_isa::verify::{Violation, verify};

use crate::layout::Layout;
use crate::notation::Notation;
use crate::op::{CallSite, Op, Place};
use crate::resolve::{Resolved, resolve};
use crate::state::{CallRecord, Part};
use crate::window::{Entry, Indexing};

/// The travel directions index [`Program::code`].
pub const FORWARD: usize = 0;
pub const BACKWARD: usize = 1;

/// A program that can run.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    outline: Arc<Outline>,
    pub(crate) layout: Layout,
    /// The instructions in order; and the inverse of each, in the opposite order.
    pub(crate) code: Arc<[Vec<Op>; 2]>,
    /// The same, where a run that stops at some of them looks up what jumps land on.
    pub(crate) landings: Arc<[Vec<Op>; 2]>,
    /// Steps that stand in the code as `Kind::OnAdjoints`.
    pub(crate) on_adjoints: Vec<Op>,
    /// The window of each procedure; empty where none of its steps needs one.
    pub(crate) windows: Vec<Vec<Entry>>,
    pub(crate) needs_windows: bool,
    /// How the elements of arrays are found.
    pub(crate) indexings: Vec<Indexing>,
    pub(crate) places: Vec<Place>,
    pub(crate) calls: Vec<CallSite>,
    /// Where the constants lie among the reals.
    pub(crate) pool: Range<usize>,
    /// Whether any instruction names an adjoint cell.
    pub(crate) needs_adjoints: bool,
    /// Whether any procedure that is called has a rule.
    pub(crate) has_rules: bool,
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
        let Resolved { layout, code, on_adjoints, places, calls, windows, indexings } = resolve(&module);
        let pool = layout.constants(Class::Real);
        let needs_adjoints = places.iter().any(|place| matches!(place, Place::AdjointOf(_)));
        let has_rules = calls.iter().any(|site| site.rule.is_some());
        let outline = Arc::new(Outline::new(&module.structure));
        let (code, module) = (Arc::new(code), Arc::new(module));
        let landings = Arc::clone(&code);
        Ok(Program {
            module,
            outline,
            layout,
            code,
            landings,
            on_adjoints,
            needs_windows: windows.iter().any(|entries| !entries.is_empty()),
            windows,
            indexings,
            places,
            calls,
            pool,
            needs_adjoints,
            has_rules,
            notation: Notation::default(),
            hash,
        })
    }

    /// The same program with other code of the same length. What jumps land on stays as it was.
    pub(crate) fn with_code(&self, code: [Vec<Op>; 2]) -> Program {
        Program { code: Arc::new(code), ..self.clone() }
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
        self.outline.around(&self.module.structure, at)
    }

    /// The block of whose own words an instruction is a part, and the number of its seam; none where the
    /// instruction was written as it is.
    pub fn seam(&self, at: u32) -> Option<(&Block, usize)> {
        self.outline.seam(&self.module.structure, at)
    }

    /// Identifies the program in state files.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Whether the program switches gradient mode itself.
    pub fn switches_mode(&self) -> bool {
        self.module.code.iter().any(|instruction| instruction.update.shape() == Shape::Switch)
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
        self.layout.constants(class)
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
