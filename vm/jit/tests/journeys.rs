//! Runs by forms, and by native code, stop where runs by the interpreter stop: at any budget, at a trap however late, and where something is
//! shown; and they come to the same state. So do runs that leave checks out, over numbers that lose nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::build;
use reviver_compile::check::check;
use reviver_compile::driver::Driver;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::form::{FrameZeros, Observed, SsaBlock, SsaEnd, SsaForm, StopPlaces, Version};
use reviver_compile::known::KnownCells;
use reviver_compile::op::OpKind;
use reviver_compile::order::{dominators, loop_depths};
use reviver_compile::passes::{PASSES, improved};
use reviver_flow::graph::Way;
use reviver_jit::Jit;
use reviver_vm::digest::{Digest, state_digest};
use reviver_vm::onlooker::Onlooker;
use reviver_vm::state::{Counters, Reference};
use reviver_vm::stops::{Node, Stops};
use reviver_vm::travel::Leg;
use reviver_vm::{CheckLevel, Machine, Program, Runner, State, Stop, Travel};

/// Forms that are well made, as they stand.
#[derive(Debug)]
struct Checked;

impl Backend for Checked {
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>> {
        check(&form).unwrap_or_else(|problem| panic!("{problem}\n{form}"));
        Evaluator.compile(form)
    }
}

/// Who runs a program in the interpreter's place: forms after each pass, and native code.
fn runners(program: &Program, level: CheckLevel) -> Vec<Arc<dyn Runner>> {
    let after = (0..=PASSES.len()).filter_map(|count| PASSES.get(..count));
    let forms = after.map(|passes| {
        Arc::new(Driver::new(program, Checked).improving(passes).checking(level)) as Arc<dyn Runner>
    });
    let native: Arc<dyn Runner> = Arc::new(Driver::new(program, Jit::new().unwrap()).checking(level));
    forms.chain([native]).collect()
}

/// A state without what only those count who check.
fn told(state: &State, level: CheckLevel) -> State {
    let mut state = state.try_clone().unwrap();
    if level == CheckLevel::Unchecked {
        state.counters = Counters::default();
    }
    state
}

/// The same machine several times: one is the interpreter's, the others are run by forms and by native code.
struct Machines {
    level: CheckLevel,
    plain: Machine,
    driven: Vec<Machine>,
}

impl Machines {
    fn of(text: &str) -> Machines {
        Machines::at(text, CheckLevel::Checked)
    }

    fn at(text: &str, level: CheckLevel) -> Machines {
        let assembly = assemble("journey.rasm", text.into(), &FilesInMemory::new());
        let module = assembly.module.unwrap_or_else(|| panic!("{text}: {:?}", assembly.diagnostics));
        let program = Arc::new(Program::new(module, 0).unwrap());
        let plain = Machine::at_begin(program.clone()).unwrap();
        let driven = runners(&program, level).iter().map(|_| plain.try_clone().unwrap()).collect();
        let mut machines = Machines { level, driven, plain };
        machines.run_as(&program);
        machines
    }

    /// Has drivers of a program run those that aren't the interpreter's.
    fn run_as(&mut self, program: &Program) {
        let runners = runners(program, self.level);
        self.driven.iter_mut().zip(runners).for_each(|(driven, runner)| driven.run_by(runner));
    }

    /// Each of them.
    fn each(&mut self) -> impl Iterator<Item = &mut Machine> {
        std::iter::once(&mut self.plain).chain(&mut self.driven)
    }

    /// All run, stop for the same reason, and are the same then.
    #[track_caller]
    fn run(&mut self, travel: Travel, budget: u64) {
        self.run_until(None, travel, budget);
    }

    /// The same, to a place to stop at.
    #[track_caller]
    fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) {
        let expected = self.plain.run_until(stops, travel, budget);
        for (n, driven) in self.driven.iter_mut().enumerate() {
            assert_eq!(driven.run_until(stops, travel, budget), expected, "{n}: {travel:?} {budget}");
            let [found, expected] = [driven.state(), self.plain.state()].map(|state| told(state, self.level));
            assert!(found == expected, "{n}: {travel:?} {budget}: {found:#?}, and not {expected:#?}");
            assert_eq!(driven.reports(), self.plain.reports(), "{n}: {travel:?} {budget}");
        }
    }

    /// Without those whose forms are improved by some passes but not by all: each place to stop at is code of its own for each of them.
    fn without_half_improved(mut self) -> Machines {
        let mut number = 0;
        self.driven.retain(|_| {
            number += 1;
            number == 1 || number > PASSES.len()
        });
        self
    }

    fn copy(&self) -> Machines {
        let driven = self.driven.iter().map(|driven| driven.try_clone().unwrap()).collect();
        Machines { level: self.level, plain: self.plain.try_clone().unwrap(), driven }
    }
}

/// Loops in loops, branches, arrays, calls both ways, floats that lose bits, a stack, and what is shown.
const MANY_THINGS: &str = "\
.in n default 7
.out A[5], sum: real, last
.ancilla x: real
.garbage left[]
for i in 0..n
    for j in 0..4
        add A[j], i
        if j > 1
            add.mul last, i, j
        else
            call halve(A, j)
        fi j > 1
        compute
            add x, toreal(j) * 0.1
            add x, 0.7
        apply
            add sum, x / 3
        uncompute
    rof
    local kept = i
    push kept
    delocal kept = 0
    show last
