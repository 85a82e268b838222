//! SSA functions as text, for compiler developers. This module is independent of the meaning of operations.

use std::fmt;

use crate::function::{Jump, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaValue};

impl fmt::Display for SsaValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}(", self.to)?;
        for (n, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if n == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for SsaEnd {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SsaEnd::Jump(jump) => write!(f, "go {jump}"),
            SsaEnd::Branch { condition, yes, no } => write!(f, "if {condition} go {yes} else {no}"),
            SsaEnd::Safepoint { steps, skipped: None, next, stop } => {
                write!(f, "go {next}, or {stop} if fewer than {steps} steps are left")
            }
            SsaEnd::Safepoint { steps, skipped: Some(skipped), next, stop } => {
                write!(f, "skip {skipped} steps, go {next}, or {stop} if fewer than {steps} more are left")
            }
            SsaEnd::Exit { exit } => write!(f, "exit {exit}"),
        }
    }
}

/// Writes one line for each operation: its value, its kind and its operands.
impl fmt::Display for SsaFunction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, block) in self.blocks.iter().enumerate() {
            write!(f, "{number}(")?;
            block.parameters.iter().try_for_each(|parameter| write!(f, " {parameter}"))?;
            writeln!(f, " )")?;
            for &value in &block.ops {
                let Some(op) = self.op(value) else { continue };
                let is_given = op.kind.facts().result.is_some();
                write!(f, "    ")?;
                if is_given {
                    write!(f, "{value} = ")?;
                }
                match op.kind {
                    OpKind::Real(bits) => write!(f, "Real({})", f64::from_bits(bits))?,
                    kind => write!(f, "{kind:?}")?,
                }
                op.operands.iter().try_for_each(|operand| write!(f, " {operand}"))?;
                op.guard.iter().try_for_each(|guard| write!(f, " where {guard}"))?;
                writeln!(f)?;
            }
            writeln!(f, "    {} steps, {} calls; {}", block.steps, block.calls, block.end)?;
        }
        Ok(())
    }
}
