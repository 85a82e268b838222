//! `reviver bennett`: the derived reversible programs have the same results as the programs that overwrite. They take
//! the predicted numbers of segment runs and of kept states.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, Ran, reviver, with_input};

/// Reproducible random numbers: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `low` to `high`, inclusive.
    fn int(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn real(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn reals(&mut self, name: &str, count: usize, low: f64, high: f64) -> String {
        let values: Vec<String> = (0..count).map(|_| format!("{:?}", self.real(low, high))).collect();
        format!("{name}={}", values.join(","))
    }
}

/// Returns random inputs of a program, as options of `run`.
type RandomInputs = fn(&mut Numbers) -> String;

/// Returns ten programs that lose information, with inputs for each.
fn programs() -> Vec<(&'static str, RandomInputs)> {
    vec![
        ("programs/collatz_plain.rasm", |n| format!("n={}", n.int(1, 1000))),
        ("programs/bubble_sort.rasm", |n| {
            format!("A={}", (0..6).map(|_| n.int(-9, 9).to_string()).collect::<Vec<_>>().join(","))
        }),
        ("programs/bisection.rasm", |n| format!("a={:?}", n.real(0.0, 16.0))),
        ("programs/particles_plain.rasm", |n| {
            let cells = ["x", "y", "vx", "vy"].map(|name| n.reals(name, 4, -1.0, 1.0));
            format!("steps={},{}", n.int(0, 12), cells.join(","))
        }),
        ("programs/checkpoint_listing.rasm", |n| format!("n={},x={:?}", n.int(0, 12), n.real(0.5, 3.0))),
        ("programs/erase.rasm", |n| format!("x={},y={}", n.int(-99, 99), n.int(-99, 99))),
        ("programs/faq_overwrite.rasm", |n| format!("z={:?},y={:?}", n.real(-9.0, 9.0), n.real(-9.0, 9.0))),
        ("course/book/programs/logistic.rasm", |n| {
            format!("steps={},x={:?}", n.int(0, 60), n.real(0.0, 1.0))
        }),
        ("course/book/programs/greater.rasm", |n| format!("a={},b={}", n.int(-99, 99), n.int(-99, 99))),
        ("course/book/programs/euler.rasm", |n| {
            format!("steps={},x={:?},p={:?}", n.int(0, 40), n.real(-1.0, 1.0), n.real(-1.0, 1.0))
        }),
    ]
}

/// Returns the results of a run by name.
fn results(ran: &Ran) -> Value {
    ran.json()["outputs"].clone()
}

/// Runs a program and its reversible form on the same inputs, and compares every result of the program.
#[track_caller]
fn are_equal(program: &str, reversible: &str, inputs: &str) {
    let expected = results(&reviver(&format!("run {program} --set {inputs} --json")).expect(0));
    let ran = reviver(&format!("run {reversible} --set {inputs} --check --json")).expect(0);
    let object = ran.json();
    assert_eq!(object["erased_bits"], 0, "{program} {inputs}: {object}");
    assert_eq!(object["bit_exact"], true, "{program} {inputs}: {object}");
    let found = results(&ran);
    for (name, value) in expected.as_object().unwrap() {
        let other = found.get(format!("{name}_out")).or(found.get(name));
        assert_eq!(other, Some(value), "{program} {inputs}: `{name}`");
    }
}

fn compare(inputs: usize) {
    let folder = Folder::new();
    for (program, draw) in programs() {
        let name = Path::new(program).file_name().unwrap().to_str().unwrap();
        let reversible = folder.path(name).display().to_string();
        reviver(&format!("bennett {program} -o {reversible}")).expect(0);
        let checked = reviver(&format!("check {reversible}")).expect(0);
        assert_eq!(checked.stderr, "", "{program}");
        reviver(&format!("invert {reversible}")).expect(0);
        let mut numbers = Numbers(program.len() as u64);
        for _ in 0..inputs {
            are_equal(program, &reversible, &draw(&mut numbers));
        }
    }
}

#[test]
fn ten_transformed_programs_agree() {
    compare(2);
}

#[test]
#[ignore = "takes minutes: a hundred inputs for each of ten programs"]
fn ten_transformed_programs_agree_on_random_inputs() {
    compare(100);
}

/// Returns inputs for a loop of exactly `rounds` iterations, each of which loses a word.
fn logistic(rounds: u32) -> String {
    format!("steps={rounds},x=0.3")
}

/// The test inserts a `show` into the procedure `keep`. The `show` prints in both directions, so the number of printed
/// lines gives the numbers of segment runs and of kept states.
#[test]
fn sixty_four_segments_need_the_predicted_memory() {
    let folder = Folder::new();
    for (segments, levels, runs, states) in
        [(64, 1, 127, 64), (8, 2, 225, 15), (4, 3, 343, 10), (2, 6, 729, 7)]
    {
        let plan = format!("--segments {segments} --levels {levels} --rounds 1");
        let text = reviver(&format!("bennett course/book/programs/logistic.rasm {plan}")).expect(0).stdout;
        let counted = text.replace(".proc keep(in state)\n", ".proc keep(in state)\n        show state\n");
        assert_ne!(counted, text);
        let file = folder.file("counted.rasm", &counted);
        let object = reviver(&format!("run {file} --set {} --json", logistic(60))).expect(0).json();
        let mut kept = HashSet::new();
        let mut most = 0;
        let shown = object["shown"].as_array().unwrap();
        for entry in shown {
            let state = entry["state"].as_u64().unwrap();
            if !kept.remove(&state) {
                kept.insert(state);
            }
            most = most.max(kept.len());
        }
        assert_eq!((shown.len(), most), (runs, states), "{plan}");
        assert_eq!(kept.len(), 1, "one state is left, and what is in it are the results");
    }
}

#[test]
fn too_few_segments_are_reported_by_a_trap() {
    let folder = Folder::new();
    let file = folder.path("short.rasm").display().to_string();
    reviver(&format!(
        "bennett course/book/programs/logistic.rasm --segments 2 --levels 1 --rounds 3 -o {file}"
    ))
    .expect(0);
    reviver(&format!("run {file} --set {}", logistic(2))).expect(0);
    reviver(&format!("run {file} --set {}", logistic(20))).expect(4).says("kept_at[LAST]");
}

#[test]
fn the_debugger_travels_through_the_result() {
    let folder = Folder::new();
    let file = folder.path("collatz.rasm").display().to_string();
    reviver(&format!("bennett programs/collatz_plain.rasm -o {file}")).expect(0);
    let script = b"goto 500\nstep\nreverse-step\nend\nstart\nend\nprint steps\n";
    with_input(&format!("debug {file} --batch -"), script).expect(0).prints_part("steps = 16");
}

/// Final contents of arrays that aren't results are garbage of the program. The reversible form leaves no such garbage.
#[test]
fn arrays_may_have_any_final_contents() {
    let folder = Folder::new();
    for declared in
        [".var A[4]", ".var A[4] = {1, 2, 3, 4}", ".in A[4] default {4, 3, 2, 1}", ".garbage A[4]"]
    {
        let text = format!(
            ".inout n default 3\n.out y\n{declared}\nfor i in 0..n\noverwrite A[i], i * i\nrof\n\
             for i in 0..4\nadd y, A[i]\nrof\n"
        );
        let plain = folder.file("plain.rasm", &text);
        let reversible = folder.path("reversible.rasm").display().to_string();
        reviver(&format!("bennett {plain} -o {reversible} --force")).expect(0);
        let y = &reviver(&format!("run {plain} --json")).json()["outputs"]["y"];
        let found = reviver(&format!("run {reversible} --check --json")).expect(0).json();
        assert_eq!((&found["outputs"]["y"], &found["bit_exact"]), (y, &Value::Bool(true)), "{declared}");
    }
}

/// Program with all kinds of statements that lose information, in procedures, macros and blocks.
const MIXED: &str = ".word 32
.const N = 4
.inout A[N] default {3, 1, 4, 1}, M[2, 3] default 2
.in  n = 5 default 9
.out best = 7, count, mean: real
.garbage trash
.var table[N] = {1, 2, 3, 4}, grown: real = 0.5
.ancilla t, square: real
.macro set(cell, value)
        local kept = value
        overwrite cell, kept
        delocal kept = cell
.endm
.proc greatest(inout best, in list[], in length)
        for i in 0..length
            if list[i] > best
                overwrite best, list[i]
            fi forgotten
        rof
.end
.proc halved(inout value)
.ancilla seen
        from forgotten
            overwrite value, value / 2
            add   seen, 1
        until value <= 3
        erase seen
.end
.proc scaled(inout value: real, in by: real)
        add   value, by * 1.7
.end
.proc doubled(inout value, in by)
        add   value, by * 2
.end
        for row in 0..2
            for column in 0..3 reversed
                overwrite M[row, column], M[row, column] * row
                add   M[row, column], column + table[row]
                call  doubled(M[row, column], n)
            rof
        rof
        from  t == 0
            set   A[t], t * 3 + n
            add   t, 1
        until t == N
        call  greatest(best, A, N)
        sub   t, N
        compute
            local product = A[0] * A[1]
        apply
            for hop in 0..10 step 5
                if hop == 0 and product > 2
                    call  halved(best)
                    xor   count, 1
                else
                    uncall doubled(count, hop)
                    overwrite trash, product + hop
                fi forgotten
            rof
        uncompute
        forget count
        add   square, toreal(A[2]) * 1.1
        overwrite grown, grown + square
        add   mean, grown / 3.0
        call  scaled(mean, grown)
        uncall scaled(mean, square)
        sub   grown, square
        erase square
        sub   n, 4
        overwrite r1, 3
        erase r1
";

#[test]
fn all_irreversible_instructions_are_transformed() {
    let folder = Folder::new();
    let program = folder.file("mixed.rasm", MIXED);
    for plan in ["", "--segments 3 --levels 2", "--segments 2 --levels 3 --rounds 12"] {
        let reversible = folder.path("reversible.rasm").display().to_string();
        reviver(&format!("bennett {program} {plan} --force -o {reversible}")).expect(0);
        let checked = reviver(&format!("check {reversible}")).expect(0);
        assert_eq!(checked.stderr, "");
        for inputs in ["n=9", "n=9,A=5,-2,8,1,M=7,1,2,3,4,5"] {
            are_equal(&program, &reversible, inputs);
        }
    }
}

#[test]
fn programs_that_cannot_be_cut_are_refused_with_a_remedy() {
    let folder = Folder::new();
    for (text, why) in [
        (".inout a\n.garbage s[]\nerase a\npush a\n", "uses a stack"),
        (".inout a\nread a\nerase a\n", "tapes"),
        (".inout x: real, y: real\nrot x, y, 0.5\n", "a rotation of floats"),
        (".inout x: real\nadd x', 1\nsub x', 1\n", "adjoints"),
        (".inout a\nadd b, 1\n", "b"),
    ] {
        let file = folder.file("refused.rasm", text);
        let ran = reviver(&format!("bennett {file}")).expect(3).says(why).says("refused.rasm:");
        assert!(ran.stderr.contains("help: "), "{ran:#?}");
    }
    let plain = "bennett programs/collatz_plain.rasm";
    reviver(&format!("{plain} --segments 1")).expect(2).says("at least two segments");
    reviver(&format!("{plain} --segments 1000 --levels 100")).expect(2).says("2⁶³");
    reviver(&format!("{plain} --space 10")).expect(3).says("--space 216");
    reviver(&format!("{plain} --space 216")).expect(0).prints_part("Levels of segments: 6, with 2");
    reviver(&format!("{plain} --space 1M")).expect(0).prints_part("Levels of segments: 1, with 64");
}

/// If a program can't be cut into segments, the other methods are reported, with the reason.
#[test]
fn a_tradeoff_without_segments_has_a_reason() {
    let page = reviver("tradeoff programs/collatz.rasm --set n=6").expect(0);
    let last = "Bennett's method is missing: a program that uses a stack can't be cut into segments\n";
    assert!(page.stdout.ends_with(last) && !page.stdout.contains("Bennett 8, 2"), "{page:?}");
    let object = reviver("tradeoff programs/collatz.rasm --set n=6 --json").expect(0).json();
    assert_eq!(object["no_bennett"]["code"], "E86");
    assert_eq!(object["methods"].as_array().map(Vec::len), Some(6));
}

/// Only the user's text causes warnings, not the texts that `tradeoff` generates from it.
#[test]
fn a_tradeoff_warns_of_what_was_written() {
    let folder = Folder::new();
    let text = ".inout x default 5\n.proc p(inout a, in unused)\noverwrite.sum a, a, 1\n.end\ncall p(x, 3)\n";
    let file = folder.file("warned.rasm", text);
    let ran = reviver(&format!("tradeoff {file}")).expect(0).prints_part("Bennett 64, 1");
    assert_eq!(ran.stderr.matches("warning").count(), 1, "{ran:#?}");
}

/// Each method has a line, in text and in JSON; methods that erase nothing produce no heat.
#[test]
fn a_tradeoff_has_a_line_for_each_method() {
    let asked = "tradeoff programs/collatz_plain.rasm --set n=6";
    let page = reviver(asked).expect(0).stdout;
    let object = reviver(&format!("{asked} --temperature 100 --json")).expect(0).json();
    let methods = object["methods"].as_array().unwrap();
    assert_eq!(page.lines().count(), methods.len() + 3, "{page}");
    let own = reviver("run programs/collatz_plain.rasm --set n=6 --json").expect(0).json();
    let first = &methods[0];
    assert_eq!((&first["steps"], &first["erased_bits"]), (&own["steps"], &own["erased_bits"]));
    let heat = own["erased_bits"].as_f64().unwrap() * 1.380649e-23 * 100.0 * std::f64::consts::LN_2;
    assert!((first["joules"].as_f64().unwrap() - heat).abs() < heat * 1e-12);
    assert_eq!(first["level"], 0.0);
    let names: Vec<&str> = methods.iter().map(|method| method["method"].as_str().unwrap()).collect();
    for name in ["tape", "checkpoint 4", "Bennett 64, 1", "Bennett 2, 6", "collatz.rasm"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for method in methods.iter().filter(|method| method["method"].as_str().unwrap().starts_with("Bennett")) {
        assert_eq!(method["erased_bits"], 0);
        assert!(method["level"].as_f64().unwrap() > 1.0, "{method}");
    }
    let folder = Folder::new();
    let drawn = folder.at("tradeoff.svg");
    reviver(&format!("{asked} --svg {drawn}")).expect(0).prints(&page);
    let svg = String::from_utf8(folder.read("tradeoff.svg")).unwrap();
    for method in methods {
        let [steps, bytes, bits] =
            ["steps", "peak_bytes", "erased_bits"].map(|member| grouped(&method[member]));
        let reported = format!(
            "{}: {steps} steps, {bytes} bytes at most, {bits} bits erased.",
            method["method"].as_str().unwrap()
        );
        assert!(svg.contains(&reported), "{reported}\n{svg}");
    }
    assert_eq!(svg.matches("<ellipse").count(), 2 * methods.len());
    assert!(svg.contains("role=\"img\"") && svg.contains("prefers-color-scheme"));
    std::fs::write(&drawn, "mine").unwrap();
    reviver(&format!("{asked} --svg {drawn}")).expect(2).says("--force");
    reviver("tradeoff programs/collatz_plain.rasm --set n=0").expect(4).says("assertion");
    reviver("tradeoff programs/collatz_plain.rasm --temperature -1").expect(2);
}

fn grouped(count: &serde_json::Value) -> String {
    reviver_pictures::numbers::grouped(count.as_u64().unwrap())
}

/// Leftovers of a program cause no trap in its reversible form. The program's limits on open calls and on stacks cause
/// no trap either: the reversible form has fewer open calls, and separate stacks.
#[test]
fn leftovers_and_limits_of_the_program_cause_no_trap() {
    let folder = Folder::new();
    for (text, results) in [
        (
            ".in n default 4\n.out c\ncall el(c, n)\n.proc el(inout c, in n)\noverwrite c, n\n.end\n",
            "n = 4\nc = 4\n",
        ),
        (".in n default 4\n.var t\n.out c\nadd t, 3\noverwrite c, n\n", "n = 4\nc = 4\n"),
        (".in n default 4\n.out c\noverwrite c, n\nsub n, 1\n", "n = 4\nc = 4\n"),
        (
            ".limit stack 5\n.limit depth 3\n.inout n default 9\n.out c\nfor i in 0..n\noverwrite.sum c, c, i\ncall p(c)\nrof\n\
             .proc p(inout c)\ncall q(c)\n.end\n.proc q(inout c)\nfrom forgotten\noverwrite.div c, c, 2\nuntil c < 3\n.end\n",
            "n = 9\nc = 2\n",
        ),
    ] {
        folder.file("left.rasm", text);
        folder.reviver("bennett left.rasm -o made.rasm --force").expect(0);
        let ran = folder.reviver("run made.rasm --check").expect(0);
        assert!(ran.stdout.starts_with(results), "{text}: {ran:#?}");
        folder.reviver("tradeoff left.rasm").expect(0).prints_part("Bennett 2, 6");
    }
}

/// If the segments trap, the rows of the other methods are still reported.
#[test]
fn a_trap_of_the_segments_keeps_the_other_rows() {
    let folder = Folder::new();
    let counting = ".word 8\n.inout x: real default 0\n.out c\ncall p(x, c)\n.proc p(inout x: real, inout c)\nfrom forgotten\n\
                    overwrite.sum c, c, 1\noverwrite.sum x, x, 1\nuntil x > 300\n.end\n";
    folder.file("narrow.rasm", counting);
    let object = folder.reviver("tradeoff narrow.rasm --json").expect(0).json();
    assert_eq!(object["no_bennett"]["code"], "T11");
    assert_eq!(object["methods"].as_array().unwrap().len(), 6);
    let refused = folder.reviver("bennett narrow.rasm --segments 200 --levels 1").expect(3);
    refused.says("200 states can't be numbered by integers of 8 bits").says("`.word`");
}

/// The generated text lists undone procedures in the order of the program, so every call of the command prints the same
/// text.
#[test]
fn the_text_is_the_same_each_time() {
    for name in ["bundle_adjustment", "dense_net", "graph_embedding"] {
        let text = || reviver(&format!("bennett programs/{name}.rasm")).expect(0).stdout;
        let first = text();
        (0..3).for_each(|_| assert_eq!(text(), first, "{name}"));
    }
}
