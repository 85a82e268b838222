//! `reviver build`: translates a program to C text or to a header, or compiles it to a shared library with the system's
//! C compiler.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use reviver_ctext::error::NoText;
use reviver_ctext::text::{CGradient, CText};
use reviver_files::Scratch;

use crate::cli::BuildOptions;
use crate::failure::{Failure, Fallible};
use crate::write::OutputTarget;
use crate::{kinds, load, read, start};

pub fn run(options: &BuildOptions) -> Fallible {
    let module = load::module(&options.file, &options.constants)?;
    let program = start::in_numbers(&options.file, &options.numbers, module)?;
    let stem = options.file.file_stem().filter(|_| options.file != Path::new("-"));
    let stem = stem.map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    let name = options.name.as_deref().unwrap_or(&stem);
    let gradient = match (&options.loss, &options.seed[..]) {
        (Some(loss), _) if options.times => Some(CGradient::Product(loss)),
        (Some(loss), _) => Some(CGradient::Loss(loss)),
        (None, []) => None,
        (None, names) => Some(CGradient::Seeds(names)),
    };
    let text = CText::of(&program, name, gradient, options.checking.level())
        .map_err(|error| refused(options, &error))?;
    let path = options.output.as_deref().unwrap_or(Path::new("-"));
    let kind = match (options.header, options.lib) {
        (true, _) => &kinds::C_HEADER,
        (_, true) => &kinds::LIBRARY,
        (false, false) => &kinds::C_TEXT,
    };
    let target = OutputTarget::new(path, kind, options.force.force)?;
    match (options.header, options.lib) {
        (true, _) => target.write(text.header().as_bytes()),
        (_, true) => target.write(&library(&text.source_of_library())?),
        (false, false) => target.write(text.source().as_bytes()),
    }
}

/// Failure for a program that can't be translated to C.
fn refused(options: &BuildOptions, error: &NoText) -> Failure {
    let is_misuse = matches!(
        error,
        NoText::NoCell { .. } | NoText::NotReal { .. } | NoText::ManyCells { .. } | NoText::Twice { .. }
    );
    let option = if options.seed.is_empty() { "--of" } else { "--seed" };
    let failure = match is_misuse {
        true => Failure::usage(format_args!("{option}: {error}")),
        false => Failure::load(format_args!("{}: {error}", read::shown(&options.file))),
    };
    failure.help(error.cure())
}

/// Arguments of the C compiler; the last one makes the compiler read the text from standard input.
const COMPILED: [&str; 8] = ["-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-shared", "-x", "c", "-"];

/// Compiles C text to the bytes of a shared library.
fn library(source: &str) -> Fallible<Vec<u8>> {
    const FILE: &str = "library";
    let scratch = Scratch::new()
        .map_err(|error| Failure::load(format_args!("can't create a folder for the C compiler: {error}")))?;
    let named = std::env::var("CC").ok().filter(|named| !named.trim().is_empty());
    let named = named.as_deref().unwrap_or("cc");
    // `CC` may contain options after the name, as for `make`.
    let mut words = named.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).args(COMPILED).arg("-o").arg(scratch.path(FILE)).args(["-x", "none", "-lm"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| {
        Failure::load(format_args!("can't run the C compiler `{named}`: {error}")).help(
            "install a C compiler, or name one in the environment variable `CC`; `--c` writes the C text without a compiler",
        )
    })?;
    // If the compiler stops reading early, its standard error says why. So the standard error is reported, and the
    // error of writing the C text isn't.
    let unread = child.stdin.take().map(|mut input| input.write_all(source.as_bytes()));
    let ended = child.wait_with_output();
    let ended = ended
        .map_err(|error| Failure::load(format_args!("can't wait for the C compiler `{named}`: {error}")))?;
    if !ended.status.success() || matches!(unread, Some(Err(_))) {
        let said = String::from_utf8_lossy(&ended.stderr);
        let mut failure =
            Failure::load(format_args!("the C compiler `{named}` refuses the text: {}", ended.status));
        said.lines().take(10).for_each(|line| failure.push_line(&format!("  | {line}")));
        return Err(failure);
    }
    scratch.read(FILE).map_err(|error| {
        Failure::load(format_args!("can't read the library that the C compiler `{named}` wrote: {error}"))
    })
}
