//! Records: groups of cells.

use serde_json::{Value, json};

use crate::support::{Folder, reviver};

const PARTICLES: &str = "\
.record Particle: x: real, v: real, id
.inout p[3]: Particle default {0, 1, 7, 1, 0.5, 8, 2, 0.25, 9}
.inout dt: real default 0.5
.out total: real

        for i in 0..len(p)
            call  move(p[i], dt)
            add   total, p[i].x * toreal(p[i].id)
        rof
        swap  p[0], p[2]
        local t: Particle
        add   t.x, p[1].v
        add   total, t.x
        sub   t.x, p[1].v
        delocal t: Particle
        add   -p[0].x, 2.0
        call  drift(p, dt)

.proc move(inout a: Particle, in dt: real)
        add   a.x, a.v * dt
.end

.proc drift(inout a[]: Particle, in dt: real)
        for i in 0..len(a)
            call  move(a[i], dt)
        rof
.end
";

/// The program of `PARTICLES` without records.
const ARRAYS: &str = "\
.inout x[3]: real default {0, 1, 2}, v[3]: real default {1, 0.5, 0.25}, id[3] default {7, 8, 9}
.inout dt: real default 0.5
.out total: real

        for i in 0..3
            add   x[i], v[i] * dt
            add   total, x[i] * toreal(id[i])
        rof
        swap  x[0], x[2]
        swap  v[0], v[2]
        swap  id[0], id[2]
        add   total, v[1]
        sub   x[0], 2.0
        for i in 0..3
            add   x[i], v[i] * dt
        rof
";

fn run(folder: &Folder, text: &str, options: &str) -> Value {
    let file = folder.file("program.rasm", text);
    reviver(&format!("run {file} --json {options}")).expect(0).json()
}

#[test]
fn records_are_structures_of_arrays() {
    let folder = Folder::new();
    for engine in ["interp", "jit"] {
        let found = run(&folder, PARTICLES, &format!("--engine {engine} --check"));
        let expected = run(&folder, ARRAYS, &format!("--engine {engine}"));
        for (field, array) in [("p.x", "x"), ("p.v", "v"), ("p.id", "id"), ("total", "total")] {
            assert_eq!(found["outputs"][field], expected["outputs"][array], "{field}");
        }
        assert_eq!(found["restored"], true, "{found}");
    }
    let set = run(&folder, PARTICLES, "--set p.x=1,1,1 --set p.v=1,0.5,4,dt=1");
    assert_eq!(set["outputs"]["total"], json!(2.0 * 7.0 + 1.5 * 8.0 + 5.0 * 9.0 + 0.5));
}

#[test]
fn records_have_derivatives() {
    let folder = Folder::new();
    let (records, arrays) = (folder.file("records.rasm", PARTICLES), folder.file("arrays.rasm", ARRAYS));
    let gradient =
        |file: &str| reviver(&format!("grad {file} --of total --json")).expect(0).json()["grad"].clone();
    let (found, expected) = (gradient(&records), gradient(&arrays));
    assert_eq!((&found["p.x"], &found["p.v"]), (&expected["x"], &expected["v"]));
    for level in ["-O0", "-O1", "-O2"] {
        let text = reviver(&format!("grad {records} --of total --emit {level}")).expect(0).stdout;
        let emitted = run(&folder, &text, "");
        assert_eq!(emitted["outputs"]["p.x_bar"], expected["x"], "{level}");
        assert_eq!(emitted["outputs"]["p.v_bar"], expected["v"], "{level}");
    }
    let tangents = reviver(&format!("jvp {records} --wrt dt --emit")).expect(0).stdout;
    assert_eq!(run(&folder, &tangents, "")["outputs"]["total_dot"], found["dt"]);
}

