//! Resolution of calls: which references are known once the caller's frame exists, and which arguments must be checked
//! for overlap. The module reads no state.

use reviver_flow::alias::Aliases;
use reviver_flow::call::Array;
use reviver_flow::{Anchor, CallSite, Flow, Location, Matrix, Passed, StepLink};
use reviver_isa::instruction::Class;
use reviver_isa::module::Module;

use crate::interp::distinct::Distinct;
use crate::state::{Frame, Part, Reference};

/// A call with its resolved references and overlap checks.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedCall {
    /// The number of the procedure that contains the call.
    pub caller: u32,
    pub callee: u32,
    /// The callee's derivative rule, if it has one.
    pub rule: Option<u32>,
    /// The known reference of each argument; `None` if cells must be read to find it.
    pub known: Vec<Option<KnownReference>>,
    /// The numbers of the arguments with references that depend on cells.
    pub computed: Vec<u32>,
    /// True if the call is between a `fork` and its `join`.
    pub is_task: bool,
    /// The arguments that must be checked for overlap at run time.
    pub distinct: Distinct,
}

/// A reference that is constant during the lifetime of the caller's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownReference {
    Fixed(Reference),
    /// A reference with a base relative to the frame's first cell of the class.
    Frame(Class, Reference),
    /// The caller passes on its own parameter with this index. The reference is the argument that the caller
    /// received for that parameter.
    Parameter(u32),
}

impl ResolvedCall {
    /// Returns the procedure that a part of the call executes.
    pub fn executed(&self, part: Part) -> usize {
        let rule = if part == Part::Rule { self.rule } else { None };
        rule.unwrap_or(self.callee) as usize
    }
}

impl KnownReference {
    /// Returns the reference for a caller with this frame. `references` are the references of all open calls.
    #[inline]
    pub fn of(self, frame: Frame, references: &[Reference]) -> Option<Reference> {
        match self {
            KnownReference::Fixed(reference) => Some(reference),
            KnownReference::Frame(class, reference) => {
                Some(Reference { base: reference.base + frame.start(class), ..reference })
            }
            KnownReference::Parameter(n) => references.get(frame.references as usize + n as usize).copied(),
        }
    }

    fn passed(passed: &Passed) -> Option<KnownReference> {
        match *passed {
            // The adjoint may be that of a parameter, so its reference depends on the call.
            Passed::Cell(slot) if slot.adjoint => None,
            Passed::Cell(slot) => match slot.location {
                Location::Cell(anchor) => Some(KnownReference::at(anchor, 1, 1)),
                Location::Element(_) => None,
            },
            Passed::Whole(Array { base, length }) => Some(KnownReference::at(base, length.unwrap_or(0), 1)),
            Passed::Matrix(Matrix { base, size }) => {
                let (rows, columns) = size.unwrap_or((0, 0));
                Some(KnownReference::at(base, rows, columns))
            }
            Passed::Flat(Matrix { base, size: Some((rows, columns)) }) => {
                Some(KnownReference::at(base, rows * columns, 1))
            }
            Passed::Flat(Matrix { size: None, .. })
            | Passed::Span { .. }
            | Passed::Row { .. }
            | Passed::Column { .. } => None,
        }
    }

    /// Returns a reference to `length` cells from an anchor on. If the anchor is a parameter, the reference has the
    /// parameter's length and stride instead.
    fn at(anchor: Anchor, length: u32, stride: u32) -> KnownReference {
        let at = |base| Reference { base, length, stride };
        match anchor {
            Anchor::Constant(cell) | Anchor::Fixed(cell) => KnownReference::Fixed(at(cell)),
            Anchor::Frame(class, offset) => KnownReference::Frame(class, at(offset)),
            Anchor::Parameter(n) => KnownReference::Parameter(n),
        }
    }
}

/// Resolves the calls of a flow.
pub(super) fn calls(module: &Module, flow: &Flow) -> Vec<ResolvedCall> {
    let mut callers = vec![(0, false); flow.calls().len()];
    for (number, procedure) in (0..).zip(&module.procedures) {
        let steps = flow.steps().get(procedure.entry as usize..=procedure.exit as usize).unwrap_or_default();
        for (at, step) in (procedure.entry..).zip(steps) {
            if let StepLink::Call(call) = step.link
                && let Some(caller) = callers.get_mut(call as usize)
            {
                *caller = (number, flow.fork_around(at).is_some());
            }
        }
    }
    flow.calls().iter().zip(callers).map(|(site, caller)| resolved(module, flow, site, caller)).collect()
}

fn resolved(module: &Module, flow: &Flow, site: &CallSite, (caller, is_task): (u32, bool)) -> ResolvedCall {
    let callee = module.procedures.get(site.procedure as usize);
    let known: Vec<_> = site.arguments.iter().map(KnownReference::passed).collect();
    let computed = (0..).zip(&known).filter(|(_, known)| known.is_none()).map(|(n, _)| n).collect();
    let aliases = Aliases { elements: flow.elements() };
    let may_share =
        |first: usize, second: usize| match (site.arguments.get(first), site.arguments.get(second)) {
            (Some(first), Some(second)) => aliases.may_share(first, second),
            _ => false,
        };
    ResolvedCall {
        caller,
        callee: site.procedure,
        rule: callee.and_then(|callee| callee.rule),
        known,
        computed,
        is_task,
        distinct: callee.map(|callee| Distinct::of(callee, may_share)).unwrap_or_default(),
    }
}
