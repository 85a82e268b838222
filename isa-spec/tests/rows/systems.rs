//! Tests wrapping and rotating of words against strings of bits, exhaustively at 8 bits.

use reviver_isa::module::Word;
use reviver_isa::number::{Narrow, Wide, Words};

use crate::integers::{bit_string, number};
use crate::numbers::{Random, edge_words};

/// Returns the bits of `a`, rotated up by `amount` places.
fn rotated(a: i64, amount: i64, width: u32) -> i64 {
    let bits = bit_string(a.into(), width);
    let width = i64::from(width);
    let from = |place: i64| bits[(i128::from(place) - i128::from(amount)).rem_euclid(width.into()) as usize];
    number(&(0..width).map(from).collect::<Vec<_>>()) as i64
}

fn check_rotations(words: impl Words, a: i64, amount: i64) {
    let left = rotated(a, amount, words.bits());
    assert_eq!(words.rol(a, amount), left, "rol {a}, {amount} of {} bits", words.bits());
    assert_eq!(words.ror(left, amount), a, "ror {left}, {amount} of {} bits", words.bits());
}

#[test]
fn rotations_move_every_bit_around() {
    for a in -128..=127 {
        (-128..=127).for_each(|amount| check_rotations(Narrow(Word::W8), a, amount));
    }
    let mut random = Random::new();
    for word in Word::ALL {
        let edges = edge_words(word);
        for &a in &edges {
            edges.iter().for_each(|&amount| check_rotations(Narrow(word), a, amount));
        }
        for _ in 0..2000 {
            check_rotations(Narrow(word), random.word(word), random.word(word));
        }
    }
    (0..2000).for_each(|_| check_rotations(Wide, random.word(Word::W64), random.word(Word::W64)));
}

pub fn check_wrapping() {
    let mut random = Random::new();
    for word in Word::ALL {
        for _ in 0..2000 {
            let value = random.word(Word::W64);
            let wrapped = Narrow(word).wrap(value);
            assert_eq!(i128::from(wrapped), number(&bit_string(value.into(), word.bits())));
            assert!(word.range().contains(&wrapped));
        }
    }
    for value in [i64::MIN, -1, 0, i64::MAX] {
        assert_eq!(Wide.wrap(value), value);
    }
}

#[test]
fn wrapping_keeps_the_low_bits() {
    check_wrapping();
}
