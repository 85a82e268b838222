//! Lookup tables of helper functions, one after another in a buffer. The tables aren't constant arrays of the shader,
//! because drivers would copy a constant array for each lane.

use std::cell::RefCell;

/// The distinct lookup tables of a shader.
#[derive(Debug, Default)]
pub(super) struct Tables(RefCell<TableWords>);

#[derive(Debug, Default)]
struct TableWords {
    words: Vec<u64>,
    /// The index of the first word, and the number of words, of each table.
    places: Vec<(usize, usize)>,
}

impl Tables {
    /// Adds a table unless an equal one exists. Returns the index of the table's first word.
    pub fn place(&self, table: impl Iterator<Item = u64>) -> usize {
        let table: Vec<u64> = table.collect();
        let TableWords { words, places } = &mut *self.0.borrow_mut();
        let is_there = |&&(at, length): &&(usize, usize)| words.get(at..at + length) == Some(&table);
        if let Some(&(at, _)) = places.iter().find(is_there) {
            return at;
        }
        let at = words.len();
        places.push((at, table.len()));
        words.extend(table);
        at
    }

    pub fn words(&self) -> Vec<u64> {
        self.0.borrow().words.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tables_are_stored_once() {
        let tables = Tables::default();
        let places = [vec![1, 2], vec![3], vec![1, 2], vec![2]].map(|table| tables.place(table.into_iter()));
        assert_eq!((places, tables.words()), ([0, 2, 0, 3], vec![1, 2, 3, 2]));
    }
}
