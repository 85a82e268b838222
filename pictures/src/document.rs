//! The frame of every picture: its size, its words for those who don't see it, and its style. Knows nothing of what is drawn.

use reviver_escape::{xml_characters, xml_text};

use crate::palette::style_sheet;

/// How every picture begins: so it is told from what others have drawn.
pub const WRITTEN: &str = "<!-- drawn by `reviver`, and overwritten when it is drawn again -->\n";

/// What a picture is called, and what it shows, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    pub title: String,
    pub description: String,
}

/// A whole picture: `shapes` in a room of so many units, shown at a width and a height.
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
    // Names in plots are escaped by plotters, which lets pass what XML can't hold.
    xml_characters(&document).into_owned()
}

/// Tells the words of pictures apart that stand on one page (FNV-1a).
fn identity(title: &str, description: &str, shapes: &str) -> String {
    let bytes = title.bytes().chain(description.bytes()).chain(shapes.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
