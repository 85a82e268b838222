//! Emits an SSA function as the body of a C function. This module is independent of programs: its functions receive the
//! names of cells and the texts of statements as arguments.

pub(crate) mod operations;

use std::collections::{HashMap, HashSet};

use reviver_compile::call::SweepCalls;
use reviver_compile::call::region::{Region, regions};
use reviver_compile::emit_plan::{EmitPlan, followed};
use reviver_compile::function::{Definition, Jump, SsaEnd, SsaFunction, StepOrigin};
use reviver_compile::op::{Input, OpKind, Space, SsaOp, SsaValue};
use reviver_isa::instruction::Class;
use reviver_isa::structure::TextPlace;

use crate::calls::CallMemory;
use crate::error::NoText;
use crate::identifiers::{of_value, words};
use crate::numbers::{CELL_INT, CNumbers, integer};
use crate::statements::Statements;

/// Data that all C functions of a program share: the prefix, the names of its cells, and the memory for its calls.
#[derive(Clone, Debug)]
pub(crate) struct CellNames {
    /// The prefix of all names of the program.
    pub prefix: String,
    calls: Option<CallMemory>,
    ints: HashMap<i64, String>,
    reals: HashMap<i64, String>,
}

impl CellNames {
    /// Collects the names of cells; each item of `cells` has a class, an address and a name.
    pub fn new(
        prefix: &str,
        calls: Option<CallMemory>,
        cells: impl Iterator<Item = (Class, i64, String)>,
    ) -> CellNames {
        let (ints, reals) = (HashMap::new(), HashMap::new());
        let mut names = CellNames { prefix: prefix.to_owned(), calls, ints, reals };
        for (class, address, name) in cells {
            match class {
                Class::Int => names.ints.insert(address, name),
                Class::Real => names.reals.insert(address, name),
            };
        }
        names
    }

    /// Returns the name of a cell; `None` if it has only an address.
    fn cell(&self, space: Space, address: i64) -> Option<String> {
        match space {
            Space::Ints | Space::StartInts => self.ints.get(&address).cloned(),
            Space::Reals | Space::StartReals => self.reals.get(&address).cloned(),
            Space::Adjoints => self.reals.get(&address).map(|name| format!("{name}_adjoint")),
            Space::References | Space::Results => None,
        }
    }
}

/// Returns the name of the memory array that holds the cells of a space.
fn array(space: Space) -> &'static str {
    match space {
        Space::Ints => "ints",
        Space::Reals => "reals",
        Space::Adjoints => "adjoints",
        Space::References => "calls",
        Space::StartInts => "start_ints",
        Space::StartReals => "start_reals",
        Space::Results => "results",
    }
}

/// Reasons for which a check fails. Each becomes a status of the C function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckStatus {
    Check,
    NotVacant,
    NotFinite,
    Index,
    SameCell,
    DivisionByZero,
    NegativeExponent,
    OutOfRange,
    ReverseSweep,
    LostAdjoint,
    Depth,
    NoMemory,
}

impl CheckStatus {
    pub fn name(self) -> &'static str {
        match self {
            CheckStatus::Check => "CHECK",
            CheckStatus::NotVacant => "NOT_VACANT",
            CheckStatus::NotFinite => "NOT_FINITE",
            CheckStatus::Index => "INDEX",
            CheckStatus::SameCell => "SAME_CELL",
            CheckStatus::DivisionByZero => "DIVISION_BY_ZERO",
            CheckStatus::NegativeExponent => "NEGATIVE_EXPONENT",
            CheckStatus::OutOfRange => "OUT_OF_RANGE",
            CheckStatus::ReverseSweep => "WAY_BACK",
            CheckStatus::LostAdjoint => "LOST_ADJOINT",
            CheckStatus::Depth => "DEPTH",
            CheckStatus::NoMemory => "NO_ROOM",
        }
    }
}

