//! Garbage at the end of a run: cells that violate their declarations, and stacks and tapes that aren't empty. The
//! module implements the rules for both ends of a program, and runs nothing.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role};

use crate::explain::cell_name;
use crate::program::Program;
use crate::state::values::{Value, element_name, plural};
use crate::state::{ADJOINT, State};
use crate::travel::Travel;

/// The garbage in one declaration, on a stack, or on a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbage {
    /// The name: `x`, `A`, `A'`, a stack's name, or another description such as `input tape`.
    pub name: String,
    /// The number of cells of the declaration.
    pub cells: u64,
    /// The number of garbage cells.
    pub differing: u64,
    /// The first garbage cells, at most [`Garbage::LISTED`].
    pub listed: Vec<Difference>,
    /// Advice on how to avoid the garbage, if known.
    pub cure: Option<String>,
}

/// A cell that doesn't have its expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the cell: `x`, `A[3]`, `M[1,2]`.
    pub name: String,
    /// The actual content, formatted like a value in the text.
    pub found: String,
    /// The content that the cell must have, formatted like `found`.
    pub expected: String,
}

impl Garbage {
    /// Maximum number of listed cells of a declaration. Further cells are only counted.
    pub const LISTED: u64 = 1000;
    /// Maximum number of garbage cells of a declaration that are reported individually.
    const MOST_REPORTED: u64 = 3;

    /// Returns the lines of the report: one line for each garbage cell if there are few, otherwise one line for all of
    /// them.
    pub fn lines(&self) -> Vec<String> {
        let each = |d: &Difference| format!("{}: {}, must be {}", d.name, d.found, d.expected);
        match self.listed.first() {
            Some(first) if self.differing > Garbage::MOST_REPORTED => {
                let (differing, cells) = (grouped(self.differing), grouped(self.cells));
                let Difference { name, found, expected } = first;
                let array = &self.name;
                vec![format!(
                    "{differing} of the {cells} cells of `{array}`, the first {name} = {found}, must be {expected}"
                )]
            }
            _ => self.listed.iter().map(each).collect(),
        }
    }
}

/// Formats a number with digit groups: 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Groups garbage cells by declaration. The cells of a declaration must be added consecutively.
#[derive(Default)]
struct Collector(Vec<Garbage>);

impl Collector {
    /// Adds a garbage cell of the declaration `name`, which has `cells` cells in all. `difference` is called
    /// only if the cell is listed.
    fn add(&mut self, name: &str, cells: u64, difference: impl FnOnce() -> Difference) {
        if self.0.last().is_none_or(|garbage| garbage.name != name) {
            self.0.push(Garbage {
                name: name.to_owned(),
                cells,
                differing: 0,
                listed: Vec::new(),
                cure: None,
            });
        }
        if let Some(garbage) = self.0.last_mut() {
            if garbage.differing < Garbage::LISTED {
                garbage.listed.push(difference());
            }
            garbage.differing += 1;
        }
    }

    /// Adds advice to the last entry.
    fn cured(&mut self, cure: String) {
        if let Some(garbage) = self.0.last_mut() {
            garbage.cure = Some(cure);
        }
    }

    fn one(&mut self, name: &str, found: String, expected: &str) {
        self.add(name, 1, || Difference { name: name.to_owned(), found, expected: expected.to_owned() });
    }
}

impl Program {
    /// Returns the garbage when a run has reached the end of the program, or the start if it runs backward.
    /// Garbage is: cells that differ from their initial values, a frame that isn't vacant, stacks that aren't
    /// empty, and a tape that wasn't used up.
    pub fn garbage(&self, state: &State, arrived: Travel) -> Vec<Garbage> {
        let mut garbage = Collector::default();
        for (n, global) in self.module().globals.iter().enumerate() {
            if !is_free(global.role, arrived) {
                self.differences(state, n, &mut garbage);
            }
        }
        self.left_in_frame(state, &mut garbage);
        if self.switches_mode() {
            self.left_adjoints(state, &mut garbage);
        }
        self.left_on_stacks(state, arrived, &mut garbage);
        left_on_tape(state, arrived, &mut garbage);
        garbage.0
    }

    fn differences(&self, state: &State, global: usize, garbage: &mut Collector) {
        let Some(declared) = self.module().globals.get(global) else { return };
        let cells = declared.shape.cells();
        // Cells are compared one by one: a list of all values could take more memory than the cells.
        for (n, cell) in self.cells(global).enumerate() {
            let found = match declared.class {
                Class::Real => Value::Real(state.reals[cell]),
                Class::Int => Value::Int(state.ints[cell]),
            };
            let expected = self.initial(global, n);
            if !self.is_close(found, expected) {
                garbage.add(&declared.name, cells, || {
                    self.difference(self.cell_name(global, n), found, expected)
                });
            }
        }
    }

    fn difference(&self, name: String, found: Value, expected: Value) -> Difference {
        Difference { name, found: self.text(found), expected: self.text(expected) }
    }

