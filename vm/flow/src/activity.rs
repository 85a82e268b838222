//! Activity analysis: which sources of steps carry derivatives. An *independent variable* is a number with respect to
//! which a program is differentiated. A cell is *varied* if it may depend on an independent variable. A cell is
//! *useful* if a loss may depend on it, and *active* if it is varied and useful. All engines use the result: a source
//! that isn't varied receives no adjoint contribution, and the partial derivative with respect to it is never
//! evaluated.
//!
//! The analysis has one node for each variable: a global, a variable of a frame, a parameter, the stack, and each tape.
//! An array has one node for all its elements. A variable of a frame has one node for all calls of its procedure. The
//! analysis ignores the order of steps, so the result is conservative: a cell that is reused counts as active
//! everywhere. Integers are never active. The result depends on no state.
//!
//! L. Hascoët, U. Naumann, V. Pascual, "'To be recorded' analysis in reverse-mode automatic differentiation"
//! (2005), section 2.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Passing};
use reviver_isa::update::{Action, Direction, Store};

use crate::call::Passed;
use crate::slot::{Anchor, Location, Slot};
use crate::{Flow, Step, StepLink};

/// The independent variables: the initial numbers with respect to which a program is differentiated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndependentCells {
    /// Ranges of cell offsets among the reals.
    pub cells: Vec<Range<u32>>,
    /// True if values on the stack of reals are independent.
    pub on_stack: bool,
    /// True if values on the input tape are independent.
    pub on_tape: bool,
}

/// The activity of the sources of each step. The default value is the result without an analysis: every source
/// receives adjoint contributions, and no lost derivative is reported. Clones share the data.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    known: Option<Arc<KnownActivity>>,
}

#[derive(Debug, PartialEq, Eq)]
struct KnownActivity {
    independent: IndependentCells,
    losses: Option<Vec<u32>>,
    /// The activity of each step, by the number of its instruction.
    steps: Vec<StepActivity>,
    /// A digest of the independent cells and of `steps`. Engines use no other data of the analysis, so the digest
    /// identifies the code that an engine generates from the analysis. `Hash` uses only the digest.
    digest: u64,
}

/// The bit of [`StepActivity::may_lose_forward`] for operand 2. The next higher bit belongs to operand 1.
const FORWARD: u8 = 1 << 3;

/// The activity of the sources of one step: a set of bits, each for operand 1 or operand 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StepActivity(u8);

impl StepActivity {
    /// Returns true if an operand is a source that isn't varied.
    #[inline(always)]
    pub fn is_passive(self, operand: usize) -> bool {
        self.0 & 1 << (operand & 3) & 0b0110 != 0
    }

    /// Returns true if an operand is active, and its partial derivative may be infinite or undefined where the
    /// function has a value. An example is the square root at 0. If the target's adjoint is 0 there, the reverse
    /// sweep may lose a derivative.
    #[inline(always)]
    pub fn may_lose(self, operand: usize) -> bool {
        self.0 & 1 << ((operand & 3) + 4) & 0b0110_0000 != 0
    }

    /// Returns true if a forward run over dual numbers may hide a derivative at an operand. A derivative is hidden if
    /// the operand is active, its partial derivative is infinite or undefined, and its tangent is 0. Unlike
    /// [`StepActivity::may_lose`], the result doesn't depend on whether other values are computed from the target.
    pub fn may_lose_forward(self, operand: usize) -> bool {
        self.0 & FORWARD << (operand & 1) != 0
    }

    /// Returns true if [`StepActivity::may_lose`] holds for any operand.
    pub fn loses_any(self) -> bool {
        self.0 >> 4 & 0b0110 != 0
    }

    /// Returns true if [`StepActivity::may_lose_forward`] holds for any operand.
    pub fn loses_any_forward(self) -> bool {
        self.0 & (FORWARD | FORWARD << 1) != 0
    }

    fn with_passive(self, operand: usize) -> StepActivity {
        StepActivity(self.0 | 1 << (operand & 3))
    }

    fn with_loss(self, operand: usize) -> StepActivity {
        StepActivity(self.0 | 1 << ((operand & 3) + 4))
    }

    fn with_loss_forward(self, operand: usize) -> StepActivity {
        StepActivity(self.0 | FORWARD << (operand & 1))
    }
}

impl PartialEq for Activity {
    fn eq(&self, other: &Activity) -> bool {
        match (&self.known, &other.known) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other) || own == other,
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl Eq for Activity {}

impl Hash for Activity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.known.as_ref().map(|known| known.digest).hash(state);
    }
}

