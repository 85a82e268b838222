//! Where a form is left: which calls it has opened there, and what has to be in memory. Knows no step.

use reviver_flow::Anchor;
use reviver_isa::instruction::Class;

use super::activation::Activations;
use super::draft::CellVariable;
use super::writer::StepWriter;
use crate::form::{Demands, FormExit, OpenedCall, SsaEnd};
use crate::op::{OpKind, Space};

/// Words of a reference.
const REFERENCE_WORDS: u32 = 3;

/// The exits of a form that is being planned.
pub(super) struct Exits<'a, 'f> {
    activations: &'a Activations<'f>,
    pub all: Vec<FormExit>,
}

impl<'a, 'f> Exits<'a, 'f> {
    pub fn of(activations: &'a Activations<'f>) -> Exits<'a, 'f> {
        Exits { activations, all: Vec::new() }
    }

    /// The end that leads to a position of an activation.
    pub fn to(&mut self, activation: u32, position: u32) -> SsaEnd {
        let open = self.activations.open(activation).into_iter();
        let calls = open.filter_map(|number| opened(self.activations, number)).collect();
        self.all.push(FormExit { position, calls });
        SsaEnd::Exit { exit: self.all.len() as u32 - 1 }
    }
}

/// The call that an activation was made by.
fn opened(activations: &Activations, number: u32) -> Option<OpenedCall> {
    let called = activations.get(number)?.called?;
    Some(OpenedCall {
        site: called.site,
        turns: called.turns,
        references: activations.call(called)?.arguments.len() as u32,
        frame_ints: activations.frame_cells(number, Class::Int),
        frame_reals: activations.frame_cells(number, Class::Real),
    })
}

/// What a form of some activations with these exits needs.
pub(super) fn demands(activations: &Activations, exits: &[FormExit]) -> Demands {
    let mut demands = Demands::default();
    for number in 0..activations.count() {
        let calls = activations.open(number).into_iter().filter_map(|n| opened(activations, n));
        let (mut ints, mut reals, mut depth) = (0, 0, 0);
        for call in calls {
            ints += call.frame_ints;
            reals += call.frame_reals;
            depth += 1;
        }
        demands.frame_ints = demands.frame_ints.max(ints);
        demands.frame_reals = demands.frame_reals.max(reals);
        demands.depth = demands.depth.max(depth);
    }
    let references = |exit: &FormExit| exit.calls.iter().map(|call| call.references).sum::<u32>();
    demands.references = REFERENCE_WORDS * exits.iter().map(references).max().unwrap_or(0);
    demands
}

impl StepWriter<'_> {
    /// Puts everything into memory that is alive in the scope's activation, at the end of a block.
    pub fn store_all(self, block: u32) {
        self.draft.enter(block);
        let ends =
            [Class::Int, Class::Real].map(|class| self.activations.behind_frame(self.activation, class));
        let is_alive =
            |variable: CellVariable| match (variable.anchor, ends[variable.space.class() as usize]) {
                (Anchor::Fixed(cell), Anchor::Fixed(end))
                | (Anchor::Frame(_, cell), Anchor::Frame(_, end)) => cell < end,
                _ => true,
            };
        self.draft.store_variables(is_alive);
        let opened = self.activations.open(self.activation);
        let words = opened.into_iter().flat_map(|number| self.passed.of(number)).flatten();
        for (word, value) in (0..).zip(words.collect::<Vec<_>>()) {
            self.draft.op(OpKind::Store(Space::References), [self.draft.int(word), value]);
        }
    }
}
