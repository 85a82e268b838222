//! Cells and constants can have the names of instructions and keywords.

use reviver_isa::language::KEYWORDS;
use reviver_isa::names::is_identifier;
use reviver_isa::update::Update;

use crate::support::{Folder, reviver};

fn words() -> Vec<&'static str> {
    let words = Update::ALL.iter().map(|update| update.name()).chain(KEYWORDS.iter().copied());
    words.filter(|word| is_identifier(word) && !["mode", "pi"].contains(word)).collect()
}

#[test]
fn each_word_names_a_cell_a_constant_a_parameter_and_a_variable() {
    let folder = Folder::new();
    let words = words();
    assert!(words.len() > 60, "{words:?}");
    for word in words {
        let text = format!(
            ".inout {word} default 5\n.out total, A[6]\n.const {word}2 = 3\n.const first = {word}2\n\
             \x20       add   total, {word} + first\n        call  change(A[{word}], {word})\n\
             \x20       for   i in 0..{word} step 1 reversed\n            add   A[i], {word}\n        rof\n\
             .proc change(inout {word}, in value)\n        local twice = value * 2\n        add   {word}, twice\n\
             \x20       delocal twice = value * 2\n.end\n"
        );
        let file = folder.file("named.rasm", text);
        let ran = reviver(&format!("run {file} --json --check")).expect(0).json();
        assert_eq!(ran["outputs"]["total"], 8, "{word}");
        assert_eq!(ran["outputs"]["A"], serde_json::json!([5, 5, 5, 5, 5, 10]), "{word}");
        assert_eq!(ran["restored"], true, "{word}");
        let given = reviver(&format!("run {file} --set {word}=2 --json")).expect(0).json();
        assert_eq!(given["outputs"]["total"], 5, "{word}");
        let formatted = folder.file("formatted.rasm", reviver(&format!("fmt {file}")).expect(0).stdout);
        reviver(&format!("fmt --check {formatted}")).expect(0);
        let image = folder.path("named.rvb");
        let image = image.to_str().unwrap();
        reviver(&format!("asm {file} -o {image} --force")).expect(0);
        let text = reviver(&format!("disasm {image}")).expect(0).stdout;
        let again = folder.file("again.rasm", text);
        let ran = reviver(&format!("run {again} --json")).expect(0).json();
        assert_eq!(ran["outputs"]["total"], 8, "{word}");
    }
}

/// A word has its meaning after an operand or a name, such as `step` after a bound and `default` after a name.
#[test]
fn words_keep_their_meanings_in_their_places() {
    let folder = Folder::new();
    let text = ".const step = 2\n.inout default default 4, reversed default 8\n.out in: real, real: real\n\
                for for in 0..reversed step step reversed\nadd default, for\nrof\nlocal local: real = 0.5\n\
                add in, local\nadd real, in\ndelocal local: real = 0.5\n";
    let file = folder.file("words.rasm", text);
    let outputs = reviver(&format!("run {file} --json")).expect(0).json()["outputs"].clone();
    assert_eq!(outputs, serde_json::json!({"default": 16, "reversed": 8, "in": 0.5, "real": 0.5}));
}

#[test]
fn names_that_begin_statements_stay_reserved() {
    let folder = Folder::new();
    for (text, message) in [
        (".inout n\n.proc step(inout n)\nneg n\n.end\ncall step(n)\n", "`step` can't be a name"),
        (".inout n\nswap: neg n\n", "`swap` can't be a name"),
        (".inout n\n.macro loop(a)\nneg a\n.endm\n", "`loop` can't be a name"),
        (".inout pi\nneg pi\n", "`pi` can't be a name"),
        (".inout mode\n", "`mode` can't be a name"),
        // A statement at the place of an operand.
        (".inout n, k\nadd n, swap k\n", "expected an operand, found `swap`"),
    ] {
        reviver(&format!("check {}", folder.file("named.rasm", text))).expect(3).says(message);
    }
}
