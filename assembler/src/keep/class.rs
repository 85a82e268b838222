//! Infers the class (integer or real) of an expression from the names in it. The text has already been assembled
//! without errors, so this module reports none.

use std::collections::HashMap;
use std::rc::Rc;

use crate::tree::{Expression, ExpressionKind};
use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

/// The classes of the names that one routine can use: cells, arrays and constants.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// The classes of the program's names, shared by all routines.
    shared: Rc<HashMap<CompactString, Class>>,
    own: HashMap<CompactString, Class>,
}

impl Classes {
    fn get(&self, name: &str) -> Option<Class> {
        self.own.get(name).or_else(|| self.shared.get(name)).copied()
    }

    /// Returns the class of a routine's own name.
    pub fn own(&self, name: &str) -> Option<Class> {
        self.own.get(name).copied()
    }

    /// Adds the class of a name, which hides another of the same name.
    pub fn insert(&mut self, name: CompactString, class: Class) {
        self.own.insert(name, class);
    }

    /// Moves all classes into the shared map, so that clones are cheap.
    #[must_use]
    pub fn into_shared(self) -> Classes {
        let mut shared = Rc::unwrap_or_clone(self.shared);
        shared.extend(self.own);
        Classes { shared: Rc::new(shared), own: HashMap::new() }
    }
}

impl Extend<(CompactString, Class)> for Classes {
    fn extend<I: IntoIterator<Item = (CompactString, Class)>>(&mut self, classes: I) {
        self.own.extend(classes);
    }
}

/// Returns the class of a value or a cell.
pub fn class_of(expression: &Expression, classes: &Classes) -> Class {
    match &expression.kind {
        ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Length(_) => Class::Int,
        ExpressionKind::Real(_) => Class::Real,
        ExpressionKind::Name { name, .. } => class_of_name(name, classes),
        ExpressionKind::Element(element) => class_of_name(&element.name, classes),
        ExpressionKind::Unary(_, operand) => class_of(operand, classes),
        ExpressionKind::Binary(_, sides) => of_any(&**sides, classes),
        ExpressionKind::InText(application) => of_any(&application.sources, classes),
        ExpressionKind::Apply(application) => {
            class_of_applied(application.function, &application.sources, classes)
        }
    }
}

/// Returns the class of a function's value.
pub fn class_of_applied(function: Function, sources: &[Expression], classes: &Classes) -> Class {
    let results: Vec<Class> = function.signatures().map(|signature| signature.result()).collect();
    match results.split_first() {
        Some((first, rest)) if rest.iter().all(|class| class == first) => *first,
        _ => of_any(sources, classes),
    }
}

/// Returns `Real` if any of the expressions is real, because integer literals then convert to reals.
fn of_any(list: &[Expression], classes: &Classes) -> Class {
    let is_real = list.iter().any(|part| class_of(part, classes) == Class::Real);
    if is_real { Class::Real } else { Class::Int }
}

fn class_of_name(name: &str, classes: &Classes) -> Class {
    match classes.get(name) {
        Some(class) => class,
        None if name == "pi" || is_real_register(name) => Class::Real,
        None => Class::Int,
    }
}

/// Returns true for `f0`, `f1`, …
fn is_real_register(name: &str) -> bool {
    is_numbered(name, 'f')
}

/// Returns true if the name is that of a register (`r0`, `f0`), which a program uses without declaring it.
pub fn is_register(name: &str) -> bool {
    is_numbered(name, 'r') || is_numbered(name, 'f')
}

fn is_numbered(name: &str, letter: char) -> bool {
    let digits = name.strip_prefix(letter).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
