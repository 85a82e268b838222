//! Comments with statements. Each comment shows the program's statement that the following lines execute, and
//! comments are in the order of execution.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_ctext::text::CText;
use reviver_isa::Module;
use reviver_vm::{CheckLevel, Program};

const TEXT: &str = "\
.include \"square.rasm\"
.inout A[2]: real = {2, 3}, n = 4
.out y: real
for i in 0..n
    if A[i % 2] > 2.5 ; a comment is none of the statement's words
        add y, A[i % 2] * 0.5 + 1
    fi A[i % 2] > 2.5
rof
call down(n)
call square(y, A[0])
.proc down(inout n)
    if n > 0
        sub n, 1
        call down(n)
        add n, 1
    fi n > 0
.end
";

const INCLUDED: &str = ".proc square(inout y: real, in x: real)\n    add y, x * x + 1\n.end\n";

fn module() -> Module {
    let files = FilesInMemory::new().with("square.rasm", INCLUDED);
    assemble("p.rasm", TEXT.into(), &files).module.unwrap()
}

/// Returns the comments with line numbers in the C function with this name.
fn comments(module: Module, function: &str) -> Vec<String> {
    let program = Arc::new(Program::new(module, 0).unwrap());
    let source = CText::of(&program, "p", None, CheckLevel::Checked).unwrap().source();
    let (_, text) = source.split_once(&format!("static int p_{function}(")).unwrap();
    let text = text.split_once("\n}\n").unwrap().0;
    let named = text.lines().map(str::trim).filter(|line| line.starts_with("/*") && line.contains("line "));
    named.map(str::to_owned).collect()
}

#[test]
fn lines_name_their_statement() {
    let found = comments(module(), "run_forward");
    for expected in [
        "/* line 4: for i in 0..n */",
        "/* line 5: if A[i%2] > 2.5 */",
        "/* line 6: add y, A[i%2] * 0.5 + 1.0 */",
        "/* line 7: fi A[i%2] > 2.5 */",
        "/* line 9: call down(n) */",
        "/* square.rasm, line 2: add y, x * x + 1.0 */",
        "/* line 14: call down(n) */",
    ] {
        assert!(found.iter().any(|comment| comment == expected), "{expected} in {found:#?}");
    }
    // While a statement is executed, its comment isn't repeated.
    assert!(found.windows(3).all(|three| three[0] != three[1] || three[1] != three[2]), "{found:#?}");
    // In the backward direction, a comment shows the statement of the source, not its inverse.
    let back = comments(module(), "run_backward");
    assert!(back.iter().any(|comment| comment == "/* line 6: add y, A[i%2] * 0.5 + 1.0 */"), "{back:#?}");
}

#[test]
fn a_program_without_its_text_has_no_lines() {
    let mut module = module();
    module.structure = Default::default();
    assert_eq!(comments(module, "run_forward"), Vec::<String>::new());
}
