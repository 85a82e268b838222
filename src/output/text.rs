//! Text output of a run.

use std::fmt::Write as _;
use std::io::{self, Write};

use reviver_vm::Travel;
use reviver_vm::digest::state_digest;

use super::account::bits;
use super::json_values::JsonCells;
use super::{RunOutput, erased, result_cells, resulting_tape, state_bytes, strategy, uses_tape};
use crate::failure::counted;
use crate::run_to_end::{Ending, Report, RoundTrip};

pub fn render(report: &Report, form: RunOutput, out: &mut dyn Write) -> io::Result<()> {
    if matches!(report.ending, Ending::Arrived) {
        results(report, form.tape, out)?;
    }
    if let Some(trip) = &report.round_trip {
        round_trip(report, trip, out)?;
    }
    strategy(report, form.stats).text(out)?;
    if form.stats {
        statistics(report, out)?;
    }
    if let Some(account) = &report.account {
        account.text(out)?;
    }
    if !report.level.is_checked() {
        writeln!(out, "unchecked: ancilla and join checks were skipped")?;
    }
    Ok(())
}

fn results(report: &Report, with_tape: bool, out: &mut dyn Write) -> io::Result<()> {
    let cells = |cell| JsonCells::of(&report.program, report.state(), cell);
    for cell in result_cells(report) {
        writeln!(out, "{} = {}", cell.1.name, cells(cell))?;
    }
    if with_tape && uses_tape(report) {
        writeln!(out, "tape = {}", resulting_tape(report))?;
    }
    if report.travel == Travel::Forward {
        for cell in report.program.declared_garbage() {
            writeln!(out, "garbage {} = {}", cell.1.name, cells(cell))?;
        }
    }
    Ok(())
}

fn round_trip(report: &Report, trip: &RoundTrip, out: &mut dyn Write) -> io::Result<()> {
    let quality = match (&trip.ending, trip.restored, trip.bit_exact) {
        (Ending::Limited | Ending::Interrupted(_), ..) => "unknown, because the backward run was stopped",
        (_, true, true) => "yes, bit for bit",
        (_, true, false) => "yes, within the tolerance",
        (_, false, _) => "NO",
    };
    writeln!(out, "restored: {quality}")?;
    if let Some(drift) = &trip.drift {
        let ulps = drift.ulps.map(|ulps| format!(" ({ulps:.1} ulps)")).unwrap_or_default();
        writeln!(out, "largest drift: {:e} in {}{ulps}", drift.absolute, drift.cell)?;
    }
    let [first, second] = match report.travel {
        Travel::Forward => ["forward", "backward"],
        Travel::Backward => ["backward", "forward"],
    };
    writeln!(
        out,
        "steps: {} {first}, {} {second}, history: {}, erased: {}",
        report.steps,
        trip.steps,
        counted(report.history_bytes, "byte"),
        bits(erased(report))
    )?;
    let erasures = report.program.module().code.iter().filter(|i| !i.update.is_reversible()).count();
    if erasures > 0 {
        writeln!(out, "not reversible: {}", counted(erasures, "erasure"))?;
    }
    Ok(())
}

fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let seconds = report.elapsed.as_secs_f64();
    let all = report.steps + report.round_trip.as_ref().map_or(0, |trip| trip.steps);
    if report.round_trip.is_none() {
        writeln!(out, "steps: {all}")?;
        writeln!(out, "history: {}", counted(report.history_bytes, "byte"))?;
        writeln!(out, "erased: {}", bits(erased(report)))?;
    }
    let rate = all as f64 / seconds.max(1e-9) / 1e6;
    writeln!(out, "time: {seconds:.3} s, {rate:.1} million steps a second")?;
    writeln!(out, "state: {} bytes", state_bytes(report.state()))?;
    if report.machine.thread_bytes() > 0 {
        let bytes = counted(report.machine.thread_bytes(), "byte");
        writeln!(out, "threads: {bytes} for their copies of the state")?;
    }
    match report.level.is_checked() {
        true => {
            writeln!(out, "discarded within the tolerance: {}", bits(report.state().counters.discarded_bits))?
        }
        false => writeln!(out, "discarded within the tolerance: not counted")?,
    }
    writeln!(out, "digest: {}", state_digest(report.state()))
}

/// Lists cells that violate the rules at the end of a run, for standard error.
pub fn garbage(report: &Report) -> String {
    let mut text = String::from(match report.travel {
        Travel::Forward => "garbage: values that must end as they began, but don't:\n",
        Travel::Backward => "garbage: cells that must have their initial value, but don't:\n",
    });
    for garbage in &report.garbage {
        for line in garbage.lines() {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(cure) = &garbage.cure {
            let _ = writeln!(text, "    = help: {cure}");
        }
    }
    text
}
