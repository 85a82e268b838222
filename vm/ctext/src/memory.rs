//! The memory of a program: the number of its cells, their names, and their initial values. This module is independent
//! of SSA functions.

use std::ops::Range;

use reviver_compile::function::{Demands, NumberKinds};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Shape, Values};
use reviver_isa::number::literal_bits;
use reviver_vm::{CheckLevel, Program};

use crate::body::CellNames;
use crate::calls::CallMemory;
use crate::identifiers::identifier;
use crate::numbers::CNumbers;

/// Maximum number of cells of an array whose elements get names in C text. The cells of a larger array have only
/// addresses.
const MOST_NAMED: u64 = 256;
/// Maximum number of cells that are initialized one by one. If more cells have initial values, the text copies a table.
const FEW: usize = 16;
/// Each class, with the name of the memory field that has the cells of the class.
const CELLS: [(Class, &str); 2] = [(Class::Int, "ints"), (Class::Real, "reals")];

/// The cells of a program, with the properties that determine their number and names.
#[derive(Debug)]
pub(crate) struct ProgramCells<'p> {
    pub program: &'p Program,
    pub prefix: &'p str,
    pub numbers: CNumbers,
    /// The check level, which determines the checks of a run.
    pub level: CheckLevel,
    /// Memory demands that suffice for all of the program's SSA functions.
    demands: Demands,
    /// Number of coefficients of each real in the gradient function: 1, or 2 for dual numbers.
    pub lanes: usize,
    /// Memory for the calls that are not inlined; `None` if there are none.
    pub calls: Option<CallMemory>,
}

