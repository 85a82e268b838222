//! Tasks: the same bits for any number of threads, in both directions, and refusals.

use serde_json::{Value, json};

use crate::support::{Folder, crowded, reviver};

/// Returns the members that the number of threads must not change.
fn reported(object: &Value) -> String {
    let keys = [
        "outputs",
        "state",
        "value",
        "grad",
        "steps",
        "steps_back",
        "drops",
        "reported",
        "erased_bits",
        "restored",
        "bit_exact",
    ];
    keys.map(|key| object[key].to_string()).join(" ")
}

/// Checks that a command prints the same with one, two and four threads, and returns its JSON.
fn is_the_same_on_threads(command: &str) -> Value {
    let of = |threads: u32| reviver(&format!("{command} --threads {threads} --json")).expect(0).json();
    let one = of(1);
    for threads in [2, 4] {
        assert_eq!(reported(&of(threads)), reported(&one), "{command} with {threads} threads");
    }
    one
}

#[test]
fn threads_change_no_bit() {
    for command in [
        "run programs/particles_forked.rasm --check --exact",
        "run programs/particles_forked.rasm --check --real fixed",
        "run programs/particles_forked_plain.rasm --check --exact",
        "run programs/shared_weights.rasm",
        "run programs/tree_of_tasks.rasm --set rounds=200 --check",
        "grad programs/particles_forked.rasm --loss loss",
        "grad programs/particles_forked.rasm --loss loss --exact",
        "grad programs/particles_forked_plain.rasm --loss loss --exact",
        "grad programs/particles_forked_plain.rasm --loss loss --strategy checkpoint=4",
        "grad programs/particles_forked_plain.rasm --loss loss --strategy tape",
        "grad programs/shared_weights.rasm --loss loss",
        "jacobian programs/shared_weights.rasm --of loss --wrt w",
        "hessian programs/shared_weights.rasm --loss loss --wrt w",
    ] {
        for engine in ["interp", "jit"] {
            is_the_same_on_threads(&format!("{command} --engine {engine}"));
        }
    }
}

/// The reverse sweep first undoes `rise`, which leaves 1.2e9 in the adjoint of `w`. `dip` adds 1.2e9 again, which
/// overflows before 1.2e9 is subtracted. If `dip` started with an adjoint of 0, it would not overflow.
#[test]
fn an_intermediate_overflow_does_not_depend_on_threads() {
    let folder = Folder::new();
    let rounds = "for i in 0..30000\nadd k, i\nrof\nfor i in 0..30000\nsub k, i\nrof\n";
    let long = format!("local k = 0\n{rounds}delocal k = 0\n");
    let text = format!(
        ".real fixed 32\n.inout w: real = 1.0\n.out loss: real, u: real, v: real\n\
         par dip(u, w), rise(v, w)\nadd loss, u + v\n\
         .proc dip(inout y: real, in a: real)\n{long}sub y, a * 1.2e9\nadd y, a * 1.2e9\n.end\n\
         .proc rise(inout y: real, in a: real)\n{long}add y, a * 1.2e9\n.end\n"
    );
    let file = folder.file("peak.rasm", text);
    for engine in ["interp", "jit"] {
        for threads in [1, 2, 4] {
            let grad = format!("grad {file} --loss loss --engine {engine} --threads {threads}");
            reviver(&grad).expect(4).says("trap[T08]").says("in task 1 of 2");
        }
    }
}

/// The bits are the same as with sequential calls instead of tasks.
#[test]
fn particles_by_tasks_equal_the_sequential_ones() {
    for (forked, plain) in [("particles_forked", "particles"), ("particles_forked_plain", "particles_plain")]
    {
        let of = |name: &str| {
            reviver(&format!("grad programs/{name}.rasm --loss loss --exact --json")).expect(0).json()
        };
        let (forked, plain) = (of(forked), of(plain));
        assert_eq!((&forked["value"], &forked["grad"]), (&plain["value"], &plain["grad"]));
    }
}