rof
.proc halve(inout V[], in k)
    add V[k+1], k
    xor V[k], 5
.end
";

/// Calls in calls, both ways, in loops, with rows, columns, spans, elements, matrices and arrays of a frame; floats that
/// frames let go; and a procedure that calls itself.
const CALLS: &str = "\
.in n default 4
.out A[6], M[3,4], B[2,4]: real, sum: real, deep
for i in 0..n
    local r = i % 3
    call fill(A[1..r+3], M, i)
    uncall bump(M[r, ..], A[5], 3)
    call weigh(A[r], i)
    call blur(B[.., r], B[.., 3], sum, 0.3)
    call add_all(deep, M)
    delocal r = i % 3
rof
call down(deep, n)
.proc fill(inout V[], inout N[,], in k)
    for j in 0..len(V)
        add V[j], k
        call bump(N[.., j], V[0], k)
        uncall weigh(V[j], j)
    rof
.end
.proc bump(inout C[], inout a, in k)
.ancilla m, T[30]
    compute
        add m, k + 1
        add T[1], m
        add T[m+9], T[1]
        call weigh(T[2], m)
    apply
        add C[0], T[2]
        if m > 3
            add C[1], m
            add a, T[1]
        fi m > 3
    uncompute
.end
.proc weigh(inout c, in k)
    add c, k
    xor c, 3
.end
.proc blur(inout C[]: real, inout D[]: real, inout s: real, in f: real)
.ancilla t: real, U[12]: real, last: real
    add t, f
    add s, t * 0.7
    call grow(U, t)
    add s, U[1] / 3
    add C[1], U[0]
    add D[0], C[1] * U[1]
    uncall grow(U, t)
    add last, t / 3e13
    sub t, 0.1
    sub t, f - 0.1
.end
.proc grow(inout V[]: real, in f: real)
    add V[0], f * 0.1
    add V[1], exp(V[0])
    add V[0], 0.7
.end
.proc add_all(inout s, in N[,])
    call add_them(s, N)
.end
.proc add_them(inout s, in V[])
    for i in 0..len(V)
        add s, V[i]
    rof
.end
.proc down(inout s, in k)
    if k > 0
        local less = k - 1
        call down(s, less)
        add s, less
        delocal less = k - 1
    fi k > 0
.end
";

/// An `in` parameter that only finds what a call passes, and lies in an array that other steps reach by names.
const INDICES: &str = "\
.in j default 2
.out A[4], B[4]
for r in 0..30
    add A[2], 1
    call at(B, A[j])
    sub A[2], 1
    call twice(A, B)
rof
.proc bump(inout x)
    add x, 1
.end
.proc at(inout v[], in i)
    call bump(v[i])
.end
.proc twice(inout v[], inout w[])
    for k in 0..3
        add v[k+1], 1
        call at(w, v[k+1])
        sub v[k+1], 1
    rof
.end
";

/// Adjoints that are named with the mode off: in main, and in frames that follow each other.
const NAMED_ADJOINTS: &str = "\
.out y: real
.inout x: real default 1
for r in 0..20
    add x', 0.5
    call p(y)
    call p(y)
    call q(y)
    add y, x'
rof
.proc p(inout y: real)
.ancilla t: real
    add t', 1.0
    add y, t'
.end
.proc q(inout y: real)
.ancilla u: real, U[12]: real, k
    add k, 3
    add U'[k], 0.25
    add y, U'[k]
    add y, u'
    sub k, 3
.end
";

/// Recursions: into itself and out of itself, each into the other one, backward, through a callee that is put in place, in loops, with
/// spans, rows and elements, with frames of variables and of arrays, and main's own cells that callees name.
const RECURSIONS: &str = "\
.inout n default 3
.out A[8] = {7, 1, 6, 2, 5, 3, 4, 0}, M[3,4], moves, sum: real, evens, told
.ancilla a, b
for i in 0..2
    call pair(n, a, b)
    add moves, a
    uncall pair(n, a, b)
    add evens, i
    call even(evens, n)
    call spread(A[i..8], M[.., i], i)
rof
call walk(M, n, 0, 2, 1)
call fall(sum, n)
uncall even(moves, n)
.proc pair(inout n, inout a, inout b)
    if n == 0
        add b, 1
    else
        sub n, 1
        call pair(n, a, b)
        add a, b
        swap a, b
    fi a == 0
.end
.proc even(inout c, in k)
    if k > 0
        call odd(c, k - 1)
        add c, k
    fi k > 0
.end
.proc odd(inout c, in k)
.ancilla T[9], t
    if k > 0
        add t, k * 3
        add T[k], t
        uncall even(c, k - 1)
        add told, 1
        xor c, T[k]
        sub T[k], t
        sub t, k * 3
    fi k > 0
.end
.proc spread(inout V[], inout C[], in k)
    local l = len(V) / 2
    if l > 0
        call spread(V[0..l], C, k)
        add C[l % 3], V[l]
        uncall spread(V[l..len(V)], C, l)
        add V[0], k
    fi l > 0
    delocal l = len(V) / 2
