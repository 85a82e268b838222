//! Compares the costs of several methods for one computation. A chart shows steps over memory, on logarithmic
//! scales. A list beside it has a bar for the bits that each method erases. This module depends on no
//! particular method.

use crate::canvas::{Canvas, Letters, Side};
use crate::document::Words;
use crate::numbers::grouped;
use crate::palette::Ink;

/// A method with its costs: steps, bytes of memory and erased bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The name of the method.
    pub name: String,
    /// The number of executed steps.
    pub steps: u64,
    /// The memory for kept states and histories, in bytes.
    pub bytes: u64,
    /// The number of erased bits.
    pub erased_bits: u64,
    /// The family of the method. A line joins consecutive methods of one family.
    pub family: usize,
}

/// A comparison of several methods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tradeoff {
    /// The title and the description.
    pub words: Words,
    /// The methods in the order of the table.
    pub methods: Vec<Method>,
}

const LEFT: f64 = 84.0;
const TOP: f64 = 76.0;
const WIDTH: f64 = 340.0;
const LEAST_HEIGHT: f64 = 300.0;
/// The horizontal position of the list of methods.
const LIST: f64 = LEFT + WIDTH + 44.0;
/// The horizontal position of the bars in the list of methods.
const BARS: f64 = LIST + 148.0;
/// The length of the longest bar in the list of methods.
const BAR: f64 = 110.0;
/// The width of the number after the longest bar.
const NUMBER: f64 = 84.0;
const ROW: f64 = 24.0;
const DOT: f64 = 8.0;

const PLAIN: Letters = Letters { ink: Ink::Text, size: 13.0, side: Side::Start, is_code: false };
const FAINT: Letters = Letters { ink: Ink::Faint, size: 12.0, ..PLAIN };

/// A logarithmic scale. `from` and `to` are the decimal logarithms of the numbers at the scale's ends; `begin` and
/// `end` are the positions of these ends in the picture.
#[derive(Clone, Copy, Debug)]
struct Scale {
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

impl Scale {
    /// Returns a scale that contains all numbers, with a margin. Numbers below 1 are treated as 1.
    fn of(numbers: impl Iterator<Item = u64>, begin: f64, end: f64) -> Scale {
        let (mut from, mut to) = (f64::MAX, f64::MIN);
        for number in numbers {
            let log = (number.max(1) as f64).log10();
            (from, to) = (from.min(log), to.max(log));
        }
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        let margin = ((to - from) * 0.1).max(0.15);
        Scale { from: from - margin, to: to + margin, begin, end }
    }

    fn place(self, number: f64) -> f64 {
        let part = (number.max(1.0).log10() - self.from) / (self.to - self.from);
        self.begin + part * (self.end - self.begin)
    }

    /// Returns the numbers that get a tick: powers of ten. If these are at most two numbers, powers of ten times 3
    /// are added. If there are still at most two numbers, powers of ten times 2 and times 5 are added instead.
    fn ticks(self) -> Vec<u64> {
        let ticks = |parts: &[u64]| -> Vec<u64> {
            let powers = (0..19).map(|power| 10_u64.pow(power));
            let all = powers.flat_map(|power| parts.iter().filter_map(move |part| part.checked_mul(power)));
            let is_inside = |number: &u64| {
                let log = (*number as f64).log10();
                (self.from..=self.to).contains(&log)
            };
            all.filter(is_inside).collect()
        };
        let choices = [&[1][..], &[1, 3], &[1, 2, 5]].map(ticks);
        let [few, more, most] = choices;
        [few, more].into_iter().find(|ticks| ticks.len() > 2).unwrap_or(most)
    }
}

impl Tradeoff {
    /// Returns the picture as an SVG document.
    pub fn svg(&self) -> String {
        let rows = self.methods.len() as f64 * ROW;
        let height = LEAST_HEIGHT.max(rows);
        let mut canvas = Canvas::default();
        canvas.text((LEFT, 24.0), &self.words.title, Letters { size: 16.0, ..PLAIN });
        self.draw_points(height, &mut canvas);
        self.draw_list(&mut canvas);
        canvas.document(&self.words, (BARS + BAR + NUMBER, TOP + height + 64.0))
    }

