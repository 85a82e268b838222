//! Why a column of Arrow is none of lanes, or the other way round. Knows how things are said; judges nothing.

use arrow_schema::{ArrowError, DataType};
use thiserror::Error;

/// What Arrow and lanes can't exchange.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArrowRefused {
    #[error("the column `{name}` is of the type {found}, which is none of numbers of cells: {}", cure(found))]
    Type { name: String, found: Box<DataType> },
    /// An array of a program has one length or two.
    #[error(
        "the column `{name}` has lists in lists in lists: a vector is one list in each lane, a matrix a list of its rows"
    )]
    Deep { name: String },
    /// `lane` counts in the record batch.
    #[error("`{name}`, in lane {lane}, is null: fill in the number that is meant, or leave such lanes out")]
    Null { name: String, lane: usize },
    #[error(
        "`{name}` has {value}, which no f64 holds to the last digit: Arrow has no such numbers, but CSV has room for all of them, \
         and the library for their bits"
    )]
    Inexact { name: String, value: String },
    /// What the arrays themselves refuse.
    #[error("{0}")]
    Array(#[from] ArrowError),
}

/// What makes numbers of a type that lanes don't take.
fn cure(found: &DataType) -> &'static str {
    match found {
        DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) | DataType::LargeListView(_) => {
            "cast it to lists of a fixed size, such as `pyarrow.list_(pyarrow.float64(), 3)`"
        }
        DataType::FixedSizeList(..) => "its lists have no elements; leave it out",
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            "decode it (in pyarrow `dictionary_decode`, or a cast to the type of its values)"
        }
        _ => {
            "integers of 8 to 64 bits, floats of 16 to 64 bits, booleans, and lists of a fixed size of these are; cast it, or leave it out"
        }
    }
}
