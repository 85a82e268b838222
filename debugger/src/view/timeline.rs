//! The timeline pane: a scrub bar over the whole line with what happened on it, and the lines that
//! leave it. Plots come from [`Session::samples`], which a front end may keep.

use crate::session::{Event, Session};
use crate::timeline::Fork;

/// The scrub bar.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePane {
    /// The first and the last step reached.
    pub extent: (i64, i64),
    pub step: i64,
    /// The bar's columns, each for an equal part of the steps.
    pub columns: Vec<Column>,
    /// All lines of history.
    pub forks: Vec<Fork>,
}

/// One column of the scrub bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub is_here: bool,
    /// Points that stopped somebody here, by number.
    pub points: Vec<u32>,
    pub trap: bool,
    pub marks: Vec<String>,
    pub fence: bool,
    /// Lines of history that begin here.
    pub forks: Vec<usize>,
}

/// The timeline, its bar in so many columns.
pub fn timeline(session: &Session, width: usize) -> TimelinePane {
    let extent = session.timeline().branch().extent();
    let (moment, forks) = (session.moment(), session.timeline().forks());
    let mut columns = vec![Column::default(); width];
    let mut at = |step: i64, change: &dyn Fn(&mut Column)| {
        let column = column_of(extent, step, width);
        column.and_then(|column| columns.get_mut(column)).into_iter().for_each(change);
    };
    at(moment.step, &|column| column.is_here = true);
    for (step, event) in session.events() {
        at(step, &|column| match event {
            Event::Point(id) if !column.points.contains(id) => column.points.push(*id),
            Event::Point(_) => {}
            Event::Trap => column.trap = true,
        });
    }
    for (name, mark) in session.marks().iter().filter(|(_, mark)| mark.line == moment.line) {
        at(mark.step, &|column| column.marks.push(name.clone()));
    }
    for step in session.fences() {
        at(step, &|column| column.fence = true);
    }
    for fork in forks.iter().filter(|fork| fork.parent == Some(moment.line)) {
        at(fork.step, &|column| column.forks.push(fork.line));
    }
    TimelinePane { extent, step: moment.step, columns, forks }
}

/// The column of a step; none outside of the extent.
pub fn column_of((first, last): (i64, i64), step: i64, width: usize) -> Option<usize> {
    let parts = i128::from(last) - i128::from(first) + 1;
    let part = i128::from(step) - i128::from(first);
    ((0..parts).contains(&part) && width > 0).then(|| (part * width as i128 / parts) as usize)
}

/// The first step of a column: where a click leads. The inverse of [`column_of`].
pub fn step_of((first, last): (i64, i64), column: usize, width: usize) -> i64 {
    let parts = i128::from(last) - i128::from(first) + 1;
    let width = width.max(1) as i128;
    let part = (column as i128 * parts + width - 1) / width;
    (i128::from(first) + part.min(parts - 1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_steps_agree() {
        for extent in [(0, 0), (0, 79), (-5, 17), (0, 1_000_000_007), (i64::MIN / 2, i64::MAX / 2)] {
            for column in 0..80 {
                let step = step_of(extent, column, 80);
                assert!((extent.0..=extent.1).contains(&step));
                let found = column_of(extent, step, 80).unwrap();
                assert!(found >= column || step == extent.1, "{extent:?} {column} {step} {found}");
            }
        }
        assert_eq!(column_of((0, 10), 11, 80), None);
        assert_eq!(column_of((0, 10), 5, 0), None);
    }
}
