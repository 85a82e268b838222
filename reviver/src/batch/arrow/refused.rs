//! Errors of conversions between Arrow columns and lanes. This module only formats the messages.

use arrow_schema::{ArrowError, DataType};
use thiserror::Error;

/// Reason why Arrow columns and lanes can't be converted into each other.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum ArrowRefused {
    #[error("the column `{name}` has the type {found}, which no cell has: {}", cure(found))]
    Type { name: String, found: Box<DataType> },
    /// Lists that are nested more than two levels deep, although arrays of a program have one or two dimensions.
    #[error(
        "the column `{name}` has lists in lists in lists: write a vector as one list in each lane, a matrix as a list of its rows"
    )]
    Deep { name: String },
    /// A null number; `lane` is the row in the record batch.
    #[error("`{name}` is null in lane {lane}: fill in a number, or leave the lane out")]
    Null { name: String, lane: usize },
    #[error(
        "`{name}` has {value}, which no f64 represents exactly: write a CSV file, which has all digits, or read the bits with `LaneResults::bits`"
    )]
    Inexact { name: String, value: String },
    /// An error of the Arrow library itself.
    #[error("{0}")]
    Array(#[from] ArrowError),
}

/// Returns advice for a column whose type can't be converted to lanes.
fn cure(found: &DataType) -> &'static str {
    match found {
        DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) | DataType::LargeListView(_) => {
            "cast it to lists of a fixed size, such as `pyarrow.list_(pyarrow.float64(), 3)`"
        }
        DataType::FixedSizeList(..) => "leave the column out, because its lists have no elements",
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            "decode it (in pyarrow `dictionary_decode`, or a cast to the type of its values)"
        }
        _ => {
            "cast it to integers of 8 to 64 bits, floats of 16 to 64 bits, booleans, or lists of a fixed size of these; or leave it out"
        }
    }
}