/// Emits the C function of an SSA function. The C function takes the memory and returns a status. `sweeps` has the
/// out-of-line calls of each sweep: one sweep of a run, or two of a gradient.
pub(crate) fn function_text(
    (ssa, sweeps): (&SsaFunction, &[SweepCalls]),
    cells: &CellNames,
    statements: Statements,
    name: &str,
) -> Result<String, NoText> {
    // A function that begins in main has no inputs except the end of the call records.
    if ssa.inputs().any(|(_, input)| input != Input::RecordsEnd) {
        return Err(NoText::Call);
    }
    let plan = EmitPlan::of(ssa);
    let mut writer = BodyWriter {
        names: vec![String::new(); ssa.definitions.len()],
        inlined: HashMap::new(),
        numbers: CNumbers(ssa.numbers),
        labels: labels(ssa, &plan),
        prefix: cells.prefix.to_uppercase(),
        lines: Vec::new(),
        depth: 1,
        counts: HashSet::new(),
        of_adjoints: of_adjoints(ssa, &plan),
        regions: regions(ssa),
        region: Region::Forward,
        sweeps,
        function: name,
        statements,
        line: None,
        ssa,
        plan: &plan,
        cells,
    };
    writer.name_values();
    for (n, &block) in plan.order.iter().enumerate() {
        writer.block(block, plan.order.get(n + 1).copied());
    }
    Ok(writer.finished())
}

/// Returns the values that depend on adjoints. If the program names no adjoints, only other adjoints depend on these
/// values.
fn of_adjoints(ssa: &SsaFunction, plan: &EmitPlan) -> HashSet<SsaValue> {
    let mut found = HashSet::new();
    let mut before = None;
    while before.replace(found.len()) != Some(found.len()) {
        for &block in &plan.order {
            let block = &ssa.blocks[block as usize];
            for &value in &block.ops {
                let Some(op) = ssa.op(value) else { continue };
                let is_one = op.kind == OpKind::Load(Space::Adjoints)
                    || op.operands.iter().any(|&operand| found.contains(&plan.resolved(operand)));
                if is_one {
                    found.insert(value);
                }
            }
            for (to, from) in followed(&block.end).into_iter().flat_map(|jump| plan.passed(ssa, jump)) {
                if found.contains(&from) {
                    found.insert(to);
                }
            }
        }
    }
    found
}

/// Returns the blocks that need a C label, because a `goto` jumps to them.
fn labels(ssa: &SsaFunction, plan: &EmitPlan) -> HashSet<u32> {
    let mut labels = HashSet::new();
    for (n, &block) in plan.order.iter().enumerate() {
        let next = plan.order.get(n + 1);
        match &ssa.blocks[block as usize].end {
            SsaEnd::Branch { yes, no, .. } => {
                labels.insert(yes.to);
                labels.extend(Some(no.to).filter(|to| next != Some(to)));
            }
            end => labels.extend(followed(end).iter().map(|jump| jump.to).filter(|to| next != Some(to))),
        }
    }
    labels
}

struct BodyWriter<'a> {
    /// The name of the C function that is being emitted.
    function: &'a str,
    statements: Statements<'a>,
    /// The source line of the last comment in this block.
    line: Option<TextPlace>,
    ssa: &'a SsaFunction,
    plan: &'a EmitPlan,
    cells: &'a CellNames,
    numbers: CNumbers,
    prefix: String,
    labels: HashSet<u32>,
    /// The C name of each value, by number.
    names: Vec<String>,
    /// The expressions of values without a C variable. The expression is inserted at the value's only use.
    inlined: HashMap<SsaValue, String>,
    lines: Vec<String>,
    depth: usize,
    /// The names of the counters that the function uses; see [`COUNTERS`].
    counts: HashSet<&'static str>,
    /// The values that depend on adjoints.
    of_adjoints: HashSet<SsaValue>,
    /// The region at the start of each block. The field `region` has the region of the current operation.
    regions: HashMap<u32, Region>,
    region: Region,
    /// The out-of-line calls of each sweep.
    sweeps: &'a [SweepCalls],
}

/// Maximum length, in bytes, of an expression that is inserted in another one.
const LONGEST_INLINED: usize = 60;

