//! A program differentiated at one input, by one machine or a batch of machines. This module depends on neither models
//! nor clocks.

use std::ops::Range;
use std::rc::Rc;

use reviver::{CheckLevel, CompileOptions, EngineChoice, Executable, LossCell, Workspace};
use reviver_vm::differentiate::early_turn;
use reviver_vm::stops::Stops;
use reviver_vm::{Machine, State, Stop, Travel};

use super::c_program::CProgram;
use super::machines::{machine, to_the_end};

/// Real inputs by name.
pub type Inputs = Vec<(&'static str, Vec<f64>)>;

/// Program at its start, with a loss.
pub struct Subject {
    machine: Machine,
    /// Index of the loss among the reals.
    loss: usize,
    /// Indices of the reals to differentiate by.
    wrt: Vec<usize>,
    /// Turning point of the gradient, if it isn't the end.
    turn: Option<Rc<Stops>>,
}

impl Subject {
    /// Loads a program from a file of the repository. The arguments set integer inputs, real inputs that are data, and
    /// real inputs to differentiate by.
    pub fn new((path, loss): (&str, &str), integers: &[(&str, i64)], data: &Inputs, wrt: &Inputs) -> Subject {
        let mut machine = machine(path);
        for &(name, value) in integers {
            let there = cells(&machine, name);
            machine.state_mut().ints[there].fill(value);
        }
        give(&mut machine, data);
        let wrt = give(&mut machine, wrt);
        let loss = cells(&machine, loss).start;
        let turn = early_turn(machine.program(), &[loss]).map(Rc::new);
        Subject { loss, wrt, machine, turn }
    }

    /// Compiles the program to native code, with the loss called `loss`. The interpreter runs parts that native code
    /// doesn't cover.
    pub fn compiled(&self, loss: &str, level: CheckLevel) -> (Workspace, LossCell) {
        let options = CompileOptions { engine: EngineChoice::Jit, level };
        let executable = Executable::new("benchmark", self.machine.program(), options).unwrap();
        let loss = executable.loss(loss).unwrap();
        let mut workspace = executable.workspace().unwrap();
        workspace.begin_with(Travel::Forward, self.machine.state().try_clone().unwrap()).unwrap();
        (workspace, loss)
    }

    /// Compiles the program by way of C text. Returns `None` if there is no C compiler.
    pub fn as_c(&self, loss: &str, level: CheckLevel, evaluations: usize) -> Option<CProgram> {
        CProgram::new(&self.machine, loss, level, evaluations)
    }

    /// Returns the number of steps from start to end.
    pub fn steps(&self) -> u64 {
        let mut machine = self.machine.try_clone().unwrap();
        to_the_end(&mut machine, Travel::Forward);
        machine.state().step.unsigned_abs()
    }

    /// Returns the value, and the gradient in the order of the inputs.
    pub fn differentiate(&self) -> (f64, Vec<f64>) {
        let mut machine = self.machine.try_clone().unwrap();
        to_the_turn(&mut machine, self.turn.as_deref());
        let value = f64::from_bits(machine.state().reals[self.loss]);
        seed(&mut machine, self.loss);
        to_the_end(&mut machine, Travel::Backward);
        let adjoints = machine.state_mut().adjoints_mut();
        (value, self.wrt.iter().map(|&cell| f64::from_bits(adjoints.cells[cell])).collect())
    }

    /// Returns a batch of machines at the start.
    pub fn batch(&self, n: usize) -> Batch {
        self.batch_of(self.machine.try_clone().unwrap(), n)
    }

    /// Returns a batch of machines at the start with adjoints, and with a watch on both sweeps as in `reviver grad`.
    /// Their adjoints are allocated and 0, as after an earlier gradient.
    pub fn batch_with_adjoints(&self, n: usize) -> Batch {
        let mut machine = self.machine.try_clone().unwrap();
        machine.state_mut().adjoints_mut();
        machine.watch();
        self.batch_of(machine, n)
    }

    fn batch_of(&self, machine: Machine, n: usize) -> Batch {
        let machines = (0..n).map(|_| machine.try_clone().unwrap()).collect();
        let start = machine.state().try_clone().unwrap();
        Batch { start, loss: self.loss, machines, turn: self.turn.clone() }
    }
}

/// Machines in the same state, for timing one operation on all of them.
pub struct Batch {
    start: State,
    loss: usize,
    machines: Vec<Machine>,
    turn: Option<Rc<Stops>>,
}

impl Batch {
    /// Runs all machines to the end, or backward to the start.
    pub fn run(&mut self, travel: Travel) {
        self.machines.iter_mut().for_each(|machine| to_the_end(machine, travel));
    }

    /// Runs all machines to the gradient's turning point.
    pub fn run_to_the_turn(&mut self) {
        self.machines.iter_mut().for_each(|machine| to_the_turn(machine, self.turn.as_deref()));
    }

    /// Switches gradient mode on, with zero adjoints.
    pub fn silence(&mut self) {
        self.machines.iter_mut().for_each(|machine| machine.state_mut().set_mode(true));
    }

    /// Switches gradient mode on, and seeds the loss with 1.
    pub fn seed(&mut self) {
        self.machines.iter_mut().for_each(|machine| seed(machine, self.loss));
    }

    /// Resets all machines to the start, with gradient mode off and zero adjoints.
    pub fn reset(&mut self) {
        self.machines.iter_mut().for_each(|machine| *machine.state_mut() = self.start.try_clone().unwrap());
    }
}

fn to_the_turn(machine: &mut Machine, turn: Option<&Stops>) {
    let stop = machine.run_until(turn, Travel::Forward, u64::MAX).expect("the benchmark doesn't trap");
    assert_eq!(stop, if turn.is_some() { Stop::Budget } else { Stop::Bound });
}

fn seed(machine: &mut Machine, loss: usize) {
    let state = machine.state_mut();
    state.set_mode(true);
    state.adjoints_mut().cells[loss] = 1.0f64.to_bits();
}

/// Returns the indices of a global's cells among the cells of the global's class.
fn cells(machine: &Machine, name: &str) -> Range<usize> {
    let program = machine.program();
    program.cells(program.global(name).expect("the program has such a cell").0)
}

/// Sets reals, and returns their indices.
fn give(machine: &mut Machine, inputs: &Inputs) -> Vec<usize> {
    let mut given = Vec::new();
    for (name, values) in inputs {
        let there = cells(machine, name);
        assert_eq!(there.len(), values.len(), "the program's `{name}` has another size");
        for (cell, value) in there.clone().zip(values) {
            machine.state_mut().reals[cell] = value.to_bits();
        }
        given.extend(there);
    }
    given
}
