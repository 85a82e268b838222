//! Sink to which results are written piece by piece: standard output, or a file that appears under its name when it is
//! complete.

use std::io::{self, BufWriter, Stdout, Write};

use reviver_files::GrowingOutput;

use crate::failure::{Failure, Fallible};
use crate::streams;

/// Sink for result files.
pub enum LaneTarget {
    Printed(BufWriter<Stdout>),
    File(GrowingOutput),
}

impl LaneTarget {
    /// Returns the sink of standard output.
    pub fn printed() -> LaneTarget {
        LaneTarget::Printed(BufWriter::with_capacity(1 << 16, io::stdout()))
    }

    /// Converts an error of writing into a failure. The failure names the sink.
    pub fn failed(&self, error: io::Error) -> Failure {
        match self {
            LaneTarget::Printed(_) => streams::unprintable(&error),
            LaneTarget::File(file) => {
                let error = file.failed(error);
                Failure::load(&error).caused_by(&error)
            }
        }
    }

    /// Completes the output. Until this call, a file doesn't exist under its name.
    pub fn finish(self) -> Fallible {
        match self {
            LaneTarget::Printed(mut out) => out.flush().map_err(|error| streams::unprintable(&error)),
            LaneTarget::File(file) => file.finish().map_err(|error| Failure::load(&error).caused_by(&error)),
        }
    }
}

impl Write for LaneTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            LaneTarget::Printed(out) => out.write(bytes),
            LaneTarget::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            LaneTarget::Printed(out) => out.flush(),
            LaneTarget::File(out) => out.flush(),
        }
    }
}