#[test]
fn programs_made_from_records_are_programs() {
    let folder = Folder::new();
    let file = folder.file("records.rasm", PARTICLES);
    let formatted = reviver(&format!("fmt {file}")).expect(0).stdout;
    assert_eq!(formatted, PARTICLES);
    let end = run(&folder, PARTICLES, "");
    let inverse = folder.file("inverse.rasm", reviver(&format!("invert {file}")).expect(0).stdout);
    reviver(&format!("check {inverse}")).expect(0);
    let given = ["p.x", "p.v", "p.id"].map(|name| {
        let values = end["outputs"][name].as_array().unwrap().iter().map(Value::to_string);
        format!("--set {name}={}", values.collect::<Vec<_>>().join(","))
    });
    let start = reviver(&format!(
        "run {inverse} {} --set total={},dt=0.5 --json",
        given.join(" "),
        end["outputs"]["total"]
    ));
    assert_eq!(start.expect(0).json()["outputs"]["p.x"], json!([0.0, 1.0, 2.0]));
    let optimized = reviver(&format!("opt {file} -O2")).expect(0).stdout;
    assert_eq!(run(&folder, &optimized, "")["outputs"], end["outputs"]);
    let image = folder.path("records.rbc");
    let image = image.to_str().unwrap();
    reviver(&format!("asm {file} -o {image}")).expect(0);
    let again = reviver(&format!("disasm {image}")).expect(0).stdout;
    assert_eq!(run(&folder, &again, "")["outputs"], end["outputs"]);
    let script = folder.file("script", "print p.x\nprint p[1].v * 2\nprint p.id[2]\n");
    let printed = reviver(&format!("debug {file} --batch {script}")).expect(0).stdout;
    for line in ["p.x[2] = 2.0", "p[1].v * 2 = 1.0", "p.id[2] = 9"] {
        assert!(printed.lines().any(|it| it == line), "{line}: {printed}");
    }
}

/// A file with records is written into programs that are made from it.
#[test]
fn included_records_are_replaced() {
    let folder = Folder::new();
    folder.file(
        "particle.rasm",
        ".record Particle: x: real, v: real\n.proc move(inout a: Particle)\nadd a.x, a.v\n.end\n",
    );
    let text = ".include \"particle.rasm\"\n.inout p[2]: Particle default 1\n.out y: real\ncall move(p[1])\nadd y, p[1].x*p[1].x\n";
    let file = folder.file("program.rasm", text);
    let expected = reviver(&format!("grad {file} --of y --json")).expect(0).json();
    assert_eq!(expected["grad"]["p.v"], json!([0.0, 4.0]));
    for command in ["invert", "opt -O2", "grad --of y --emit"] {
        let made = folder.file("made.rasm", reviver(&format!("{command} {file}")).expect(0).stdout);
        reviver(&format!("check {made}")).expect(0);
    }
}

#[test]
fn mistakes_with_records_are_reported() {
    let folder = Folder::new();
    let head = ".record P: x: real, n\n.record Q: x: real, n\n.inout p: P, q: Q, a[3]: P, y: real\n";
    for (text, message) in [
        (".inout z: Pp\n", "there is no class or record `Pp`"),
        (".record P: z\n", "the record `P` is declared twice"),
        (".record R: z, z\n", "the field `z` is declared twice"),
        ("add p, 1\n", "a record is used in the place of a cell"),
        ("add y, a[1]\n", "name one of its fields: `.x`, `.n`"),
        ("add p.z, 1\n", "`p.z`"),
        ("swap p, q\n", "a `Q` can't be exchanged with a `P`"),
        ("call f(q)\n.proc f(inout r: P)\nadd r.n, 1\n.end\n", "expected a `P`, found a `Q`"),
        (
            "call f(y)\n.proc f(inout r: P)\nadd r.n, 1\n.end\n",
            "expected a `P`, found a cell, an array or a value",
        ),
        (
            "call f(p)\n.proc f(inout r: real)\nadd r, 1\n.end\n",
            "expected a cell, an array or a value, found a `P`",
        ),
        ("call f(p, p)\n.proc f(inout r: P)\nadd r.n, 1\n.end\n", "`f` takes 1 argument, found 2"),
        (".garbage s[]: P\n", "records can't be moved to a stack"),
        (".inout b[2]: P default {1, 2, 3}\n", "3 values for records of 2 fields"),
        ("local t: P = 3\ndelocal t: P\n", "a local record can't have a value"),
        ("local p: int\nadd p.n, 1\ndelocal p: int\n", "`p` isn't a record here"),
    ] {
        let file = folder.file("mistake.rasm", format!("{head}{text}"));
        let ran = reviver(&format!("check {file}")).expect(3);
        assert!(ran.stderr.contains(message), "{text}: {ran:?}");
    }
}
