//! Random inputs. A seed gives the same numbers on every platform and in every later version, so that failures are
//! reproducible. This module doesn't depend on programs.

use reviver_isa::instruction::Class;
use reviver_isa::module::Word;

use crate::grammar::DrawnInput;

/// SplitMix64 generator of random numbers: a counter whose values are mixed by a bijection.
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    /// Returns the next 64 random bits.
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number within the range of an input, as text. Returns `None` for an integer if the
    /// bounds aren't integers.
    pub fn number(&mut self, class: Class, input: &DrawnInput) -> Option<String> {
        match class {
            Class::Int => input.integers.map(|range| self.integer(range).to_string()),
            Class::Real => Some(format!("{:?}", self.real(input.from, input.to))),
        }
    }

    /// Returns a random integer in `from..to`. The integer is a remainder of 128 random bits, so its bias is
    /// negligible.
    fn integer(&mut self, (from, to): (i128, i128)) -> i128 {
        let random = u128::from(self.bits()) << 64 | u128::from(self.bits());
        let span = to.wrapping_sub(from) as u128;
        from.wrapping_add((random % span.max(1)) as i128)
    }

    /// Returns a random number in `from..to`, one of 2⁵³ equidistant ones.
    fn real(&mut self, from: f64, to: f64) -> f64 {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        let part = (self.bits() >> 11) as f64 * UNIT;
        let drawn = from + (to - from) * part;
        if drawn < to { drawn } else { from }
    }
}

/// Returns true if every number of the range fits into integers of this width.
pub(crate) fn fits((from, to): (i128, i128), word: Word) -> bool {
    let range = word.range();
    from >= i128::from(*range.start()) && to - 1 <= i128::from(*range.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(from: f64, to: f64, integers: Option<(i128, i128)>) -> DrawnInput {
        DrawnInput { name: "n".into(), from, to, integers }
    }

    #[test]
    fn a_seed_determines_its_numbers() {
        let mut draws = Draws::new(7);
        let wide = input(-5.0, 5.0, Some((-5, 5)));
        let drawn: Vec<String> = (0..8).filter_map(|_| draws.number(Class::Int, &wide)).collect();
        assert_eq!(drawn.join(" "), "1 4 4 -5 0 -1 -1 -5");
        assert_eq!(draws.number(Class::Real, &wide).as_deref(), Some("3.79613697627817"));
    }

    #[test]
    fn every_number_of_a_range_is_drawn_and_no_other() {
        let mut draws = Draws::new(1);
        let mut seen = [0u32; 10];
        for _ in 0..1000 {
            let drawn: i64 =
                draws.number(Class::Int, &input(-5.0, 5.0, Some((-5, 5)))).unwrap().parse().unwrap();
            seen[usize::try_from(drawn + 5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&count| (60..150).contains(&count)), "{seen:?}");
        let whole = (i128::from(i64::MIN), i128::from(i64::MAX) + 1);
        let drawn = draws.number(Class::Int, &input(-1e30, 1e30, Some(whole))).unwrap();
        assert!(drawn.parse::<i64>().is_ok());
        assert_eq!(draws.number(Class::Int, &input(0.5, 1.5, None)), None);
    }

    #[test]
    fn ranges_are_compared_with_the_word() {
        assert!(fits((-128, 128), Word::W8) && !fits((-128, 129), Word::W8) && !fits((-129, 0), Word::W8));
    }
}
