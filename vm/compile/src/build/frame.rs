//! Segments of a callee's frame in the order in which cells are freed: single cells, or runs of adjacent memory cells.
//! This module is independent of machine steps.

use reviver_isa::instruction::Class;

use super::inlining::InlinedFrames;
use super::storage::FunctionStorage;

/// Segment of a frame: cells of one class, given by their offsets in the frame. Either one loop frees all cells of the
/// segment, or each cell is freed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameSegment {
    pub class: Class,
    pub first: u32,
    pub count: u32,
    /// True if a loop frees the cells.
    pub is_loop: bool,
}

/// Least number of adjacent cells that are freed by a loop.
const SHORTEST_LOOP: u32 = 8;

/// Returns the segments of an inlined frame: all integers, then all reals.
pub(super) fn segments(
    inlined_frames: &InlinedFrames,
    storages: &FunctionStorage,
    inlined_frame: u32,
) -> Vec<FrameSegment> {
    let storage = storages.of(inlined_frames.function(inlined_frame));
    let mut segments: Vec<FrameSegment> = Vec::new();
    for class in [Class::Int, Class::Real] {
        let cells = 0..inlined_frames.frame_cells(inlined_frame, class);
        let is_in_memory =
            |offset| !storage.is_variable(class, inlined_frames.frame_cell(inlined_frame, class, offset));
        let mut next = cells.start;
        while next < cells.end {
            let count = (next..cells.end).take_while(|&offset| is_in_memory(offset)).count() as u32;
            let is_loop = count >= SHORTEST_LOOP;
            let count = if is_loop { count } else { count.max(1) };
            segments.push(FrameSegment { class, first: next, count, is_loop });
            next += count;
        }
    }
    segments
}
