//! A row of parts. Each part has several wordings, from long to short. The longest wordings that fit into the row
//! are chosen. If even the shortest wordings don't fit, the least important parts are dropped.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::Pen;
use crate::columns::width;

/// Number of blanks after each part.
const GAP: usize = 2;

/// A part of a row. It is shortened or dropped if there is too little room.
#[derive(Clone, Debug)]
pub struct RowPart {
    /// The wordings, longest first. With an empty wording, the part isn't shown.
    wordings: Vec<String>,
    chosen: usize,
    /// Rank for shortening: parts with a higher rank are shortened first.
    shortens: u8,
    /// Rank for dropping. After all parts have been shortened, parts are dropped, those with a higher rank first.
    /// The part with the lowest rank is never dropped.
    leaves: u8,
    style: Style,
}

impl RowPart {
    pub fn new<const N: usize>(wordings: [String; N], (shortens, leaves): (u8, u8), style: Style) -> RowPart {
        RowPart { wordings: wordings.to_vec(), chosen: 0, shortens, leaves, style }
    }

    fn text(&self) -> &str {
        self.wordings.get(self.chosen).map_or("", String::as_str)
    }

    fn shorten(&mut self) -> bool {
        let can = self.chosen + 1 < self.wordings.len();
        self.chosen += usize::from(can);
        can
    }

    fn leave(&mut self) {
        self.chosen = self.wordings.len();
    }
}

/// Draws the parts into the first row of an area.
pub fn draw(mut parts: Vec<RowPart>, area: Rect, buffer: &mut Buffer) {
    fit(&mut parts, area.width.into());
    for row in area.rows().take(1) {
        let mut pen = Pen::new(row, buffer);
        pen.skip(1);
        for part in parts.iter().filter(|part| !part.text().is_empty()) {
            pen.write(part.text(), part.style).skip(GAP);
        }
    }
}

/// Chooses a wording for each part, so that the row fits into `room` columns with a blank before it.
fn fit(parts: &mut [RowPart], room: usize) {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&n| parts.get(n).map(|part| std::cmp::Reverse(part.shortens)));
    for &n in &order {
        while needed(parts) > room && parts.get_mut(n).is_some_and(RowPart::shorten) {}
    }
    order.sort_by_key(|&n| parts.get(n).map(|part| std::cmp::Reverse(part.leaves)));
    order.pop();
    for n in order {
        if needed(parts) > room {
            parts.get_mut(n).into_iter().for_each(RowPart::leave);
        }
    }
}

/// Returns the number of columns that the parts need.
fn needed(parts: &[RowPart]) -> usize {
    let widths = parts.iter().map(|part| width(part.text())).filter(|width| *width > 0);
    1 + widths.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_shortened_before_they_are_omitted() {
        let part = |long: &str, short: &str, rank| {
            RowPart::new([long.to_owned(), short.to_owned()], (rank, rank), Style::new())
        };
        let parts = [part("history 0 B", "0 B", 0), part("step 3", "3", 1), part("depth 2", "", 2)];
        let fitted = |room| {
            let mut parts = parts.to_vec();
            fit(&mut parts, room);
            let texts: Vec<&str> = parts.iter().map(RowPart::text).filter(|text| !text.is_empty()).collect();
            texts.join("  ")
        };
        assert_eq!(fitted(29), "history 0 B  step 3  depth 2");
        assert_eq!(fitted(28), "history 0 B  step 3");
        assert_eq!(fitted(19), "history 0 B  3");
        assert_eq!(fitted(14), "0 B  3");
        assert_eq!(fitted(6), "0 B");
        assert_eq!(fitted(0), "0 B");
    }
}
