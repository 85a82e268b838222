//! The frame of the current procedure: its variables, which have unique names and are reused when they are
//! vacant. This module is independent of scopes.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::{FrameVariable, Shape};

/// The variables of a frame under construction.
#[derive(Default)]
pub(super) struct GrowingFrame {
    pub(super) variables: Vec<FrameVariable>,
    /// The vacant variables that can be reused. A variable is reused only under its old name or expression,
    /// so that a debugger shows the right one.
    free: HashMap<(CompactString, Class, Shape), Vec<u32>>,
    names: TakenNames,
}

impl GrowingFrame {
    /// Marks a name as used, so that no new variable gets it.
    pub(super) fn reserve(&mut self, name: &str) {
        self.names.reserve(name);
    }

    /// Returns a vacant variable with this name, class and shape, which is reused if possible. The name of a
    /// new variable gets a number if the name is used already, in the frame or `elsewhere`.
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

    /// Returns a vacant scalar for the value of an expression, and true if the scalar is a new variable. Only a
    /// variable with the same expression is reused. The name of a new variable always has a number.
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

    /// Makes a variable available for reuse, under the name or the expression with which it was acquired.
    pub(super) fn release(&mut self, name: &CompactString, variable: u32) {
        if let Some(v) = self.variables.get(variable as usize) {
            self.free.entry((name.clone(), v.class, v.shape)).or_default().push(variable);
        }
    }
}

/// The names in use. A name that is in use already gets a number: `t`, `t$2`, `t$3`, …
#[derive(Default)]
pub(super) struct TakenNames {
    taken: HashSet<CompactString>,
    /// The number to try next for a name, which avoids a linear search for every equal name.
    next: HashMap<CompactString, u32>,
}

impl TakenNames {
    /// Marks a name as used; returns false if it was used before.
    pub(super) fn reserve(&mut self, name: &str) -> bool {
        self.taken.insert(name.into())
    }

    /// Returns the name itself if it is free, otherwise the first free one of `name$2`, `name$3`, …
    pub(super) fn unique(&mut self, name: &str, elsewhere: impl Fn(&str) -> bool) -> CompactString {
        if !elsewhere(name) && self.reserve(name) {
            return name.into();
        }
        self.numbered(name, 2, elsewhere)
    }

    /// Returns the first free one of `name$first`, `name$(first + 1)`, …
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