/// Functions from the tests of Smeding's and Vákár's implementation of "Parallel dual-numbers reverse AD", as far as
/// the language supports them, with handwritten derivatives. Sums become tasks that read the same cells.
#[test]
fn functions_of_parallel_ad_literature_have_their_derivatives() {
    let folder = Folder::new();
    let scale = ".proc scale(inout y: real, in a: real, in b: real)\nadd y, a * b\n.end\n";
    let id = ".proc put(inout y: real, in a: real)\nadd y, a\n.end\n";
    let f = ".proc f(inout u: real, in z: real, in x: real, in y: real)\nadd u, x * z + y\n.end\n";
    let at = |x: f64, y: f64| {
        let complexity = (2.0 * 7921.0 * x + 9790.0 * y, 9790.0 * x + 2.0 * 3025.0 * y);
        let higher = (3.0 * x * x * y + 2.0 * x * y + y * y, x * x * x + x * x + 2.0 * x * y + 2.0 * y);
        let conditional = if x > y { (y, x) } else { (1.0, 1.0) };
        [
            ("id", "par put(u, x)\nadd loss, u\n".to_owned(), (1.0, 0.0)),
            ("plus", "par put(u, x), put(v, y)\nadd loss, u + v\n".to_owned(), (1.0, 1.0)),
            ("times", "par put(u, x), put(v, y)\nadd loss, u * v\n".to_owned(), (y, x)),
            ("let", "par put(u, x + 3), put(v, x)\nadd loss, u * v\n".to_owned(), (2.0 * x + 3.0, 0.0)),
            ("higher-order", "par f(u, y, x, y), f(v, x, x, y)\nadd loss, u * v\n".to_owned(), higher),
            ("complexity", "par scale(u, x, 89.0), scale(v, y, 55.0)\nadd loss, (u + v) * (u + v)\n".to_owned(), complexity),
            (
                "conditional",
                "if x > y\npar put(u, x), put(v, y)\nadd loss, u * v\nelse\npar put(u, x), put(v, y)\nadd loss, u + v\nfi x > y\n".to_owned(),
                conditional,
            ),
            ("list", "par scale(u, x, 2.0), scale(v, x, 3.0), put(loss, x)\nadd loss, u + v\n".to_owned(), (6.0, 0.0)),
        ]
    };
    for (x, y) in [(0.5, 2.0), (3.0, -1.25), (-0.75, -2.0), (4.0, 0.0)] {
        for (name, body, (by_x, by_y)) in at(x, y) {
            let head = ".inout x: real, y: real\n.out loss: real, u: real, v: real\n";
            let file = folder.file(&format!("{name}.rasm"), format!("{head}{body}{scale}{id}{f}"));
            let object = is_the_same_on_threads(&format!("grad {file} --loss loss --set x={x} --set y={y}"));
            let close = |found: &Value, wanted: f64| {
                let found = found.as_f64().unwrap_or(f64::NAN);
                assert!(
                    (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0),
                    "{name} at {x}, {y}: {found}, {wanted}"
                );
            };
            close(&object["grad"]["x"], by_x);
            close(&object["grad"]["y"], by_y);
        }
    }
}

/// An impossible stack size prevents the start of any thread.
#[test]
fn work_is_done_without_threads_that_fail_to_start() {
    let folder = Folder::new();
    let lanes = folder.file("lanes.csv", "n\n1\n2\n30\n");
    let tree = "run programs/tree_of_tasks.rasm --set rounds=200";
    let batch = format!("batch programs/fib.rasm --lanes {lanes} --device cpu");
    let showing = "
.inout x[4]: real default {1, 2, 3, 4}
.out y[4]: real
.out s: real
par for i in 0..4 call f(y[i], x[i])
for i in 0..4
    add s, y[i]
rof
.proc f(inout y: real, in x: real) rule g
    add y, x*x
.end
.proc g(inout y: real, in x: real)
    show x
    add x', 2*x*y'
.end
";
    let showing = format!("grad {} --loss s", folder.file("showing.rasm", showing));
    let lines = [format!("{tree} --engine interp"), format!("{tree} --engine jit"), tree.to_owned(), batch];
    for line in lines.into_iter().chain([showing]) {
        let line = format!("{line} --threads 4");
        let found = crowded(&line, b"").expect(0);
        assert_eq!(found.stdout, reviver(&line).expect(0).stdout, "{line}");
    }
}

