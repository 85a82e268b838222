//! The processor's floats: the implementation of the elementary functions' operations that the interpreter
//! uses.

use super::format::{Double, Single};
use super::ops::FloatOps;

/// Operations on f64, computed immediately.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeDouble;

/// Operations on f32, computed immediately.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeSingle;

macro_rules! native {
    ($Name:ident, $Format:ident, $float:ty, $word:ty, $unsigned:ty, $twice:ty) => {
        impl FloatOps for $Name {
            type Format = $Format;
            type Float = $float;
            type Word = $word;
            type Flag = bool;

            #[inline(always)]
            fn float(&self, value: f64) -> $float {
                value as $float
            }
            #[inline(always)]
            fn word(&self, value: i64) -> $word {
                value as $word
            }
            #[inline(always)]
            fn add(&self, a: $float, b: $float) -> $float {
                a + b
            }
            #[inline(always)]
            fn sub(&self, a: $float, b: $float) -> $float {
                a - b
            }
            #[inline(always)]
            fn mul(&self, a: $float, b: $float) -> $float {
                a * b
            }
            #[inline(always)]
            fn div(&self, a: $float, b: $float) -> $float {
                a / b
            }
            #[inline(always)]
            fn sqrt(&self, a: $float) -> $float {
                a.sqrt()
            }
            #[inline(always)]
            fn bits(&self, a: $float) -> $word {
                a.to_bits() as $word
            }
            #[inline(always)]
            fn of_bits(&self, a: $word) -> $float {
                <$float>::from_bits(a as $unsigned)
            }
            #[inline(always)]
            fn whole(&self, a: $float) -> $word {
                a as $word
            }
            #[inline(always)]
            fn of_word(&self, a: $word) -> $float {
                a as $float
            }
            #[inline(always)]
            fn word_add(&self, a: $word, b: $word) -> $word {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn word_sub(&self, a: $word, b: $word) -> $word {
                a.wrapping_sub(b)
            }
            #[inline(always)]
            fn word_mul(&self, a: $word, b: $word) -> $word {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn word_mul_upper(&self, a: $word, b: $word) -> $word {
                let product = <$twice>::from(a as $unsigned) * <$twice>::from(b as $unsigned);
                (product >> <$unsigned>::BITS) as $word
            }
            #[inline(always)]
            fn word_and(&self, a: $word, b: $word) -> $word {
                a & b
            }
            #[inline(always)]
            fn word_or(&self, a: $word, b: $word) -> $word {
                a | b
            }
            #[inline(always)]
            fn word_xor(&self, a: $word, b: $word) -> $word {
                a ^ b
            }
            #[inline(always)]
            fn word_shl(&self, a: $word, amount: $word) -> $word {
                a.wrapping_shl(amount as u32)
            }
            #[inline(always)]
            fn word_shr(&self, a: $word, amount: $word) -> $word {
                (a as $unsigned).wrapping_shr(amount as u32) as $word
            }
            #[inline(always)]
            fn word_sar(&self, a: $word, amount: $word) -> $word {
                a.wrapping_shr(amount as u32)
            }
            #[inline(always)]
            fn lt(&self, a: $float, b: $float) -> bool {
                a < b
            }
            #[inline(always)]
            fn le(&self, a: $float, b: $float) -> bool {
                a <= b
            }
            #[inline(always)]
            fn eq(&self, a: $float, b: $float) -> bool {
                a == b
            }
            #[inline(always)]
            fn word_lt(&self, a: $word, b: $word) -> bool {
                a < b
            }
            #[inline(always)]
            fn word_eq(&self, a: $word, b: $word) -> bool {
                a == b
            }
            #[inline(always)]
            fn both(&self, a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn either(&self, a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn not(&self, a: bool) -> bool {
                !a
            }
            #[inline(always)]
            fn select(&self, flag: bool, yes: $float, no: $float) -> $float {
                if flag { yes } else { no }
            }
            #[inline(always)]
            fn word_select(&self, flag: bool, yes: $word, no: $word) -> $word {
                if flag { yes } else { no }
            }
            #[inline(always)]
            fn pick<const N: usize>(
                &self,
                flag: bool,
                yes: impl FnOnce() -> [$float; N],
                no: impl FnOnce() -> [$float; N],
            ) -> [$float; N] {
                if flag { yes() } else { no() }
            }
            #[inline(always)]
            fn lookup(&self, table: &'static [i64], index: $word) -> $word {
                table[index as usize & (table.len() - 1)] as $word
            }
        }
    };
}

native!(NativeDouble, Double, f64, i64, u64, u128);
native!(NativeSingle, Single, f32, i32, u32, u64);
