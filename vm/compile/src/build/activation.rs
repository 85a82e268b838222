//! Calls whose callees are put in place: which procedures a version is made of, each where it is called, and what the
//! names of a callee are for the procedure that the version begins in. Knows no value.

use reviver_flow::graph::Way;
use reviver_flow::{Anchor, ArrayIndex, CallSite, Flow, Locus, Matrix, Passed, Region, Slot, Step};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Procedure};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::{Action, Direction};

use crate::form::Version;

/// So many calls are put into each other.
const MOST_DEPTH: usize = 24;
/// Instructions of callees that are put in place.
const MOST_INSTRUCTIONS: u32 = 1 << 13;
/// Cells of all frames of callees: each is looked at where a frame is left.
const MOST_FRAME_CELLS: u32 = 1 << 13;
/// Arguments: each two are told apart.
const MOST_ARGUMENTS: usize = 24;

/// A procedure, where a version executes it.
#[derive(Clone, Debug)]
pub(super) struct Activation {
    pub procedure: u32,
    pub way: Way,
    /// Where it is called; nowhere in the version if that begins in it.
    pub called: Option<Called>,
    /// The first cell of its frame, of each class: integers, reals.
    frame: [Anchor; 2],
    parameters: Vec<ParameterRegion>,
}

/// The call that an activation is made by.
#[derive(Clone, Copy, Debug)]
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
    /// The cells among which those are that it refers to, as the version's own procedure names them.
    region: Region,
    /// Whether it begins with the first of them.
    is_first: bool,
}

/// Where an anchor of an activation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnchorPlace {
    /// An anchor of the version's own procedure.
    Own(Anchor),
    /// Where the call that made the activation has found what it passes for the parameter of this number.
    Computed(u32),
}

/// The activations of a version. The first is that of the procedure which it begins in.
#[derive(Debug)]
pub(super) struct Activations<'f> {
    module: &'f Module,
    flow: &'f Flow,
    gradient: bool,
    all: Vec<Activation>,
    /// Instructions of callees, and cells of their frames.
    instructions: u32,
    cells: u32,
}

impl<'f> Activations<'f> {
    pub fn of(module: &'f Module, flow: &'f Flow, version: Version) -> Activations<'f> {
        let behind = module.procedures.partition_point(|procedure| procedure.entry < version.position);
        let procedure = behind.saturating_sub(1) as u32;
        let frame = [Class::Int, Class::Real].map(|class| Anchor::Frame(class, 0));
        let own = Activation { procedure, way: version.way, called: None, frame, parameters: Vec::new() };
        Activations { module, flow, gradient: version.gradient, all: vec![own], instructions: 0, cells: 0 }
    }

    pub fn get(&self, number: u32) -> Option<&Activation> {
        self.all.get(number as usize)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
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

    /// Those that are open in one: the first, and so on to itself.
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

    /// The cell of its frame with this offset, as the version's own procedure names it.
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

    /// Makes the activation of a call that an instruction of another one makes, if its callee is put in place.
    pub fn enter(&mut self, by: u32, site: u32, call: u32) -> Option<u32> {
        let caller = self.get(by)?;
        let passes = self.flow.call(call)?;
        let turns = match self.flow.step(site)?.operation.update.action() {
            Action::Call(Direction::Forward) => false,
            Action::Call(Direction::Backward) => true,
            _ => return None,
        };
        let way = if turns { turned(caller.way) } else { caller.way };
        if !self.is_put_in_place(by, passes) {
            return None;
        }
        let callee = self.module.procedures.get(passes.procedure as usize)?;
        let parameters = passes.arguments.iter().map(|passed| self.binding(by, passed)).collect();
        let frame = [Class::Int, Class::Real].map(|class| self.behind_frame(by, class));
        self.instructions += callee.exit - callee.entry;
        self.cells += self.cells_of(passes.procedure);
        let called = Some(Called { by, site, call, turns });
        self.all.push(Activation { procedure: passes.procedure, way, called, frame, parameters });
        Some(self.all.len() as u32 - 1)
    }

    /// Whether the callee of a call is put in place. A recursive one isn't, and none of whose frame or arguments there are
    /// too many.
    fn is_put_in_place(&self, by: u32, passes: &CallSite) -> bool {
        // What a mutant changes of a call is the interpreter's to show.
        if !keeps(Rule::UncallsRunBackward)
            || !keeps(Rule::DirectionIsRestored)
            || !keeps(Rule::DepthIsLimited)
        {
            return false;
        }
        let Some(callee) = self.module.procedures.get(passes.procedure as usize) else { return false };
        let open = self.open(by);
        let is_recursive =
            || open.iter().any(|&n| self.get(n).is_some_and(|open| open.procedure == passes.procedure));
        let names_adjoints = || {
            let steps = self.flow.steps().get(callee.entry as usize..callee.exit as usize);
            steps.is_none_or(|steps| steps.iter().any(Step::names_adjoint))
        };
        let instructions = self.instructions + (callee.exit - callee.entry);
        // A rule takes its callee's place where steps carry adjoints.
        !(self.gradient && callee.rule.is_some())
            // With the mode off nothing here looks after the adjoints of a frame.
            && (self.gradient || !names_adjoints())
            && open.len() <= MOST_DEPTH
            && instructions <= MOST_INSTRUCTIONS
            && self.cells.saturating_add(self.cells_of(passes.procedure)) <= MOST_FRAME_CELLS
            && passes.arguments.len() <= MOST_ARGUMENTS
            && passes.arguments.iter().all(is_simple)
            && !is_recursive()
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
        let calls = self.all.iter().filter_map(|activation| activation.called);
        let passed = calls.filter_map(|called| Some((called.by, self.call(called)?)));
        let passed = passed.flat_map(|(by, passes)| passes.arguments.iter().map(move |passed| (by, passed)));
        passed
            .flat_map(|(by, passed)| self.indices_of(passed).into_iter().map(move |cell| (by, cell)))
            .collect()
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
