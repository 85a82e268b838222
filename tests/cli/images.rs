//! External images on the command line: `disasm` only accepts programs, and its output assembles to the same bytes.

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::image;
use reviver_isa::Module;
use reviver_isa::module::Structure;

use crate::support::{Folder, reviver};

fn module(text: &str) -> Module {
    assemble("a.rasm", text.as_bytes().to_vec(), &FilesInMemory::new()).module.unwrap()
}

const TEXT: &str = ".inout x default 1\n.out y: real\n  call p(x)\n  add y, 1\n\
                    .proc p(inout a)\n.ancilla t\n  add a, 2\n  add t, a\n  sub t, a\n.end\n";

/// Name that would control the terminal and insert a directive.
const EVIL: &str = "x\u{1b}]0;owned\u{7}\n.include \"/etc/passwd\"\n.var z";

#[test]
fn disasm_shows_no_invalid_name() {
    let folder = Folder::new();
    let changes: [fn(&mut Module); 5] = [
        |m| m.globals[0].name = EVIL.into(),
        |m| m.procedures[1].name = EVIL.into(),
        |m| m.procedures[1].parameters[0].name = EVIL.into(),
        |m| m.procedures[1].frame[0].name = EVIL.into(),
        |m| m.structure.paths = vec![EVIL.into()],
    ];
    for change in changes {
        let mut module = module(TEXT);
        change(&mut module);
        let file = folder.file("a.rbc", image::encode(&module).unwrap());
        for command in ["disasm", "invert", "check", "run", "debug --batch /dev/null"] {
            let ran = reviver(&format!("{command} {file}")).expect(3).prints("").says("can't be");
            assert!(!ran.stderr.contains(['\u{1b}', '\u{7}']), "{ran:?}");
            assert!(ran.stderr.contains(r"x\u{1b}]0;owned"), "{ran:?}");
        }
    }
}

/// The file name contains terminal control characters.
#[cfg(unix)]
#[test]
fn names_of_files_are_escaped() {
    let folder = Folder::new();
    let name = folder.path("a\u{1b}[31m\nerror: none.rasm");
    for (text, code) in [("  add x, 1\n", 3), (".inout x\n  assert x == 1\n", 4), ("\u{1}", 3)] {
        std::fs::write(&name, text).unwrap();
        let output = crate::support::command().arg("run").arg(&name).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(!stderr.contains('\u{1b}') && !stderr.contains("\nerror: none"), "{stderr}");
        assert!(stderr.contains(r"\u{1b}[31m\nerror: none"), "{stderr}");
    }
}

/// Checks that `asm (disasm IMAGE)` is the image, by the command line.
fn round_trip(module: &Module) {
    let folder = Folder::new();
    let bytes = image::encode(module).unwrap();
    let image = folder.file("a.rbc", &bytes);
    let text = folder.file("a.rasm", reviver(&format!("disasm {image}")).expect(0).stdout);
    let again = folder.path("b.rbc");
    reviver(&format!("asm {text} -o {}", again.display())).expect(0);
    assert!(std::fs::read(&again).unwrap() == bytes, "{}", std::fs::read_to_string(&text).unwrap());
}

#[test]
fn a_disassembled_image_assembles_to_itself() {
    let zeros = ".out a[2]: real = {0.0, -0.0}\n.out b: real = -0.0\n.out c[2]: real = -0.0\n\
                 .in d[2]: real default {0.0, -0.0}\n  add b, -0.0\n";
    let limits =
        ".limit tape 7\n.limit stack 3\n.limit depth 2\n.tolerance 1e-9\n.real fixed 43\n.word 8\n.out x\n";
    let long = format!(".out A[200000] = {{{}}}\n", vec!["123456789"; 199_999].join(",\n") + ", 1");
    for text in [TEXT, zeros, limits, &long, ".const k = 1\n"] {
        let full = module(text);
        round_trip(&full);
        round_trip(&Module { structure: Structure::default(), ..full });
    }
    let branches = module(".inout x\n  if x == 0\n    show x\n  fi x == 0\n");
    round_trip(&branches);
    let bare = Structure { lines: branches.structure.lines.clone(), ..Structure::default() };
    round_trip(&Module { structure: bare, ..branches });
}

/// Both cells of {0.0, -0.0} are written, because their bits differ.
#[test]
fn disasm_distinguishes_signed_zeros() {
    let folder = Folder::new();
    let image = folder.file("a.rbc", image::encode(&module(".out a[2]: real = {0.0, -0.0}\n")).unwrap());
    let text = reviver(&format!("disasm {image}")).expect(0).stdout;
    assert!(text.contains("{0.0, -0.0}"), "{text}");
}

/// Images that no text expresses are refused, because they would disassemble to other programs.
#[test]
fn images_have_one_form() {
    let folder = Folder::new();
    let refused = |text: &str, change: fn(&mut Module), why: &str| {
        let mut module = module(text);
        change(&mut module);
        let file = folder.file("a.rbc", image::encode(&module).unwrap());
        for command in ["disasm", "check", "run"] {
            reviver(&format!("{command} {file}")).expect(3).prints("").says(why);
        }
    };
    let global = ".inout x\n.inout y\n  call p(y)\n.proc p(inout a)\n  add x, 1\n  sub x, a\n.end\n";
    let parameter: fn(&mut Module) = |m| m.procedures[1].parameters[0].name = "x".into();
    refused(global, parameter, "names the global `x`, which a parameter of `p` hides");
    let local =
        ".inout x\n.inout y\n  call p(y)\n.proc p(inout a)\n.ancilla t\n  add t, a\n  sub t, a\n.end\n";
    refused(local, |m| m.procedures[1].frame[0].name = "x".into(), "`x` of `p` has the name of a global");
    refused(TEXT, |m| m.globals[0].initial = reviver_isa::module::Values::Ints(vec![0]), "zeros of `x`");
    let branch = ".inout x\n  if x == 0\n    show x\n  fi x == 0\n";
    refused(branch, |m| drop(m.structure.labels.pop()), "other branches have labels, and this one has none");
    refused(
        TEXT,
        |m| m.structure.labels = vec![(1, "a".into())],
        "a label is recorded for an instruction other than `br` and `from`",
    );
}

/// Each class has its own limit on cells.
#[test]
fn cells_of_both_classes_are_limited() {
    let folder = Folder::new();
    for class in ["int", "real"] {
        let many = format!("have 268435457 {class} cells, more than 268435456");
        let text = folder.file("a.rasm", format!(".var A[268435456]: {class}\n.var b: {class}\n"));
        reviver(&format!("check {text}")).expect(3).says(&many);
        let frame = format!(".proc p()\n.ancilla A[268435456]: {class}, b: {class}\n.end\n  call p()\n");
        reviver(&format!("check {}", folder.file("b.rasm", frame))).expect(3).says(&many);
    }
}