.end
.proc walk(inout N[,], in disks, in source, in target, in spare)
    if disks > 0
        call walk(N, disks - 1, source, spare, target)
        call carry(N[source, ..], N[target, disks % 4], disks)
        call walk(N, disks - 1, spare, target, source)
    fi disks > 0
.end
.proc carry(inout R[], inout x, in disks)
    add R[0], 1
    add x, disks
    add moves, 1
    if disks > 2
        call walk(M, 1, 0, 1, 2)
    fi disks > 2
.end
.proc fall(inout s: real, in k)
.ancilla t: real, U[10]: real
    add t, toreal(k) * 0.1
    add s, t / 3
    if k > 0
        add U[k], 0.3
        call fall(U[0], k - 1)
        add s, U[0] * U[k]
        uncall fall(U[0], k - 1)
        sub U[k], 0.3
    fi k > 0
    sub t, 0.1
    sub t, toreal(k) * 0.1 - 0.1
.end
";

/// Programs, and how far they run.
const TRIED: [(&str, u64); 5] =
    [(MANY_THINGS, 400), (CALLS, 700), (INDICES, 900), (NAMED_ADJOINTS, 380), (RECURSIONS, 1141)];

/// What is computed, applied and uncomputed: in loops, branches and callees, both ways, in each other, with arrays whose elements are
/// found by indices.
const PAIRS: &str = "\
.in n default 5
.out A[6], s, r: real, M[2,9]
.inout B[4] default 3
.ancilla t, V[12], u: real, W[9]: real
for i in 0..n
    compute
        add t, i + 2
        for j in 0..t
            add V[j], j * t
            add W[j], toreal(j) * 0.5
        rof
        compute
            for j in 0..2
                add u, W[j+1] * 2.0
            rof
        apply
            add r, u
        uncompute
    apply
        if t > 4
            add s, V[3]
        else
            add s, V[1]
        fi t > 4
        add A[i], V[t-1]
        call q(A, s, t)
        uncall q(M[1, ..], s, i)
    uncompute
    compute
        for j in 0..3
            add B[j], B[j+1]
        rof
    apply
        add s, B[0]
    uncompute
    compute
        from t == 0
            add u, toreal(t)
        loop
            add t, 2
        until t >= i + 3
        if u > 3.0
            add t, 1
        else
            add t, 2
        fi u > 3.0
    apply
        add s, t
    uncompute
rof
.proc q(inout C[], inout z, in k)
.ancilla m, T[20], x
    compute
        for j in 0..k
            add T[j], j + k
        rof
        call fill(T[10..20], k)
        add m, T[1]
        if m > 3
            add x, 2
        else
            add x, 1
        fi m > 3
    apply
        add C[0], T[2] + x
        add z, T[11]
    uncompute
    uncall fill(C[1..4], k)
.end
.proc fill(inout T[], in k)
    compute
        local h = k * 2
    apply
        add T[0], h
        add T[1], h + 1
    uncompute
.end
";

/// Machines at the beginning of a program, and further on.
fn at_both_ends((text, steps): (&str, u64)) -> [Machines; 2] {
    both_ends((text, steps), CheckLevel::Checked)
}

fn both_ends((text, steps): (&str, u64), level: CheckLevel) -> [Machines; 2] {
    let begin = Machines::at(text, level);
    let mut far = begin.copy();
    while far.plain.state().step < steps as i64 {
        let before = far.plain.state().step;
        far.run(Travel::Forward, steps - before as u64);
        assert!(far.plain.state().step > before, "it has no so many steps: {before}");
    }
    [begin, far]
}

#[test]
fn every_budget_leads_to_the_interpreter_s_state() {
    for tried in TRIED {
        let [begin, far] = at_both_ends(tried);
        for budget in 0..tried.1 {
            begin.copy().run(Travel::Forward, budget);
            far.copy().run(Travel::Backward, budget);
        }
    }
}

#[test]
fn adjoints_go_through_calls_as_the_interpreter_carries_them() {
    for tried in [TRIED[1], TRIED[4]] {
        let [_, mut far] = at_both_ends(tried);
        for machine in far.each() {
            let state = machine.state_mut();
            state.set_mode(true);
            state.adjoints_mut().cells.fill(0.7_f64.to_bits());
            machine.watch();
        }
        for budget in 0..tried.1 {
            far.copy().run(Travel::Backward, budget);
        }
    }
}

/// Steps whose sources receive what a number is a multiple of that may be 0, and of which sums may be -0: on variables and in memory,
/// negated, taken away, through a temporary, and by a factor that overflows.
const SMALL_ADJOINTS: &str = "\
.in n default 3
.inout a: real default 2, b: real default 0, c: real default -1.5
.inout A[3]: real default {1, 0, -2}
.out y: real, z: real
.ancilla t: real
for i in 0..n
    add y, a * (b - A[i])
    sub z, square(c - a)
    sub.mul A[i], b, c
    compute
        add t, a * 1e200
        add t, c
    apply
        add z, t * 1e-250
    uncompute
    neg A[i]
    neg c
rof
";

