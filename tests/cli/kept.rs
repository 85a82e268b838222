//! Procedures that keep what they discard, by `.strategy`.

use serde_json::Value;

use crate::support::{Folder, reviver};

/// The strategies, with a few numbers of segments.
const STRATEGIES: [&str; 5] = ["reverse", "tape", "checkpoint=1", "checkpoint=4", "checkpoint=30"];

/// Twenty steps of the logistic map, which forget, and their derivative.
fn logistic(strategy: &str, real: &str) -> String {
    format!(
        "\
.real {real}
.inout x: real default 0.3
.out y: real, slope: real
.ancilla z: real

        compute
            call   logistic(z, x)
            grad.on
            add    z', 1
            uncall logistic(z, x)
        apply
            add    slope, x'
        uncompute
        compute
            call   logistic(z, x)
        apply
            add    y, z
        uncompute

.proc logistic(inout z: real, in x: real)
{strategy}
        overwrite z, x
        for i in 0..20
            call  iterate(z)
        rof
.end

.proc iterate(inout z: real)
        local new = 3.7 * z * (1 - z)
        overwrite z, new
        delocal new = z
.end
"
    )
}

/// The same without gradient mode, as a loss.
fn from_outside(real: &str) -> String {
    let text = logistic("", real);
    let (head, rest) = text.split_once(".ancilla").unwrap();
    let procedures = rest.split_once(".proc").unwrap().1;
    format!("{head}\n        call logistic(y, x)\n\n.proc{procedures}")
}

fn outputs(program: &str, options: &str) -> Value {
    reviver(&format!("run {program} --json {options}")).expect(0).json()["outputs"].clone()
}

/// The derivative from inside has the bits of that from outside, and nothing is left.
#[test]
fn derivatives_of_forgetting_procedures_have_the_bits_of_those_from_outside() {
    let folder = Folder::new();
    for real in ["f64", "fixed"] {
        let outside = folder.file("outside.rasm", from_outside(real));
        let expected = reviver(&format!("grad {outside} --of y --json")).expect(0).json();
        for strategy in STRATEGIES {
            let program = folder.file("inside.rasm", logistic(&format!(".strategy {strategy}"), real));
            let found = outputs(&program, "");
            assert_eq!(found["y"], expected["value"], "{strategy} {real}");
            assert_eq!(found["slope"], expected["grad"]["x"], "{strategy} {real}");
            reviver(&format!("run {program} --check")).expect(0).prints_part("restored: yes, bit for bit");
            // The program is differentiated again: y from outside.
            let again = reviver(&format!("grad {program} --of y --json")).expect(0).json();
            assert_eq!(again["grad"]["x"], expected["grad"]["x"], "{strategy} {real}");
        }
    }
    let program = folder.file("inside.rasm", logistic("", "f64"));
    reviver(&format!("run {program}")).expect(4).says("can't be undone");
}

/// The derivative of the slope, against central differences.
#[test]
fn second_derivatives_of_forgetting_procedures_exist() {
    let folder = Folder::new();
    let program = folder.file("inside.rasm", logistic(".strategy reverse", "f64").replace("0..20", "0..5"));
    let slope = |x: f64| outputs(&program, &format!("--set x={x}"))["slope"].as_f64().unwrap();
    let difference = (slope(0.3 + 1e-5) - slope(0.3 - 1e-5)) / 2e-5;
    let found = reviver(&format!("grad {program} --of slope --json")).expect(0).json();
    let found = found["grad"]["x"].as_f64().unwrap();
    assert!((found - difference).abs() < 1e-6 * difference.abs(), "{found} {difference}");
}

/// 600 rounds of training need the history of one.
#[test]
fn the_history_of_a_training_is_that_of_one_round() {
    const PROGRAM: &str = "programs/forgetting_training.rasm";
    reviver(&format!("run {PROGRAM} --check")).expect(0).prints_part("restored: yes, bit for bit");
    let folder = Folder::new();
    let text = std::fs::read_to_string(PROGRAM).unwrap();
    let short = text.replace(".limit history 200", ".limit history 100");
    let program = folder.file("short.rasm", &short);
    reviver(&format!("run {program}")).expect(4).says("the stack is full").says(".limit history");
    // With checkpoints, the same limit suffices.
    let parts = folder.file("parts.rasm", short.replace(".strategy reverse", ".strategy checkpoint=6"));
    assert_eq!(outputs(&parts, "--set rounds=20"), outputs(PROGRAM, "--set rounds=20"));
}

