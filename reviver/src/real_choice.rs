//! Number systems by name, in place of the one that a program declares.

use std::fmt;
use std::str::FromStr;

use reviver_isa::module::RealSystem;

/// Number system that replaces the declared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealChoice {
    /// The number system with its fraction bits.
    System(RealSystem),
    /// Fixed point with the fraction bits of the program, or with the usual number if the program has floats.
    Fixed,
}

impl RealChoice {
    /// Returns the number system in which a program with the reals `declared` runs.
    pub fn over(self, declared: RealSystem) -> RealSystem {
        match (self, declared) {
            (RealChoice::System(system), _) => system,
            (RealChoice::Fixed, RealSystem::Fixed(bits)) => RealSystem::Fixed(bits),
            (RealChoice::Fixed, _) => RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS),
        }
    }
}

/// Parses a name: `f64`, `f32`, `fixed`, or `fixed:31` for 31 fraction bits.
impl FromStr for RealChoice {
    type Err = NoRealSystem;

    fn from_str(text: &str) -> Result<RealChoice, NoRealSystem> {
        match text {
            "f64" => return Ok(RealChoice::System(RealSystem::F64)),
            "f32" => return Ok(RealChoice::System(RealSystem::F32)),
            "fixed" => return Ok(RealChoice::Fixed),
            _ => {}
        }
        let bits = text.strip_prefix("fixed:").and_then(|bits| bits.parse().ok());
        let bits = bits.filter(|bits| RealSystem::FRACTION_BITS.contains(bits)).ok_or(NoRealSystem)?;
        Ok(RealChoice::System(RealSystem::Fixed(bits)))
    }
}

/// Writes the name that [`RealChoice::from_str`] parses.
impl fmt::Display for RealChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RealChoice::System(RealSystem::Fixed(bits)) => write!(f, "fixed:{bits}"),
            RealChoice::System(system) => system.fmt(f),
            RealChoice::Fixed => f.write_str("fixed"),
        }
    }
}

/// Error for a text that names no number system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number systems are f64, f32, fixed, and fixed:16 to fixed:56")]
pub struct NoRealSystem;
