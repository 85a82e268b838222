//! Evaluates watchpoints: determines the reads and writes of watched cells by a step, and changes of watched
//! expressions. The states before and after the step are compared, so the result is the same for both
//! directions of travel.

use reviver_vm::State;
use reviver_vm::Travel;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::stops::Node;
use reviver_vm::values::Value;

use super::{Session, SessionError, scene};
use crate::access::{self, Access};
use crate::cell_set::ResolvedSet;
use crate::expression::{Computed, Scene};
use crate::listing::spell;
use crate::memory::Cell;
use crate::outcome::{Hit, HitKind, Printed, Touch};
use crate::points::{PointVerdict, Trigger, WatchMode, WatchedPlace};

/// Observations that are made before a step is executed, and evaluated after it.
#[derive(Default)]
pub(super) struct Watching {
    /// True if the observations are about the next step. False if the machine runs over several steps, none of
    /// which can trigger a watchpoint.
    looks: bool,
    /// The observations, in the order of the points' indices.
    seen: Vec<Seen>,
}

/// A cell or an expression that a point watches, with the cell's or the expression's value before the step.
struct Seen {
    /// Index of the point among all points.
    point: usize,
    watch: WatchMode,
    what: SeenPlace,
}

enum SeenPlace {
    Cell {
        cell: Cell,
        read: bool,
        written: bool,
        before: Option<Value>,
    },
    /// The watched expression; `before` is `None` if the expression has no value.
    Value {
        before: Option<Computed>,
    },
}

/// A step that triggered a watchpoint, with the observation before the step. `from` and `to` are the values before
/// and after the step, in the order of travel. `verdict` has the results of the point's condition and message.
struct SeenChange {
    seen: Seen,
    from: Option<Computed>,
    to: Option<Computed>,
    verdict: PointVerdict,
}

impl Session {
    /// Records the watched cells that the step from a node will read and write, and the watched values before the
    /// step.
    pub(super) fn look_at_watched(&self, node: Node, watching: &mut Watching) {
        watching.seen.clear();
        watching.looks = true;
        let sets = self.watched_sets();
        if !sets.is_empty() {
            access::visit(&self.memory, self.state(), node, |access, cell| {
                self.note_access(&sets, watching, access, cell);
            });
        }
        for (point, _) in self.enabled() {
            if let Some(before) = self.watched_value(point) {
                let what = SeenPlace::Value { before };
                watching.seen.push(Seen { point, watch: WatchMode::Change, what });
            }
        }
        watching.seen.sort_by_key(|seen| seen.point);
    }

    /// Returns the sets of cells that enabled points watch, except sets whose frames aren't open. With each set,
    /// returns the index and the mode of its point.
    fn watched_sets(&self) -> Vec<(usize, WatchMode, ResolvedSet)> {
        let set = |(n, trigger): (usize, &Trigger)| match trigger {
            Trigger::Watch { watched: WatchedPlace::Cells(cells), watch, .. } => {
                Some((n, *watch, cells.resolve(&self.memory, self.state())?))
            }
            _ => None,
        };
        self.enabled().filter_map(set).collect()
    }

    /// Returns the value of the expression that a point watches, or `Some(None)` if the expression has no
    /// value. Returns `None` if the point watches no expression, or if a frame of the expression isn't open.
    fn watched_value(&self, point: usize) -> Option<Option<Computed>> {
        match &self.points.get(point)?.trigger {
            Trigger::Watch { watched: WatchedPlace::Value(expression), .. } => {
                let value = expression.evaluate(scene(&self.memory, &self.timeline))?;
                Some(value.ok())
            }
            _ => None,
        }
    }

    fn enabled(&self) -> impl Iterator<Item = (usize, &Trigger)> {
        let enabled = self.points.iter().enumerate().filter(|(_, point)| point.enabled);
        enabled.map(|(n, point)| (n, &point.trigger))
    }

