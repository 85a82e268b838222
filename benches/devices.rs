//! Many lanes on a device beside the same lanes on the cores of this machine, in the time that the processors spend on them: what a device
//! that is software costs. `REVIVER_DEVICE=llvmpipe cargo bench --bench devices`

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use reviver::batch::plan::LaneTask;
use reviver::batch::prepared::PreparedBatch;
use reviver::{Batch, CheckLevel, Device, Executable, LaneInputs};

use harness::clock::{Best, measures};
use harness::lanes::{blocks, observations, points, program_at};

mod harness {
    #[allow(dead_code, reason = "times here are those of the processors")]
    pub mod clock;
    #[allow(dead_code, reason = "the bench of batches has programs at the usual level")]
    pub mod lanes;
}

mod native {
    #[allow(dead_code, reason = "the bench of batches times the derivatives by hand")]
    pub mod reprojection;
}

/// The time that all processors have spent on this process.
#[cfg(unix)]
fn processors() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.cast_unsigned(), u32::try_from(spent.tv_nsec).unwrap())
}

/// Where nobody tells it: the time that has passed.
#[cfg(not(unix))]
fn processors() -> Duration {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

/// A column of lanes' numbers: the cell's name, and their bits.
type Column = (String, Vec<u64>);

/// Lanes of a program that one device is ready for.
struct Ready {
    prepared: PreparedBatch,
    results: Vec<Vec<u64>>,
}

impl Ready {
    fn new(
        program: &Executable,
        device: &Device,
        task: &LaneTask,
        columns: &[Column],
        lanes: usize,
    ) -> Ready {
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let batch = Batch::new(program, device.clone());
        let prepared = batch.prepare(task.clone(), &names, &LaneInputs::new(0)).unwrap();
        let results = vec![vec![0; lanes]; prepared.plan().results.len()];
        Ready { prepared, results }
    }

    /// Carries the lanes out; how long the processors took for it.
    fn run(&mut self, inputs: &[&[u64]]) -> Duration {
        let lanes = self.results.first().map_or(0, Vec::len);
        let mut found: Vec<&mut [u64]> = self.results.iter_mut().map(Vec::as_mut_slice).collect();
        let mut running = self.prepared.begin();
        let before = processors();
        running.block(inputs, lanes, &mut found, &|_| {}).unwrap();
        processors() - before
    }
}

/// Seconds of the processors for the same lanes by a device and by the cores. A first run has drivers compile, and isn't counted.
fn both(program: &Executable, device: &Device, task: &LaneTask, columns: &[Column]) -> [f64; 2] {
    let inputs: Vec<&[u64]> = columns.iter().map(|(_, bits)| bits.as_slice()).collect();
    let lanes = inputs.first().map_or(0, |bits| bits.len());
    let mut both = [device, &Device::cpu()].map(|device| Ready::new(program, device, task, columns, lanes));
    both.iter_mut().for_each(|ready| _ = ready.run(&inputs));
    assert!(both[0].results == both[1].results, "the device has other bits");
    let mut best = Best::none();
    for _ in 0..ROUNDS {
        best.round(both.each_mut().map(|ready| ready.run(&inputs)));
    }
    best.seconds()
}

const ROUNDS: usize = 5;

/// The bits of a real.
fn reals(columns: Vec<(String, Vec<f64>)>) -> Vec<Column> {
    let bits = |column: Vec<f64>| column.into_iter().map(f64::to_bits).collect();
    columns.into_iter().map(|(name, column)| (name, bits(column))).collect()
}

/// Gradients of a Bessel function.
fn bessel(device: &Device, level: CheckLevel, lanes: usize) -> [f64; 2] {
    let program = program_at("besselj", level);
    let task = LaneTask::Gradient { loss: program.loss("out").unwrap(), by: Vec::new() };
    both(&program, device, &task, &reals(vec![("z".to_owned(), points(lanes))]))
}

/// A cipher over blocks.
fn xtea(device: &Device, level: CheckLevel, lanes: usize) -> [f64; 2] {
    let bits = |column: Vec<i64>| column.into_iter().map(i64::cast_unsigned).collect();
    let columns: Vec<Column> = blocks(lanes).into_iter().map(|(name, column)| (name, bits(column))).collect();
    both(&program_at("xtea_blocks", level), device, &LaneTask::Run, &columns)
}

/// Jacobians of bundle adjustment.
fn bundle(device: &Device, level: CheckLevel, lanes: usize) -> [f64; 2] {
    let program = program_at("bundle_adjustment", level);
    let cells = |names: &[&str]| names.iter().map(|name| program.reals(name).unwrap()).collect();
    let (of, by) = (cells(&["residual", "weight_residual"]), cells(&["camera", "X", "w"]));
    both(&program, device, &LaneTask::Jacobian { of, by }, &reals(observations(lanes)))
}

/// How long the command takes for one lane, with all that belongs to its start. What the device gets right is known from a first call; what its driver
/// keeps of shaders isn't used.
fn start(device: &str, program: &str, options: &[&str], lane: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lane.csv");
    std::fs::write(&file, lane).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["batch", program, "--device", device, "--lanes"]);
    command
        .arg(file)
        .args(options)
        .env("XDG_CACHE_HOME", folder.path())
        .env("MESA_SHADER_CACHE_DISABLE", "true");
    let mut best = f64::INFINITY;
    for _ in 0..=ROUNDS {
        let began = Instant::now();
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        best = best.min(began.elapsed().as_secs_f64());
    }
    best
}

