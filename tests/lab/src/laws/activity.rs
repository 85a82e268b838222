//! Laws of activity: what isn't differentiated with respect to changes no derivative by what is.

use reviver_vm::differentiate::gradient;

use super::gradient::{is_of_values_alone, rng};
use super::second_order::cells;
use crate::run::{LONGEST, trace};
use crate::subject::Subject;

/// Losses tried, and numbers that each is differentiated with respect to.
const LOSSES: usize = 3;
const NUMBERS: usize = 2;

/// A gradient with respect to a few numbers has the bits of the one with respect to all.
pub fn confined(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) || !trace(subject, true).end.arrived() {
        return Ok(());
    }
    // Without a history a way back in floats may be made again, which depends on all adjoints.
    let Ok(all) = subject.differentiated(!subject.is_exact(), LONGEST) else { return Ok(()) };
    let (mut rng, cells) = (rng(), cells(&all));
    for _ in 0..LOSSES.min(cells.len()) {
        let loss = rng.pick(&cells).clone();
        let few: Vec<_> = (0..NUMBERS).map(|_| rng.pick(&cells).clone()).collect();
        // A run that traps has no gradient; with respect to fewer numbers it may have one.
        let Ok(found) = gradient(&all, &loss) else { continue };
        let confined = all.prepared(std::slice::from_ref(&loss), &few, false);
        let alone = gradient(&confined, &loss).map_err(|error| format!("by a few numbers alone: {error}"))?;
        let bits = |components: Vec<f64>| components.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let [found, alone] =
            [&found, &alone].map(|gradient| all.components(&gradient.adjoints, 0, &few).map(bits));
        if found != alone {
            return Err(format!("the gradient of {} by {few:?} alone differs", all.name(&loss)));
        }
    }
    Ok(())
}
