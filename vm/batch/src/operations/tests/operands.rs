//! Operands of tests: edge cases of a number system, and random ones.

use reviver_compile::function::NumberKinds;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

/// Random number generator SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns a random number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Wraps an integer to the size of the program's words.
pub fn wrapped(numbers: NumberKinds, value: i64) -> i64 {
    let above = 64 - numbers.word.bits();
    value << above >> above
}

fn integer(numbers: NumberKinds, random: &mut Random) -> i64 {
    let edges =
        [0, 1, -1, 2, -2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, i64::MIN, i64::MAX, i64::MIN + 1];
    let value = match random.below(4) {
        0 => edges[random.below(edges.len())],
        1 => 1i64.wrapping_shl(random.below(64) as u32).wrapping_add(random.below(3) as i64 - 1),
        2 => random.next() as i64 >> random.below(64),
        _ => random.next() as i64,
    };
    let most = numbers.word.bits() - 1;
    // One of eight operands is the smallest or the largest word.
    match random.below(16) {
        0 => -1 << most,
        1 => !(-1 << most),
        _ => wrapped(numbers, value),
    }
}

const EDGES: [f64; 40] = [
    0.0,
    1.0,
    2.0,
    3.0,
    0.5,
    1.5,
    2.5,
    0.25,
    0.9375,
    0.0625,
    1e-3,
    1e-8,
    1e-17,
    1e-300,
    5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    8.0,
    10.0,
    16.0,
    40.0,
    88.7,
    127.0,
    128.0,
    709.7,
    710.5,
    745.2,
    32767.0,
    65536.0,
    4503599627370496.5,
    9007199254740993.0,
    2147483648.0,
    9223372036854775808.0,
    9223372036854774784.0,
    1e22,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

fn float(random: &mut Random) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    match random.below(10) {
        0 | 1 => sign * EDGES[random.below(EDGES.len())],
        2 => sign * std::f64::consts::FRAC_PI_4 * random.below(64) as f64,
        3 => f64::from_bits(random.next()),
        4 => f64::from_bits(random.next() >> 12),
        5 => sign * (random.unit() * 1400.0 - 700.0).exp(),
        6 => sign * (random.below(2000) as f64) / 8.0,
        7 => sign * 10.0 * random.unit(),
        8 => sign * random.unit(),
        _ => sign * 1000.0 * random.unit(),
    }
}

fn fixed(fraction: u8, random: &mut Random) -> u64 {
    let one = 1i64 << fraction;
    let edges = [
        0,
        1,
        -1,
        one,
        -one,
        one / 2,
        one + 1,
        one - 1,
        one + one / 2,
        i64::MIN,
        i64::MAX,
        i64::MIN + 1,
        i64::MAX - one / 2,
    ];
    let value = match random.below(8) {
        0 => edges[random.below(edges.len())],
        1 | 2 => random.next() as i64 >> random.below(64),
        3 => one.wrapping_mul(random.below(256) as i64 - 128) / 8,
        4 | 5 => (one as f64 * (random.unit() * 20.0 - 10.0)) as i64,
        6 => (one as f64 * (random.unit() * 2.0 - 1.0)) as i64,
        _ => random.next() as i64,
    };
    value as u64
}

/// Returns the bits of a random operand.
pub fn operand(numbers: NumberKinds, class: Class, random: &mut Random) -> u64 {
    match (class, numbers.system) {
        (Class::Int, _) => integer(numbers, random) as u64,
        (Class::Real, RealSystem::F64) => float(random).to_bits(),
        (Class::Real, RealSystem::F32) => {
            let bits = match random.below(4) {
                0 => random.next() as u32,
                _ => (float(random) as f32).to_bits(),
            };
            bits.into()
        }
        (Class::Real, RealSystem::Fixed(fraction)) => fixed(fraction, random),
    }
}
