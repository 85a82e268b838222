//! From a module's choice of numbers to code that is compiled for them. Knows no program.

/// Runs an expression with the number system for reals that a module has chosen.
macro_rules! with_reals {
    ($system:expr, |$reals:ident| $body:expr) => {
        match $system {
            RealSystem::F64 => {
                let $reals = F64;
                $body
            }
            RealSystem::F32 => {
                let $reals = F32;
                $body
            }
            RealSystem::Fixed(bits) => {
                let $reals = FixedPoint::new(bits);
                $body
            }
        }
    };
}

pub(crate) use with_reals;
