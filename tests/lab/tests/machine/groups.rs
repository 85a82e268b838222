//! SIMD groups of lanes: each lane has the bits of a single run. A group is abandoned only if lanes diverge, or if a
//! lane fails. Tests use the repository's programs, random ones, and texts that diverge, fail, or don't end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::call::{CallMemory, CompiledCall};
use reviver_compile::group::call::{GroupCall, GroupEnd};
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Shape};
use reviver_jit::Jit;
use reviver_lab::calls::subject::opened;
use reviver_lab::campaign;
use reviver_lab::generate::Profile;
use reviver_lab::subject::Subject;
use reviver_vm::differentiate::group::{GROUP, InGroup};
use reviver_vm::differentiate::{SeededCell, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark};

/// Step limit that suffices for most lanes.
const MOST: u64 = 2_000_000;

/// Input cell of the lanes, with the global to which it belongs.
#[derive(Clone, Copy)]
struct InputCell {
    class: Class,
    global: usize,
    cell: usize,
}

/// Program, with its losses that have the same turning point, and the group call that computes their gradients.
struct Trial {
    start: RunStart,
    given: Vec<InputCell>,
    losses: Vec<usize>,
    /// For each loss, the compiled function that computes its gradient in a single lane. Losses whose gradient needs a
    /// machine have no entry.
    alone: Vec<CompiledCall>,
    group: Option<GroupCall>,
    /// True if the group may be abandoned even though each of its lanes would complete alone.
    may_be_needless: bool,
}

/// Results of each loss. In each lane, these are the value of the loss, followed by the adjoints of the real inputs.
type Found = Vec<InGroup<Vec<u64>>>;

