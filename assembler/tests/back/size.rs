//! Tests and measurements with large and hostile texts.

use std::fmt::Write;
use std::time::Instant;

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::image;

use crate::support::{assembly, module, refusal};

/// Returns the peak resident memory of this process in MiB, if the system provides it.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn million_lines() -> String {
    let mut text = String::from(".inout a, b, A[100]\n");
    for n in 0..250_000 {
        let _ = write!(text, "\tadd a, {n}\n\txor b, a\n\tadd.mul A[{}], a, b\nl{n}:\tswap a, b\n", n % 100);
    }
    text
}

/// Measures the time and the memory for a text of a million lines. To run it:
/// `cargo test --release -p reviver-assembler --test back million -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn million_line_text() {
    let text = million_lines();
    let start = Instant::now();
    let assembly = assembly(&text);
    let seconds = start.elapsed().as_secs_f64();
    let module = assembly.module.expect("it is a program");
    assert_eq!(module.code.len(), 1_000_002);
    println!("text to module: {seconds:.2} s, peak {:?} MiB", peak_mib());
    let start = Instant::now();
    let bytes = image::encode(&module).unwrap();
    println!("to {} bytes of image: {:.2} s", bytes.len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    assert_eq!(image::decode(&bytes).as_ref(), Ok(&module));
    println!("and back: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let flat = disassemble(&module);
    println!("to {} bytes of text: {:.2} s", flat.len(), start.elapsed().as_secs_f64());
    println!("peak {:?} MiB", peak_mib());
}

#[test]
fn macros_that_double_end_in_an_error() {
    let mut text = String::from(".inout x\n.macro m0()\n add x, 1\n.endm\n");
    for n in 1..40 {
        let _ = write!(text, ".macro m{n}()\n m{}\n m{}\n.endm\n", n - 1, n - 1);
    }
    text += " m39\n";
    let refusal = refusal(&text);
    assert!(refusal.contains("expand this text to more than 500000 instructions"), "{refusal}");
}

#[test]
fn computes_that_double_end_in_an_error() {
    let depth = 45;
    let text =
        format!(".inout x\n{}\nneg x\n{}", "compute\n".repeat(depth), "apply\nuncompute\n".repeat(depth));
    let refusal = refusal(&text);
    assert!(refusal.contains("expand this text to more than") || refusal.contains("deep"), "{refusal}");
}

#[test]
fn long_chains_of_conditions_stay_short() {
    let chain = vec!["a > 0"; 100].join(" and ");
    let module = module(&format!(".inout a\nif {chain}\n neg a\nfi a < 0\n"));
    assert!(module.code.len() < 450, "{}", module.code.len());
}

#[test]
fn deep_macros_end_in_an_error() {
    let mut text = String::from(".inout x\n.macro m0()\n add x, 1\n.endm\n");
    for n in 1..1000 {
        let _ = write!(text, ".macro m{n}()\n m{}\n.endm\n", n - 1);
    }
    text += " m999\n";
    assert!(refusal(&text).contains("deep"));
}

#[test]
fn a_short_text_can_not_ask_for_much_memory() {
    assert!(refusal(".var A[268435456] = 1\n\tadd A[0], 1\n").contains("cells have initial values"));
    let large = assembly(".in x\n.var A[268435455]\n\tadd A[0], x\n");
    assert!(large.module.is_some());
}

#[test]
fn many_unknown_labels_take_no_time() {
    let mut text = String::new();
    for n in 0..20_000 {
        let _ = writeln!(text, ".proc p{n}()\na: br b{n}, always\n.end");
    }
    assert!(refusal(&text).contains("no label"));
}