impl BodyWriter<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth), text.as_ref()));
    }

    /// Names each loaded value after its cell. Names a parameter after a cell in which the parameter is stored, or else
    /// after the values that jumps pass for the parameter.
    fn name_values(&mut self) {
        let mut stems: Vec<Option<String>> = (0..self.ssa.definitions.len() as u32)
            .map(|n| match self.ssa.definition(SsaValue(n)) {
                Some(Definition::Op(SsaOp { kind: OpKind::Load(space), operands, .. })) => {
                    self.cells.cell(*space, self.address(operands[0])?)
                }
                _ => None,
            })
            .collect();
        let stored = self.stored();
        for (value, stem) in stored {
            stems[value.0 as usize].get_or_insert(stem);
        }
        let mut has_changed = true;
        while std::mem::replace(&mut has_changed, false) {
            for &block in &self.plan.order {
                for jump in followed(&self.ssa.blocks[block as usize].end) {
                    for (parameter, argument) in self.plan.passed(self.ssa, jump) {
                        let stem = stems[argument.0 as usize].clone();
                        if let (Some(stem), None) = (stem, &stems[parameter.0 as usize]) {
                            stems[parameter.0 as usize] = Some(stem);
                            has_changed = true;
                        }
                    }
                }
            }
        }
        for (n, (name, stem)) in self.names.iter_mut().zip(stems).enumerate() {
            *name = of_value(stem.as_deref().unwrap_or("v"), n);
        }
    }

    /// Returns the parameters that are stored in named cells, each with the cell's name.
    fn stored(&self) -> Vec<(SsaValue, String)> {
        let blocks = self.plan.order.iter().map(|&block| &self.ssa.blocks[block as usize]);
        let ops = blocks.flat_map(|block| &block.ops).filter_map(|&value| self.ssa.op(value));
        let stores = ops.filter_map(|op| match op.kind {
            OpKind::Store(space) => {
                let value = self.plan.resolved(op.operands[1]);
                let name = self.cells.cell(space, self.address(op.operands[0])?)?;
                matches!(self.ssa.definition(value), Some(Definition::Parameter(_))).then_some((value, name))
            }
            _ => None,
        });
        stores.collect()
    }

    /// Returns true if a check tests that an adjoint is 0. The step of the check would lose any other adjoint.
    fn asks_adjoint(&self, check: &SsaOp) -> bool {
        let asked = check.operands.first().map(|&asked| self.plan.resolved(asked));
        asked.is_some_and(|asked| self.of_adjoints.contains(&asked))
    }

    /// Returns the value of an integer literal, which may be an address; `None` for other values.
    fn address(&self, value: SsaValue) -> Option<i64> {
        match self.ssa.op(self.plan.resolved(value))?.kind {
            OpKind::Int(address) => Some(address),
            _ => None,
        }
    }

    /// Returns the expression that denotes a value at its use.
    fn value(&self, value: SsaValue) -> String {
        let value = self.plan.resolved(value);
        match self.ssa.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => integer(literal),
            Some(OpKind::Real(bits)) => self.numbers.real_literal(bits),
            _ => match self.inlined.get(&value) {
                Some(text) => text.clone(),
                None => self.names.get(value.0 as usize).cloned().unwrap_or_default(),
            },
        }
    }

    fn operands<const N: usize>(&self, op: &SsaOp) -> [String; N] {
        std::array::from_fn(|n| op.operands.get(n).map(|&value| self.value(value)).unwrap_or_default())
    }

    fn type_of(&self, value: SsaValue) -> &'static str {
        self.ssa.class(value).map_or("int64_t", |class| self.numbers.cell(class))
    }

    fn block(&mut self, number: u32, next: Option<u32>) {
        let ssa = self.ssa;
        let block = &ssa.blocks[number as usize];
        if self.labels.contains(&number) {
            self.lines.push(format!("B{number}:;"));
        }
        let before = self.lines.len();
        (self.depth, self.line) = (2, None);
        self.region = self.regions.get(&number).copied().unwrap_or(Region::Forward);
        for &value in &block.ops {
            if let Some(op) = ssa.op(value) {
                let first = self.lines.len();
                self.op(value, op);
                self.comment(value, first);
            }
        }
        if block.steps > 0 {
            self.clock(&block.steps.to_string());
        }
        self.end(&block.end, next);
        self.depth = 1;
        // If lines declare variables, the block gets its own C scope.
        let declares = |line: &String| {
            ["        const ", "        int64_t "].iter().any(|start| line.starts_with(start))
        };
        if self.lines[before..].iter().any(declares) {
            self.lines.insert(before, "    {".to_owned());
            self.lines.push("    }".to_owned());
        } else {
            for line in &mut self.lines[before..] {
                line.drain(..4.min(line.len()));
            }
        }
    }

    /// Inserts a comment with the statement of `value` before line `first`. Inserts no comment if the value's operation
    /// has added no line from `first` on, or if the last comment has the same source line.
    fn comment(&mut self, value: SsaValue, first: usize) {
        let Some(StepOrigin { at, .. }) = self.ssa.origin(value).filter(|_| first < self.lines.len()) else {
            return;
        };
        let line = self.statements.line(at);
        if line.is_some() && line != self.line {
            self.line = line;
            self.lines.insert(first, format!("{}{}", "    ".repeat(self.depth), self.statements.comment(at)));
        }
    }

    /// Emits the addition of steps to the step counter. In a backward or reverse sweep, emits their subtraction
    /// instead.
    fn clock(&mut self, steps: &str) {
        let sign = if self.region == Region::Forward { "+" } else { "-" };
        self.line(format!("clock {sign}= {steps};"));
        self.counts.insert("clock");
    }

    fn end(&mut self, end: &SsaEnd, next: Option<u32>) {
        match end {
            SsaEnd::Jump(jump) => self.jump(jump, next),
            SsaEnd::Branch { condition, yes, no } => {
                let (first, asked) = (self.lines.len(), *condition);
                let condition = self.value(asked);
                self.line(format!("if ({}) {{", unwrapped(&condition)));
                self.comment(self.plan.resolved(asked), first);
                self.depth += 1;
                self.jump(yes, None);
                self.depth -= 1;
                self.line("}");
                self.jump(no, next);
            }
            SsaEnd::Safepoint { next: to, skipped, .. } => {
                if let Some(skipped) = skipped {
                    let skipped = self.value(*skipped);
                    self.clock(&skipped);
                }
                // If the reverse sweep has more steps than the forward sweep, the sweeps have diverged, and the
                // reverse sweep might never end.
                if self.region == Region::Reverse {
                    self.counts.insert("clock");
                    self.fail("clock < 0", None, CheckStatus::ReverseSweep);
                }
                self.jump(to, next);
            }
            SsaEnd::Exit { exit } => match self.ssa.exits.get(*exit as usize) {
                Some(exit) if exit.is_full => {
                    let depth = exit.calls.len() + 1;
                    let status = format!("{}_refused{}(calls, {depth})", self.function, self.region.sweep());
                    let status = self.in_reverse_sweep(status);
                    self.line(format!("return {status};"));
                }
                _ => self.line("goto done;"),
            },
        }
    }

    /// Emits the assignment of a jump's arguments to the target's parameters, and then the jump. Each parameter is
    /// assigned after all arguments that refer to it are read.
    fn jump(&mut self, jump: &Jump, next: Option<u32>) {
        let mut open: Vec<(String, String, &'static str)> = self
            .plan
            .passed(self.ssa, jump)
            .into_iter()
            .filter(|(parameter, argument)| parameter != argument)
            .map(|(parameter, argument)| {
                (self.value(parameter), self.value(argument), self.type_of(parameter))
            })
            .collect();
        let mut spare = 0;
        let is_braced = self.has_circle(&open);
        if is_braced {
            self.line("{");
            self.depth += 1;
        }
        while !open.is_empty() {
            let is_free = |(to, ..): &(String, String, &str)| open.iter().all(|(_, from, _)| from != to);
            match open.iter().position(is_free) {
                Some(free) => {
                    let (to, from, _) = open.remove(free);
                    self.line(format!("{to} = {from};"));
                }
                None => {
                    let (to, _, of) = open[0].clone();
                    let name = format!("spare{spare}");
                    spare += 1;
                    self.line(format!("const {of} {name} = {to};"));
                    open.iter_mut()
                        .filter(|(_, from, _)| *from == to)
                        .for_each(|(_, from, _)| from.clone_from(&name));
                }
            }
        }
        if is_braced {
            self.depth -= 1;
            self.line("}");
        }
        if next != Some(jump.to) {
            self.line(format!("goto B{};", jump.to));
        }
    }

    /// Returns true if assignments form a cycle, so that they need a temporary variable.
    fn has_circle(&self, moves: &[(String, String, &'static str)]) -> bool {
        let mut open: Vec<_> = moves.iter().collect();
        loop {
            let is_free = |(to, ..): &(String, String, &str)| open.iter().all(|(_, from, _)| from != to);
            match open.iter().position(|entry| is_free(entry)) {
                Some(free) => drop(open.remove(free)),
                None => return !open.is_empty(),
            }
        }
    }

    /// Emits a check: if `fails` is true and the guard isn't 0, the C function returns `status`.
    fn fail(&mut self, fails: &str, guard: Option<SsaValue>, status: CheckStatus) {
        let guard = guard.map(|guard| self.value(guard));
        let name = format!("{}_{}", self.prefix, status.name());
        let status = if status == CheckStatus::ReverseSweep { name } else { self.in_reverse_sweep(name) };
        self.line(match guard {
            Some(guard) => format!("if (({}) != 0 && ({fails})) {{", unwrapped(&guard)),
            None => format!("if ({fails}) {{"),
        });
        self.line(format!("    return {status};"));
        self.line("}");
    }

    /// Returns the expression of a status in the current region. In a reverse sweep, this is the status plus a
    /// constant.
    fn in_reverse_sweep(&self, status: String) -> String {
        match self.region {
            Region::Reverse => format!("{status} + {}_ON_WAY_BACK", self.prefix),
            Region::Forward | Region::Backward | Region::Verification => status,
        }
    }

    /// Returns the end of the memory for the call records of a sweep; `None` if the sweep makes no out-of-line calls.
    fn room(&self, sweep: usize) -> Option<String> {
        let asks = |value: SsaValue| {
            let op = self.ssa.op(value).filter(|_| self.plan.uses(value) > 0);
            op.is_some_and(|op| op.operands.iter().any(|&operand| self.is_end_of_records(operand)))
        };
        let is_of_sweep = |&(value, region): &(SsaValue, Region)| region.sweep() == sweep && asks(value);
        let calls = self.cells.calls?;
        let record = self.sweeps.get(sweep)?.record;
        self.placed().find(is_of_sweep).map(|_| calls.room(record, &self.prefix))
    }

    /// Iterates over the operations of all emitted blocks, each with its region.
    fn placed(&self) -> impl Iterator<Item = (SsaValue, Region)> + '_ {
        self.plan.order.iter().flat_map(move |number| {
            let mut region = self.regions.get(number).copied().unwrap_or(Region::Forward);
            let ops = self.ssa.blocks.get(*number as usize).map_or(&[][..], |block| &block.ops);
            ops.iter().map(move |&value| {
                region = self.ssa.op(value).map_or(region, |op| region.after(op.kind));
                (value, region)
            })
        })
    }

    /// Emits the switch to the reverse sweep's call records at the turning point: assigns the end of their memory to
    /// the variable `room`.
    fn reserve_records(&mut self) {
        if let Some(room) = self.room(Region::Reverse.sweep()) {
            self.line(format!("room = {room};"));
        }
    }

    fn is_end_of_records(&self, value: SsaValue) -> bool {
        let op = self.ssa.op(self.plan.resolved(value));
        op.is_some_and(|op| op.kind == OpKind::Input(Input::RecordsEnd))
    }

    /// Returns the number of words of a call record in the current region.
    fn record(&self) -> u32 {
        self.sweeps.get(self.region.sweep()).map_or(0, |sweep| sweep.record)
    }

    /// Emits the definition of a value. If the value's expression may be inlined at the value's only use, records the
    /// expression instead.
    fn made(&mut self, value: SsaValue, text: String, may_be_inlined: bool) {
        let is_once = self.plan.uses(value) == 1 && !self.plan.is_shared(value);
        if may_be_inlined && is_once && text.len() <= LONGEST_INLINED {
            self.inlined.insert(value, text);
            return;
        }
        let name = self.value(value);
        if self.plan.is_shared(value) {
            self.line(format!("{name} = {};", unwrapped(&text)));
        } else {
            let of = self.type_of(value);
            self.line(format!("const {of} {name} = {};", unwrapped(&text)));
        }
    }

    fn op(&mut self, value: SsaValue, op: &SsaOp) {
        if self.plan.has_effect(op, self.ssa) || self.plan.uses(value) > 0 {
            operations::write(self, value, op);
        }
    }

    /// Returns the text of the whole function.
    fn finished(self) -> String {
        let (body, name) = (self.lines.join("\n"), self.function);
        let named: HashSet<&str> = words(&body).collect();
        let mut text = String::new();
        for (number, sweep) in self.sweeps.iter().enumerate() {
            let refused = format!("{name}_refused{number}");
            let calls = self.cells.calls.filter(|_| named.contains(refused.as_str()));
            text.push_str(
                &calls.map(|calls| calls.refusal(sweep, &refused, &self.prefix)).unwrap_or_default(),
            );
        }
        text.push_str(&format!("static int {name}(struct {}_memory *m) {{\n", self.cells.prefix));
        text.push_str(&self.arrays(&body));
        if let Some(room) = (0..self.sweeps.len()).find_map(|sweep| self.room(sweep)) {
            text.push_str(&format!("    {CELL_INT} room = {room};\n"));
        }
        text.push_str(&self.variables());
        let counters: Vec<_> = COUNTERS.iter().filter(|(name, ..)| self.counts.contains(name)).collect();
        for (name, of, home) in &counters {
            text.push_str(&format!("    {of} {name} = {home};\n"));
        }
        text.push_str(&body);
        text.push_str(if body.contains("goto done;") { "\ndone:\n" } else { "\n" });
        for (name, _, home) in &counters {
            text.push_str(&format!("    {home} = {name};\n"));
        }
        if !text.contains("m->") {
            text.push_str("    (void)m;\n");
        }
        text + &format!("    return {}_DONE;\n}}\n", self.prefix)
    }

    /// Returns declarations of pointers to the memory arrays that the body uses.
    fn arrays(&self, body: &str) -> String {
        let words: HashSet<&str> = words(body).collect();
        let changed = [Space::Ints, Space::Reals, Space::Adjoints, Space::References, Space::Results];
        let given = [Space::StartInts, Space::StartReals];
        let spaces = changed.map(|space| (space, "")).into_iter().chain(given.map(|space| (space, "const ")));
        let lines = spaces.filter(|&(space, _)| words.contains(array(space))).map(|(space, kind)| {
            let (of, array) = (self.numbers.cell(space.class()), array(space));
            format!("    {kind}{of} *restrict const {array} = m->{array};\n")
        });
        lines.collect()
    }

    /// Returns declarations of the variables that more than one block uses.
    fn variables(&self) -> String {
        let values = (0..self.names.len() as u32).map(SsaValue);
        let named: Vec<SsaValue> = values.filter(|&value| self.is_variable(value)).collect();
        let mut text = String::new();
        for of in ["int64_t", "double", "float"] {
            let of_type = named.iter().filter(|value| self.type_of(**value) == of);
            let names: Vec<&str> = of_type.map(|value| self.names[value.0 as usize].as_str()).collect();
            for names in names.chunks(8) {
                text.push_str(&format!("    {of} {};\n", names.join(", ")));
            }
        }
        text
    }

    fn is_variable(&self, value: SsaValue) -> bool {
        match self.ssa.definition(value) {
            Some(Definition::Parameter(_)) => self.plan.is_emitted(value),
            Some(Definition::Op(op)) => {
                let is_literal = matches!(op.kind, OpKind::Int(_) | OpKind::Real(_) | OpKind::Input(_));
                let is_used = self.plan.uses(value) > 0 && self.plan.resolved(value) == value;
                !is_literal && is_used && self.plan.is_shared(value)
            }
            None => false,
        }
    }
}

/// The counters of a run: the name of the local variable, its C type, and the field of the memory that has the
/// counter's value between runs.
const COUNTERS: [(&str, &str, &str); 7] = [
    ("clock", "int64_t", "m->steps"),
    ("path", "uint64_t", "m->path"),
    ("erased", "uint64_t", "m->erased_bits"),
    ("discarded", "uint64_t", "m->discarded_bits"),
    ("drops", "uint64_t", "m->drops"),
    ("changed", "int64_t", "m->changed"),
    ("largest", "double", "m->largest"),
];

/// Removes the parentheses around a whole expression, unless the expression contains a comma operator.
fn unwrapped(text: &str) -> &str {
    if text.contains(", ") && text.starts_with("((") {
        return text;
    }
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0_i32;
    for sign in inner.chars() {
        depth += match sign {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner
}
