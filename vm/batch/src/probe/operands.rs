//! Operand pairs for the probe: edge cases of arithmetic, and pseudorandom pairs. This module is independent of the
//! tested expressions.

/// The number of pseudorandom pairs, in addition to all pairs of edge cases.
const BY_CHANCE: usize = 3000;

/// A pseudorandom generator with a fixed seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Returns all pairs that can be formed from the edge cases.
fn pairs_of<T: Copy>(edges: &[T]) -> Vec<(T, T)> {
    edges.iter().flat_map(|a| edges.iter().map(|b| (*a, *b))).collect()
}

macro_rules! of_floats {
    ($name:ident, $float:ident, $bits:ident, $mantissa:expr, $bias:expr) => {
        /// Returns operand pairs: edge cases and pseudorandom ones. Edge cases are both zeros, subnormal and smallest
        /// normal numbers, neighbours of 1 and of the largest number, infinities, and NaN.
        pub(super) fn $name() -> Vec<($float, $float)> {
            let tiny = $float::from_bits(1);
            let positive = [
                0.0,
                tiny,
                tiny * 3.0,
                $float::MIN_POSITIVE - tiny,
                $float::MIN_POSITIVE,
                1.5 * $float::MIN_POSITIVE,
                $float::EPSILON / 2.0,
                $float::EPSILON,
                1.0 / 3.0,
                0.1,
                1.0 - $float::EPSILON / 2.0,
                1.0,
                1.0 + $float::EPSILON,
                2.0,
                3.0,
                1e10,
                1.0 / $float::EPSILON,
                $float::MAX / 2.0,
                $float::MAX,
                $float::INFINITY,
                $float::NAN,
            ];
            let edges: Vec<$float> = positive.iter().flat_map(|edge| [*edge, -*edge]).collect();
            let mut chance = Chance(1);
            // Two of three pairs consist of numbers with similar magnitudes, so that sums are rounded. The others have
            // random bits.
            let near = |bits: u64| {
                let exponent = $bias - 20 + (bits >> 48) % 40;
                let bits = (bits as $bits) & ((1 << $mantissa) - 1) | (exponent as $bits) << $mantissa;
                $float::from_bits(bits)
            };
            let mut all = pairs_of(&edges);
            for number in 0..BY_CHANCE {
                let (a, b) = (chance.next(), chance.next());
                let is_near = number % 3 > 0;
                let of = |bits: u64| if is_near { near(bits) } else { $float::from_bits(bits as $bits) };
                all.push((of(a), if number % 2 == 0 { of(b) } else { -of(b) }));
            }
            all
        }
    };
}

of_floats!(of_f64, f64, u64, 52, 1023);
of_floats!(of_f32, f32, u32, 23, 127);

/// Returns operand pairs: edge cases and pseudorandom ones. Edge cases are numbers near 0, near the smallest and
/// largest integers, and near the limits of 32 bits.
pub(super) fn of_i64() -> Vec<(i64, i64)> {
    let wide = 1_i64 << 32;
    let edges = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        63,
        64,
        65,
        -64,
        255,
        i64::MAX,
        i64::MIN,
        i64::MAX - 1,
        i64::MIN + 1,
        wide,
        wide - 1,
        wide + 1,
        -wide,
        1 << 31,
        -(1 << 31),
        1 << 53,
        0x5555_5555_5555_5555,
        -0x1234_5678_9abc_def0,
    ];
    let mut chance = Chance(2);
    let mut all = pairs_of(&edges);
    for _ in 0..BY_CHANCE {
        let (a, b, less) = (chance.next(), chance.next(), chance.next() % 64);
        all.push((a as i64, (b as i64) >> less));
    }
    all
}
