//! Colours for light and dark backgrounds. The colours of curves are those of Okabe and Ito, which colour-blind
//! readers can distinguish. This module depends on no kind of shape.
//!
//! Shapes contain the light colours, so that a picture looks right in viewers that ignore style sheets. The style
//! sheet selects shapes by their light colour. For each light colour, it sets the colour on a dark background, and
//! it makes some curves dashed.

use std::fmt::Write as _;

/// A colour, named by its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// The background of the picture.
    Ground,
    /// The colour of texts, axes and outlines.
    Text,
    /// The colour of secondary content: notes and ticks.
    Faint,
    /// The lines of a grid.
    Grid,
    /// The shaded part of a plot, for example the reverse sweep.
    Shade,
    /// The curve with this number, counted from 0. Curves from number [`COLOURS`] on repeat the colours and
    /// are dashed.
    Curve(usize),
}

/// The number of colours of curves. Each colour is used for solid and for dashed curves.
pub const COLOURS: usize = 6;

/// The maximum number of curves that readers can distinguish in a picture.
pub const CURVES: usize = 2 * COLOURS;

/// The colours of curves, for light and for dark backgrounds.
const CURVE: [[u32; 2]; COLOURS] = [
    [0x0072b2, 0x4aa8ea],
    [0xd55e00, 0xff8a3c],
    [0x009e73, 0x14d19c],
    [0xcc79a7, 0xe9a6cb],
    [0xb87f00, 0xf0bc4a],
    [0x3f8fbf, 0xa5dcff],
];

const GROUND: [u32; 2] = [0xffffff, 0x16191d];
const TEXT: [u32; 2] = [0x1d2126, 0xe8eaed];
const FAINT: [u32; 2] = [0x5f6770, 0xa4acb5];
const GRID: [u32; 2] = [0xe3e6ea, 0x30363d];
const SHADE: [u32; 2] = [0xf3f5f8, 0x1f242a];

impl Ink {
    /// Returns every colour of the palette.
    pub fn all() -> impl Iterator<Item = Ink> {
        let plain = [Ink::Ground, Ink::Text, Ink::Faint, Ink::Grid, Ink::Shade];
        plain.into_iter().chain((0..CURVES).map(Ink::Curve))
    }

    /// Returns the colour on a light background, as 0xRRGGBB. These colours are pairwise distinct, because
    /// the style sheet selects shapes by them.
    pub fn light(self) -> u32 {
        self.colours()[0]
    }

    /// Returns the colour on a dark background, as 0xRRGGBB.
    pub fn dark(self) -> u32 {
        self.colours()[1]
    }

    /// Returns the light colour in the notation of SVG: `#RRGGBB`.
    pub fn hex(self) -> String {
        format!("#{:06X}", self.light())
    }

    /// Returns true if curves of this colour are dashed.
    pub fn is_dashed(self) -> bool {
        matches!(self, Ink::Curve(n) if n % CURVES >= COLOURS)
    }

    fn colours(self) -> [u32; 2] {
        match self {
            Ink::Ground => GROUND,
            Ink::Text => TEXT,
            Ink::Faint => FAINT,
            Ink::Grid => GRID,
            Ink::Shade => SHADE,
            Ink::Curve(n) => {
                let [light, dark] = CURVE.get(n % COLOURS).copied().unwrap_or(TEXT);
                // The dashed variant differs in the lowest bit of the colour, so that the style sheet can
                // select it. The difference is invisible.
                [light ^ u32::from(self.is_dashed()), dark]
            }
        }
    }
}

/// Returns the style sheet: fonts, dash patterns, and colours for dark backgrounds.
pub fn style_sheet() -> String {
    let mut style =
        String::from("text{font-family:system-ui,sans-serif}text.code{font-family:ui-monospace,monospace}");
    let (light, dark) = (Ink::Ground.light(), Ink::Ground.dark());
    // A browser shows an SVG document in a window that may be larger than the picture. The whole window gets the
    // picture's background.
    let _ = write!(style, "svg:root{{background:#{light:06X}}}");
    for ink in Ink::all().filter(|ink| ink.is_dashed()) {
        let _ = write!(style, "[stroke=\"{}\"]{{stroke-dasharray:26 18}}", ink.hex());
    }
    let _ = write!(style, "@media (prefers-color-scheme:dark){{svg:root{{background:#{dark:06X}}}");
    for ink in Ink::all() {
        let (light, dark) = (ink.hex(), ink.dark());
        let _ =
            write!(style, "[fill=\"{light}\"]{{fill:#{dark:06X}}}[stroke=\"{light}\"]{{stroke:#{dark:06X}}}");
    }
    style.push('}');
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the relative luminance of a colour, as the Web Content Accessibility Guidelines define it.
    fn luminance(colour: u32) -> f64 {
        let part = |shift: u32| {
            let part = f64::from(colour >> shift & 0xff) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn the_style_sheet_distinguishes_colours() {
        let inks: Vec<Ink> = Ink::all().collect();
        for (n, a) in inks.iter().enumerate() {
            assert!(inks.iter().skip(n + 1).all(|b| a.light() != b.light()), "{a:?}");
        }
    }

    #[test]
    fn texts_and_curves_are_visible_on_both_backgrounds() {
        for ink in Ink::all() {
            let least = match ink {
                Ink::Text => 12.0,
                Ink::Faint => 4.5,
                Ink::Curve(_) => 2.9,
                Ink::Ground | Ink::Grid | Ink::Shade => continue,
            };
            assert!(contrast(ink.light(), Ink::Ground.light()) >= least, "{ink:?} on light ground");
            assert!(contrast(ink.dark(), Ink::Ground.dark()) >= least, "{ink:?} on dark ground");
        }
    }
}
