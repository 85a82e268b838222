//! Seeds of `grad` and `batch`, and directions of `jacobian`, `hessian` and `taylor`: results and refusals.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver};

/// Program for a = x·y, B = (x², eʸ): the gradient of s·a + t·B is (s·y + 2·t₀·x, s·x + t₁·eʸ).
const SEVERAL: &str = "
.inout x: real default 0.5, y: real default 1.5
.inout n default 3
.out a: real, B[2]: real
add.mul a, x, y
add.square B[0], x
add.exp B[1], y
add n, 1
";

fn on(program: &str, command: &str, options: &str) -> Ran {
    let folder = Folder::new();
    let file = folder.file("program.rasm", program);
    reviver(&format!("{command} {file} {options}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is a number"))
}

#[track_caller]
fn assert_close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-13 * wanted.abs().max(1.0), "{found} is not {wanted}");
}

#[test]
fn seeds_weigh_the_results_in_one_gradient() {
    let found = on(SEVERAL, "grad", "--seed a=10,B=2,-1 --verify --json").expect(0).json();
    let e = 1.5f64.exp();
    assert_close(number(&found["value"]), 7.5 + 0.5 - e);
    assert_close(number(&found["grad"]["x"]), 10.0 * 1.5 + 2.0 * 2.0 * 0.5);
    assert_close(number(&found["grad"]["y"]), 10.0 * 0.5 - e);
    assert_eq!(found["outputs"]["a"], json!(0.75));
    assert_eq!(found["seeds"], json!({ "a": 10.0, "B": [2.0, -1.0] }));
    assert_eq!(found["verify"]["agrees"], json!(true));
    // The seed of a single array cell. Each further `--seed` adds a term to the seeded sum.
    let text = "B[1] = 4.4816890703380645\na = 0.75\nx' = 1.5\ny' = 13.945067211014194\n";
    let ran = on(SEVERAL, "grad", "--seed B[1]=3 --seed a=1").expect(0);
    assert!(ran.stdout.starts_with(text), "{ran:?}");
}

#[test]
fn a_seed_of_1_is_a_loss() {
    let members = ["grad", "steps", "steps_back", "turned", "drops", "loss_error", "mended", "strategy"];
    for (program, loss) in [("besselj", "out"), ("norm", "length"), ("tie", "paid"), ("dense_net", "out")] {
        for options in [
            "",
            "--exact",
            "--whole",
            "--real f32",
            "--real fixed",
            "--engine interp",
            "--engine jit --unchecked",
            "--strategy checkpoint=3",
        ] {
            let ran =
                |asked: &str| reviver(&format!("grad programs/{program}.rasm {asked} {options} --json"));
            let (by_loss, by_seed) = (ran(&format!("--loss {loss}")), ran(&format!("--seed {loss}=1")));
            assert_eq!(
                (by_loss.code, &by_loss.stderr),
                (by_seed.code, &by_seed.stderr),
                "{program} {options}"
            );
            let (by_loss, by_seed) = (by_loss.json(), by_seed.json());
            for member in members {
                assert_eq!(by_loss[member], by_seed[member], "{program} {options}: {member}");
            }
        }
    }
}

#[test]
fn gradients_are_linear_in_the_seeds() {
    let slopes = |options: &str, seeds: &str| {
        let found = reviver(&format!("grad programs/complex_multiply.rasm --seed {seeds} {options} --json"));
        let found = found.expect(0).json();
        ["u_re", "u_im", "v_re", "angle"].map(|name| number(&found["grad"][name]))
    };
    for options in ["", "--real f32", "--real fixed", "--exact", "--strategy tape"] {
        let one = slopes(options, "w_re=1");
        let other = slopes(options, "w_im=1");
        let both = slopes(options, "w_re=3,w_im=-2");
        for ((one, other), both) in one.iter().zip(other).zip(both) {
            assert!((3.0 * one - 2.0 * other - both).abs() < 1e-5, "{options}: {one} {other} {both}");
        }
    }
}

