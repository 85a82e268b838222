//! Tests with large, long and deep texts, which must be processed fast.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reviver_assembler::format::format;
use reviver_assembler::parser::parse;
use reviver_assembler::source::{LONGEST_LINE, Sources};

use super::cases::{complaints, complaints_of};

/// Returns the diagnostics of a text. Checks that they are found in at most ten seconds: far more than they
/// need on a busy machine, and far less than a hang.
fn soon(text: String) -> String {
    let start = Instant::now();
    let said = complaints(text);
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
    assert!(said.len() < 200_000, "{} bytes are said", said.len());
    said
}

#[test]
fn a_million_lines_are_parsed_and_formatted() {
    let mut text = String::from(".out a, b\n");
    for n in 0..250_000 {
        let _ = writeln!(
            text,
            "l{n}: add.mul a, b, {n} ; comment\n        swap  a, b\n        if a < 5\n        fi b < 5"
        );
    }
    let mut sources = Sources::new();
    let file = sources.add("large.rasm", text);
    let start = Instant::now();
    let (body, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty());
    assert_eq!(body.len(), 750_001);
    assert!(format(&sources, file).is_ok());
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
}

#[test]
fn a_line_of_many_megabytes_is_refused_at_once() {
    let said = soon(format!("        add   x, 1\n        add   x, {}\n", "1 + ".repeat(25_000_000)));
    insta::assert_snapshot!(said);
}

#[test]
fn a_long_line_is_shown_in_part() {
    let long = "x".repeat(LONGEST_LINE / 4);
    insta::assert_snapshot!(soon(format!("        add   {long}, y z ; {long}\n")));
}

#[test]
fn long_words_are_cut_in_messages() {
    insta::assert_snapshot!(soon(format!("{0} {0} {0}\n", "word".repeat(30))));
}

#[test]
fn hostile_depth_is_refused() {
    let deep = 100_000;
    for text in [
        format!("        add   x, {}1\n", "(".repeat(deep)),
        format!("        add   x, {}1\n", "-".repeat(deep)),
        format!("        add   x, 1{}\n", " + 1".repeat(deep)),
        format!("        add   x, {}\n", "A[".repeat(deep)),
        format!("        assert {}a == b\n", "not ".repeat(deep)),
        format!("        assert {}a == b\n", "(".repeat(deep)),
        format!("        assert a == b{}\n", " and a == b".repeat(deep / 2)),
        format!("        assert a == b{}\n", " or a == b".repeat(deep / 2)),
        "if a == b\n".repeat(deep),
        "from a == b\nloop\n".repeat(deep),
        "for i in 0..2\n".repeat(deep),
        "compute\napply\n".repeat(deep),
    ] {
        let said = soon(text);
        assert!(said.contains("more than 200"), "{said}");
    }
}

#[test]
fn depth_below_the_limit_is_accepted() {
    let deep = 199;
    let expression = format!("{}1{}", "(".repeat(deep), ")".repeat(deep));
    let text = format!("{}add x, {expression}\n{}", "if a == b\n".repeat(deep), "fi a == b\n".repeat(deep));
    assert_eq!(soon(text.clone()), "");
    let mut sources = Sources::new();
    let file = sources.add("deep.rasm", text);
    assert!(format(&sources, file).is_ok());
}

#[test]
fn invalid_texts_are_reported_in_linear_time() {
    let many = 200_000;
    soon("@ ".repeat(many));
    soon("@\n".repeat(many));
    soon("fi\n".repeat(many));
    soon("add x\n".repeat(many));
    soon(".proc p()\n".repeat(many));
    soon(".macro m()\n".repeat(many));
    soon("label: ".repeat(many / 2));
    soon(".var A[3] = {\n".repeat(many));
    soon(format!(".var A[3] = {{{}", "1,\n".repeat(many)));
}

#[test]
fn files_that_are_no_texts() {
    let mut transcript = String::new();
    for bytes in [
        &b"        add   x, y\n        add   \xff, y\n"[..],
        b"        add   x, y\n\0\n",
        "        add   x, y ; \u{202e}1 ,x  dda\u{202c}\n".as_bytes(),
        ".include \"\u{2066}a.rasm\"\n".as_bytes(),
        b"        add   x, y ; \x1b[2K\n",
        "        add   x, y ; the end\u{2028}        add   x, z\n".as_bytes(),
        "\u{feff}        add   x, y\u{feff}\n".as_bytes(),
        b"\xff\xfea\0d\0d\0",
        b"\x89PNG\r\n\x1a\n",
        b"        add   x, y\r        add   x, y\r",
    ] {
        let mut sources = Sources::new();
        let said = match sources.add_bytes("bytes.rasm", bytes.to_vec()) {
            Err(problem) => complaints_of(&sources, &[*problem]),
            Ok(file) => complaints_of(&sources, &parse(&sources, file).1),
        };
        transcript.push_str(&said);
        transcript.push('\n');
    }
    insta::assert_snapshot!(transcript);
}

/// Checks that a byte order mark, which some editors write at the beginning of a text, doesn't count as a
/// character.
#[test]
fn a_byte_order_mark_is_skipped() {
    let (marked, plain) = ("\u{feff}.in  x\n        addd  x, y\n", ".in  x\n        addd  x, y\n");
    assert_eq!(complaints(marked), complaints(plain));
    let mut sources = Sources::new();
    let file = sources.add("marked.rasm", "\u{feff}.in x ; ün\n");
    assert_eq!(format(&sources, file).as_deref(), Ok(".in  x  ; ün\n"));
}