    /// Reports the mode and non-zero adjoints. A program that switches gradient mode itself must leave the
    /// mode off and the adjoints zero.
    fn left_adjoints(&self, state: &State, garbage: &mut Collector) {
        if state.mode() {
            garbage.one("mode", "1".into(), "0");
        }
        let cells = state.adjoints.iter().flat_map(|adjoints| &adjoints.cells).enumerate();
        for (cell, &bits) in cells {
            // A rule that is called with a constant may give the constant an adjoint, which no program can read.
            let is_constant = self.pool.contains(&cell);
            if !is_constant && !self.is_close(Value::Real(bits), Value::Real(0)) {
                let name = cell_name(self, state, Class::Real, cell as u32 | ADJOINT);
                let array = name.split('[').next().unwrap_or_default();
                garbage.add(array, self.declared_cells(array.trim_end_matches('\'')), || {
                    self.difference(name.clone(), Value::Real(bits), Value::Real(0))
                });
            }
        }
        self.left_adjoints_on_stack(state, garbage);
    }

    /// Reports non-zero adjoints of the values on the declared stack of reals.
    fn left_adjoints_on_stack(&self, state: &State, garbage: &mut Collector) {
        let Some((_, stack)) = self.module().stack(Class::Real) else { return };
        let name = format!("{}'", stack.name);
        let entries = state.adjoints.iter().flat_map(|adjoints| &adjoints.stack).enumerate();
        for (n, &bits) in entries {
            if !self.is_close(Value::Real(bits), Value::Real(0)) {
                garbage.add(&name, state.real_stack.len() as u64, || {
                    self.difference(format!("{name}[{n}]"), Value::Real(bits), Value::Real(0))
                });
            }
        }
    }

    /// Returns the number of cells of a global, or of a variable in main's frame.
    fn declared_cells(&self, name: &str) -> u64 {
        let frame = self.module().procedures.iter().take(1).flat_map(|main| &main.frame);
        let variable = || frame.clone().find(|variable| variable.name == name).map(|variable| variable.shape);
        self.global(name).map(|(_, global)| global.shape).or_else(variable).map_or(1, |shape| shape.cells())
    }

    /// Reports stacks that aren't empty, except those declared to hold values at this end.
    fn left_on_stacks(&self, state: &State, arrived: Travel, garbage: &mut Collector) {
        let (ints, reals) = (state.int_stack.len(), state.real_stack.len());
        let stacks = [(Class::Int, ints, "integer stack"), (Class::Real, reals, "real stack")];
        for (class, count, undeclared) in stacks.into_iter().filter(|(_, count, _)| *count != 0) {
            match self.module().stack(class) {
                Some((_, global)) if is_free(global.role, arrived) => {}
                declared => {
                    let name = declared.map_or(undeclared, |(_, global)| &global.name);
                    garbage.one(name, values(count, "left"), "empty");
                    garbage.cured(cure(class, declared.map(|(_, global)| global), arrived));
                }
            }
        }
    }

    /// Reports cells of main's frame, which must be vacant at both ends, like that of every procedure.
    fn left_in_frame(&self, state: &State, garbage: &mut Collector) {
        let (Some(main), Some(offsets)) = (self.module().procedures.first(), self.layout().frames.first())
        else {
            return;
        };
        for (variable, &offset) in main.frame.iter().zip(offsets) {
            let cells = variable.shape.cells();
            for n in 0..cells as usize {
                let (found, vacant) = match variable.class {
                    Class::Int => {
                        let cell = self.layout().main_ints as usize + offset as usize + n;
                        (Value::Int(state.ints[cell]), Value::Int(0))
                    }
                    Class::Real => {
                        let cell = self.layout().main_reals as usize + offset as usize + n;
                        (Value::Real(state.reals[cell]), Value::Real(0))
                    }
                };
                if !self.is_close(found, vacant) {
                    garbage.add(&variable.name, cells, || {
                        self.difference(element_name(&variable.name, variable.shape, n), found, vacant)
                    });
                }
            }
        }
    }
}

/// Returns advice to declare the stack of a class, so that it may hold values at the end that the run reached.
fn cure(class: Class, declared: Option<&Global>, arrived: Travel) -> String {
    // A declared stack may have values at the other end only. So the advised role must cover both ends.
    let is_declared = declared.is_some_and(|global| global.role != Role::Private);
    let (directive, end) = match arrived {
        _ if is_declared => (Role::InOut.directive(), "begin and end with values"),
        Travel::Forward => (Role::Garbage.directive(), "end with values"),
        Travel::Backward => (Role::In.directive(), "begin with values"),
    };
    let name = declared.map_or("NAME", |global| &global.name);
    let class = if class == Class::Real { ": real" } else { "" };
    format!("declare the stack by `{directive} {name}[]{class}`, so that the program may {end}")
}

/// Returns true if a global may hold any value at the end that a run reaches.
fn is_free(role: Role, arrived: Travel) -> bool {
    match arrived {
        Travel::Forward => role.is_result(),
        Travel::Backward => role.is_given(),
    }
}

/// Reports the tape that the run should have used up.
fn left_on_tape(state: &State, arrived: Travel, garbage: &mut Collector) {
    let (name, count, what) = match arrived {
        Travel::Forward => ("input tape", state.input.len(), "not read"),
        Travel::Backward => ("output tape", state.output.len(), "not taken back"),
    };
    if count != 0 {
        garbage.one(name, values(count, what), "empty");
    }
}

/// Formats a count, for example "3 values left".
fn values(count: usize, what: &str) -> String {
    format!("{count} value{} {what}", plural(count as u64, "", "s"))
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_are_grouped() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
