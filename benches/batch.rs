//! Benchmark of batches on the CPU next to handwritten native code on one core: gradients of a Bessel function,
//! Jacobians of bundle adjustment, and file input and output. Run by `cargo bench --bench batch`; `--features arrow`
//! adds Arrow files.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use reviver::{Batch, Device, LaneInputs};

use harness::clock::{Best, time};
use harness::lanes::{observations, points, program};
use harness::measures::measures;
use native::besselj::Bessel;
use native::model::Model as _;
use native::reprojection::jacobian;

mod harness {
    pub mod clock;
    #[allow(dead_code, reason = "the bench of devices has ciphers, too")]
    pub mod lanes;
    pub mod measures;
}

mod native {
    #[allow(dead_code, reason = "the bench of gradients times the rest of the model")]
    pub mod besselj;
    #[allow(dead_code, reason = "the bench of gradients times the rest of the model")]
    pub mod model;
    pub mod reprojection;
}

/// Shuffles numbers in a reproducible order.
fn shuffled(mut numbers: Vec<f64>) -> Vec<f64> {
    let mut seed = 1_u64;
    for n in (1..numbers.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        numbers.swap(n, (seed >> 33) as usize % (n + 1));
    }
    numbers
}

/// Returns the times of gradients in seconds: by lanes on one core, and by a handwritten adjoint.
fn bessel(z: Vec<f64>, rounds: usize) -> [f64; 2] {
    let program = program("besselj");
    let loss = program.loss("out").unwrap();
    let lanes = z.len();
    let inputs = LaneInputs::new(lanes).reals("z", &z[..]);
    let batch = Batch::new(&program, Device::cpu_with(1));
    let found = batch.gradient(&loss, &[], &inputs).unwrap();
    let slopes = found.reals("z'").unwrap();
    let by_hand = |z: f64| {
        let mut slope = [0.0];
        Bessel { nu: 2, z }.gradient(&mut slope);
        slope[0]
    };
    for (lane, &z) in z.iter().enumerate().step_by(97) {
        assert!((slopes[lane] - by_hand(z)).abs() < 1e-9, "{z}");
    }
    let mut best = Best::none();
    for _ in 0..rounds {
        best.round([
            time(|| _ = black_box(batch.gradient(&loss, &[], &inputs).unwrap())),
            time(|| z.iter().for_each(|&z| _ = black_box(by_hand(black_box(z))))),
        ]);
    }
    best.seconds()
}

/// Returns the times of Jacobians of observations in seconds: by lanes on one core, and by handwritten derivatives.
fn bundle(lanes: usize, rounds: usize) -> [f64; 2] {
    let program = program("bundle_adjustment");
    let cells = |names: &[&str]| names.iter().map(|name| program.reals(name).unwrap()).collect::<Vec<_>>();
    let (of, by) = (cells(&["residual", "weight_residual"]), cells(&["camera", "X", "w"]));
    let columns = observations(lanes);
    let inputs =
        columns.iter().fold(LaneInputs::new(lanes), |inputs, (name, column)| inputs.reals(name, &column[..]));
    let by_hand = |lane: usize| {
        let at = |n: usize| columns[n].1[lane];
        jacobian(&std::array::from_fn(at), [at(11), at(12), at(13)], at(14), [at(15), at(16)])
    };
    let batch = Batch::new(&program, Device::cpu_with(1));
    let found = batch.jacobian(&of, &by, &inputs).unwrap();
    for lane in (0..lanes).step_by(lanes.div_ceil(50)) {
        let wanted = by_hand(lane);
        let weight = f64::from_bits(found.bits("weight_residual/w").unwrap()[lane]);
        assert!((weight - wanted.weight).abs() < 1e-12, "{weight}");
        for (row, numbers) in wanted.rows.iter().enumerate() {
            for (n, wanted) in numbers.iter().enumerate() {
                let name = format!("residual[{row}]/{}", columns[n].0);
                let found = f64::from_bits(found.bits(&name).unwrap()[lane]);
                assert!(
                    (found - wanted).abs() <= 1e-7 * wanted.abs().max(1.0),
                    "{name}: {found} for {wanted}"
                );
            }
        }
    }
    drop(found);
    let mut best = Best::none();
    for _ in 0..rounds {
        best.round([
            time(|| _ = black_box(batch.jacobian(&of, &by, &inputs).unwrap())),
            time(|| {
                // The handwritten code stores its results, because lanes store their results too.
                let all: Vec<_> = (0..lanes).map(|lane| by_hand(black_box(lane))).collect();
                black_box(all);
            }),
        ]);
    }
    best.seconds()
}

/// Runs the command on a file of lanes, on all cores. Returns the seconds for input and output, and for execution.
fn files(lanes: usize, ending: &str, write: impl FnOnce(&Path, Vec<f64>)) -> [f64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).with_extension(ending);
    let (input, output) = (at("in"), at("out"));
    write(&input, points(lanes));
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["batch", "programs/besselj.rasm", "--grad", "out"]);
    command.args(["--shared", "nu=2", "--stats", "--json", "--lanes"]).arg(input).arg("-o").arg(output);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let object: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let seconds = |name: &str| object["seconds"][name].as_f64().unwrap();
    [seconds("read") + seconds("write"), seconds("run")]
}

fn csv(path: &Path, points: Vec<f64>) {
    let mut text = String::from("z\n");
    points.iter().for_each(|z| writeln!(text, "{z}").unwrap());
    std::fs::write(path, text).unwrap();
}

/// Writes points as record batches with as many rows as pandas puts into a record batch.
#[cfg(feature = "arrow")]
fn record_batches(path: &Path, points: Vec<f64>) {
    use arrow_array::{Float64Array, RecordBatch};
    let column = std::sync::Arc::new(Float64Array::from(points));
    let whole = RecordBatch::try_from_iter([("z", column as _)]).unwrap();
    let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &whole.schema()).unwrap();
    for from in (0..whole.num_rows()).step_by(1 << 16) {
        writer.write(&whole.slice(from, (whole.num_rows() - from).min(1 << 16))).unwrap();
    }
    writer.finish().unwrap();
}

fn main() {
    if !measures() {
        bessel(shuffled(points(1000)), 1);
        bundle(100, 1);
        files(1000, "csv", csv);
        #[cfg(feature = "arrow")]
        files(1000, "arrow", record_batches);
        return;
    }
    let started = Instant::now();
    println!("| lanes | what | ns a lane | peer: ns by hand, or of the run | ratio |\n|---|---|---|---|---|");
    let row = |what: &str, lanes: usize, [own, other]: [f64; 2]| {
        let (own, other) = (own * 1e9 / lanes as f64, other * 1e9 / lanes as f64);
        println!("| {lanes} | {what} | {own:.0} | {other:.0} | {:.2} |", own / other);
    };
    row("besselj, gradient", 1_000_000, bessel(points(1_000_000), 5));
    row("besselj, gradient, in random order", 1_000_000, bessel(shuffled(points(1_000_000)), 5));
    row("bundle adjustment, Jacobian", 100_000, bundle(100_000, 5));
    row("bundle adjustment, Jacobian", 1_000_000, bundle(1_000_000, 2));
    row("CSV in and out ÷ the run", 1_000_000, files(1_000_000, "csv", csv));
    #[cfg(feature = "arrow")]
    row("Arrow in and out ÷ the run", 1_000_000, files(1_000_000, "arrow", record_batches));
    println!("measured in {:.0} s", started.elapsed().as_secs_f64());
}
