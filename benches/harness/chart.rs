//! Log–log charts, as SVG and as characters. This module doesn't depend on the measurements.

use std::fmt::Write as _;

/// Named line through points.
pub struct Series {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Chart with several lines.
pub struct Chart {
    pub title: &'static str,
    pub x: &'static str,
    pub series: Vec<Series>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 50.0;
const COLOURS: [&str; 4] = ["#1f6f8b", "#c8553d", "#588157", "#6d597a"];
/// Plot character for each line.
const SIGNS: [char; 4] = ['*', 'o', '+', 'x'];
const ROWS: usize = 14;
const COLUMNS: usize = 60;

impl Chart {
    /// Returns the range of one coordinate over all points, as exponents of ten that are rounded outward. `of` returns
    /// the coordinate of a point.
    fn decades(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| &series.points).map(&of).map(f64::log10);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        (least.floor(), most.ceil().max(least.floor() + 1.0))
    }

    /// Returns a function from points to positions in the frame, each coordinate between 0 and 1.
    fn placed(&self) -> impl Fn(&(f64, f64)) -> (f64, f64) {
        let (xs, ys) = (self.decades(|point| point.0), self.decades(|point| point.1));
        move |&(x, y)| ((x.log10() - xs.0) / (xs.1 - xs.0), (y.log10() - ys.0) / (ys.1 - ys.0))
    }

    fn svg(&self, left: f64) -> String {
        let (xs, ys) = (self.decades(|point| point.0), self.decades(|point| point.1));
        let at = |(x, y): (f64, f64)| (left + MARGIN + x * WIDTH, MARGIN + (1.0 - y) * HEIGHT);
        let mut svg = String::new();
        let ((x0, y0), (x1, y1)) = (at((0.0, 0.0)), at((1.0, 1.0)));
        let _ = writeln!(svg, r#"<text x="{x0}" y="{}" font-weight="bold">{}</text>"#, y1 - 14.0, self.title);
        let _ = writeln!(
            svg,
            r##"<rect x="{x0}" y="{y1}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>"##
        );
        for decade in xs.0 as i32..=xs.1 as i32 {
            let x = x0 + (f64::from(decade) - xs.0) / (xs.1 - xs.0) * (x1 - x0);
            let _ = writeln!(svg, r##"<path d="M{x:.1} {y0:.1}V{y1:.1}" stroke="#ddd"/>"##);
            let _ = writeln!(
                svg,
                r#"<text x="{x:.1}" y="{:.1}" text-anchor="middle">1e{decade}</text>"#,
                y0 + 16.0
            );
        }
        for decade in ys.0 as i32..=ys.1 as i32 {
            let y = y0 + (f64::from(decade) - ys.0) / (ys.1 - ys.0) * (y1 - y0);
            let _ = writeln!(svg, r##"<path d="M{x0:.1} {y:.1}H{x1:.1}" stroke="#ddd"/>"##);
            let _ = writeln!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">1e{decade}</text>"#,
                x0 - 6.0,
                y + 4.0
            );
        }
        let _ =
            writeln!(svg, r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#, x1, y0 + 32.0, self.x);
        let place = self.placed();
        for (n, series) in self.series.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            let points: Vec<_> = series.points.iter().map(|point| at(place(point))).collect();
            let path: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
                path.join(" ")
            );
            for (x, y) in points {
                let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#);
            }
            let (x, y) = (x0 + 10.0, y1 + 18.0 + 16.0 * n as f64);
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" fill="{colour}">{}</text>"#, series.name);
        }
        svg
    }

    /// Renders the chart as characters.
    pub fn text(&self) -> String {
        let (ys, place) = (self.decades(|point| point.1), self.placed());
        let mut rows = vec![vec![' '; COLUMNS + 1]; ROWS + 1];
        for (n, series) in self.series.iter().enumerate() {
            for point in &series.points {
                let (x, y) = place(point);
                let (column, row) = ((x * COLUMNS as f64).round(), ((1.0 - y) * ROWS as f64).round());
                rows[row as usize][column as usize] = SIGNS[n % SIGNS.len()];
            }
        }
        let mut text = format!("{}\n", self.title);
        for (n, row) in rows.into_iter().enumerate() {
            let label = match n {
                0 => format!("1e{}", ys.1),
                ROWS => format!("1e{}", ys.0),
                _ => String::new(),
            };
            let _ = writeln!(text, "{label:>6} |{}", row.into_iter().collect::<String>().trim_end());
        }
        let xs = self.decades(|point| point.0);
        let _ = writeln!(text, "       +{}", "-".repeat(COLUMNS));
        let _ = writeln!(text, "        1e{:<54} 1e{}   {}", xs.0, xs.1, self.x);
        for (n, series) in self.series.iter().enumerate() {
            let _ = writeln!(text, "        {} {}", SIGNS[n % SIGNS.len()], series.name);
        }
        text
    }
}

/// Renders charts side by side as SVG.
pub fn svg(charts: &[Chart]) -> String {
    let width = (WIDTH + 2.0 * MARGIN) * charts.len() as f64;
    let height = HEIGHT + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    svg.push_str("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    for (n, chart) in charts.iter().enumerate() {
        svg.push_str(&chart.svg((WIDTH + 2.0 * MARGIN) * n as f64));
    }
    svg.push_str("</svg>\n");
    svg
}