/// Each kind of statement that discards values: assignments, erasures, bits, and joins without a condition.
#[test]
fn every_statement_that_forgets_can_be_kept() {
    let folder = Folder::new();
    let text = "\
.inout v[6] default {5, 2, 9, 1, 7, 3}
.inout x: real default 2.5
.out smallest, n, half: real
.ancilla flag, m, a: real
        compute
            call sort(v)
            call others(flag, m, a, x)
        apply
            add smallest, v[0]
            add n, m
            add half, a
        uncompute
.proc sort(inout v[])
.strategy STRATEGY
        local swapped = 1
        from forgotten
            overwrite swapped, 0
            for i in 1..len(v)
                if v[i-1] > v[i]
                    swap v[i-1], v[i]
                    overwrite swapped, 1
                fi forgotten
            rof
        loop
        until swapped == 0
        delocal swapped = 0
.end
.proc others(inout flag, inout m, inout a: real, in x: real)
.strategy STRATEGY
        add  flag, 5
        forget flag
        overwrite m, flag * 10
        overwrite a, x
        for k in 0..3
            overwrite a, a / 2
            if k == 1
                erase flag
                overwrite flag, 1
            else
                add m, 1
            fi k == 1
        rof
        compute
            overwrite flag, 7
        apply
            add m, flag
        uncompute
        erase flag
.end
";
    for strategy in STRATEGIES {
        let program = folder.file("kept.rasm", text.replace("STRATEGY", strategy));
        let found = outputs(&program, "");
        assert_eq!(
            (&found["smallest"], &found["n"], &found["half"]),
            (&1.into(), &49.into(), &0.3125.into())
        );
        let ran = reviver(&format!("run {program} --check")).expect(0);
        ran.prints_part("restored: yes, bit for bit").prints_part("erased: 0 bits");
    }
}

/// Calls that are undone in the order in which they were made would restore the values of other cells.
#[test]
fn a_wrong_order_traps() {
    let folder = Folder::new();
    let text = |middle: &str| {
        format!(
            ".inout a: real default 0.3, b: real default 0.4, k default 1\n.out y: real\n.ancilla p[3]: real\n\
             call f(p[0], a)\ncall f(p[k], b)\nadd y, p[0]\n{middle}\n\
             .proc f(inout z: real, in x: real)\n.strategy reverse\noverwrite z, x\n.end\n\
             .proc g(inout z: real, in x: real)\ncall f(z, x)\n.end\n"
        )
    };
    let right = folder.file("right.rasm", text("uncall f(p[1], b)\nuncall f(p[0], a)"));
    reviver(&format!("run {right} --check")).expect(0).prints_part("bit for bit");
    for wrong in [
        "uncall f(p[0], a)\nuncall f(p[1], b)",
        "uncall f(p[1], a)\nuncall f(p[0], a)",
        "uncall g(p[1], b)\nuncall f(p[0], a)",
        "push k\nuncall f(p[k], b)",
        "push y\nuncall f(p[k], b)",
    ] {
        let program = folder.file("wrong.rasm", text(wrong));
        reviver(&format!("run {program}")).expect(4).says("history_of_f");
    }
    // A procedure tells whose arguments it passes on.
    let nested = "uncall f(p[1], b)\nuncall f(p[0], a)\ncall g(p[0], a)\ncall g(p[1], a)\nuncall g(p[0], a)\nuncall g(p[1], a)";
    let program = folder.file("nested.rasm", text(nested));
    reviver(&format!("run {program}")).expect(4).says("history_of_f");
}

#[test]
fn wrong_strategies_are_refused() {
    let folder = Folder::new();
    let refused = |text: &str, reason: &str| {
        let program = folder.file("wrong.rasm", text);
        reviver(&format!("run {program}")).expect(3).says(reason);
    };
    refused(".inout n\n.strategy reverse\n", "outside of a procedure");
    let procedure = |line: &str| format!(".inout n\ncall p(n)\n.proc p(inout n)\n{line}\nadd n, 1\n.end\n");
    refused(&procedure(".strategy some"), "`reverse`, `tape` or `checkpoint=N`");
    refused(&procedure(".strategy checkpoint=0"), "from 1 to");
    refused(&procedure(".strategy checkpoint"), "`=` and a number of segments");
    let lossy = ".inout n\ncall p(n)\n.proc p(inout n)\n.strategy reverse\nm n\n.end\n.macro m(a)\noverwrite a, 1\n.endm\n";
    refused(lossy, "the macro `m` discards values");
    let called = ".inout n\nm n\n.macro m(a)\ncall p(a)\n.endm\n.proc p(inout n)\n.strategy reverse\noverwrite n, 1\n.end\n";
    refused(called, "a macro calls `p`");
}

