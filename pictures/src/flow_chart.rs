//! Reversible flow charts (Yokoyama and Glück): a test is a diamond with two exits, and an assertion is a
//! circle with two entries. Each test has a matching assertion. This module depends on no program: the nodes
//! contain texts.
//!
//! The nodes are in one column, in the order of the code, so that a chart can be compared with its listing.
//! Jumps are drawn beside the column: downward jumps on the right, upward jumps on the left. Jumps that
//! overlap are in different lanes.

use crate::canvas::{Canvas, Letters, Side, code_width, cut};
use crate::palette::Ink;

/// The flow chart of one procedure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowChart {
    /// The name of the procedure.
    pub name: String,
    /// The nodes in the order of the code.
    pub nodes: Vec<FlowNode>,
}

/// A node of the chart: an instruction sequence, a test or an assertion.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowNode {
    /// The kind and the shape of the node.
    pub shape: FlowShape,
    /// The lines of text in the node.
    pub lines: Vec<String>,
    /// The index of the node to which a test or an unconditional jump leads; `None` if the node doesn't jump.
    pub jump: Option<usize>,
    /// For a test: the outcome of its condition for which the test jumps. For an assertion: the outcome that its
    /// condition must have if control arrives by a jump.
    pub jumps_if: bool,
    /// True if control falls through from this node to the next one.
    pub falls: bool,
}

/// The kind of a node, which determines its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowShape {
    /// The beginning or the end of the procedure.
    End,
    /// A sequence of instructions without jumps.
    Steps,
    /// A node with two exits.
    Test,
    /// A node with two entries. Its condition tells from which entry control has arrived.
    Assertion,
    /// An unconditional jump, or a node that control reaches only by jumps.
    Always,
}

const SIZE: f64 = 13.0;
const LINE: f64 = 18.0;
const GAP: f64 = 30.0;
const LANE: f64 = 20.0;
const LETTERS: usize = 44;
const CODE: Letters = Letters { ink: Ink::Text, size: SIZE, side: Side::Middle, is_code: true };
const NOTE: Letters = Letters { ink: Ink::Faint, size: 11.0, side: Side::Start, is_code: false };

/// The vertical position and the size of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    top: f64,
    width: f64,
    height: f64,
}

impl Placed {
    fn middle(self) -> f64 {
        self.top + self.height / 2.0
    }
}

/// A jump, and the number of its lane. A lane is a vertical line beside the column of nodes; lane 0 is next to the
/// column.
struct Lane {
    from: usize,
    to: usize,
    number: usize,
}

impl FlowChart {
    /// Draws the chart with its top left corner at the given point. Returns the width and the height of the
    /// drawing.
    pub fn draw(&self, canvas: &mut Canvas, (left, top): (f64, f64)) -> (f64, f64) {
        let mut y = top + 34.0;
        let placed: Vec<Placed> = self.nodes.iter().map(|node| place(node, &mut y)).collect();
        let widest = placed.iter().map(|node| node.width).fold(120.0, f64::max);
        let (down, up) = (self.lanes(true), self.lanes(false));
        let room = |lanes: &[Lane]| match lanes.iter().map(|lane| lane.number).max() {
            Some(most) => 34.0 + LANE * most as f64,
            None => 12.0,
        };
        let centre = left + room(&up) + widest / 2.0;
        let title = Letters { size: 15.0, is_code: false, ..CODE };
        canvas.text((centre, top + 14.0), &self.name, title);
        self.falls(canvas, &placed, centre);
        for (lanes, side) in [(&down, 1.0), (&up, -1.0)] {
            let draw =
                |lane: &Lane| jump(canvas, &placed, (lane, self.outcomes(lane)), (centre, widest, side));
            lanes.iter().for_each(draw);
        }
        for (node, place) in self.nodes.iter().zip(&placed) {
            draw_node(canvas, node, *place, centre);
        }
        (room(&up) + widest + room(&down), y - top)
    }

    /// Returns a description of the chart for screen readers.
    pub fn words(&self) -> String {
        let count = |shape| self.nodes.iter().filter(|node| node.shape == shape).count();
        let pairs = self.nodes.iter().filter_map(|node| {
            let test = node.lines.first().map_or("a jump", String::as_str);
            let join = self
                .nodes
                .get(node.jump?)?
                .lines
                .first()
                .map_or("a place that only this jump reaches", String::as_str);
            Some(format!("{test}, joined by {join}"))
        });
        let pairs: Vec<String> = pairs.collect();
        let counted =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let tests = counted(count(FlowShape::Test), "test");
        let counts = format!("{tests}, {}", counted(count(FlowShape::Assertion), "assertion"));
        if pairs.is_empty() { counts } else { format!("{counts}; branch pairs: {}", pairs.join("; ")) }
    }

    /// Draws the arrow from each node to the next one if control falls through. At a test or an assertion,
    /// the outcome of its condition is written beside the arrow.
    fn falls(&self, canvas: &mut Canvas, placed: &[Placed], centre: f64) {
        for (nodes, places) in self.nodes.windows(2).zip(placed.windows(2)) {
            let ([from, to], [above, below]) = (nodes, places) else { continue };
            if !from.falls {
                continue;
            }
            let bottom = above.top + above.height;
            canvas.arrow(&[(centre, bottom), (centre, below.top)], Ink::Text);
            if from.shape == FlowShape::Test {
                canvas.text((centre + 6.0, bottom + 9.0), outcome(!from.jumps_if), NOTE);
            }
            if to.shape == FlowShape::Assertion {
                canvas.text((centre + 9.0, below.top - 10.0), outcome(!to.jumps_if), NOTE);
            }
        }
    }

