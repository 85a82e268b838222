//! The law that ties values and adjoints down: whatever the machine computes, an independent oracle computes it
//! too. The other laws would hold for a machine that adds wrongly and subtracts wrongly alike.

use reviver_oracle::{Case, Inputs};

use crate::known::known;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Both runs from both ends agree in all values, all adjoints and the kind of trap, whether gradient mode
/// is on from the start or not. Lines that the oracle doesn't know are left out.
pub fn agrees(subject: &Subject) -> Result<(), String> {
    let (text, _) = known(&subject.text);
    for gradient in [false, true] {
        let inputs = Inputs { values: &[], tape: &subject.tape_texts(), gradient };
        let case = Case { fuel: LONGEST, runner: subject.engine.prepare, ..Case::of(&text).with(inputs) };
        case.compare().map_err(|reason| format!("{reason} (gradient mode on: {gradient})"))?;
    }
    Ok(())
}
