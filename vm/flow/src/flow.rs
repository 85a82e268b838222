//! A program as steps, blocks and calls. Knows no state.

use reviver_isa::instruction::{Class, Place};
use reviver_isa::module::Module;

use crate::build::{Builder, locate};
use crate::call::CallSite;
use crate::graph::{BlockEnd, Graph, Way};
use crate::layout::Layout;
use crate::rounding::rounds_ints;
use crate::slot::{ArrayElement, Locus, Slot};
use crate::step::Step;

/// What a verified module does.
#[derive(Clone, Debug)]
pub struct Flow {
    layout: Layout,
    /// One for each instruction, in their order.
    steps: Vec<Step>,
    elements: Vec<ArrayElement>,
    calls: Vec<CallSite>,
    graph: Graph,
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
        Flow { layout, steps, elements, calls, graph, ints_are_rounded }
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

    /// The blocks.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Where a block leads to when the code is gone through this way; none of a block that isn't there.
    pub fn end(&self, block: u32, way: Way) -> Option<BlockEnd> {
        self.graph.end(&self.steps, block, way)
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