    /// Returns the two outcomes of conditions to be written at the ends of a jump: the outcome for which the test
    /// jumps, and the outcome that the assertion requires.
    fn outcomes(&self, lane: &Lane) -> [bool; 2] {
        [lane.from, lane.to].map(|n| self.nodes.get(n).is_none_or(|node| node.jumps_if))
    }

    /// Assigns lanes to the downward jumps (`down`) or to the upward jumps. Short jumps get lanes near the column,
    /// and overlapping jumps get different lanes.
    fn lanes(&self, down: bool) -> Vec<Lane> {
        let jumps = self.nodes.iter().enumerate().filter_map(|(from, node)| Some((from, node.jump?)));
        let mut jumps: Vec<(usize, usize)> = jumps.filter(|(from, to)| (to > from) == down).collect();
        jumps.sort_by_key(|&(from, to)| (from.abs_diff(to), from));
        let mut lanes: Vec<Lane> = Vec::new();
        for (from, to) in jumps {
            let overlaps = |lane: &&Lane| {
                lane.from.min(lane.to) <= from.max(to) && from.min(to) <= lane.from.max(lane.to)
            };
            let taken: Vec<usize> = lanes.iter().filter(overlaps).map(|lane| lane.number).collect();
            let number = (0..).find(|number| !taken.contains(number)).unwrap_or(0);
            lanes.push(Lane { from, to, number });
        }
        lanes
    }
}

fn place(node: &FlowNode, y: &mut f64) -> Placed {
    let wide = node.lines.iter().map(|line| code_width(&cut(line, LETTERS), SIZE)).fold(0.0, f64::max);
    let lines = node.lines.len().max(1) as f64 * LINE;
    let (width, height) = match node.shape {
        FlowShape::End => (wide + 36.0, 28.0),
        FlowShape::Steps => (wide + 24.0, lines + 12.0),
        FlowShape::Test => (wide * 1.35 + 56.0, 48.0),
        FlowShape::Assertion => ((wide + 40.0).max(48.0), 44.0),
        FlowShape::Always => (10.0, 10.0),
    };
    let placed = Placed { top: *y, width, height };
    *y += height + GAP;
    placed
}

/// Returns the label of a condition's outcome: `t` for true, `f` for false.
fn outcome(holds: bool) -> &'static str {
    if holds { "t" } else { "f" }
}

fn jump(
    canvas: &mut Canvas,
    placed: &[Placed],
    (lane, [leaves, arrives]): (&Lane, [bool; 2]),
    (centre, widest, side): (f64, f64, f64),
) {
    let (Some(from), Some(to)) = (placed.get(lane.from), placed.get(lane.to)) else { return };
    let beside = centre + side * (widest / 2.0 + 18.0 + LANE * lane.number as f64);
    let (start, end) = (centre + side * from.width / 2.0, centre + side * to.width / 2.0);
    let way = [(start, from.middle()), (beside, from.middle()), (beside, to.middle()), (end, to.middle())];
    canvas.arrow(&way, Ink::Curve(if side > 0.0 { 0 } else { 1 }));
    let note = Letters { side: if side > 0.0 { Side::Start } else { Side::End }, ..NOTE };
    if from.height > 20.0 {
        canvas.text((start + side * 3.0, from.middle() - 8.0), outcome(leaves), note);
    }
    if to.height > 20.0 {
        canvas.text((end + side * 10.0, to.middle() - 9.0), outcome(arrives), note);
    }
}

fn draw_node(canvas: &mut Canvas, node: &FlowNode, place: Placed, centre: f64) {
    let Placed { top, width, height } = place;
    let (left, right, middle) = (centre - width / 2.0, centre + width / 2.0, place.middle());
    match node.shape {
        FlowShape::End => canvas.rectangle((left, top), (width, height), Ink::Shade, Ink::Faint),
        FlowShape::Steps => canvas.rectangle((left, top), (width, height), Ink::Ground, Ink::Text),
        FlowShape::Test => {
            let corners = [(centre, top), (right, middle), (centre, top + height), (left, middle)];
            canvas.polygon(&corners, Ink::Ground, Ink::Text);
        }
        FlowShape::Assertion => {
            canvas.ellipse((centre, middle), (width / 2.0, height / 2.0), Ink::Ground, Ink::Text);
        }
        FlowShape::Always => canvas.ellipse((centre, middle), (4.0, 4.0), Ink::Text, Ink::Text),
    }
    let first = middle - LINE * (node.lines.len().max(1) - 1) as f64 / 2.0;
    for (n, line) in node.lines.iter().enumerate() {
        let y = first + LINE * n as f64;
        match node.shape {
            FlowShape::Steps => {
                let letters = Letters { side: Side::Start, ..CODE };
                canvas.text((left + 12.0, y), &cut(line, LETTERS), letters);
            }
            _ => canvas.text((centre, y), &cut(line, LETTERS), CODE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(shape: FlowShape, jump: Option<usize>) -> FlowNode {
        FlowNode { shape, lines: vec!["x == 0".into()], jump, jumps_if: true, falls: true }
    }

    #[test]
    fn overlapping_jumps_have_separate_lanes() {
        let nodes = vec![
            node(FlowShape::Test, Some(5)),
            node(FlowShape::Test, Some(3)),
            node(FlowShape::Steps, None),
            node(FlowShape::Assertion, None),
            node(FlowShape::Always, Some(0)),
            node(FlowShape::Assertion, None),
            node(FlowShape::Test, Some(7)),
            node(FlowShape::Assertion, None),
        ];
        let chart = FlowChart { name: "main".into(), nodes };
        let down: Vec<_> = chart.lanes(true).iter().map(|lane| (lane.from, lane.to, lane.number)).collect();
        assert_eq!(down, [(6, 7, 0), (1, 3, 0), (0, 5, 1)]);
        assert_eq!(chart.lanes(false).len(), 1);
    }
}
