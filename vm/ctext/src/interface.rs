//! The interface for C callers: the parameters of the public functions, and the code that copies numbers from
//! parameters to the memory and back. This module is independent of SSA functions.

use std::fmt::Write as _;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role, Shape};

use crate::identifiers::parameters;
use crate::memory::ProgramCells;
use crate::seeded::SeededResults;

/// A public function of the C text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CFunction {
    Forward,
    Backward,
    Gradient,
}

impl CFunction {
    /// Returns the suffix of the function's name.
    pub fn name(self) -> &'static str {
        match self {
            CFunction::Forward => "forward",
            CFunction::Backward => "backward",
            CFunction::Gradient => "gradient",
        }
    }
}

/// The direction in which a parameter passes a global's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassedBy {
    /// The parameter is an input, which is read.
    Given,
    /// The parameter is an output, which is written on success.
    Taken,
    Both,
}

/// A global that is a parameter of a public function.
#[derive(Debug)]
struct InterfaceArgument<'p> {
    global: &'p Global,
    /// The address of the global's first cell among the cells of its class.
    start: usize,
    cells: usize,
    name: String,
    gradient: String,
    /// The name of the parameter for the components of a direction.
    direction: String,
    /// The name of the parameter for the components of the product.
    product: String,
}

/// A variable for whose cells the C caller passes seeds, with its parameters.
#[derive(Debug)]
struct SeedArgument {
    /// The variable's name in the program.
    variable: String,
    /// The number of the variable's cells.
    cells: usize,
    /// The index of the first cell's value among the gradient's results.
    first: u32,
    /// The name of the C parameter for the seeds.
    seed: String,
    /// The name of the C parameter that receives the variable's values.
    value: String,
}

/// The parameters of the public functions of a program.
#[derive(Debug)]
pub(crate) struct Interface<'a> {
    cells: &'a ProgramCells<'a>,
    arguments: Vec<InterfaceArgument<'a>>,
    seeds: Vec<SeedArgument>,
}

