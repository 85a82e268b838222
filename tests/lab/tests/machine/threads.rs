//! Tasks on threads: a thousand round trips give the same bits, however the threads are scheduled.

use reviver_lab::engine;
use reviver_lab::subject::Subject;
use reviver_lab::tree::in_tree;
use reviver_vm::digest::state_digest;
use reviver_vm::{Stop, Travel};

const RUNS: usize = 1_000;
const THREADS: [u32; 3] = [1, 2, 4];

/// Iteration counts of the runs. In short runs, threads often overtake each other.
const ROUNDS: [&str; 2] = ["steps default 1000", "steps default 20"];

#[test]
fn a_thousand_runs_have_the_same_bits() {
    for name in ["particles_forked.rasm", "particles_forked_plain.rasm"] {
        let text = std::fs::read_to_string(in_tree("programs").join(name)).unwrap();
        assert!(text.contains(ROUNDS[0]), "{name}");
        let subject = Subject::on(engine::REFERENCE, &text.replace(ROUNDS[0], ROUNDS[1])).unwrap();
        let mut expected = None;
        for run in 0..RUNS {
            let threads = THREADS[run % THREADS.len()];
            let mut machine = subject.machine(true);
            machine.run_on_threads(threads, 0);
            let begin = state_digest(machine.state());
            assert_eq!(machine.run(Travel::Forward, u64::MAX), Ok(Stop::Bound));
            let found = (state_digest(machine.state()), machine.history_bytes());
            assert_eq!(*expected.get_or_insert(found), found, "{name}, {threads} threads, run {run}");
            assert_eq!(machine.run(Travel::Backward, u64::MAX), Ok(Stop::Bound));
            assert_eq!(state_digest(machine.state()), begin, "{name}, {threads} threads, run {run}");
        }
    }
}