#[test]
fn a_seed_of_0_takes_a_result_out_of_the_sum() {
    // The root has no derivative at 0, which is irrelevant if its seed is 0.
    let root = ".inout x: real default 0\n.out y: real, z: real\nadd.sqrt y, x\nadd z, 2 * x\n";
    on(root, "grad", "--seed y=1,z=1").expect(4).says("no finite derivative");
    let ran = on(root, "grad", "--seed y=0,z=1").expect(0).says("");
    assert!(ran.stdout.starts_with("y = 0.0\nz = 0.0\nx' = 2.0\n"), "{ran:?}");
    on(SEVERAL, "grad", "--seed a=0")
        .expect(0)
        .says("warning: every adjoint is 0: the seeded sum of `a` doesn't depend on the inputs");
}

#[test]
fn inputs_that_are_results_take_seeds() {
    // x is doubled in place, and its seed is the adjoint of its final value.
    let double = ".inout x: real default 3, y: real default 5\nadd x, y\nadd x, y\n";
    let ran = on(double, "grad", "--seed x=2,y=10 --verify").expect(0);
    assert!(ran.stdout.starts_with("x = 13.0\ny = 5.0\nx' = 2.0\ny' = 14.0\n"), "{ran:?}");
}

#[test]
fn an_inverse_program_takes_seeds_too() {
    let folder = Folder::new();
    let file = folder.file("p.rasm", ".inout x: real default 3, y: real default 5\nadd x, y * 2\n");
    let inverse = reviver(&format!("invert {file}")).expect(0).stdout;
    let inverse = folder.file("inverse.rasm", inverse);
    let ran = reviver(&format!("grad {inverse} --set x=13,y=5 --seed x=1,y=1 --verify")).expect(0);
    assert!(ran.stdout.starts_with("x = 3.0\ny = 5.0\nx' = 1.0\ny' = -1.0\n"), "{ran:?}");
}

#[test]
fn an_array_is_seeded_from_a_file() {
    let folder = Folder::new();
    let file = folder.file("p.rasm", SEVERAL);
    let seeds = folder.file("seeds.csv", "2,-1\n");
    let by_file = reviver(&format!("grad {file} --seed B=@{seeds}")).expect(0);
    by_file.prints_part(&reviver(&format!("grad {file} --seed B=2,-1")).expect(0).stdout);
    let long = folder.file("long.csv", "2,-1,3\n");
    reviver(&format!("grad {file} --seed B=@{long}")).expect(2).says("long.csv").says("3");
    reviver(&format!("grad {file} --seed B=@{seeds},7")).expect(2).says("the file gives all values of `B`");
    reviver("grad - --seed B=@-").expect(2).says("standard input can be read for one purpose only");
}

#[test]
fn invalid_seeds_are_refused() {
    for (seeds, said) in [
        ("--seed n=1", "--seed: `n` is an integer, but reals were requested"),
        ("--seed n=1", "help: the program's reals are `x`, `y`, `a`, `B`"),
        ("--seed c=1", "--seed: the program has no cell `c`"),
        ("--seed B[2]=1", "--seed: there is no cell `B[2]`"),
        ("--seed a=1,B=1", "--seed: `B` has 2 cells, and the number of values is 1"),
        ("--seed a=1,2", "--seed: `a` has 1 cell, and the number of values is 2"),
        ("--seed a=1,a=2", "--seed: `a` is named twice"),
        ("--seed B=1,2,B[1]=1", "--seed: `B[1]` is named twice"),
        ("--seed a=nan", "--seed a: "),
        ("--seed a=inf", "--seed a: "),
        ("--seed a=1e40 --real f32", "--seed a: "),
        ("--seed a=1e40 --real fixed", "--seed a: "),
        ("--seed a=", "--seed a: "),
        ("--seed a", "--seed a: write the value of a cell as NAME=VALUE"),
        ("--seed a=1 --loss a", "cannot be used with"),
        ("", "--of <NAME>"),
    ] {
        let ran = on(SEVERAL, "grad", seeds).expect(2);
        assert!(ran.stderr.contains(said), "{seeds}: {ran:#?}");
        let object = on(SEVERAL, "grad", &format!("{seeds} --json")).expect(2).json();
        assert_eq!(object["error"]["kind"], json!("usage"), "{seeds}");
    }
    let stack = ".inout x: real default 1\n.inout s[]: real\nadd x, 1.0\n";
    on(stack, "grad", "--seed s=1").expect(2).says("--seed: `s` is a stack");
}

