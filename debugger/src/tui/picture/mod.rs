//! Renders a frame as SVG, cell by cell: a picture of the terminal. This module depends only on buffers and
//! colours, not on the debugger.
//!
//! The font of the program that shows the picture is unknown. So all positions are on a grid, and each piece of
//! text is stretched to the width of its cells. Lines and bars are drawn as rectangles, so that they touch each
//! other with any font.

mod shapes;

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Size;
use ratatui::style::{Color, Modifier, Style};
use reviver_escape::xml_text;

use self::shapes::{CELL, CellRectangle, shapes};
use super::colour::{Rgb, channels};
use super::theme::Ground;
use crate::columns::width;
use crate::command::picture::DRAWN;

/// Margin around the cells, in pixels.
const MARGIN: u16 = 12;

/// Distance from a row's top to the baseline of its text, in pixels.
const BASELINE: u16 = 13;

/// The minimum size of a picture, in cells.
pub const LEAST: Size = Size { width: 20, height: 6 };
/// The maximum size of a picture, in cells.
pub const MOST: Size = Size { width: 400, height: 200 };

/// Renders a frame as SVG. `paper` has the default colours. Screen readers read the `title` aloud.
pub fn svg(buffer: &Buffer, paper: Paper, title: &str) -> String {
    let area = buffer.area;
    let (width, height) = (pixels(area.width, CELL.width), pixels(area.height, CELL.height));
    let title = xml_text(title);
    let mut out = format!(
        "{DRAWN}\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{}\" stroke=\"#6e7681\"/>\n",
        width - 1,
        height - 1,
        hex(paper.back),
    );
    let rows = buffer.content.chunks(usize::from(area.width).max(1));
    let rows: Vec<PictureRow> =
        (0..).zip(rows).map(|(number, cells)| PictureRow::new(number, cells, paper)).collect();
    out += "<g shape-rendering=\"crispEdges\">\n";
    rows.iter().for_each(|row| row.boxes(paper.back, &mut out));
    out += "</g>\n<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', \
            'DejaVu Sans Mono', monospace\" font-size=\"13.3\" xml:space=\"preserve\">\n";
    rows.iter().for_each(|row| row.texts(&mut out));
    out + "</g>\n</svg>\n"
}

/// Returns the total size of `cells` cells of `each` pixels and of both margins, in pixels.
fn pixels(cells: u16, each: u16) -> u32 {
    u32::from(cells) * u32::from(each) + 2 * u32::from(MARGIN)
}

/// The default colours of text and background.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    front: Rgb,
    back: Rgb,
}

impl Paper {
    /// Creates the default colours from a style. For colours that the style doesn't set, uses those of a
    /// terminal with the given background.
    pub fn new(style: Style, ground: Ground) -> Paper {
        let (front, back) = match ground {
            Ground::Dark => ([208; 3], [28; 3]),
            Ground::Light => ([38; 3], [255; 3]),
        };
        let or = |colour: Option<Color>, own| colour.and_then(channels).unwrap_or(own);
        Paper { front: or(style.fg, front), back: or(style.bg, back) }
    }

    /// Returns the colour of a cell's character and that of its background.
    fn colours(self, cell: &Cell) -> (Rgb, Rgb) {
        let front = channels(cell.fg).unwrap_or(self.front);
        let back = channels(cell.bg).unwrap_or(self.back);
        let (front, back) =
            if cell.modifier.contains(Modifier::REVERSED) { (back, front) } else { (front, back) };
        match cell.modifier.contains(Modifier::DIM) {
            true => (mixed(front, back), back),
            false => (front, back),
        }
    }
}

/// Mixes three fifths of one colour with two fifths of another.
fn mixed(one: Rgb, other: Rgb) -> Rgb {
    let mut mixed = one;
    for (channel, other) in mixed.iter_mut().zip(other) {
        *channel = ((u16::from(*channel) * 3 + u16::from(other) * 2) / 5) as u8;
    }
    mixed
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A character of a row with its position and colours.
#[derive(Clone, Copy)]
struct Glyph<'a> {
    text: &'a str,
    column: u16,
    columns: u16,
    front: Rgb,
    back: Rgb,
    modifier: Modifier,
}

/// One row of the frame: its position and its characters.
struct PictureRow<'a> {
    /// The top of the row, in pixels.
    top: u32,
    glyphs: Vec<Glyph<'a>>,
}

