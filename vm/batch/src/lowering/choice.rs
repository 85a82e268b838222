//! The choice of a lowering: the implementation of 64-bit integers, the protection of float results against
//! rearrangement by the driver, and the implementation of operations on 32-bit floats.

use super::singles::LoweredSingles;
use crate::float_controls::FloatControls;
use crate::valid::WideTypes;

/// The implementation of a shader's 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredIntegers {
    /// The device's own 64-bit integers are used.
    Native,
    /// Each 64-bit integer becomes a pair of 32-bit words.
    Pairs,
}

/// The protection of float arithmetic against rearrangement by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredResults {
    /// Each result has a decoration in SPIR-V that forbids rearrangement. The device must accept SPIR-V unchanged.
    Decorated,
    /// The bits of each result are combined, by an exclusive or, with a word that is 0. The word's value is unknown to
    /// the driver at compile time.
    Opaque,
}

/// The choices that determine how shaders are rewritten for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lowering {
    pub integers: LoweredIntegers,
    pub results: LoweredResults,
    pub singles: LoweredSingles,
    /// The modes for 32-bit floats that the shader requests. Only SPIR-V with decorated results can request modes.
    pub controls: FloatControls,
}

impl Lowering {
    /// Returns the 64-bit types that remain in a rewritten text. `floats` is true if 64-bit floats are allowed.
    pub fn wide(self, floats: bool) -> WideTypes {
        WideTypes { floats, integers: self.integers == LoweredIntegers::Native }
    }

    /// The lowering that changes nothing, for tests.
    #[cfg(test)]
    pub const PLAIN: Lowering = Lowering {
        integers: LoweredIntegers::Native,
        results: LoweredResults::Decorated,
        singles: LoweredSingles::Native,
        controls: FloatControls::NONE,
    };

    /// Returns all possible lowerings.
    pub fn all() -> impl Iterator<Item = Lowering> {
        let with = |integers, results| {
            let of_singles = move |singles| {
                FloatControls::all().map(|controls| Lowering { integers, results, singles, controls })
            };
            LoweredSingles::ALL.into_iter().flat_map(of_singles)
        };
        let all = [LoweredIntegers::Native, LoweredIntegers::Pairs];
        let both =
            |integers| [LoweredResults::Decorated, LoweredResults::Opaque].map(|results| (integers, results));
        all.into_iter().flat_map(both).flat_map(move |(integers, results)| with(integers, results))
    }

    /// Returns this lowering with each other implementation of 32-bit floats, the fastest first, for a device with
    /// inexact operations. If results must be opaque, omits implementations with multiply-adds, because their
    /// intermediate results would also have to be opaque.
    pub fn with_other_singles(self) -> impl Iterator<Item = Lowering> {
        let is_opaque = self.results == LoweredResults::Opaque;
        let fits = move |singles: &LoweredSingles| match singles {
            LoweredSingles::Native => false,
            LoweredSingles::Compared | LoweredSingles::Fused => !is_opaque,
            LoweredSingles::Whole => true,
        };
        LoweredSingles::ALL.into_iter().filter(fits).map(move |singles| Lowering { singles, ..self })
    }

    /// Returns true if this lowering leaves texts unchanged.
    pub fn keeps_texts(self) -> bool {
        self.integers == LoweredIntegers::Native
            && self.results == LoweredResults::Decorated
            && self.singles == LoweredSingles::Native
    }

    /// Describes the lowering for the user, each property as a name and a value.
    pub fn answers(self) -> [(&'static str, &'static str); 4] {
        let integers = match self.integers {
            LoweredIntegers::Native => "i64",
            LoweredIntegers::Pairs => "i64 on pairs of 32-bit words",
        };
        let results = match self.results {
            LoweredResults::Decorated => "decorated, so that the driver can't rearrange them",
            LoweredResults::Opaque => "made opaque, so that the driver can't rearrange them",
        };
        [
            ("integers", integers),
            ("results of floats", results),
            ("operations on f32", self.singles.answer()),
            ("modes of f32", self.controls.answer()),
        ]
    }
}
