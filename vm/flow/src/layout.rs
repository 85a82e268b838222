//! The static memory layout: the addresses of all cells that exist for the whole run. The layout depends only on
//! declarations, and on the immediates of instructions.

use std::collections::HashMap;
use std::ops::Range;

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Module, Procedure, Shape};

use crate::slot::Anchor;

/// The integer cell that holds the gradient mode bit: 1 while the mode is on, else 0.
pub const MODE: usize = 0;

/// Addresses of the globals, of main's frame and of the constants, and the offsets of variables in each other frame.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The first cell of each global, among the cells of its class.
    pub globals: Vec<u32>,
    /// The first cell of each frame variable of each procedure, relative to the frame.
    pub frames: Vec<Vec<u32>>,
    /// The number of integer cells in each procedure's frame.
    pub frame_ints: Vec<u32>,
    /// The number of real cells in each procedure's frame.
    pub frame_reals: Vec<u32>,
    /// The first integer cell of main's frame.
    pub main_ints: u32,
    /// The first real cell of main's frame.
    pub main_reals: u32,
    /// The first cell of the integer immediates, which follow main's frame.
    pub pool_ints_start: u32,
    /// The first cell of the real immediates, which follow main's frame.
    pub pool_reals_start: u32,
    /// The distinct integer immediates, in the order of their cells.
    pub pool_ints: Vec<i64>,
    /// The distinct real immediates in the order of their cells, as bits of the number system.
    pub pool_reals: Vec<u64>,
}

impl Layout {
    /// Assigns addresses to the declarations of a module. The pool of immediates is still empty.
    pub(crate) fn of(module: &Module) -> Layout {
        let (mut ints, mut reals) = (MODE as u32 + 1, 0);
        let place = |class, cells| advance(class, cells, &mut ints, &mut reals);
        let globals = module.globals.iter().map(|global| (global.class, global.shape));
        let globals = places(globals, place);
        let frames = module.procedures.iter().map(frame);
        let mut layout = Layout {
            globals,
            frames: Vec::new(),
            frame_ints: Vec::new(),
            frame_reals: Vec::new(),
            main_ints: ints,
            main_reals: reals,
            pool_ints_start: ints,
            pool_reals_start: reals,
            pool_ints: Vec::new(),
            pool_reals: Vec::new(),
        };
        for (offsets, ints, reals) in frames {
            layout.frames.push(offsets);
            layout.frame_ints.push(ints);
            layout.frame_reals.push(reals);
        }
        layout.pool_ints_start += layout.frame_ints.first().copied().unwrap_or(0);
        layout.pool_reals_start += layout.frame_reals.first().copied().unwrap_or(0);
        layout
    }

    /// Returns the anchor of the first cell of a declaration. Main's frame has a fixed address for the whole
    /// run.
    pub fn anchor(&self, module: &Module, procedure: usize, base: Base) -> Option<Anchor> {
        Some(match base {
            Base::Global(n) => Anchor::Fixed(*self.globals.get(n as usize)?),
            Base::Frame(n) => {
                let class = module.procedures.get(procedure)?.frame.get(n as usize)?.class;
                let offset = *self.frames.get(procedure)?.get(n as usize)?;
                match (procedure, class) {
                    (0, Class::Int) => Anchor::Fixed(self.main_ints + offset),
                    (0, Class::Real) => Anchor::Fixed(self.main_reals + offset),
                    _ => Anchor::Frame(class, offset),
                }
            }
            Base::Parameter(n) => Anchor::Parameter(n),
        })
    }

    /// Returns the range of main's frame among the cells of a class. The constants are stored after it.
    pub fn main_frame(&self, class: Class) -> Range<u32> {
        match class {
            Class::Int => self.main_ints..self.pool_ints_start,
            Class::Real => self.main_reals..self.pool_reals_start,
        }
    }

    /// Returns the range of the constants among the cells of a class.
    pub fn constants(&self, class: Class) -> Range<usize> {
        let (start, count) = match class {
            Class::Int => (self.pool_ints_start, self.pool_ints.len()),
            Class::Real => (self.pool_reals_start, self.pool_reals.len()),
        };
        start as usize..start as usize + count
    }

    /// Returns the numbers of integer and real cells with static storage. The frames of calls are stored after these
    /// cells.
    pub fn static_cells(&self) -> (usize, usize) {
        (self.constants(Class::Int).end, self.constants(Class::Real).end)
    }
}

/// Assigns an address to each declaration. Returns the address of each declaration's first cell.
fn places(
    declared: impl Iterator<Item = (Class, Shape)>,
    mut place: impl FnMut(Class, Shape) -> u32,
) -> Vec<u32> {
    declared.map(|(class, shape)| place(class, shape)).collect()
}

fn advance(class: Class, shape: Shape, ints: &mut u32, reals: &mut u32) -> u32 {
    let next = match class {
        Class::Int => ints,
        Class::Real => reals,
    };
    let start = *next;
    *next += shape.cells() as u32;
    start
}

/// Returns the offsets of a frame's variables, and the frame's number of integer and real cells.
fn frame(procedure: &Procedure) -> (Vec<u32>, u32, u32) {
    let (mut ints, mut reals) = (0, 0);
    let variables = procedure.frame.iter().map(|variable| (variable.class, variable.shape));
    let offsets = places(variables, |class, shape| advance(class, shape, &mut ints, &mut reals));
    (offsets, ints, reals)
}

/// The constant pool: assigns one cell to each distinct immediate.
pub(crate) struct Pool {
    ints: HashMap<i64, u32>,
    reals: HashMap<u64, u32>,
}

impl Pool {
    /// Creates a pool with one constant in each class, 0. If a step has fewer operands than an engine expects, the
    /// engine uses the address of this constant for the missing ones.
    pub fn new(layout: &mut Layout) -> Pool {
        let mut pool = Pool { ints: HashMap::new(), reals: HashMap::new() };
        pool.int(layout, 0);
        pool.real(layout, 0);
        pool
    }

    pub fn int(&mut self, layout: &mut Layout, value: i64) -> u32 {
        let cells = &mut layout.pool_ints;
        layout.pool_ints_start
            + *self.ints.entry(value).or_insert_with(|| {
                cells.push(value);
                cells.len() as u32 - 1
            })
    }

    pub fn real(&mut self, layout: &mut Layout, bits: u64) -> u32 {
        let cells = &mut layout.pool_reals;
        layout.pool_reals_start
            + *self.reals.entry(bits).or_insert_with(|| {
                cells.push(bits);
                cells.len() as u32 - 1
            })
    }
}
