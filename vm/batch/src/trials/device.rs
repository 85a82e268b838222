//! Executes lanes of a shader on the tests' device, with a limit on the iterations in each dispatch.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::code::ShaderCode;
use crate::dispatch::{DeviceShader, LaneStatus};
use crate::lowering::Lowering;
use crate::shader::LaneShader;
use crate::testing::{device_with, devices_for, lowerings};

/// The results of lanes.
#[derive(Debug)]
pub struct Ran {
    /// The output words of each lane.
    pub found: Vec<Vec<u64>>,
    pub statuses: Vec<LaneStatus>,
    pub steps: Vec<u64>,
}

/// Upper bounds on the iterations of a lane in one dispatch, and on its steps.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub iterations: u32,
    pub most_steps: u64,
}

pub const PLENTY: Budget = Budget { iterations: 8000, most_steps: u64::MAX >> 1 };

/// Maximum length, in bytes, of a shader that is tested with all lowerings. Longer shaders are tested with all
/// lowerings only in a campaign, and otherwise with the device's own lowering. The reason is compile time: for 64-bit
/// numbers as pairs of words, a software driver takes ten times as long.
const SHORT: usize = 6 << 10;

/// Validates the kernels of a shader with each lowering, even if there is no device. Both kernels must have the same
/// number of uncounted iterations.
pub fn compiled(shader: &LaneShader) {
    for lowering in lowerings(&shader.wgsl) {
        let texts = [&shader.wgsl].into_iter().chain(&shader.non_resumable);
        let iterations: Vec<u32> = texts.map(|text| code(text, lowering).uncounted_iterations).collect();
        assert!(iterations.iter().all(|own| *own == iterations[0]), "{iterations:?}\n{}", shader.wgsl);
    }
}

fn code(wgsl: &str, lowering: Lowering) -> ShaderCode {
    let numbered =
        || wgsl.lines().enumerate().map(|(n, line)| format!("{}: {line}\n", n + 1)).collect::<String>();
    let compiled = ShaderCode::of(wgsl, lowering, true, 0);
    compiled.unwrap_or_else(|error| panic!("{lowering:?}: {error}\n{}", numbered()))
}

/// A shader, compiled with each lowering under test.
pub struct TrialPipeline {
    shaders: Vec<DeviceShader>,
    found: usize,
}

impl TrialPipeline {
    /// Compiles a shader with each lowering under test; `None` if there is no device.
    pub fn new(shader: &LaneShader) -> Option<TrialPipeline> {
        compiled(shader);
        let mut devices = devices_for(&shader.wgsl);
        if shader.wgsl.len() > SHORT && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
            devices.truncate(1);
        }
        let made = devices.iter().map(|device| DeviceShader::new(device, shader).unwrap());
        let pipeline = TrialPipeline { shaders: made.collect(), found: shader.outputs as usize };
        if pipeline.shaders.is_empty() { None } else { Some(pipeline) }
    }

    /// Compiles a shader with one lowering only; `None` if there is no device.
    pub fn with_lowering(shader: &LaneShader, lowering: Lowering) -> Option<TrialPipeline> {
        let shaders = vec![DeviceShader::new(&device_with(lowering)?, shader).unwrap()];
        Some(TrialPipeline { shaders, found: shader.outputs as usize })
    }

    /// Returns the run time of lanes. One lane is executed first, so that the run time excludes the driver's one-time
    /// work.
    pub fn time(&self, lanes: &[Vec<u64>], budget: Budget) -> Duration {
        self.run(&lanes[..1], budget);
        let begin = Instant::now();
        let ran = self.run(lanes, budget);
        let taken = begin.elapsed();
        assert!(ran.statuses.contains(&LaneStatus::Finished));
        taken
    }

    /// Runs lanes with the given input words. With each lowering, the lanes must have the same results and numbers of
    /// steps. Lanes that don't finish aren't compared, because lowerings may notice a failure at different times.
    pub fn run(&self, lanes: &[Vec<u64>], budget: Budget) -> Ran {
        let mut all = self.shaders.iter().map(|shader| self.run_one(shader, lanes, budget));
        let first = all.next().unwrap();
        for other in all {
            assert_eq!(other.statuses, first.statuses);
            for (lane, status) in first.statuses.iter().enumerate() {
                if *status == LaneStatus::Finished {
                    let (other, first) = (&other, &first);
                    assert_eq!(other.steps[lane], first.steps[lane], "lane {lane}");
                    assert_eq!(other.found[lane], first.found[lane], "lane {lane}");
                }
            }
        }
        first
    }

    fn run_one(&self, shader: &DeviceShader, lanes: &[Vec<u64>], budget: Budget) -> Ran {
        shader.limit_iterations(budget.iterations);
        let words = lanes.first().map_or(0, Vec::len);
        let inputs: Vec<Vec<u64>> =
            (0..words).map(|word| lanes.iter().map(|lane| lane[word]).collect()).collect();
        let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
        let mut found = vec![vec![0xdead_beef_dead_beef; lanes.len()]; self.found];
        let mut columns: Vec<&mut [u64]> = found.iter_mut().map(Vec::as_mut_slice).collect();
        let never = AtomicBool::new(false);
        let ran = shader.run(&inputs, &mut columns, lanes.len(), budget.most_steps, &never).unwrap();
        let of_lane = |lane: usize| found.iter().map(|word| word[lane]).collect();
        Ran { found: (0..lanes.len()).map(of_lane).collect(), statuses: ran.statuses, steps: ran.steps }
    }
}