impl<'a> Interface<'a> {
    pub fn of(cells: &'a ProgramCells<'a>, seeded: Option<&SeededResults>) -> Interface<'a> {
        let module = cells.module();
        let known = |global: &Global| global.role != Role::Private && global.shape.cells() > 0;
        let starts = &cells.program.flow().layout().globals;
        let globals: Vec<_> = module.globals.iter().zip(starts).filter(|(global, _)| known(global)).collect();
        let named = |end: &str| globals.iter().map(|(global, _)| format!("{}_{end}", global.name)).collect();
        let gradients: Vec<String> = named("gradient");
        let [directions, products]: [Vec<String>; 2] = match cells.lanes {
            1 => Default::default(),
            _ => ["direction", "product"].map(named),
        };
        let seeded: Vec<_> = seeded.into_iter().flat_map(SeededResults::globals).collect();
        let of_seeds =
            |end: &str| seeded.iter().map(|(global, _)| format!("{}_{end}", global.name)).collect();
        let [seeds, values]: [Vec<String>; 2] = ["seed", "value"].map(of_seeds);
        let names = globals
            .iter()
            .map(|(global, _)| global.name.as_str())
            .chain(gradients.iter().chain(&seeds).chain(&values).map(String::as_str))
            .chain(directions.iter().chain(&products).map(String::as_str));
        let mut names = parameters(names);
        let mut others = names.split_off(globals.len());
        let mut values = others.split_off(globals.len() + seeded.len());
        let mut directions = values.split_off(seeded.len());
        let mut products = directions.split_off(directions.len() / 2).into_iter();
        let mut directions = directions.into_iter();
        let seeds = others.split_off(globals.len());
        let mut gradients = others.into_iter();
        let seeds =
            seeded.iter().zip(seeds.into_iter().zip(values)).map(|((global, first), (seed, value))| {
                SeedArgument {
                    variable: global.name.clone(),
                    cells: global.cells as usize,
                    first: *first,
                    seed,
                    value,
                }
            });
        let seeds = seeds.collect();
        let arguments = globals.into_iter().zip(names).map(|((global, &start), name)| InterfaceArgument {
            global,
            start: start as usize,
            cells: global.shape.cells() as usize,
            name,
            gradient: gradients.next().unwrap_or_default(),
            direction: directions.next().unwrap_or_default(),
            product: products.next().unwrap_or_default(),
        });
        Interface { cells, arguments: arguments.collect(), seeds }
    }

    fn passed(function: CFunction, role: Role) -> Option<PassedBy> {
        match (function, role) {
            (_, Role::Private) => None,
            (CFunction::Forward | CFunction::Backward, Role::InOut) => Some(PassedBy::Both),
            (CFunction::Forward | CFunction::Gradient, Role::In) | (CFunction::Gradient, Role::InOut) => {
                Some(PassedBy::Given)
            }
            (CFunction::Forward, Role::Out | Role::Garbage) | (CFunction::Backward, Role::In) => {
                Some(PassedBy::Taken)
            }
            (CFunction::Backward, Role::Out | Role::Garbage) => Some(PassedBy::Given),
            (CFunction::Gradient, Role::Out | Role::Garbage) => None,
        }
    }

    fn arguments(&self, function: CFunction) -> impl Iterator<Item = (&InterfaceArgument<'a>, PassedBy)> {
        self.arguments
            .iter()
            .filter_map(move |argument| Some((argument, Interface::passed(function, argument.global.role)?)))
    }

    /// Returns the inputs with respect to which the gradient has derivatives.
    fn differentiated(&self) -> impl Iterator<Item = &InterfaceArgument<'a>> {
        let is_real = |argument: &&InterfaceArgument| {
            argument.global.class == Class::Real && argument.global.role.is_given()
        };
        self.arguments.iter().filter(is_real)
    }

    /// Returns the inputs for which the caller passes components of a direction. Returns no inputs if the gradient
    /// computes on plain reals.
    fn directed(&self) -> impl Iterator<Item = &InterfaceArgument<'a>> {
        self.differentiated().filter(|_| self.cells.lanes > 1)
    }

    /// Returns the declaration of a public function, without the semicolon.
    pub fn head(&self, function: CFunction) -> String {
        let prefix = self.cells.prefix;
        let mut text = format!("int {prefix}_{}(struct {prefix}_memory *memory", function.name());
        for (argument, passed) in self.arguments(function) {
            let is_const = if passed == PassedBy::Given { "const " } else { "" };
            let of = self.cells.numbers.given(argument.global.class);
            let _ = write!(text, ", {is_const}{of} *{}", argument.name);
        }
        if function == CFunction::Gradient {
            let of = self.cells.numbers.real();
            for SeedArgument { seed, .. } in &self.seeds {
                let _ = write!(text, ", const {of} *{seed}");
            }
            for SeedArgument { value, .. } in &self.seeds {
                let _ = write!(text, ", {of} *{value}");
            }
            for argument in self.directed() {
                let _ = write!(text, ", const {of} *{}", argument.direction);
            }
            if self.seeds.is_empty() {
                let _ = write!(text, ", {of} *loss");
            }
            for argument in self.differentiated() {
                let _ = write!(text, ", {of} *{}", argument.gradient);
            }
            for argument in self.directed() {
                let _ = write!(text, ", {of} *{}", argument.product);
            }
        }
        text + ")"
    }

    /// Returns a comment text that describes each parameter.
    pub fn described(&self, function: CFunction) -> String {
        let mut text = String::new();
        for (argument, passed) in self.arguments(function) {
            let InterfaceArgument { global, name, .. } = argument;
            let how = match passed {
                PassedBy::Given => "read",
                PassedBy::Taken => "written on success, unless it is NULL",
                PassedBy::Both => "read, and written on success",
            };
            let shape = match global.shape {
                Shape::Scalar | Shape::Stack => numbers(1),
                Shape::Vector(length) => format!("{length} numbers"),
                Shape::Matrix(rows, columns) => format!("{rows} rows of {columns} numbers, row after row"),
            };
            let directive = global.role.directive();
            let _ = writeln!(text, "   {name}: `{directive} {}`, {shape}; {how}.", global.name);
        }
        if function == CFunction::Gradient {
            for SeedArgument { variable, cells, seed, value, .. } in &self.seeds {
                let _ = writeln!(text, "   {seed}: the seeds of `{variable}`, {}; read.", numbers(*cells));
                let _ = writeln!(
                    text,
                    "   {value}: the values of `{variable}`; written on success, unless it is NULL."
                );
            }
            for InterfaceArgument { direction, global, .. } in self.directed() {
                let name = &global.name;
                let _ = writeln!(
                    text,
                    "   {direction}: the components of the direction for `{name}`; read. NULL means zeros."
                );
            }
            for argument in self.differentiated() {
                let _ = writeln!(
                    text,
                    "   {}: the derivatives with respect to `{}`; written on success, unless it is NULL.",
                    argument.gradient, argument.global.name
                );
            }
            for InterfaceArgument { product, global, .. } in self.directed() {
                let name = &global.name;
                let _ = writeln!(
                    text,
                    "   {product}: the components of the product for `{name}`; written on success, unless it is NULL."
                );
            }
        }
        text
    }

    /// Returns the code that copies inputs into the memory. The code returns a status if a float isn't finite.
    pub fn take_in(&self, function: CFunction) -> String {
        let given = self.arguments(function).filter(|(_, passed)| *passed != PassedBy::Taken);
        let mut text: String = given.map(|(argument, _)| self.one_in(argument, function)).collect();
        if function == CFunction::Gradient {
            text.extend(self.directed().map(|argument| self.direction_in(argument)));
        }
        text
    }

    /// Returns the code that copies the components of a direction into the memory.
    fn direction_in(&self, argument: &InterfaceArgument) -> String {
        let InterfaceArgument { direction, start, cells, .. } = argument;
        let (lanes, suffix) = (self.cells.lanes, self.cells.numbers.suffix());
        let check = match self.cells.numbers.is_fixed() {
            true => String::new(),
            false => format!(
                "            if (!rv_is_finite_{suffix}({direction}[i])) {{\n                return {}_ARGUMENT;\n            }}\n",
                self.cells.prefix.to_uppercase()
            ),
        };
        format!(
            "    if ({direction}) {{\n        for (size_t i = 0; i < {cells}; i++) {{\n{check}            \
            memory->start_reals[({start} + i) * {lanes} + 1] = {direction}[i];\n        }}\n    }}\n"
        )
    }

    fn one_in(&self, argument: &InterfaceArgument, function: CFunction) -> String {
        let class = argument.global.class;
        let array = match function {
            CFunction::Forward | CFunction::Backward => cells_of(class).to_owned(),
            CFunction::Gradient => format!("start_{}", cells_of(class)),
        };
        let lanes = if function == CFunction::Gradient { self.cells.lanes_of(class) } else { 1 };
        let (place, value, indent) = Interface::places(argument, &argument.name, (&array, lanes, 0));
        let mut text = String::new();
        if argument.global.class == Class::Real && !self.cells.numbers.is_fixed() {
            let (suffix, prefix) = (self.cells.numbers.suffix(), self.cells.prefix.to_uppercase());
            let _ = write!(
                text,
                "{indent}if (!rv_is_finite_{suffix}({value})) {{\n{indent}    return {prefix}_ARGUMENT;\n{indent}}}\n"
            );
        }
        let _ = writeln!(text, "{indent}{place} = {value};");
        looped(argument.cells, &text)
    }

    /// Returns two C expressions: a cell of an argument in the memory struct, and the caller's number for this cell.
    /// Also returns the indentation of a line that uses both; for an array, this line is in a loop over the index `i`.
    /// `array` has the name of the memory array, the number of coefficients of a cell, and the order of the requested
    /// coefficient.
    fn places(
        argument: &InterfaceArgument,
        name: &str,
        (array, lanes, order): (&str, usize, usize),
    ) -> (String, String, &'static str) {
        let first = argument.start * lanes + order;
        match (argument.cells, lanes) {
            (1, _) => (format!("memory->{array}[{first}]"), format!("*{name}"), "    "),
            (_, 1) => (format!("memory->{array}[{first} + i]"), format!("{name}[i]"), "        "),
            _ => (format!("memory->{array}[{first} + i * {lanes}]"), format!("{name}[i]"), "        "),
        }
    }

    /// Returns the code that copies outputs from the memory to the caller's numbers.
    pub fn give_out(&self, function: CFunction) -> String {
        if function == CFunction::Gradient {
            let values = self.seeds.iter().map(|seeded| self.values_out(seeded));
            let adjoints = |order: usize| ("adjoints", self.cells.lanes, order);
            let gradients =
                self.differentiated().map(|argument| self.one_out(argument, &argument.gradient, adjoints(0)));
            let products =
                self.directed().map(|argument| self.one_out(argument, &argument.product, adjoints(1)));
            return values.chain(gradients).chain(products).collect();
        }
        let taken = self.arguments(function).filter(|(_, passed)| *passed != PassedBy::Given);
        taken
            .map(|(argument, _)| {
                let array = (cells_of(argument.global.class), 1, 0);
                self.one_out(argument, &argument.name, array)
            })
            .collect()
    }

    /// Returns the code that copies the values of a variable with seeds to the caller's numbers.
    fn values_out(&self, seeded: &SeedArgument) -> String {
        let SeedArgument { cells, first, value, .. } = seeded;
        format!(
            "    if ({value}) {{\n        for (size_t i = 0; i < {cells}; i++) {{\n            \
            {value}[i] = memory->results[{first} + i];\n        }}\n    }}\n"
        )
    }

    /// Returns the name of each variable with seeds, and the name of the C parameter for the variable's seeds.
    pub fn seeds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.seeds.iter().map(|seeded| (seeded.variable.as_str(), seeded.seed.as_str()))
    }

    fn one_out(&self, argument: &InterfaceArgument, name: &str, array: (&str, usize, usize)) -> String {
        let (place, value, indent) = Interface::places(argument, name, array);
        let of = self.cells.numbers.given(argument.global.class);
        let inner = format!("    {indent}{value} = ({of}){place};\n");
        let line = match argument.cells {
            1 => inner,
            cells => format!("        for (size_t i = 0; i < {cells}; i++) {{\n{inner}        }}\n"),
        };
        format!("    if ({name}) {{\n{line}    }}\n")
    }
}

/// Returns the name of the memory array that holds the cells of a class.
fn cells_of(class: Class) -> &'static str {
    match class {
        Class::Int => "ints",
        Class::Real => "reals",
    }
}

fn numbers(count: usize) -> String {
    if count == 1 { "1 number".to_owned() } else { format!("{count} numbers") }
}

fn looped(cells: usize, text: &str) -> String {
    match cells {
        1 => text.to_owned(),
        _ => format!("    for (size_t i = 0; i < {cells}; i++) {{\n{text}    }}\n"),
    }
}
