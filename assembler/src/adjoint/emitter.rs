//! The state of the construction of a derived program. Other modules add methods that create statements.

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::{CompactString, format_compact};
use reviver_isa::update::Update;

use super::own::mode::OwnMode;
use super::request::Mode;
use super::stacks::DropPlace;
use super::variants::{MacroVariant, Variant};
use crate::definitions::ProgramNames;
use crate::diagnostic::Diagnostic;
use crate::fresh::FreshNames;
use crate::scopes::Names;
use crate::source::{Sources, Span};
use crate::tree::{Body, Expression, Macro, ProcedureNode};

/// The state of the construction of an adjoint program or a tangent program.
pub(super) struct Emitter {
    pub sources: Sources,
    pub mode: Mode,
    /// The current mode, in a program that switches gradient mode itself.
    pub own: Option<OwnMode>,
    pub names: Names,
    pub fresh: FreshNames,
    pub procedures: HashMap<CompactString, Rc<ProcedureNode>>,
    pub macros: HashMap<CompactString, Rc<Macro>>,
    /// The name of each variant of a procedure, of a rule and of a macro; and the variants that aren't written yet.
    pub variants: HashMap<Variant, CompactString>,
    pub rules: HashMap<Variant, CompactString>,
    pub macro_variants: HashMap<MacroVariant, CompactString>,
    pub pending: Vec<(Variant, CompactString)>,
    pub pending_rules: Vec<(Variant, CompactString)>,
    pub pending_macros: Vec<(MacroVariant, CompactString)>,
    /// The adjoints of the current frame's variables, with their lengths.
    pub frame: Vec<(CompactString, Vec<Expression>)>,
    /// The new names of the labels of the current body.
    pub labels: HashMap<CompactString, CompactString>,
    /// The statements of each included file, by the place of the include.
    pub included: HashMap<Span, Body>,
    pub drops: DropPlace,
    /// The update that keeps the derivatives by values of the input tape, unless they are dropped.
    pub tape_derivatives: Option<Update>,
    /// True while the body of a macro is written.
    pub in_macro: bool,
    /// True if a statement drops an adjoint.
    pub has_dropped: bool,
    pub diagnostics: Vec<Diagnostic>,
}

impl Emitter {
    /// Begins a construction over the definitions of a program. It has no included files, and nothing is written yet.
    pub fn new(
        sources: Sources,
        mode: Mode,
        fresh: FreshNames,
        program: ProgramNames,
        drops: DropPlace,
    ) -> Emitter {
        let ProgramNames { names, procedures, macros } = program;
        Emitter {
            sources,
            mode,
            own: None,
            names,
            fresh,
            procedures,
            macros,
            variants: HashMap::new(),
            rules: HashMap::new(),
            macro_variants: HashMap::new(),
            pending: Vec::new(),
            pending_rules: Vec::new(),
            pending_macros: Vec::new(),
            frame: Vec::new(),
            labels: HashMap::new(),
            included: HashMap::new(),
            drops,
            tape_derivatives: None,
            in_macro: false,
            has_dropped: false,
            diagnostics: Vec::new(),
        }
    }

    /// Returns the new name of a label, because labels of the primal part are used already. A tangent program has no
    /// other primal part, so the labels of main keep their names.
    pub fn label_name(&mut self, label: &CompactString) -> CompactString {
        if self.mode == Mode::Tangent && self.names.owner().is_empty() {
            return label.clone();
        }
        if let Some(name) = self.labels.get(label) {
            return name.clone();
        }
        let wanted = match self.mode {
            Mode::Adjoint => format_compact!("{label}_back"),
            Mode::Tangent => self.fresh.adjoint(label),
        };
        let name = self.fresh.fresh(&wanted);
        self.labels.insert(label.clone(), name.clone());
        name
    }
}
