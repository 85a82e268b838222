//! The mark of the furthest `show` that has printed a value. Repeated steps up to the mark don't print values again.
//! The mark contains step numbers, and no values.

use serde::{Deserialize, Serialize};

use crate::travel::{Track, Travel};

/// The furthest steps at which `show` has printed a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownMark {
    /// The step number after the furthest `show` of a forward run.
    pub step: i64,
    /// The number of rule steps after the furthest `show` in a derivative rule. Only a reverse sweep executes rules,
    /// and its steps decrease the number of rule steps.
    pub rule_step: i64,
}

impl ShownMark {
    /// The mark of a run that shows nothing.
    pub const SILENT: ShownMark = ShownMark { step: i64::MAX, rule_step: i64::MIN };

    /// Returns the further of two marks, for each direction.
    #[must_use]
    pub fn further(self, other: ShownMark) -> ShownMark {
        ShownMark { step: self.step.max(other.step), rule_step: self.rule_step.min(other.rule_step) }
    }

    /// Returns the mark to store in a state file. The mark of a silent run becomes 0: that run has printed nothing, so a
    /// run that continues from the file prints every value.
    #[must_use]
    pub fn without_silence(self) -> ShownMark {
        let ShownMark { step, rule_step } = ShownMark::SILENT;
        ShownMark {
            step: if self.step == step { 0 } else { self.step },
            rule_step: if self.rule_step == rule_step { 0 } else { self.rule_step },
        }
    }

    /// Returns the mark after the next step if that step is a `show` beyond the mark, otherwise `None`. A backward run
    /// shows only values of derivative rules: only a reverse sweep executes rules, so it is the first run over their
    /// steps.
    pub(crate) fn after(
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
