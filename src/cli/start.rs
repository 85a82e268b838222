//! Options that commands share: the program, its number systems, its inputs, and the engine that runs it.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reviver::{CheckLevel, CompileOptions, EngineChoice, RealChoice};
use reviver_isa::module::Word;
use reviver_vm::notation::Notation;

use super::counts::{count, threads};

/// Values that replace constants of the text.
#[derive(Debug, Default, Args)]
pub struct Constants {
    /// Assemble the text with another value of a `.const` (`N=1000`), or of several (`N=1000,dt=0.5`)
    #[arg(long = "const", value_name = "NAME=VALUE")]
    pub constants: Vec<String>,
}

/// A program with its inputs.
#[derive(Debug, Args)]
pub struct Given {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    /// Set a cell (`n=10`), several (`a=55,b=89`), an array (`A=3,1,2`; one value fills every cell), or an array from a
    /// file (`A=@values.csv`). In the file, a matrix is stored row by row, and a vector as one row or one column
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Set the tape that the program reads: values (`1,2,3`), or a file of values (`-` for standard input). In a file,
    /// commas, semicolons, tabs, blanks or line ends separate the values
    #[arg(long, value_name = "FILE|-|VALUES", allow_hyphen_values = true)]
    pub tape: Option<String>,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub numbers: OtherNumbers,
}

/// Number systems that replace those of the program.
#[derive(Debug, Args)]
pub struct OtherNumbers {
    /// Run with another number system: f64, f32, fixed, or fixed:BITS
    #[arg(long, value_name = "SYSTEM", value_parser = RealChoice::from_str)]
    pub real: Option<RealChoice>,
    /// Run with integers of another width: 8, 16, 32 or 64 bits
    #[arg(long, value_name = "BITS", value_parser = parse_word)]
    pub word: Option<Word>,
}

/// A program at its start, and the options of its run.
#[derive(Debug, Args)]
pub struct Start {
    #[command(flatten)]
    pub given: Given,
    /// Keep the bits that float steps lose, so that the backward run is bit for bit exact
    #[arg(long)]
    pub exact: bool,
    /// Stop after N steps in each direction, with exit code 5
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    /// Set the engine: the interpreter (`interp`), native code from the first step on (`jit`), or the interpreter until
    /// a run is long and another thread has compiled native code (`auto`). The results don't depend on the engine. With
    /// `--exact`, the interpreter is always used
    #[arg(long, value_name = "ENGINE", default_value_t, value_parser = engines())]
    pub engine: EngineChoice,
    /// Execute tasks (`par`) on at most N threads, from 1 to 1024 [default: one for each core]. The results don't
    /// depend on N. If the system can't start a thread, the other threads execute its tasks
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<NonZeroU16>,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print integers as bit patterns in base 16 (in JSON as strings, `"0xff"`)
    #[arg(long, conflicts_with = "unsigned")]
    pub hex: bool,
    /// Print and read integers without a sign: -1 in 8 bits is 255
    #[arg(long)]
    pub unsigned: bool,
}

impl Start {
    /// Returns the engine and the check level.
    pub fn compiled(&self) -> CompileOptions {
        CompileOptions { engine: self.engine, level: self.checking.level() }
    }

    /// Returns the number of threads that execute tasks.
    pub fn threads(&self) -> u32 {
        let cores = || thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        self.threads.map_or_else(cores, |threads| threads.get().into())
    }

    /// Returns the notation of integers.
    pub fn notation(&self) -> Notation {
        notation(self.hex, self.unsigned)
    }
}

/// Returns the notation that `--hex` and `--unsigned` select.
pub fn notation(hex: bool, unsigned: bool) -> Notation {
    match (hex, unsigned) {
        (true, _) => Notation::Hexadecimal,
        (_, true) => Notation::Unsigned,
        _ => Notation::Signed,
    }
}

/// The check level of native code.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct LevelOption {
    /// Skip vacancy, join and reverse-sweep checks in native code (faster; mistakes in programs aren't detected).
    /// Native code then also saves and restores cells instead of undoing `compute`, if both give the same values.
    /// Assertions, indices, divisions and non-finite numbers are still checked. The interpreter checks everything
    #[arg(long)]
    pub unchecked: bool,
}

impl LevelOption {
    pub fn level(self) -> CheckLevel {
        if self.unchecked { CheckLevel::Unchecked } else { CheckLevel::Checked }
    }
}

/// Returns the parser of `--engine`.
pub(super) fn engines() -> impl TypedValueParser<Value = EngineChoice> {
    let names = PossibleValuesParser::new(EngineChoice::ALL.map(EngineChoice::name));
    names.try_map(|name| EngineChoice::from_name(&name).ok_or("there is no such engine"))
}

fn parse_word(text: &str) -> Result<Word, String> {
    let bits = text.parse().ok().and_then(Word::from_bits);
    bits.ok_or_else(|| "the widths are 8, 16, 32 and 64".into())
}
