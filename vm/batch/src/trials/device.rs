//! Lanes of a shader on the tests' device, with so many rounds in each dispatch.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::code::ShaderCode;
use crate::dispatch::{DeviceShader, LaneStatus};
use crate::lowering::Lowering;
use crate::shader::LaneShader;
use crate::testing::{device_with, devices_for, lowerings};

/// What became of lanes.
#[derive(Debug)]
pub struct Ran {
    /// By lane the words that it has come to.
    pub found: Vec<Vec<u64>>,
    pub statuses: Vec<LaneStatus>,
    pub steps: Vec<u64>,
}

/// Rounds of a lane in one dispatch at most, and steps.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub rounds: u32,
    pub most_steps: u64,
}

pub const PLENTY: Budget = Budget { rounds: 8000, most_steps: u64::MAX >> 1 };

/// Longer shaders are carried out in the device's own form only, but for a campaign: a driver that is software takes ten times as long to compile them
/// on pairs of words.
const SHORT: usize = 6 << 10;

/// Has the texts of a shader looked through, whether there is a device or not. They make as many rounds that nobody counts.
pub fn compiled(shader: &LaneShader) {
    for lowering in lowerings(&shader.wgsl) {
        let texts = [&shader.wgsl].into_iter().chain(&shader.single_pass);
        let rounds: Vec<u32> = texts.map(|text| code(text, lowering).uncounted_rounds).collect();
        assert!(rounds.iter().all(|own| *own == rounds[0]), "{rounds:?}\n{}", shader.wgsl);
    }
}

fn code(wgsl: &str, lowering: Lowering) -> ShaderCode {
    let numbered =
        || wgsl.lines().enumerate().map(|(n, line)| format!("{}: {line}\n", n + 1)).collect::<String>();
    let compiled = ShaderCode::of(wgsl, lowering, true, 0);
    compiled.unwrap_or_else(|error| panic!("{lowering:?}: {error}\n{}", numbered()))
}

/// A shader that is ready, in each form that devices are given it in.
pub struct TrialPipeline {
    shaders: Vec<DeviceShader>,
    found: usize,
}

impl TrialPipeline {
    /// None where there is no device.
    pub fn new(shader: &LaneShader) -> Option<TrialPipeline> {
        compiled(shader);
        let mut devices = devices_for(&shader.wgsl);
        if shader.wgsl.len() > SHORT && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
            devices.truncate(1);
        }
        let made = devices.iter().map(|device| DeviceShader::new(device, shader).unwrap());
        let pipeline = TrialPipeline { shaders: made.collect(), found: shader.found as usize };
        if pipeline.shaders.is_empty() { None } else { Some(pipeline) }
    }

    /// In one form only.
    pub fn in_form(shader: &LaneShader, form: Lowering) -> Option<TrialPipeline> {
        let shaders = vec![DeviceShader::new(&device_with(form)?, shader).unwrap()];
        Some(TrialPipeline { shaders, found: shader.found as usize })
    }

    /// How long lanes take, without what a driver does only once.
    pub fn time(&self, lanes: &[Vec<u64>], budget: Budget) -> Duration {
        self.run(&lanes[..1], budget);
        let begin = Instant::now();
        let ran = self.run(lanes, budget);
        let taken = begin.elapsed();
        assert!(ran.statuses.contains(&LaneStatus::Arrived));
        taken
    }

    /// Carries out lanes, each with the words that it is given: in each form they come to the same, after the same steps. When a lane that
    /// doesn't arrive is noticed depends on the form.
    pub fn run(&self, lanes: &[Vec<u64>], budget: Budget) -> Ran {
        let mut all = self.shaders.iter().map(|shader| self.run_one(shader, lanes, budget));
        let first = all.next().unwrap();
        for other in all {
            assert_eq!(other.statuses, first.statuses);
            for (lane, status) in first.statuses.iter().enumerate() {
                if *status == LaneStatus::Arrived {
                    let (other, first) = (&other, &first);
                    assert_eq!(other.steps[lane], first.steps[lane], "lane {lane}");
                    assert_eq!(other.found[lane], first.found[lane], "lane {lane}");
                }
            }
        }
        first
    }

    fn run_one(&self, shader: &DeviceShader, lanes: &[Vec<u64>], budget: Budget) -> Ran {
        shader.limit_rounds(budget.rounds);
        let words = lanes.first().map_or(0, Vec::len);
        let given: Vec<Vec<u64>> =
            (0..words).map(|word| lanes.iter().map(|lane| lane[word]).collect()).collect();
        let given: Vec<&[u64]> = given.iter().map(Vec::as_slice).collect();
        let mut found = vec![vec![0xdead_beef_dead_beef; lanes.len()]; self.found];
        let mut there: Vec<&mut [u64]> = found.iter_mut().map(Vec::as_mut_slice).collect();
        let never = AtomicBool::new(false);
        let ran = shader.run(&given, &mut there, lanes.len(), budget.most_steps, &never).unwrap();
        let of_lane = |lane: usize| found.iter().map(|word| word[lane]).collect();
        Ran { found: (0..lanes.len()).map(of_lane).collect(), statuses: ran.statuses, steps: ran.steps }
    }
}
