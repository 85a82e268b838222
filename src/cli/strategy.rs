//! How a way back finds what its steps lost, and in how much memory.

use clap::Args;
use reviver_vm::strategy::{Retention, Strategy};

use super::counts::count;

/// A strategy and its memory.
#[derive(Debug, Args)]
pub struct RetainedOptions {
    /// How the way back finds what its steps lost, each time to the last bit: from a history of that (`reverse`), from a
    /// history of all that steps changed (`tape`), by making steps again from states that were kept (`checkpoint`, or
    /// `checkpoint=SLOTS` for so many states, that of the start included; `checkpoint=SLOTS:STEPS` for so many steps between
    /// two of them at least), or from a history as long as that fits into the memory and then from states (`auto`)
    #[arg(long, value_name = "STRATEGY", value_parser = Strategy::parse)]
    pub strategy: Option<Strategy>,
    /// How many bytes may be taken to go back: 64K, 1M, 1G, … Without `--strategy` this asks for `auto`, which takes 1G at most
    /// unless this says otherwise
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub memory: Option<u64>,
}

/// The same, and whether its plan is asked for instead of a run.
#[derive(Debug, Args)]
pub struct StrategyOptions {
    #[command(flatten)]
    pub retained: RetainedOptions,
    /// Run nothing: print what the strategy would do on a way of so many steps, each of which loses something
    #[arg(long, value_name = "STEPS", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub plan: Option<u64>,
}

impl RetainedOptions {
    /// What is asked for, if anything is.
    pub fn retention(&self) -> Option<Retention> {
        let (strategy, memory) = (self.strategy, self.memory);
        let strategy = strategy.or(memory.map(|_| Strategy::Auto))?;
        Some(Retention { strategy, memory })
    }
}

impl StrategyOptions {
    /// What is asked for, if anything is.
    pub fn retention(&self) -> Option<Retention> {
        self.retained.retention()
    }
}

/// `100`, `64K`, `64M`, `1G`: powers of 1024.
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
