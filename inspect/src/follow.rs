//! Runs a program with observers. The run stops at chosen places, passes the state to the observer, and
//! continues.

use reviver_vm::stops::{Node, Stops};
use reviver_vm::strategy::{CheckpointedRun, RunHalt};
use reviver_vm::{State, Stop, Travel};

use crate::memory::{Memory, Target};
use crate::points::{WatchMode, candidates};

/// An observer of states during a run.
pub trait RunObserver {
    /// Observes a state. The state follows an instruction at one of the places, or is at a requested step, or is the
    /// last state of the run. If the state is after an instruction at a place, `behind` is this instruction.
    fn look(&mut self, state: &State, travel: Travel, behind: Option<u32>);

    /// Observes a state at one of the places, before the instruction there is executed.
    fn meet(&mut self, _: &State) {}

    /// Returns the number of steps (at least 1) after which the observer must see a state, even if the run reaches no
    /// place before that. `None` means that the observer sees states only at places.
    fn due(&self, _: &State) -> Option<u64> {
        None
    }
}

/// Several observers that share the same places.
pub struct Several<'l>(pub Vec<&'l mut dyn RunObserver>);

impl RunObserver for Several<'_> {
    fn look(&mut self, state: &State, travel: Travel, behind: Option<u32>) {
        self.0.iter_mut().for_each(|one| one.look(state, travel, behind));
    }

    fn meet(&mut self, state: &State) {
        self.0.iter_mut().for_each(|one| one.meet(state));
    }

    fn due(&self, state: &State) -> Option<u64> {
        self.0.iter().filter_map(|one| one.due(state)).min()
    }
}

/// An observer and the places that it observes.
pub struct PlacedObserver<'l> {
    /// Places at which the run stops for the observer.
    pub places: Stops,
    /// Observer of the states at these places.
    pub looks: &'l mut dyn RunObserver,
}

/// Returns the instructions that may write the cells that `targets` identifies. The list is computed without a state,
/// so it may contain instructions that write none of the cells.
pub fn changes(memory: &Memory, targets: &[Target]) -> Vec<u32> {
    targets.iter().flat_map(|target| candidates(memory, (*target).into(), WatchMode::Write)).collect()
}

/// Returns the places from which a step executes or undoes one of the given instructions: the places before and after
/// each instruction.
pub fn places(memory: &Memory, instructions: impl IntoIterator<Item = u32>) -> Stops {
    Stops::new(memory.program(), instructions.into_iter().flat_map(Node::over))
}

/// Executes at most `budget` steps like [`CheckpointedRun::run`], with an observer.
///
/// # Errors
/// The errors of [`CheckpointedRun::run`].
pub fn run(
    checkpointed_run: &mut CheckpointedRun,
    observer: Option<&mut PlacedObserver<'_>>,
    travel: Travel,
    budget: u64,
) -> Result<Stop, RunHalt> {
    let Some(PlacedObserver { places, looks }) = observer else {
        return checkpointed_run.run(None, travel, budget);
    };
    let mut left = budget;
    loop {
        let state = checkpointed_run.machine().state();
        let before = state.step;
        let node = Node::of(state, travel);
        let is_place = places.contains(node);
        if is_place && left > 0 {
            looks.meet(state);
        }
        let due = looks.due(state).unwrap_or(u64::MAX).max(1);
        let part = left.min(due).min(if is_place { 1 } else { u64::MAX });
        let outcome = checkpointed_run.run(Some(&*places).filter(|_| !is_place), travel, part);
        let state = checkpointed_run.machine().state();
        let made = state.step.abs_diff(before);
        left -= made.min(left);
        if made > 0 && (is_place || made == due) {
            looks.look(state, travel, is_place.then(|| node.instruction()));
        }
        let goes_on = outcome.as_ref().is_ok_and(|stop| *stop == Stop::Budget);
        let is_stuck = made == 0 && !places.contains(Node::of(state, travel));
        if !goes_on || left == 0 || is_stuck {
            return outcome;
        }
    }
}
