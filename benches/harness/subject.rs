//! A program that is differentiated at one input, once or by many machines in a row. Knows no model and
//! no clock.

use std::ops::Range;
use std::rc::Rc;

use reviver::{CheckLevel, CompileOptions, EngineChoice, Executable, LossCell, Workspace};
use reviver_vm::differentiate::early_turn;
use reviver_vm::stops::Stops;
use reviver_vm::{Machine, State, Stop, Travel};

use super::c_program::CProgram;
use super::machines::{machine, to_the_end};

/// Real inputs under their names.
pub type Inputs = Vec<(&'static str, Vec<f64>)>;

/// A program at its start.
pub struct Subject {
    machine: Machine,
    /// The loss among the reals.
    loss: usize,
    /// What the gradient is by, among the reals.
    wrt: Vec<usize>,
    /// Where a gradient turns round, if not at the end.
    turn: Option<Rc<Stops>>,
}

impl Subject {
    /// The program in a file of the repository, given some integers, reals that are data, and
    /// the reals that the gradient is by.
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

    /// The same as a program to be called, compiled to native code, and its loss, which has a name. Where no code leads all
    /// the way, the interpreter takes part.
    pub fn compiled(&self, loss: &str, level: CheckLevel) -> (Workspace, LossCell) {
        let options = CompileOptions { engine: EngineChoice::Jit, level };
        let executable = Executable::new("benchmark", self.machine.program(), options).unwrap();
        let loss = executable.loss(loss).unwrap();
        let mut workspace = executable.workspace().unwrap();
        workspace.begin_with(Travel::Forward, self.machine.state().try_clone().unwrap()).unwrap();
        (workspace, loss)
    }

    /// The same as C text, compiled; none where there is no C compiler.
    pub fn as_c(&self, loss: &str, level: CheckLevel, evaluations: usize) -> Option<CProgram> {
        CProgram::new(&self.machine, loss, level, evaluations)
    }

    /// Steps from the beginning to the end.
    pub fn steps(&self) -> u64 {
        let mut machine = self.machine.try_clone().unwrap();
        to_the_end(&mut machine, Travel::Forward);
        machine.state().step.unsigned_abs()
    }

    /// The value, and the gradient in the order of the inputs.
    pub fn differentiate(&self) -> (f64, Vec<f64>) {
        let mut machine = self.machine.try_clone().unwrap();
        to_the_turn(&mut machine, self.turn.as_deref());
        let value = f64::from_bits(machine.state().reals[self.loss]);
        seed(&mut machine, self.loss);
        to_the_end(&mut machine, Travel::Backward);
        let adjoints = machine.state_mut().adjoints_mut();
        (value, self.wrt.iter().map(|&cell| f64::from_bits(adjoints.cells[cell])).collect())
    }

    /// Several machines at the start.
    pub fn batch(&self, n: usize) -> Batch {
        self.batch_of(self.machine.try_clone().unwrap(), n)
    }

    /// Several machines at the start that have adjoints, as where one gradient follows the other, and watch
    /// both ways, as `reviver grad` has it.
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

/// Several machines at one place, so that what all of them do can be timed at once.
pub struct Batch {
    start: State,
    loss: usize,
    machines: Vec<Machine>,
    turn: Option<Rc<Stops>>,
}

impl Batch {
    /// Runs all to the end, or to the beginning.
    pub fn run(&mut self, travel: Travel) {
        self.machines.iter_mut().for_each(|machine| to_the_end(machine, travel));
    }

    /// Runs all to where a gradient turns round.
    pub fn run_to_the_turn(&mut self) {
        self.machines.iter_mut().for_each(|machine| to_the_turn(machine, self.turn.as_deref()));
    }

    /// Switches gradient mode on, with all adjoints 0.
    pub fn silence(&mut self) {
        self.machines.iter_mut().for_each(|machine| machine.state_mut().set_mode(true));
    }

    /// Switches gradient mode on and makes the loss's adjoint 1.
    pub fn seed(&mut self) {
        self.machines.iter_mut().for_each(|machine| seed(machine, self.loss));
    }

    /// Back to the start, with the mode off and all adjoints 0.
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

/// The cells of a global, in its class.
fn cells(machine: &Machine, name: &str) -> Range<usize> {
    let program = machine.program();
    program.cells(program.global(name).expect("the program has such a cell").0)
}

/// Gives reals their values, and says where they are.
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
