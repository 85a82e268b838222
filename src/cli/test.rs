//! Options of `reviver test`, and the limits of programs under test.

use std::path::PathBuf;

use clap::Args;
use reviver::EngineChoice;
use reviver_expectations::settings::TestLimits;

use super::Force;
use super::counts::count;
use super::start::engines;
use super::strategy::parse_bytes;

/// Check programs against the expectations in their headers.
///
/// A header has lines like `;! run n=10 -> a=55`, `;! restored` or `;! same as reference.rasm on 100 random n in
/// 0..1000`. Each program runs forward and backward. A program under test can include files of its folder and of
/// subfolders, and read no other files. docs/test.md explains the lines.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver test programs/fib.rasm
  reviver test programs --junit report.xml
  reviver test 'week3/*.rasm' --max-steps 100000 --json")]
pub struct TestOptions {
    /// `.rasm` texts, folders (every text with expectations in them and in their subfolders), or patterns
    /// (`'week*/*.rasm'`)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Take the expectations from this file instead of the headers
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    #[command(flatten)]
    pub running: TestRunning,
    /// Print only expectations that fail
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Write a report as JUnit XML, for build servers
    #[arg(long, value_name = "OUT")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

/// Engine and limits of programs under test.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TestRunning {
    /// Limit the steps of a run in one direction [default: 200 million; for an exercise 10 million]
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    /// Limit the memory of a run (cells, stacks, tapes, history), in bytes: 64K, 64M, … [default: 1G; for an exercise
    /// 256M]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub memory: Option<u64>,
    /// Set the engine: the interpreter (`interp`), native code (`jit`), or native code once a run is long (`auto`). The
    /// results don't depend on the engine
    #[arg(long, value_name = "ENGINE", default_value_t, value_parser = engines())]
    pub engine: EngineChoice,
}

impl TestRunning {
    /// Returns the limits that the options set. Limits that the options don't set are those of `usual`.
    pub fn limits(&self, usual: TestLimits) -> TestLimits {
        TestLimits {
            max_steps: self.max_steps.unwrap_or(usual.max_steps),
            max_bytes: self.memory.unwrap_or(usual.max_bytes),
            assembly: usual.assembly,
        }
    }
}