#[test]
fn adjoints_that_are_zero_keep_their_sign() {
    let values = [0.0_f64, -0.0, 1.0, -3.0, 1e200];
    let mut ended = Machines::of(SMALL_ADJOINTS);
    ended.run(Travel::Forward, 1 << 60);
    let reals = ended.plain.state().reals.len();
    for first in 0..values.len().pow(3) {
        let mut machines = ended.copy();
        for machine in machines.each() {
            let state = machine.state_mut();
            state.set_mode(true);
            let adjoints = (0..reals).map(|n| values[first / values.len().pow(n as u32 % 3) % values.len()]);
            state.adjoints_mut().cells = adjoints.map(f64::to_bits).collect();
        }
        machines.run(Travel::Backward, 1 << 60);
    }
}

/// Cells that a loop changes in each round, whose places are found before it, but looked at only in it: an index that another
/// array has already asked for, and one that is just behind a slice.
const PLACES_LOOKED_AT_LATE: [&str; 2] = [
    ".inout A[10]: real, B[10], k default 3, s, x: real default 1\nfor i in 0..20\n add s, B[k]\n add A[k], x\nrof\n",
    ".inout A[10]: real, B[10], k default 3, s, x: real default 1\ncall p(A[k..10], B[k..10], s, x)\n\
     .proc p(inout a[]: real, in b[], inout s, in x: real)\nfor i in 0..20\n add s, b[0]\n add a[0], x\nrof\n.end\n",
];

#[test]
fn a_sum_lies_where_a_check_has_been() {
    for text in PLACES_LOOKED_AT_LATE {
        for k in [0, 9, 10, 11, -1, 1 << 40, i64::MIN] {
            let mut machines = Machines::of(text);
            for machine in machines.each() {
                let (k_is, _) = machine.program().global("k").unwrap();
                let cells = machine.program().cells(k_is);
                machine.state_mut().ints[cells.start] = k;
            }
            for budget in (0..60).chain([1000]) {
                machines.copy().run(Travel::Forward, budget);
            }
        }
    }
}