impl Activity {
    /// Computes the activity of derivatives with respect to `independent`. `losses` are the offsets of the losses
    /// among the reals; if it is `None`, every cell counts as a possible loss.
    pub fn of(
        module: &Module,
        flow: &Flow,
        independent: &IndependentCells,
        losses: Option<&[u32]>,
    ) -> Activity {
        let graph = Dependencies::of(module, flow);
        let steps = graph.steps(module, flow, independent, losses);
        let mut hasher = DefaultHasher::new();
        (independent, &steps).hash(&mut hasher);
        let (independent, losses) = (independent.clone(), losses.map(<[u32]>::to_vec));
        let known = KnownActivity { independent, losses, steps, digest: hasher.finish() };
        Activity { known: Some(Arc::new(known)) }
    }

    /// Returns the independent variables of the analysis; `None` for the default value.
    pub fn independent(&self) -> Option<&IndependentCells> {
        self.known.as_deref().map(|known| &known.independent)
    }

    /// Returns true if the analysis was made for exactly these independent variables and these losses.
    pub fn is_of(&self, independent: &IndependentCells, losses: Option<&[u32]>) -> bool {
        let is_of =
            |known: &KnownActivity| known.independent == *independent && known.losses.as_deref() == losses;
        self.known.as_deref().is_some_and(is_of)
    }

    /// Returns the activity of the step of an instruction.
    pub fn step(&self, at: u32) -> StepActivity {
        let step = self.known.as_deref().and_then(|known| known.steps.get(at as usize));
        step.copied().unwrap_or_default()
    }
}

/// Node numbers of the stack and the tapes, which have no declaration. Nodes of globals follow.
const STACK: u32 = 0;
const INPUT: u32 = 1;
const OUTPUT: u32 = 2;
const FIRST_GLOBAL: u32 = 3;

/// The dependency graph: one node for each variable, and one edge for each flow of a value.
struct Dependencies {
    nodes: Nodes,
    /// For each node, the nodes that its content flows into.
    onward: Vec<HashSet<u32>>,
    /// True if some step has an adjoint as an operand, or some procedure has a derivative rule. Then every cell
    /// counts as active, because the program itself defines the meaning of adjoints.
    names_adjoints: bool,
}

impl Dependencies {
    fn of(module: &Module, flow: &Flow) -> Dependencies {
        let nodes = Nodes::of(module, flow);
        let names_adjoints = flow.steps().iter().any(Step::names_adjoint)
            || module.procedures.iter().any(|procedure| procedure.rule.is_some());
        let onward = vec![HashSet::new(); nodes.count as usize];
        let mut found = Dependencies { nodes, onward, names_adjoints };
        let is_uncall = |step: &Step| step.operation.update.action() == Action::Call(Direction::Backward);
        let goes_back = flow.steps().iter().any(is_uncall);
        for (number, at) in instructions(module) {
            if let Some(step) = flow.step(at) {
                found.visit(module, flow, (number, step), goes_back);
            }
        }
        found
    }

    /// Adds the edges of a step. In programs with an uncall (`goes_back`), a `push` may also be executed as a pop, and
    /// a `read` as a write. So a step that moves a value to or from the stack or a tape gets edges in both directions.
    fn visit(&mut self, module: &Module, flow: &Flow, (number, step): (usize, &Step), goes_back: bool) {
        let node =
            |operand: usize| step.slots.get(operand).and_then(|slot| self.nodes.slot(flow, number, slot));
        let [first, second, third] = [node(0), node(1), node(2)];
        match step.operation.update.action() {
            Action::Accumulate | Action::Replace => {
                self.flows(second, first);
                self.flows(third, first);
            }
            Action::Rotate => {
                self.flows(first, second);
                self.flows(second, first);
                self.flows(third, first);
                self.flows(third, second);
            }
            Action::Exchange => {
                self.flows(first, second);
                self.flows(second, first);
            }
            Action::Put(store) => self.moves(first, Some(store_node(store)), goes_back),
            Action::Take(store) => self.moves(Some(store_node(store)), first, goes_back),
            Action::Call(_) => self.passes(module, flow, number, step),
            Action::Map
            | Action::Erase(_)
            | Action::Clear
            | Action::Test
            | Action::Jump
            | Action::Join
            | Action::Begin
            | Action::End
            | Action::Tasks(_)
            | Action::Show
            | Action::Switch(_) => {}
        }
    }

    fn moves(&mut self, from: Option<u32>, to: Option<u32>, goes_back: bool) {
        self.flows(from, to);
        if goes_back {
            self.flows(to, from);
        }
    }

