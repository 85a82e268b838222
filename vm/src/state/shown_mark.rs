//! How far a run has shown its values: steps that are made again show nothing. Knows no value.

use serde::{Deserialize, Serialize};

use crate::travel::{Track, Travel};

/// The furthest steps at which `show` has shown a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownMark {
    /// The number of the step behind the furthest `show` of a run forward.
    pub step: i64,
    /// The same of the rules that a reverse sweep calls, by the number of steps in rules, which falls there.
    pub rule_step: i64,
}

impl ShownMark {
    /// Of a run that shows nothing.
    pub const SILENT: ShownMark = ShownMark { step: i64::MAX, rule_step: i64::MIN };

    /// The further of two marks, in each direction.
    #[must_use]
    pub fn further(self, other: ShownMark) -> ShownMark {
        ShownMark { step: self.step.max(other.step), rule_step: self.rule_step.min(other.rule_step) }
    }

    /// The mark for a state file. A silent run has shown nothing, so a run that goes on from the file begins with no mark.
    #[must_use]
    pub fn without_silence(self) -> ShownMark {
        let ShownMark { step, rule_step } = ShownMark::SILENT;
        ShownMark {
            step: if self.step == step { 0 } else { self.step },
            rule_step: if self.rule_step == rule_step { 0 } else { self.rule_step },
        }
    }

    /// The mark behind the next step of a state, if that step is a `show` and leads further. A run backward shows nothing but in rules, whose
    /// steps only gradient mode makes: to these its direction is the first one.
    pub(crate) fn behind(
        self,
        travel: Travel,
        track: Track,
        (step, rule_step): (i64, i64),
    ) -> Option<ShownMark> {
        match (travel, track) {
            (Travel::Forward, _) => (step >= self.step).then_some(ShownMark { step: step + 1, ..self }),
            (Travel::Backward, Track::Rules) => {
                (rule_step <= self.rule_step).then_some(ShownMark { rule_step: rule_step - 1, ..self })
            }
            (Travel::Backward, Track::Program) => None,
        }
    }
}
