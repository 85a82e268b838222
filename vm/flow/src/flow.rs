//! A program as steps, blocks and calls. The same flow serves every run of the program.

use reviver_isa::instruction::{Class, Place};
use reviver_isa::module::{Module, Parameter, Passing};

use crate::build::{Builder, locate};
use crate::call::CallSite;
use crate::graph::{BlockEnd, CodeDirection, Graph};
use crate::layout::Layout;
use crate::rounding::rounds_ints;
use crate::slot::{ArrayElement, Locus, Slot};
use crate::step::{Step, StepLink};
use crate::tasks::{self, GlobalCells, TaskFork};

/// The flow of a verified module: its steps, array elements, calls, block graph and tasks.
#[derive(Clone, Debug)]
pub struct Flow {
    layout: Layout,
    /// One step for each instruction, in the order of the code.
    steps: Vec<Step>,
    elements: Vec<ArrayElement>,
    calls: Vec<CallSite>,
    graph: Graph,
    /// The task regions, in the order of the code.
    forks: Vec<TaskFork>,
    /// For each procedure, the globals that it names; empty in programs without tasks.
    named: Vec<Vec<GlobalCells>>,
    /// True if some integers are computed from reals.
    pub(crate) ints_are_rounded: bool,
}

impl Flow {
    /// Builds the flow of a module. If the module isn't verified, the result is unspecified.
    pub fn of(module: &Module) -> Flow {
        let mut builder = Builder::new(module);
        let mut steps = Vec::with_capacity(module.code.len());
        for (number, procedure) in module.procedures.iter().enumerate() {
            let code = module.code.get(procedure.entry as usize..=procedure.exit as usize);
            builder.steps(number, code.unwrap_or_default(), &mut steps);
        }
        let Builder { layout, elements, calls, .. } = builder;
        let bounds = module.procedures.iter().map(|procedure| (procedure.entry, procedure.exit));
        let graph = Graph::of(&steps, bounds);
        let ints_are_rounded = rounds_ints(&steps);
        let flow = Flow {
            layout,
            steps,
            elements,
            calls,
            graph,
            ints_are_rounded,
            forks: Vec::new(),
            named: Vec::new(),
        };
        flow.with_tasks(module)
    }

    /// Returns the addresses of everything that has static storage.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns every step, indexed by the number of its instruction.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the step of an instruction.
    pub fn step(&self, at: u32) -> Option<&Step> {
        self.steps.get(at as usize)
    }

    /// Returns the array elements that slots refer to by number.
    pub fn elements(&self) -> &[ArrayElement] {
        &self.elements
    }

    /// Returns the array element with the given number.
    pub fn element(&self, number: u32) -> Option<&ArrayElement> {
        self.elements.get(number as usize)
    }

    /// Returns every call site, indexed by its number.
    pub fn calls(&self) -> &[CallSite] {
        &self.calls
    }

    /// Returns the call site with the given number.
    pub fn call(&self, number: u32) -> Option<&CallSite> {
        self.calls.get(number as usize)
    }

    /// Returns the call site of the instruction at `at`; none if it isn't a call.
    pub fn call_at(&self, at: u32) -> Option<&CallSite> {
        match self.step(at)?.link {
            StepLink::Call(number) => self.call(number),
            StepLink::None | StepLink::Partner(_) => None,
        }
    }

    /// Returns the control-flow graph of all basic blocks.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the end of a block in the direction `direction`, with the edges to its successors; `None` if the block
    /// doesn't exist.
    pub fn end(&self, block: u32, direction: CodeDirection) -> Option<BlockEnd> {
        self.graph.end(&self.steps, block, direction)
    }

    /// Returns the task regions, in the order of the code.
    pub fn forks(&self) -> &[TaskFork] {
        &self.forks
    }

    /// Returns the task region that contains an instruction.
    pub fn fork_around(&self, at: u32) -> Option<&TaskFork> {
        let before = self.forks.partition_point(|fork| fork.region.opens < at);
        let last = before.checked_sub(1).and_then(|n| self.forks.get(n));
        last.filter(|fork| fork.region.contains(at))
    }

    /// Returns the task region that has its `fork` or its `join` at `bound`.
    pub fn fork_at(&self, bound: u32) -> Option<&TaskFork> {
        let at = self.forks.partition_point(|fork| fork.region.closes < bound);
        let fork = self.forks.get(at);
        fork.filter(|fork| [fork.region.opens, fork.region.closes].contains(&bound))
    }

    /// Returns the globals that a procedure names, directly or through its callees; empty in programs without
    /// tasks.
    pub fn named_by(&self, procedure: u32) -> &[GlobalCells] {
        self.named.get(procedure as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the instruction at `at` calls a task for which gradient mode defers adjoints. The deferred
    /// adjoints are those of reals that the task only reads, and that other tasks may read, too. Adjoints are deferred
    /// because float sums depend on the order of their terms. Fixed-point sums don't, so fixed-point adjoints are never
    /// deferred.
    pub fn accumulates_separately(&self, module: &Module, at: u32) -> bool {
        !module.real.is_exact() && self.reads_shared_reals(module, at)
    }

    /// Returns true if the instruction at `at` calls a task that reads reals, and other tasks may read these reals,
    /// too.
    pub fn reads_shared_reals(&self, module: &Module, at: u32) -> bool {
        let Some(call) = self.call_at(at).filter(|_| self.fork_around(at).is_some()) else { return false };
        let callee = module.procedures.get(call.procedure as usize);
        let parameters = callee.map_or(&[][..], |callee| &callee.parameters);
        let is_read =
            |parameter: &Parameter| parameter.class == Class::Real && parameter.passing == Passing::In;
        let mut named = self.named_by(call.procedure).iter();
        parameters.iter().any(is_read) || named.any(|cells| cells.class == Class::Real && !cells.may_change)
    }

    /// Returns the flow with its task regions added.
    fn with_tasks(self, module: &Module) -> Flow {
        let Some((forks, named)) = tasks::of(module, &self) else { return self };
        Flow { forks, named, ..self }
    }

    /// Returns all that is known before a run about the address of a slot's cell; `None` if the slot's element number
    /// is out of range.
    pub fn locus(&self, slot: &Slot) -> Option<Locus> {
        slot.locus(&self.elements)
    }

    /// Returns the class of a place in a procedure, and all that is known before a run about its address.
    pub fn locate(&self, module: &Module, procedure: usize, place: &Place) -> (Class, Locus) {
        locate(module, &self.layout, procedure, place)
    }
}
