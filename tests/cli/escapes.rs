//! External text is escaped: control characters in names, fields, headers and scripts never reach a terminal, and
//! reports stay well-formed.

use std::io::{Cursor, Write as _};

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Folder, Ran, command, ran};

/// Parts of names and contents that control a terminal, or disguise a line.
const HOSTILE: [&str; 11] = [
    "\x1b[2J\x1b[H",
    "\x1b[8m",
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\u{9b}2J",
    "\u{202e}",
    "\u{2028}",
    "\r",
    "\t",
    "\x7f",
    "\u{ffff}\x0b",
];

const PROGRAM: &str = "        .in  n\n        .out a\n        add  a, n\n        sub  n, a\n";

fn is_raw(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn assert_escaped(text: &str, what: &str) {
    let raw = text.chars().find(|c| is_raw(*c));
    assert_eq!(raw, None, "{what}: {text:?}");
}

/// Runs a command in a folder, and checks both streams for raw characters.
#[track_caller]
fn escaped(folder: &Folder, arguments: &[&str], input: &str) -> Ran {
    let ran = ran(command().args(arguments).current_dir(folder.path("")), input.as_bytes());
    assert_ne!(ran.code, 101, "{arguments:?}: {}", ran.stderr);
    assert_escaped(&ran.stdout, &format!("stdout of {arguments:?}"));
    assert_escaped(&ran.stderr, &format!("stderr of {arguments:?}"));
    ran
}

/// Checks that an XML text has only characters that XML 1.0 allows.
#[track_caller]
fn assert_xml(text: &str) {
    let is_forbidden =
        |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert_eq!(text.chars().find(|c| is_forbidden(*c)), None, "{text:?}");
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    while reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}")) != Event::Eof {}
}

#[test]
fn arguments_are_escaped() {
    let folder = Folder::new();
    folder.file("p.rasm", PROGRAM);
    for hostile in HOSTILE {
        let (word, option, value) = (format!("x{hostile}"), format!("--{hostile}x"), format!("n=1{hostile}"));
        let name = format!("{word}=1");
        let commands: [&[&str]; 22] = [
            &[&word],
            &[&option],
            &["run", "p.rasm", &option],
            &["run", "p.rasm", "--max-steps", &word],
            &["run", "p.rasm", "--engine", &word],
            &["run", "p.rasm", "--set", &value],
            &["run", "p.rasm", "--set", &name],
            &["run", "p.rasm", "--set", &word],
            &["run", "p.rasm", "--const", &name],
            &["run", "p.rasm", "--tape", &word],
            &["run", "p.rasm", "--log", "log.csv", "--log-cells", &word],
            &["run", "p.rasm", "--from-state", &word],
            &["run", &word],
            &["grad", "p.rasm", "--loss", &word],
            &["jacobian", "p.rasm", "--of", &word],
            &["batch", "p.rasm", "--lanes", &word],
            &["plot", "p.rasm", "--cells", &word],
            &["explain", &word],
            &["isa", &word],
            &["course", "check", &word],
            &["debug", "p.rasm", "--batch", &word],
            &["test", &word],
        ];
        for arguments in commands {
            escaped(&folder, arguments, "");
            escaped(&folder, &[arguments, &["--json"]].concat(), "");
        }
    }
}

/// A line end in a name doesn't start a new line.
#[test]
fn a_message_about_a_name_is_one_line() {
    let folder = Folder::new();
    folder.file("p.rasm", PROGRAM);
    let forged = "x\nerror: forged";
    for arguments in [["run", "p.rasm", "--set", "x\nerror: forged=1"], ["run", "p.rasm", "--tape", forged]] {
        let ran = escaped(&folder, &arguments, "");
        assert!(!ran.stderr.contains("\nerror: forged"), "{}", ran.stderr);
        assert!(ran.stderr.contains(r"x\nerror: forged"), "{}", ran.stderr);
    }
}

