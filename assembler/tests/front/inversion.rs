//! Tests of the texts of inverse programs.

use reviver_assembler::files::{Disk, FilesInMemory};
use reviver_assembler::format::{format, print_with};
use reviver_assembler::invert::{Inversion, invert, invert_text};
use reviver_assembler::parser::parse;
use reviver_assembler::source::Sources;

use super::cases::{cases, complaints_of};
use super::layout::formatted;

/// Returns the text of the inverse program, and checks that it can be inverted.
pub fn inverted(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("program.rasm", text);
    let (body, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{}", complaints_of(&sources, &diagnostics));
    let inverse =
        invert(&body).unwrap_or_else(|diagnostics| panic!("{}", complaints_of(&sources, &diagnostics)));
    print_with(&sources, &inverse)
}

#[test]
fn inverse_of_every_kind_of_statement() {
    insta::assert_snapshot!(inverted(include_str!("cases/invertible.rasm")));
}

#[test]
fn the_inverse_of_the_inverse_is_the_program() {
    let program = formatted(include_str!("cases/invertible.rasm"));
    assert_eq!(program, include_str!("cases/invertible.rasm"), "the sample is canonical");
    let inverse = inverted(&program);
    assert_eq!(formatted(&inverse), inverse, "the inverse is printed as it would be formatted");
    assert_eq!(inverted(&inverse), program);
}

#[test]
fn irreversible_programs() {
    let mut transcript = String::new();
    for (title, text) in cases(include_str!("cases/irreversible.txt")) {
        let mut sources = Sources::new();
        let file = sources.add("case.rasm", text);
        let (body, diagnostics) = parse(&sources, file);
        assert!(diagnostics.is_empty(), "{title} does not parse");
        let verdict = match invert(&body) {
            Ok(inverse) => print_with(&sources, &inverse),
            Err(diagnostics) => complaints_of(&sources, &diagnostics),
        };
        transcript.push_str(&format!("### {title}\n{verdict}\n"));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_broken_text_is_not_formatted() {
    let mut sources = Sources::new();
    let file = sources.add("broken.rasm", "        add x\n");
    assert!(format(&sources, file).is_err());
}

/// Checks the inverses of ten programs, so that their readability is preserved. Headers are excluded, because
/// inversion keeps them.
#[test]
fn inverses_of_programs() {
    let names = ["fib", "gcd", "isqrt", "factor", "sort", "rle", "xtea", "turing", "leapfrog", "haar"];
    for name in names {
        let path = format!("{}/../programs/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the program is there");
        let inverse = whole(invert_text(&path, text.into_bytes(), &path, &Disk));
        let code: Vec<&str> = inverse.lines().skip_while(|line| line.starts_with(';')).collect();
        insta::assert_snapshot!(format!("inverse_of_{name}"), code.join("\n"));
    }
}

fn whole(inversion: Inversion) -> String {
    let sources = &inversion.sources;
    inversion.text.unwrap_or_else(|diagnostics| panic!("{}", complaints_of(sources, &diagnostics)))
}

fn inverse_in(files: &FilesInMemory, text: &str, inverse_name: &str) -> String {
    whole(invert_text("main.rasm", text.into(), inverse_name, files))
}

#[test]
fn an_included_file_stays_included() {
    let files =
        FilesInMemory::new().with("lib/a.rasm", ".include \"b.rasm\"\n.macro up(x)\n add x, 1\n.endm\n");
    let files = files.with("lib/b.rasm", "; nothing\n.const TWO = 2\n.var t\n");
    let text = ".include \"lib/a.rasm\"  ; up\n.in n\n up n\n";
    let inverse = ".inverse\n.include \"lib/a.rasm\"  ; up\n.out n\n        undo up n\n";
    assert_eq!(inverse_in(&files, text, "back.rasm"), inverse);
    assert!(inverse_in(&files, text, "lib/back.rasm").contains("\n.include \"a.rasm\""));
    assert!(inverse_in(&files, text, "out/new/back.rasm").contains("\n.include \"../../lib/a.rasm\""));
}

#[test]
fn an_included_file_with_another_inverse_is_spliced() {
    let files = FilesInMemory::new().with("plain.rasm", ".macro up(x)\n add x, 1\n.endm\n");
    let files = files.with("taped.rasm", ".include \"plain.rasm\"\n.proc get(inout x)\n read x\n.end\n");
    let files = files.with("doing.rasm", ".in n\n up n\n");
    let text = ".include \"plain.rasm\"\n.include \"taped.rasm\"\n.include \"doing.rasm\"\n call get(n)\n";
    let inverse = inverse_in(&files, text, "main.rasm");
    assert_eq!(inverse.matches("plain.rasm").count(), 2, "included twice, it counts once:\n{inverse}");
    insta::assert_snapshot!(inverse);
}

#[test]
fn expectations_belong_to_the_original() {
    let files = FilesInMemory::new();
    let text = "; Adds.\n;\n;! run n=1 -> m=1\n;! back m=1 -> n=1\n\n.in n\n.out m\n        add   m, n\n";
    let inverse = "; Adds.\n\n.inverse\n.out n\n.in  m\n        sub   m, n\n";
    assert_eq!(inverse_in(&files, text, "main.rasm"), inverse);
}

#[test]
fn an_inverse_is_marked_and_its_inverse_is_not() {
    let text =
        "; Adds.\n\n.in n default 3\n.inout k default 5\n.out m\n        add   m, n\n        read  k\n";
    let inverse =
        "; Adds.\n\n.inverse\n.out   n\n.inout k default 5\n.in    m\n        write k\n        sub   m, n\n";
    assert_eq!(inverse_in(&FilesInMemory::new(), text, "main.rasm"), formatted(inverse));
    let twice = inverse_in(&FilesInMemory::new(), inverse, "main.rasm");
    assert_eq!(
        twice,
        formatted(&text.replace(" default 3", "")),
        "the default of an input says nothing of a result"
    );
    // An included `.inverse` marks the whole program as an inverse, so its inverse has no mark.
    let files = FilesInMemory::new().with("marked.rasm", ".inverse\n.const ONE = 1\n");
    let marked = ".include \"marked.rasm\"\n.inout x\n add x, ONE\n";
    assert_eq!(inverse_in(&files, marked, "main.rasm"), ".const ONE = 1\n.inout x\n        sub   x, ONE\n");
}

#[test]
fn an_erasure_in_an_included_file_is_reported_there() {
    let files = FilesInMemory::new().with("bad.rasm", ".macro clear(x)\n erase x\n.endm\n");
    let Inversion { sources, text, .. } =
        invert_text("main.rasm", ".include \"bad.rasm\"\n.in n\n".into(), "main.rasm", &files);
    let complaints = complaints_of(&sources, &text.expect_err("it erases"));
    assert!(complaints.contains("bad.rasm:2:2"), "{complaints}");
}

/// Checks that every word of a block and every other line keep their comments.
#[test]
fn inversion_keeps_comments() {
    let text = "\
.inout s, n             ; .inout
        if    s < 3     ; a condition
        neg   n         ; neg
        else            ; else
        not   n         ; not
        fi    s < 9     ; another condition
        from  s == 0    ; from
        add   s, 1      ; add
        loop            ; loop
        rol   s, 1      ; rol
        until s == n    ; until
        for   i in 0..n ; for
        add   s, i      ; add i
        rof             ; rof
        compute         ; compute
        local t = n     ; local
        apply           ; apply
        add   s, t      ; add t
        uncompute       ; uncompute
        local u = n     ; local u
        delocal u = n   ; delocal u
.macro m(x)             ; .macro
        add   x, 1      ; add 1
.endm                   ; .endm
.proc p(inout x)        ; .proc
        m     x         ; m
.end                    ; .end
";
    let comments = |text: &str| {
        let comment = |line: &str| line.split_once(';').map(|(_, comment)| comment.trim().to_owned());
        // The inverse has the additional line `.inverse`.
        let lines = text.lines().filter(|line| *line != ".inverse");
        let mut comments: Vec<String> = lines.map(|line| comment(line).expect(line)).collect();
        comments.sort();
        comments
    };
    let inverse = inverted(text);
    assert_eq!(comments(&inverse), comments(text), "{inverse}");
    for word in ["else", "loop", "rof", "compute", "apply", "uncompute", ".macro", ".end"] {
        let line = inverse.lines().find(|line| line.split_whitespace().next() == Some(word)).expect(word);
        assert!(line.ends_with(&format!("; {word}")), "{line}");
    }
}

/// Returns each line with a counterpart in the inverse text, and that counterpart, both without blanks and
/// comments.
fn counterparts(text: &str) -> Vec<(String, String)> {
    let inversion = invert_text("main.rasm", text.into(), "main.rasm", &FilesInMemory::new());
    let inverse = inversion.text.unwrap();
    let line = |text: &str, line: u32| {
        let text = text.lines().nth(line as usize - 1).unwrap();
        text.split(';').next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let pairs = inversion.counterparts.iter();
    pairs.map(|(own, other)| (line(text, own.line), line(&inverse, *other))).collect()
}

#[test]
fn every_line_has_its_inverse_line() {
    let text = "\
; a comment, which nothing undoes
.inout s, n
 add s, n   ; first

 if s < 3
  neg n
 else
  not n
 fi s < 9
 for i in 0..n
  add s, i
 rof
 compute
  local t = n
 apply
  add s, t
 uncompute
 call p(s)
.proc p(inout x)
 for i in 0..3
  add x, i
 rof
.end
";
    let expected = [
        (".inout s, n", ".inout s, n"),
        ("add s, n", "sub s, n"),
        ("if s < 3", "fi s < 3"),
        ("neg n", "neg n"),
        ("else", "else"),
        ("not n", "not n"),
        ("fi s < 9", "if s < 9"),
        ("for i in 0..n", "rof"),
        ("add s, i", "sub s, i"),
        ("rof", "for i in 0..n reversed"),
        ("compute", "compute"),
        ("local t = n", "local t = n"),
        ("add s, t", "sub s, t"),
        ("call p(s)", "uncall p(s)"),
        (".proc p(inout x)", ".proc p(inout x)"),
        ("for i in 0..3", "for i in 0..3"),
        ("add x, i", "add x, i"),
        ("rof", "rof"),
    ];
    assert_eq!(counterparts(text), expected.map(|(own, other)| (own.to_owned(), other.to_owned())));
}