    /// Draws the chart of steps over memory. Each method is a dot that contains the method's number in the list.
    fn draw_points(&self, height: f64, canvas: &mut Canvas) {
        let bottom = TOP + height;
        let across = Scale::of(self.methods.iter().map(|method| method.bytes), LEFT, LEFT + WIDTH);
        let up = Scale::of(self.methods.iter().map(|method| method.steps), bottom, TOP);
        for tick in across.ticks() {
            let x = across.place(tick as f64);
            canvas.path(&[(x, TOP), (x, bottom)], Ink::Grid);
            canvas.text((x, bottom + 16.0), &grouped(tick), Letters { side: Side::Middle, ..FAINT });
        }
        for tick in up.ticks() {
            let y = up.place(tick as f64);
            canvas.path(&[(LEFT, y), (LEFT + WIDTH, y)], Ink::Grid);
            canvas.text((LEFT - 10.0, y), &grouped(tick), Letters { side: Side::End, ..FAINT });
        }
        canvas.path(&[(LEFT, TOP), (LEFT, bottom), (LEFT + WIDTH, bottom)], Ink::Faint);
        canvas.text((LEFT, TOP - 18.0), "steps", PLAIN);
        canvas.text(
            (LEFT + WIDTH, bottom + 40.0),
            "maximum memory in bytes",
            Letters { side: Side::End, ..PLAIN },
        );
        let place = |method: &Method| (across.place(method.bytes as f64), up.place(method.steps as f64));
        for pair in self.methods.windows(2) {
            if let [one, other] = pair
                && one.family == other.family
            {
                canvas.path(&[place(one), place(other)], Ink::Curve(one.family));
            }
        }
        for (n, method) in self.methods.iter().enumerate() {
            draw_dot(n, method, place(method), canvas);
        }
    }

    /// Draws the list of methods with their numbers, and a bar for the erased bits of each.
    fn draw_list(&self, canvas: &mut Canvas) {
        canvas.text((LIST - DOT, TOP - 18.0), "method", PLAIN);
        canvas.text((BARS, TOP - 18.0), "erased bits", PLAIN);
        let most = self.methods.iter().map(|method| method.erased_bits).max().unwrap_or(0).max(1);
        for (n, method) in self.methods.iter().enumerate() {
            let y = TOP + ROW * (n as f64 + 0.5);
            draw_dot(n, method, (LIST, y), canvas);
            canvas.text((LIST + 16.0, y), &method.name, PLAIN);
            let bar = method.erased_bits as f64 / most as f64 * BAR;
            if method.erased_bits > 0 {
                let ink = Ink::Curve(method.family);
                canvas.rectangle((BARS, y - 6.0), (bar.max(1.0), 12.0), ink, ink);
            }
            canvas.text((BARS + bar + 8.0, y), &grouped(method.erased_bits), FAINT);
        }
    }
}

/// Draws the number of a method, in a circle of its family's colour.
fn draw_dot(n: usize, method: &Method, place: (f64, f64), canvas: &mut Canvas) {
    canvas.ellipse(place, (DOT, DOT), Ink::Ground, Ink::Curve(method.family));
    canvas.text(place, &(n + 1).to_string(), Letters { size: 11.0, side: Side::Middle, ..PLAIN });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str, steps: u64, bytes: u64, family: usize) -> Method {
        Method { name: name.into(), steps, bytes, erased_bits: steps / 10, family }
    }

    #[test]
    fn ticks_are_few_and_within_the_scale() {
        let ticks = |numbers: &[u64]| Scale::of(numbers.iter().copied(), 0.0, 100.0).ticks();
        assert_eq!(ticks(&[1_000, 2_000_000]), [1_000, 10_000, 100_000, 1_000_000]);
        assert_eq!(ticks(&[200, 2_400]), [300, 1_000, 3_000]);
        assert_eq!(ticks(&[200, 300]), [200]);
        assert!(ticks(&[0, u64::MAX]).len() < 20);
        assert_eq!(ticks(&[]), [1, 3, 10]);
    }

    #[test]
    fn every_method_has_a_dot_and_a_line() {
        let words = Words { title: "t".into(), description: "d".into() };
        let methods = vec![method("a < b", 10, 1_000, 0), method("c", 100, 100, 1), method("e", 0, 0, 1)];
        let svg = Tradeoff { words: words.clone(), methods }.svg();
        assert_eq!(svg.matches("<ellipse").count(), 6);
        assert!(svg.contains(">a &lt; b</text>") && !svg.contains("NaN"), "{svg}");
        assert!(Tradeoff { words, methods: Vec::new() }.svg().ends_with("</svg>\n"));
    }
}
