//! Which procedures a version is made of. A callee is put in place, once for each call, or it is a *function*, which is there
//! once and called: it begins activations of its own. What the names of a callee in place are for the function that it is in.
//! Knows no value.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use reviver_flow::graph::Way;
use reviver_flow::{Anchor, ArrayIndex, CallSite, Flow, Locus, Matrix, Passed, Region, Slot, Step};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Procedure};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::{Action, Direction};

use super::cycles::CalledProcedures;
use crate::form::{REFERENCE_WORDS, Version};

/// So many calls are put into each other.
const MOST_DEPTH: usize = 24;
/// Instructions of callees that are put in place, and of functions.
const MOST_INSTRUCTIONS: u32 = 1 << 13;
/// Cells of all frames of callees that are put in place, and of one function: each is looked at where a frame is left.
const MOST_FRAME_CELLS: u32 = 1 << 13;
/// Arguments: each two are told apart.
const MOST_ARGUMENTS: usize = 24;

/// A procedure, where a version executes it.
#[derive(Clone, Debug)]
pub(super) struct Activation {
    pub procedure: u32,
    pub way: Way,
    /// The number of the activation that it is part of, which begins a function: perhaps its own.
    pub function: u32,
    /// Where it is put in place; nowhere if it begins a function.
    pub called: Option<Called>,
    /// The first cell of its frame, of each class: integers, reals.
    frame: [Anchor; 2],
    parameters: Vec<ParameterRegion>,
}

/// A call, by which an activation is made or a function is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Called {
    /// The number of the activation that calls.
    pub by: u32,
    /// The instruction.
    pub site: u32,
    /// The number of the call in the flow.
    pub call: u32,
    /// Whether the machine turns there.
    pub turns: bool,
}

/// What is passed for a parameter, as far as it is known before a run.
#[derive(Clone, Copy, Debug)]
struct ParameterRegion {
    /// The cells among which those are that it refers to, as the function names them.
    region: Region,
    /// Whether it begins with the first of them.
    is_first: bool,
}

/// Where an anchor of an activation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnchorPlace {
    /// An anchor of the function.
    Own(Anchor),
    /// Where the call that made the activation has found what it passes for the parameter of this number.
    Computed(u32),
}

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionCall {
    pub called: Called,
    /// The activation that begins the function.
    pub callee: u32,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// An activation of this number is made.
    InPlace(u32),
    /// A function is called, by the number of the call.
    Function(usize),
}

/// The activations of a version. The first is that of the procedure which it begins in.
#[derive(Debug)]
pub(super) struct Activations<'f> {
    module: &'f Module,
    flow: &'f Flow,
    gradient: bool,
    all: Vec<Activation>,
    /// The first activation of each out-of-line callee, by its procedure and direction.
    begun: HashMap<(u32, Way), u32>,
    /// The calls of functions, and their numbers.
    calls: Vec<FunctionCall>,
    numbers: HashMap<FunctionCall, usize>,
    /// Activations that are open at a call of an out-of-line callee.
    calling: HashSet<u32>,
    called: OnceCell<CalledProcedures>,
    /// Instructions of callees that are put in place, and cells of their frames.
    instructions: u32,
    cells: u32,
    /// Instructions of functions that are called.
    function_instructions: u32,
}

