//! Exits of an SSA function, and the cells that code must store in memory before exits and out-of-line calls. This
//! module is independent of machine steps.

use reviver_flow::Anchor;
use reviver_flow::graph::CodeDirection;
use reviver_isa::instruction::Class;

use super::draft::CellVariable;
use super::inlining::{CallEdge, FunctionCall, InlinedFrames};
use super::writer::StepWriter;
use crate::function::{
    Demands, LevelDemands, OpenedCall, OutOfLineCall, REFERENCE_WORDS, SsaEnd, SsaExit, TOP_WORD,
};
use crate::op::{OpKind, Space};

/// Exits of an SSA function under construction.
pub(super) struct Exits<'a, 'f> {
    inlined_frames: &'a InlinedFrames<'f>,
    pub all: Vec<SsaExit>,
}

impl<'a, 'f> Exits<'a, 'f> {
    pub fn of(inlined_frames: &'a InlinedFrames<'f>) -> Exits<'a, 'f> {
        Exits { inlined_frames, all: Vec::new() }
    }

    /// Adds an exit at a position of an inlined frame.
    pub fn to(&mut self, inlined_frame: u32, position: u32) -> SsaEnd {
        self.exit(inlined_frame, position, false)
    }

    /// Adds the exit that is taken if there is no space for a call.
    pub fn full(&mut self, inlined_frame: u32, position: u32) -> SsaEnd {
        self.exit(inlined_frame, position, true)
    }

    fn exit(&mut self, inlined_frame: u32, position: u32, is_full: bool) -> SsaEnd {
        let calls = inlined_calls(self.inlined_frames, inlined_frame);
        let direction = self
            .inlined_frames
            .get(inlined_frame)
            .map_or(CodeDirection::Forward, |inlined_frame| inlined_frame.direction);
        self.all.push(SsaExit { position, direction, calls, is_full });
        SsaEnd::Exit { exit: self.all.len() as u32 - 1 }
    }
}

/// Returns the inlined calls that are open in an inlined frame.
fn inlined_calls(inlined_frames: &InlinedFrames, number: u32) -> Vec<OpenedCall> {
    let open = inlined_frames.open(number).into_iter();
    open.filter_map(|number| Some(opened(inlined_frames, inlined_frames.get(number)?.called?, number)))
        .collect()
}

/// Returns the properties of an inlined or out-of-line call at an exit.
fn opened(inlined_frames: &InlinedFrames, called: CallEdge, callee: u32) -> OpenedCall {
    OpenedCall {
        site: called.site,
        turns: called.turns,
        references: inlined_frames.arguments(callee),
        frame_ints: inlined_frames.frame_cells(callee, Class::Int),
        frame_reals: inlined_frames.frame_cells(callee, Class::Real),
    }
}

/// Returns all out-of-line calls.
pub(super) fn function_calls(inlined_frames: &InlinedFrames) -> Vec<OutOfLineCall> {
    let call = |&call: &FunctionCall| {
        let FunctionCall { called, callee } = call;
        let mut all = inlined_calls(inlined_frames, called.by);
        all.push(opened(inlined_frames, called, callee));
        OutOfLineCall {
            by: inlined_frames.function(called.by),
            callee,
            opened: all,
            int_offset: inlined_frames.frame_offset(call, Class::Int),
            real_offset: inlined_frames.frame_offset(call, Class::Real),
        }
    };
    inlined_frames.calls().iter().map(call).collect()
}

/// Returns the number of words of a call record: the largest that any call needs.
pub(super) fn record_words(inlined_frames: &InlinedFrames) -> u32 {
    let words = |references: u32| 1 + REFERENCE_WORDS * references;
    let own = (!inlined_frames.begin_in_main()).then(|| words(inlined_frames.arguments(0)));
    let call = |call: &FunctionCall| {
        let inlined_calls = inlined_frames.open(call.called.by).into_iter().skip(1);
        words(
            inlined_frames.arguments(call.callee)
                + inlined_calls.map(|n| inlined_frames.arguments(n)).sum::<u32>(),
        )
    };
    inlined_frames.calls().iter().map(call).chain(own).max().unwrap_or(0)
}

/// Returns the memory demands of a function with these exits and out-of-line calls. `record` is the number of words of
/// a call record.
pub(super) fn demands(
    inlined_frames: &InlinedFrames,
    exits: &[SsaExit],
    calls: &[OutOfLineCall],
    record: u32,
) -> Demands {
    let mut demands = Demands { record, ..Demands::default() };
    for number in 0..inlined_frames.count() {
        let [ints, reals, depth] = taken(&inlined_calls(inlined_frames, number));
        demands.frame_ints = demands.frame_ints.max(ints);
        demands.frame_reals = demands.frame_reals.max(reals);
        demands.depth = demands.depth.max(depth);
    }
    for call in calls {
        let [ints, reals, depth] = taken(&call.opened);
        let LevelDemands { ints: most_ints, reals: most_reals, depth: most } = demands.level;
        demands.level =
            LevelDemands { ints: most_ints.max(ints), reals: most_reals.max(reals), depth: most.max(depth) };
    }
    let references = |exit: &SsaExit| exit.calls.iter().map(|call| call.references).sum::<u32>();
    demands.references = REFERENCE_WORDS * exits.iter().map(references).max().unwrap_or(0);
    demands
}

/// Returns three sums over some calls: the integer cells in their frames, the real cells in their frames, and the
/// number of calls.
fn taken(calls: &[OpenedCall]) -> [u32; 3] {
    let sum = |[ints, reals, depth]: [u32; 3], call: &OpenedCall| {
        [ints + call.frame_ints, reals + call.frame_reals, depth + 1]
    };
    calls.iter().fold([0; 3], sum)
}

impl StepWriter<'_> {
    /// Appends stores of all live variables of the procedure body to a block.
    pub fn store_cells(self, block: u32) {
        self.draft.enter(block);
        let ends =
            [Class::Int, Class::Real].map(|class| self.inlined_frames.after_frame(self.inlined_frame, class));
        let is_alive =
            |variable: CellVariable| match (variable.anchor, ends[variable.space.class() as usize]) {
                (Anchor::Fixed(cell), Anchor::Fixed(end))
                | (Anchor::Frame(_, cell), Anchor::Frame(_, end)) => cell < end,
                _ => true,
            };
        self.draft.store_variables(is_alive);
    }

    /// At the return of a callee, appends stores of all variables except those of the callee's frame. The return frees
    /// the variables of this frame.
    pub fn store_others(self, block: u32) {
        self.draft.enter(block);
        self.draft.store_variables(|variable| !matches!(variable.anchor, Anchor::Frame(..)));
    }

    /// Appends stores of all live variables and of open calls' arguments, at an exit.
    pub fn store_all(self, block: u32) {
        self.store_cells(block);
        let draft = self.draft;
        let store = |address, value| draft.op(OpKind::Store(Space::References), [address, value]);
        if self.record > 0 {
            store(draft.int(TOP_WORD.into()), draft.records());
        }
        let opened = self.inlined_frames.open(self.inlined_frame).into_iter().skip(1);
        let words: Vec<_> = opened.flat_map(|number| self.all_passed(number)).collect();
        for (word, value) in (0..).zip(words) {
            store(draft.record_word(word), value);
        }
    }
}