    fn note_access(
        &self,
        sets: &[(usize, WatchMode, ResolvedSet)],
        watching: &mut Watching,
        access: Access,
        touched: Cell,
    ) {
        for &(point, watch, _) in sets.iter().filter(|(.., set)| set.contains(touched)) {
            let known = watching.seen.iter_mut().find(|seen| seen.is_of(point, touched));
            let (is_read, is_written) = (access == Access::Read, access == Access::Write);
            match known.map(|seen| &mut seen.what) {
                Some(SeenPlace::Cell { read, written, .. }) => {
                    *read |= is_read;
                    *written |= is_written;
                }
                _ => {
                    let before = touched.value(self.state());
                    let what = SeenPlace::Cell { cell: touched, read: is_read, written: is_written, before };
                    watching.seen.push(Seen { point, watch, what });
                }
            }
        }
    }

    /// If the last step took a branch, adds the cells that the condition of the branch's partner reads. Does
    /// nothing if the step wasn't observed, because the machine may then have run over several steps since `node`.
    pub(super) fn look_at_partner(&self, node: Node, watching: &mut Watching) {
        let looks = std::mem::take(&mut watching.looks);
        if !looks || !access::jumped(&self.memory, node, self.state().position) {
            return;
        }
        let sets = self.watched_sets();
        if !sets.is_empty() {
            access::visit_partner(&self.memory, self.state(), node, |access, cell| {
                self.note_access(&sets, watching, access, cell);
            });
            watching.seen.sort_by_key(|seen| seen.point);
        }
    }

    /// Returns the watchpoints that the step just executed has hit and that stop the scan.
    pub(super) fn written(
        &mut self,
        node: Node,
        watching: &mut Watching,
        travel: Travel,
        printed: &mut Printed,
    ) -> Vec<Hit> {
        self.look_at_partner(node, watching);
        let mut changes = self.changes_seen(watching, travel).into_iter().peekable();
        let mut hits = Vec::new();
        while let Some(change) = changes.next() {
            let (point, watch) = (change.seen.point, change.seen.watch);
            let mut together = vec![change];
            while let Some(next) = changes.next_if(|next| next.seen.point == point) {
                together.push(next);
            }
            let touches = together.iter().map(|change| self.touch(change, node, travel)).collect();
            let verdicts = together.into_iter().map(|change| change.verdict).collect();
            hits.extend(self.decide(verdicts, point, HitKind::Watch { watch, touches }, printed));
        }
        hits
    }

    /// Returns true if the step just executed triggered a watchpoint, so that a scan may stop there.
    pub(super) fn has_hit(&mut self, node: Node, watching: &mut Watching, travel: Travel) -> bool {
        self.look_at_partner(node, watching);
        !self.changes_seen(watching, travel).is_empty()
    }

    /// Returns the changes that the step made to watched objects, except those for which the point's
    /// condition is false.
    fn changes_seen(&mut self, watching: &mut Watching, travel: Travel) -> Vec<SeenChange> {
        let mut changes = Vec::new();
        for seen in watching.seen.drain(..) {
            if let Some((from, to)) = self.change(&seen) {
                let verdict = self.verdict(seen.point, (from, to), travel);
                if !matches!(verdict, PointVerdict::Passes) {
                    changes.push(SeenChange { seen, from, to, verdict });
                }
            }
        }
        changes
    }

    /// Returns the values before and after the step in the direction of travel, if the step triggers the
    /// point.
    fn change(&self, seen: &Seen) -> Option<(Option<Computed>, Option<Computed>)> {
        match seen.what {
            SeenPlace::Cell { cell, read, written, before } => {
                let after = cell.value(self.state());
                let is_wanted = seen.watch.wants(read, written, written && before != after);
                is_wanted.then(|| (before.map(Computed::from), after.map(Computed::from)))
            }
            SeenPlace::Value { before } => {
                let after = self.watched_value(seen.point)?;
                let is_same = match (before, after) {
                    (Some(before), Some(after)) => before.is(after),
                    (before, after) => before.is_none() && after.is_none(),
                };
                (!is_same).then_some((before, after))
            }
        }
    }