/// A divided loop also restores globals and registers, directly and through calls.
#[test]
fn a_divided_loop_restores_all_cells_that_it_changes() {
    let folder = Folder::new();
    let text = "\
.inout x default 3
.out s, t
.var total
        compute
            call f(x)
        apply
            add s, r0
            add t, total
        uncompute
.proc f(in x)
.strategy STRATEGY
        for i in 0..4
            overwrite r0, x + i
            call note(x)
        rof
.end
.proc note(in x)
        overwrite total, total * 2 + x
.end
";
    for strategy in STRATEGIES {
        let program = folder.file("cells.rasm", text.replace("STRATEGY", strategy));
        let found = outputs(&program, "");
        assert_eq!((&found["s"], &found["t"]), (&6.into(), &45.into()), "{strategy}");
        reviver(&format!("run {program} --check")).expect(0).prints_part("restored: yes, bit for bit");
    }
}

/// The assembler refuses statements that would mix with the history. Marks tell parts of one array apart.
#[test]
fn a_history_does_not_mix_with_other_values() {
    let folder = Folder::new();
    let refused = |strategy: &str, body: &str, reason: &str| {
        let text = format!(
            ".inout x default 3, y default 7\n.inout z: real default 1, w: real\ncall f(x, y, z, w)\nuncall f(x, y, z, w)\n\
             .proc f(inout x, inout y, inout z: real, inout w: real)\n.strategy {strategy}\n{body}\n.end\n"
        );
        let program = folder.file("mixed.rasm", text);
        reviver(&format!("run {program}")).expect(3).says("E86").says(reason);
    };
    refused("reverse", "push x\noverwrite y, 3\npop x", "can't use the stack itself");
    let both = "compute\noverwrite x, 7\napply\noverwrite y, x\nuncompute";
    refused("reverse", both, "both bodies of this `compute` discard");
    refused("tape", "overwrite z, 1.5\nrot z, w, 0.5", "a rotation of floats");
    let shows = "for i in 0..3\noverwrite x, i\nshow x\nrof";
    refused("checkpoint=2", shows, "repeats this statement");
    refused("reverse", ".strategy tape\noverwrite x, 1", "one strategy");
    refused(
        "reverse",
        "local t = 1\noverwrite t, 4\ndelocal t = 4\nlocal t: real = 2.5\ndelocal t = 2.5",
        "an integer and a real",
    );
    let narrow = ".word 8\n.inout n\ncall f(n)\n.proc f(inout n)\n.strategy reverse\noverwrite n, 1\n.end\n";
    let program = folder.file("narrow.rasm", narrow);
    reviver(&format!("run {program}")).expect(3).says("32 or 64 bits");
    // The two calls get other elements of the same array.
    let parts = ".inout v[6] default {1, 2, 3, 4, 5, 6}\ncall f(v[0..4 step 2])\ncall f(v[0..2])\n\
                 uncall f(v[0..4 step 2])\nuncall f(v[0..2])\n\
                 .proc f(inout a[])\n.strategy reverse\nfor i in 0..len(a)\noverwrite a[i], 0\nrof\n.end\n";
    let program = folder.file("parts.rasm", parts);
    reviver(&format!("run {program}")).expect(4).says("history_of_f");
    // The cell that `g` changes has the name of a variable of `f`.
    let hidden = ".inout r default 3, x default 1\ncall f(x)\nuncall f(x)\n.proc f(in x)\n.strategy checkpoint=2\n\
                  .ancilla r\nfor i in 0..4\ncall g(x)\nrof\n.end\n.proc g(in x)\noverwrite r, r * 2 + x\n.end\n";
    let program = folder.file("hidden.rasm", hidden);
    reviver(&format!("run {program}")).expect(3).says("E86").says("another `r` hides");
    // A procedure without a strategy keeps marks, too.
    let inner = ".inout v[2] default {3, 4}\ncall f(v)\nuncall f(v)\n.proc f(inout v[])\n.strategy reverse\n\
                 call g(v[0])\ncall g(v[1])\nuncall g(v[0])\nuncall g(v[1])\n.end\n.proc g(inout n)\noverwrite n, 0\n.end\n";
    let program = folder.file("inner.rasm", inner);
    reviver(&format!("run {program}")).expect(4).says("history_of_g");
}

