//! From instructions to ops: names become offsets, immediates are pooled, and what can't be known
//! before a step is put apart. Knows one direction at a time; knows no state.

mod alias;
mod windows;

use std::collections::HashMap;

use reviver_isa::formula;
use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::{self, Base, Class, Index, Instruction, Link, Operand};
use reviver_isa::module::{Extent, Module, Shape as Cells};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, F64, Wide};
use reviver_isa::step::Operation;
use reviver_isa::update::{Action, Direction, Shape};

use crate::distinct::Distinct;
use crate::layout::Layout;
use crate::op::{self, Argument, CallSite, Kind, Op, Place, Spot, Term};
use crate::program::{BACKWARD, FORWARD};
use crate::state::MODE;
use crate::values::literal_bits;
use crate::window::{Entry, Indexing};

use windows::Windows;

/// A module, resolved.
pub(crate) struct Resolved {
    pub layout: Layout,
    pub code: [Vec<Op>; 2],
    /// Steps that name adjoints.
    pub on_adjoints: Vec<Op>,
    pub places: Vec<Place>,
    pub calls: Vec<CallSite>,
    /// Of each procedure; empty where none of its steps needs one.
    pub windows: Vec<Vec<Entry>>,
    pub indexings: Vec<Indexing>,
}

/// Resolves a verified module.
pub(crate) fn resolve(module: &Module) -> Resolved {
    let mut resolver = Resolver::new(module);
    let zero = resolver.pool_int(0);
    let forward: Vec<Op> = (0..module.code.len()).map(|at| resolver.op(at, FORWARD)).collect();
    let backward: Vec<Op> = (0..module.code.len()).rev().map(|at| resolver.op(at, BACKWARD)).collect();
    let Resolver { layout, places, calls, .. } = resolver;
    let mut on_adjoints = Vec::new();
    let mut windows = Windows::new(&places, module.procedures.len(), zero);
    let mut code = [forward, backward];
    for (direction, code) in code.iter_mut().enumerate() {
        let last = code.len().saturating_sub(1);
        for (n, op) in code.iter_mut().enumerate() {
            let at = if direction == FORWARD { n } else { last - n };
            let procedure = module.procedures.partition_point(|p| (p.exit as usize) < at);
            with_numbers(op, procedure, &mut windows, &mut on_adjoints);
        }
    }
    let (windows, indexings) = windows.finish();
    let code = code.map(with_landings);
    Resolved { layout, code, on_adjoints, places, calls, windows, indexings }
}

/// Numbers the operands of a step that are only known in a call. A step that names an adjoint is put apart,
/// out of the loop's sight; what moves values, prints or calls resolves its operands itself.
fn with_numbers(op: &mut Op, procedure: usize, windows: &mut Windows, on_adjoints: &mut Vec<Op>) {
    let names_adjoint = windows.names_adjoint(op);
    match op.kind {
        Kind::BrInt | Kind::BrReal if names_adjoint => op.kind = Kind::BrOnAdjoints,
        Kind::FromInt | Kind::FromReal if names_adjoint => op.kind = Kind::FromOnAdjoints,
        Kind::BrInt | Kind::BrReal | Kind::FromInt | Kind::FromReal => windows.number(procedure, op, 2),
        _ if op.is_on_cells() && names_adjoint => {
            on_adjoints.push(*op);
            *op = Op { kind: Kind::OnAdjoints, a: on_adjoints.len() as u32 - 1, ..*op };
        }
        _ if op.is_on_cells() => windows.number(procedure, op, 3),
        _ => {}
    }
}

/// Lays the module out and turns instructions into ops, pooling immediates and dynamic places.
struct Resolver<'a> {
    module: &'a Module,
    layout: Layout,
    places: Vec<Place>,
    place_numbers: HashMap<(u32, instruction::Place), u32>,
    int_numbers: HashMap<i64, u32>,
    real_numbers: HashMap<u64, u32>,
    calls: Vec<CallSite>,
    call_numbers: HashMap<usize, u32>,
}

