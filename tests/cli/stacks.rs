//! Declared stacks: values from the command line and from files, text and JSON output, leftovers, and derivatives.

use serde_json::json;

use crate::support::{Folder, reviver, with_input};

/// Program that pops n integers from the stack `given`, writes them to the output tape, and pushes their halves to the
/// stack `made`.
const BOTH: &str = "\
.in    given[] default {1, 2, 3}
.inout n default 3
.out   made[]: real
.ancilla v, x: real
        for i in 0..n
            pop   v
            add   x, toreal(v) / 2
            push  x
            write v
        rof
";

/// Program that counts on the integer stack, which must be empty at the end.
const COUNTS: &str = "\
.inout n
.ancilla k
        for i in 0..n
            add   k, i
            push  k
        rof
";

#[test]
fn a_stack_is_read_and_written_from_its_bottom() {
    let folder = Folder::new();
    let file = folder.file("both.rasm", BOTH);
    reviver(&format!("run {file} --check"))
        .expect(0)
        .prints_part("n = 3\nmade = [1.5, 1.0, 0.5]\ntape = [3, 2, 1]\nrestored: yes, bit for bit\n");
    reviver(&format!("run {file} --set given=8,4,n=1"))
        .expect(0)
        .prints("n = 1\nmade = [2.0]\ntape = [4]\n")
        .says("given: 1 value left, must be empty")
        .says("declare the stack by `.inout given[]`, so that the program may begin and end with values");
    reviver(&format!("run {file} --set n=0,given=")).expect(0).prints("n = 0\nmade = []\ntape = []\n");
    let object = reviver(&format!("run {file} --json")).expect(0).json();
    assert_eq!(object["outputs"], json!({ "n": 3, "made": [1.5, 1.0, 0.5] }));
    let object = reviver(&format!("run {file} --json --set n=0,given=")).expect(0).json();
    assert_eq!(object["outputs"], json!({ "n": 0, "made": [] }));
    let object = reviver(&format!("run {file} --json --set n=1")).expect(0).json();
    assert_eq!(object["garbage"], json!({ "given": "2 values left" }));
}

#[test]
fn backward_runs_and_inverse_programs_take_the_stack() {
    let folder = Folder::new();
    let file = folder.file("both.rasm", BOTH);
    let inverse = reviver(&format!("invert {file}")).expect(0).stdout;
    assert!(inverse.contains("\n.out given[]\n.inout n default 3\n.in  made[]: real\n"), "{inverse}");
    let given = "--set n=3,made=1.5,1.0,0.5 --tape 3,2,1";
    let found = "given = [1, 2, 3]\nn = 3\n";
    reviver(&format!("run {file} --back {given}")).expect(0).prints(found);
    with_input(&format!("run - {given}"), inverse.as_bytes()).expect(0).prints(found);
    reviver(&format!("run {file} --back --set n=1")).expect(2).says(
        "not given: `made`\n  = help: add `--set made=…`; one value fills all cells of an array\n  \
         = help: give the values of the stack `made` from its bottom; `made=` is an empty stack\n",
    );
    with_input("run - --tape 1", inverse.as_bytes()).expect(2).says("not given: `made`");
    reviver(&format!("run {file} --back --set n=1,made= --tape 1"))
        .expect(4)
        .says("the stack `made` is empty");
    // The backward run takes n values from the stack of results. A value that is left over on this stack is an error.
    reviver(&format!("run {file} --back --set n=1,made=9,0.5 --tape 1"))
        .expect(1)
        .says("made: 1 value left, must be empty")
        .says(
            "declare the stack by `.inout made[]: real`, so that the program may begin and end with values",
        );
}

#[test]
fn stacks_are_read_from_files_within_limits() {
    let folder = Folder::new();
    let file = folder.file("both.rasm", format!(".limit stack 4\n{BOTH}"));
    for content in ["7,8\n", "7\n8\n", "values\n7\n8\n"] {
        let values = folder.file("values", content);
        reviver(&format!("run {file} --set n=2,given=@{values}"))
            .expect(0)
            .prints("n = 2\nmade = [4.0, 3.5]\ntape = [8, 7]\n");
    }
    let empty = folder.file("values", "");
    reviver(&format!("run {file} --set n=0,given=@{empty}")).expect(0).prints_part("made = []\n");
    let matrix = folder.file("values", "1,2\n3,4\n");
    reviver(&format!("run {file} --set given=@{matrix}"))
        .expect(2)
        .says("2 lines of 2 numbers, and the stack `given[]` takes one line of numbers, or one number a line")
        .says("the bottom of the stack first");
    reviver(&format!("run {file} --set given=1,2,3,4,5"))
        .expect(2)
        .says("`given` is given 5 values, but the program's stacks hold at most 4")
        .says("raise the limit with `.limit stack` in the program");
    reviver(&format!("run {file} --set given=1,x")).expect(2).says("`x` is not an integer of 64 bits");
    reviver(&format!("run {file} --set made=1")).expect(2).says("`made` can't be given: it is `.out`");
    reviver(&format!("run {file} --set n=4")).expect(4).says("the stack `given` is empty: `pop v`");
}

