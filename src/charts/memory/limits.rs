//! Limits of a memory graph: larger pictures aren't readable.

/// Maximum number of rows of all graphs in a picture.
pub const MOST_ROWS: usize = 2_000;
/// Maximum number of lines in a graph.
pub const MOST_LINES: usize = 500;
/// Maximum number of marks of all graphs in a picture.
pub const MOST_MARKS: usize = 50_000;
/// Maximum number of statements around a statement.
pub const MOST_DEPTH: usize = 60;

/// A limit that a program exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    Rows,
    Lines,
    Marks,
    Depth,
    /// The calls name too many globals.
    Calls,
}

impl Exceeded {
    /// Returns the number that is exceeded, in words.
    pub fn words(self) -> String {
        match self {
            Exceeded::Rows => {
                format!("main and the procedures that it calls have more than {MOST_ROWS} statements")
            }
            Exceeded::Lines => {
                format!("a procedure accesses more than {MOST_LINES} cells, arrays and stacks")
            }
            Exceeded::Marks => format!("the statements have more than {MOST_MARKS} accesses"),
            Exceeded::Depth => format!("statements are nested more than {MOST_DEPTH} deep"),
            Exceeded::Calls => "the procedures name too many globals".to_owned(),
        }
    }
}

/// The rows and marks that may still be added to a picture.
pub struct Remaining {
    rows: usize,
    marks: usize,
}

impl Default for Remaining {
    fn default() -> Remaining {
        Remaining { rows: MOST_ROWS, marks: MOST_MARKS }
    }
}

impl Remaining {
    /// Counts a row with its marks.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn row(&mut self, marks: usize) -> Result<(), Exceeded> {
        self.rows = self.rows.checked_sub(1).ok_or(Exceeded::Rows)?;
        self.marks(marks)
    }

    /// Counts marks in an existing row.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn marks(&mut self, marks: usize) -> Result<(), Exceeded> {
        self.marks = self.marks.checked_sub(marks).ok_or(Exceeded::Marks)?;
        Ok(())
    }
}
