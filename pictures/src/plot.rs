//! Plots of curves, drawn with the crate plotters. A plot has one panel, or several panels below each other. This
//! module doesn't depend on steps or cells: callers pass the names of axes and curves.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::canvas::cut;
use crate::document::{Words, document};
use crate::numbers::short;
use crate::palette::Ink;

/// A plot: panels of curves over one common horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// The title and the description.
    pub words: Words,
    /// The name of the horizontal axis, for example "step".
    pub along: String,
    /// The first and the last value of the horizontal axis. If `None`, the range of the points is used.
    pub extent: Option<(f64, f64)>,
    /// A shaded interval of the horizontal axis, if any.
    pub shaded: Option<Shaded>,
    /// The panels from top to bottom.
    pub panels: Vec<Panel>,
}

/// A shaded interval of the horizontal axis, with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaded {
    /// The first value of the interval.
    pub from: f64,
    /// The last value of the interval.
    pub to: f64,
    /// The label of the interval.
    pub name: String,
}

/// Curves that share a vertical axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The name of the vertical axis.
    pub name: String,
    /// The curves of the panel, drawn in this order.
    pub curves: Vec<Curve>,
}

/// A curve: points in the order in which they are connected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The name of the curve in the legend.
    pub name: String,
    /// The points as pairs of horizontal and vertical coordinate. A coordinate that isn't finite makes a gap
    /// in the curve.
    pub points: Vec<(f64, f64)>,
    /// The connection between neighbouring points.
    pub between: Between,
    /// The number of the colour, as in [`crate::palette::Ink::Curve`].
    pub colour: usize,
}

/// The connection between neighbouring points of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// A straight line between the points.
    #[default]
    Line,
    /// A horizontal line from the first point to the position of the second point, and then a vertical line to the
    /// second point.
    Step,
    /// No connection: the points are dots.
    Nothing,
}

/// The error if the crate plotters can't draw a picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture can't be drawn: {0}")]
pub struct DrawingFailed(String);

/// Number of units of the drawing per displayed pixel. The crate plotters rounds positions to whole units, so the
/// units of the drawing are smaller than pixels.
const FINE: u32 = 4;
const WIDTH: u32 = 640;
const TITLE: u32 = 34;
const FIRST_PANEL: u32 = 326;
const PANEL: u32 = 220;
/// The maximum number of characters of the title that are drawn. The SVG's title element contains all characters.
const TITLE_LETTERS: usize = 66;
const LETTERS: u32 = 14 * FINE;
/// The font size for pictures that are displayed at the width of a phone.
const NARROW_LETTERS: u32 = 18 * FINE;
/// The height of the legend's first row, in units of the drawing.
const LEGEND: u32 = 24 * FINE;
/// The height of each further row of the legend, in displayed pixels.
const LEGEND_ROW: u32 = 20;
/// The horizontal position of the vertical axis, in units of the drawing.
const AXIS: u32 = 90 * FINE;
const AXIS_MARGIN: u32 = 8 * FINE;

/// The approximate width of a character, as a fraction of the font size.
const LETTER_WIDTH: f64 = 0.56;