#[test]
fn a_resumed_gradient_keeps_its_seeds() {
    let folder = Folder::new();
    let state = folder.at("back");
    let grad = |seeds: &str, options: &str| {
        reviver(&format!("grad programs/besselj.rasm --seed {seeds} --set z=1.0 {options}"))
    };
    // The reverse sweep is interrupted.
    let there = folder.at("there");
    grad("out=2,z=3", &format!("--max-steps 190 --save-state {there}")).expect(5);
    grad("out=2,z=3", &format!("--max-steps 100 --from-state {there} --save-state {state}")).expect(5);
    let whole = grad("out=2,z=3", "--json").expect(0).json();
    let resumed = grad("out=2,z=3", &format!("--from-state {state} --json")).expect(0).json();
    for member in ["value", "outputs", "grad", "steps", "loss_error"] {
        assert_eq!(whole[member], resumed[member], "{member}");
    }
    for seeds in ["out=2,z=4", "out=2", "out=1"] {
        grad(seeds, &format!("--from-state {state}")).expect(2).says("or of other seeds");
    }
}

#[test]
fn a_cancelling_sum_is_compared_by_its_terms() {
    // The seeded sum y - z is 0 except for rounding, about 1e-16. But y and z have magnitude 1.
    let program = ".inout x: real default 0.1\n.out y: real, z: real\nfor i in 0..40\nadd y, x * 0.3\nadd z, x * 0.3\nrof\n";
    let ran = on(program, "grad", "--seed y=1,z=-1 --verify").expect(0);
    assert!(!ran.stdout.contains("mended") && ran.stdout.contains("x' = 0.0"), "{ran:?}");
}

#[test]
fn a_jacobian_is_multiplied_by_a_vector_in_one_run() {
    let ran = on(SEVERAL, "jacobian", "--of a,B --times x=1,y=2").expect(0);
    assert!(ran.stdout.starts_with("a = 0.75\nB[0] = 0.25\nB[1] = 4.48168907033806"), "{ran:?}");
    assert!(ran.stdout.contains("\nproduct a = 2.5\nproduct B = [1.0, 8.96337814067612"), "{ran:?}");
    let found = on(SEVERAL, "jacobian", "--of a,B --times x=1,y=2 --verify --json").expect(0).json();
    assert_eq!((&found["sweep"], &found["verify"]["agrees"]), (&json!("forward"), &json!(true)));
    assert_eq!(found["product"]["a"], json!(2.5));
    // An input that isn't named is constant, so its derivative needn't exist.
    let root = ".inout x: real default 0, t: real default 1\n.out y: real\nadd.sqrt y, x\nadd y, t\n";
    on(root, "jacobian", "--times x=1").expect(4);
    on(root, "jacobian", "--times t=3").expect(0).prints_part("product y = 3.0");
    on(SEVERAL, "jacobian", "--times n=1").expect(2).says("--times: `n` is an integer");
    on(SEVERAL, "jacobian", "--times x=1 --wrt y").expect(2).says("add `x` to `--wrt`");
    // Only reverse sweeps apply rules.
    let rule = ".inout x: real default 3\n.out y: real\ncall squared(y, x)\n\
                .proc squared(inout y: real, in x: real) rule own\nadd.square y, x\n.end\n\
                .proc own(inout y: real, in x: real)\nsub.mul x', y', x\nsub.mul x', y', x\n.end\n";
    let found = on(rule, "jacobian", "--times x=2 --json").expect(0).json();
    assert_eq!((&found["sweep"], &found["product"]["y"]), (&json!("reverse"), &json!(-12.0)));
    on(rule, "jacobian", "--times x=2 --verify")
        .expect(1)
        .says("the Jacobian's product failed the verification");
}