#[test]
fn file_names_are_escaped() {
    for hostile in HOSTILE {
        let folder = Folder::new();
        let (name, faulty) = (format!("p{hostile}.rasm"), format!("f{hostile}.rasm"));
        folder.file(&name, format!(";! run n=3 -> a=4\n{PROGRAM}"));
        folder.file(&faulty, format!("{PROGRAM}        add nothing, 1\n        assert a == 0\n"));
        folder.file("script", "step\ninfo card\nlist\n");
        let commands: [&[&str]; 14] = [
            &["run", &name],
            &["run", &name, "--set", "n=1", "--check"],
            &["check", &name],
            &["check", &faulty],
            &["test", &name],
            &["test", &name, &faulty],
            &["fmt", "--check", &name],
            &["grad", &name],
            &["debug", &name, "--batch", "script"],
            &["debug", &faulty, "--batch", "script"],
            &["plot", &name, "--set", "n=1"],
            &["graph", &name],
            &["graph", &name, "--memory"],
            &["disasm", &name],
        ];
        for arguments in commands {
            let ran = escaped(&folder, arguments, "");
            if ran.stdout.contains("<svg") {
                assert_xml(&ran.stdout);
            }
        }
        for arguments in [["run", &name, "--json"], ["check", &faulty, "--json"], ["test", &name, "--json"]] {
            escaped(&folder, &arguments, "").json();
        }
        escaped(&folder, &["test", &name, "--junit", "report.xml"], "");
        assert_xml(&String::from_utf8(folder.read("report.xml")).unwrap());
    }
}

/// JSON has its own escapes; the name is unchanged for readers.
#[test]
fn json_escapes_keep_the_text() {
    let folder = Folder::new();
    let name = "p\u{9b}\u{202e}.rasm";
    folder.file(name, format!(";! run n=3 -> a=3\n{PROGRAM}"));
    let object = escaped(&folder, &["test", name, "--json"], "").json();
    assert_eq!(object["files"][0]["file"], name);
}

#[test]
fn headers_are_escaped_and_reports_well_formed() {
    let folder = Folder::new();
    for hostile in HOSTILE {
        folder.file(
            "h.rasm",
            format!(
                ";! run n=3 -> a=\"{hostile}3 met\"\n;! run n=3 -> a=7 {hostile}\n;! run n=1 -> trap \"{hostile}x\"\n\
                 ;! run {hostile}=1 -> a=1\n{PROGRAM}"
            ),
        );
        escaped(&folder, &["test", "h.rasm"], "");
        escaped(&folder, &["test", "h.rasm", "--json"], "").json();
        escaped(&folder, &["check", "h.rasm"], "");
        escaped(&folder, &["check", "h.rasm", "--json"], "").json();
        escaped(&folder, &["test", "h.rasm", "--junit", "report.xml"], "");
        assert_xml(&String::from_utf8(folder.read("report.xml")).unwrap());
    }
}

#[test]
fn fields_columns_and_arrays_are_escaped() {
    let folder = Folder::new();
    folder.file("p.rasm", PROGRAM);
    for hostile in HOSTILE {
        folder.file("names.csv", format!("\"n{hostile}\"\n1\n"));
        folder.file("fields.csv", format!("n\n\"1{hostile}x\"\n"));
        folder.file("two.csv", format!("n\n\"1\n{hostile}\"\n"));
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(format!("n{hostile}.npy"), SimpleFileOptions::default()).unwrap();
        archive.write_all(b"no array").unwrap();
        folder.file("lanes.npz", archive.finish().unwrap().into_inner());
        for lanes in ["names.csv", "fields.csv", "two.csv", "lanes.npz"] {
            let arguments = ["batch", "p.rasm", "--lanes", lanes];
            let refused = escaped(&folder, &arguments, "").code != 0;
            // Blanks around a name or number are ignored.
            assert!(refused || hostile.trim().is_empty(), "{lanes}, {hostile:?}");
            escaped(&folder, &[&arguments[..], &["--keep-going"]].concat(), "");
            escaped(&folder, &[&arguments[..], &["--json"]].concat(), "");
        }
        escaped(&folder, &["run", "p.rasm", "--set", "n=@fields.csv"], "");
        escaped(&folder, &["run", "p.rasm", "--tape", "fields.csv"], "");
    }
}

#[test]
fn scripts_are_escaped() {
    let folder = Folder::new();
    folder.file("p.rasm", PROGRAM);
    for hostile in HOSTILE {
        for line in ["print ", "break ", "", "expect ", "set n = ", "source ", "mark ", "help "] {
            let script = format!("step\n{line}{hostile}x\ninfo card\n");
            folder.file("script", &script);
            escaped(&folder, &["debug", "p.rasm", "--batch", "script"], "");
            escaped(&folder, &["repl", "p.rasm"], &script);
        }
    }
}

#[test]
fn tables_hold_no_formulas() {
    let folder = Folder::new();
    let class = |name: &str| std::fs::create_dir(folder.path(name)).unwrap();
    ["=HYPERLINK(1)", "+1", "@SUM(1)"].iter().for_each(|name| class(name));
    let report = escaped(&folder, &["course", "report", "=HYPERLINK(1)", "+1", "@SUM(1)"], "");
    for line in report.stdout.lines() {
        assert!(!line.starts_with(['=', '+', '-', '@']), "{line}");
    }
}