type Drawn<T = ()> = Result<T, Box<dyn Error>>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Plot {
    /// Returns the plot as an SVG document.
    ///
    /// # Errors
    /// The crate plotters can't draw the plot.
    pub fn svg(&self) -> Result<String, DrawingFailed> {
        let panels: u32 = (0..self.panels.len().max(1)).map(|n| self.panel_height(n)).sum();
        let height = TITLE + panels;
        let mut drawn = String::new();
        self.draw(&mut drawn, (WIDTH * FINE, height * FINE))
            .map_err(|error| DrawingFailed(error.to_string()))?;
        let shapes = drawn.split_once('>').map_or("", |(_, shapes)| shapes);
        let shapes = shapes.trim().trim_end_matches("</svg>");
        let shapes = format!(
            "<style>@media (max-width:480px){{.plot text{{font-size:{NARROW_LETTERS}px}}}}</style>\n\
             <g class=\"plot\">\n{shapes}</g>\n"
        );
        let room = (f64::from(WIDTH * FINE), f64::from(height * FINE));
        Ok(document(&self.words, room, (f64::from(WIDTH), f64::from(height)), &shapes))
    }

    fn draw(&self, drawn: &mut String, size: (u32, u32)) -> Drawn {
        let root = SVGBackend::with_string(drawn, size).into_drawing_area();
        root.fill(&colour(Ink::Ground))?;
        let (title, mut rest) = root.split_vertically(TITLE * FINE);
        let middle = i32::try_from(size.0 / 2)?;
        let at_middle = Pos::new(HPos::Center, VPos::Center);
        let style = text(Ink::Text, LETTERS * 9 / 8).pos(at_middle);
        title.draw(&Text::new(cut(&self.words.title, TITLE_LETTERS), (middle, 18 * FINE as i32), style))?;
        for (n, panel) in self.panels.iter().enumerate() {
            let (area, below) = rest.split_vertically(self.panel_height(n) * FINE);
            self.panel(panel, n + 1 == self.panels.len(), &area)?;
            rest = below;
        }
        root.present()?;
        Ok(())
    }

    fn panel_height(&self, n: usize) -> u32 {
        let rows = self.panels.get(n).map_or(0, Panel::more_rows);
        rows * LEGEND_ROW + if n == 0 { FIRST_PANEL } else { PANEL }
    }

    fn panel(&self, panel: &Panel, is_last: bool, area: &Area<'_>) -> Drawn {
        let (legend, area) = area.split_vertically(LEGEND + panel.more_rows() * LEGEND_ROW * FINE);
        draw_legend(panel, &legend)?;
        let (x, y) = (self.extent.unwrap_or_else(|| self.range_along()), panel.range(self.shaded.is_some()));
        let fine = FINE as i32;
        let mut chart = ChartBuilder::on(&area)
            .margin_left(AXIS_MARGIN)
            .margin_right(34 * fine)
            .margin_bottom(6 * fine)
            .x_label_area_size(if is_last { 46 * fine } else { 26 * fine })
            .y_label_area_size(AXIS - AXIS_MARGIN)
            .build_cartesian_2d(widened(x, 0.0).0..widened(x, 0.0).1, y.0..y.1)?;
        if let Some(shaded) = &self.shaded {
            let corners = [(shaded.from, y.0), (shaded.to, y.1)];
            chart.draw_series([Rectangle::new(corners, colour(Ink::Shade).filled())])?;
        }
        let (along, aside) = (|value: &f64| tick(*value, x), |value: &f64| tick(*value, y));
        let mut mesh = chart.configure_mesh();
        mesh.bold_line_style(colour(Ink::Grid).stroke_width(FINE))
            .light_line_style(TRANSPARENT)
            .axis_style(colour(Ink::Faint).stroke_width(FINE))
            .label_style(text(Ink::Faint, LETTERS * 6 / 7))
            .axis_desc_style(text(Ink::Text, LETTERS))
            .x_labels(7)
            .y_labels(6)
            .x_label_formatter(&along)
            .y_label_formatter(&aside)
            .y_desc(&panel.name);
        if is_last {
            mesh.x_desc(&self.along);
        }
        mesh.draw()?;
        // The label is drawn after the grid; otherwise a grid line would cross it.
        if let Some(shaded) = &self.shaded {
            draw_name(&mut chart, shaded, y.1)?;
        }
        for curve in &panel.curves {
            let ink = colour(Ink::Curve(curve.colour));
            for run in curve.runs() {
                match run[..] {
                    [point] => {
                        let size = if curve.between == Between::Nothing { 3 * FINE / 2 } else { 3 * FINE };
                        chart.draw_series([Circle::new(point, size, ink.filled())])?;
                    }
                    _ => {
                        chart.draw_series([PathElement::new(run, ink.stroke_width(2 * FINE))])?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the first and the last value of the horizontal axis, derived from the points.
    fn range_along(&self) -> (f64, f64) {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        widened(range(curves.flat_map(|curve| curve.finite().map(|point| point.0))), 0.04)
    }
}

impl Panel {
    /// Returns the horizontal position and the row of each curve's name in the legend.
    fn legend(&self) -> Vec<(u32, u32)> {
        let start = AXIS + 2 * FINE;
        let (mut x, mut row) = (start, 0);
        let place = |curve: &Curve| {
            let letters = curve.name.chars().count() as f64 * f64::from(NARROW_LETTERS) * LETTER_WIDTH;
            let width = 50 * FINE + letters as u32;
            if x > start && x + width > WIDTH * FINE {
                (x, row) = (start, row + 1);
            }
            x += width;
            (x - width, row)
        };
        self.curves.iter().map(place).collect()
    }

    /// Returns the number of rows of the legend after the first one.
    fn more_rows(&self) -> u32 {
        self.legend().last().map_or(0, |(_, row)| *row)
    }

    /// Returns the range of the vertical axis, with a margin. If part of the plot is shaded, the margin at the top
    /// is larger, to leave space for the label of the shaded interval.
    fn range(&self, is_shaded: bool) -> (f64, f64) {
        let heights = range(self.curves.iter().flat_map(|curve| curve.finite().map(|point| point.1)));
        let (low, high) = widened(heights, 0.06);
        (low, if is_shaded { high + (high - low) * 0.07 } else { high })
    }
}

impl Curve {
    fn finite(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().copied().filter(|point| is_finite(*point))
    }

    /// Returns the minimum, the maximum and the last of the vertical coordinates. Points whose coordinates aren't
    /// finite are ignored. Returns `None` if there are no other points.
    pub fn bounds(&self) -> Option<[f64; 3]> {
        let last = self.finite().last()?.1;
        let (low, high) = range(self.finite().map(|point| point.1));
        Some([low, high, last])
    }

    /// Returns the points to be drawn, as one list of points for each part of the curve between two gaps.
    fn runs(&self) -> Vec<Vec<(f64, f64)>> {
        let mut runs = vec![Vec::new()];
        for point in &self.points {
            let Some(run) = runs.last_mut() else { break };
            match (is_finite(*point), run.last().copied()) {
                (false, None) => {}
                (false, Some(_)) => runs.push(Vec::new()),
                (true, Some(_)) if self.between == Between::Nothing => runs.push(vec![*point]),
                (true, Some((_, height))) if self.between == Between::Step && height != point.1 => {
                    run.extend([(point.0, height), *point]);
                }
                (true, _) => run.push(*point),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }
}

fn is_finite((x, y): (f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

/// Returns the minimum and the maximum of some numbers. Returns 0 and 1 if there are no numbers.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let both = values.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    both.unwrap_or((0.0, 1.0))
}

/// Returns the range enlarged by a margin. A range of a single number is enlarged, too, because a range of
/// length 0 can't be drawn.
fn widened((low, high): (f64, f64), margin: f64) -> (f64, f64) {
    let room = (high - low) * margin;
    if high - low > (high.abs() + low.abs()) * 1e-12 {
        return (low - room, high + room);
    }
    let room = (low.abs() * 0.1).max(1.0);
    (low - room, high + room)
}

/// Returns the label of a tick. A value that is tiny compared to the range is a rounding error, and its label is 0.
fn tick(value: f64, (low, high): (f64, f64)) -> String {
    short(if value.abs() < (high - low) * 1e-9 { 0.0 } else { value })
}

/// Draws the label of the shaded interval at its top, with a background.
fn draw_name(chart: &mut Chart<'_, '_>, shaded: &Shaded, top: f64) -> Drawn {
    let letters = shaded.name.chars().count() as f64 * f64::from(NARROW_LETTERS) * LETTER_WIDTH;
    let (half, height) = (letters as i32 / 2 + FINE as i32, LETTERS as i32);
    let ground = Rectangle::new([(-half, 0), (half, height)], colour(Ink::Shade).filled());
    let style = text(Ink::Faint, LETTERS * 6 / 7).pos(Pos::new(HPos::Center, VPos::Top));
    let name = Text::new(shaded.name.clone(), (0, 0), style);
    let middle = (shaded.from + shaded.to) / 2.0;
    chart.draw_series([EmptyElement::at((middle, top)) + ground + name])?;
    Ok(())
}

/// Draws the legend: a sample of each curve, followed by its name.
fn draw_legend(panel: &Panel, area: &Area<'_>) -> Drawn {
    let fine = FINE as i32;
    for (curve, (x, row)) in panel.curves.iter().zip(panel.legend()) {
        let (x, y) = (x as i32, 12 * fine + (row * LEGEND_ROW * FINE) as i32);
        let line = vec![(x, y), (x + 26 * fine, y)];
        area.draw(&PathElement::new(line, colour(Ink::Curve(curve.colour)).stroke_width(3 * FINE)))?;
        let style = text(Ink::Text, LETTERS).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(curve.name.clone(), (x + 32 * fine, y), style))?;
    }
    Ok(())
}

fn colour(ink: Ink) -> RGBColor {
    let [_, red, green, blue] = ink.light().to_be_bytes();
    RGBColor(red, green, blue)
}

fn text(ink: Ink, size: u32) -> TextStyle<'static> {
    // The crate plotters draws text at four fifths of the requested font size.
    ("sans-serif", f64::from(size) * 1.24).into_font().color(&colour(ink))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Plot {
        let points = vec![(0.0, 1.0), (2.0, 4.0), (3.0, f64::NAN), (4.0, 2.0), (6.0, 2.5)];
        let curve =
            |name: &str, between| Curve { name: name.into(), points: points.clone(), between, colour: 0 };
        Plot {
            words: Words { title: "a < b & c".into(), description: "\"two\" curves".into() },
            along: "steps".into(),
            extent: Some((0.0, 6.0)),
            shaded: Some(Shaded { from: 3.0, to: 6.0, name: "back".into() }),
            panels: vec![
                Panel {
                    name: "values".into(),
                    curves: vec![curve("a", Between::Step), curve("b", Between::Nothing)],
                },
                Panel { name: "drift".into(), curves: vec![Curve::default()] },
            ],
        }
    }

    #[test]
    fn a_stepped_curve_is_split_at_gaps() {
        let curve = &sample().panels[0].curves[0];
        let runs = vec![vec![(0.0, 1.0), (2.0, 1.0), (2.0, 4.0)], vec![(4.0, 2.0), (6.0, 2.0), (6.0, 2.5)]];
        assert_eq!(curve.runs(), runs);
        let dots: Vec<usize> = sample().panels[0].curves[1].runs().iter().map(Vec::len).collect();
        assert_eq!(dots, [1; 4]);
        assert_eq!(curve.bounds(), Some([1.0, 4.0, 2.5]));
    }

    #[test]
    fn the_name_of_the_shaded_part_is_above_the_curves() {
        let (low, high) = sample().panels[0].range(true);
        let (greatest, lowest_panel) = (4.0, 144.0);
        let room = lowest_panel * (high - greatest) / (high - low);
        assert!(room >= f64::from(LETTERS) / f64::from(FINE), "{room}");
        assert_eq!(sample().panels[0].range(false).0, low);
    }

    #[test]
    fn names_that_do_not_fit_are_on_another_row() {
        let named = |n: usize| Curve { name: format!("A[{n}]"), ..Curve::default() };
        let panel = Panel { curves: (0..10).map(named).collect(), ..Panel::default() };
        assert_eq!(panel.more_rows(), 1);
        assert!(panel.legend().iter().all(|(x, _)| *x < (WIDTH - 60) * FINE), "{:?}", panel.legend());
        let endless = Panel { curves: vec![Curve { name: "a".repeat(200), ..named(0) }], ..panel };
        assert_eq!(endless.more_rows(), 0);
    }

    #[test]
    fn pictures_are_well_formed_and_have_words() {
        let svg = sample().svg().unwrap();
        let mut reader = quick_xml::Reader::from_str(&svg);
        reader.config_mut().check_end_names = true;
        let mut depth = 0_i32;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Start(_) => depth += 1,
                quick_xml::events::Event::End(_) => depth -= 1,
                quick_xml::events::Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        assert!(svg.contains("role=\"img\"") && svg.contains("prefers-color-scheme"));
        assert!(svg.contains("@media (max-width:480px)"), "{svg}");
        assert!(svg.contains(">a &lt; b &amp; c</title>"), "{svg}");
    }

    #[test]
    fn nothing_and_single_points_are_drawn_too() {
        let mut plot = Plot { panels: vec![Panel::default()], ..sample() };
        assert!(plot.svg().is_ok());
        plot.extent = None;
        plot.panels[0].curves.push(Curve { points: vec![(1e300, -1e300)], ..Curve::default() });
        assert!(plot.svg().unwrap().contains("<circle"));
    }
}
