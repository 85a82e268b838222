//! `--const`: values for constants of a text.

use serde_json::json;

use crate::support::{Folder, reviver, with_input};

const TEXT: &str = "\
.const N = 3
.const M = N * 2
.const rate = 0.5
.inout A[M] default 1
.out   sum, x: real
        for i in 0..M
            add  sum, A[i]
        rof
        add  x, rate
";

/// Creates a text with constants in a folder.
fn text(folder: &Folder) -> String {
    let path = folder.path("sum.rasm");
    std::fs::write(&path, TEXT).unwrap();
    path.display().to_string()
}

#[test]
fn constants_are_set_before_expressions_use_them() {
    let folder = Folder::new();
    let file = text(&folder);
    let sum = |options: &str| {
        let object = reviver(&format!("run {file} --check --json {options}")).expect(0).json();
        (object["outputs"]["sum"].clone(), object["outputs"]["x"].clone())
    };
    assert_eq!(sum(""), (json!(6), json!(0.5)));
    assert_eq!(sum("--const N=50"), (json!(100), json!(0.5)));
    assert_eq!(sum("--const N=0x10,rate=2"), (json!(32), json!(2.0)));
    assert_eq!(sum("--const M=4 --const rate=-1.5e-1"), (json!(4), json!(-0.15)));
}

#[test]
fn every_command_that_assembles_takes_constants() {
    let folder = Folder::new();
    let file = text(&folder);
    let image = folder.path("sum.rbc").display().to_string();
    reviver(&format!("asm {file} --const N=7 -o {image}")).expect(0);
    assert_eq!(reviver(&format!("run {image} --json")).expect(0).json()["outputs"]["sum"], json!(14));
    reviver(&format!("disasm {file} --const N=7")).expect(0).prints_part("A[14]");
    reviver(&format!("check {file} --const N=0")).expect(3).says("A");
    reviver(&format!("grad {file} --loss x --wrt x --const N=9")).expect(0);
    let script = folder.path("script");
    std::fs::write(&script, "goto end\nprint sum\n").unwrap();
    reviver(&format!("debug {file} --const N=8 --batch {}", script.display())).expect(0).prints_part("16");
    reviver(&format!("run {image} --const N=8"))
        .expect(2)
        .says("is an image, in which numbers have replaced the constants")
        .says("reviver asm TEXT --const N=8");
}

#[test]
fn invalid_constants_are_refused() {
    let folder = Folder::new();
    let file = text(&folder);
    let refused = |option: &str, said: &str, cure: &str| {
        for command in ["run", "check", "debug --batch /dev/null"] {
            reviver(&format!("{command} {file} --const {option}")).expect(2).says(said).says(cure);
        }
    };
    refused("rata=1", "--const: the text has no constant `rata`", "did you mean `rate`?");
    refused("K=1", "--const: the text has no constant `K`", "the constants of the text are M, N, rate");
    refused("sum=1", "--const sum: `sum` is a cell, not a constant", "set the cell with `--set sum=…`");
    refused("N=1.5", "--const N: `N` is an integer, and a real was given", "give an integer");
    refused(
        "N=1,2",
        "--const N: a constant has one value, and `2` is a second one",
        "use `--set` for the values",
    );
    refused("N=1,N=2", "--const: `N` is given twice", "");
    refused("N=many", "--const N: `many` isn't a number", "write an integer or a real");
    refused("N", "--const N: write a constant as NAME=VALUE", "");
}

/// Returns the results of a text as JSON.
fn outputs(text: &str, options: &str) -> serde_json::Value {
    with_input(&format!("run - --json {options}"), text.as_bytes()).expect(0).json()["outputs"].clone()
}

