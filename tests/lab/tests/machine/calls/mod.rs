//! Laws of calls over random programs, on every engine for calls. A failure prints law, engine, seed and a shrunk
//! program.
//!
//! `REVIVER_CAMPAIGN=2000 cargo test --workspace --test machine calls::` checks that many programs on each engine;
//! `REVIVER_CAMPAIGN=20000..21000` checks the programs of these seeds.

mod library;

use reviver::Device;
use reviver_lab::c_programs::compiler;
use reviver_lab::calls::CallEngine;
use reviver_lab::calls::c_text::CTextCalls;
use reviver_lab::calls::interpreter::InterpretedCalls;
use reviver_lab::calls::verify::verify_laws;
use reviver_lab::campaign::seeds;

use library::{LibraryCalls, LibraryPart};

/// Number of programs for an engine, and lower bounds on the comparisons.
struct Expected {
    /// Number of programs outside of campaigns.
    programs: u64,
    /// Each program is checked by the first law, and by every `each`-th of the other laws.
    each: usize,
    /// Minimum percentage of programs that the engine accepts.
    ready: usize,
    /// Minimum percentage of calls that the engine executes itself, among those that complete without a remark.
    own: usize,
    /// Minimum number of laws that compare at least one call on this engine.
    laws: usize,
}

fn hold(engine: &dyn CallEngine, expected: &Expected) {
    let seeds = seeds(expected.programs);
    let is_large = seeds.end.saturating_sub(seeds.start) >= expected.programs;
    let tally = verify_laws(engine, seeds, expected.each);
    println!("{}: {tally:#?}", engine.name());
    // With few programs, the bounds may not be reached.
    if !is_large {
        return;
    }
    let (due, own) = tally.laws.values().fold((0, 0), |(due, own), law| (due + law.due, own + law.own));
    let compared = tally.laws.values().filter(|law| law.calls > 0).count();
    assert!(
        tally.ready * 100 >= tally.programs * expected.ready,
        "too many programs are refused: {tally:#?}"
    );
    assert!(own * 100 >= due * expected.own && due > 0, "too many calls are answered by others: {tally:#?}");
    assert!(compared >= expected.laws, "laws compare nothing: {tally:#?}");
}

#[test]
fn the_interpreter() {
    hold(&InterpretedCalls, &Expected { programs: 150, each: 1, ready: 100, own: 100, laws: 8 });
}

#[test]
fn native_code() {
    let engine = LibraryCalls { part: LibraryPart::Native, device: Device::cpu_with(1) };
    hold(&engine, &Expected { programs: 70, each: 1, ready: 100, own: 100, laws: 9 });
}

#[test]
fn simd_groups() {
    let engine = LibraryCalls { part: LibraryPart::Groups, device: Device::cpu_with(1) };
    hold(&engine, &Expected { programs: 100, each: 1, ready: 25, own: 60, laws: 5 });
}

#[test]
fn c_text() {
    let Some(compiler) = compiler() else { return };
    let engine = CTextCalls { compiler };
    hold(&engine, &Expected { programs: 32, each: 4, ready: 60, own: 100, laws: 6 });
}

#[test]
fn shaders() {
    let Some(device) = device() else { return };
    let engine = LibraryCalls { part: LibraryPart::Shaders, device };
    hold(&engine, &Expected { programs: 24, each: 4, ready: 30, own: 90, laws: 4 });
}

/// Returns the device whose name contains `REVIVER_DEVICE`. If only `REVIVER_NEEDS_DEVICE` is set, returns the best
/// GPU. If neither variable is set, returns `None`. Panics if there is no such device.
fn device() -> Option<Device> {
    let named = std::env::var("REVIVER_DEVICE").ok();
    if named.is_none() && std::env::var_os("REVIVER_NEEDS_DEVICE").is_none() {
        println!(
            "SKIPPED: no device is named. Set REVIVER_NEEDS_DEVICE=1, or set REVIVER_DEVICE to a part of a device's name."
        );
        return None;
    }
    Some(Device::named(named.as_deref().unwrap_or("gpu")).unwrap_or_else(|error| panic!("{error}")))
}