#[test]
fn leftover_values_get_a_declaration_hint() {
    let folder = Folder::new();
    let file = folder.file("counts.rasm", COUNTS);
    reviver(&format!("check {file}"))
        .expect(0)
        .says("the program pushes an integer here, but never pops one");
    let left = "  integer stack: 2 values left, must be empty\n    = help: declare the stack by `.garbage NAME[]`, so that the program may end with values\n";
    reviver(&format!("run {file} --set n=2 --check")).expect(1).says(left);
    reviver(&format!("run {file} --set n=2")).expect(0).says(left);
    let object = reviver(&format!("run {file} --set n=2 --json")).expect(0).json();
    let cure = "declare the stack by `.garbage NAME[]`, so that the program may end with values";
    assert_eq!(object["garbage_help"], json!({ "integer stack": cure }));
    let declared = folder.file("declared.rasm", format!(".garbage counts[]\n{COUNTS}"));
    let ran = reviver(&format!("run {declared} --set n=2 --check")).expect(0);
    assert!(ran.stdout.starts_with("n = 2\ngarbage counts = [0, 1]\nrestored: yes"), "{ran:?}");
    assert_eq!(ran.stderr, "");
    let object = reviver(&format!("run {declared} --set n=2 --json")).expect(0).json();
    assert_eq!(object["garbage"], json!({ "counts": [0, 1] }));
}

#[test]
fn a_state_and_an_image_keep_the_declared_stack() {
    let folder = Folder::new();
    let (file, image, state) =
        (folder.file("both.rasm", BOTH), folder.path("both.rbc"), folder.path("state"));
    let (image, state) = (image.display(), state.display());
    reviver(&format!("asm {file} -o {image}")).expect(0);
    let text = reviver(&format!("disasm {image}")).expect(0).stdout;
    assert!(text.contains(".in      given[] default {1, 2, 3}\n"), "{text}");
    let again = folder.file("again.rasm", &text);
    reviver(&format!("asm {again} -o {}", folder.path("again.rbc").display())).expect(0);
    assert_eq!(folder.read("both.rbc"), folder.read("again.rbc"));
    reviver(&format!("run {image} --max-steps 6 --save-state {state}")).expect(5);
    reviver(&format!("run {image} --from-state {state}"))
        .expect(0)
        .prints("n = 3\nmade = [1.5, 1.0, 0.5]\ntape = [3, 2, 1]\n");
    assert_eq!(reviver(&format!("fmt {file}")).stdout.matches("given[]").count(), 1);
}

/// Program for y = Σ xᵢ², with the values from one stack, moved to another after use.
const SQUARES: &str = "\
.inout x[]: real default {0.5, 1.5, 2.0}
.in    n default 3
.out   y: real
.ancilla v: real, A[3]: real
        for i in 0..n
            pop   A[i]
            add   y, A[i] * A[i]
        rof
        for i in 0..n reversed
            push  A[i]
        rof
        sub n, 3
";

#[test]
fn values_of_an_input_stack_have_derivatives() {
    let folder = Folder::new();
    let file = folder.file("squares.rasm", SQUARES);
    reviver(&format!("grad {file} --loss y --verify"))
        .expect(0)
        .prints_part("y = 6.5\nx' = [1.0, 3.0, 4.0]\n");
    let object = reviver(&format!("grad {file} --loss y --json")).expect(0).json();
    assert_eq!(object["grad"], json!({ "x": [1.0, 3.0, 4.0] }));
    reviver(&format!("grad {file} --loss y --wrt x[1]")).expect(0).prints_part("y = 6.5\nx'[1] = 3.0\n");
    reviver(&format!("jacobian {file}"))
        .expect(0)
        .prints_part("by [x[0], x[1], x[2]]:\n  y [1.0, 3.0, 4.0]\n");
    reviver(&format!("hessian {file} --loss y --times x=1,0,1"))
        .expect(0)
        .prints_part("x' = [1.0, 3.0, 4.0]\n");
    reviver(&format!("taylor {file} --along x[2] --of y --order 2"))
        .expect(0)
        .prints_part("y = [6.5, 4.0, 1.0]\n");
    reviver(&format!("grad {file} --loss y --set x=,n=0 --wrt x"))
        .expect(2)
        .says("the program has no real inputs");
    reviver(&format!("grad {file} --loss y --wrt x[3]"))
        .expect(2)
        .says("there is no cell `x[3]`")
        .says("3 values are given on the stack `x`; indices start at 0, at the bottom");
    reviver(&format!("taylor {file} --along x --of y --order 2 --set x=,n=0"))
        .expect(2)
        .says("--along: `x` has no values at the start");
    let refused = "--of: `x` is a stack, which has no cells";
    reviver(&format!("grad {file} --loss x[0]"))
        .expect(2)
        .says(refused)
        .says("copy the value to a cell in the program, and name this cell");
    reviver(&format!("jacobian {file} --of x")).expect(2).says(refused);
    reviver(&format!("hessian {file} --loss x")).expect(2).says(refused);
}

#[test]
fn float_errors_on_a_stack_are_drift() {
    let folder = Folder::new();
    let text = ".inout x[]: real default {0.1, 0.3}\n.in w: real default 0.7\n.out z: real\n.ancilla v: real\n\
                pop v\nadd v, w\nadd v, 1e6\npush v\nsub w, 0.7\nadd z, w\n";
    let file = folder.file("drift.rasm", text);
    let ran = reviver(&format!("run {file} --check")).expect(0);
    assert!(ran.stdout.contains("restored: yes, within the tolerance\n"), "{ran:?}");
    assert!(ran.stdout.contains(" in x[1]"), "{ran:?}");
    reviver(&format!("run {file} --check --exact")).expect(0).prints_part("restored: yes, bit for bit\n");
}