#[test]
fn bit_patterns_are_the_same_folded_and_run() {
    let text = "\
.word 32
.const M = 0x80000000
.const F = 0xffffffff
.var m = 0x80000000
.var f = 0xffffffff
.out c[8], v[8]
        add c[0], M / 2
        add v[0], m / 2
        add c[1], F % 10
        add v[1], f % 10
        add c[2], F >> 1
        add v[2], f >> 1
        add c[3], F / 3 + 1
        add v[3], f / 3 + 1
        add c[4], -M
        add v[4], -m
        add c[5], M / F
        add v[5], m / f
        add c[6], ~M
        add v[6], ~m
        add c[7], shr(M, 31) + (M << 1)
        add v[7], shr(m, 31) + (m << 1)
";
    let both = outputs(text, "");
    assert_eq!(both["c"], both["v"]);
    assert_eq!(both["c"], json!([-1073741824, -1, -1, 1, -2147483648, -2147483648, 2147483647, 1]));
    let given = ".word 32\n.const M = 0\n.out c\nadd c, M / 2\n";
    assert_eq!(outputs(given, "--const M=0x80000000"), json!({ "c": -1073741824 }));
    assert_eq!(outputs(given, "--const M=-0xffffffff"), json!({ "c": 0 }));
}

/// Typical constant expressions, in addition to the random ones that are compared with the machine.
#[test]
fn constants_are_computed_in_the_numbers_of_the_program() {
    let of = |numbers: &str, class: &str, expression: &str| {
        outputs(&format!("{numbers}\n.const K = {expression}\n.out c: {class} = K\n"), "")["c"].clone()
    };
    for (expression, value) in [
        ("100 + 100", -56),
        ("1 << 7", -128),
        ("1 << 8", 0),
        ("1 << -1", 0),
        ("-1 >> 9", -1),
        ("-128 / -1", -128),
        ("-128 % -1", 0),
        ("-7 % 3", -1),
        ("floordiv(-7, 3)", -3),
        ("max(3, 5) * lt(1, 2)", 5),
        ("toint(12.9)", 12),
        ("0x80 + 0x7f", -1),
    ] {
        assert_eq!(of(".word 8", "int", expression), json!(value), "{expression}");
    }
    assert_eq!(of(".real f32", "real", "0.1 + 0.2"), json!(0.3));
    assert_eq!(of("", "real", "0.1 + 0.2"), json!(0.30000000000000004));
    assert_eq!(of("", "real", "pow(2.0, 0.5)"), json!(std::f64::consts::SQRT_2));
    assert_eq!(of(".real fixed 16", "real", "1 / 3.0"), json!(0.3333282470703125));
}

#[test]
fn constants_without_a_value_are_refused_with_a_cure() {
    let refused = |text: &str, said: &str, cure: &str| {
        with_input("check -", text.as_bytes()).expect(3).says(said).says(cure);
    };
    refused(
        ".const K = 3 % 0\n.out c\n",
        "this constant expression divides by zero",
        "divide by another number",
    );
    refused(".const K = sqrt(-1.0)\n.out c\n", "the result is not a finite number", "change the expression");
    refused(
        ".real f32\n.const K = 1e30 * 1e30\n.out c\n",
        "the result is not a finite number",
        "`.real f64`",
    );
    refused(
        ".word 8\n.const K = toint(300.5)\n.out c\n",
        "out of the range of integers of 8 bits",
        "choose a wider word",
    );
    refused(".word 8\n.out c[100 * 3]\n", "this number wraps around in 8 bits", "choose a wider word");
    refused(".word 8\n.out c\nadd c, 300 + 1\n", "300 does not fit into 8 bits", "from -128 to 127");
    refused(
        ".word 8\n.out x: real\nadd x, 0xff\n",
        "0xff is one number as a real, and another",
        "`255.0`, or `-1.0`",
    );
    refused(
        ".real fixed\n.const K = 1000000 / 3.0\n.out x: real\nadd x, K\n",
        "in fixed 43, this constant has more than 53 bits",
        "compute it in a statement",
    );
    // As an operand, the expression is computed by the machine.
    let text =
        ".real fixed\n.out x: real, y: real\n.var a: real = 1000000\nadd x, 1000000 / 3.0\nadd y, a / 3.0\n";
    let both = outputs(text, "");
    assert_eq!(both["x"], both["y"]);
}

