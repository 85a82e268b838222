//! Output of `bench --explain`: the reals that the reverse sweep of a gradient uses. Measures nothing.

use std::io::{self, Write};

use reviver::value_sources::{UsedValue, ValueSource};
use serde_json::{Value as Json, json};

use super::json_values::Object;

fn name(source: ValueSource) -> &'static str {
    match source {
        ValueSource::Kept => "kept",
        ValueSource::Recomputed => "recomputed",
        ValueSource::Inverted => "inverted",
    }
}

/// Returns the members of the JSON object.
pub fn values_json(values: &[UsedValue]) -> Object<'static> {
    let value = |used: &UsedValue| {
        let UsedValue { place, line, value, source } = used;
        json!({ "place": place, "line": line, "source": name(*source), "value": value })
    };
    let mut object = Object::default();
    object.insert("values", Json::Array(values.iter().map(value).collect()));
    object
}

/// Writes a table with a line for each value.
pub fn values_text(values: &[UsedValue], out: &mut dyn Write) -> io::Result<()> {
    let width = values.iter().map(|used| used.place.chars().count()).max().unwrap_or(0).max(5);
    writeln!(out, "{:<width$}  {:<10}  value", "place", "source")?;
    for UsedValue { place, value, source, .. } in values {
        writeln!(out, "{place:<width$}  {:<10}  {value}", name(*source))?;
    }
    let count = |source| values.iter().filter(|used| used.source == source).count();
    let [kept, recomputed, inverted] =
        [ValueSource::Kept, ValueSource::Recomputed, ValueSource::Inverted].map(count);
    writeln!(
        out,
        "the reverse sweep uses {kept} kept, {recomputed} recomputed and {inverted} inverted values"
    )
}
