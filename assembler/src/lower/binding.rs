//! The names of a procedure: its parameters, its frame variables, and the check that they shadow no other
//! names.

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Extent, Shape};
use reviver_isa::names::register_class;

use super::Lowering;
use super::declare::name_of_length;
use super::scope::{Meaning, ScopedName};
use crate::diagnostic::Diagnostic;
use crate::tree::{DeclarationNode, Name};

impl Lowering<'_> {
    /// Declares the parameters of the procedure at its beginning.
    pub(super) fn parameters(&mut self, number: u32) {
        for (n, (parameter, span)) in (0..).zip(self.declared.parameters_of(number).iter()) {
            let meaning = Meaning::Variable { base: Base::Parameter(n), adjoint: false };
            self.current.frame.reserve(&parameter.name);
            let local = ScopedName { meaning, span: *span, open: None };
            self.current.scopes.insert(parameter.name.as_str().into(), local);
            self.current.parameters.push(parameter.clone());
        }
    }

    /// Declares the frame variables of `.ancilla` directives, which exist during the whole procedure.
    pub(super) fn ancillas(&mut self, declarations: &[DeclarationNode]) {
        for declaration in declarations {
            let shape = self.declared.declared_shape(&declaration.shape, &mut self.report);
            let class = declaration.class.unwrap_or(Class::Int);
            self.bind(&declaration.name, class, shape.unwrap_or(Shape::Scalar), false);
            if shape.is_none() {
                self.current.scopes.give_up_meaning(&declaration.name.text);
            }
        }
    }

    /// Declares a name in the innermost scope, and returns its frame variable. If `open` is true, a `delocal`
    /// must end the scope of the name.
    pub(super) fn bind(&mut self, name: &Name, class: Class, shape: Shape, open: bool) -> u32 {
        self.refuse_shadowing(name);
        let declared = &self.declared;
        let elsewhere = |name: &str| declared.is_global(name);
        let variable = self.current.frame.acquire(&own_name(name), class, shape, elsewhere);
        let from = if open { self.code.here() } else { self.current.entry };
        self.open_name(name, variable, from);
        let meaning = Meaning::Variable { base: Base::Frame(variable), adjoint: false };
        let local = ScopedName { meaning, span: name.span, open: open.then_some(variable) };
        self.current.scopes.insert(name.text.clone(), local);
        variable
    }

    /// Reports a name that shadows a local. In main's own text, globals and registers must not be shadowed
    /// either. Procedures and macros of a library may shadow globals, because the library is written
    /// independently of the programs that include it.
    pub(super) fn refuse_shadowing(&mut self, name: &Name) {
        if let Some(refused) = name_of_length(name) {
            return self.report.add(refused);
        }
        let local = self.current.scopes.find(&name.text).map(|local| local.span);
        let sees_globals = self.current.is_main && !self.current.scopes.in_macro();
        let outer = self.declared.outer(&name.text).map(|(_, span)| span);
        let is_register = register_class(&name.text).is_some();
        let message = format!("`{}` would hide another `{0}`", name.text);
        let diagnostic = Diagnostic::error(ProblemCode::DeclaredTwice, message, name.span, "declared again");
        let hiding = match (local, outer) {
            (Some(first), _) => diagnostic.with(first, "first declared here"),
            // Registers have no declaration to show.
            _ if sees_globals && is_register => {
                let cure = format!("choose another name: `{}` is a register", name.text);
                return self.report.add(diagnostic.help(cure));
            }
            (None, Some(first)) if sees_globals => diagnostic.with(first, "first declared here"),
            _ => return,
        };
        self.report.add(hiding.help("choose another name"));
    }

    /// Returns the name, the class and the extent of a base in the current procedure.
    pub(super) fn fact(&self, base: Base) -> Option<(&str, Class, Extent)> {
        match base {
            Base::Global(n) => {
                let (global, _) = self.declared.global_at(n)?;
                Some((&global.name, global.class, Extent::Cells(global.shape)))
            }
            Base::Frame(n) => {
                let variable = self.current.frame.variables.get(n as usize)?;
                Some((&variable.name, variable.class, Extent::Cells(variable.shape)))
            }
            Base::Parameter(n) => {
                let p = self.current.parameters.get(n as usize)?;
                Some((&p.name, p.class, p.extent()))
            }
        }
    }

    pub(super) fn class_of(&self, base: Base) -> Class {
        self.fact(base).map_or(Class::Int, |(_, class, _)| class)
    }
}

/// Returns the name under which the frame stores a variable. A reserved word, which has been reported, is
/// replaced, because otherwise the verifier would report it again.
pub(super) fn own_name(name: &Name) -> CompactString {
    if name_of_length(name).is_some() { "refused".into() } else { name.text.clone() }
}
