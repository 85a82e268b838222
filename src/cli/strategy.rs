//! Options about the history of a backward run, and its memory.

use clap::Args;
use reviver_vm::strategy::{Retention, Strategy};

use super::counts::count;

/// A strategy and its memory bound.
#[derive(Debug, Args)]
pub struct RetainedOptions {
    /// Set how a backward run recovers lost bits: from a history of these bits (`reverse`), from a history of all
    /// changes (`tape`), or by repeating steps from kept states (`checkpoint`). `auto` uses a history of these bits,
    /// and if the history exceeds the memory limit, kept states. `checkpoint=N` keeps N states, including the initial
    /// state; `checkpoint=N:STEPS` keeps them at least STEPS steps apart. All strategies give the same results, bit for
    /// bit
    #[arg(long, value_name = "STRATEGY", value_parser = Strategy::parse)]
    pub strategy: Option<Strategy>,
    /// Limit the memory for running backward, in bytes: 64K, 1M, 1G, … [default with `auto`: 1G]. Without `--strategy`,
    /// this option selects `auto`
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub memory: Option<u64>,
}

/// A strategy, and the option that prints its plan instead of running.
#[derive(Debug, Args)]
pub struct StrategyOptions {
    #[command(flatten)]
    pub retained: RetainedOptions,
    /// Print the strategy's plan for a run of STEPS steps that all lose bits, without running the program
    #[arg(long, value_name = "STEPS", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub plan: Option<u64>,
}

impl RetainedOptions {
    /// Returns the requested strategy and memory; `None` if neither is given.
    pub fn retention(&self) -> Option<Retention> {
        let (strategy, memory) = (self.strategy, self.memory);
        let strategy = strategy.or(memory.map(|_| Strategy::Auto))?;
        Some(Retention { strategy, memory })
    }
}

impl StrategyOptions {
    /// Returns the requested strategy and memory; `None` if neither is given.
    pub fn retention(&self) -> Option<Retention> {
        self.retained.retention()
    }
}

/// Parses a number of bytes: `100`, `64K`, `64M`, `1G`, in powers of 1024.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let count = digits.parse().ok().and_then(|count: u64| count.checked_mul(1 << shift));
    count.ok_or_else(|| "a number of bytes is expected, such as 1000, 64K, 64M or 1G".into())
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("0"), Ok(0));
        assert_eq!(parse_bytes("3k"), Ok(3 << 10));
        assert_eq!(parse_bytes("64M"), Ok(64 << 20));
        assert_eq!(parse_bytes("1G"), Ok(1 << 30));
        for text in ["", "M", "-1", "1.5G", "1T", "99999999999G"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
