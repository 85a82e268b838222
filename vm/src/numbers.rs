//! Evaluates an expression with the code that is compiled for a module's number system. This file reads no program.

/// Evaluates an expression with the number system that a module has for reals.
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
