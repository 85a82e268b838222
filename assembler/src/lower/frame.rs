//! The frame of the procedure being lowered: variables with unique names, handed out again once
//! they are vacant. Knows no scopes.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::{FrameVariable, Shape};

/// The frame's variables so far.
#[derive(Default)]
pub(super) struct GrowingFrame {
    pub(super) variables: Vec<FrameVariable>,
    /// Vacant variables. The name is part of the key so that what a debugger shows stays true.
    free: HashMap<(CompactString, Class, Shape), Vec<u32>>,
    names: TakenNames,
}

impl GrowingFrame {
    /// Keeps a name from being given to a variable.
    pub(super) fn reserve(&mut self, name: &str) {
        self.names.reserve(name);
    }

    /// A vacant variable of this name, class and shape: one that was given back, or a new one.
    /// A new one whose name is taken, in the frame or `elsewhere`, gets a number.
    pub(super) fn acquire(
        &mut self,
        name: &CompactString,
        class: Class,
        shape: Shape,
        elsewhere: impl Fn(&str) -> bool,
    ) -> u32 {
        let free = self.free.get_mut(&(name.clone(), class, shape)).and_then(Vec::pop);
        free.unwrap_or_else(|| {
            let name = self.names.unique(name, elsewhere);
            self.variables.push(FrameVariable { name: name.into(), class, shape });
            self.variables.len() as u32 - 1
        })
    }

    /// A vacant scalar for the value of an expression: one that had that value before, or a new one, of which
    /// the second part says so. No other expression's value comes into it. Its name is always numbered.
    pub(super) fn acquire_for(
        &mut self,
        expression: &CompactString,
        name: &str,
        class: Class,
        elsewhere: impl Fn(&str) -> bool,
    ) -> (u32, bool) {
        let free = self.free.get_mut(&(expression.clone(), class, Shape::Scalar)).and_then(Vec::pop);
        if let Some(variable) = free {
            return (variable, false);
        }
        let name = self.names.numbered(name, 1, elsewhere);
        self.variables.push(FrameVariable { name: name.into(), class, shape: Shape::Scalar });
        (self.variables.len() as u32 - 1, true)
    }

    /// Gives a variable back under the name or the expression it was asked for by.
    pub(super) fn release(&mut self, name: &CompactString, variable: u32) {
        if let Some(v) = self.variables.get(variable as usize) {
            self.free.entry((name.clone(), v.class, v.shape)).or_default().push(variable);
        }
    }
}

/// A set of names that makes others unique: `t`, `t$2`, `t$3`, …
#[derive(Default)]
pub(super) struct TakenNames {
    taken: HashSet<CompactString>,
    /// The number to try next for a name, so that many equal names cost no search each.
    next: HashMap<CompactString, u32>,
}

impl TakenNames {
    /// Takes a name as it is; false if it was taken before.
    pub(super) fn reserve(&mut self, name: &str) -> bool {
        self.taken.insert(name.into())
    }

    /// The name itself, or else the first free one with a number.
    pub(super) fn unique(&mut self, name: &str, elsewhere: impl Fn(&str) -> bool) -> CompactString {
        if !elsewhere(name) && self.reserve(name) {
            return name.into();
        }
        self.numbered(name, 2, elsewhere)
    }

    /// The first free one of `name$first`, `name$(first + 1)`, …
    pub(super) fn numbered(
        &mut self,
        name: &str,
        first: u32,
        elsewhere: impl Fn(&str) -> bool,
    ) -> CompactString {
        let mut number = self.next.get(name).copied().unwrap_or(first);
        loop {
            let candidate = compact_str::format_compact!("{name}${number}");
            number += 1;
            if !elsewhere(&candidate) && self.taken.insert(candidate.clone()) {
                self.next.insert(name.into(), number);
                return candidate;
            }
        }
    }
}