/// Many values side by side for a long time: registers are given out in another way.
#[test]
fn long_programs_are_compiled_soon() {
    let variables = 40;
    let names: Vec<String> = (0..variables).map(|n| format!("v{n}: real default 0.{}", n + 1)).collect();
    let mut text = format!(".inout {}\n", names.join(", "));
    for n in 0..10_000 {
        let (target, source) = (n % variables, (n * 7 + 1) % variables);
        let source = if source == target { (source + 1) % variables } else { source };
        text.push_str(&format!("add.mul v{target}, v{source}, 0.001\n"));
    }
    let module = assemble("long.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
    let program = Arc::new(Program::new(module, 0).unwrap());
    let mut plain = Machine::at_begin(program.clone()).unwrap();
    let mut driven = plain.try_clone().unwrap();
    driven.run_by(Arc::new(Driver::new(&program, Jit::new().unwrap())));
    let started = Instant::now();
    for machine in [&mut plain, &mut driven] {
        assert_eq!(machine.run(Travel::Forward, 1 << 60), Ok(Stop::Bound));
        machine.state_mut().set_mode(true);
        machine.state_mut().adjoints_mut().cells[3] = 1.0_f64.to_bits();
        assert_eq!(machine.run(Travel::Backward, 1 << 60), Ok(Stop::Bound));
    }
    assert!(plain.state() == driven.state());
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn a_trap_is_the_interpreter_s_however_late_it_comes() {
    for (rounds, broken) in
        [(1, "div"), (400_000, "div"), (400_000, "index"), (400_000, "vacate"), (3, "assert")]
    {
        let at = rounds - 1;
        let step = match broken {
            "div" => format!("add s, 10 / ({at} - i)"),
            "index" => format!("local k = i / {at} * 3\n add A[k], 1\n delocal k = i / {at} * 3"),
            "vacate" => format!("local k = i / {at}\n vacate k\n delocal k = i / {at}"),
            _ => format!("assert i < {at}"),
        };
        let text = format!(".in n default {rounds}\n.out s, A[3]\nfor i in 0..n\n add s, i\n {step}\nrof\n");
        let mut machines = Machines::of(&text);
        machines.run(Travel::Forward, u64::MAX >> 2);
        assert!(machines.plain.run(Travel::Forward, 1).is_err(), "{broken}");
        machines.run(Travel::Backward, u64::MAX >> 2);
    }
}

/// A float that is too large comes by a way round a loop, and leaves through memory before the loop ends.
#[test]
fn a_number_that_is_too_large_is_found_wherever_it_goes() {
    for (position, system) in [(0, "f64"), (7, "f32"), (30, "f64"), (58, "f64"), (59, "f32")] {
        let large = if system == "f64" { "1e200" } else { "1e30" };
        let text = format!(
            ".real {system}\n.inout t: real\n.inout u: real\n.inout a[60]: real\n.inout b[60]: real\n\
             add b[{position}], {large}\nfor i in 0..60\n swap u, a[i]\n swap t, u\n add t, b[i] * b[i]\nrof\n"
        );
        let mut machines = Machines::of(&text);
        machines.run(Travel::Forward, u64::MAX >> 2);
        assert!(machines.plain.run(Travel::Forward, 1).is_err(), "{position} {system}");
    }
}

/// Sums of loops in loops, whose cells are looked at in the end: each may be too large in any round, there and back, and as an adjoint. Two
/// names may be one cell, whose adjoint then gets two parts.
fn sums_of_arrays(system: &str) -> String {
    format!(
        ".real {system}\n.inout x[6]: real default {{1, 2, 3, 4, 5, 6}}, y[6]: real, w: real default 0.5, n default 3\n\
         for t in 0..n\n for i in 0..6\n  add y[i], square(x[i] - x[(i + t) % 6]) * w\n  sub y[i], x[i] * x[i]\n rof\nrof\n"
    )
}

#[test]
fn sums_that_are_too_large_are_found_in_the_end() {
    for (system, large) in [("f64", [1e160, -1e308]), ("f32", [1e20, -3e38])] {
        let machines = Machines::of(&sums_of_arrays(system));
        let first = machines.plain.program().cells(machines.plain.program().global("x").unwrap().0).start;
        let bits = |value: f64| match system {
            "f64" => value.to_bits(),
            _ => u64::from((value as f32).to_bits()),
        };
        let mut ended = machines.copy();
        ended.run(Travel::Forward, 1 << 60);
        for (cell, value) in (0..12).flat_map(|cell| large.map(|value| (first + cell, value))) {
            let mut there = machines.copy();
            there.each().for_each(|machine| machine.state_mut().reals[cell] = bits(value));
            for budget in (0..90).step_by(7).chain([1 << 60]) {
                there.copy().run(Travel::Forward, budget);
            }
            let mut back = ended.copy();
            for machine in back.each() {
                let state = machine.state_mut();
                state.set_mode(true);
                state.adjoints_mut().cells[cell] = bits(value);
                state.adjoints_mut().cells[first + 7] = bits(-value);
            }
            for budget in (0..90).step_by(7).chain([1 << 60]) {
                back.copy().run(Travel::Backward, budget);
            }
        }
    }
}

/// Rounds of loops that only add to arrays check no float.
#[test]
fn what_lasts_is_looked_at_once() {
    let (program, form) = whole_form(&sums_of_arrays("f64"), Way::Along, CheckLevel::Checked);
    let form = improved(form, &PASSES);
    let depths = loop_depths(&form, &dominators(&form));
    let checks = |block: &SsaBlock| {
        let ops = block.ops.iter().filter_map(|&value| form.op(value));
        ops.filter(|op| op.kind == OpKind::RequireAdmitted).count()
    };
    let deep: usize = form
        .blocks
        .iter()
        .zip(&depths)
        .filter(|(_, depth)| **depth > 1)
        .map(|(block, _)| checks(block))
        .sum();
    let all: usize = form.blocks.iter().map(checks).sum();
    assert_eq!(deep, 0, "{form}");
    assert!(all >= program.cells(program.global("y").unwrap().0).len(), "{form}");
}

/// Loops over arrays that may be too short for them, up and down.
const COUNTED: [&str; 3] = [
    ".inout x[6]: real, y: real, n, s\nfor i in 0..n\n add y, x[i]\n add s, i\nrof\n",
    ".inout x[6], y, n, k default 2\ncall p(x[k..6], y, n)\n.proc p(inout a[], inout y, in n)\n\
     for i in 0..n\n add a[i], n\n add y, a[i]\nrof\n.end\n",
    ".word 8\n.inout x[100], y, n\nfor i in 0..n\n add y, i\n add x[i], y\nrof\n",
];

/// A loop that makes a round whatever n is.
const MADE_ONCE: &str = ".inout x[6], y, n\nlocal i = 0\nfrom i == 0\n add y, x[i]\n add i, 1\nuntil i >= n\ndelocal i = max(n, 1)\n";

#[test]
fn indices_that_count_are_looked_at_once() {
    for text in COUNTED.into_iter().chain([MADE_ONCE]) {
        // Its way back asks whether the counter is another number, which has no greatest one.
        let ways = if text == MADE_ONCE { vec![Way::Along] } else { vec![Way::Along, Way::Against] };
        for way in ways {
            let (_, form) = whole_form(text, way, CheckLevel::Checked);
            let form = improved(form, &PASSES);
            let depths = loop_depths(&form, &dominators(&form));
            let rounds = form.blocks.iter().zip(&depths).filter(|(_, depth)| **depth > 0);
            let ops = rounds.flat_map(|(block, _)| &block.ops).filter_map(|&value| form.op(value));
            assert_eq!(ops.filter(|op| matches!(op.kind, OpKind::Index { .. })).count(), 0, "{form}");
        }
        for n in (-2..9).chain([99, 100, 101, 127]) {
            for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
                let mut machines = Machines::at(text, level);
                for machine in machines.each() {
                    let n_is = machine.program().cells(machine.program().global("n").unwrap().0).start;
                    machine.state_mut().ints[n_is] = n;
                }
                for budget in (0..45).chain([1 << 60]) {
                    machines.copy().run(Travel::Forward, budget);
                }
                machines.run(Travel::Forward, 1 << 60);
                for budget in (0..45).chain([1 << 60]) {
                    machines.copy().run(Travel::Backward, budget);
                }
            }
        }
    }
}

/// Elements that lie beyond what an index has room for as a word.
#[test]
fn offsets_of_indices_may_be_wider_than_words() {
    for (text, steps) in [
        (".word 8\n.inout s\n.inout x[1000]\nfor i in 0..100\n add x[i + 200], 1\nrof\n", 400),
        (".word 8\n.inout x[200]\nfor i in 0..100\n add x[i + 100], 1\nrof\n", 400),
        (".word 16\n.inout x[60000]\nfor i in 0..20000\n add x[i + 30000], 1\nrof\n", 90_000),
    ] {
        let mut machines = Machines::of(text);
        machines.run(Travel::Forward, steps);
        machines.run(Travel::Backward, steps);
    }
}

#[test]
fn what_is_watched_and_reported_is_the_interpreter_s() {
    // A step that names an adjoint is nobody's business; one that frees a value is.
    let mut machines = Machines::of(
        ".inout x: real default 1\n.out y: real\n.ancilla t: real\nadd.square y, x\nadd x', 1e-12\nvacate x'\n\
         add t, 1e-13\nvacate t\n",
    );
    machines.each().for_each(Machine::watch);
    machines.run(Travel::Forward, 1000);
    assert!(machines.plain.reports().watch().is_some_and(|watch| watch != &Default::default()));
    // A constant may have an adjoint, which is lost where it is converted.
    let mut machines = Machines::of(
        ".inout n, y: real\ngrad.on\ncall p(y, 2.5)\nadd.toint n, 2.5\ngrad.off\n\
         .proc p(inout a: real, in b: real)\nadd b', 1.0\n.end\n",
    );
    machines.run(Travel::Forward, 1000);
    assert!(!machines.plain.reports().is_empty());
}

#[test]
fn machines_of_other_programs_and_states_that_are_none_are_the_interpreter_s() {
    let text = |cells| format!(".in n default 40\n.out A[{cells}]\nfor i in 0..n\n add A[i], i\nrof\n");
    let (small, mut large) = (Machines::of(&text(40)), Machines::of(&text(5000)));
    large.run_as(small.plain.program());
    large.run(Travel::Forward, 1 << 30);
    let mut broken = small.copy();
    for machine in broken.each() {
        machine.state_mut().references.push(Reference { base: 9, length: 9, stride: 9 });
    }
    broken.run(Travel::Forward, 1 << 30);
}

#[test]
fn code_that_takes_too_much_is_the_interpreter_s() {
    let names: Vec<String> = (0..1500).map(|n| format!("v{n}")).collect();
    let branches = names.iter().map(|v| format!(" if n > 0\n add {v}, i\n fi n > 0\n")).collect::<String>();
    let text = format!(".in n default 20\n.out {}\nfor i in 0..n\n{branches}rof\n", names.join(", "));
    let mut machines = Machines::of(&text);
    machines.run(Travel::Forward, 1 << 30);
    machines.run(Travel::Backward, 1 << 30);
}

/// A recursion so many calls deep, with a frame and what is put in place, in a program that allows so many.
fn deep(calls: u32, limit: u32, at_the_bottom: &str) -> String {
    format!(
        ".limit depth {limit}\n.inout n default {calls}\n.out s, bottom, A[3]\n.ancilla r: real\ncall down(s, n)\n\
         .proc down(inout s, in k)\n.ancilla less, T[9], t: real\nif k > 1\n add less, k - 1\n add T[k % 9], k\n\
         add t, toreal(k) / 3\n call both(s, less)\n add s, less + T[k % 9]\n sub t, toreal(k) / 3\n\
         sub T[k % 9], k\n sub less, k - 1\nelse\n add bottom, 1\n {at_the_bottom}\nfi k > 1\n.end\n\
         .proc both(inout s, in k)\n.ancilla i\nadd i, k\nif k % 2 == 0\n call down(s, i)\nelse\n uncall up(s, i)\n\
         fi k % 2 == 0\nsub i, k\n.end\n\
         .proc up(inout s, in k)\nuncall down(s, k)\n.end\n"
    )
}

#[test]
fn deep_recursions_go_there_and_back() {
    let mut machines = Machines::of(&deep(20_000, 100_000, ""));
    for budget in [1, 77, 20_011, 123_456, 1 << 40] {
        machines.run(Travel::Forward, budget);
    }
    for budget in [5, 99, 45_678, 98_765, 7, 1 << 40] {
        machines.run(Travel::Backward, budget);
    }
    for budget in (0..40).map(|n| n * 977 % 1301) {
        machines.run(Travel::Forward, 13 * budget);
        machines.run(Travel::Backward, 11 * budget);
    }
}

/// Calls that code was told of are left, and others made in their places that take more.
#[test]
fn small_calls_make_room_for_large_ones() {
    let text = |limit: u32, (g, q, m): (u32, u32, u32), cells: u32| {
        format!(
            ".limit depth {limit}\n.in g default {g}\n.in q default {q}\n.in m default {m}\n.out s\ncall P(g, q, m, s)\n\
             .proc P(in g, in q, in m, inout s)\n add s, 1\n if g > 0\n  local g1 = g - 1\n  local q1 = q - 1\n  \
             call P(g1, q1, m, s)\n  delocal q1 = q - 1\n  delocal g1 = g - 1\n fi g > 0\n \
             if q == 0 and m > 0\n  call H(m, s)\n fi q == 0 and m > 0\n.end\n\
             .proc H(in m, inout s)\n call I(m, s)\n.end\n\
             .proc I(in m, inout s)\n local big[{cells}]\n local m1 = m - 1\n local z\n add big[7], m\n \
             call P(z, z, m1, s)\n sub big[7], m\n delocal z\n delocal m1 = m - 1\n delocal big[{cells}]\n.end\n"
        )
    };
    for (limit, sizes, cells) in
        [(10_000, (100, 2, 60), 600), (10_000, (50, 0, 60), 4000), (70, (33, 2, 17), 8), (75, (33, 2, 17), 8)]
    {
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let mut machines = Machines::at(&text(limit, sizes, cells), level);
            for budget in [401, 7, 300, 1 << 40] {
                machines.run(Travel::Forward, budget);
            }
            for budget in [399, 11, 1 << 40] {
                machines.run(Travel::Backward, budget);
            }
        }
    }
}

