//! Calls that are not inlined. At any depth, results and gradients must be the same as the interpreter's. If there is
//! no memory for one more call, the status must say whether the program's own limit was reached.

use std::sync::Arc;

use reviver_lab::c_programs::{CAnswer, CAsked, CQuestion, CompiledPrograms, compiler, links};
use reviver_lab::run::{End, travel};
use reviver_lab::subject::Subject;
use reviver_vm::{CheckLevel, Machine, Program, Travel};

use super::runs::{Candidate, compare_by};

/// Recursions of all kinds: direct, mutual, and with `uncall`. Their arguments are spans, rows and elements. Their
/// frames have scalars and arrays, and the callees name cells of main.
const OF_ALL_KINDS: &str = "\
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
    sub t, toreal(k) * 0.1
.end
";

/// A program with a loss that a recursion computes. It is valid in any number system.
const WITH_GRADIENT: &str = "\
.in x: real = 0.5, n = 6, W[3]: real = {0.25, 0.5, 0.125}
.out y: real
call grow(y, x, W, n)
.proc grow(inout y: real, in x: real, in W[]: real, in n)
.ancilla t: real, V[2]: real
    if n > 0
        call grow(t, x, W, n - 1)
        add V[n % 2], t * x
        add y, V[n % 2] * W[n % 3] + sqrt(t)
        sub V[n % 2], t * x
        uncall grow(t, x, W, n - 1)
    else
        add y, x
    fi n > 0
.end
";

fn program(text: &str) -> Arc<Program> {
    Subject::new(text).unwrap_or_else(|error| panic!("{error:?}")).program
}

/// Returns some texts with gradients, at each check level.
fn candidates() -> Vec<Candidate> {
    let systems = ["f64", "f32", "fixed", "fixed 16"];
    let gradients = systems.map(|system| format!(".real {system}\n{WITH_GRADIENT}"));
    let texts = std::iter::once(OF_ALL_KINDS.to_owned()).chain(gradients);
    let mut found = Vec::new();
    for (n, text) in texts.enumerate() {
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let candidate = Candidate::at(level, &format!("text {n}"), program(&text), found.len());
            let candidate = candidate.unwrap_or_else(|error| panic!("text {n}: {error}"));
            assert!(candidate.has_loss(), "text {n} has no gradient");
            found.push(candidate);
        }
    }
    found
}

#[test]
fn recursions_agree() {
    let Some(compiler) = compiler() else { return };
    let candidates = candidates();
    assert_eq!(compare_by(&compiler, &candidates, &["-O3"]), 3 * candidates.len());
    let options = ["-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"];
    match links(&compiler, &options) {
        true => assert_eq!(compare_by(&compiler, &candidates, &options), 3 * candidates.len()),
        false => println!("NOT TRIED: {compiler} has no sanitizers"),
    }
}

/// A recursion with cells of all kinds in its frames. After a failed run, these cells aren't 0, but they must be 0 when
/// the next run begins.
const WITH_FRAMES: &str = "\
.limit depth 40
.inout n default 3
.out s, r: real
call down(n, s, r)
.proc down(inout n, inout s, inout r: real)
.ancilla T[3], U[2]: real
    if n > 0
        add T[n % 3], n
        add U[n % 2], 0.5
        sub n, 1
        call down(n, s, r)
        add n, 1
        add s, T[n % 3]
        add r, U[n % 2]
        sub U[n % 2], 0.5
        sub T[n % 3], n
    fi n > 0
.end
";

/// Returns [`WITH_FRAMES`] with an additional inlined call in each frame. The deepest call is then an inlined one.
fn with_leaf() -> String {
    let text = WITH_FRAMES.replace("    fi n > 0\n", "        call leaf(s)\n    fi n > 0\n");
    text + ".proc leaf(inout s)\n    add s, 1\n.end\n"
}

