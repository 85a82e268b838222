//! A program as steps, blocks and calls. Knows no state.

use reviver_isa::instruction::{Class, Place};
use reviver_isa::module::{Module, Parameter, Passing};

use crate::build::{Builder, locate};
use crate::call::CallSite;
use crate::graph::{BlockEnd, Graph, Way};
use crate::layout::Layout;
use crate::rounding::rounds_ints;
use crate::slot::{ArrayElement, Locus, Slot};
use crate::step::{Step, StepLink};
use crate::tasks::{self, GlobalCells, TaskFork};

/// What a verified module does.
#[derive(Clone, Debug)]
pub struct Flow {
    layout: Layout,
    /// One for each instruction, in their order.
    steps: Vec<Step>,
    elements: Vec<ArrayElement>,
    calls: Vec<CallSite>,
    graph: Graph,
    /// In the order of the code.
    forks: Vec<TaskFork>,
    /// What each procedure names of the globals; empty where there are no tasks.
    named: Vec<Vec<GlobalCells>>,
    /// Whether some integers are made of reals.
    pub(crate) ints_are_rounded: bool,
}

impl Flow {
    /// The flow of a verified module; of another one, something.
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

    /// Where everything lies that lives as long as the program.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Every step, by the number of its instruction.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step of an instruction.
    pub fn step(&self, at: u32) -> Option<&Step> {
        self.steps.get(at as usize)
    }

    /// The elements that steps name.
    pub fn elements(&self) -> &[ArrayElement] {
        &self.elements
    }

    /// The element of a number.
    pub fn element(&self, number: u32) -> Option<&ArrayElement> {
        self.elements.get(number as usize)
    }

    /// Every call, by its number.
    pub fn calls(&self) -> &[CallSite] {
        &self.calls
    }

    /// The call of a number.
    pub fn call(&self, number: u32) -> Option<&CallSite> {
        self.calls.get(number as usize)
    }

    /// What an instruction calls.
    pub fn call_at(&self, at: u32) -> Option<&CallSite> {
        match self.step(at)?.link {
            StepLink::Call(number) => self.call(number),
            StepLink::None | StepLink::Partner(_) => None,
        }
    }

    /// The blocks.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Where a block leads to when the code is gone through this way; none of a block that isn't there.
    pub fn end(&self, block: u32, way: Way) -> Option<BlockEnd> {
        self.graph.end(&self.steps, block, way)
    }

    /// Where calls are tasks, in the order of the code.
    pub fn forks(&self) -> &[TaskFork] {
        &self.forks
    }

    /// The `fork` and the `join` around an instruction.
    pub fn fork_around(&self, at: u32) -> Option<&TaskFork> {
        let before = self.forks.partition_point(|fork| fork.stretch.opens < at);
        let last = before.checked_sub(1).and_then(|n| self.forks.get(n));
        last.filter(|fork| fork.stretch.contains(at))
    }

    /// The tasks that a `fork` opens, or a `join` does on the way back.
    pub fn fork_at(&self, bound: u32) -> Option<&TaskFork> {
        let at = self.forks.partition_point(|fork| fork.stretch.closes < bound);
        let fork = self.forks.get(at);
        fork.filter(|fork| [fork.stretch.opens, fork.stretch.closes].contains(&bound))
    }

    /// What a procedure names of the globals, through all that it calls; nothing in programs without tasks.
    pub fn named_by(&self, procedure: u32) -> &[GlobalCells] {
        self.named.get(procedure as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the instruction at `at` calls a task whose adjoints of shared reals are deferred in gradient mode. Exact sums don't
    /// depend on their order, so the adjoints of fixed point are added to directly.
    pub fn adds_up_apart(&self, module: &Module, at: u32) -> bool {
        !module.real.is_exact() && self.reads_shared_reals(module, at)
    }

    /// Returns true if the instruction at `at` calls a task that reads reals which other tasks may read, too.
    pub fn reads_shared_reals(&self, module: &Module, at: u32) -> bool {
        let Some(call) = self.call_at(at).filter(|_| self.fork_around(at).is_some()) else { return false };
        let callee = module.procedures.get(call.procedure as usize);
        let parameters = callee.map_or(&[][..], |callee| &callee.parameters);
        let is_read =
            |parameter: &Parameter| parameter.class == Class::Real && parameter.passing == Passing::In;
        let mut named = self.named_by(call.procedure).iter();
        parameters.iter().any(is_read) || named.any(|cells| cells.class == Class::Real && !cells.may_change)
    }

    /// The same flow, with its tasks.
    fn with_tasks(self, module: &Module) -> Flow {
        let Some((forks, named)) = tasks::of(module, &self) else { return self };
        Flow { forks, named, ..self }
    }

    /// All that is known of where a slot's cell lies.
    pub fn locus(&self, slot: &Slot) -> Option<Locus> {
        slot.locus(&self.elements)
    }

    /// The class of a place of a procedure, and what is known of where it lies.
    pub fn locate(&self, module: &Module, procedure: usize, place: &Place) -> (Class, Locus) {
        locate(module, &self.layout, procedure, place)
    }
}