/// What was left out because an index was looked at relies on that.
#[test]
fn indices_are_looked_at_in_code_without_checks() {
    for i in [3, 15, 25, 1_000_000_000] {
        let text = format!(
            ".in i default {i}\n.in n default 100\n.out b[20], a[10]\nfor k in 0..n\n local t\n add t, a[i]\n \
             add b[i], k\n sub t, a[i]\n delocal t\nrof\n"
        );
        Machines::at(&text, CheckLevel::Unchecked).run(Travel::Forward, 1 << 40);
    }
}

/// A block whose `apply` is empty.
#[test]
fn what_applies_nothing_is_skipped_too() {
    let text = ".in n default 40\n.out s\n.ancilla t\nfor i in 0..n\n compute\n  for j in 0..7\n   if (i + j) & 1 == 0\n    \
                add t, i * 3\n   fi (i + j) & 1 == 0\n  rof\n apply\n uncompute\n add s, i\nrof\n";
    let mut machines = Machines::at(text, CheckLevel::Unchecked);
    for budget in [1000, 77, 1 << 40] {
        machines.run(Travel::Forward, budget);
    }
    machines.run(Travel::Backward, 1 << 40);
}

#[test]
fn as_many_calls_are_open_as_a_program_allows() {
    // Each second call has another one in it.
    let (calls, most) = (200, 200 + 199 + 100);
    for limit in [0, 1, 2, 3, 15, 16, 17, 18, 31, 33, 97, most - 2, most - 1, most, most + 1] {
        let mut machines = Machines::of(&deep(calls, limit, ""));
        machines.run(Travel::Forward, 1 << 40);
        machines.run(Travel::Backward, 1 << 40);
    }
}

