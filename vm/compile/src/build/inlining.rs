//! Inlining decisions, and name resolution after inlining.
//!
//! Each inlined call has its own copy of the callee's code, called an *inlined frame*. Other callees are out of line:
//! their code exists once for each direction, and its cells are in a new frame. Code of an inlined frame names cells
//! and parameters. This module resolves these names to cells of the procedure body that contains the inlined frame. In
//! this module, that body is called the *function* of the inlined frame. This module is independent of SSA values.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use reviver_flow::graph::CodeDirection;
use reviver_flow::{Anchor, ArrayIndex, CallSite, Flow, Locus, Matrix, Passed, Region, Slot, Step};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Procedure};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::{Action, Direction};

use super::call_graph::CallGraph;
use crate::function::{REFERENCE_WORDS, Specialization};

/// Upper bound on the depth of inlined calls.
const MOST_DEPTH: usize = 24;
/// Upper bound on the total number of instructions of all inlined callees. The same bound applies to all out-of-line
/// callees.
const MOST_INSTRUCTIONS: u32 = 1 << 13;
/// Upper bound on frame cells of all inlined callees, and of each out-of-line callee. The bound exists because a return
/// checks each cell of the callee's frame.
const MOST_FRAME_CELLS: u32 = 1 << 13;
/// Upper bound on arguments of a call: each pair of arguments may need an alias check.
const MOST_ARGUMENTS: usize = 24;

/// Execution of a procedure in a specialization: an inlined call, or the body of an out-of-line callee.
#[derive(Clone, Debug)]
pub(super) struct InlinedFrame {
    pub procedure: u32,
    pub direction: CodeDirection,
    /// Number of the inlined frame that begins the containing procedure body. It may be the number of this inlined
    /// frame.
    pub function: u32,
    /// Call at which the inlined frame is inlined; `None` if it begins a procedure body.
    pub called: Option<CallEdge>,
    /// First integer cell and first real cell of the procedure's frame.
    frame: [Anchor; 2],
    parameters: Vec<ParameterRegion>,
}

/// Call that opens an inlined frame or enters an out-of-line callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallEdge {
    /// Number of the calling inlined frame.
    pub by: u32,
    /// Index of the call instruction.
    pub site: u32,
    /// Number of the call in the flow.
    pub call: u32,
    /// True if the machine reverses its direction at the call.
    pub turns: bool,
}

/// Facts, known at compile time, about the argument for a parameter.
#[derive(Clone, Copy, Debug)]
struct ParameterRegion {
    /// Region that contains the referenced cells. The region's anchor refers to the containing procedure body.
    region: Region,
    /// True if the reference begins at the region's first cell.
    is_first: bool,
}

/// Resolved location of an anchor that an inlined frame's code names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnchorPlace {
    /// Anchor that refers to the containing procedure body.
    Own(Anchor),
    /// Address that the call computes for the parameter of this number.
    Computed(u32),
}

/// Call of an out-of-line callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionCall {
    pub called: CallEdge,
    /// Inlined frame that begins the callee.
    pub callee: u32,
}

/// Decision to inline a callee or to call it out of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallDecision {
    /// Inlined, as the inlined frame of this number.
    Inlined(u32),
    /// Out of line, with this number of the call.
    OutOfLine(usize),
}

/// All inlined frames of a specialization. The first one belongs to the procedure that contains the entry.
#[derive(Debug)]
pub(super) struct InlinedFrames<'f> {
    module: &'f Module,
    flow: &'f Flow,
    gradient: bool,
    all: Vec<InlinedFrame>,
    /// The first inlined frame of each out-of-line callee, by its procedure and direction.
    begun: HashMap<(u32, CodeDirection), u32>,
    /// Out-of-line calls in the order of their numbers. The field `numbers` maps each of these calls to its number.
    calls: Vec<FunctionCall>,
    numbers: HashMap<FunctionCall, usize>,
    /// Inlined frames that are open at any out-of-line call.
    calling: HashSet<u32>,
    called: OnceCell<CallGraph>,
    /// Number of instructions of inlined callees.
    instructions: u32,
    cells: u32,
    /// Number of instructions of out-of-line callees.
    function_instructions: u32,
}

