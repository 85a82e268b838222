//! Tables with column names in the first line, and a number in each column of every other line.

use super::fields::looks_like_number;
use super::lines::{TableLines, shown_field};
use crate::failure::{Fallible, counted};

/// Returns the column names in the current line, without blanks.
///
/// # Errors
/// A column has no name, or a number instead of a name. A name occurs twice, or has no closing bracket.
pub fn names(lines: &mut TableLines<'_>) -> Fallible<Vec<String>> {
    lines.drop_trailing(1);
    let mut names: Vec<String> = Vec::new();
    for (n, field) in lines.fields().enumerate() {
        let name: String = field.chars().filter(|sign| !sign.is_whitespace()).collect();
        let shown = shown_field(&name);
        if name.is_empty() {
            return Err(lines
                .fault(Some(n), "this column has no name")
                .help("name each column after a cell: `x`, `A[3]`"));
        }
        if looks_like_number(&name) && !is_word(&name) {
            let what = format!("`{shown}` is a number, and the first line must name the columns");
            return Err(lines
                .fault(Some(n), &what)
                .help("write the names of the cells in the first line: `x,A[0],A[1]`"));
        }
        if name.contains('[') && !name.contains(']') {
            return Err(lines
                .fault(Some(n), &format!("`{shown}` has no closing bracket"))
                .help("put a name that contains a comma into quotes: \"M[1,2]\""));
        }
        if names.contains(&name) {
            let what = format!("the column `{shown}` occurs twice");
            return Err(lines.fault(Some(n), &what).help("leave one of them out"));
        }
        names.push(name);
    }
    Ok(names)
}

/// Returns true if a name begins like an identifier. Such a name isn't taken for a number, even if it is `inf`.
fn is_word(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_alphabetic())
}

/// Checks that the current line has a number for each of `columns` columns.
///
/// # Errors
/// The line has the wrong number of fields. Or the table has a single column and the line before is blank: a blank line
/// in such a table may be a missing number.
pub fn number_count(lines: &mut TableLines<'_>, columns: usize) -> Fallible {
    lines.drop_trailing(columns);
    let found = lines.count();
    if found != columns {
        let what = format!(
            "this line has {}, and the first line names {}",
            counted(found, "field"),
            counted(columns, "column")
        );
        let failure = lines.fault(Some(found.min(columns)), &what);
        let is_double = lines.is_by_commas() && found > columns;
        return Err(match found < columns {
            true => failure.help("write a number in every column; the file may be cut short"),
            false if is_double => failure
                .help("write one number in every column; if commas are decimal commas, write decimal points"),
            false => failure.help("write one number in every column"),
        });
    }
    if columns == 1 && lines.has_skipped() {
        let what =
            "the line before is blank, and in a table of one column a blank line may be a missing number";
        return Err(lines.fault(None, what).help("write the number, or delete the blank line"));
    }
    Ok(())
}