#[test]
fn a_trap_in_the_depth_is_the_interpreter_s() {
    let broken =
        ["add A[k + 2], 1", "assert k > 1", "add s, 1 / (k - 1)", "add less, 1", "show s", "push less"];
    for at_the_bottom in broken {
        for calls in [1, 2, 3, 17, 40, 3000] {
            let mut machines = Machines::of(&deep(calls, 100_000, at_the_bottom));
            machines.run(Travel::Forward, 1 << 40);
            machines.run(Travel::Forward, 1 << 40);
            machines.run(Travel::Backward, 1 << 40);
            machines.run(Travel::Backward, 1 << 40);
        }
    }
}

#[test]
fn every_place_to_stop_at_is_heeded() {
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

/// Every so many instructions of a program, from one of them on, both ways: the places of many breakpoints.
fn scattered(program: &Program, first: u32, every: usize) -> Stops {
    let instructions = program.module().code.len() as u32;
    let both = |position| [false, true].map(|backward| Node { position, backward });
    Stops::new(program, (first..instructions).step_by(every).flat_map(both))
}

#[test]
fn several_places_to_stop_at_are_heeded() {
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

/// Sees the states at every so many steps from step 0, and where a run ends.
struct Regular {
    every: i64,
    seen: BTreeMap<i64, (Digest, i64)>,
}

impl Onlooker for Regular {
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
fn who_looks_on_sees_what_the_interpreter_shows() {
    for (text, steps) in TRIED {
        let module = assemble("seen.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
        let program = Arc::new(Program::new(module, 0).unwrap());
        let start = Machine::at_begin(program.clone()).unwrap();
        for every in [1, 2, 7, 64, 333] {
            // What is shown stops a run.
            let seen = |part: &dyn Fn(&mut Machine, Leg, &mut Regular)| {
                let (mut machine, mut regular) =
                    (start.try_clone().unwrap(), Regular { every, seen: BTreeMap::new() });
                while machine.state().step < steps as i64 {
                    let budget = steps - machine.state().step as u64;
                    part(&mut machine, Leg { travel: Travel::Forward, budget }, &mut regular);
                }
                (machine.into_state(), regular.seen)
            };
            let expected = seen(&|machine, leg, regular| {
                machine.interpret_seen(None, leg, regular).unwrap();
            });
            assert_eq!(expected.1.len() as u64, steps / every as u64);
            for runner in runners(&program, CheckLevel::Checked) {
                let found = seen(&|machine, leg, regular| {
                    runner.run_seen(machine, None, leg, regular).unwrap();
                });
                assert!(found == expected, "every {every}");
            }
        }
    }
}

/// Programs over numbers that lose nothing, so that what is put back is what is found again.
fn lossless() -> impl Iterator<Item = (String, u64)> {
    let tried = TRIED[..3].iter().copied().chain([(PAIRS, 1480)]);
    tried.map(|(text, steps)| (format!(".real fixed\n{text}").replace("t / 3e13", "t - t"), steps))
}

#[test]
fn runs_without_checks_stop_where_others_do() {
    for (text, steps) in lossless() {
        let [begin, far] = both_ends((&text, steps), CheckLevel::Unchecked);
        for budget in 0..steps {
            begin.copy().run(Travel::Forward, budget);
            far.copy().run(Travel::Backward, budget);
        }
    }
}

#[test]
fn every_place_to_stop_at_is_heeded_without_checks() {
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

/// The form of the code that begins at an end of a program.
fn whole_form(text: &str, way: Way, level: CheckLevel) -> (Program, SsaForm) {
    let module = assemble("pair.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
    let program = Program::new(module, 0).unwrap();
    let position = if way == Way::Along { program.begin() } else { program.end() };
    let zeros = FrameZeros { cells: true, ..FrameZeros::default() };
    let (stops, known, observed) = (StopPlaces::default(), KnownCells::default(), Observed::Anywhere);
    let version =
        Version { position, way, gradient: false, level, is_watched: false, stops, zeros, known, observed };
    let form = build(program.module(), program.flow(), version).unwrap();
    (program, form)
}

/// How often an improved form may pause: at the loops that are left in it.
fn pauses(text: &str, way: Way) -> usize {
    let form = improved(whole_form(text, way, CheckLevel::Checked).1, &PASSES);
    form.blocks.iter().filter(|block| matches!(block.end, SsaEnd::Pause { .. })).count()
}

#[test]
fn rounds_that_literals_count_are_code_of_their_own() {
    let body = "add A[i], x[i] * 2\nrof\n";
    let declared = ".in x[9], n default 3\n.out A[9]\n";
    let called = |length| {
        format!(
            "{declared}call p(A[0..{length}], x)\n.proc p(inout A[], in x[])\nfor i in 0..len(A)\n{body}.end\n"
        )
    };
    let cases = [
        (format!("{declared}for i in 0..4\n{body}"), 0),
        (format!("{declared}for i in 2..5\n{body}"), 0),
        (format!("{declared}for j in 0..3\nfor i in 0..3\n{body}rof\n"), 1),
        // More rounds than are written out, and as many as the input says.
        (format!("{declared}for i in 0..9\n{body}"), 1),
        (format!("{declared}for i in 0..n\n{body}"), 1),
        (called(4), 0),
        (called(9), 1),
    ];
    for (text, expected) in cases {
        for way in [Way::Along, Way::Against] {
            assert_eq!(pauses(&text, way), expected, "{way:?}\n{text}");
        }
        let mut machines = Machines::of(&text);
        for budget in [1, 5, 7, 1 << 20] {
            machines.run(Travel::Forward, budget);
        }
        for budget in [1, 6, 9, 1 << 20] {
            machines.run(Travel::Backward, budget);
        }
    }
}

/// How often steps are skipped whose number only code finds, in the code that begins at an end of a program.
fn skips(text: &str, way: Way) -> usize {
    let (_, form) = whole_form(text, way, CheckLevel::Unchecked);
    form.blocks.iter().filter(|block| matches!(block.end, SsaEnd::Pause { skipped: Some(_), .. })).count()
}

#[test]
fn what_is_computed_is_put_back_where_nothing_else_touches_it() {
    let text = |declared: &str, computed: &str, applied: &str| {
        format!(
            ".in n default 3\n.out s, A[9]\n{declared}\ncompute\n for i in 0..n\n {computed}\n rof\napply\n {applied}\nuncompute\n\
             .proc p(inout x, in y)\n add x, y\n.end\n.proc r(inout x, in y)\n if y > 0\n local z = y - 1\n call r(x, z)\n delocal z = y - 1\n fi y > 0\n.end\n"
        )
    };
    let cases = [
        (".ancilla t", "add t, i", "add s, t", 1),
        (".ancilla t", "add t, i", "add t, 1", 0),
        (".ancilla t", "add t, i * n", "add n, 1", 0),
        (".ancilla t", "add A[i], 1", "add s, A[2]", 1),
        (".ancilla T[900]", "add T[i], i", "add s, T[1]", 1),
        // Too many to be kept, and who knows what they hold.
        (".inout T[900]", "add T[i], i", "add s, T[1]", 0),
        (".ancilla T[900]", "add T[i], i", "add s, T[1]\n add T[8], 1", 0),
        (".ancilla t", "add t, i", "for i in 0..2\n add s, t + n * 2\n rof", 1),
        (".ancilla t, u", "add t, i\n add u, 1", "if n > 0\n add u, 1\n fi n > 0", 0),
        (".ancilla t, u", "vacate u\n add t, i", "vacate u\n add u, 1", 0),
        (".ancilla t", "call p(t, i)", "call p(s, t)", 1),
        (".ancilla t", "call p(t, i)", "call p(t, s)", 0),
        (".ancilla t", "call r(t, i)", "add s, t", 0),
        (".ancilla t", "add t, i", "show s", 0),
        (".ancilla t", "from t == 0\n add t, 1\n loop\n add t, 2\n until t > 5 * (i + 1)", "add s, t", 1),
    ]
    .map(|(declared, computed, applied, expected)| (text(declared, computed, applied), expected));
    for (text, expected) in cases {
        assert_eq!([Way::Along, Way::Against].map(|way| skips(&text, way)), [expected; 2], "{text}");
    }
}
