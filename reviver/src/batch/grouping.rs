//! Grouping of result columns into arrays by their names. This module reads no numbers.

/// Columns that form one array: all cells of a name, or a single cell.
pub struct ArrayColumns {
    /// Name of the array, without indices.
    pub name: String,
    /// Lengths of the array's dimensions, without the lane dimension.
    pub lengths: Vec<u64>,
    /// Indices of the columns.
    pub columns: Vec<usize>,
}

/// Groups columns by their arrays, in the order of each array's first column. If cells of an array are missing or out
/// of order, its cells stay single columns.
pub fn grouped(names: &[&str]) -> Vec<ArrayColumns> {
    let mut arrays: Vec<(ArrayColumns, Vec<Vec<u64>>)> = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let (base, indices) = split(name);
        match arrays.iter_mut().find(|(array, _)| array.name == base) {
            Some((array, seen)) => {
                array.columns.push(n);
                seen.push(indices);
            }
            None => arrays
                .push((ArrayColumns { name: base, lengths: Vec::new(), columns: vec![n] }, vec![indices])),
        }
    }
    arrays.into_iter().flat_map(|(array, seen)| shaped(array, &seen, names)).collect()
}

/// Splits a column name into name and indices: `residual[1]/X[2]` becomes `residual/X` with the indices 1 and 2.
fn split(name: &str) -> (String, Vec<u64>) {
    let (mut base, mut indices, mut number) = (String::new(), Vec::new(), None);
    for sign in name.chars() {
        match (sign, number) {
            ('[', None) => number = Some(0u64),
            (']', Some(index)) | (',', Some(index)) => {
                indices.push(index);
                number = (sign == ',').then_some(0);
            }
            (digit, Some(index)) => number = Some(index * 10 + u64::from(digit.to_digit(10).unwrap_or(0))),
            (sign, None) => base.push(sign),
        }
    }
    (base, indices)
}

/// Returns the array unchanged if its columns are all its cells in row-major order. Otherwise returns each column as a
/// separate array.
fn shaped(array: ArrayColumns, seen: &[Vec<u64>], names: &[&str]) -> Vec<ArrayColumns> {
    let depth = seen.first().map_or(0, Vec::len);
    let lengths: Vec<u64> = (0..depth)
        .map(|n| seen.iter().filter_map(|indices| indices.get(n)).max().map_or(0, |last| last + 1))
        .collect();
    let place = |indices: &Vec<u64>| {
        indices.iter().zip(&lengths).fold(0, |place, (index, length)| place * length + index)
    };
    let is_whole = lengths.iter().product::<u64>() == seen.len() as u64
        && seen.iter().enumerate().all(|(n, indices)| indices.len() == depth && place(indices) == n as u64);
    if is_whole {
        return vec![ArrayColumns { lengths, ..array }];
    }
    let alone = |&n: &usize| ArrayColumns {
        name: names.get(n).map_or(String::new(), |name| (*name).to_owned()),
        lengths: Vec::new(),
        columns: vec![n],
    };
    array.columns.iter().map(alone).collect()
}