impl<'f> Activations<'f> {
    pub fn of(module: &'f Module, flow: &'f Flow, version: &Version) -> Activations<'f> {
        let behind = module.procedures.partition_point(|procedure| procedure.entry < version.position);
        let procedure = behind.saturating_sub(1) as u32;
        Activations {
            module,
            flow,
            gradient: version.gradient,
            all: vec![beginning(0, procedure, version.way)],
            begun: HashMap::from([((procedure, version.way), 0)]),
            calls: Vec::new(),
            numbers: HashMap::new(),
            calling: HashSet::new(),
            called: OnceCell::new(),
            instructions: 0,
            cells: 0,
            function_instructions: 0,
        }
    }

    pub fn get(&self, number: u32) -> Option<&Activation> {
        self.all.get(number as usize)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// The function that an activation is part of.
    pub fn function(&self, number: u32) -> u32 {
        self.get(number).map_or(0, |activation| activation.function)
    }

    /// The calls of functions.
    pub fn calls(&self) -> &[FunctionCall] {
        &self.calls
    }

    /// Whether the version begins in main, whose end nothing leads over, and which is passed nothing.
    pub fn begin_in_main(&self) -> bool {
        self.get(0).is_some_and(|own| own.procedure == 0)
    }

    /// Whether frames may have been put into memory in the middle of an activation: where it calls a function, or where
    /// something in it does, and where the version begins in it.
    pub fn is_in_memory(&self, number: u32) -> bool {
        number == 0 || self.calling.contains(&number)
    }

    /// How many arguments the call of an activation has, or the calls of a function that it begins.
    pub fn arguments(&self, number: u32) -> u32 {
        self.procedure(number).map_or(0, |procedure| procedure.parameters.len() as u32)
    }

    /// The activations in place that are open where a function is called, each with where in the call's record that is kept which
    /// it is passed.
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

    pub fn call(&self, called: Called) -> Option<&'f CallSite> {
        self.flow.call(called.call)
    }

    /// The position at which it begins.
    pub fn begin(&self, number: u32) -> Option<u32> {
        let procedure = self.procedure(number)?;
        Some(match self.get(number)?.way {
            Way::Along => procedure.entry + 1,
            Way::Against => procedure.exit,
        })
    }

    /// Those that are open in one: the one that begins the function, and so on to itself.
    pub fn open(&self, number: u32) -> Vec<u32> {
        let above = std::iter::successors(Some(number), |&n| self.get(n)?.called.map(|called| called.by));
        let mut open: Vec<u32> = above.collect();
        open.reverse();
        open
    }

    /// Cells of its frame, of a class.
    pub fn frame_cells(&self, number: u32, class: Class) -> u32 {
        let layout = self.flow.layout();
        let sizes = match class {
            Class::Int => &layout.frame_ints,
            Class::Real => &layout.frame_reals,
        };
        let size = self.get(number).and_then(|activation| sizes.get(activation.procedure as usize));
        size.copied().unwrap_or(0)
    }

    /// The cell of its frame with this offset, as the function names it.
    pub fn frame_cell(&self, number: u32, class: Class, offset: u32) -> Anchor {
        match self.get(number).map(|activation| activation.frame[class as usize]) {
            Some(Anchor::Frame(class, start)) => Anchor::Frame(class, start + offset),
            Some(Anchor::Fixed(start)) => Anchor::Fixed(start + offset),
            Some(anchor @ (Anchor::Constant(_) | Anchor::Parameter(_))) => anchor,
            None => Anchor::Frame(class, offset),
        }
    }

    /// The first cell behind its frame: those of the calls that it makes begin there.
    pub fn behind_frame(&self, number: u32, class: Class) -> Anchor {
        match self.get(number) {
            // Main's frame isn't behind the constants, but within all cells that live as long as the program.
            Some(Activation { procedure: 0, called: None, .. }) => {
                let (ints, reals) = self.flow.layout().static_cells();
                Anchor::Fixed(if class == Class::Int { ints } else { reals } as u32)
            }
            _ => self.frame_cell(number, class, self.frame_cells(number, class)),
        }
    }

    /// So many cells of a class lie between the beginning of the caller's frame and that of a function. Main's frame isn't asked
    /// for.
    pub fn further(&self, call: FunctionCall, class: Class) -> u32 {
        match self.behind_frame(call.called.by, class) {
            Anchor::Frame(_, further) => further,
            Anchor::Constant(_) | Anchor::Fixed(_) | Anchor::Parameter(_) => 0,
        }
    }

    /// Where an anchor is that an activation's code names.
    pub fn place(&self, number: u32, anchor: Anchor) -> AnchorPlace {
        match (anchor, self.get(number)) {
            (Anchor::Frame(class, offset), Some(_)) => {
                AnchorPlace::Own(self.frame_cell(number, class, offset))
            }
            (Anchor::Parameter(n), Some(Activation { called: Some(_), parameters, .. })) => {
                match parameters.get(n as usize) {
                    Some(ParameterRegion { region, is_first: true }) => AnchorPlace::Own(region.anchor),
                    Some(_) | None => AnchorPlace::Computed(n),
                }
            }
            _ => AnchorPlace::Own(anchor),
        }
    }

    /// The cells that are within a region of an activation's names.
    pub fn region(&self, number: u32, region: Region) -> Region {
        let passed = match (region.anchor, self.get(number)) {
            (Anchor::Parameter(n), Some(Activation { called: Some(_), parameters, .. })) => {
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

    /// Makes the activation of a call that an instruction of another one makes, or notes the call of a function; none where
    /// the call is the interpreter's.
    pub fn enter(&mut self, by: u32, site: u32, call: u32) -> Option<Entered> {
        let caller = self.get(by)?;
        let passes = self.flow.call(call)?;
        let turns = match self.flow.step(site)?.operation.update.action() {
            Action::Call(Direction::Forward) => false,
            Action::Call(Direction::Backward) => true,
            _ => return None,
        };
        let way = if turns { turned(caller.way) } else { caller.way };
        let callee = self.module.procedures.get(passes.procedure as usize)?;
        // Adjoints wait while such a task runs, which nothing here looks after.
        let adds_up_apart = self.gradient && self.flow.adds_up_apart(self.module, site);
        if adds_up_apart || !self.is_compiled(callee, passes) {
            return None;
        }
        let called = Called { by, site, call, turns };
        if !self.is_put_in_place(by, callee, passes) {
            let callee = self.begun(passes.procedure, way)?;
            return Some(Entered::Function(self.number(FunctionCall { called, callee })));
        }
        let parameters = passes.arguments.iter().map(|passed| self.binding(by, passed)).collect();
        let frame = [Class::Int, Class::Real].map(|class| self.behind_frame(by, class));
        let function = caller.function;
        self.instructions += callee.exit - callee.entry;
        self.cells += self.cells_of(passes.procedure);
        let called = Some(called);
        self.all.push(Activation { procedure: passes.procedure, way, function, called, frame, parameters });
        Some(Entered::InPlace(self.all.len() as u32 - 1))
    }

    /// The number of a call of a function.
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

    /// The activation that begins the function of a procedure, if that isn't too large.
    fn begun(&mut self, procedure: u32, way: Way) -> Option<u32> {
        if let Some(&known) = self.begun.get(&(procedure, way)) {
            return Some(known);
        }
        let callee = self.module.procedures.get(procedure as usize).filter(|_| procedure != 0)?;
        let instructions = self.function_instructions + (callee.exit - callee.entry);
        if instructions > MOST_INSTRUCTIONS || self.cells_of(procedure) > MOST_FRAME_CELLS {
            return None;
        }
        self.function_instructions = instructions;
        let number = self.all.len() as u32;
        self.all.push(beginning(number, procedure, way));
        self.begun.insert((procedure, way), number);
        Some(number)
    }

    /// Whether a call is made by compiled code.
    fn is_compiled(&self, callee: &Procedure, passes: &CallSite) -> bool {
        // What a mutant changes of a call is the interpreter's to show.
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
        // A rule takes its callee's place where steps carry adjoints.
        !(self.gradient && callee.rule.is_some())
            // With the mode off nothing here looks after the adjoints of a frame.
            && (self.gradient || !names_adjoints())
            && passes.arguments.len() <= MOST_ARGUMENTS
            && passes.arguments.iter().all(is_simple)
    }

    /// Whether the callee of a call is put in place. One that comes back to itself isn't, but for the part of its way that leads
    /// through the function which calls; and none that is too deep, or with whose instructions or frame there are too many.
    fn is_put_in_place(&self, by: u32, callee: &Procedure, passes: &CallSite) -> bool {
        let own = self.get(self.function(by)).map_or(0, |own| own.procedure);
        let called = self.called.get_or_init(|| CalledProcedures::of(self.module, self.flow));
        self.open(by).len() <= MOST_DEPTH
            && self.instructions + (callee.exit - callee.entry) <= MOST_INSTRUCTIONS
            && self.cells.saturating_add(self.cells_of(passes.procedure)) <= MOST_FRAME_CELLS
            && passes.procedure != own
            && !called.come_back(passes.procedure, own)
    }

    /// Cells of a procedure's frame.
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

    /// The cells that are read to find what is passed, as the caller names them.
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

    /// Whether there are such cells.
    pub fn reads_cells(&self, passed: &Passed) -> bool {
        !self.indices_of(passed).is_empty()
    }

    /// Those of all calls, each with the number of the activation that calls.
    pub fn indices(&self) -> Vec<(u32, Anchor)> {
        let in_place = self.all.iter().filter_map(|activation| activation.called);
        let calls = in_place.chain(self.calls.iter().map(|call| call.called));
        let passed = calls.filter_map(|called| Some((called.by, self.call(called)?)));
        let passed = passed.flat_map(|(by, passes)| passes.arguments.iter().map(move |passed| (by, passed)));
        passed
            .flat_map(|(by, passed)| self.indices_of(passed).into_iter().map(move |cell| (by, cell)))
            .collect()
    }

    /// Arguments of out-of-line calls: the calling function, the class, and the region of the caller's cells that contains the argument.
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

    /// The pairs of a call's arguments that must not share cells, and might.
    pub fn to_tell_apart(&self, passes: &CallSite) -> Vec<(usize, usize)> {
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

    /// Whether a call passes a matrix for a parameter, as a matrix.
    pub fn is_matrix(&self, passes: &CallSite, n: usize) -> bool {
        matches!(passes.arguments.get(n), Some(Passed::Matrix(_)))
    }
}

/// The activation that begins a function.
fn beginning(number: u32, procedure: u32, way: Way) -> Activation {
    let frame = [Class::Int, Class::Real].map(|class| Anchor::Frame(class, 0));
    Activation { procedure, way, function: number, called: None, frame, parameters: Vec::new() }
}

fn turned(way: Way) -> Way {
    match way {
        Way::Along => Way::Against,
        Way::Against => Way::Along,
    }
}

/// Whether what is passed can be found by the operations of a form.
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