#[test]
fn constants_are_lengths_bounds_and_steps() {
    let text = "\
.word 8
.const N = max(2, 3) * 2
.out A[N + 300], sum
        for i in 0..N step min(2, N)
            add sum, i
        rof
        add A[0], len(A) - 300
";
    // A literal length doesn't depend on the word; a computed one does.
    with_input("check -", text.as_bytes()).expect(3).says("300 does not fit into 8 bits");
    let fitting = text.replace(" + 300", "").replace(" - 300", "");
    let made = outputs(&fitting, "");
    assert_eq!((&made["A"][0], &made["sum"]), (&json!(6), &json!(6)));
    assert_eq!(outputs(".word 8\n.var A[300]\n.out c\nadd c, 1\n", ""), json!({ "c": 1 }));
}

/// `len` has the same value for a global and for a parameter, and is also accepted as a real operand.
#[test]
fn lengths_of_globals_and_of_parameters_behave_alike() {
    let body = "\
        add x[0], 1.0 / len(A)
        add x[1], len(A)
        add x[2], sqrt(len(A)) * y
        add n[0], len(A) / 2 * 3
        add n[1], len(A) << 29
        if len(A) > 4.5
            add n[2], 1
        fi len(A) > 4.5
        local t: real = len(A)
        add x[3], t + len(A)
        delocal t: real = len(A)
";
    let globals = ".word 32\n.inout A[5], x[4]: real, n[3]\n.var y: real = 1.5\n";
    let direct = outputs(&format!("{globals}{body}"), "");
    let passed = format!(
        "{globals}call p(A, x, n, y)\n.proc p(in A[], inout x[]: real, inout n[], in y: real)\n{body}.end\n"
    );
    assert_eq!(outputs(&passed, ""), direct);
    assert_eq!(direct["n"], json!([6, -1610612736, 1]));
    assert_eq!(direct["x"], json!([0.2, 5.0, 3.3541019662496847, 10.0]));
}

/// A constant changes the length of an array. Its default list has another length, and isn't used if all values are
/// given.
#[test]
fn a_default_list_counts_only_if_its_array_is_not_given() {
    const TEXT: &str = ".const N = 3\n.inout A[N] default {1, 2, 3}, B[N]: real default {0.5, 1, 2}\n.out s: real\n\
                        for i in 0..N\nadd s, toreal(A[i])*B[i]\nrof\n";
    let folder = Folder::new();
    let file = folder.file("sum.rasm", TEXT);
    let sum = |command: &str, options: &str| {
        reviver(&format!("{command} {file} --json {options}")).expect(0).json()
    };
    assert_eq!(sum("run", "")["outputs"]["s"], 8.5);
    assert_eq!(sum("run", "--const N=4 --set A=1,2,3,4,B=1,1,1,0.5")["outputs"]["s"], 8.0);
    assert_eq!(sum("run", "--const N=2 --set A=1,2 --set B=1")["outputs"]["s"], 3.0);
    assert_eq!(sum("grad --of s", "--const N=1 --set A=7,B=2")["grad"]["B"], serde_json::json!([7.0]));
    let values = folder.file("values.csv", "1\n2\n3\n4\n5\n");
    assert_eq!(sum("run", &format!("--const N=5 --set A=@{values} --set B=2"))["outputs"]["s"], 30.0);
    for options in [
        "--const N=4",
        "--const N=4 --set A=1,2,3,4",
        "--const N=4 --set B=1",
        "--const N=4 --set B=1 --set A[0]=1,A[1]=1,A[2]=1,A[3]=1",
        "--const N=2 --set A=1,2",
    ] {
        reviver(&format!("run {file} {options}")).expect(3).says("error[E47]");
    }
    reviver(&format!("run {file} --const N=4 --set A=1,2,3 --set B=1")).expect(2);
}
