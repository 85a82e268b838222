//! Effects of a single step, cell by cell, for panes that mark what was just read and written.

use reviver_vm::stops::Node;

use super::Session;
use crate::access;
use crate::memory::Cell;
use crate::outcome::Touch;

impl Session {
    /// Returns the effects, cell by cell, of the step that the session executed last. To determine these effects,
    /// the session executes the step again.
    pub fn footprint(&mut self) -> &[Touch] {
        let (here, facing) = (self.timeline.time_point(), self.facing);
        let known =
            self.footprint.as_ref().is_some_and(|(at, direction, _)| (*at, *direction) == (here, facing));
        if !known {
            let touches = self.find_footprint();
            self.footprint = Some((here, facing, touches));
        }
        self.footprint.as_ref().map_or(&[], |(_, _, touches)| touches)
    }

    fn find_footprint(&mut self) -> Vec<Touch> {
        if self.reason.is_none() {
            return Vec::new();
        }
        let (facing, here) = (self.facing, self.step_number());
        let (first, last) = self.timeline.branch().extent();
        // The last step is executed again only if the current branch has executed it. If the branch begins at the
        // current step, the last step was executed on another branch.
        if !(first..=last).contains(&(here - facing.sign())) {
            return Vec::new();
        }
        // The output of `show` is ignored, because it was printed when the step was executed first.
        let _ = self.timeline.run(facing.reversed(), 1);
        if self.step_number() == here {
            return Vec::new();
        }
        let node = Node::of(self.state(), facing);
        let mut cells = self.touched(node);
        let before: Vec<_> = cells.iter().map(|(cell, ..)| cell.value(self.state())).collect();
        let _ = self.timeline.run(facing, 1);
        if access::jumped(&self.memory, node, self.state().position) {
            let state = self.timeline.state();
            access::visit_partner(&self.memory, state, node, |access, cell| note(&mut cells, access, cell));
        }
        let before = before.into_iter().chain(std::iter::repeat(None));
        let touch = |(&(cell, read, written), from): (&(Cell, bool, bool), Option<_>)| {
            let to = cell.value(self.state());
            let from = if written { from } else { to };
            self.touch_of(cell, (read, written), (from, to), node, facing)
        };
        cells.iter().zip(before).map(touch).collect()
    }

    /// Returns the cells that the step from a node reads or writes, each once. The first flag of a cell is true if
    /// the step reads the cell, the second if the step writes it.
    pub(super) fn touched(&self, node: Node) -> Vec<(Cell, bool, bool)> {
        let mut cells = Vec::new();
        access::visit(&self.memory, self.state(), node, |access, cell| note(&mut cells, access, cell));
        cells
    }
}

fn note(cells: &mut Vec<(Cell, bool, bool)>, access: access::Access, cell: Cell) {
    let written = access == access::Access::Write;
    match cells.iter_mut().find(|(known, ..)| *known == cell) {
        Some((_, read, write)) => {
            *read |= !written;
            *write |= written;
        }
        None => cells.push((cell, !written, written)),
    }
}