/// No command panics if threads can't be started.
#[test]
fn commands_run_without_threads() {
    let folder = Folder::new();
    let script = folder.file("script", "step 3\nprint a\nreverse-step\ngoto end\n");
    for line in [
        "grad programs/particles_forked.rasm --loss loss --threads 4".to_owned(),
        "bench programs/fib.rasm --set n=10 --seconds 0.001".to_owned(),
        "plot programs/fib.rasm --cells a".to_owned(),
        "test programs/fib.rasm".to_owned(),
        "tradeoff programs/collatz_plain.rasm".to_owned(),
        "devices".to_owned(),
        format!("debug programs/fib.rasm --batch {script}"),
        "course check 1 course/exercises".to_owned(),
    ] {
        let usual = reviver(&line).code;
        crowded(&line, b"").expect(usual);
    }
    crowded("repl programs/fib.rasm", b"step\nquit\n").expect(0);
}

#[test]
fn the_number_of_threads_is_limited() {
    for threads in ["0", "1025", "65536", "4000000000", "99999999999999999999", "-1"] {
        for command in [
            "run programs/fib.rasm",
            "grad programs/besselj.rasm --loss out",
            "batch programs/fib.rasm --lanes x",
        ] {
            let line = format!("{command} --threads {threads}");
            reviver(&line).expect(2).says("a whole number from 1 to 1024 is expected");
        }
    }
    reviver("run programs/tree_of_tasks.rasm --threads 1024").expect(0);
}

#[test]
fn cells_that_tasks_share_are_reported_before_they_begin() {
    let folder = Folder::new();
    let text = ".inout A[4], i\npar more(A[i]), more(A[0])\n.proc more(inout x)\nadd x, 1\n.end\n";
    let file = folder.file("share.rasm", text);
    let ran = reviver(&format!("run {file}")).expect(4);
    ran.says("trap[T36]").says("`A[i]` of task 1").says("`A[0]` of task 2");
    reviver(&format!("run {file} --set i=2")).expect(0).prints_part("A = [1, 0, 1, 0]");
    let strides = ".inout A[6], n default 6\npar more(A[0..n step 2]), more(A[1..n step 2])\n.proc more(inout v[])\nadd v[0], 1\n.end\n";
    let file = folder.file("strides.rasm", strides);
    reviver(&format!("run {file} --check")).expect(0).prints_part("A = [1, 1, 0, 0, 0, 0]");
    // Tasks of a loop are identified by their counter; its bounds may be expressions.
    let rounds = ".inout A[6], n default 2\nfor k in 0..1\npar for i in n * 1..n + 3 call more(A[i], A[i + 1])\nrof\n.proc more(inout a, in b)\nadd a, b\n.end\n";
    let file = folder.file("rounds.rasm", rounds);
    let ran = reviver(&format!("run {file}")).expect(4);
    ran.says("`A[i]` of task 2, `more(A[i], A[i+1])` with i = 3,")
        .says("`A[i+1]` of task 1, `more(A[i], A[i+1])` with i = 2,");
    let ran = reviver(&format!("run {file} --back --set A=0,n=2")).expect(4);
    ran.says("`A[i]` of task 1, `more(A[i], A[i+1])` with i = 4,")
        .says("of task 2, `more(A[i], A[i+1])` with i = 3,");
    let named = ".inout a, total\npar more(a), more(a)\n.proc more(inout x)\nadd x, total\n.end\n";
    let file = folder.file("same.rasm", named);
    reviver(&format!("check {file}"))
        .expect(3)
        .says("error[E78]")
        .says("two tasks are passed the same cells");
    for passed in ["a", "A[2]", "A[0..2]", "A"] {
        let parameter = if passed.len() > 4 || passed == "A" { "v[]" } else { "x" };
        let each = format!(
            ".inout a, A[4]\npar for i in 0..3 call same({passed})\n.proc same(inout {parameter})\n.end\n"
        );
        let file = folder.file("each.rasm", &each);
        let ran = reviver(&format!("check {file}")).expect(3);
        ran.says("error[E78]").says("each of these tasks is passed the same cells");
    }
    let read =
        ".inout a, A[4]\npar for i in 0..3 call of(A[i], a)\n.proc of(inout x, in a)\nadd x, a\n.end\n";
    reviver(&format!("check {}", folder.file("read.rasm", read))).expect(0);
}