/// Products of the Jacobian J from both sides agree: ⟨u, J·v⟩ = ⟨Jᵀ·u, v⟩.
#[test]
fn products_from_both_sides_agree() {
    for (program, u, v, options) in [
        ("complex_multiply", "w_re=1.5,w_im=-2", "u_re=1,v_im=0.5,angle=2", ""),
        ("complex_multiply", "w_re=1.5,w_im=-2", "u_re=1,v_im=0.5,angle=2", "--real fixed"),
        ("norm", "length=2,v=1,0,-1,3", "v=1,2,-1,0.5", ""),
        ("norm", "length=2,v=1,0,-1,3", "v=1,2,-1,0.5", "--exact"),
    ] {
        let gradient =
            reviver(&format!("grad programs/{program}.rasm --seed {u} {options} --json")).expect(0).json();
        let along = reviver(&format!("jacobian programs/{program}.rasm --times {v} {options} --json"));
        let along = along.expect(0).json();
        let [left, right] =
            [(u, &along["product"]), (v, &gradient["grad"])].map(|(vector, found)| inner(vector, found));
        assert!((left - right).abs() < 1e-9 * left.abs().max(1.0), "{program}: {left} {right}");
    }
}

/// Returns the inner product of a vector in option syntax with one in JSON.
fn inner(vector: &str, found: &Value) -> f64 {
    let mut sum = 0.0;
    let mut name = "";
    let mut place = 0;
    for part in vector.split(',') {
        let text = match part.split_once('=') {
            Some((own, text)) => {
                (name, place) = (own, 0);
                text
            }
            None => {
                place += 1;
                part
            }
        };
        let component = if found[name].is_array() { &found[name][place] } else { &found[name] };
        sum += text.parse::<f64>().unwrap() * number(component);
    }
    sum
}

#[test]
fn a_series_follows_a_direction() {
    // Expected: a = (0.5 + t)·(1.5 + 2t), B₀ = (0.5 + t)², B₁ = e^1.5·(1 + 2t + 2t²).
    let found = on(SEVERAL, "taylor", "--order 2 --along x=1,y=2 --of a,B --json").expect(0).json();
    assert_eq!(found["along"], json!({ "x": 1.0, "y": 2.0 }));
    assert_eq!(found["taylor"]["a"], json!([0.75, 2.5, 2.0]));
    assert_eq!(found["taylor"]["B"][0], json!([0.25, 1.0, 1.0]));
    assert_close(number(&found["taylor"]["B"][1][2]), 2.0 * 1.5f64.exp());
    let ran = on(SEVERAL, "taylor", "--order 1 --along x=1,y=2 --of a").expect(0);
    ran.prints("coefficients of t⁰, t¹, … with x + 1.0·t, y + 2.0·t:\na = [0.75, 2.5]\n");
    // A single cell is the direction with component 1.
    let one = on(SEVERAL, "taylor", "--order 3 --along x --json").expect(0).json();
    let other = on(SEVERAL, "taylor", "--order 3 --along x=1 --json").expect(0).json();
    assert_eq!((&one["taylor"], &one["along"]), (&other["taylor"], &json!("x")));
    on(SEVERAL, "taylor", "--order 1 --along B").expect(2).says("`B` has 2 cells");
    on(SEVERAL, "taylor", "--order 1 --along x=1,x=2").expect(2).says("--along: `x` is named twice");
    on(SEVERAL, "taylor", "--order 1 --along x --along y")
        .expect(2)
        .says("write the value of a cell as NAME=VALUE");
}

#[test]
fn a_hessian_is_multiplied_by_a_vector_from_a_file() {
    let folder = Folder::new();
    let seeds = folder.file("v.csv", "1,0,0,0\n");
    let inline = reviver("hessian programs/norm.rasm --loss length --times v=1,0,0,0").expect(0).stdout;
    reviver(&format!("hessian programs/norm.rasm --loss length --times v=@{seeds}"))
        .expect(0)
        .prints(&inline);
}

