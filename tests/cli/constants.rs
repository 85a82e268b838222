//! `--const`: a text with other values for its constants.

use serde_json::json;

use crate::support::{Folder, reviver};

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

/// A text with constants, in a folder.
fn text(folder: &Folder) -> String {
    let path = folder.path("sum.rasm");
    std::fs::write(&path, TEXT).unwrap();
    path.display().to_string()
}

#[test]
fn a_constant_has_its_value_before_anything_is_computed_from_it() {
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
        .says("is an image, where constants are numbers already")
        .says("reviver asm TEXT --const N=8");
}

#[test]
fn what_no_constant_can_be_is_refused() {
    let folder = Folder::new();
    let file = text(&folder);
    let refused = |option: &str, said: &str, cure: &str| {
        for command in ["run", "check", "debug --batch /dev/null"] {
            reviver(&format!("{command} {file} --const {option}")).expect(2).says(said).says(cure);
        }
    };
    refused("rata=1", "--const: the text has no constant `rata`", "did you mean `rate`?");
    refused("K=1", "--const: the text has no constant `K`", "its constants are M, N, rate");
    refused("sum=1", "--const sum: `sum` is a cell, not a constant", "give it by `--set sum=…`");
    refused("N=1.5", "--const N: `N` is an integer, and a real was given", "give an integer");
    refused("N=1,2", "--const N: a constant has one value, and `2` is another", "`--set` gives it");
    refused("N=1,N=2", "--const: `N` is given twice", "");
    refused("N=many", "--const N: `many` is no number", "a constant is an integer or a real");
    refused("N", "--const N: a constant is given as NAME=VALUE", "");
}
