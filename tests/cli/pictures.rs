//! Pictures are well-formed, and agree with the run. Their appearance isn't tested here.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

use crate::support::{Folder, reviver};

/// Elements of a picture with their attributes, and its texts.
pub struct Picture {
    pub elements: Vec<(String, BTreeMap<String, String>)>,
    pub texts: Vec<String>,
    pub title: String,
    pub description: String,
}

impl Picture {
    /// Parses a picture, which must be well-formed and have a description.
    #[track_caller]
    pub fn of(svg: &str) -> Picture {
        assert!(svg.starts_with("<!-- drawn by `reviver`"), "{svg}");
        let mut reader = Reader::from_str(svg);
        reader.config_mut().check_end_names = true;
        let (mut elements, mut texts, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let mut words: BTreeMap<String, String> = BTreeMap::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) => {
                    open.push(name(&start));
                    elements.push((name(&start), attributes(&start)));
                }
                Event::Empty(start) => elements.push((name(&start), attributes(&start))),
                Event::End(_) => drop(open.pop().unwrap()),
                Event::Text(text) => {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    match open.last().map(String::as_str) {
                        Some("text") => texts.push(text.trim().to_owned()),
                        Some(word @ ("title" | "desc")) => {
                            words.entry(word.to_owned()).or_default().push_str(&text);
                        }
                        _ => {}
                    }
                }
                // A character that is escaped in a text ends one event, and begins the next one.
                Event::GeneralRef(name) => {
                    let known = [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'")];
                    let (_, sign) = known.into_iter().find(|(known, _)| known.as_bytes() == &*name).unwrap();
                    if let Some(word @ ("title" | "desc")) = open.last().map(String::as_str) {
                        words.entry(word.to_owned()).or_default().push_str(sign);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        let root = &elements[0].1;
        assert_eq!(root["role"], "img");
        let ids: Vec<_> = elements.iter().filter_map(|(_, attributes)| attributes.get("id")).collect();
        assert_eq!(root["aria-labelledby"].split(' ').collect::<Vec<_>>(), ids);
        let word = |name: &str| words.get(name).cloned().unwrap_or_default();
        Picture { title: word("title"), description: word("desc"), elements, texts }
    }

    /// Returns the points of the lines in a color.
    fn lines(&self, stroke: &str) -> Vec<Vec<(f64, f64)>> {
        let lines = self.elements.iter().filter(|(name, attributes)| {
            name == "polyline" && attributes.get("stroke").is_some_and(|found| found == stroke)
        });
        lines.map(|(_, attributes)| points(&attributes["points"])).collect()
    }

    fn count(&self, name: &str) -> usize {
        self.elements.iter().filter(|(found, _)| found == name).count()
    }
}

fn name(start: &BytesStart) -> String {
    String::from_utf8(start.name().as_ref().to_vec()).unwrap()
}

fn attributes(start: &BytesStart) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let attributes = start.attributes().map(Result::unwrap);
    attributes.map(|attribute| (text(attribute.key.as_ref()), text(&attribute.value))).collect()
}

fn points(text: &str) -> Vec<(f64, f64)> {
    let pairs = text.split_whitespace().map(|pair| pair.split_once(',').unwrap());
    pairs.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect()
}

const FIRST: &str = "#0072B2";
const SECOND: &str = "#D55E00";

#[test]
fn a_plot_has_the_points_of_the_run() {
    let folder = Folder::new();
    let (svg, csv) = (folder.path("fib.svg"), folder.path("fib.csv"));
    let fib = "programs/fib.rasm --set n=10";
    reviver(&format!("plot {fib} --cells a,b -o {}", svg.display())).expect(0).prints("");
    reviver(&format!("run {fib} --check --log {} --log-cells a,b", csv.display())).expect(0);
    let picture = Picture::of(&std::fs::read_to_string(svg).unwrap());
    assert_eq!(picture.title, "fib.rasm: a, b over 104 steps");
    assert!(
        picture.description.contains("a (value): from 0 to 89, at the end 0."),
        "{}",
        picture.description
    );
    assert!(
        picture.description.contains("b (value): from 1 to 89, at the end 1."),
        "{}",
        picture.description
    );
    // The legend contains a piece of each curve, too.
    let [_, ref curve] = picture.lines(SECOND)[..] else { panic!("one curve") };
    let log = std::fs::read_to_string(csv).unwrap();
    let rows: Vec<Vec<&str>> = log.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let values: Vec<f64> = rows.iter().map(|row| row[3].parse().unwrap()).collect();
    // Heights of the curve are converted to values, by one scale for the whole curve. Vertical coordinates of the
    // picture increase downward.
    let (low, high) =
        (values.iter().fold(f64::MAX, |a, b| a.min(*b)), values.iter().fold(f64::MIN, |a, b| a.max(*b)));
    let heights = curve.iter().map(|point| point.1);
    let (top, bottom) = (heights.clone().fold(f64::MAX, f64::min), heights.clone().fold(f64::MIN, f64::max));
    let mut seen: Vec<f64> = heights.map(|y| low + (bottom - y) / (bottom - top) * (high - low)).collect();
    seen.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    let mut values = values;
    values.dedup();
    assert_eq!(seen.len(), values.len());
    for (seen, value) in seen.iter().zip(&values) {
        assert!((seen - value).abs() < 0.5, "{seen} {value}");
    }
    // The backward run mirrors the forward run.
    let middle = (curve[0].0 + curve[curve.len() - 1].0) / 2.0;
    let peak = curve.iter().find(|point| point.1 == top).unwrap();
    assert!(peak.0 < middle, "{peak:?} {middle}");
}

#[test]
fn plotted_adjoints_end_at_the_gradient() {
    let svg = reviver("plot programs/norm.rasm --cells v --grad length").expect(0).stdout;
    let picture = Picture::of(&svg);
    let gradient = reviver("grad programs/norm.rasm --loss length --json").expect(0).json();
    let found = gradient["grad"]["v"].as_array().unwrap();
    assert!(!found.is_empty());
    for (n, value) in found.iter().enumerate() {
        let reported = format!("v'[{n}] (derivative of length): from ");
        let reported =
            picture.description.split(&reported).nth(1).unwrap_or_else(|| panic!("{}", picture.description));
        let last = reported.split(" at the end ").nth(1).unwrap().split(". ").next().unwrap();
        let last: f64 = last.parse().unwrap();
        assert!((last - value.as_f64().unwrap()).abs() < 1e-5, "{last} {value}");
    }
}

#[test]
fn drift_equals_that_of_check() {
    let orbit = "programs/leapfrog.rasm --real f64";
    let picture = Picture::of(&reviver(&format!("plot {orbit} --cells x --drift")).expect(0).stdout);
    let reported = picture.description.split("x (backward minus forward): ").nth(1).unwrap();
    let last = reported.split("at the end ").nth(1).unwrap().split(". ").next().unwrap();
    let last: f64 = last.parse().unwrap();
    let checked = reviver(&format!("run {orbit} --check --json")).expect(0).json();
    let largest = checked["max_drift"]["absolute"].as_f64().unwrap_or(0.0);
    assert!(last.abs() <= largest * 1.001, "{last} {largest}");
    let exact = Picture::of(&reviver(&format!("plot {orbit} --cells x --drift --exact")).expect(0).stdout);
    assert!(exact.description.contains("x (backward minus forward): from 0 to 0"), "{}", exact.description);
}

#[test]
fn erased_bits_rise_and_cannot_be_undone() {
    let plotted =
        reviver("plot programs/erase.rasm --cells x,y --erased").expect(0).says("can't run backward");
    let picture = Picture::of(&plotted.stdout);
    assert!(
        picture.description.contains("erased (bits): from 0 to 256, at the end 256"),
        "{}",
        picture.description
    );
    let kept = reviver("plot programs/erase.rasm --cells x,y --erased --exact").expect(0);
    assert!(Picture::of(&kept.stdout).title.ends_with("over 8 steps"));
}

#[test]
fn cells_can_have_separate_panels() {
    let apart = "plot course/book/programs/collatz_length.rasm --cells m,count --apart";
    let picture = Picture::of(&reviver(apart).expect(0).stdout);
    assert!(picture.description.contains("m (value): from 0 to 9232"), "{}", picture.description);
    assert!(picture.description.contains("count (value): from 0 to 111"), "{}", picture.description);
    assert_eq!(picture.texts.iter().filter(|text| *text == "value").count(), 2);
}

#[test]
fn one_cell_over_another_is_a_curve() {
    let euler = "plot course/book/programs/euler.rasm --cells p --against x --there";
    let picture = Picture::of(&reviver(euler).expect(0).stdout);
    assert_eq!(picture.title, "euler.rasm: p over x");
    let [_, ref curve] = picture.lines(FIRST)[..] else { panic!("one curve") };
    assert!(curve.len() > 1000);
    let shears = euler.replace("euler", "shears");
    assert!(Picture::of(&reviver(&shears).expect(0).stdout).lines(FIRST)[1].len() > 1000);
}

#[test]
fn cells_are_observed_at_places_of_a_run() {
    let plot = |options: &str| {
        let plotted = reviver(&format!("plot programs/fib.rasm --cells a {options}")).expect(0);
        let picture = Picture::of(&plotted.stdout);
        // The legend contains a piece of the curve, too, so the second line is the curve.
        let [_, ref curve] = picture.lines(FIRST)[..] else { panic!("one curve") };
        (curve.clone(), picture.description)
    };
    // The run reaches `leave` in each of eleven iterations, and in the last one leaves the loop. The backward run
    // passes the same time points.
    let (there, reported) = plot("--at leave --there");
    assert_eq!(there.len(), 11);
    assert!(
        reported.contains("a (value): from 0 to 55, at the end 55. Sampled where the run reaches line 28."),
        "{reported}"
    );
    let (both, reported) = plot("--at 28");
    assert_eq!(both.len(), 22);
    assert!(reported.contains("from 0 to 55, at the end 0."), "{reported}");
    let mirrored: Vec<f64> = both.iter().rev().map(|point| point.1).collect();
    assert!(both.iter().zip(&mirrored).all(|(point, height)| (point.1 - height).abs() < 1e-9));
    // The first line of a run, and step limits during the run, are each sampled once.
    let first = "plot programs/sum3.rasm --cells s --at 32";
    assert!(Picture::of(&reviver(first).expect(0).stdout).description.contains("s (value): from 0"));
    reviver("plot programs/fib.rasm --cells a --at 99").expect(2).says("no instructions");
    reviver("plot programs/fib.rasm --cells a --at leve").expect(2).says("`leave`");
    reviver("plot programs/fib.rasm --cells a --at 28 --drift").expect(2);
}

#[test]
fn long_runs_are_thinned_and_keep_their_peaks() {
    let plotted = reviver("plot programs/fib.rasm --set n=40000 --cells n --there").expect(0).stdout;
    let picture = Picture::of(&plotted);
    assert!(picture.description.contains("from 0 to 40000"), "{}", picture.description);
    assert!(picture.description.contains("only the least and the greatest value"), "{}", picture.description);
    assert!(plotted.len() < 200_000, "{}", plotted.len());
}

#[test]
fn values_that_cannot_be_plotted_are_reported() {
    reviver("plot programs/fib.rasm")
        .expect(2)
        .says("`--cells` is missing")
        .says("the program's cells are n, a, b; for example, `--cells n`");
    let fib = "plot programs/fib.rasm --cells";
    reviver(&format!("{fib} c")).expect(2).says("no cell `c`");
    reviver(&format!("{fib} a,a")).expect(2).says("named twice");
    reviver(&format!("{fib} a[1]")).expect(2).says("a scalar takes no index");
    reviver(&format!("{fib} a --grad a")).expect(2).says("isn't a real cell");
    for wrong in ["A[0", "A[0,1", "A[0]]x", "A[", "A[0]1", "A[]"] {
        let ran = reviver(&format!("plot programs/sort.rasm --cells {wrong}")).expect(2);
        ran.says(&format!("--cells: `{wrong}`")).says("= help: write `A[0]` for a cell of an array");
    }
    reviver("plot programs/kick_drift.rasm --cells a --grad loss").expect(0);
    let limited = reviver(&format!("{fib} a --max-steps 20")).expect(5).says("step limit");
    assert!(Picture::of(&limited.stdout).title.ends_with("over 20 steps"));
}

#[test]
fn pictures_replace_only_pictures() {
    let folder = Folder::new();
    let path = folder.path("fib.svg");
    std::fs::write(&path, "<svg>mine</svg>").unwrap();
    let plot = format!("plot programs/fib.rasm --cells a -o {}", path.display());
    reviver(&plot).expect(2).says("--force");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "<svg>mine</svg>");
    reviver(&format!("{plot} --force")).expect(0);
    reviver(&plot).expect(0);
}

#[test]
fn a_flow_chart_has_a_diamond_and_a_circle_for_each_pair() {
    let picture = Picture::of(&reviver("graph programs/fib.rasm --only flow").expect(0).stdout);
    assert!(picture.texts.iter().any(|text| text == "n == 0"), "{:?}", picture.texts);
    assert!(picture.texts.iter().any(|text| text == "a != 0"), "{:?}", picture.texts);
    assert!(picture.description.contains("1 test, 1 assertion;"), "{}", picture.description);
    assert!(
        picture.description.contains("n == 0, joined by a place that only this jump reaches"),
        "{}",
        picture.description
    );
}

#[test]
fn a_call_tree_counts_every_step() {
    for program in ["programs/hanoi.rasm", "programs/fib_recursive.rasm", "programs/adder.rasm"] {
        let steps = &reviver(&format!("run {program} --json")).expect(0).json()["steps"];
        let svg = reviver(&format!("graph {program} --only calls")).expect(0).stdout;
        let picture = Picture::of(&svg);
        let steps = grouped(steps.as_u64().unwrap());
        assert!(
            picture.description.contains(&format!("main: called once, {steps} steps")),
            "{}",
            picture.description
        );
    }
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

#[test]
fn every_program_has_a_flow_chart() {
    for entry in std::fs::read_dir(crate::support::root().join("programs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rasm") {
            let name = path.file_name().unwrap().to_str().unwrap();
            Picture::of(&reviver(&format!("graph programs/{name} --only flow")).expect(0).stdout);
        }
    }
}

#[test]
fn a_circuit_has_its_gates() {
    let picture = Picture::of(&reviver("circuit course/book/programs/full_adder.rasm").expect(0).stdout);
    let ellipses = |rx: &str| {
        let all = picture.elements.iter().filter(|(name, _)| name == "ellipse");
        all.filter(|(_, attributes)| attributes["rx"] == rx).count()
    };
    // Two Toffoli gates with two dots each, three CNOT gates with one.
    assert_eq!((ellipses("5"), ellipses("11")), (7, 5));
    assert!(picture.description.starts_with("4 wires, 5 gates: out_carry flips where x and y is 1;"));
    assert_eq!(picture.count("text"), 8, "a name at both ends of each wire");
}

/// Returns the circuit picture of a text.
fn circuit_of(text: &str) -> Picture {
    let folder = Folder::new();
    let file = folder.file("circuit.rasm", text);
    Picture::of(&reviver(&format!("circuit {file}")).expect(0).stdout)
}

#[test]
fn loops_with_known_bounds_are_unrolled() {
    // For each of two gates and each number from 0 to 7, the circuit sets the bits of the number, and clears them at
    // the end. The numbers have 12 bits set, so there are 2 · 2 · 12 = 48 flips.
    let gates = Picture::of(&reviver("circuit programs/gates.rasm").expect(0).stdout);
    assert!(gates.description.starts_with("19 wires, 128 gates: "), "{}", gates.description);
    let reported = |picture: &Picture, words: &str| picture.description.matches(words).count();
    assert_eq!(reported(&gates, "c flips where a and b is 1"), 32);
    assert_eq!(reported(&gates, "add ccnot[7], 4 * a + 2 * b + c"), 1);
    // The last entry ends with a full stop instead of a semicolon.
    assert_eq!(
        reported(&gates, "a flips;") + reported(&gates, "b flips;") + reported(&gates, "c flips;"),
        48 - 1
    );

    let adder = Picture::of(&reviver("circuit programs/adder.rasm").expect(0).stdout);
    assert!(adder.description.starts_with("20 wires, 55 gates: call unpack(a, A);"), "{}", adder.description);
    assert_eq!((reported(&adder, "call unpack("), reported(&adder, "vacate ")), (4, 2));
    assert!(adder.description.contains("A[7] flips where A[6] and B[7] is 1; carry flips where A[7] is 1"));
    let narrow = Picture::of(&reviver("circuit programs/adder.rasm --const WIDTH=2").expect(0).stdout);
    assert!(narrow.description.starts_with("8 wires, 19 gates: "), "{}", narrow.description);

    let description = |text: &str| circuit_of(text).description;
    let nested = ".inout A[6]\n for i in 0..3\n for j in i..3 step 2 reversed\n xor A[2*i + 1], A[j+1 - 1] & 1\n \
                  rof\n rof\n";
    let nested = description(&nested.replace("A[2*i + 1], A[j+1 - 1]", "A[i + 3], A[j]"));
    let flips =
        ["A[3] flips where A[2]", "A[3] flips where A[0]", "A[4] flips where A[1]", "A[5] flips where A[2]"];
    assert!(nested.ends_with(&format!("{} is 1.", flips.join(" is 1; "))), "{nested}");
    let back = description(
        ".inout A[3]\n compute\n for i in 0..2\n swap A[i], A[i+1]\n rof\n apply\n not A[0]\n uncompute\n",
    );
    let there = ["A[0] and A[1] change places", "A[1] and A[2] change places"];
    let [first, second] = there;
    assert!(back.ends_with(&format!("{first}; {second}; A[0] flips; {second}; {first}.")), "{back}");
    let chosen = description(
        ".inout a, b\n for i in 0..4\n if i > 1 and i != 3\n not a\n else\n not b\n fi i > 1 and i != 3\n rof\n",
    );
    assert!(chosen.ends_with("4 gates: b flips; b flips; a flips; b flips."), "{chosen}");
    assert!(description(".inout a\n for i in 3..3\n not a\n rof\n").starts_with("1 wires, 0 gates"));
}

#[test]
fn instructions_without_gate_are_boxes_over_their_wires() {
    let mixed = Picture::of(&reviver("circuit course/book/programs/mixed.rasm").expect(0).stdout);
    assert!(mixed.description.contains("add x, 2"), "{}", mixed.description);
    let boxes = |text: &str| {
        let picture = circuit_of(text);
        // Boxes have round corners.
        let boxed = picture
            .elements
            .iter()
            .filter(|(name, attributes)| name == "rect" && attributes.get("rx").is_some_and(|rx| rx == "3"));
        boxed.count()
    };
    for (text, count) in [
        (".inout a, b\n add a, b\n", 1),
        (".inout a, b\n xor a, b + 1\n xor a, 5\n xor a, b | 1\n", 3),
        (".inout x: real, y: real\n add y, x * x / (x + 1)\n swap x, y\n", 2),
        (".inout A[4], k\n add A[k], 1\n", 1),
        (".inout a\n local t = a + 1\n xor a, 1\n xor a, 1\n delocal t = a + 1\n", 2),
        (".inout a\n assert a == 0 or a == 1\n show a\n", 2),
        (
            ".inout A[4]\n.out b\n call f(A[1..3])\n uncall f(A[0..2])\n.proc f(inout s[])\n add b, len(s)\n.end\n",
            2,
        ),
        (".inout a, b\n par f(a), f(b)\n.proc f(inout x)\n add x, 1\n.end\n", 2),
        (
            ".inout M[2, 2]\n for i in 0..2\n call f(M[i, ..])\n rof\n.proc f(inout s[])\n add s[0], 1\n.end\n",
            2,
        ),
        (".inout a\n push a\n pop a\n", 2),
    ] {
        assert_eq!(boxes(text), count, "{text}");
    }
}

#[test]
fn programs_without_circuit_are_refused_with_the_place() {
    let branches = reviver("circuit programs/fib.rasm").expect(3);
    // The message has the line as in the text, with its label.
    branches.says("fib.rasm:27: `from again, a != 0`").says("whose call is drawn as one box");
    let folder = Folder::new();
    for (text, words) in [
        (
            ".inout a, b\n        if a == 1\n            not b\n        fi a == 1\n",
            "refused.rasm:2: `if a == 1`",
        ),
        (
            ".inout a, n\n        for i in 0..n\n            not a\n        rof\n",
            "refused.rasm:2: `for i in 0..n`",
        ),
        (".inout a, n\n from a == 0\n add a, 1\n until a == n\n", "refused.rasm:2: `from a == 0`"),
        (
            ".inout A[2000]\n call f(A)\n.proc f(inout s[])\n add s[0], 1\n.end\n",
            "refused.rasm:2: `call f(A)`",
        ),
        (
            ".inout a\n for i in 0..1001\n not a\n rof\n",
            "refused.rasm:3: `not a` can't be drawn as a circuit: together with this statement, the circuit has more than 1000 columns",
        ),
        (
            ".inout a\n for i in 0..9000000000000000000\n xor a, 0\n rof\n",
            "refused.rasm:2: `for i in 0..9000000000000000000`",
        ),
    ] {
        let file = folder.file("refused.rasm", text);
        reviver(&format!("circuit {file}")).expect(3).says(words).says("help: ");
    }
    // Each cell has a wire, even without a gate.
    let declared: String = (0..1001).map(|n| format!(".inout c{n}\n")).collect();
    let wide = folder.file("wide.rasm", format!("{declared} not c0\n"));
    reviver(&format!("circuit {wide}")).expect(3).says("more than 1000 scalar inputs").says("as an array");
    let most = folder.file("most.rasm", ".inout a\n for i in 0..1000\n not a\n rof\n");
    reviver(&format!("circuit {most}")).expect(0);
}

#[test]
fn an_account_counts_cells_and_bits() {
    let account = |arguments: &str| -> Value {
        reviver(&format!("run {arguments} --account --json")).expect(0).json()["account"].clone()
    };
    let erase = account("programs/erase.rasm --temperature 300");
    assert_eq!(erase["erased_bits"], 256);
    let joules = erase["joules"].as_f64().unwrap();
    assert!((joules / (256.0 * 1.380_649e-23 * 300.0 * std::f64::consts::LN_2) - 1.0).abs() < 1e-12);
    assert_eq!(erase["ancillas"], serde_json::json!({ "cells": 1, "bits": 64 }));
    let small = account("programs/erase.rasm --word 8");
    assert_eq!((&small["erased_bits"], &small["ancillas"]["bits"]), (&32.into(), &8.into()));
    let adder = account("programs/adder.rasm");
    assert_eq!((&adder["garbage"]["cells"], &adder["erased_bits"]), (&0.into(), &0.into()));
    assert_eq!(account("programs/fib.rasm")["ancillas"]["cells"], 0);
    // The path of 27 is kept, with 111 bits on the stack, and also m and count.
    assert_eq!(account("course/book/programs/collatz_length.rasm")["ancillas"]["cells"], 113);
}

#[test]
fn entropy_equals_the_erased_information() {
    let folder = Folder::new();
    let (program, inputs) = (folder.path("and.rasm"), folder.path("inputs.csv"));
    std::fs::write(&program, ".in x, y\n.out z\nadd z, x & y\nerase x\nerase y\n").unwrap();
    std::fs::write(&inputs, "x,y,weight\n0,0,1\n0,1,1\n1,0,1\n1,1,1\n").unwrap();
    let run = |inputs: &std::path::Path| {
        let (program, inputs) = (program.display(), inputs.display());
        reviver(&format!("run {program} --set x=1,y=1 --account --inputs {inputs} --json"))
    };
    let entropy = run(&inputs).expect(0).json()["account"]["entropy"].clone();
    assert_eq!((&entropy["cases"], &entropy["inputs"]), (&4.into(), &2.0.into()));
    // Three of the four inputs give 0.
    let results = 0.25 * 4.0_f64.log2() + 0.75 * (4.0_f64 / 3.0).log2();
    assert!((entropy["results"].as_f64().unwrap() - results).abs() < 1e-12, "{entropy}");
    assert!((entropy["lost"].as_f64().unwrap() - (2.0 - results)).abs() < 1e-12, "{entropy}");
    std::fs::write(&inputs, "x,y,weight\n0,0,often\n").unwrap();
    run(&inputs).expect(2).says("inputs.csv:2:5: `often` is no weight");
}

/// Elements of arrays have their own columns, in any order; text between columns is an error.
#[test]
fn distributions_have_elements_of_arrays() {
    let folder = Folder::new();
    let program = folder.file("sum.rasm", ".in A[2], M[1, 2]\n.out s\nadd s, A[0]\nadd s, M[0, 1]\nerase A[0]\nerase A[1]\nerase M[0, 0]\nerase M[0, 1]\n");
    let entropy = |text: &str| {
        let inputs = folder.file("inputs.csv", text);
        reviver(&format!("run {program} --set A=0,M=0 --account --inputs {inputs} --json"))
    };
    let reported = entropy("A[1];A[0];M[0,0];M[0,1]\n0;0;0;0\n1;0;0;0\n0;1;0;0\n1;1;0;0\n").expect(0).json();
    assert_eq!(reported["account"]["entropy"]["inputs"], 2.0);
    assert_eq!(reported["account"]["entropy"]["results"], 1.0);
    entropy("A[0],M\n0,0\n").expect(2).says("elements of `A` are missing");
    entropy("A[0],A[2]\n0,0\n").expect(2).says("elements of `A` are missing");
}

/// Values on a stack that is declared as garbage are declared garbage, not ancillas.
#[test]
fn values_on_garbage_stacks_are_declared_garbage() {
    let reported = reviver("run programs/gcd.rasm --account --json").expect(0).json();
    assert_eq!(reported["account"]["declared_garbage"]["cells"], 4);
    let exact = reviver("run programs/erase.rasm --account --exact --json").expect(0).json();
    assert_eq!(
        (&exact["account"]["erased_bits"], &exact["account"]["kept_bits"]),
        (&256.into(), &256.into())
    );
    assert_eq!(exact["account"]["joules"], 0.0);
}

#[test]
fn a_log_has_a_line_for_each_change() {
    let folder = Folder::new();
    let path = folder.path("log.csv");
    reviver(&format!("run programs/fib.rasm --set n=2 --log {}", path.display())).expect(0);
    let log = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..3], ["step,way,n,a,b", "0,forward,2,0,1", "3,forward,2,1,1"], "{log}");
    assert_eq!(lines.last(), Some(&"10,forward,0,1,2"), "{log}");
    // A log replaces a log, and nothing else.
    reviver(&format!("run programs/fib.rasm --log {}", path.display())).expect(0);
    std::fs::write(&path, "1 2 3\n").unwrap();
    reviver(&format!("run programs/fib.rasm --log {}", path.display())).expect(2);
    reviver("run programs/fib.rasm --log -").expect(2).says("can't be printed");
}

