//! The SVG document around the shapes of a picture: size, style sheet, and a title and a description for screen
//! readers. This module depends on no kind of picture.

use reviver_escape::{xml_characters, xml_text};

use crate::palette::style_sheet;

/// The first line of every picture, by which `reviver` recognises the files that it has drawn.
pub const WRITTEN: &str = "<!-- drawn by `reviver`, and overwritten when it is drawn again -->\n";

/// The title and the description of a picture, for screen readers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The title, in one line.
    pub title: String,
    /// The description for readers who don't see the picture.
    pub description: String,
}

/// Returns a complete SVG document. `room` is the width and height of the view box, in the units of `shapes`.
/// `shown` is the width and height of the displayed picture, in pixels.
pub fn document(words: &Words, room: (f64, f64), shown: (f64, f64), shapes: &str) -> String {
    let (title, description) = (xml_text(&words.title), xml_text(&words.description));
    let id = identity(&words.title, &words.description, shapes);
    let style = style_sheet();
    let ((x, y), (width, height)) = (room, shown);
    let document = format!(
        "{WRITTEN}<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {x} {y}\" \
         style=\"max-width:100%;height:auto\" role=\"img\" aria-labelledby=\"t{id} d{id}\">\n\
         <title id=\"t{id}\">{title}</title>\n<desc id=\"d{id}\">{description}</desc>\n<style>{style}</style>\n\
         {shapes}</svg>\n"
    );
    // The crate plotters escapes markup in names, but keeps characters that XML forbids.
    xml_characters(&document).into_owned()
}

/// Returns an identifier for the picture: a hash (FNV-1a) of its texts and shapes. With this identifier, the `id`
/// attributes of several pictures on one page are different.
fn identity(title: &str, description: &str, shapes: &str) -> String {
    let bytes = title.bytes().chain(description.bytes()).chain(shapes.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
