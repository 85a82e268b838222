//! Call trees: each call is an indented line with its counts and a bar. A tree is rendered as text or drawn as
//! shapes. The input is names and numbers: this module depends on no program.

use crate::canvas::{Canvas, Letters, Side, code_width, cut};
use crate::numbers::grouped;
use crate::palette::Ink;

/// A line of the call tree. It counts all calls of one callee by one caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallLine {
    /// The depth in the tree: 0 for the root, otherwise one more than the caller's depth.
    pub depth: usize,
    /// The kind of the call and the callee's name, such as `uncall imul`. For the root, it is only the name.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The steps of these calls, including the steps of all calls below them.
    pub steps: u64,
    /// The steps of the callee itself, without the steps of the calls below it.
    pub own: u64,
}

const ROW: f64 = 24.0;
const INDENT: f64 = 18.0;
const BAR: f64 = 180.0;
const CODE: Letters = Letters { ink: Ink::Text, size: 13.0, side: Side::Start, is_code: true };
const NUMBER: Letters = Letters { side: Side::End, is_code: false, ..CODE };

/// Returns the call tree as text, with columns for calls, steps and own steps.
pub fn text(lines: &[CallLine]) -> String {
    let name = |line: &CallLine| format!("{}{}", "  ".repeat(line.depth), line.name);
    let widest = lines.iter().map(|line| name(line).chars().count()).max().unwrap_or(0).max(4);
    let row = |name: &str, numbers: [&str; 3]| {
        let [calls, steps, own] = numbers;
        format!("{name:<widest$} {calls:>12} {steps:>15} {own:>15}\n")
    };
    let reported = lines.iter().map(|line| {
        let [calls, steps, own] = [line.calls, line.steps, line.own].map(grouped);
        row(&name(line), [&calls, &steps, &own])
    });
    std::iter::once(row("", ["calls", "steps", "own"])).chain(reported).collect()
}

/// Draws the tree with its top left corner at the given point. Returns the width and the height of the drawing.
pub fn draw(title: &str, lines: &[CallLine], canvas: &mut Canvas, (left, top): (f64, f64)) -> (f64, f64) {
    let name = |line: &CallLine| cut(&line.name, 48);
    let indent = |line: &CallLine| INDENT * line.depth as f64;
    let widest = lines.iter().map(|line| indent(line) + code_width(&name(line), 13.0)).fold(120.0, f64::max);
    let columns = [left + widest + 90.0, left + widest + 190.0, left + widest + 290.0];
    canvas.text((left, top + 14.0), title, Letters { size: 15.0, is_code: false, ..CODE });
    let head = Letters { ink: Ink::Faint, size: 12.0, ..NUMBER };
    for (x, text) in columns.into_iter().zip(["calls", "steps", "own"]) {
        canvas.text((x, top + 40.0), text, head);
    }
    let most = lines.iter().map(|line| line.steps).max().unwrap_or(0).max(1);
    for (n, line) in lines.iter().enumerate() {
        let y = top + 62.0 + ROW * n as f64;
        let x = left + indent(line);
        if line.depth > 0 {
            canvas.path(&[(x - 10.0, y - ROW + 10.0), (x - 10.0, y), (x - 3.0, y)], Ink::Faint);
        }
        canvas.text((x, y), &name(line), CODE);
        for (x, count) in columns.into_iter().zip([line.calls, line.steps, line.own]) {
            canvas.text((x, y), &grouped(count), NUMBER);
        }
        let bar = |count: u64| (count as f64 / most as f64 * BAR).max(1.0);
        let at = columns[2] + 20.0;
        canvas.rectangle((at, y - 6.0), (bar(line.steps), 12.0), Ink::Shade, Ink::Faint);
        canvas.rectangle((at, y - 6.0), (bar(line.own), 12.0), Ink::Curve(0), Ink::Curve(0));
    }
    (widest + 310.0 + BAR, 62.0 + ROW * lines.len() as f64)
}