impl<'a> Resolver<'a> {
    fn new(module: &'a Module) -> Resolver<'a> {
        let layout = Layout::new(module);
        let mut resolver = Resolver {
            module,
            layout,
            places: Vec::new(),
            place_numbers: HashMap::new(),
            int_numbers: HashMap::new(),
            real_numbers: HashMap::new(),
            calls: Vec::new(),
            call_numbers: HashMap::new(),
        };
        // Unused operands name the first cell, so there is one.
        resolver.pool_int(0);
        resolver.pool_real(0.0);
        resolver
    }

    fn op(&mut self, at: usize, direction: usize) -> Op {
        let instruction = &self.module.code[at];
        let procedure = self.procedure(at);
        let update = match direction {
            FORWARD => instruction.update,
            _ => instruction.update.inverse(),
        };
        let function = instruction.function;
        let mut op = Op {
            kind: Kind::Bound,
            function,
            update,
            flags: 0,
            guards: 0,
            a: 0,
            b: 0,
            c: 0,
            indices: op::DIRECT,
        };
        let mut operands = [0u32; 3];
        for (n, operand) in instruction.operands.iter().enumerate() {
            let (address, dynamic) = self.operand(procedure, operand);
            operands[n] = address;
            op.flags |= if dynamic { op::DYNAMIC[n] } else { 0 };
        }
        [op.a, op.b, op.c] = operands;
        let class = self.target_class(procedure, instruction);
        let form = self.form(procedure, instruction, class);
        op.kind =
            kind(instruction, Operation { update, function, form, undoes: direction == BACKWARD }, class);
        match update.shape() {
            Shape::Branch => op.flags |= orderings(function) << op::ORDERINGS,
            shape => op.guards = distinctions(shape, class, form, function.arity(), op.flags),
        }
        match &instruction.link {
            Link::None => {}
            Link::Partner(partner) => op.c = self.landing(*partner, direction),
            Link::Calls(_) => op.a = self.call_site(at, procedure, instruction),
        }
        op
    }

    fn procedure(&self, at: usize) -> usize {
        self.module.procedures.partition_point(|p| (p.exit as usize) < at)
    }

    /// Behind the partner, in the code of the direction.
    fn landing(&self, partner: u32, direction: usize) -> u32 {
        let at_the_partner = match direction {
            FORWARD => partner,
            _ => self.module.code.len() as u32 - 1 - partner,
        };
        at_the_partner + u32::from(keeps(Rule::LandingsLieBehindThePartner))
    }

    /// The class of the first operand; sources decide for conditions.
    fn target_class(&self, procedure: usize, instruction: &Instruction) -> Class {
        instruction.operands.first().map_or(Class::Int, |operand| self.class(procedure, operand))
    }

    fn class(&self, procedure: usize, operand: &Operand) -> Class {
        match operand {
            Operand::Int(_) | Operand::Mode => Class::Int,
            Operand::Real(_) => Class::Real,
            Operand::Place(place) => self.declaration(procedure, place.base).0,
        }
    }

    fn declaration(&self, procedure: usize, base: Base) -> (Class, Extent) {
        let declaration = self.module.declaration(&self.module.procedures[procedure], base);
        declaration.map_or((Class::Int, Extent::Cells(Cells::Scalar)), |d| (d.class, d.extent))
    }

    /// The form in which a verified instruction applies its function; of one without a function, the form of
    /// its operands, which are all of one class.
    fn form(&self, procedure: usize, instruction: &Instruction, class: Class) -> Form {
        let update = instruction.update;
        let plain = if class == Class::Int { Form::Int } else { Form::Real };
        if !update.takes_function() {
            return plain;
        }
        let targets = update.shape().targets();
        let result = if targets == 0 { Class::Int } else { class };
        let sources: Vec<Class> =
            instruction.operands.iter().skip(targets).map(|operand| self.class(procedure, operand)).collect();
        formula::form(instruction.function, result, &sources).unwrap_or(plain)
    }

    /// The address of an operand, or the number of its place and true.
    fn operand(&mut self, procedure: usize, operand: &Operand) -> (u32, bool) {
        match operand {
            Operand::Int(value) => (self.pool_int(*value), false),
            Operand::Mode => (MODE as u32, false),
            Operand::Real(value) => (self.pool_real(*value), false),
            Operand::Place(place) => match self.place(procedure, place) {
                primal if place.adjoint => (self.adjoint(procedure, place, primal), true),
                Place::Scalar(Spot::Absolute(address)) => (address, false),
                resolved => (self.place_number(procedure, place, resolved), true),
            },
        }
    }

    /// The number of an adjoint's place, which names that of its cell.
    fn adjoint(&mut self, procedure: usize, place: &instruction::Place, primal: Place) -> u32 {
        let own = instruction::Place { adjoint: false, ..place.clone() };
        let number = self.place_number(procedure, &own, primal);
        self.place_number(procedure, place, Place::AdjointOf(number))
    }

    fn place_number(&mut self, procedure: usize, place: &instruction::Place, resolved: Place) -> u32 {
        let places = &mut self.places;
        *self.place_numbers.entry((procedure as u32, place.clone())).or_insert_with(|| {
            places.push(resolved);
            places.len() as u32 - 1
        })
    }

    fn place(&self, procedure: usize, place: &instruction::Place) -> Place {
        let base = self.spot(procedure, place.base);
        let (_, extent) = self.declaration(procedure, place.base);
        let resolved = match (place.index.as_deref(), extent) {
            (Some(Index::One(term)), Extent::Cells(cells)) => {
                Place::Vector { base, length: cells.cells() as u32, term: self.term(procedure, term) }
            }
            (Some(Index::One(term)), Extent::Slice) => {
                Place::Vector { base, length: 0, term: self.term(procedure, term) }
            }
            (Some(Index::Two(row, column)), Extent::Cells(Cells::Matrix(rows, columns))) => Place::Matrix {
                base,
                rows,
                columns,
                row: self.term(procedure, row),
                column: self.term(procedure, column),
            },
            _ => Place::Scalar(base),
        };
        constant(resolved)
    }

    fn spot(&self, procedure: usize, base: Base) -> Spot {
        match base {
            Base::Global(n) => Spot::Absolute(self.layout.globals[n as usize]),
            Base::Frame(n) if procedure == 0 => {
                let start = match self.module.procedures[0].frame[n as usize].class {
                    Class::Int => self.layout.main_ints,
                    Class::Real => self.layout.main_reals,
                };
                Spot::Absolute(start + self.layout.frames[0][n as usize])
            }
            Base::Frame(n) => {
                let class = self.module.procedures[procedure].frame[n as usize].class;
                Spot::Frame(class, self.layout.frames[procedure][n as usize])
            }
            Base::Parameter(n) => Spot::Parameter(n),
        }
    }

    fn term(&self, procedure: usize, term: &instruction::Term) -> Term {
        Term { cell: term.cell.map(|base| self.spot(procedure, base)), offset: term.offset }
    }

    fn pool_int(&mut self, value: i64) -> u32 {
        let pool = &mut self.layout.pool_ints;
        let number = *self.int_numbers.entry(value).or_insert_with(|| {
            pool.push(value);
            pool.len() as u32 - 1
        });
        self.layout.pool_ints_start + number
    }

    fn pool_real(&mut self, value: f64) -> u32 {
        let bits = literal_bits(self.module, value);
        let pool = &mut self.layout.pool_reals;
        let number = *self.real_numbers.entry(bits).or_insert_with(|| {
            pool.push(bits);
            pool.len() as u32 - 1
        });
        self.layout.pool_reals_start + number
    }

    fn call_site(&mut self, at: usize, procedure: usize, instruction: &Instruction) -> u32 {
        if let Some(&number) = self.call_numbers.get(&at) {
            return number;
        }
        let Link::Calls(calls) = &instruction.link else { return 0 };
        let Some(call) = calls.first() else { return 0 };
        let arguments = call.arguments.iter().map(|argument| self.argument(procedure, argument)).collect();
        let callee = &self.module.procedures[call.procedure as usize];
        self.calls.push(CallSite {
            procedure: call.procedure,
            rule: callee.rule,
            arguments,
            distinct: Distinct::of(callee),
        });
        let number = self.calls.len() as u32 - 1;
        self.call_numbers.insert(at, number);
        number
    }

    fn argument(&mut self, procedure: usize, argument: &instruction::Argument) -> Argument {
        let slice = match argument {
            instruction::Argument::Scalar(Operand::Place(place)) => {
                return Argument::Cell(self.place(procedure, place));
            }
            instruction::Argument::Scalar(operand) => {
                return Argument::Cell(Place::Scalar(Spot::Absolute(self.operand(procedure, operand).0)));
            }
            instruction::Argument::Slice(slice) => slice,
        };
        let base = self.spot(procedure, slice.base);
        let (_, extent) = self.declaration(procedure, slice.base);
        let length = match extent {
            Extent::Cells(cells) => cells.cells() as u32,
            Extent::Slice => 0,
        };
        let (rows, columns) = match extent {
            Extent::Cells(Cells::Matrix(rows, columns)) => (rows, columns),
            _ => (1, length),
        };
        match &slice.range {
            instruction::Range::Whole => Argument::Whole { base, length },
            instruction::Range::Span { from, to, step } => Argument::Span {
                base,
                length,
                from: self.term(procedure, from),
                to: self.term(procedure, to),
                step: *step,
            },
            instruction::Range::Row(row) => {
                Argument::Row { base, rows, columns, row: self.term(procedure, row) }
            }
            instruction::Range::Column(column) => {
                Argument::Column { base, rows, columns, column: self.term(procedure, column) }
            }
        }
    }
}

/// The kind of an instruction in the direction of its update, whose first operand is of a class.
fn kind(instruction: &Instruction, operation: Operation, class: Class) -> Kind {
    let of_class = |int, real| if class == Class::Int { int } else { real };
    match operation.update.action() {
        Action::Replace | Action::Erase => Kind::of(operation),
        Action::Accumulate
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test => Kind::of(Operation { undoes: false, ..operation }),
        Action::Jump if operation.function == Function::Always => Kind::Jump,
        Action::Jump => of_class(Kind::BrInt, Kind::BrReal),
        Action::Join => of_class(Kind::FromInt, Kind::FromReal),
        // Calling is the same in both directions: the callee is entered from the near side.
        Action::Call(_) => match instruction.update.action() {
            Action::Call(Direction::Forward) => Kind::Call,
            _ => Kind::Uncall,
        },
        Action::Begin => Kind::Bound,
        Action::End => Kind::Leave,
        Action::Put(_) | Action::Take(_) => of_class(Kind::MoveInt, Kind::MoveReal),
        Action::Show => of_class(Kind::ShowInt, Kind::ShowReal),
        Action::Switch(true) => Kind::GradOn,
        Action::Switch(false) => Kind::GradOff,
        Action::CallVia(_) | Action::Parallel(_) => Kind::Bound, // refused by `verify`
    }
}

/// Notes on each jumping half how its partner's condition is tested.
fn with_landings(mut code: Vec<Op>) -> Vec<Op> {
    for at in 0..code.len() {
        let op = code[at];
        if matches!(op.kind, Kind::Jump | Kind::BrInt | Kind::BrReal | Kind::BrOnAdjoints) {
            let join = code[op.c as usize - 1];
            code[at].flags |= match join {
                Op { function: Function::Always, .. } => op::LANDS_ALWAYS,
                Op { kind: Kind::FromInt, .. } => op::LANDS_ON_INTS,
                Op { kind: Kind::FromReal, .. } => op::LANDS_ON_REALS,
                _ => 0,
            };
        }
    }
    code
}

/// The orderings of two sources under which a comparison holds, found by asking its row: bit 0 below, bit 1
/// equal, bit 2 above.
fn orderings(function: Function) -> u8 {
    let words = Arithmetic { words: Wide, reals: F64 };
    let holds = |a, b, bit: u8| u8::from(function.int(&words, a, b) == Ok(1)) << bit;
    holds(0, 1, 0) | holds(0, 0, 1) | holds(1, 0, 2)
}

/// Which operands must be told apart at each step, because some address is not known before.
fn distinctions(shape: Shape, class: Class, form: Form, arity: usize, dynamic: u8) -> u8 {
    if dynamic & op::ANY_DYNAMIC == 0 {
        return 0; // `verify` has compared the addresses
    }
    let when = |applies: bool, flag: u8| if applies { flag } else { 0 };
    let index = when(class == Class::Int, op::NO_INDEX_A);
    let like_target = |n: usize| arity > n && form.source(n) == class;
    match shape {
        Shape::Accumulate => {
            index | when(like_target(0), op::DISTINCT_AB) | when(like_target(1), op::DISTINCT_AC)
        }
        Shape::Single => index,
        Shape::Exchange => index | when(class == Class::Int, op::NO_INDEX_B),
        Shape::Rotate => op::DISTINCT_AB | op::DISTINCT_AC | op::DISTINCT_BC,
        _ => 0,
    }
}

/// A place whose indices are all constants is a scalar.
fn constant(place: Place) -> Place {
    let at = |base: Spot, offset: i64| match base {
        Spot::Absolute(base) => Some(Place::Scalar(Spot::Absolute(base + offset as u32))),
        Spot::Frame(class, base) => Some(Place::Scalar(Spot::Frame(class, base + offset as u32))),
        Spot::Parameter(_) => None,
    };
    let folded = match place {
        Place::Vector { base, term: Term { cell: None, offset }, .. } => at(base, offset),
        Place::Matrix {
            base,
            columns,
            row: Term { cell: None, offset: row },
            column: Term { cell: None, offset: column },
            ..
        } => at(base, row * i64::from(columns) + column),
        _ => None,
    };
    folded.unwrap_or(place)
}