impl<'a> PictureRow<'a> {
    fn new(number: u32, cells: &'a [Cell], paper: Paper) -> PictureRow<'a> {
        let mut glyphs: Vec<Glyph<'a>> = Vec::new();
        for (column, cell) in (0..).zip(cells) {
            // A wide character also covers the next cell, which is skipped.
            if glyphs.last().is_some_and(|last| last.column + last.columns > column) {
                continue;
            }
            let ((front, back), text) = (paper.colours(cell), cell.symbol());
            let columns = u16::try_from(width(text)).unwrap_or(1).max(1);
            glyphs.push(Glyph { text, column, columns, front, back, modifier: cell.modifier });
        }
        PictureRow { top: u32::from(MARGIN) + number * u32::from(CELL.height), glyphs }
    }

    /// Writes rectangles: the backgrounds that differ from `backdrop`, and the characters that are drawn as
    /// shapes.
    fn boxes(&self, backdrop: Rgb, out: &mut String) {
        let whole = [0, 0, CELL.width, CELL.height];
        let behind = self.glyphs.iter().filter(|glyph| glyph.back != backdrop);
        let mut pieces: Vec<PictureRectangle> = behind
            .map(|glyph| PictureRectangle::new(self.top, glyph, CellRectangle::solid(whole), glyph.back))
            .collect();
        for glyph in &self.glyphs {
            let drawn = shapes(glyph.text).into_iter().flatten();
            pieces.extend(drawn.map(|shape| PictureRectangle::new(self.top, glyph, shape, glyph.front)));
            if glyph.modifier.contains(Modifier::UNDERLINED) {
                let line = CellRectangle::solid([0, BASELINE + 2, CELL.width, 1]);
                pieces.push(PictureRectangle::new(self.top, glyph, line, glyph.front));
            }
        }
        joined(pieces).iter().for_each(|piece| piece.write(out));
    }

    /// Writes the characters that are drawn as text. Consecutive characters of the same look are one SVG element.
    fn texts(&self, out: &mut String) {
        let mut left = self.glyphs.as_slice();
        while let Some(first) = left.iter().position(Glyph::is_text) {
            let rest = left.get(first..).unwrap_or_default();
            let (run, behind) = rest.split_at(run_length(rest));
            write_run(run, self.top + u32::from(BASELINE), out);
            left = behind;
        }
    }
}

impl Glyph<'_> {
    fn is_text(&self) -> bool {
        !self.is_blank() && shapes(self.text).is_none()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn looks_like(&self, other: &Glyph<'_>) -> bool {
        const SEEN: Modifier = Modifier::BOLD.union(Modifier::ITALIC);
        (self.front, self.modifier & SEEN) == (other.front, other.modifier & SEEN)
    }
}

/// Returns the number of glyphs at the beginning that one SVG element can contain. These glyphs have the same look,
/// and there are only single blanks between them. A non-ASCII character or a wide character is an element by
/// itself: the former may be from another font, and the latter has a wider cell.
fn run_length(glyphs: &[Glyph<'_>]) -> usize {
    let Some(first) = glyphs.first() else { return 0 };
    let goes_on = |pair: &[Glyph<'_>]| match pair {
        [glyph, next] => {
            let blank = glyph.is_blank() && next.is_blank();
            let fits = next.is_blank() || next.is_text() && next.looks_like(first);
            let (one, other) = (glyph.text.is_ascii(), next.text.is_ascii());
            !blank && fits && one == other && glyph.columns == next.columns
        }
        _ => false,
    };
    let length = 1 + glyphs.windows(2).take_while(|pair| goes_on(pair)).count();
    let blanks = glyphs.iter().take(length).rev().take_while(|glyph| glyph.is_blank()).count();
    length - blanks
}

fn write_run(run: &[Glyph<'_>], baseline: u32, out: &mut String) {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
    let x = u32::from(MARGIN) + u32::from(first.column) * u32::from(CELL.width);
    let length = u32::from(last.column + last.columns - first.column) * u32::from(CELL.width);
    let text: String = run.iter().map(|glyph| xml_text(glyph.text)).collect();
    let bold = if first.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let italic = if first.modifier.contains(Modifier::ITALIC) { " font-style=\"italic\"" } else { "" };
    let fill = hex(first.front);
    // Writing to a string can't fail.
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{baseline}\" textLength=\"{length}\" fill=\"{fill}\"{bold}{italic}>{text}</text>"
    );
}

/// A rectangle in the picture.
#[derive(Clone, Copy, PartialEq)]
struct PictureRectangle {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    fill: Rgb,
    percent: u8,
}

impl PictureRectangle {
    /// Places a shape in the cells of a glyph. If the glyph has two cells, a shape with the full width of a cell
    /// is drawn over both cells.
    fn new(top: u32, glyph: &Glyph<'_>, shape: CellRectangle, fill: Rgb) -> PictureRectangle {
        let [left, upper, width, height] = shape.place.map(u32::from);
        let left_edge = u32::from(MARGIN) + u32::from(glyph.column) * u32::from(CELL.width);
        let width = if width == u32::from(CELL.width) { width * u32::from(glyph.columns) } else { width };
        PictureRectangle { x: left_edge + left, y: top + upper, width, height, fill, percent: shape.percent }
    }

    fn write(&self, out: &mut String) {
        let PictureRectangle { x, y, width, height, fill, percent } = self;
        let opacity = if *percent == 100 { String::new() } else { format!(" fill-opacity=\"{percent}%\"") };
        let fill = hex(*fill);
        // Writing to a string can't fail.
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{opacity}/>"
        );
    }
}

/// Merges rectangles of a row that touch each other and have the same height and colour.
fn joined(pieces: Vec<PictureRectangle>) -> Vec<PictureRectangle> {
    let mut joined: Vec<PictureRectangle> = Vec::new();
    for piece in pieces {
        let before = joined.iter_mut().rev().find(|before| before.x + before.width == piece.x);
        match before {
            Some(before) if (PictureRectangle { x: before.x, width: before.width, ..piece }) == *before => {
                before.width += piece.width;
            }
            _ => joined.push(piece),
        }
    }
    joined
}
