//! Compares the run time of lanes with each lowering to the run time without lowering. For integers as pairs of words,
//! the ratio must not exceed an upper bound. For opaque results, there is no bound. The tests need an otherwise idle
//! machine.

use std::time::Duration;

use reviver_vm::{CheckLevel, Program, Travel};

use super::device::{PLENTY, TrialPipeline};
use super::programs::{cells, program, shipped, start, whole};
use super::runs::lanes;
use crate::lowering::{LoweredIntegers, LoweredResults, Lowering};
use crate::testing::lowerings;

/// The number of lanes; it is large enough to keep a device busy for a while.
const LANES: usize = 1 << 14;
const ROUNDS: usize = 7;

const SUMS: &str = "
.inout n default 400
.inout x default 12345
.inout y default 6789
for i in 0..n
    add y, mul(x, i)
    rol x, 5
    xor x, y
rof
";

const QUOTIENTS: &str = "
.inout n default 400
.inout x default 1234567890123456789
.inout d default 98765432
.inout y default 0
for i in 1..n
    add y, div(x, i)
    add y, rem(x, d)
    add d, y
rof
";

const FLOATS: &str = "
.real SYSTEM
.inout n default 400
.inout x: real default 1.5
.inout y: real default 0.25
for i in 0..n
    add y, mul(x, 0.9990234375)
    sub x, mul(y, 0.0009765625)
    add y, div(x, 3.0)
rof
";

/// Returns the shortest run time of a program's lanes for each lowering. The first one is without lowering.
fn times(program: &std::sync::Arc<Program>, level: CheckLevel) -> Vec<(Lowering, Duration)> {
    let shader = whole(program, Travel::Forward, level).unwrap();
    let takes = cells(program, |role| program.takes(role, Travel::Forward));
    let lanes = lanes(program, start(program, Travel::Forward).state(), &takes, LANES);
    let lowerings = lowerings(&shader.wgsl);
    let pipelines: Vec<TrialPipeline> =
        lowerings.iter().filter_map(|&lowering| TrialPipeline::with_lowering(&shader, lowering)).collect();
    let mut best = vec![Duration::MAX; pipelines.len()];
    for _ in 0..ROUNDS {
        for (best, pipeline) in best.iter_mut().zip(&pipelines) {
            *best = pipeline.time(&lanes, PLENTY).min(*best);
        }
    }
    lowerings.into_iter().zip(best).collect()
}

/// Returns the ratio of a lowering's run time to the run time without lowering.
fn ratio(times: &[(Lowering, Duration)], lowering: Lowering) -> f64 {
    let of =
        |wanted: Lowering| times.iter().find(|(lowering, _)| *lowering == wanted).unwrap().1.as_secs_f64();
    of(lowering) / of(Lowering::PLAIN)
}

#[test]
#[ignore = "takes a quiet machine"]
fn integers_on_pairs_stay_within_their_time_bound() {
    let pairs = Lowering { integers: LoweredIntegers::Pairs, ..Lowering::PLAIN };
    let opaque = Lowering { results: LoweredResults::Opaque, ..Lowering::PLAIN };
    let xtea = shipped().into_iter().find(|(name, _)| name == "xtea_blocks").unwrap().1;
    let programs = [
        ("sums and products of integers", program(SUMS), pairs, Some(2.5)),
        ("xtea_blocks", xtea, pairs, Some(2.5)),
        ("quotients and remainders", program(QUOTIENTS), pairs, Some(16.0)),
        ("floats of 32 bits", program(&FLOATS.replace("SYSTEM", "f32")), opaque, None),
        ("floats of 64 bits", program(&FLOATS.replace("SYSTEM", "f64")), opaque, None),
    ];
    let mut slow = Vec::new();
    for (name, program, lowering, most) in programs {
        let times = times(&program, CheckLevel::Checked);
        if times.is_empty() {
            return;
        }
        let ratio = ratio(&times, lowering);
        println!("{name}: {ratio:.2}, {times:?}");
        slow.extend(
            most.filter(|&most| ratio > most)
                .map(|most| format!("{name}: {ratio:.2}, and {most} is promised")),
        );
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
