//! The law that ties values down: whatever the machine computes, an independent oracle computes it
//! too. The other laws would hold for a machine that adds wrongly and subtracts wrongly alike.

use reviver_oracle::{Case, Inputs};

use crate::run::LONGEST;
use crate::subject::Subject;

/// Both runs from both ends agree in all values and in the kind of trap.
pub fn agrees(subject: &Subject) -> Result<(), String> {
    let inputs = Inputs { values: &[], tape: &subject.tape_texts() };
    Case { fuel: LONGEST, ..Case::of(&subject.text).with(inputs) }.compare().map(|_| ())
}
