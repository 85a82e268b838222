//! When the steps of a run are made by somebody who is faster than the interpreter, but has to make code first. What is over
//! soon stays the interpreter's, so that no key waits for code. Knows no branch and no engine.

use std::sync::Arc;

use reviver_vm::Runner;

/// Steps of each motion that the interpreter makes before anybody else: a few milliseconds.
const FIRST: u64 = 1 << 20;
/// Steps that it makes behind a place that was looked at: where these are close to each other, they all are its own.
const BETWEEN: u64 = 1 << 14;
/// The same for each call that is open: whoever begins to make steps looks through all of them.
const BETWEEN_PER_CALL: u64 = 8;

/// Who makes the steps of long runs in the interpreter's place. What comes out is the same.
#[derive(Clone, Debug)]
pub struct LongRuns {
    runner: Arc<dyn Runner>,
    first: u64,
    between: u64,
    /// Steps that are the interpreter's still.
    left: u64,
}

impl LongRuns {
    /// Runs become long after about a million steps.
    pub fn new(runner: Arc<dyn Runner>) -> LongRuns {
        LongRuns { runner, first: FIRST, between: BETWEEN, left: FIRST }
    }

    /// All runs are long.
    pub fn eager(runner: Arc<dyn Runner>) -> LongRuns {
        LongRuns { runner, first: 0, between: 0, left: 0 }
    }

    /// A motion begins.
    pub(super) fn begin(&mut self) {
        self.left = self.first;
    }

    /// The run has come to a place that is to be looked at, inside of so many calls.
    pub(super) fn pause(&mut self, calls: usize) {
        self.left = self.left.max(self.between).max(BETWEEN_PER_CALL.saturating_mul(calls as u64));
    }

    /// So many steps were made.
    pub(super) fn made(&mut self, steps: u64) {
        self.left = self.left.saturating_sub(steps);
    }

    /// Of so many steps those after which it is to be asked again who makes them.
    pub(super) fn part(&self, steps: u64) -> u64 {
        if self.left == 0 { steps } else { steps.min(self.left) }
    }

    /// Who makes the next steps, if it isn't the interpreter.
    pub(super) fn now(&self) -> Option<&Arc<dyn Runner>> {
        Some(&self.runner).filter(|_| self.left == 0)
    }

    /// Who makes steps of long runs.
    pub(crate) fn runner(&self) -> &Arc<dyn Runner> {
        &self.runner
    }
}

#[cfg(test)]
mod tests {
    use reviver_vm::stops::Stops;
    use reviver_vm::travel::Leg;
    use reviver_vm::{Machine, Stop, Trap};

    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl Runner for Nobody {
        fn run(&self, machine: &mut Machine, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap> {
            machine.interpret(stops, leg)
        }
    }

    #[test]
    fn a_motion_and_what_follows_a_look_begin_with_the_interpreter() {
        let mut long_runs = LongRuns::new(Arc::new(Nobody));
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
        let mut eager = LongRuns::eager(Arc::new(Nobody));
        eager.begin();
        eager.pause(0);
        assert!(eager.now().is_some());
    }
}
