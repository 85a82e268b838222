//! Rectangles that represent line and bar characters in a cell. Only the line and bar characters of the panes, and
//! some similar ones, have shapes. All other characters are drawn as text.

use ratatui::layout::Size;

/// The size of a cell, in pixels.
pub(super) const CELL: Size = Size { width: 8, height: 17 };

/// A rectangle in a cell: `place` has left, top, width and height in pixels, `percent` is the opacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRectangle {
    pub place: [u16; 4],
    pub percent: u8,
}

impl CellRectangle {
    pub fn solid(place: [u16; 4]) -> CellRectangle {
        CellRectangle { place, percent: 100 }
    }
}

/// Returns the rectangles of a character. Returns `None` if the character is drawn as text.
pub fn shapes(text: &str) -> Option<Vec<CellRectangle>> {
    let mut chars = text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    match c {
        '▁'..='█' => Some(vec![bar(c as u32 - '▁' as u32 + 1)]),
        '░' | '▒' | '▓' => {
            let percent = 25 * (c as u32 - '░' as u32 + 1);
            Some(vec![CellRectangle { percent: percent as u8, ..bar(8) }])
        }
        '╌' | '╍' => Some(vec![dash(if c == '╍' { HEAVY } else { LIGHT })]),
        _ => arms(c).map(lines),
    }
}

/// Returns a bar at the bottom of a cell, with a height of `eighths` eighths of the cell.
fn bar(eighths: u32) -> CellRectangle {
    let height = u16::try_from(u32::from(CELL.height) * eighths / 8).unwrap_or(CELL.height);
    CellRectangle::solid([0, CELL.height - height, CELL.width, height])
}

/// Widths of light and heavy lines, in pixels.
const LIGHT: u16 = 1;
const HEAVY: u16 = 3;

fn dash(weight: u16) -> CellRectangle {
    CellRectangle::solid([1, (CELL.height - weight) / 2, CELL.width - 3, weight])
}

/// Returns the widths of the four lines of a character: from the middle of the cell to the left, to the
/// right, up and down. A width of 0 means no line.
fn arms(c: char) -> Option<[u16; 4]> {
    const L: u16 = LIGHT;
    const H: u16 = HEAVY;
    Some(match c {
        '─' => [L, L, 0, 0],
        '━' => [H, H, 0, 0],
        '│' => [0, 0, L, L],
        '┃' => [0, 0, H, H],
        '┌' => [0, L, 0, L],
        '┐' => [L, 0, 0, L],
        '└' => [0, L, L, 0],
        '┘' => [L, 0, L, 0],
        '├' => [0, L, L, L],
        '┤' => [L, 0, L, L],
        '┬' => [L, L, 0, L],
        '┴' => [L, L, L, 0],
        '┼' => [L, L, L, L],
        '┣' => [0, H, H, H],
        '┫' => [H, 0, H, H],
        '╋' => [H, H, H, H],
        '╂' => [L, L, H, H],
        _ => return None,
    })
}

fn lines([left, right, up, down]: [u16; 4]) -> Vec<CellRectangle> {
    let (width, height) = (CELL.width, CELL.height);
    // Each line extends beyond the middle of the cell, up to the far edge of the thickest line that crosses it.
    let (across, along) = (up.max(down), left.max(right));
    let middle = |size: u16, weight: u16| (size - weight) / 2;
    let mut shapes = Vec::new();
    let mut add = |place: [u16; 4]| {
        if place[2] > 0 && place[3] > 0 {
            shapes.push(CellRectangle::solid(place));
        }
    };
    let (begin, end) = (middle(width, across), middle(width, across) + across);
    if left == right {
        add([0, middle(height, left), width, left]);
    } else {
        add([0, middle(height, left), end, left]);
        add([begin, middle(height, right), width - begin, right]);
    }
    let (begin, end) = (middle(height, along), middle(height, along) + along);
    if up == down {
        add([middle(width, up), 0, up, height]);
    } else {
        add([middle(width, up), 0, up, end]);
        add([middle(width, down), begin, down, height - begin]);
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that lines extend to the edges of their cell, so that they meet the lines of adjacent cells.
    #[test]
    fn box_drawing_lines_extend_to_the_sides_of_their_cell() {
        for c in "─━│┃┌┐└┘├┤┬┴┼┣┫╋╂".chars() {
            let arms = arms(c).unwrap();
            let drawn = shapes(&c.to_string()).unwrap();
            let reaches = |touches: &dyn Fn([u16; 4]) -> bool| drawn.iter().any(|shape| touches(shape.place));
            assert_eq!(reaches(&|[left, ..]| left == 0), arms[0] > 0, "{c} to the left");
            assert_eq!(reaches(&|[left, _, width, _]| left + width == CELL.width), arms[1] > 0, "{c} right");
            assert_eq!(reaches(&|[_, top, ..]| top == 0), arms[2] > 0, "{c} up");
            assert_eq!(reaches(&|[_, top, _, height]| top + height == CELL.height), arms[3] > 0, "{c} down");
        }
    }

    #[test]
    fn bars_have_increasing_heights_and_letters_are_text() {
        let heights: Vec<u16> =
            "▁▂▃▄▅▆▇█".chars().map(|c| shapes(&c.to_string()).unwrap()[0].place[3]).collect();
        assert!(heights.is_sorted_by(|one, other| one < other) && heights[7] == CELL.height, "{heights:?}");
        assert!(["a", " ", "●", "漢", "", "é"].iter().all(|text| shapes(text).is_none()));
    }
}
