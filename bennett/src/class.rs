//! The class of an expression, by the names in it. The text has been assembled, so nothing is judged.

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;
use reviver_assembler::tree::{Expression, ExpressionKind};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

/// What names of a routine are made of: cells, arrays and constants.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// Classes of the program's names, shared by all routines.
    shared: Rc<HashMap<CompactString, Class>>,
    own: HashMap<CompactString, Class>,
}

impl Classes {
    fn get(&self, name: &str) -> Option<Class> {
        self.own.get(name).or_else(|| self.shared.get(name)).copied()
    }

    pub fn insert(&mut self, name: CompactString, class: Class) {
        self.own.insert(name, class);
    }

    /// Makes copies cheap: all classes become shared.
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

/// The class of a value or a cell.
pub fn class_of(expression: &Expression, classes: &Classes) -> Class {
    match &expression.kind {
        ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Length(_) => Class::Int,
        ExpressionKind::Real(_) => Class::Real,
        ExpressionKind::Name { name, .. } => class_of_name(name, classes),
        ExpressionKind::Element(element) => class_of_name(&element.name, classes),
        ExpressionKind::Unary(_, operand) => class_of(operand, classes),
        ExpressionKind::Binary(_, sides) => of_any(&**sides, classes),
        ExpressionKind::Apply(application) => {
            class_of_applied(application.function, &application.sources, classes)
        }
    }
}

/// The class of a function's value.
pub fn class_of_applied(function: Function, sources: &[Expression], classes: &Classes) -> Class {
    let results: Vec<Class> = function.forms().map(|form| form.result()).collect();
    match results.split_first() {
        Some((first, rest)) if rest.iter().all(|class| class == first) => *first,
        _ => of_any(sources, classes),
    }
}

/// Real if any of them is: an integer literal stands for a real where one is wanted.
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

/// `f0`, `f1`, …
fn is_real_register(name: &str) -> bool {
    is_numbered(name, 'f')
}

/// Whether a name that nobody declared is a register.
pub fn is_register(name: &str) -> bool {
    is_numbered(name, 'r') || is_numbered(name, 'f')
}

fn is_numbered(name: &str, letter: char) -> bool {
    let digits = name.strip_prefix(letter).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
