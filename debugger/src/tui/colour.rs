//! Red, green and blue values of the 256 terminal colours. For the first 16, the values are those of xterm; the
//! others are the same in every terminal. This module depends on no theme.

use ratatui::style::Color;

/// Red, green and blue, 0 to 255.
pub type Rgb = [u8; 3];

/// Returns the channels of a colour, or `None` for the terminal's default colour.
pub fn channels(colour: Color) -> Option<Rgb> {
    let cube = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    Some(match colour {
        Color::Reset => return None,
        Color::Black => [0; 3],
        Color::Red => [205, 0, 0],
        Color::Green => [0, 205, 0],
        Color::Yellow => [205, 205, 0],
        Color::Blue => [0, 0, 238],
        Color::Magenta => [205, 0, 205],
        Color::Cyan => [0, 205, 205],
        Color::Gray => [229; 3],
        Color::DarkGray => [127; 3],
        Color::LightRed => [255, 0, 0],
        Color::LightGreen => [0, 255, 0],
        Color::LightYellow => [255, 255, 0],
        Color::LightBlue => [92, 92, 255],
        Color::LightMagenta => [255, 0, 255],
        Color::LightCyan => [0, 255, 255],
        Color::White => [255; 3],
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(n @ 0..=15) => return channels(SIXTEEN[usize::from(n)]),
        Color::Indexed(n @ 16..=231) => [cube((n - 16) / 36), cube((n - 16) / 6 % 6), cube((n - 16) % 6)],
        Color::Indexed(n @ 232..) => [8 + 10 * (n - 232); 3],
    })
}

/// The first 16 colours by their numbers.
const SIXTEEN: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];
