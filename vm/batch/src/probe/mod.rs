//! Capability probe of a device. The probe tests whether the device's arithmetic has the same bits as the CPU's, and
//! measures the number of iterations after which the device ends a loop. This module is independent of programs.
//!
//! | module | contents |
//! |---|---|
//! | `questions`, `operands` | the tested expressions, and their operands |
//! | `text` | the shaders of the tests |
//! | `run` | executing the tests, and comparing with the CPU |

mod operands;
mod questions;
mod run;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use crate::info::DeviceInfo;
use crate::lowering::Lowering;

/// Result of the capability probe of a device and its driver. Probing takes about a second on a software device, so a
/// caller may store the result as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// True if 64-bit floats have the same bits as the CPU's; false if the device has none.
    pub f64_is_exact: bool,
    /// True if 32-bit floats have the same bits as the CPU's.
    pub f32_is_exact: bool,
    /// True if 64-bit integers have the same bits as the CPU's.
    pub i64_is_exact: bool,
    /// The number of iterations after which the device silently ends the loops of lanes that execute in lockstep. If
    /// the probe finds no such limit, this number is [`Probe::MOST_ITERATIONS`].
    pub iterations: u32,
    /// The number of lanes that execute in lockstep and share the limit `iterations`.
    pub lanes_together: u32,
    /// The name of the device and the name of its driver.
    of: String,
    /// The lowering with which the shaders of the probe were executed.
    pub(crate) lowering: Lowering,
    /// The tested operations with wrong results. Each has its number type, and a description with one example.
    wrong: Vec<(String, String)>,
}

/// The first line of a probe's text. The version must be incremented if the tested expressions change.
const VERSION: &str = "reviver probe 3";

impl Probe {
    /// The largest number of loop iterations that the probe tests.
    pub const MOST_ITERATIONS: u32 = 100_000;

    /// Returns the probe of a device that isn't tested yet, in which no number type is exact. Such a probe suffices for
    /// executing the probe's own shaders.
    pub(crate) fn untested(info: &DeviceInfo, lowering: Lowering) -> Self {
        Self {
            f64_is_exact: false,
            f32_is_exact: false,
            i64_is_exact: false,
            iterations: Self::MOST_ITERATIONS,
            lanes_together: info.lanes_together,
            of: info.with_driver(),
            lowering,
            wrong: Vec::new(),
        }
    }

    /// Returns true if the probe was made with this device and driver, and with a lowering that suits the device.
    #[must_use]
    pub fn is_of(&self, info: &DeviceInfo) -> bool {
        let own = info.lowering();
        self.of == info.with_driver() && Lowering { singles: own.singles, ..self.lowering } == own
    }

    /// Returns the maximum number of counted iterations of a lane in one dispatch. `uncounted` is the maximum number
    /// of uncounted iterations between two counted ones. Returns `None` if not even one counted iteration is
    /// possible.
    pub(crate) fn iterations_of_a_lane(&self, uncounted: u32) -> Option<u32> {
        if self.iterations >= Self::MOST_ITERATIONS {
            return Some(Self::MOST_ITERATIONS);
        }
        // A device may execute the lanes of a group one after another, and add up the iterations of all these lanes.
        let counted = self.iterations / uncounted.saturating_add(1);
        let of_a_lane = counted.saturating_sub(1) / self.lanes_together.max(1);
        if of_a_lane == 0 { None } else { Some(of_a_lane) }
    }

    /// Describes all wrong results of a number type (`f64`, `f32`, `i64`).
    pub(crate) fn wrong_of(&self, numbers: &str) -> String {
        let of_these = self.wrong.iter().filter(|(of, _)| of == numbers);
        let all: Vec<&str> = of_these.map(|(_, what)| what.as_str()).collect();
        format!("{numbers}: {}", all.join("; "))
    }

    /// Describes the first wrong result of a number type. If there are other wrong results, their number is appended.
    pub(crate) fn first_wrong_of(&self, numbers: &str) -> String {
        let mut of_these = self.wrong.iter().filter(|(of, _)| of == numbers);
        let first = of_these.next().map_or("", |(_, what)| what.as_str());
        match of_these.count() {
            0 => format!("{numbers}: {first}"),
            others => format!("{numbers}: {first}; `reviver devices` lists {others} more"),
        }
    }

    /// Lists the results for the user, each as a name and a value.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, String)> {
        let exact = [("f64", self.f64_is_exact), ("f32", self.f32_is_exact), ("i64", self.i64_is_exact)];
        let mut all: Vec<(String, String)> = exact
            .into_iter()
            .map(|(numbers, is_exact)| (format!("{numbers} is exact"), self.exactness(numbers, is_exact)))
            .collect();
        let iterations = match self.iterations {
            Self::MOST_ITERATIONS.. => format!("at least {}", Self::MOST_ITERATIONS),
            iterations => {
                format!("{iterations}, shared by {} lanes; longer loops are resumed", self.lanes_together)
            }
        };
        all.push(("rounds of loops".to_owned(), iterations));
        all
    }

    fn exactness(&self, numbers: &str, is_exact: bool) -> String {
        let is_wrong = self.wrong.iter().any(|(of, _)| of == numbers);
        match (is_exact, is_wrong) {
            (true, _) => "yes".to_owned(),
            (false, true) => format!("no: {}", self.wrong_of(numbers)),
            (false, false) => "no: the device has no such numbers".to_owned(),
        }
    }

    /// Returns the probe as a text of a few lines, which [`Probe::from_text`] parses.
    #[must_use]
    pub fn to_text(&self) -> String {
        let exact = [self.f64_is_exact, self.f32_is_exact, self.i64_is_exact].map(u8::from);
        let mut text = format!(
            "{VERSION}\nof {}\nby {}\nexact {} {} {}\nrounds {} {}\n",
            self.of,
            lowering_name(self.lowering),
            exact[0],
            exact[1],
            exact[2],
            self.iterations,
            self.lanes_together
        );
        for (numbers, what) in &self.wrong {
            text.push_str(&format!("wrong {numbers} {what}\n"));
        }
        text
    }

    /// Parses the output of [`Probe::to_text`]. Returns `None` for other texts, and for the output of another version.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != VERSION {
            return None;
        }
        let of = lines.next()?.strip_prefix("of ")?.to_owned();
        let by = lines.next()?.strip_prefix("by ")?;
        let lowering = Lowering::all().find(|lowering| lowering_name(*lowering) == by)?;
        let exact = numbers(lines.next()?.strip_prefix("exact ")?)?;
        let iterations = numbers(lines.next()?.strip_prefix("rounds ")?)?;
        let (&[f64s, f32s, i64s], &[iterations, lanes_together]) = (exact.as_slice(), iterations.as_slice())
        else {
            return None;
        };
        let pair = |line: &str| {
            let (numbers, what) = line.strip_prefix("wrong ")?.split_once(' ')?;
            Some((numbers.to_owned(), what.to_owned()))
        };
        let wrong = lines.map(pair).collect::<Option<_>>()?;
        let (f64_is_exact, f32_is_exact, i64_is_exact) = (f64s == 1, f32s == 1, i64s == 1);
        Some(Self {
            f64_is_exact,
            f32_is_exact,
            i64_is_exact,
            iterations,
            lanes_together,
            of,
            lowering,
            wrong,
        })
    }
}

/// Returns a description of a lowering in one line.
fn lowering_name(lowering: Lowering) -> String {
    lowering.answers().map(|(_, answer)| answer).join("; ")
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(' ').map(|number| number.parse().ok()).collect()
}