/// The information of garbage about the input, and what it shares with the results, computed by hand for four inputs.
#[test]
fn garbage_shares_information_with_results() {
    let folder = Folder::new();
    let inputs = folder.file("bits.csv", "x,y\n0,0\n0,1\n1,0\n1,1\n");
    let and = 2.0 - 0.75 * 3.0_f64.log2();
    for (body, garbage, mutual, determines) in [
        // The garbage is constant, or a copy of one input, of both, or of the result.
        ("add z, x & y\nerase x\nerase y\nadd g, 7", 0.0, 0.0, false),
        ("add z, x & y\nswap g, x\nerase y", 1.0, and - 0.5, false),
        ("add z, x & y\nswap g, x\nswap h, y", 2.0, and, true),
        ("add z, x & y\nadd g, z\nerase x\nerase y", and, and, false),
        ("add z, x\nerase x\nswap g, y", 1.0, 0.0, false),
        ("swap g, x\nadd h, y ^ g\nerase y", 2.0, 0.0, true),
    ] {
        let text = format!(".in x, y\n.out z\n.garbage g, h\n{body}\n");
        let program = folder.file("program.rasm", text);
        let ran = reviver(&format!("run {program} --account --inputs {inputs} --json")).expect(0);
        let entropy = ran.json()["account"]["entropy"].clone();
        let bits = |key: &str| entropy[key].as_f64().unwrap();
        assert!((bits("garbage") - garbage).abs() < 1e-12, "{body}: {entropy}");
        assert!((bits("mutual") - mutual).abs() < 1e-12, "{body}: {entropy}");
        assert_eq!(entropy["garbage_determines_input"], determines, "{body}: {entropy}");
        assert_eq!(
            ran.stderr.contains("the garbage alone determines the input"),
            determines,
            "{body}: {ran:?}"
        );
    }
}

/// Weights are divided by their sum. The entropy is a number even if this sum overflows.
#[test]
fn the_entropy_of_enormous_weights_is_a_number() {
    let folder = Folder::new();
    folder.file("and.rasm", ".in x, y\n.out z\nadd z, x & y\nerase x\nerase y\n");
    folder.file("cases.csv", "x,y,weight\n0,0,1e308\n1,1,1e308\n1,0,0\n");
    let object = folder.reviver("run and.rasm --account --inputs cases.csv --json").expect(0).json();
    let entropy = &object["account"]["entropy"];
    assert_eq!((&entropy["inputs"], &entropy["results"]), (&1.0.into(), &1.0.into()), "{entropy}");
}
