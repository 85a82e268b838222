//! Shapes as SVG for pictures other than plots: lines, boxes, diamonds, circles and texts in the colours of
//! the palette. This module does no layout: callers pass every position.

use std::fmt::Write as _;

use reviver_escape::xml_text;

use crate::document::{Words, document};
use crate::palette::Ink;

/// The part of a text that is placed at the text's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left end of the text.
    Start,
    /// The middle of the text.
    Middle,
    /// The right end of the text.
    End,
}

/// The style of a text: colour, font size in units of the drawing, anchor and font.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letters {
    /// The colour of the text.
    pub ink: Ink,
    /// The font size in units of the drawing.
    pub size: f64,
    /// The part of the text that is placed at the text's position.
    pub side: Side,
    /// True for the monospaced font.
    pub is_code: bool,
}

/// The attribute of a dashed line.
const DASHES: &str = " stroke-dasharray=\"3 2.5\"";

/// A sequence of SVG shapes; later shapes are drawn over earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Canvas {
    shapes: String,
}

impl Canvas {
    /// Returns the shapes as an SVG document. The width and the height are those of the background, in units of the
    /// drawing.
    pub fn document(&self, words: &Words, (width, height): (f64, f64)) -> String {
        let ground = format!(
            "<rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"{}\" stroke=\"none\"/>\n",
            Ink::Ground.hex()
        );
        document(words, (width, height), (width, height), &format!("{ground}{}", self.shapes))
    }

    /// Draws straight lines from each point to the next one.
    pub fn path(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.stroke(points, ink, "");
    }

    /// Draws straight, dashed lines from each point to the next one.
    pub fn dashed_path(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.stroke(points, ink, DASHES);
    }

    fn stroke(&mut self, points: &[(f64, f64)], ink: Ink, dashes: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let (points, stroke) = (points.join(" "), ink.hex());
        let _ = writeln!(
            self.shapes,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dashes}/>"
        );
    }

    /// Draws straight lines from each point to the next one, with an arrowhead at the last point.
    pub fn arrow(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.path(points, ink);
        let [.., (from_x, from_y), (x, y)] = *points else { return };
        let length = (x - from_x).hypot(y - from_y).max(1e-9);
        let (dx, dy) = ((x - from_x) / length, (y - from_y) / length);
        let back = (x - 8.0 * dx, y - 8.0 * dy);
        let head = [(x, y), (back.0 - 3.5 * dy, back.1 + 3.5 * dx), (back.0 + 3.5 * dy, back.1 - 3.5 * dx)];
        self.polygon(&head, ink, ink);
    }

    /// Draws a closed polygon with these corners.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: Ink, stroke: Ink) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        let (points, fill, stroke) = (points.join(" "), fill.hex(), stroke.hex());
        let _ = writeln!(
            self.shapes,
            "<polygon points=\"{points}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.6\"/>"
        );
    }

    /// Draws a box, given its top left corner, its width and its height.
    pub fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), fill: Ink, stroke: Ink) {
        self.outline(corner, size, (fill, stroke), "");
    }

    /// Draws a box like [`Canvas::rectangle`], with a dashed outline.
    pub fn dashed_rectangle(&mut self, corner: (f64, f64), size: (f64, f64), fill: Ink, stroke: Ink) {
        self.outline(corner, size, (fill, stroke), DASHES);
    }

    fn outline(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        (fill, stroke): (Ink, Ink),
        dashes: &str,
    ) {
        let (fill, stroke) = (fill.hex(), stroke.hex());
        let _ = writeln!(
            self.shapes,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.6\"{dashes}/>"
        );
    }

    /// Draws an ellipse, given its centre and its two radii.
    pub fn ellipse(&mut self, (x, y): (f64, f64), (rx, ry): (f64, f64), fill: Ink, stroke: Ink) {
        let (fill, stroke) = (fill.hex(), stroke.hex());
        let _ = writeln!(
            self.shapes,
            "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{rx}\" ry=\"{ry}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.6\"/>"
        );
    }

    /// Draws a line of text that is vertically centred at `y`.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, letters: Letters) {
        let anchor = match letters.side {
            Side::Start => "start",
            Side::Middle => "middle",
            Side::End => "end",
        };
        let (text, ink, size) = (xml_text(text), letters.ink.hex(), letters.size);
        let class = if letters.is_code { " class=\"code\"" } else { "" };
        let _ = writeln!(
            self.shapes,
            "<text x=\"{x}\" y=\"{y}\" dy=\"0.35em\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{ink}\"{class} xml:space=\"preserve\">{text}</text>"
        );
    }
}

/// Returns the approximate width of a monospaced text. The width and the font size have the same unit.
pub fn code_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.62
}

/// Returns the text, shortened with an ellipsis if it has more than `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
