//! Formats of printed numbers: hexadecimal and unsigned integers, the garbage of arrays, and the drift of values near
//! 0.

use serde_json::json;

use crate::support::{Folder, reviver};

const SIGNS: &str = "\
.inout x default -1, A[2] default {-128, 5}
.garbage g
        show  x
        read  r0
        write r0
        sub   g, 2
";

#[test]
fn integers_are_printed_in_the_requested_base_and_read_back() {
    let folder = Folder::new();
    let file = folder.file("signs.rasm", SIGNS);
    for bits in [8u32, 16, 32, 64] {
        let all = u64::MAX >> (64 - bits);
        let run = format!("run {file} --word {bits} --tape -3");
        let [ones, less, g] = [all, all - 127, all - 1];
        let t = all - 2;
        reviver(&format!("{run} --hex")).expect(0).prints(&format!(
            "x = {ones:#x}\nx = {ones:#x}\nA = [{less:#x}, 0x5]\ntape = [{t:#x}]\ngarbage g = {g:#x}\n"
        ));
        reviver(&format!("{run} --unsigned"))
            .expect(0)
            .prints(&format!("x = {ones}\nx = {ones}\nA = [{less}, 5]\ntape = [{t}]\ngarbage g = {g}\n"));
        // Printed numbers are accepted as inputs for the backward run.
        for (option, x, a, g, t) in [
            ("--hex", format!("{ones:#x}"), format!("{less:#x},0x5"), format!("{g:#x}"), format!("{t:#x}")),
            ("--unsigned", ones.to_string(), format!("{less},5"), g.to_string(), t.to_string()),
        ] {
            let back = format!("run {file} --word {bits} --back --set x={x},A={a},g={g} --tape {t}");
            let ran = reviver(&format!("{back} {option}")).expect(0);
            assert!(ran.stdout.ends_with(&format!("tape = [{t}]\n")), "{ran:?}");
            let signed = reviver(&back);
            if option == "--hex" {
                signed.expect(0).prints("x = -1\nA = [-128, 5]\ntape = [-3]\n");
            } else {
                signed.expect(2).says("add `--unsigned` to read integers without a sign");
            }
        }
    }
}

#[test]
fn json_has_bits_as_strings_and_numbers_without_a_sign() {
    let folder = Folder::new();
    let file = folder.file("signs.rasm", SIGNS);
    let hex = reviver(&format!("run {file} --tape -3 --hex --json")).expect(0).json();
    assert_eq!(hex["outputs"]["A"], json!(["0xffffffffffffff80", "0x5"]));
    assert_eq!(hex["shown"][0]["x"], json!("0xffffffffffffffff"));
    assert_eq!(
        (&hex["tape"][0], &hex["garbage"]["g"]),
        (&json!("0xfffffffffffffffd"), &json!("0xfffffffffffffffe"))
    );
    let ran = reviver(&format!("run {file} --tape -3 --unsigned --json")).expect(0);
    assert!(ran.stdout.contains("\"x\":18446744073709551615"), "{ran:?}");
    let out = folder.path("out").display().to_string();
    reviver(&format!("run {file} --tape -3 --hex --word 8 --tape-out {out}")).expect(0);
    assert!(folder.read("out").ends_with(b"\n0xfd\n"));
    reviver(&format!("run {file} --hex --unsigned")).expect(2).says("cannot be used with");
    // Reals are unaffected, and traps use the same format.
    let trap = folder.file("trap.rasm", ".inout x, y: real default 1.5\nassert x == 0\n");
    reviver(&format!("run {trap} --set x=-1 --hex --word 8")).expect(4).says("0xff");
    reviver(&format!("run {trap} --set x=0 --hex")).expect(0).prints("x = 0x0\ny = 1.5\n");
    let gradient = reviver("grad programs/norm.rasm --loss length").expect(0).stdout;
    reviver("grad programs/norm.rasm --loss length --hex").expect(0).prints(&gradient);
}

#[test]
fn garbage_of_an_array_is_summed_up() {
    let folder = Folder::new();
    let text = ".var A[1000], B[3]\n.ancilla f[5000]\nfor i in 0..1000\n add A[i], 7\nrof\n\
                for i in 0..3\n sub B[i], 1\nrof\nfor i in 1..5000\n add f[i], i\nrof\n";
    let file = folder.file("leaves.rasm", text);
    let ran = reviver(&format!("run {file}")).expect(0);
    ran.says("  1,000 of the 1,000 cells of `A`, the first A[0] = 7, must be 0\n")
        .says("  B[0]: -1, must be 0\n  B[1]: -1, must be 0\n  B[2]: -1, must be 0\n")
        .says("  4,999 of the 5,000 cells of `f`, the first f[1] = 1, must be 0\n");
    let ran = reviver(&format!("run {file} --check --json")).expect(1);
    assert_eq!(ran.stderr.lines().count(), 6, "{ran:?}");
    let object = ran.json();
    let garbage = object["garbage"].as_object().unwrap();
    assert_eq!(garbage.len(), 1000 + 3 + 1000);
    assert_eq!((&garbage["A[999]"], &garbage["f[1000]"]), (&json!(7), &json!(1000)));
    assert_eq!(object["garbage_not_listed"], json!({ "f": 3999 }));
    let few = folder.file("few.rasm", ".var A[1000]\nadd A[1], 7\n");
    let object = reviver(&format!("run {few} --json")).expect(0).json();
    assert_eq!((&object["garbage"], object.get("garbage_not_listed")), (&json!({ "A[1]": 7 }), None));
}

#[test]
fn a_residue_near_zero_has_no_ulps() {
    let folder = Folder::new();
    // t passes 0.3 and returns to 0 with a residue.
    let text = ".inout t: real default 0\nadd t, 0.1\nadd t, 0.2\nsub t, 0.3\n";
    let file = folder.file("rest.rasm", text);
    let ran = reviver(&format!("run {file} --check")).expect(0);
    assert!(ran.stdout.contains("largest drift: ") && !ran.stdout.contains("ulps"), "{ran:?}");
    let object = reviver(&format!("run {file} --check --json")).expect(0).json();
    assert_eq!(object["max_drift"]["ulps"], json!(null));
    assert!(object["max_drift"]["absolute"].as_f64().unwrap() > 0.0);
    let ran = reviver("run programs/sum3.rasm --check").expect(0);
    assert!(ran.stdout.contains("ulps)"), "{ran:?}");
}

/// The drift is compared with the largest value of the cell during the run. The drift is less than a unit in the last
/// place of this largest value.
#[test]
fn drift_is_measured_where_a_value_was_largest() {
    let folder = Folder::new();
    let file = folder.file("large.rasm", ".inout s: real default 0.1\nadd s, 1e6\n");
    let object = reviver(&format!("run {file} --check --json")).expect(0).json();
    let ulps = object["max_drift"]["ulps"].as_f64().unwrap();
    assert!(ulps > 0.1 && ulps < 0.5, "{object}");
}