#[test]
fn lanes_take_seeds() {
    let folder = Folder::new();
    folder.file("p.rasm", SEVERAL);
    folder.file("in.csv", "x,y,n\n0.5,1.5,3\n1,2,3\n-1,0.25,3\n0,0,3\n2,1,3\n");
    let seeds = "--seed a=10,B=2,-1";
    let lanes = folder.reviver(&format!("batch p.rasm --lanes in.csv {seeds}")).expect(0).stdout;
    let mut lines = lanes.lines();
    assert_eq!(lines.next(), Some("a,B[0],B[1],x',y'"));
    // Each lane gives the result of `grad`.
    for (line, set) in lines.zip(["x=0.5,y=1.5", "x=1,y=2", "x=-1,y=0.25", "x=0,y=0", "x=2,y=1"]) {
        let alone = folder.reviver(&format!("grad p.rasm {seeds} --set {set} --json")).expect(0).json();
        let outputs = &alone["outputs"];
        let wanted =
            [&outputs["a"], &outputs["B"][0], &outputs["B"][1], &alone["grad"]["x"], &alone["grad"]["y"]];
        let found: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        assert_eq!(found, wanted.map(number), "{set}");
    }
    for options in ["--engine interp", "--engine jit", "--engine jit --unchecked", "--threads 1"] {
        let other = folder.reviver(&format!("batch p.rasm --lanes in.csv {seeds} {options}")).expect(0);
        assert!(other.stdout.starts_with(&lanes) || other.stdout == lanes, "{options}: {other:?}");
    }
    folder.reviver(&format!("batch p.rasm --lanes in.csv {seeds} --verify=5")).expect(0);
    let object = folder.reviver(&format!("batch p.rasm --lanes in.csv {seeds} --json")).expect(0).json();
    assert_close(number(&object["sums"]["a"]), 0.75 + 2.0 - 0.25 + 0.0 + 2.0);
    for (options, said) in [
        ("--seed a=1 --grad a", "cannot be used with"),
        ("--seed a=1 --jacobian a", "cannot be used with"),
        ("--seed n=1", "--seed: `n` is an integer"),
        ("--seed a=1,a=2", "named twice"),
    ] {
        folder.reviver(&format!("batch p.rasm --lanes in.csv {options}")).expect(2).says(said);
    }
}

/// Returns the arrays of an archive: name, header and numbers of each.
fn arrays(archive: &[u8]) -> Vec<(String, String, Vec<f64>)> {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let arrays = zip.len();
    let read = |n: usize| {
        let mut file = zip.by_index(n).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..head]).trim().to_owned();
        let numbers =
            bytes[head..].chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap()));
        (file.name().unwrap().into_owned(), header, numbers.collect())
    };
    (0..arrays).map(read).collect()
}

#[test]
fn sums_by_shared_arrays_are_arrays() {
    let folder = Folder::new();
    let layer = ".in x[2]: real\n.in W[3, 2]: real shared default {0}\n.in b: real shared default 0.5\n.out y[3]: real\n\
                 for i in 0..3\nfor j in 0..2\nadd y[i], W[i, j] * x[j]\nrof\nadd y[i], b\nrof\n";
    let layer = layer.replace(".in ", ".inout ").replace("default {0}", "default {1, 2, 3, 4, 5, 6}");
    folder.file("layer.rasm", layer);
    folder.file("in.csv", "x[0],x[1]\n1,2\n3,4\n0.5,-1\n");
    let batch = "batch layer.rasm --lanes in.csv --seed y=1,2,3";
    folder.reviver(&format!("{batch} -o out.npz")).expect(0);
    let found = arrays(&folder.read("out.npz"));
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["y.npy", "x'.npy", "W'.npy", "b'.npy"]);
    // Row i of W' is the seed of y[i] times the sum of x over the lanes.
    let (_, header, numbers) = &found[2];
    assert!(header.contains("'shape': (3, 2, )") || header.contains("'shape': (3, 2)"), "{header}");
    let (x0, x1) = (4.5, 5.0);
    assert_eq!(*numbers, [x0, x1, 2.0 * x0, 2.0 * x1, 3.0 * x0, 3.0 * x1]);
    let (_, header, numbers) = &found[3];
    assert!(header.contains("'shape': ()"), "{header}");
    assert_eq!(*numbers, [18.0]);
    // In fixed point, a number without an exact binary64 can't be written.
    folder.reviver(&format!("{batch} --real fixed -o fixed.npz")).expect(0);
    assert_eq!(arrays(&folder.read("fixed.npz"))[2].2, *found[2].2);
}