    /// Evaluates the condition and the message of a point, in the state that is after the write in time. If the
    /// session travels backward, it has just left this state, so the session peeks at the state.
    fn verdict(
        &mut self,
        point: usize,
        (from, to): (Option<Computed>, Option<Computed>),
        travel: Travel,
    ) -> PointVerdict {
        let Some(point) = self.points.get(point) else { return PointVerdict::Passes };
        if travel == Travel::Forward {
            return point.verdict(scene(&self.memory, &self.timeline).with_written(from, to));
        }
        if point.condition.is_none() && point.log.is_none() {
            return PointVerdict::Counts { condition_error: None, message: None };
        }
        let (memory, step) = (&self.memory, self.timeline.time_point().step + 1);
        let verdict = |state: &State, _| {
            let innermost = Scene::new(memory, state, step, state.calls.len());
            point.verdict(innermost.with_written(to, from))
        };
        match self.timeline.branch_mut().peek(Travel::Forward, verdict) {
            Ok(Some(verdict)) => verdict,
            // The machine has just undone this step, so executing it again can fail only for lack of memory.
            Ok(None) | Err(_) => {
                let error = SessionError::NoMemory(OutOfMemory).to_string();
                PointVerdict::Counts { condition_error: Some(error), message: None }
            }
        }
    }

    /// Describes the effect of one step on the watched cell or expression of `change`. The step began at `node`
    /// and was just executed. The values in `change` are in the order of travel; in the result, the earlier value
    /// in time is first.
    fn touch(&self, change: &SeenChange, node: Node, travel: Travel) -> Touch {
        let (cell, name, access) = match change.seen.what {
            SeenPlace::Cell { cell, read, written, .. } => {
                (Some(cell), self.memory.name(self.state(), cell), (read, written))
            }
            SeenPlace::Value { .. } => {
                let text = self.points.get(change.seen.point).map(|point| point.text.clone());
                (None, text.unwrap_or_default(), (false, true))
            }
        };
        let scene = self.scene();
        let text = |value: Option<Computed>| value.map_or_else(|| "no value".into(), |v| scene.text(v));
        self.touch_named((cell, name), access, (text(change.from), text(change.to)), node, travel)
    }

    /// Describes the effect of one step on `cell`. The step began at `node` and was just executed. The values
    /// `from` and `to` are in the order of travel; in the result, the earlier value in time is first.
    pub(super) fn touch_of(
        &self,
        cell: Cell,
        access: (bool, bool),
        (from, to): (Option<Value>, Option<Value>),
        node: Node,
        travel: Travel,
    ) -> Touch {
        let text = |value: Option<Value>| value.map_or_else(|| "?".into(), |v| self.program().text(v));
        let name = self.memory.name(self.state(), cell);
        self.touch_named((Some(cell), name), access, (text(from), text(to)), node, travel)
    }

    fn touch_named(
        &self,
        (cell, name): (Option<Cell>, String),
        (read, written): (bool, bool),
        (from, to): (String, String),
        node: Node,
        travel: Travel,
    ) -> Touch {
        let (before, after) = if travel == Travel::Forward { (from, to) } else { (to, from) };
        // A step backward may end at a `from`, or at the beginning of a procedure. Forward in time, this step is a
        // jump or a call, so the instruction is the one that comes next now.
        let has_stepped = Node::of(self.state(), travel) != node;
        let next = self.next_instruction().filter(|_| has_stepped && travel == Travel::Backward);
        let at = next.unwrap_or(node.instruction());
        let back = i64::from(travel == Travel::Forward);
        Touch {
            cell,
            name,
            before,
            after,
            written,
            read,
            step: self.step_number() - back,
            at,
            // As executed forward in time, the instruction is inverted if the machine runs inverted.
            instruction: spell(self.program(), at, node.backward != (travel == Travel::Backward)),
            line: self.listing.line(at),
        }
    }
}

impl Seen {
    /// Returns true if this observation is of the given point and the given cell.
    fn is_of(&self, point: usize, touched: Cell) -> bool {
        self.point == point && matches!(self.what, SeenPlace::Cell { cell, .. } if cell == touched)
    }
}