impl Trial {
    /// Creates the trial of a program, with up to `most_losses` losses that share the first loss's turning point.
    fn new(program: &Arc<Program>, most_losses: usize, level: CheckLevel) -> Option<Trial> {
        let mut state = Machine::at_begin(program.clone()).ok()?.into_state();
        state.counters.shown = ShownMark::SILENT;
        let start = RunStart::new(program, state)?;
        let globals = || program.module().globals.iter().enumerate().filter(|(_, g)| g.shape != Shape::Stack);
        let cells = |n| program.cells(n);
        let results = globals().filter(|(_, global)| global.class == Class::Real && global.role.is_result());
        let turn = |cell: usize| {
            let stops = early_turn(program, &[cell]);
            stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position)
        };
        let mut losses: Vec<usize> = results.flat_map(|(n, _)| cells(n)).collect();
        let first = turn(*losses.first()?);
        losses.retain(|&cell| turn(cell) == first);
        losses.truncate(most_losses);
        let given = globals().filter(|(_, global)| program.takes(global.role, reviver_vm::Travel::Forward));
        let given = given.flat_map(|(global, declared)| {
            let class = declared.class;
            cells(global).map(move |cell| InputCell { class, global, cell })
        });
        let given: Vec<InputCell> = given.collect();
        let jit = Jit::new().unwrap();
        let place = (first, level);
        let alone = losses.iter().filter_map(|&loss| CompiledCall::new(program, &jit, place, (&[loss], 1)));
        let alone = alone.collect();
        let cells: Vec<(Class, usize)> = given.iter().map(|given| (given.class, given.cell)).collect();
        let rows: Vec<Vec<usize>> = losses.iter().map(|&loss| vec![loss]).collect();
        let group = GroupCall::new(program, &jit, place, (&rows, &cells));
        Some(Trial { start, given, losses, alone, group, may_be_needless: false })
    }

    /// Returns the inputs of a group: the program's own numbers, varied from lane to lane. `apart` scales the
    /// differences.
    fn lanes(&self, apart: i64) -> Vec<InGroup<u64>> {
        let own = |given: &InputCell| match given.class {
            Class::Int => {
                let own = self.start.state().ints[given.cell];
                std::array::from_fn(|lane| (own + apart * (lane as i64 / 2) * (given.cell as i64 % 2)) as u64)
            }
            Class::Real => {
                let own = f64::from_bits(self.start.state().reals[given.cell]);
                let by = 1e-3 * apart.max(1) as f64;
                std::array::from_fn(|lane| (own * (1.0 + by * lane as f64 / 7.0)).to_bits())
            }
        };
        self.given.iter().map(own).collect()
    }

    /// Returns a seed of 1 for each loss.
    fn seeds(&self) -> Vec<Vec<SeededCell>> {
        let seed = |&cell: &usize| vec![SeededCell::loss(self.start.program(), cell)];
        self.losses.iter().map(seed).collect()
    }

    fn group(&self, lanes: &[InGroup<u64>]) -> Option<(GroupEnd, Found)> {
        let group_call = self.group.as_ref()?;
        let mut memory = group_call.memory(&self.start, self.seeds()).unwrap()?;
        lanes.iter().enumerate().for_each(|(n, bits)| memory.give(n, *bits));
        let mut found: Found = Vec::new();
        // The second run uses the same memory, and must find the same results.
        let mut end = GroupEnd::GivenUp;
        for _ in 0..2 {
            found.clear();
            end = group_call.run(&mut memory, MOST, |_, gradient| {
                let mut row: InGroup<Vec<u64>> = gradient.values[0].map(|value| vec![value]);
                for given in self.given.iter().filter(|given| given.class == Class::Real) {
                    let adjoints = gradient.adjoint(given.cell);
                    row.iter_mut().zip(adjoints).for_each(|(row, bits)| row.push(bits));
                }
                found.push(row);
            });
        }
        Some((end, found))
    }

    /// Computes a single lane. Returns `None` if it fails or its gradient isn't verified.
    fn lane(&mut self, lanes: &[InGroup<u64>], lane: usize) -> Option<Vec<Vec<u64>>> {
        for (given, bits) in self.given.iter().zip(lanes) {
            let (cells, bits) = (given.cell..given.cell + 1, bits[lane]);
            match given.class {
                Class::Int => self.start.ints_mut(given.global, cells).fill(bits as i64),
                Class::Real => self.start.reals_mut(given.global, cells).fill(bits),
            }
        }
        let mut memory = CallMemory::default();
        let reals: Vec<InputCell> =
            self.given.iter().copied().filter(|given| given.class == Class::Real).collect();
        let own = |(call, seeds): (&CompiledCall, &Vec<SeededCell>)| {
            call.run(&self.start, &[seeds], &mut memory, MOST)?;
            let adjoints = reals.iter().map(|given| memory.adjoints(0)[given.cell]);
            Some(memory.values(0).iter().copied().chain(adjoints).collect::<Vec<u64>>())
        };
        self.alone.iter().zip(&self.seeds()).map(own).collect()
    }

    /// Compares a group with its lanes computed singly. Returns how the group ended; `None` if the program can't run
    /// in groups.
    fn held(&mut self, what: &str, lanes: &[InGroup<u64>]) -> Option<GroupEnd> {
        let (end, found) = self.group(lanes)?;
        let alone: Vec<Option<Vec<Vec<u64>>>> = (0..GROUP).map(|lane| self.lane(lanes, lane)).collect();
        match end {
            GroupEnd::Done => {
                for (lane, alone) in alone.iter().enumerate() {
                    let alone =
                        alone.as_ref().unwrap_or_else(|| panic!("{what}: lane {lane} doesn't arrive"));
                    assert_eq!(alone.len(), found.len(), "{what}");
                    for (row, alone) in alone.iter().enumerate() {
                        assert_eq!(&found[row][lane], alone, "{what}: loss {row} of lane {lane}");
                    }
                }
            }
            GroupEnd::Diverged(first) => assert!((1..GROUP).contains(&first), "{what}: {first}"),
            GroupEnd::GivenUp => {
                let is_needless = alone.iter().all(Option::is_some);
                assert!(!is_needless || self.may_be_needless, "{what}: all lanes arrive");
            }
        }
        if end != GroupEnd::Done {
            assert!(found.is_empty(), "{what}: what isn't done is told");
        }
        Some(end)
    }
}

/// Number of groups for each way in which they ended.
#[derive(Default, Debug)]
struct Ends(BTreeMap<&'static str, usize>);

impl Ends {
    fn add(&mut self, end: Option<GroupEnd>) {
        let name = match end {
            None => "no code",
            Some(GroupEnd::Done) => "done",
            Some(GroupEnd::Diverged(_)) => "parted",
            Some(GroupEnd::GivenUp) => "given up",
        };
        *self.0.entry(name).or_default() += 1;
    }

    fn of(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }
}

fn shipped() -> Vec<(String, Arc<Program>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm"));
    let programs = texts.filter_map(|path| {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(path).unwrap(), &Disk).module.unwrap();
        Some((name, Arc::new(Program::new(module, 0).ok()?)))
    });
    programs.collect()
}