    /// Adds the dependencies of a call: each parameter depends on its argument, and an `inout` argument on
    /// its parameter.
    fn passes(&mut self, module: &Module, flow: &Flow, number: usize, step: &Step) {
        let StepLink::Call(call) = step.link else { return };
        let Some(site) = flow.call(call) else { return };
        let Some(callee) = module.procedures.get(site.procedure as usize) else { return };
        let passed = site.arguments.iter().zip(&callee.parameters).zip(0..);
        for ((argument, parameter), n) in passed.filter(|((_, parameter), _)| parameter.class == Class::Real)
        {
            let own = self.nodes.anchor(site.procedure as usize, Anchor::Parameter(n));
            let given = self.nodes.passed(flow, number, argument);
            self.flows(given, own);
            if parameter.passing == Passing::InOut {
                self.flows(own, given);
            }
        }
    }

    /// Adds an edge: the content of `from` may flow into `to`. Constants and integers have no node.
    fn flows(&mut self, from: Option<u32>, to: Option<u32>) {
        if let (Some(from), Some(to)) = (from, to)
            && let Some(onward) = self.onward.get_mut(from as usize)
        {
            onward.insert(to);
        }
    }

    /// Computes the activity of every step.
    fn steps(
        &self,
        module: &Module,
        flow: &Flow,
        independent: &IndependentCells,
        losses: Option<&[u32]>,
    ) -> Vec<StepActivity> {
        let varied = self.varied(independent);
        let useful = self.useful(losses);
        let hidden = self.hidden(&useful);
        let is_in = |set: &[bool], node: u32| self.names_adjoints || set.get(node as usize) == Some(&true);
        let mut all = vec![StepActivity::default(); flow.steps().len()];
        for (number, at) in instructions(module) {
            let (Some(step), Some(known)) = (flow.step(at), all.get_mut(at as usize)) else { continue };
            let targets = step.operation.update.shape().targets();
            let target = step.slots.first().and_then(|slot| self.nodes.slot(flow, number, slot));
            let [is_useful, is_hidden] =
                [&useful, &hidden].map(|set| target.is_some_and(|target| is_in(set, target)));
            for (operand, slot) in step.slots.iter().enumerate().skip(targets) {
                // Constants have no node, and never receive adjoint contributions.
                let Some(node) = self.nodes.slot(flow, number, slot) else { continue };
                if !is_in(&varied, node) {
                    *known = known.with_passive(operand);
                } else if is_useful && step.operation.may_lack_partial((operand - targets) as u8) {
                    *known = known.with_loss_forward(operand);
                    *known = if is_hidden { known.with_loss(operand) } else { *known };
                }
            }
        }
        all
    }

    /// Returns, for each node, true if it may depend on an independent number.
    fn varied(&self, independent: &IndependentCells) -> Vec<bool> {
        let cells = independent.cells.iter().flat_map(|range| self.nodes.fixed_in(range.start, range.end));
        let stack = independent.on_stack.then_some(STACK);
        let tape = independent.on_tape.then_some(INPUT);
        let onward = |node: u32| self.onward.get(node as usize).into_iter().flatten().copied();
        reached(self.nodes.count, cells.chain(stack).chain(tape), onward)
    }

    /// Returns, for each node, true if a loss may depend on it.
    fn useful(&self, losses: Option<&[u32]>) -> Vec<bool> {
        let Some(losses) = losses else { return vec![true; self.nodes.count as usize] };
        let mut backward = vec![Vec::new(); self.nodes.count as usize];
        for (from, onward) in (0..).zip(&self.onward) {
            for &to in onward {
                if let Some(sources) = backward.get_mut(to as usize) {
                    sources.push(from);
                }
            }
        }
        let sources = |node: u32| backward.get(node as usize).into_iter().flatten().copied();
        let losses = losses.iter().flat_map(|&loss| self.nodes.fixed_in(loss, loss + 1));
        reached(self.nodes.count, losses, sources)
    }

    /// Returns, for each node, true if it flows into a useful node. The adjoint of such a node may be 0 although a loss
    /// depends on the node, for example because contributions cancel. For a loss from which no other value is computed,
    /// the result is false, because the adjoint of the loss is its seed. If the loss is an element of an array, the
    /// other elements have zero adjoints, but these hide no derivative.
    fn hidden(&self, useful: &[bool]) -> Vec<bool> {
        let is_useful = |node: &u32| useful.get(*node as usize) == Some(&true);
        self.onward.iter().map(|onward| onward.iter().any(is_useful)).collect()
    }
}

/// Returns, for each of `count` nodes, true if it is reachable from the nodes `from`.
fn reached<I: Iterator<Item = u32>>(
    count: u32,
    from: impl Iterator<Item = u32>,
    next: impl Fn(u32) -> I,
) -> Vec<bool> {
    let mut found = vec![false; count as usize];
    let mut waiting: Vec<u32> = from.collect();
    while let Some(node) = waiting.pop() {
        if let Some(seen) = found.get_mut(node as usize).filter(|seen| !**seen) {
            *seen = true;
            waiting.extend(next(node));
        }
    }
    found
}