impl<'f> InlinedFrames<'f> {
    pub fn of(module: &'f Module, flow: &'f Flow, specialization: &Specialization) -> InlinedFrames<'f> {
        let behind = module.procedures.partition_point(|procedure| procedure.entry < specialization.position);
        let procedure = behind.saturating_sub(1) as u32;
        InlinedFrames {
            module,
            flow,
            gradient: specialization.gradient,
            all: vec![beginning(0, procedure, specialization.direction)],
            begun: HashMap::from([((procedure, specialization.direction), 0)]),
            calls: Vec::new(),
            numbers: HashMap::new(),
            calling: HashSet::new(),
            called: OnceCell::new(),
            instructions: 0,
            cells: 0,
            function_instructions: 0,
        }
    }

    pub fn get(&self, number: u32) -> Option<&InlinedFrame> {
        self.all.get(number as usize)
    }

    /// Returns the number of inlined frames.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Returns the procedure body that contains an inlined frame: the number of the inlined frame that begins the body.
    pub fn function(&self, number: u32) -> u32 {
        self.get(number).map_or(0, |inlined_frame| inlined_frame.function)
    }

    /// Returns the out-of-line calls, indexed by their numbers.
    pub fn calls(&self) -> &[FunctionCall] {
        &self.calls
    }

    /// Returns true if the specialization begins in main, which has no caller and no arguments.
    pub fn begin_in_main(&self) -> bool {
        self.get(0).is_some_and(|own| own.procedure == 0)
    }

    /// Returns true if variables of an inlined frame may be in memory before the frame ends. This is the case if the
    /// frame, or an inlined frame nested in it, makes out-of-line calls, which store the variables. It is also the case
    /// if the frame is open at entry, because all variables are in memory at entry.
    pub fn is_in_memory(&self, number: u32) -> bool {
        number == 0 || self.calling.contains(&number)
    }

    /// Returns the number of parameters of the procedure that an inlined frame executes. Each call that enters the
    /// frame passes as many arguments.
    pub fn arguments(&self, number: u32) -> u32 {
        self.procedure(number).map_or(0, |procedure| procedure.parameters.len() as u32)
    }

    /// Returns the inlined frames that are open at an out-of-line call, each with the offset of its arguments in the
    /// call record.
    pub fn kept(&self, call: FunctionCall) -> Vec<(u32, u32)> {
        let mut next = 1 + REFERENCE_WORDS * self.arguments(call.callee);
        let in_place = self.open(call.called.by).into_iter().skip(1);
        in_place
            .map(|number| {
                let place = next;
                next += REFERENCE_WORDS * self.arguments(number);
                (number, place)
            })
            .collect()
    }

    fn procedure(&self, number: u32) -> Option<&'f Procedure> {
        self.module.procedures.get(self.get(number)?.procedure as usize)
    }

    pub fn call(&self, called: CallEdge) -> Option<&'f CallSite> {
        self.flow.call(called.call)
    }

    /// Returns the position at which an inlined frame begins, in its direction.
    pub fn begin(&self, number: u32) -> Option<u32> {
        let procedure = self.procedure(number)?;
        Some(match self.get(number)?.direction {
            CodeDirection::Forward => procedure.entry + 1,
            CodeDirection::Backward => procedure.exit,
        })
    }

    /// Returns an inlined frame and those around it, outermost first. The outermost one begins the procedure body.
    pub fn open(&self, number: u32) -> Vec<u32> {
        let above = std::iter::successors(Some(number), |&n| self.get(n)?.called.map(|called| called.by));
        let mut open: Vec<u32> = above.collect();
        open.reverse();
        open
    }

    /// Returns the number of cells of a class in an inlined frame.
    pub fn frame_cells(&self, number: u32, class: Class) -> u32 {
        let layout = self.flow.layout();
        let sizes = match class {
            Class::Int => &layout.frame_ints,
            Class::Real => &layout.frame_reals,
        };
        let size = self.get(number).and_then(|inlined_frame| sizes.get(inlined_frame.procedure as usize));
        size.copied().unwrap_or(0)
    }

    /// Returns the cell at this offset in an inlined frame, as an anchor that refers to the containing procedure body.
    pub fn frame_cell(&self, number: u32, class: Class, offset: u32) -> Anchor {
        match self.get(number).map(|inlined_frame| inlined_frame.frame[class as usize]) {
            Some(Anchor::Frame(class, start)) => Anchor::Frame(class, start + offset),
            Some(Anchor::Fixed(start)) => Anchor::Fixed(start + offset),
            Some(anchor @ (Anchor::Constant(_) | Anchor::Parameter(_))) => anchor,
            None => Anchor::Frame(class, offset),
        }
    }

    /// Returns the first cell after an inlined frame; the frames of its callees begin at this cell.
    pub fn after_frame(&self, number: u32, class: Class) -> Anchor {
        match self.get(number) {
            // Main's frame is only one part of the cells that exist during the whole run. Frames of callees begin after
            // the last of these cells.
            Some(InlinedFrame { procedure: 0, called: None, .. }) => {
                let (ints, reals) = self.flow.layout().static_cells();
                Anchor::Fixed(if class == Class::Int { ints } else { reals } as u32)
            }
            _ => self.frame_cell(number, class, self.frame_cells(number, class)),
        }
    }

    /// Returns the distance from the start of the caller's frame to the start of an out-of-line callee's frame, in
    /// cells. For calls by main, the result is 0 and unused.
    pub fn frame_offset(&self, call: FunctionCall, class: Class) -> u32 {
        match self.after_frame(call.called.by, class) {
            Anchor::Frame(_, frame_offset) => frame_offset,
            Anchor::Constant(_) | Anchor::Fixed(_) | Anchor::Parameter(_) => 0,
        }
    }

    /// Resolves an anchor that an inlined frame's code names.
    pub fn place(&self, number: u32, anchor: Anchor) -> AnchorPlace {
        match (anchor, self.get(number)) {
            (Anchor::Frame(class, offset), Some(_)) => {
                AnchorPlace::Own(self.frame_cell(number, class, offset))
            }
            (Anchor::Parameter(n), Some(InlinedFrame { called: Some(_), parameters, .. })) => {
                match parameters.get(n as usize) {
                    Some(ParameterRegion { region, is_first: true }) => AnchorPlace::Own(region.anchor),
                    Some(_) | None => AnchorPlace::Computed(n),
                }
            }
            _ => AnchorPlace::Own(anchor),
        }
    }

    /// Resolves a region that an inlined frame's code names.
    pub fn region(&self, number: u32, region: Region) -> Region {
        let passed = match (region.anchor, self.get(number)) {
            (Anchor::Parameter(n), Some(InlinedFrame { called: Some(_), parameters, .. })) => {
                parameters.get(n as usize)
            }
            _ => None,
        };
        match (passed, self.place(number, region.anchor)) {
            (Some(binding), _) => binding.region,
            (None, AnchorPlace::Own(anchor)) => Region { anchor, ..region },
            (None, AnchorPlace::Computed(_)) => region,
        }
    }

    /// Decides whether a call is inlined or out of line. Adds the inlined frame, or registers the out-of-line call.
    /// Returns `None` if the call must be interpreted.
    pub fn enter(&mut self, by: u32, site: u32, call: u32) -> Option<CallDecision> {
        let caller = self.get(by)?;
        let passes = self.flow.call(call)?;
        let turns = match self.flow.step(site)?.operation.update.action() {
            Action::Call(Direction::Forward) => false,
            Action::Call(Direction::Backward) => true,
            _ => return None,
        };
        let direction = if turns { turned(caller.direction) } else { caller.direction };
        let callee = self.module.procedures.get(passes.procedure as usize)?;
        // Deferred accumulation of adjoints in tasks isn't compiled.
        let accumulates_separately = self.gradient && self.flow.accumulates_separately(self.module, site);
        if accumulates_separately || !self.is_compiled(callee, passes) {
            return None;
        }
        let called = CallEdge { by, site, call, turns };
        if !self.is_inlined(by, callee, passes) {
            let callee = self.begun(passes.procedure, direction)?;
            return Some(CallDecision::OutOfLine(self.number(FunctionCall { called, callee })));
        }
        let parameters = passes.arguments.iter().map(|passed| self.binding(by, passed)).collect();
        let frame = [Class::Int, Class::Real].map(|class| self.after_frame(by, class));
        let function = caller.function;
        self.instructions += callee.exit - callee.entry;
        self.cells += self.cells_of(passes.procedure);
        let called = Some(called);
        self.all.push(InlinedFrame {
            procedure: passes.procedure,
            direction,
            function,
            called,
            frame,
            parameters,
        });
        Some(CallDecision::Inlined(self.all.len() as u32 - 1))
    }

    /// Returns the number of an out-of-line call, after registering it if it is new.
    fn number(&mut self, call: FunctionCall) -> usize {
        if let Some(&known) = self.numbers.get(&call) {
            return known;
        }
        let number = self.calls.len();
        self.calls.push(call);
        self.numbers.insert(call, number);
        self.calling.extend(self.open(call.called.by));
        number
    }

    /// Returns the inlined frame that begins an out-of-line callee, or `None` if the callee is too large.
    fn begun(&mut self, procedure: u32, direction: CodeDirection) -> Option<u32> {
        if let Some(&known) = self.begun.get(&(procedure, direction)) {
            return Some(known);
        }
        let callee = self.module.procedures.get(procedure as usize).filter(|_| procedure != 0)?;
        let instructions = self.function_instructions + (callee.exit - callee.entry);
        if instructions > MOST_INSTRUCTIONS || self.cells_of(procedure) > MOST_FRAME_CELLS {
            return None;
        }
        self.function_instructions = instructions;
        let number = self.all.len() as u32;
        self.all.push(beginning(number, procedure, direction));
        self.begun.insert((procedure, direction), number);
        Some(number)
    }

    /// Returns true if compiled code can execute a call.
    fn is_compiled(&self, callee: &Procedure, passes: &CallSite) -> bool {
        // Mutation tests change the call rules of the interpreter only. If a call rule is mutated, calls aren't
        // compiled.
        if !keeps(Rule::UncallsRunBackward)
            || !keeps(Rule::DirectionIsRestored)
            || !keeps(Rule::DepthIsLimited)
        {
            return false;
        }
        let names_adjoints = || {
            let steps = self.flow.steps().get(callee.entry as usize..callee.exit as usize);
            steps.is_none_or(|steps| steps.iter().any(Step::names_adjoint))
        };
        // In gradient mode, the machine executes a procedure's rule instead of the procedure.
        !(self.gradient && callee.rule.is_some())
            // If gradient mode is off, compiled code doesn't free the adjoints of a frame.
            && (self.gradient || !names_adjoints())
            && passes.arguments.len() <= MOST_ARGUMENTS
            && passes.arguments.iter().all(is_simple)
    }

    /// Returns true if a callee is inlined. Recursion prevents inlining in two cases: the callee is the procedure of
    /// the calling body, or it can call itself without a call of that procedure in between. A callee also isn't inlined
    /// if calls would be nested too deeply, or if the inlined code would exceed a limit of instructions or frame cells.
    fn is_inlined(&self, by: u32, callee: &Procedure, passes: &CallSite) -> bool {
        let own = self.get(self.function(by)).map_or(0, |own| own.procedure);
        let called = self.called.get_or_init(|| CallGraph::of(self.module, self.flow));
        self.open(by).len() <= MOST_DEPTH
            && self.instructions + (callee.exit - callee.entry) <= MOST_INSTRUCTIONS
            && self.cells.saturating_add(self.cells_of(passes.procedure)) <= MOST_FRAME_CELLS
            && passes.procedure != own
            && !called.reaches_itself(passes.procedure, own)
    }

    /// Returns the number of cells of a procedure's frame, of both classes.
    fn cells_of(&self, procedure: u32) -> u32 {
        let layout = self.flow.layout();
        let cells = |sizes: &[u32]| sizes.get(procedure as usize).copied().unwrap_or(u32::MAX);
        cells(&layout.frame_ints).saturating_add(cells(&layout.frame_reals))
    }

    fn binding(&self, by: u32, passed: &Passed) -> ParameterRegion {
        let region = passed.region(self.flow.elements());
        let region = region.unwrap_or(Region { anchor: Anchor::Constant(0), length: 0 });
        let is_first = match *passed {
            Passed::Cell(ref slot) => matches!(self.flow.locus(slot), Some(Locus::Cell(_))),
            Passed::Whole(_) | Passed::Matrix(_) | Passed::Flat(_) => true,
            Passed::Span { .. } | Passed::Row { .. } | Passed::Column { .. } => false,
        };
        let is_own = matches!(self.place(by, region.anchor), AnchorPlace::Own(_));
        ParameterRegion { region: self.region(by, region), is_first: is_first && is_own }
    }

    /// Returns the integer cells that are read to compute an argument, in the caller's names.
    fn indices_of(&self, passed: &Passed) -> Vec<Anchor> {
        let cells =
            |indices: &mut dyn Iterator<Item = ArrayIndex>| indices.filter_map(|index| index.cell).collect();
        match passed {
            Passed::Cell(slot) => match self.flow.locus(slot) {
                Some(Locus::Element(element)) => cells(&mut element.subscripts()),
                Some(Locus::Cell(_)) | None => Vec::new(),
            },
            other => cells(&mut other.subscripts()),
        }
    }

    /// Returns true if computing an argument reads integer cells.
    pub fn reads_cells(&self, passed: &Passed) -> bool {
        !self.indices_of(passed).is_empty()
    }

    /// Returns the integer cells that the arguments of inlined and out-of-line calls read, such as indices. Each cell
    /// comes with the number of the inlined frame that contains the call.
    pub fn indices(&self) -> Vec<(u32, Anchor)> {
        let in_place = self.all.iter().filter_map(|inlined_frame| inlined_frame.called);
        let calls = in_place.chain(self.calls.iter().map(|call| call.called));
        let passed = calls.filter_map(|called| Some((called.by, self.call(called)?)));
        let passed = passed.flat_map(|(by, passes)| passes.arguments.iter().map(move |passed| (by, passed)));
        passed
            .flat_map(|(by, passed)| self.indices_of(passed).into_iter().map(move |cell| (by, cell)))
            .collect()
    }

    /// Iterates over the arguments of out-of-line calls. Each item has the calling procedure body, the argument's
    /// class, and the region of the caller's cells that contains the argument.
    pub fn passed_to_functions(&self) -> impl Iterator<Item = (u32, Class, Region)> {
        self.calls.iter().flat_map(|call| {
            let caller = self.function(call.called.by);
            let passes = self.call(call.called).map_or(&[][..], |passes| &passes.arguments);
            let parameters = self.procedure(call.callee).map_or(&[][..], |callee| &callee.parameters);
            let region =
                |passed: &Passed| Some(self.region(call.called.by, passed.region(self.flow.elements())?));
            passes
                .iter()
                .zip(parameters)
                .filter_map(move |(passed, parameter)| Some((caller, parameter.class, region(passed)?)))
        })
    }

    /// Returns the pairs of arguments that need an alias check at run time: they must not alias, but might.
    pub fn alias_checks(&self, passes: &CallSite) -> Vec<(usize, usize)> {
        let Some(callee) = self.module.procedures.get(passes.procedure as usize) else { return Vec::new() };
        let parameters = &callee.parameters;
        let aliases = reviver_flow::alias::Aliases { elements: self.flow.elements() };
        let pairs = (0..parameters.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        let may_share = |&(first, second): &(usize, usize)| {
            let [a, b] = [first, second].map(|n| (parameters.get(n), passes.arguments.get(n)));
            let ((Some(a), Some(one)), (Some(b), Some(other))) = (a, b) else { return false };
            let is_changed = a.passing == Passing::InOut || b.passing == Passing::InOut;
            a.class == b.class && is_changed && aliases.may_share(one, other)
        };
        pairs.filter(may_share).collect()
    }

    /// Returns true if an argument is passed as a matrix.
    pub fn is_matrix(&self, passes: &CallSite, n: usize) -> bool {
        matches!(passes.arguments.get(n), Some(Passed::Matrix(_)))
    }
}

/// Creates the inlined frame that begins a procedure body.
fn beginning(number: u32, procedure: u32, direction: CodeDirection) -> InlinedFrame {
    let frame = [Class::Int, Class::Real].map(|class| Anchor::Frame(class, 0));
    InlinedFrame { procedure, direction, function: number, called: None, frame, parameters: Vec::new() }
}

fn turned(direction: CodeDirection) -> CodeDirection {
    match direction {
        CodeDirection::Forward => CodeDirection::Backward,
        CodeDirection::Backward => CodeDirection::Forward,
    }
}

/// Returns true if operations of an SSA function can compute an argument.
fn is_simple(passed: &Passed) -> bool {
    match *passed {
        Passed::Cell(Slot { adjoint, .. }) => !adjoint,
        Passed::Span { step, .. } => step == 1,
        Passed::Whole(_)
        | Passed::Matrix(_)
        | Passed::Flat(Matrix { .. })
        | Passed::Row { .. }
        | Passed::Column { .. } => true,
    }
}