#[test]
fn simd_groups_of_shipped_programs_equal_their_lanes() {
    let mut ends = Ends::default();
    for (name, program) in shipped() {
        if program.module().real != RealSystem::F64 {
            continue;
        }
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            for losses in [1, 3] {
                let Some(mut trial) = Trial::new(&program, losses, level) else { continue };
                for apart in [0, 1, 3] {
                    let lanes = trial.lanes(apart);
                    ends.add(trial.held(&name, &lanes));
                }
            }
        }
    }
    println!("{ends:?}");
    assert!(ends.of("done") > 200 && ends.of("parted") > 10, "{ends:?}");
}

#[test]
fn simd_groups_of_random_programs_equal_their_lanes() {
    let mut ends = Ends::default();
    for seed in 0..campaign::programs(600) {
        let profile = Profile { gradient: false, steps: 300, statements: 4, ..Profile::of_seed(seed) };
        let text = opened(&reviver_lab::generate::program(seed, &profile));
        let Ok(subject) = Subject::new(&text) else { continue };
        if subject.program.module().real != RealSystem::F64 {
            continue;
        }
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let Some(mut trial) = Trial::new(&subject.program, 3, level) else { continue };
            for apart in [0, 1] {
                let lanes = trial.lanes(apart);
                ends.add(trial.held(&format!("seed {seed}"), &lanes));
            }
        }
    }
    println!("{ends:?}");
    assert!(ends.of("done") > 80, "{ends:?}");
}

fn trial(text: &str, losses: usize) -> Trial {
    let program = Subject::new(text).unwrap_or_else(|error| panic!("{error}")).program;
    let trial = Trial::new(&program, losses, CheckLevel::Checked).unwrap();
    assert!(trial.group.is_some(), "there is code for groups");
    trial
}

fn reals(values: InGroup<f64>) -> InGroup<u64> {
    values.map(f64::to_bits)
}

/// Program that sums x n times, and squares it.
const ROUNDS: &str = "\
.in n
.inout x: real
.out y: real
for i in 0..n
    add y, square(x)
rof
";

#[test]
fn lanes_diverge_at_the_first_difference_from_lane_0() {
    let x = reals([1.5, -2.0, 0.0, 1e3]);
    for (n, end) in [
        ([3, 3, 3, 3], GroupEnd::Done),
        ([0, 0, 0, 0], GroupEnd::Done),
        ([3, 3, 3, 4], GroupEnd::Diverged(3)),
        ([3, 3, 2, 3], GroupEnd::Diverged(2)),
        ([0, 5, 5, 5], GroupEnd::Diverged(1)),
        ([5, 0, 5, 0], GroupEnd::Diverged(1)),
    ] {
        assert_eq!(trial(ROUNDS, 1).held("rounds", &[n, x]), Some(end), "{n:?}");
    }
}

/// Program that stores and loads elements at indices that differ between lanes. Its words are short, so that integers
/// wrap.
const ELEMENTS: &str = "\
.word 16
.in n
.inout A[4]: real
.out y: real, z: real
.var B[4]: real, k, m
add k, n * 3
sub k, n * 2
xor k, 1
add m, 32767
add m, n
add B[k], A[n] * A[k]
add y, B[k]
add z, B[k] * A[n]
add.toreal z, m
";

/// Program that stores to an element whose index depends on the lane, then loads a fixed element, which may be the
/// same one.
const OVERLAID: &str = "\
.in n
.inout A[3]: real
.out y: real
sub.mul A[n], A[0], 2.0
add.mul A[1], A[2], 3.0
add y, A[1] * A[2]
add A[n], 1.0
";

#[test]
fn an_element_is_loaded_after_a_store_that_may_alias() {
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        let program = Subject::new(OVERLAID).unwrap().program;
        let mut own = Trial::new(&program, 1, level).unwrap();
        let a =
            [1.5, -2.5, 4.0].map(|value: f64| [value, value + 1.0, value * 3.0, -value].map(f64::to_bits));
        for n in [[1, 2, 1, 2], [1, 1, 1, 1], [2, 2, 1, 1]] {
            assert_eq!(own.held("overlaid", &[&[n][..], &a].concat()), Some(GroupEnd::Done));
        }
    }
}