#[test]
fn a_task_that_is_not_a_call_is_reported() {
    let folder = Folder::new();
    for (statement, words) in [
        ("par add a, 1", "a `par` takes calls of procedures"),
        ("par call p(a)", "are written without `call`"),
        ("par undo p(a)", "`unpar p(x), q(y)`"),
    ] {
        let file =
            folder.file("no_call.rasm", format!(".inout a\n{statement}\n.proc p(inout x)\nadd x, 1\n.end\n"));
        reviver(&format!("check {file}")).expect(3).says(words);
    }
    let keeping = ".inout a, b\n.garbage trail[]\npar keep(a), keep(b)\n.proc keep(inout x)\npush x\n.end\n";
    let ran = reviver(&format!("check {}", folder.file("keeping.rasm", keeping))).expect(3);
    assert_eq!(ran.stderr.matches("error[E77]").count(), 1, "{ran:?}");
}

/// For any number of threads, the first trap in task order is reported, with its state.
#[test]
fn the_first_task_that_traps_is_reported() {
    let folder = Folder::new();
    let text = "\
.inout A[4] default 1, rounds default 30000
par for i in 0..4 call turn(A[i], i, rounds)
.proc turn(inout x, in i, in rounds)
for round in 0..rounds
add x, round
rof
assert i < 2
.end
";
    let file = folder.file("trap.rasm", text);
    let of = |threads: u32| {
        let state = folder.path(&format!("{threads}.state"));
        let command = format!("run {file} --threads {threads} --save-state {}", state.display());
        let ran = reviver(&command).expect(4);
        (ran.stderr.clone(), std::fs::read(state).unwrap())
    };
    let one = of(1);
    assert!(one.0.contains("i < 2"), "{}", one.0);
    for threads in [2, 4] {
        let other = of(threads);
        assert_eq!(other.0.replace(&format!("{threads}.state"), "1.state"), one.0);
        assert!(other.1 == one.1, "the state that {threads} threads leave");
    }
}

/// A trap reports the open calls from innermost to outermost, with the index of a task.
#[test]
fn a_trap_reports_open_calls_and_its_task() {
    let folder = Folder::new();
    let down = ".proc down(inout x)\n    assert x != 0\n    sub x, 1\n.end\n";
    let traps = |text: String, command: &str| {
        folder.file("calls.rasm", &text);
        let ran = folder.reviver(&format!("{command} calls.rasm")).expect(4);
        let trap = folder.reviver(&format!("{command} calls.rasm --json")).expect(4).json()["trap"].clone();
        (ran, trap)
    };
    let listed = format!(".inout a = 1, b = 0\npar down(a), down(b)\n{down}");
    let (ran, trap) = traps(listed, "run");
    ran.says("= note: in the procedure `down`\n").says("= note: in task 2 of 2, `down(b)` on line 2\n");
    let call = json!({ "line": 2, "procedure": "main", "words": "down(b)", "task": 2 });
    assert_eq!((&trap["depth"], &trap["calls"]), (&json!(1), &json!([call])));
    let counted = format!(
        ".inout A[3] = {{1, 1, 0}}\ncall all(A)\n{down}.proc all(inout A[])\n    par for i in 0..3 call down(A[i])\n.end\n"
    );
    let (ran, trap) = traps(counted.clone(), "run");
    ran.says("in the task with i = 2, `down(A[i])` on line 8\n").says("called by `call all(A)` on line 2\n");
    assert_eq!(trap["calls"][0]["task"], json!({ "i": 2 }));
    assert_eq!(trap["calls"][1]["words"], "call all(A)");
    // The trap is reported in the same task if the assertion follows the subtraction.
    let (ran, _) =
        traps(counted.replace("assert x != 0\n    sub x, 1", "sub x, 1\n    assert x != -1"), "run");
    ran.says("in the task with i = 2, `down(A[i])` on line 8\n");
    let deep = ".inout n = 100\ncall down(n)\n.proc down(inout n)\n    assert n != 0\n    sub n, 1\n    call down(n)\n.end\n";
    let (ran, trap) = traps(deep.to_owned(), "run");
    ran.says("called by `call down(n)` on line 6, and 15 times more from there\n")
        .says("= note: and 85 more calls are open\n");
    assert_eq!((&trap["depth"], trap["calls"].as_array().map(Vec::len)), (&json!(101), Some(16)));
}

