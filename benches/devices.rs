//! Benchmark of a device next to one CPU core. For a software device, the CPU time is measured, and for a GPU the time
//! by the clock of the GPU. Run by `REVIVER_DEVICE=llvmpipe cargo bench --bench devices`.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use reviver::batch::listing::{DeviceKind, devices};
use reviver::batch::plan::LaneTask;
use reviver::batch::prepared::PreparedBatch;
use reviver::batch::probes::KeepsNothing;
use reviver::{Batch, CheckLevel, Device, EngineChoice, Executable, LaneInputs, assemble};

use harness::clock::Best;
use harness::lanes::{bessel_in_f32, blocks, observations, points, program_at};
use harness::measures::measures;

mod harness {
    #[allow(dead_code, reason = "times here are those of the processors")]
    pub mod clock;
    #[allow(dead_code, reason = "the bench of batches has programs at the usual level")]
    pub mod lanes;
    pub mod measures;
}

mod native {
    #[allow(dead_code, reason = "the bench of batches times the derivatives by hand")]
    pub mod reprojection;
}

/// Returns the CPU time of this process on all cores.
#[cfg(unix)]
fn processors() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.cast_unsigned(), u32::try_from(spent.tv_nsec).unwrap())
}

/// Returns the elapsed time, because CPU time isn't available.
#[cfg(not(unix))]
fn processors() -> Duration {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

/// Input column: the cell's name, and the bits of its numbers.
type Column = (String, Vec<u64>);

/// Lanes of a program, prepared on one device.
struct Ready {
    prepared: PreparedBatch,
    results: Vec<Vec<u64>>,
}

/// Times of lanes: wall clock, CPU time, and the device's clock, which excludes transfers.
#[derive(Clone, Copy)]
struct Took {
    wall: Duration,
    processors: Duration,
    device: Duration,
}

impl Took {
    const PARTS: usize = 3;

    fn parts(self) -> [Duration; Took::PARTS] {
        [self.wall, self.processors, self.device]
    }
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

    /// Executes the lanes once.
    fn run(&mut self, inputs: &[&[u64]]) -> Took {
        let lanes = self.results.first().map_or(0, Vec::len);
        let mut found: Vec<&mut [u64]> = self.results.iter_mut().map(Vec::as_mut_slice).collect();
        let mut running = self.prepared.begin();
        let (begun, before) = (Instant::now(), processors());
        let outcome = running.block(inputs, lanes, &mut found, &|_| {}).unwrap();
        let (wall, processors) = (begun.elapsed(), processors() - before);
        Took { wall, processors, device: outcome.worked.unwrap_or_default() }
    }
}

/// Returns the times of the same lanes on a device and on one core, in seconds. The first run, in which drivers
/// compile, isn't counted.
fn both(
    program: &Executable,
    device: &Device,
    busy: &mut Busy,
    task: &LaneTask,
    columns: &[Column],
) -> [[f64; Took::PARTS]; 2] {
    let inputs: Vec<&[u64]> = columns.iter().map(|(_, bits)| bits.as_slice()).collect();
    let lanes = inputs.first().map_or(0, |bits| bits.len());
    let one_core = Device::cpu_with(1);
    let mut both = [device, &one_core].map(|device| Ready::new(program, device, task, columns, lanes));
    both.iter_mut().for_each(|ready| _ = ready.run(&inputs));
    assert!(both[0].results == both[1].results, "the device's results have other bits than the CPU's");
    let mut best = [Best::none(), Best::none()];
    for _ in 0..ROUNDS {
        let [on_device, on_core] = &mut both;
        for _ in 0..busy.runs() {
            busy.run();
            best[0].round(on_device.run(&inputs).parts());
        }
        best[1].round(on_core.run(&inputs).parts());
    }
    best.map(|best| best.seconds())
}

const ROUNDS: usize = 5;

/// Work that keeps a GPU busy before a measurement, because an idle GPU lowers its clock frequency to a fifth. `None`
/// for a software device.
struct Busy {
    lanes: Option<(Ready, Vec<u64>)>,
}

impl Busy {
    fn new(device: &Device) -> Busy {
        const TEXT: &str = ".inout x\n.inout n\nfor i in 0..n\n    add x, i\n    xor x, 12345\nrof\n";
        let kind = devices(&KeepsNothing).into_iter().find(|listed| listed.name == device.name());
        if kind.is_none_or(|listed| listed.kind != DeviceKind::Graphics) {
            return Busy { lanes: None };
        }
        let program = assemble("busy", TEXT).and_then(|text| text.compile(EngineChoice::Jit)).unwrap();
        let columns = [("n".to_owned(), vec![]), ("x".to_owned(), vec![])];
        let rounds = if measures() { 1_000_000 } else { 10 };
        let lanes = vec![rounds; 1 << 18];
        Busy { lanes: Some((Ready::new(&program, device, &LaneTask::Run, &columns, lanes.len()), lanes)) }
    }

    /// Returns the number of timed runs in a round. A GPU needs several runs to reach its highest clock frequency.
    fn runs(&self) -> usize {
        if self.lanes.is_some() { ROUNDS } else { 1 }
    }

    fn run(&mut self) {
        if let Some((ready, lanes)) = &mut self.lanes {
            ready.run(&[&lanes[..], &lanes[..]]);
        }
    }
}

/// Converts columns of reals to the bits of `f64`.
fn reals(columns: Vec<(String, Vec<f64>)>) -> Vec<Column> {
    let bits = |column: Vec<f64>| column.into_iter().map(f64::to_bits).collect();
    columns.into_iter().map(|(name, column)| (name, bits(column))).collect()
}

/// Benchmark subject: a program, the task of every lane, and the input columns.
type Subject = (Executable, LaneTask, Vec<Column>);

/// Gradients of a Bessel function.
fn bessel(level: CheckLevel, lanes: usize) -> Subject {
    let program = program_at("besselj", level);
    let task = LaneTask::Gradient { loss: program.loss("out").unwrap(), by: Vec::new() };
    (program, task, reals(vec![("z".to_owned(), points(lanes))]))
}

/// Gradients of a Bessel function in 32-bit floats.
fn bessel_f32(level: CheckLevel, lanes: usize) -> Subject {
    let program = bessel_in_f32(level);
    let task = LaneTask::Gradient { loss: program.loss("out").unwrap(), by: Vec::new() };
    let bits = points(lanes).into_iter().map(|z| u64::from((z as f32).to_bits())).collect();
    (program, task, vec![("z".to_owned(), bits)])
}

/// Cipher over blocks of data.
fn xtea(level: CheckLevel, lanes: usize) -> Subject {
    let bits = |column: Vec<i64>| column.into_iter().map(i64::cast_unsigned).collect();
    let columns = blocks(lanes).into_iter().map(|(name, column)| (name, bits(column))).collect();
    (program_at("xtea_blocks", level), LaneTask::Run, columns)
}

/// Jacobians of bundle adjustment.
fn bundle(level: CheckLevel, lanes: usize) -> Subject {
    let program = program_at("bundle_adjustment", level);
    let cells = |names: &[&str]| names.iter().map(|name| program.reals(name).unwrap()).collect();
    let (of, by) = (cells(&["residual", "weight_residual"]), cells(&["camera", "X", "w"]));
    (program, LaneTask::Jacobian { of, by }, reals(observations(lanes)))
}

/// Times the command for one lane, including startup. A first call stores the result of the device's capability probe.
/// The driver's shader cache is disabled.
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

/// Returns a program of `updates` consecutive updates.
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

/// Prints a row of the table.
fn row(device: &Device, busy: &mut Busy, what: &str, lanes: usize, (program, task, columns): Subject) {
    let took = both(&program, device, busy, &task, &columns);
    let [[wall, processors, clock], [_, core, _]] = took.map(|part| part.map(|s| s * 1e9 / lanes as f64));
    let clocked = |number: f64| if clock > 0.0 { format!("{number:.3}") } else { "none".to_owned() };
    println!(
        "| {what} | {lanes} | {} | {wall:.2} | {processors:.1} | {core:.1} | {:.2} | {} |",
        clocked(clock),
        processors / core,
        clocked(core / clock)
    );
}

fn main() {
    let Ok(name) = std::env::var("REVIVER_DEVICE") else {
        println!("SKIPPED: no device is named. Set REVIVER_DEVICE to a part of a device's name.");
        return;
    };
    let device = Device::named(&name).unwrap();
    let lanes = if measures() { 1_000_000 } else { 100 };
    let mut busy = Busy::new(&device);
    println!(
        "{}\n| what | lanes | ns a lane by the device's clock | ns with transfers | ns of CPU time | ns on one core | \
         CPU time ÷ core | core ÷ clock |\n|---|---|---|---|---|---|---|---|",
        device.name()
    );
    for (level, name) in [(CheckLevel::Checked, "checked"), (CheckLevel::Unchecked, "unchecked")] {
        row(&device, &mut busy, &format!("besselj, gradient, {name}"), lanes, bessel(level, lanes));
        row(&device, &mut busy, &format!("besselj, gradient, f32, {name}"), lanes, bessel_f32(level, lanes));
        row(&device, &mut busy, &format!("XTEA, {name}"), lanes, xtea(level, lanes));
        // A software device's driver takes a minute to compile each shader of a Jacobian.
        for observations in [100_000, 1_000_000].into_iter().filter(|_| measures()) {
            let what = format!("bundle adjustment, Jacobian, {name}");
            row(&device, &mut busy, &what, observations, bundle(level, observations));
        }
    }
    let line = straight_line(if measures() { 1000 } else { 10 });
    let line = line.path().to_str().unwrap();
    println!("| what | s for one lane |\n|---|---|");
    let gradient = ["--grad", "out"];
    println!("| besselj, gradient | {:.2} |", start(&name, "programs/besselj.rasm", &gradient, "z\n1\n"));
    println!("| a straight line | {:.2} |", start(&name, line, &[], "x,y\n0.001,0.002\n"));
}