/// Inverses, optimized programs and gradient programs of procedures that call each other.
#[test]
fn texts_of_programs_with_a_history_keep_their_results() {
    let folder = Folder::new();
    let text = "\
.inout x default 5
.out y, z
        compute
            call f(x)
        apply
            add y, x
        uncompute
        add z, 2
.proc f(inout x)
.strategy reverse
        call g(x)
        call h(x)
        from forgotten
            from forgotten
                add x, 1
            loop
            until x % 3 == 0
        loop
        until x >= 40
.end
.proc g(inout x)
.strategy checkpoint=2
        for i in 0..3
            overwrite x, x * 2 + i
        rof
.end
.proc h(inout x)
        overwrite x, x - 1
.end
";
    let program = folder.file("texts.rasm", text);
    let expected = outputs(&program, "");
    assert_eq!(expected["y"], 45);
    let optimized = folder.file("optimized.rasm", reviver(&format!("opt {program}")).expect(0).stdout);
    assert_eq!(outputs(&optimized, ""), expected);
    let inverse = folder.file("inverse.rasm", reviver(&format!("invert {program}")).expect(0).stdout);
    assert_eq!(outputs(&inverse, "--set y=45,z=2")["x"], 5);
    let image = folder.at("texts.rbc");
    reviver(&format!("asm {program} -o {image}")).expect(0);
    assert_eq!(outputs(&image, ""), expected);
}

/// Procedures that only add floats keep their old values, and marks, within one that keeps them.
#[test]
fn procedures_that_only_add_keep_their_floats() {
    let folder = Folder::new();
    let text = |strategy: &str, calls: &str| {
        format!(
            ".inout x: real default 0.3, a: real default 0.2, b: real default 0.1\n{calls}\
             .proc f(inout z: real, in x: real)\n.strategy {strategy}\nfor i in 0..4\ncall g(z, x)\nrof\n.end\n\
             .proc g(inout z: real, in x: real)\nadd z, x * 0.7\n.end\n"
        )
    };
    let right = "call f(a, x)\ncall f(b, x)\nuncall f(b, x)\nuncall f(a, x)\n";
    let wrong = "call f(a, x)\ncall f(b, x)\nuncall f(a, x)\nuncall f(b, x)\n";
    for strategy in &STRATEGIES[1..] {
        let program = folder.file("right.rasm", text(strategy, right));
        assert_eq!(outputs(&program, ""), serde_json::json!({"x": 0.3, "a": 0.2, "b": 0.1}), "{strategy}");
        let program = folder.file("wrong.rasm", text(strategy, wrong));
        reviver(&format!("run {program}")).expect(4).says("history_of_f");
    }
}

/// With floats that are added to, the strategies that keep old values have the bits of a history from outside.
#[test]
fn kept_floats_have_the_bits_of_a_history_from_outside() {
    let folder = Folder::new();
    let procedure = |strategy: &str| {
        format!(
            ".proc f(inout y: real, inout t: real, in x: real)\n{strategy}\noverwrite y, x\nfor i in 0..25\n\
             local d = 1.3*y*(1-y)\noverwrite t, d\nadd y, t\ndelocal d = t\nrof\n.end\n"
        )
    };
    let head = ".inout x: real default 0.3\n";
    let text = format!("{head}.out y: real, t: real\ncall f(y, t, x)\n{}", procedure(""));
    let outside = folder.file("outside.rasm", text);
    let expected = reviver(&format!("grad {outside} --of y --json")).expect(0).json()["grad"]["x"].clone();
    for strategy in &STRATEGIES[1..] {
        let body = "compute\ncall f(y, t, x)\ngrad.on\nadd y', 1\nuncall f(y, t, x)\napply\nadd slope, x'\nuncompute\n";
        let text = format!(
            "{head}.out slope: real\n.ancilla y: real, t: real\n{body}{}",
            procedure(&format!(".strategy {strategy}"))
        );
        let inside = folder.file("inside.rasm", text);
        assert_eq!(outputs(&inside, "")["slope"], expected, "{strategy}");
    }
}