#[test]
fn a_cell_selects_the_callee() {
    let folder = Folder::new();
    let text = "\
.inout c, x: real default 3
.out y: real
callvia c(y, x)
.proc square(inout y: real, in x: real)
add y, x * x
.end
.proc twice(inout y: real, in x: real)
add y, 2 * x
.end
.proc other(inout n)
add n, 1
.end
";
    let file = folder.file("via.rasm", text);
    for (number, value, derivative) in [(1, 9.0, 6.0), (2, 6.0, 2.0)] {
        reviver(&format!("run {file} --set c={number} --check")).expect(0).prints_part("restored: yes");
        let object = reviver(&format!("grad {file} --loss y --set c={number} --json")).expect(0).json();
        assert_eq!((object["value"].as_f64(), object["grad"]["x"].as_f64()), (Some(value), Some(derivative)));
    }
    for way in ["--set c=3", "--back --set c=3,y=9"] {
        let ran = reviver(&format!("run {file} {way}")).expect(4).says("trap[T10]");
        let ran = ran.says("`c` is 3, and no procedure with that number takes these arguments");
        ran.says("set `c` to the number of one of these procedures: `square` is 1, `twice` is 2");
    }
    let object = reviver(&format!("run {file} --set c=3 --json")).expect(4).json();
    assert_eq!(object["trap"]["instruction"], "callvia c(y, x)");
    let changing = ".inout c default 1\ncallvia c(c)\n.proc p(inout a)\nadd a, 1\n.end\n";
    let file = folder.file("changing.rasm", changing);
    reviver(&format!("run {file}")).expect(4).says("`c` is 2 after the call, but had another value before");
}

#[test]
fn errors_of_counts_state_the_range() {
    let run = "run programs/tree_of_tasks.rasm";
    for threads in ["0", "-1", "many"] {
        reviver(&format!("{run} --threads {threads}"))
            .expect(2)
            .says("a whole number from 1 to 1024 is expected");
    }
    reviver(&format!("{run} --max-steps many")).expect(2).says("a whole number is expected, at least 0");
    reviver(&format!("{run} --max-steps 99999999999999999999")).expect(2).says("this number is too large");
}

#[test]
fn shared_elements_with_constant_indices_are_detected() {
    let folder = Folder::new();
    let check = |tasks: &str| {
        let text = format!(
            ".inout A[6], M[3, 4]\npar {tasks}\n.proc one(inout x)\nadd x, 1\n.end\n\
             .proc all(inout v[])\nfor i in 0..len(v)\nadd v[i], i\nrof\n.end\n"
        );
        folder.file("program.rasm", text);
        folder.reviver("check program.rasm")
    };
    for shared in [
        "all(A[0..4]), all(A[3..6])",
        "all(A[0..4]), one(A[3])",
        "one(A[3]), all(A[0..4])",
        "all(A[0..6 step 2]), all(A[0..6 step 3])",
        "all(A[1..6 step 4]), one(A[5])",
        "all(M[.., 0]), all(M[1, ..])",
        "one(M[1, 2]), all(M[1, ..])",
        "all(M[.., 3]), one(M[2, 3])",
        "one(A[0]), one(A[1]), one(A[2]), all(A[2..3])",
    ] {
        check(shared).expect(3).says("error[E78]").says("passed here too");
    }
    for apart in [
        "all(A[0..3]), all(A[3..6])",
        "all(A[0..6 step 2]), all(A[1..6 step 2])",
        "all(A[0..2]), one(A[2])",
        "all(M[.., 0]), all(M[.., 1])",
        "all(M[0, ..]), one(M[1, 0])",
        "all(A[3..3]), one(A[3])",
    ] {
        check(apart).expect(0);
    }
}

/// Memory of threads is reported separately in statistics.
#[test]
fn copies_of_threads_are_distinguished() {
    for command in ["run", "grad --loss loss"] {
        let (command, options) = command.split_once(' ').unwrap_or((command, ""));
        let of = |threads: u32| {
            let of_program = format!("{command} programs/particles_forked.rasm {options} --set steps=3000");
            reviver(&format!("{of_program} --threads {threads} --stats --json")).expect(0).json()
        };
        let (one, two) = (of(1), of(2));
        assert_eq!(one["thread_bytes"], Value::Null, "{command}");
        assert!(two["thread_bytes"].as_u64() > Some(0), "{command}: {two}");
        assert_eq!(one["history_bytes"], two["history_bytes"], "{command}");
    }
}