/// So many updates, one after the other.
fn straight_line(updates: usize) -> tempfile::NamedTempFile {
    let mut text = String::from(".inout x: real\n.inout y: real\n");
    for n in 0..updates {
        let (to, from) = if n % 2 == 0 { ("x", "y") } else { ("y", "x") };
        writeln!(text, "add.mul {to}, {from}, {from}").unwrap();
    }
    let file = tempfile::Builder::new().suffix(".rasm").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn main() {
    let Ok(name) = std::env::var("REVIVER_DEVICE") else {
        println!("SKIPPED: no device is named. Set REVIVER_DEVICE to a part of its name.");
        return;
    };
    let device = Device::named(&name).unwrap();
    // The driver of a software device takes a minute for each of the shaders of a Jacobian.
    let (lanes, observations) = if measures() { (1_000_000, Some(100_000)) } else { (100, None) };
    println!(
        "{}\n| | lanes | ns a lane by the device | by the cores | ratio |\n|---|---|---|---|---|",
        device.name()
    );
    let row = |what: &str, lanes: usize, seconds: [f64; 2]| {
        let [own, other] = seconds.map(|seconds| seconds * 1e9 / lanes as f64);
        println!("| {what} | {lanes} | {own:.0} | {other:.0} | {:.2} |", own / other);
    };
    for (level, name) in [(CheckLevel::Checked, "checked"), (CheckLevel::Unchecked, "unchecked")] {
        row(&format!("besselj, gradient, {name}"), lanes, bessel(&device, level, lanes));
        row(&format!("XTEA, {name}"), lanes, xtea(&device, level, lanes));
        if let Some(lanes) = observations {
            row(&format!("bundle adjustment, Jacobian, {name}"), lanes, bundle(&device, level, lanes));
        }
    }
    let line = straight_line(if measures() { 1000 } else { 10 });
    let line = line.path().to_str().unwrap();
    println!("| | s for one lane |\n|---|---|");
    let gradient = ["--grad", "out"];
    println!("| besselj, gradient | {:.2} |", start(&name, "programs/besselj.rasm", &gradient, "z\n1\n"));
    println!("| a straight line | {:.2} |", start(&name, line, &[], "x,y\n0.001,0.002\n"));
}