/// Returns the number of the status with this name, read from the header.
fn status(text: &str, name: &str) -> i64 {
    let start = format!("_{name} = ");
    let found = text.split_once(&start).and_then(|(_, rest)| rest.split(',').next());
    found.and_then(|number| number.parse().ok()).unwrap()
}

/// Returns a question for each depth of a recursion, and the interpreter's integers at the end of the run; `None` if
/// the interpreter traps.
fn by_depth(program: &Arc<Program>, depths: &[i64]) -> Vec<(CQuestion, Option<Vec<i64>>)> {
    let (n, _) = program.global("n").unwrap();
    let cell = program.cells(n).start;
    let ask = |&depth: &i64| {
        let mut machine = Machine::at_begin(program.clone()).unwrap();
        machine.state_mut().ints[cell] = depth;
        let question = CQuestion::of(0, CAsked::There, machine.state());
        match travel(&mut machine, Travel::Forward, 1 << 20) {
            End::Bound => (question, Some(machine.state().ints.clone())),
            End::Trap(_) => (question, None),
            End::Budget => panic!("{depth} takes too long"),
        }
    };
    depths.iter().map(ask).collect()
}

fn asked(program: &Arc<Program>, options: &[&str], depths: &[i64]) -> Vec<(Option<Vec<i64>>, CAnswer, i64)> {
    let Some(compiler) = compiler() else { return Vec::new() };
    let candidate = Candidate::at(CheckLevel::Checked, "depths", program.clone(), 0).unwrap();
    let compiled = CompiledPrograms::new(&compiler, options, &[(program, &candidate.text, false)]);
    let (questions, expected): (Vec<_>, Vec<_>) = by_depth(program, depths).into_iter().unzip();
    let answers = compiled.ask(&questions).into_iter().zip(depths);
    expected.into_iter().zip(answers).map(|(expected, (answer, &depth))| (expected, answer, depth)).collect()
}

#[test]
fn the_limit_of_open_calls_is_that_of_the_program() {
    let program = program(WITH_FRAMES);
    let deep =
        status(&Candidate::at(CheckLevel::Checked, "", program.clone(), 0).unwrap().text.header(), "DEPTH");
    for (expected, found, depth) in asked(&program, &["-O3"], &[39, 40, 39, 1000, 3, 0]) {
        match expected {
            Some(ints) => assert_eq!((found.status, found.ints), (0, ints), "{depth}"),
            None => assert_eq!(found.status, deep, "{depth}"),
        }
    }
}

#[test]
fn exhausted_memory_has_its_own_status() {
    let program = program(WITH_FRAMES);
    let full =
        status(&Candidate::at(CheckLevel::Checked, "", program.clone(), 0).unwrap().text.header(), "NO_ROOM");
    let found = asked(&program, &["-O3", "-DP0_CALLS=20"], &[19, 20, 19, 30, 5, 19]);
    for (expected, found, depth) in found {
        match depth {
            ..20 => assert_eq!((found.status, Some(found.ints)), (0, expected), "{depth}"),
            _ => assert_eq!(found.status, full, "{depth}"),
        }
    }
}

/// Inlined calls don't count for the size of the memory. So the last call may be refused for lack of memory although
/// the program's limit permits this call. A call that exceeds the limit is always refused.
#[test]
fn inlined_calls_are_within_the_limit() {
    let program = program(&with_leaf());
    let header = Candidate::at(CheckLevel::Checked, "", program.clone(), 0).unwrap().text.header();
    let refusals = [status(&header, "DEPTH"), status(&header, "NO_ROOM")];
    for (expected, found, depth) in asked(&program, &["-O1"], &(36..43).collect::<Vec<_>>()) {
        match expected {
            Some(ints) if found.status == 0 => assert_eq!(found.ints, ints, "{depth}"),
            Some(_) => assert_eq!((found.status, depth), (refusals[1], 39)),
            None => assert!(refusals.contains(&found.status), "{depth}: {}", found.status),
        }
    }
}