#[test]
fn addresses_may_differ_between_lanes() {
    let mut own = trial(ELEMENTS, 2);
    let a =
        [1.0, -2.5, 3.0, 0.25].map(|value: f64| [value, value + 1.0, value * 3.0, -value].map(f64::to_bits));
    let lanes = |n: InGroup<u64>| [&[n][..], &a].concat();
    assert_eq!(own.held("elements", &lanes([0, 1, 2, 3])), Some(GroupEnd::Done));
    assert_eq!(own.held("elements", &lanes([3, 3, 0, 1])), Some(GroupEnd::Done));
    // Indices that are out of bounds in one lane.
    for outside in [4, -1_i64 as u64, 1000] {
        assert_eq!(own.held("elements", &lanes([0, 1, outside, 3])), Some(GroupEnd::GivenUp));
    }
}

/// Program with a loop that doesn't end unless x < 0.1. For such an x, the check `vacate t` in the loop fails.
const ENDLESS: &str = "\
.inout x: real
.out y: real
.ancilla t: real, k
from k == 0
    add t, x
    vacate t
loop
    add k, 1
    sub k, 1
    add k, 1
until k > 10 and x < 0.1
sub k, 11
add y, x
";

#[test]
fn a_failed_check_ends_an_endless_loop() {
    let started = Instant::now();
    let mut own = trial(ENDLESS, 1);
    assert_eq!(own.held("endless", &[reals([0.0; GROUP])]), Some(GroupEnd::Done));
    assert_eq!(own.held("endless", &[reals([0.5; GROUP])]), Some(GroupEnd::GivenUp));
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// Program that produces NaNs, in its middle and at its end. It also has a quotient of integers, and powers with
/// different exponents.
const NUMBERS: &str = "\
.in n, d
.inout x: real
.out y: real
.var q
add q, n / d
add y, powi(x, n)
add y, 1.0 / x
add y, sqrt(x)
";

#[test]
fn a_lane_without_a_value_ends_the_simd_group() {
    let mut own = trial(NUMBERS, 1);
    let x = reals([0.5, 1.0, 2.0, 4.0]);
    assert_eq!(own.held("numbers", &[[0, 1, 2, 7], [1, 2, 3, 4], x]), Some(GroupEnd::Done));
    assert_eq!(own.held("numbers", &[[2; GROUP], [1, 2, 0, 4], x]), Some(GroupEnd::GivenUp));
    assert_eq!(
        own.held("numbers", &[[2; GROUP], [1; GROUP], reals([1.0, 0.0, 1.0, 1.0])]),
        Some(GroupEnd::GivenUp)
    );
    assert_eq!(
        own.held("numbers", &[[2; GROUP], [1; GROUP], reals([1.0, 1.0, 1.0, -1.0])]),
        Some(GroupEnd::GivenUp)
    );
}

/// Program that leaves a rounding residue proportional to x. The residue of a lane with a large x would count as a
/// divergence if it were compared with the numbers of another lane.
const UNEQUAL: &str = "\
.inout x: real
.out y: real
.ancilla t: real
add t, 0.3
add t, x * 0.1
sub t, x * 0.1
sub t, 0.3
vacate t
add y, x
";

#[test]
fn lanes_are_verified_independently() {
    let mut own = trial(UNEQUAL, 1);
    for x in [[1e8, 1.0, 1e8, 1.0], [1.0, 1e8, 1.0, 1.0], [1e8; GROUP]] {
        assert_eq!(own.held("unequal", &[reals(x)]), Some(GroupEnd::Done));
    }
}

#[test]
fn an_infinite_sum_of_checked_numbers_ends_a_simd_group() {
    // The reverse sweep checks that it restores x and w. The check of a group adds numbers, whose sum may be
    // infinite.
    let text = ".in a: real\n.inout x: real, w: real\n.out y: real\nadd x, a\nadd w, a\nadd y, x * 1e-10\nadd y, w * 1e-10\n";
    let mut own = trial(text, 1);
    let at = |x: f64| [reals([1.0; GROUP]), reals([x, 1.0, 1.0, 1.0]), reals([x, 1.0, 1.0, 1.0])];
    assert_eq!(own.held("large", &at(1e307)), Some(GroupEnd::Done));
    own.may_be_needless = true;
    assert_eq!(own.held("large", &at(1e308)), Some(GroupEnd::GivenUp));
}
