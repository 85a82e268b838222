//! What a device gets right, found out by asking it: whether arithmetic has the processor's bits, and how many rounds its loops make. Knows
//! no program.
//!
//! | module | what it is |
//! |---|---|
//! | `questions`, `operands` | what is asked, about which numbers |
//! | `text` | the shaders that ask |
//! | `ask` | asking, and comparing |

mod ask;
mod operands;
mod questions;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use crate::info::DeviceInfo;
use crate::lowering::Lowering;

/// What a device with its driver gets right. Asking takes a while, so that whoever likes keeps it as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// Whether floats of 64 bits have the processor's bits. False where there are none.
    pub f64_is_exact: bool,
    /// Whether floats of 32 bits have them.
    pub f32_is_exact: bool,
    /// Whether integers of 64 bits have them.
    pub i64_is_exact: bool,
    /// The rounds after which the device ends the loops of lanes that go together, silently; [`Probe::MOST_ROUNDS`] where it
    /// wasn't seen to.
    pub rounds: u32,
    /// The lanes that have these rounds in common.
    pub lanes_together: u32,
    /// The device and its driver.
    of: String,
    /// What became of the shaders that asked.
    pub(crate) lowering: Lowering,
    /// What it gets wrong: of which numbers, and one example.
    wrong: Vec<(String, String)>,
}

/// The first line of a probe's text, which changes with the questions.
const VERSION: &str = "reviver probe 3";

impl Probe {
    /// The most rounds of a loop that are asked for.
    pub const MOST_ROUNDS: u32 = 100_000;

    /// Of a device that wasn't asked yet: enough to ask it.
    pub(crate) fn unasked(info: &DeviceInfo, lowering: Lowering) -> Self {
        Self {
            f64_is_exact: false,
            f32_is_exact: false,
            i64_is_exact: false,
            rounds: Self::MOST_ROUNDS,
            lanes_together: info.lanes_together,
            of: info.with_driver(),
            lowering,
            wrong: Vec::new(),
        }
    }

    /// Whether it is of this device, with this driver, and with shaders in a form that it is given.
    #[must_use]
    pub fn is_of(&self, info: &DeviceInfo) -> bool {
        let own = info.lowering();
        self.of == info.with_driver() && Lowering { singles: own.singles, ..self.lowering } == own
    }

    /// The rounds that a lane may make in one dispatch, where the shader makes up to `uncounted` ones between two that it counts.
    /// None where not even one.
    pub(crate) fn rounds_of_a_lane(&self, uncounted: u32) -> Option<u32> {
        if self.rounds >= Self::MOST_ROUNDS {
            return Some(Self::MOST_ROUNDS);
        }
        // Lanes that go together may make their rounds one behind the other.
        let counted = self.rounds / uncounted.saturating_add(1);
        let of_a_lane = counted.saturating_sub(1) / self.lanes_together.max(1);
        if of_a_lane == 0 { None } else { Some(of_a_lane) }
    }

    /// What it gets wrong of such numbers (`f64`, `f32`, `i64`).
    pub(crate) fn wrong_of(&self, numbers: &str) -> String {
        let of_these = self.wrong.iter().filter(|(of, _)| of == numbers);
        let all: Vec<&str> = of_these.map(|(_, what)| what.as_str()).collect();
        format!("{numbers}: {}", all.join("; "))
    }

    /// The first thing that it gets wrong of them, and how many there are besides.
    pub(crate) fn first_wrong_of(&self, numbers: &str) -> String {
        let mut of_these = self.wrong.iter().filter(|(of, _)| of == numbers);
        let first = of_these.next().map_or("", |(_, what)| what.as_str());
        match of_these.count() {
            0 => format!("{numbers}: {first}"),
            others => format!("{numbers}: {first}, and {others} more that `reviver devices` lists"),
        }
    }

    /// What there is to tell, as questions and answers in the user's words.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, String)> {
        let exact = [("f64", self.f64_is_exact), ("f32", self.f32_is_exact), ("i64", self.i64_is_exact)];
        let mut all: Vec<(String, String)> = exact
            .into_iter()
            .map(|(numbers, is_exact)| (format!("{numbers} is exact"), self.exactness(numbers, is_exact)))
            .collect();
        let rounds = match self.rounds {
            Self::MOST_ROUNDS.. => format!("at least {}", Self::MOST_ROUNDS),
            rounds => format!("{rounds}, of {} lanes together; longer ones are resumed", self.lanes_together),
        };
        all.push(("rounds of loops".to_owned(), rounds));
        all
    }

    fn exactness(&self, numbers: &str, is_exact: bool) -> String {
        let is_wrong = self.wrong.iter().any(|(of, _)| of == numbers);
        match (is_exact, is_wrong) {
            (true, _) => "yes".to_owned(),
            (false, true) => format!("no: {}", self.wrong_of(numbers)),
            (false, false) => "there is none".to_owned(),
        }
    }

    /// As a text of a few lines, for [`Probe::from_text`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let exact = [self.f64_is_exact, self.f32_is_exact, self.i64_is_exact].map(u8::from);
        let mut text = format!(
            "{VERSION}\nof {}\nby {}\nexact {} {} {}\nrounds {} {}\n",
            self.of,
            way(self.lowering),
            exact[0],
            exact[1],
            exact[2],
            self.rounds,
            self.lanes_together
        );
        for (numbers, what) in &self.wrong {
            text.push_str(&format!("wrong {numbers} {what}\n"));
        }
        text
    }

    /// Reads what [`Probe::to_text`] wrote. None where it wasn't, or where other questions were asked then.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != VERSION {
            return None;
        }
        let of = lines.next()?.strip_prefix("of ")?.to_owned();
        let by = lines.next()?.strip_prefix("by ")?;
        let lowering = Lowering::all().find(|lowering| way(*lowering) == by)?;
        let exact = numbers(lines.next()?.strip_prefix("exact ")?)?;
        let rounds = numbers(lines.next()?.strip_prefix("rounds ")?)?;
        let (&[f64s, f32s, i64s], &[rounds, lanes_together]) = (exact.as_slice(), rounds.as_slice()) else {
            return None;
        };
        let pair = |line: &str| {
            let (numbers, what) = line.strip_prefix("wrong ")?.split_once(' ')?;
            Some((numbers.to_owned(), what.to_owned()))
        };
        let wrong = lines.map(pair).collect::<Option<_>>()?;
        let (f64_is_exact, f32_is_exact, i64_is_exact) = (f64s == 1, f32s == 1, i64s == 1);
        Some(Self { f64_is_exact, f32_is_exact, i64_is_exact, rounds, lanes_together, of, lowering, wrong })
    }
}

/// What becomes of shaders, in one line.
fn way(lowering: Lowering) -> String {
    lowering.answers().map(|(_, answer)| answer).join("; ")
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(' ').map(|number| number.parse().ok()).collect()
}
