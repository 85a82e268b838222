//! Law of the oracle: the machine computes the same as an independent oracle. Without it, all other laws would hold
//! for a machine with wrong but mutually inverse operations.

use reviver_oracle::{Case, Inputs};

use crate::known::known;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Law: machine and oracle agree on runs from both ends of the program, with gradient mode off and on. They have the
/// same values and adjoints, or traps of the same class. Lines that the oracle doesn't support are left out.
pub fn agrees(subject: &Subject) -> Result<(), String> {
    let (text, _) = known(&subject.text);
    for gradient in [false, true] {
        let inputs = Inputs { values: &[], tape: &subject.tape_texts(), gradient };
        let case = Case { fuel: LONGEST, ..Case::of(&text).with(inputs) };
        let compared = case.expected().and_then(|expected| expected.compare(subject.engine.prepare));
        compared.map_err(|reason| format!("{reason} (gradient mode on: {gradient})"))?;
    }
    Ok(())
}
