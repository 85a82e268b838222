//! Where everything that lives as long as the program lies in memory. Knows declarations; knows no
//! instruction.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Procedure, Shape as Cells};

use crate::state::MODE;

/// Offsets of everything that lives as long as the program.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The first cell of each global, in its class.
    pub globals: Vec<u32>,
    /// The first cell of each frame variable of each procedure, relative to the frame.
    pub frames: Vec<Vec<u32>>,
    /// Cells of each procedure's frame.
    pub frame_ints: Vec<u32>,
    pub frame_reals: Vec<u32>,
    /// Where main's frame begins.
    pub main_ints: u32,
    pub main_reals: u32,
    /// Where the pooled immediates begin, and their values.
    pub pool_ints: Vec<i64>,
    pub pool_reals: Vec<u64>,
    pub pool_ints_start: u32,
    pub pool_reals_start: u32,
}

impl Layout {
    pub(crate) fn new(module: &Module) -> Layout {
        let (mut ints, mut reals) = (MODE as u32 + 1, 0u32);
        let mut place = |class: Class, cells: Cells| {
            let next = match class {
                Class::Int => &mut ints,
                Class::Real => &mut reals,
            };
            let start = *next;
            *next += cells.cells() as u32;
            start
        };
        let globals = module.globals.iter().map(|g| place(g.class, g.shape)).collect();
        let mut layout = Layout {
            globals,
            frames: Vec::new(),
            frame_ints: Vec::new(),
            frame_reals: Vec::new(),
            main_ints: ints,
            main_reals: reals,
            pool_ints: Vec::new(),
            pool_reals: Vec::new(),
            pool_ints_start: 0,
            pool_reals_start: 0,
        };
        for procedure in &module.procedures {
            layout.frame(procedure);
        }
        layout.pool_ints_start = ints + layout.frame_ints[0];
        layout.pool_reals_start = reals + layout.frame_reals[0];
        layout
    }

    fn frame(&mut self, procedure: &Procedure) {
        let (mut ints, mut reals) = (0u32, 0u32);
        let mut offsets = Vec::with_capacity(procedure.frame.len());
        for variable in &procedure.frame {
            let next = match variable.class {
                Class::Int => &mut ints,
                Class::Real => &mut reals,
            };
            offsets.push(*next);
            *next += variable.shape.cells() as u32;
        }
        self.frames.push(offsets);
        self.frame_ints.push(ints);
        self.frame_reals.push(reals);
    }

    /// Where the constants lie among the cells of a class.
    pub fn constants(&self, class: Class) -> std::ops::Range<usize> {
        let (start, count) = match class {
            Class::Int => (self.pool_ints_start, self.pool_ints.len()),
            Class::Real => (self.pool_reals_start, self.pool_reals.len()),
        };
        start as usize..start as usize + count
    }

    /// Cells of each class before the first frame of a call.
    pub fn static_cells(&self) -> (usize, usize) {
        (
            self.pool_ints_start as usize + self.pool_ints.len(),
            self.pool_reals_start as usize + self.pool_reals.len(),
        )
    }
}
