//! Stop places, and observers of runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_vm::digest::{Digest, state_digest};
use reviver_vm::observer::Observer;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::travel::Segment;
use reviver_vm::{CheckLevel, Machine, Program, State, Travel};

use crate::machines::{Machines, at_both_ends, both_ends, runners};
use crate::texts::{TRIED, lossless};

#[test]
fn a_run_stops_at_every_stop() {
    for tried in TRIED {
        let [begin, far] = at_both_ends(tried).map(Machines::without_half_improved);
        let instructions = begin.plain.program().module().code.len() as u32;
        let places = (0..instructions).flat_map(|position| [(position, false), (position, true)]);
        for (position, backward) in places {
            let stops = Stops::new(begin.plain.program(), [Node { position, backward }]);
            for (start, travel) in [(&begin, Travel::Forward), (&far, Travel::Backward)] {
                start.copy().run_until(Some(&stops), travel, tried.1);
            }
        }
    }
}

/// Returns stop places in both directions, like many breakpoints: each `every`-th position, beginning with `first`.
fn scattered(program: &Program, first: u32, every: usize) -> Stops {
    let instructions = program.module().code.len() as u32;
    let both = |position| [false, true].map(|backward| Node { position, backward });
    Stops::new(program, (first..instructions).step_by(every).flat_map(both))
}

#[test]
fn a_run_stops_at_several_stops() {
    for tried in TRIED {
        let [begin, far] = at_both_ends(tried);
        for (first, every) in [(2, 3), (1, 7), (4, 11), (5, 23)] {
            let stops = scattered(begin.plain.program(), first, every);
            for (start, travel) in [(&begin, Travel::Forward), (&far, Travel::Backward)] {
                let mut machines = start.copy();
                let mut last = None;
                while last != Some(machines.plain.state().step) {
                    last = Some(machines.plain.state().step);
                    machines.run_until(Some(&stops), travel, tried.1);
                    machines.run(travel, 1);
                }
            }
        }
    }
}

/// Observer that records the state at regular step numbers from step 0 on, and at the end of a run.
struct Regular {
    every: i64,
    seen: BTreeMap<i64, (Digest, i64)>,
}

impl Observer for Regular {
    fn due(&self, state: &State) -> u64 {
        self.every.abs_diff(state.step.unsigned_abs() as i64 % self.every)
    }

    fn look(&mut self, state: &State) {
        if state.step > 0 && state.step % self.every == 0 {
            let seen = (state_digest(state), state.counters.calls);
            assert_eq!(*self.seen.entry(state.step).or_insert(seen), seen, "at {}", state.step);
        }
    }
}

#[test]
fn an_observer_sees_the_states_of_the_interpreter() {
    for (text, steps) in TRIED {
        let module = assemble("seen.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
        let program = Arc::new(Program::new(module, 0).unwrap());
        let start = Machine::at_begin(program.clone()).unwrap();
        for every in [1, 2, 7, 64, 333] {
            // A `show` stops a run.
            let seen = |part: &dyn Fn(&mut Machine, Segment, &mut Regular)| {
                let (mut machine, mut regular) =
                    (start.try_clone().unwrap(), Regular { every, seen: BTreeMap::new() });
                while machine.state().step < steps as i64 {
                    let budget = steps - machine.state().step as u64;
                    part(&mut machine, Segment { travel: Travel::Forward, budget }, &mut regular);
                }
                (machine.into_state(), regular.seen)
            };
            let expected = seen(&|machine, segment, regular| {
                machine.interpret_observed(None, segment, regular).unwrap();
            });
            assert_eq!(expected.1.len() as u64, steps / every as u64);
            for runner in runners(&program, CheckLevel::Checked) {
                let found = seen(&|machine, segment, regular| {
                    runner.run_observed(machine, None, segment, regular).unwrap();
                });
                assert!(found == expected, "every {every}");
            }
        }
    }
}

#[test]
fn a_run_stops_at_every_stop_without_checks() {
    let (text, steps) = lossless().last().unwrap();
    let [begin, far] = both_ends((&text, steps), CheckLevel::Unchecked).map(Machines::without_half_improved);
    for position in 0..begin.plain.program().module().code.len() as u32 {
        for backward in [false, true] {
            let stops = Stops::new(begin.plain.program(), [Node { position, backward }]);
            for (start, travel) in [(&begin, Travel::Forward), (&far, Travel::Backward)] {
                start.copy().run_until(Some(&stops), travel, steps);
            }
        }
    }
}
