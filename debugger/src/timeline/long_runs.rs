//! Chooses between the interpreter and a faster engine that must compile code first. Short runs use the
//! interpreter, so that no key press waits for compilation.

use std::sync::Arc;

use reviver_vm::Runner;

/// Number of steps at the beginning of each movement that are interpreted. Interpreting them takes a few
/// milliseconds.
const FIRST: u64 = 1 << 20;
/// Minimum number of steps that are interpreted after a pause of the run. So a run that pauses often is always
/// interpreted.
const BETWEEN: u64 = 1 << 14;
/// Number of further steps to interpret after a pause, per open call. Switching to the other engine takes longer if
/// more calls are open, because the switch scans all open calls.
const BETWEEN_PER_CALL: u64 = 8;

/// The engine for long runs. Its results are the same as the interpreter's.
#[derive(Clone, Debug)]
pub struct LongRuns {
    runner: Arc<dyn Runner>,
    first: u64,
    between: u64,
    /// Number of steps that are still to be interpreted.
    left: u64,
}

impl LongRuns {
    /// Creates the default policy: the engine is used after about a million steps of a movement.
    pub fn new(runner: Arc<dyn Runner>) -> LongRuns {
        LongRuns { runner, first: FIRST, between: BETWEEN, left: FIRST }
    }

    /// Creates a policy that uses the engine from the first step on.
    pub fn eager(runner: Arc<dyn Runner>) -> LongRuns {
        LongRuns { runner, first: 0, between: 0, left: 0 }
    }

    /// Restarts the count of interpreted steps, at the beginning of a movement.
    pub(super) fn begin(&mut self) {
        self.left = self.first;
    }

    /// Informs the policy of a pause of the run; `calls` is the number of open calls. The caller must report every
    /// pause.
    pub(super) fn pause(&mut self, calls: usize) {
        self.left = self.left.max(self.between).max(BETWEEN_PER_CALL.saturating_mul(calls as u64));
    }

    /// Subtracts executed steps from those left to the interpreter.
    pub(super) fn made(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }

    /// Returns the number of steps, at most `steps`, that can be executed before the engine must be chosen again.
    pub(super) fn part(&self, steps: u64) -> u64 {
        if self.left == 0 { steps } else { steps.min(self.left) }
    }

    /// Returns the engine for the next steps, or `None` for the interpreter.
    pub(super) fn now(&self) -> Option<&Arc<dyn Runner>> {
        Some(&self.runner).filter(|_| self.left == 0)
    }

    /// Returns the engine for long runs.
    pub(crate) fn runner(&self) -> &Arc<dyn Runner> {
        &self.runner
    }
}

#[cfg(test)]
mod tests {
    use reviver_vm::stops::Stops;
    use reviver_vm::travel::Segment;
    use reviver_vm::{Machine, Stop, Trap};

    use super::*;

    #[derive(Debug)]
    struct NoObserver;

    impl Runner for NoObserver {
        fn run(&self, machine: &mut Machine, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap> {
            machine.interpret(stops, segment)
        }
    }

    #[test]
    fn short_motions_use_the_interpreter_before_compiled_code() {
        let mut long_runs = LongRuns::new(Arc::new(NoObserver));
        assert_eq!((long_runs.part(u64::MAX), long_runs.part(3)), (FIRST, 3));
        long_runs.made(FIRST - 1);
        assert!(long_runs.now().is_none());
        long_runs.made(1);
        assert!(long_runs.now().is_some() && long_runs.part(u64::MAX) == u64::MAX);
        long_runs.pause(1);
        assert_eq!(long_runs.part(u64::MAX), BETWEEN);
        long_runs.pause(1 << 14);
        assert_eq!(long_runs.part(u64::MAX), BETWEEN_PER_CALL << 14);
        long_runs.begin();
        assert_eq!(long_runs.part(u64::MAX), FIRST);
        let mut eager = LongRuns::eager(Arc::new(NoObserver));
        eager.begin();
        eager.pause(0);
        assert!(eager.now().is_some());
    }
}
