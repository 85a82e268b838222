//! Scopes: the visible names, and their meanings. Statements are resolved elsewhere.

use std::collections::HashMap;

use num_bigint::BigInt;

use crate::constant::Number;
use crate::plan::{Computed, Measured, Part, Place, Variable};

/// Meaning of a name or an expression.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Constant(Number),
    /// A scalar, or a whole array.
    Variable(Variable),
    Element(Place),
    /// The gradient mode bit.
    Mode,
    /// An integer scalar plus a constant.
    Sum {
        scalar: Variable,
        offset: BigInt,
    },
    Part {
        array: Variable,
        part: Part,
    },
    Length(Measured),
    /// Expression that must be computed.
    Computed(Computed),
}

#[derive(Default)]
struct Scope {
    /// True for the scope of a macro's body, in which the scopes around the macro's use are invisible.
    is_macro: bool,
    names: HashMap<String, Meaning>,
}

/// Open scopes in one procedure, outermost first.
#[derive(Default)]
pub(crate) struct Scopes(Vec<Scope>);

impl Scopes {
    pub(crate) fn enter(&mut self, is_macro: bool) {
        self.0.push(Scope { is_macro, names: HashMap::new() });
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// Returns the nesting depth of macro expansions.
    pub(crate) fn macros(&self) -> usize {
        self.0.iter().filter(|scope| scope.is_macro).count()
    }

    pub(crate) fn bind(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name.to_owned(), meaning);
        }
    }

    /// Removes a name from the innermost scope.
    pub(crate) fn unbind(&mut self, name: &str) -> Option<Meaning> {
        self.0.last_mut()?.names.remove(name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Meaning> {
        for scope in self.0.iter().rev() {
            if let Some(meaning) = scope.names.get(name) {
                return Some(meaning);
            }
            if scope.is_macro {
                break;
            }
        }
        None
    }
}