/// Iterates over every instruction with the number of its procedure.
fn instructions(module: &Module) -> impl Iterator<Item = (usize, u32)> {
    let procedures = module.procedures.iter().enumerate();
    procedures.flat_map(|(number, procedure)| (procedure.entry..=procedure.exit).map(move |at| (number, at)))
}

fn store_node(store: Store) -> u32 {
    match store {
        Store::Stack => STACK,
        Store::Input => INPUT,
        Store::Output => OUTPUT,
    }
}

/// The node number of each variable.
struct Nodes {
    /// Each non-empty real variable that is a global or in main's frame: its first cell, and its node.
    fixed: Vec<(u32, u32)>,
    /// For each procedure, its non-empty real variables: the first cell and the node of each.
    frames: Vec<Vec<(u32, u32)>>,
    /// For each procedure, the node of its first parameter. The nodes of its other parameters follow.
    parameters: Vec<u32>,
    count: u32,
}

impl Nodes {
    fn of(module: &Module, flow: &Flow) -> Nodes {
        let layout = flow.layout();
        let mut count = FIRST_GLOBAL;
        let mut next = || {
            count += 1;
            count - 1
        };
        let globals = module.globals.iter().zip(&layout.globals);
        let reals = globals.filter(|(global, _)| global.class == Class::Real && global.shape.cells() > 0);
        let mut fixed: Vec<(u32, u32)> = reals.map(|(_, &start)| (start, next())).collect();
        let (mut frames, mut parameters) = (Vec::new(), Vec::new());
        for (procedure, offsets) in module.procedures.iter().zip(&layout.frames) {
            let variables = procedure.frame.iter().zip(offsets);
            let reals = variables.filter(|(variable, _)| variable.class == Class::Real);
            let reals = reals.filter(|(variable, _)| variable.shape.cells() > 0);
            frames.push(reals.map(|(_, &offset)| (offset, next())).collect::<Vec<_>>());
            let own: Vec<u32> = procedure.parameters.iter().map(|_| next()).collect();
            parameters.push(own.first().copied().unwrap_or(0));
        }
        let main = frames.first().into_iter().flatten();
        fixed.extend(main.map(|&(offset, node)| (layout.main_reals + offset, node)));
        Nodes { fixed, frames, parameters, count }
    }

    /// Returns the node of a real operand; none for constants and integers.
    fn slot(&self, flow: &Flow, procedure: usize, slot: &Slot) -> Option<u32> {
        if slot.class != Class::Real {
            return None;
        }
        let anchor = match slot.location {
            Location::Cell(anchor) => anchor,
            Location::Element(number) => flow.element(number)?.base(),
        };
        self.anchor(procedure, anchor)
    }

    /// Returns the node that the real cell at an anchor belongs to.
    fn anchor(&self, procedure: usize, anchor: Anchor) -> Option<u32> {
        match anchor {
            Anchor::Constant(_) => None,
            Anchor::Fixed(cell) => declared(&self.fixed, cell),
            Anchor::Frame(_, offset) => declared(self.frames.get(procedure)?, offset),
            Anchor::Parameter(n) => Some(self.parameters.get(procedure)? + n),
        }
    }

    /// Returns the node of an argument of a call.
    fn passed(&self, flow: &Flow, procedure: usize, passed: &Passed) -> Option<u32> {
        let base = match *passed {
            Passed::Cell(ref slot) => return self.slot(flow, procedure, slot),
            Passed::Whole(array) | Passed::Span { array, .. } => array.base,
            Passed::Matrix(matrix)
            | Passed::Flat(matrix)
            | Passed::Row { matrix, .. }
            | Passed::Column { matrix, .. } => matrix.base,
        };
        self.anchor(procedure, base)
    }

    /// Returns the nodes of the declarations that contain cells from `first` (inclusive) to `end` (exclusive).
    fn fixed_in(&self, first: u32, end: u32) -> impl Iterator<Item = u32> {
        let end = self.fixed.partition_point(|(start, _)| *start < end);
        let first = self.fixed.partition_point(|(start, _)| *start <= first).saturating_sub(1).min(end);
        self.fixed.get(first..end).unwrap_or_default().iter().map(|(_, node)| *node)
    }
}

/// Returns the node of the declaration that contains a cell. `starts` has the first cell and the node of each
/// declaration, sorted by first cell.
fn declared(starts: &[(u32, u32)], cell: u32) -> Option<u32> {
    let behind = starts.partition_point(|(start, _)| *start <= cell);
    behind.checked_sub(1).and_then(|n| starts.get(n)).map(|(_, node)| *node)
}
