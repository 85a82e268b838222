//! Replacement for Arrow support in builds without it: error messages only.

use reviver::batch::plan::LanePlan;

use super::{ArrowForm, LaneReader, LaneTarget, LaneWriter, OpenLanes};
use crate::failure::{Failure, Fallible};

pub fn arrow_reader(_: OpenLanes) -> Fallible<Box<dyn LaneReader>> {
    Err(missing())
}

pub fn arrow_writer(_: LaneTarget, _: ArrowForm, _: &LanePlan) -> Fallible<Box<dyn LaneWriter>> {
    Err(missing())
}

fn missing() -> Failure {
    Failure::usage("this `reviver` was built without Arrow").help(
        "build it from source with the feature `arrow` (`cargo install --path . --features arrow` in the folder of the source); `.csv` and `.npz` need no feature",
    )
}