impl<'p> ProgramCells<'p> {
    pub fn new(
        program: &'p Program,
        prefix: &'p str,
        level: CheckLevel,
        (demands, lanes): (Demands, usize),
    ) -> ProgramCells<'p> {
        let module = program.module();
        let numbers = CNumbers(NumberKinds::of(module));
        let mut cells = ProgramCells { program, prefix, numbers, level, demands, lanes, calls: None };
        cells.calls = CallMemory::of(demands, cells.others(), module.real, &module.limits);
        cells
    }

    pub fn module(&self) -> &'p Module {
        self.program.module()
    }

    /// Returns the number of cells of a class with static storage.
    pub fn fixed(&self, class: Class) -> usize {
        self.program.flow().layout().constants(class).end
    }

    /// Returns the number of cells of each class with static storage or in frames of inlined calls.
    pub fn others(&self) -> [usize; 2] {
        let Demands { frame_ints, frame_reals, .. } = self.demands;
        [(Class::Int, frame_ints), (Class::Real, frame_reals)]
            .map(|(class, frames)| self.fixed(class) + frames as usize)
    }

    /// Returns the number of coefficients of a cell in the gradient function.
    pub fn lanes_of(&self, class: Class) -> usize {
        if class == Class::Real { self.lanes } else { 1 }
    }

    /// Returns the number of all cells of a class as a C expression. It includes cells of calls that are not inlined.
    pub fn all(&self, class: Class) -> String {
        let (others, lanes) = (self.others()[class as usize], self.lanes_of(class));
        match self.calls.map_or(0, |calls| calls.cells(class)) {
            0 => (lanes * others).to_string(),
            each => {
                let upper = self.prefix.to_uppercase();
                format!("{} + INT64_C({}) * {upper}_CALLS", lanes * others, lanes as u64 * u64::from(each))
            }
        }
    }

    /// Returns the names of the cells that have names.
    pub fn names(&self) -> CellNames {
        let (module, layout) = (self.module(), self.program.flow().layout());
        let globals = module.globals.iter().zip(&layout.globals);
        let globals =
            globals.map(|(global, &start)| (global.class, start, global.shape, global.name.as_str()));
        let main = module.procedures.iter().take(1).flat_map(|main| &main.frame);
        let offsets = layout.frames.iter().take(1).flatten();
        let own = main.zip(offsets).map(|(variable, offset)| {
            let start = match variable.class {
                Class::Int => layout.main_ints,
                Class::Real => layout.main_reals,
            };
            (variable.class, start + offset, variable.shape, variable.name.as_str())
        });
        let named = globals.chain(own).filter(|(_, _, shape, _)| shape.cells() <= MOST_NAMED);
        CellNames::new(
            self.prefix,
            self.calls,
            named.flat_map(|(class, start, shape, name)| {
                (0..shape.cells()).map(move |n| (class, i64::from(start) + n as i64, element(name, shape, n)))
            }),
        )
    }

    /// Returns an empty set of names, for a function whose addresses aren't those of the program's cells.
    pub fn no_names(&self) -> CellNames {
        CellNames::new(self.prefix, self.calls, std::iter::empty())
    }

    /// Returns the initial bits of cell `n` of a global.
    pub fn initial(&self, global: &Global, n: usize) -> u64 {
        match &global.initial {
            Values::Ints(ints) => ints.get(n).map_or(0, |&value| value as u64),
            Values::Reals(reals) => reals.get(n).map_or(0, |&value| literal_bits(self.module().real, value)),
        }
    }

    /// Returns the cells with initial values other than 0, constants included: the address and bits of each.
    fn first(&self, class: Class) -> Vec<(usize, u64)> {
        let layout = self.program.flow().layout();
        let globals = self.module().globals.iter().zip(&layout.globals);
        let of_class = globals.filter(|(global, _)| global.class == class);
        let initial = of_class.flat_map(|(global, &start)| {
            let values = (0..global.initial.len().min(global.shape.cells() as usize))
                .map(move |n| (start as usize + n, n));
            values.map(move |(cell, n)| (cell, self.initial(global, n)))
        });
        let pool: Vec<u64> = match class {
            Class::Int => layout.pool_ints.iter().map(|&value| value as u64).collect(),
            Class::Real => layout.pool_reals.clone(),
        };
        let pool = layout.constants(class).zip(pool);
        initial.chain(pool).filter(|(_, bits)| *bits != 0).collect()
    }

    /// Returns the functions that initialize the memory: for a run, and for a gradient if the text has one.
    pub fn begin(&self, has_gradient: bool) -> String {
        let prefix = self.prefix;
        let tables = self.first_tables();
        let run = format!(
            "/* Sets all cells to their initial values. */\n\
            static void {prefix}_begin(struct {prefix}_memory *memory) {{\n{}{}}}\n",
            self.zeros(has_gradient),
            self.first_cells("", 1)
        );
        if !has_gradient {
            return tables + &run;
        }
        let start_reals = self.lanes * self.fixed(Class::Real);
        let arrays = [("start_ints", self.fixed(Class::Int)), ("start_reals", start_reals)];
        let adjoints = ("adjoints", self.lanes * self.others()[1]);
        format!(
            "{tables}{run}\n/* Sets the start of a gradient to the initial values, and clears the adjoints. */\n\
            static void {prefix}_begin_gradient(struct {prefix}_memory *memory) {{\n{}{}{}}}\n",
            self.zero_counters(has_gradient),
            arrays.into_iter().chain([adjoints]).map(zeroed).collect::<String>(),
            self.first_cells("start_", self.lanes)
        )
    }

    /// Returns the name of the table with the initial values of a class. The table exists only if more than [`FEW`]
    /// cells have initial values.
    fn first_table(&self, array: &str) -> String {
        format!("{}_first_{array}", self.prefix)
    }

    /// Returns the tables of initial values.
    fn first_tables(&self) -> String {
        let mut tables = String::new();
        for (class, array) in CELLS {
            let first = self.first(class);
            if first.len() > FEW {
                let end = first.last().map_or(0, |(cell, _)| cell + 1);
                let mut all = vec![0; end];
                first.into_iter().for_each(|(cell, bits)| all[cell] = bits);
                tables.push_str(&self.table(&self.first_table(array), class, &all));
            }
        }
        tables
    }

    /// Returns lines that set the cells with initial values other than 0. The names of the arrays begin with `which`,
    /// and each real in these arrays has `real_lanes` coefficients.
    fn first_cells(&self, which: &str, real_lanes: usize) -> String {
        let mut lines = String::new();
        for (class, array) in CELLS {
            let first = self.first(class);
            let lanes = if class == Class::Real { real_lanes } else { 1 };
            if first.len() <= FEW {
                for (cell, bits) in first {
                    let value = self.numbers.literal(class, bits);
                    let cell = cell * lanes;
                    lines.push_str(&format!("    memory->{which}{array}[{cell}] = {value};\n"));
                }
                continue;
            }
            let name = self.first_table(array);
            if lanes == 1 {
                lines.push_str(&format!("    memcpy(memory->{which}{array}, {name}, sizeof {name});\n"));
                continue;
            }
            lines.push_str(&format!(
                "    for (size_t i = 0; i < sizeof {name} / sizeof {name}[0]; i++) {{\n        \
                memory->{which}{array}[i * {lanes}] = {name}[i];\n    }}\n"
            ));
        }
        lines
    }

    /// Returns lines that clear the memory of a run. Cells of calls that are not inlined are cleared before their first
    /// use.
    fn zeros(&self, has_gradient: bool) -> String {
        if self.calls.is_none() && !has_gradient {
            return "    memset(memory, 0, sizeof *memory);\n".to_owned();
        }
        let [ints, reals] = self.others();
        let cells = [("ints", ints), ("reals", reals), ("adjoints", reals)].map(zeroed);
        self.zero_counters(has_gradient) + &cells.concat()
    }

    /// Returns a line that clears all fields that precede the first array of the memory.
    fn zero_counters(&self, has_gradient: bool) -> String {
        let first = if has_gradient { "start_ints" } else { "ints" };
        format!("    memset(memory, 0, offsetof(struct {}_memory, {first}));\n", self.prefix)
    }

    /// Returns lines that prepare those cells of a gradient that computed addresses reach: copies of their values at
    /// the start, and zeros for the frames of inlined calls.
    pub fn working(&self, working: &[(Class, Range<u32>)]) -> String {
        let mut lines = String::new();
        for (class, cells) in working {
            let array = if *class == Class::Int { "ints" } else { "reals" };
            let lanes = self.lanes_of(*class);
            let (fixed, all) = (lanes * self.fixed(*class), lanes * self.others()[*class as usize]);
            let (start, end) = (cells.start as usize, (cells.end as usize).min(all));
            let split = end.min(fixed).max(start);
            if start < split {
                lines.push_str(&format!(
                    "    memcpy(memory->{array} + {start}, memory->start_{array} + {start}, {} * sizeof memory->{array}[0]);\n",
                    split - start
                ));
            }
            if split < end {
                lines.push_str(&format!(
                    "    memset(memory->{array} + {split}, 0, {} * sizeof memory->{array}[0]);\n",
                    end - split
                ));
            }
        }
        lines
    }

    /// Returns the definition of a constant array with these values.
    pub fn table(&self, name: &str, class: Class, values: &[u64]) -> String {
        let texts: Vec<String> = values.iter().map(|&bits| self.numbers.literal(class, bits)).collect();
        let rows: String = texts.chunks(8).map(|row| format!("    {},\n", row.join(", "))).collect();
        format!("static const {} {name}[{}] = {{\n{rows}}};\n", self.numbers.cell(class), values.len())
    }

    /// Returns the text of a C function for the end of a run. The function returns 1 if all cells except those of free
    /// globals have their initial values, otherwise 0.
    pub fn is_clear(&self, name: &str, is_free: impl Fn(&Global) -> bool) -> String {
        let layout = self.program.flow().layout();
        let (mut tables, mut lines) = (String::new(), String::new());
        let globals = self.module().globals.iter().enumerate().zip(&layout.globals);
        for ((n, global), &start) in globals.filter(|((_, global), _)| !is_free(global)) {
            let cells = global.shape.cells() as usize;
            let values: Vec<u64> = (0..cells).map(|cell| self.initial(global, cell)).collect();
            let is_one = values.windows(2).all(|pair| pair[0] == pair[1]);
            let expected = match (is_one, values.first()) {
                (_, None) => continue,
                (true, Some(&bits)) => self.numbers.literal(global.class, bits),
                (false, Some(_)) => {
                    let table = format!("{name}_{n}");
                    tables.push_str(&self.table(&table, global.class, &values));
                    format!("{table}[i]")
                }
            };
            lines.push_str(&self.compared(global.class, start as usize, cells, &expected, &global.name));
        }
        let main = self.module().procedures.iter().take(1).flat_map(|main| &main.frame);
        for (variable, &offset) in main.zip(layout.frames.iter().take(1).flatten()) {
            let start = match variable.class {
                Class::Int => layout.main_ints,
                Class::Real => layout.main_reals,
            } + offset;
            let zero = self.numbers.literal(variable.class, 0);
            let cells = variable.shape.cells() as usize;
            lines.push_str(&self.compared(variable.class, start as usize, cells, &zero, &variable.name));
        }
        if lines.is_empty() {
            lines.push_str("    (void)memory;\n");
        }
        format!(
            "{tables}static int {name}(const struct {}_memory *memory) {{\n{lines}    return 1;\n}}\n",
            self.prefix
        )
    }

    /// Returns C code that compares cells with their expected values, and returns 0 from the C function if one of them
    /// differs.
    fn compared(&self, class: Class, start: usize, cells: usize, expected: &str, name: &str) -> String {
        let array = if class == Class::Int { "ints" } else { "reals" };
        let (place, indent) = match cells {
            1 => (format!("memory->{array}[{start}]"), ""),
            _ => (format!("memory->{array}[{start} + i]"), "    "),
        };
        let expected = if cells == 1 { expected.replace("[i]", "[0]") } else { expected.to_owned() };
        let differs = match class == Class::Real && !self.numbers.is_fixed() {
            true => {
                let tolerance = crate::numbers::double(self.numbers.0.tolerance);
                format!("!(fabs((double){place} - (double){expected}) <= {tolerance})")
            }
            false => format!("{place} != {expected}"),
        };
        let check = format!(
            "{indent}    if ({differs}) {{ /* {} */\n{indent}        return 0;\n{indent}    }}\n",
            identifier(name)
        );
        match cells {
            1 => check,
            _ => format!("    for (size_t i = 0; i < {cells}; i++) {{\n{check}    }}\n"),
        }
    }
}

/// Returns a line that clears the first `count` cells of an array.
fn zeroed((array, count): (&str, usize)) -> String {
    format!("    memset(memory->{array}, 0, {count} * sizeof memory->{array}[0]);\n")
}

/// Returns the C name of an array element.
fn element(name: &str, shape: Shape, n: u64) -> String {
    let name = identifier(name);
    match shape {
        Shape::Scalar | Shape::Stack => name,
        Shape::Vector(_) => format!("{name}_{n}"),
        Shape::Matrix(_, columns) => {
            let columns = u64::from(columns).max(1);
            format!("{name}_{}_{}", n / columns, n % columns)
        }
    }
}
