//! Mapping between steps and screen columns, for bars and plots. Every column covers an equal number of
//! steps.

/// Returns the column of a step, if `width` columns cover the steps of the extent. Returns `None` for a step
/// outside the extent.
pub fn column_of((first, last): (i64, i64), step: i64, width: usize) -> Option<usize> {
    let parts = i128::from(last) - i128::from(first) + 1;
    let part = i128::from(step) - i128::from(first);
    ((0..parts).contains(&part) && width > 0).then(|| (part * width as i128 / parts) as usize)
}

/// Returns the first step of a column: the inverse of [`column_of`].
pub fn step_of((first, last): (i64, i64), column: usize, width: usize) -> i64 {
    let parts = i128::from(last) - i128::from(first) + 1;
    let width = width.max(1) as i128;
    let part = (column as i128 * parts + width - 1) / width;
    (i128::from(first) + part.min(parts - 1)) as i64
}

/// Returns the step that a click on a column selects: the first step of the column. For the last column that
/// is the last step of the extent.
pub fn chosen_step(extent: (i64, i64), column: usize, width: usize) -> i64 {
    if column > 0 && column + 1 >= width { extent.1 } else { step_of(extent, column, width) }
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
            assert_eq!((chosen_step(extent, 0, 80), chosen_step(extent, 79, 80)), extent);
        }
        assert_eq!(column_of((0, 10), 11, 80), None);
        assert_eq!(column_of((0, 10), 5, 0), None);
    }
}
