//! Laws of activity analysis: a gradient with respect to some inputs equals the components of the full gradient for
//! these inputs.

use reviver_vm::differentiate::gradient;

use super::gradient::{is_of_values_alone, rng};
use super::second_order::cells;
use crate::run::{LONGEST, trace};
use crate::subject::Subject;

/// Maximum number of losses that are tried.
const LOSSES: usize = 3;
/// Maximum number of inputs of a confined gradient.
const NUMBERS: usize = 2;

/// Law: a gradient with respect to a few inputs has the same bits as the components of the full gradient for these
/// inputs.
pub fn confined(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) || !trace(subject, true).end.arrived() {
        return Ok(());
    }
    // Floats get a history. Without a history, rounding could make one of the two reverse sweeps diverge, and not the
    // other: the verification depends on all adjoints.
    let Ok(all) = subject.differentiated(!subject.is_exact(), LONGEST) else { return Ok(()) };
    let (mut rng, cells) = (rng(), cells(&all));
    for _ in 0..LOSSES.min(cells.len()) {
        let loss = rng.pick(&cells).clone();
        let few: Vec<_> = (0..NUMBERS).map(|_| rng.pick(&cells).clone()).collect();
        // If the full gradient traps, there is nothing to compare, though a gradient by fewer inputs may exist.
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
