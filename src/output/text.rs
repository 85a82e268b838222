//! A run for people.

use std::fmt::Write as _;

use reviver_isa::module::Shape;
use reviver_vm::digest::state_digest;
use reviver_vm::garbage::Garbage;
use reviver_vm::values::Value;
use reviver_vm::{Program, Travel};

use super::{erased, result_cells, resulting_tape, state_bytes, uses_tape};
use crate::cli::Run;
use crate::failure::counted;
use crate::journey::{Ending, Report, RoundTrip};

pub fn render(report: &Report, options: &Run, with_tape: bool) -> String {
    let mut text = String::new();
    if matches!(report.ending, Ending::Arrived) {
        results(report, with_tape, &mut text);
    }
    if let Some(trip) = &report.round_trip {
        round_trip(report, trip, &mut text);
    }
    if options.stats {
        statistics(report, &mut text);
    }
    text
}

fn results(report: &Report, with_tape: bool, text: &mut String) {
    let program = &report.program;
    for (n, global) in result_cells(report) {
        let values = program.read(report.state(), n);
        let _ = writeln!(text, "{} = {}", global.name, cells_text(program, global.shape, &values));
    }
    if with_tape && uses_tape(report) {
        let _ = writeln!(text, "tape = [{}]", resulting_tape(report).join(", "));
    }
    if report.travel == Travel::Forward {
        for (n, global) in program.declared_garbage() {
            let values = program.read(report.state(), n);
            let _ =
                writeln!(text, "garbage {} = {}", global.name, cells_text(program, global.shape, &values));
        }
    }
}

/// A scalar as it is, a vector in brackets, a matrix as a vector of rows.
pub fn cells_text(program: &Program, shape: Shape, values: &[Value]) -> String {
    let row = |values: &[Value]| {
        let texts: Vec<String> = values.iter().map(|&value| program.text(value)).collect();
        format!("[{}]", texts.join(", "))
    };
    match (shape, values) {
        (Shape::Scalar, [value]) => program.text(*value),
        (Shape::Matrix(_, columns), _) => {
            let rows: Vec<String> = values.chunks(columns as usize).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => row(values),
    }
}

fn round_trip(report: &Report, trip: &RoundTrip, text: &mut String) {
    let quality = match (&trip.ending, trip.restored, trip.bit_exact) {
        (Ending::Limited | Ending::Interrupted(_), ..) => "not known, the way back was stopped",
        (_, true, true) => "yes, bit for bit",
        (_, true, false) => "yes, within the tolerance",
        (_, false, _) => "NO",
    };
    let _ = writeln!(text, "restored: {quality}");
    if let Some(drift) = &trip.drift {
        let ulps = drift.ulps.map(|ulps| format!(" ({ulps:.1} ulps)")).unwrap_or_default();
        let _ = writeln!(text, "largest drift: {:e} in {}{ulps}", drift.absolute, drift.cell);
    }
    let _ = writeln!(
        text,
        "steps: {} there, {} back, history: {} bytes, erased: {} bits",
        report.steps,
        trip.steps,
        report.history_bytes,
        erased(report)
    );
    let erasures = report.program.module().code.iter().filter(|i| !i.update.is_reversible()).count();
    if erasures > 0 {
        let _ = writeln!(text, "not reversible: {}", counted(erasures, "erasure"));
    }
}

fn statistics(report: &Report, text: &mut String) {
    let seconds = report.elapsed.as_secs_f64();
    let all = report.steps + report.round_trip.as_ref().map_or(0, |trip| trip.steps);
    if report.round_trip.is_none() {
        let _ = writeln!(text, "steps: {all}");
        let _ = writeln!(text, "history: {} bytes", report.history_bytes);
        let _ = writeln!(text, "erased: {} bits", erased(report));
    }
    let rate = all as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(text, "time: {seconds:.3} s, {rate:.1} million steps a second");
    let _ = writeln!(text, "state: {} bytes", state_bytes(report.state()));
    let _ = writeln!(text, "discarded within the tolerance: {} bits", report.state().counters.discarded_bits);
    let _ = writeln!(text, "digest: {}", state_digest(report.state()));
}

/// Cells that aren't as they must be, for stderr.
pub fn garbage(report: &Report) -> String {
    let mut text = String::from(match report.travel {
        Travel::Forward => "garbage: what must end as it began, and doesn't:\n",
        Travel::Backward => "garbage: what must be as it is at the beginning, and isn't:\n",
    });
    for line in report.garbage.iter().flat_map(Garbage::lines) {
        let _ = writeln!(text, "  {line}");
    }
    text
}
