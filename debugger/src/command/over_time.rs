//! Queries about several time points: `diff` and `trace`.

use super::actions::SOME;
use super::arguments::{between_commas, split_at_last_word, split_at_word};
use super::console::{CommandResult, CommandRow, Console, Outcome};
use crate::format::PrintFormat;
use crate::session::{SessionError, TimePointName};

/// Default for the maximum number of rows of a `trace` table.
const ROWS: usize = 100;
/// Maximum number of rows of a `trace` table that a user can request.
const MOST_ROWS: usize = 1_000_000;

pub fn diff(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let mut words = row.something(rest, "one or two time points")?.split_whitespace();
    let first = row.time_point(words.next().unwrap_or_default())?;
    let second = words.next().map_or(Ok(TimePointName::Here), |word| row.time_point(word))?;
    let most = words.next().map_or(Ok(SOME), |word| row.number(word))?;
    row.nothing(words.next().unwrap_or_default())?;
    Ok(Outcome::Difference(Box::new(console.session.difference(&first, &second, most)?)))
}

pub fn trace(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (layout, rest) = PrintFormat::split(rest).map_err(SessionError::from)?;
    let (asked, condition) = split_at_word(row.something(rest, "expressions and a place")?, "if");
    let (columns, place) = split_at_last_word(asked, "at");
    let Some(place) = place.filter(|place| !place.is_empty()) else {
        return Err(row.wrong("`trace` needs a place after `at`: `trace i, A[i] at 29`"));
    };
    let most = layout.count.unwrap_or(ROWS);
    if !(1..=MOST_ROWS).contains(&most) {
        return Err(row.wrong(format!("a table has from 1 to {MOST_ROWS} rows, and not {most}")));
    }
    let columns = between_commas(row.something(columns, "expressions, with commas between them")?);
    Ok(Outcome::Trace(console.session.trace(&columns, place, condition, (layout, most))?))
}
