//! Output of arrays of any size: each entry is formatted when it is written, so the whole text or object is never in
//! memory. The module handles shapes; callers format the entries.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;

use reviver_escape::JsonWriter;
use reviver_isa::module::{Global, RealSystem, Shape};
use reviver_isa::number::{FixedForReaders, fixed_for_readers};
use reviver_vm::values::Value;
use reviver_vm::{Program, State};
use serde::ser::{Serialize, SerializeMap, SerializeSeq as _, Serializer};
use serde_json::{Map, Number, Value as Json};

/// Returns a number as JSON with all its digits; other text as a string.
pub fn number(text: &str) -> Json {
    text.parse::<Number>().map_or_else(|_| Json::String(text.to_owned()), Json::Number)
}

/// Returns a value of a program as a JSON scalar.
pub fn value<'a>(program: &Program, value: Value) -> JsonValue<'a> {
    let text = program.text(value);
    JsonCells::new(Shape::Scalar, move |_| Some(text.clone())).of_numbers(program).into()
}

/// Formatter of the entry at an index; returns `None` for an entry without a value. Such an entry becomes null.
type RenderCell<'a> = Rc<dyn Fn(usize) -> Option<String> + 'a>;

/// Returns the display shape of `count` values of a declaration; a stack is shown as a vector.
pub fn json_shape(shape: Shape, count: usize) -> Shape {
    match shape {
        Shape::Stack => Shape::Vector(u32::try_from(count).unwrap_or(u32::MAX)),
        shape => shape,
    }
}

/// Numbers in a shape: a scalar, a vector in brackets, or a matrix as a vector of rows.
#[derive(Clone)]
pub struct JsonCells<'a> {
    shape: Shape,
    spell: RenderCell<'a>,
    /// Fraction bits of the program's reals, if they are fixed point.
    fraction_bits: Option<u8>,
}

impl<'a> JsonCells<'a> {
    pub fn new(shape: Shape, spell: impl Fn(usize) -> Option<String> + 'a) -> JsonCells<'a> {
        JsonCells { shape, spell: Rc::new(spell), fraction_bits: None }
    }

    /// Sets the number system. After this call, the output also has an exact integer for each fixed-point entry
    /// that equals no `f64`.
    pub fn of_numbers(mut self, program: &Program) -> JsonCells<'a> {
        self.fraction_bits = match program.module().real {
            RealSystem::Fixed(bits) => Some(bits),
            RealSystem::F64 | RealSystem::F32 => None,
        };
        self
    }

    /// Creates a vector of `count` entries.
    pub fn list(count: usize, spell: impl Fn(usize) -> String + 'a) -> JsonCells<'a> {
        JsonCells::new(Shape::Vector(u32::try_from(count).unwrap_or(u32::MAX)), move |n| Some(spell(n)))
    }

    /// Returns the values of a global's cells in a state, or those of its stack.
    pub fn of(program: &'a Program, state: &'a State, (n, global): (usize, &Global)) -> JsonCells<'a> {
        let shape = json_shape(global.shape, program.count(state, n));
        let spell = move |element| program.value(state, n, element).map(|value| program.text(value));
        JsonCells::new(shape, spell).of_numbers(program)
    }

    /// Returns an entry as JSON. Sets `found` if no `f64` equals the entry, so that [`Units`] must list it. Entries
    /// without a decimal point are integers, and are never listed.
    fn json(&self, n: usize, found: &Cell<bool>) -> Json {
        let Some(text) = (self.spell)(n) else { return Json::Null };
        match self.fixed(&text) {
            Some(fixed) => {
                found.set(found.get() || fixed.units.is_some());
                number(&fixed.text)
            }
            None => number(&text),
        }
    }

    fn fixed(&self, text: &str) -> Option<FixedForReaders> {
        self.fraction_bits.filter(|_| text.contains('.')).and_then(|bits| fixed_for_readers(bits, text))
    }

    /// Returns the integer of a fixed-point entry (the value in units of its last bit), if no `f64` equals the entry.
    fn units(&self, n: usize) -> Option<i64> {
        (self.spell)(n).and_then(|text| self.fixed(&text)).and_then(|fixed| fixed.units)
    }

    fn entry(&self, n: usize, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.spell)(n) {
            Some(text) => f.write_str(&text),
            None => f.write_str("·"),
        }
    }
}

impl fmt::Display for JsonCells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.shape {
            Shape::Scalar => self.entry(0, f),
            Shape::Vector(count) => listed(f, count, |n, f| self.entry(n, f)),
            Shape::Matrix(rows, columns) => {
                let of = move |row: usize, column: usize| row * columns as usize + column;
                listed(f, rows, |row, f| listed(f, columns, |column, f| self.entry(of(row, column), f)))
            }
            // The values on a stack are shown in the shape of a vector. The shape `Stack` itself has no entries.
            Shape::Stack => listed(f, 0, |n, f| self.entry(n, f)),
        }
    }
}

fn listed(
    f: &mut fmt::Formatter,
    count: u32,
    entry: impl Fn(usize, &mut fmt::Formatter) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for n in 0..count as usize {
        if n > 0 {
            f.write_str(", ")?;
        }
        entry(n, f)?;
    }
    f.write_str("]")
}

/// Value in the JSON output of a command.
pub enum JsonValue<'a> {
    Json(Json),
    Cells(JsonCells<'a>),
    /// List with its length. The function creates the entry at an index when that entry is written.
    List(usize, Rc<dyn Fn(usize) -> JsonValue<'a> + 'a>),
    Object(Object<'a>),
}

impl<'a> JsonValue<'a> {
    pub fn list(count: usize, part: impl Fn(usize) -> JsonValue<'a> + 'a) -> JsonValue<'a> {
        JsonValue::List(count, Rc::new(part))
    }

    /// Returns values nested by a shape: one value, a list, or a list of rows; `part` returns the value at an index.
    pub fn shaped(shape: Shape, part: impl Fn(usize) -> JsonValue<'a> + 'a) -> JsonValue<'a> {
        match shape {
            Shape::Scalar => part(0),
            Shape::Vector(count) => JsonValue::list(count as usize, part),
            Shape::Stack => JsonValue::list(0, part),
            Shape::Matrix(rows, columns) => {
                let (part, columns) = (Rc::new(part), columns as usize);
                JsonValue::list(rows as usize, move |row| {
                    let part = part.clone();
                    JsonValue::list(columns, move |column| part(row * columns + column))
                })
            }
        }
    }
}

impl<T: Into<Json>> From<T> for JsonValue<'_> {
    fn from(value: T) -> Self {
        JsonValue::Json(value.into())
    }
}

impl<'a> From<JsonCells<'a>> for JsonValue<'a> {
    fn from(cells: JsonCells<'a>) -> Self {
        JsonValue::Cells(cells)
    }
}

impl<'a> From<Object<'a>> for JsonValue<'a> {
    fn from(object: Object<'a>) -> Self {
        JsonValue::Object(object)
    }
}

/// Serializer of a value. Sets `found` if the value contains a number that [`Units`] must list.
struct WithUnits<'t, 'a> {
    reported: &'t JsonValue<'a>,
    found: &'t Cell<bool>,
}

impl Serialize for WithUnits<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WithUnits { reported, found } = *self;
        match reported {
            JsonValue::Json(json) => json.serialize(serializer),
            JsonValue::Cells(cells) => match cells.shape {
                Shape::Scalar => cells.json(0, found).serialize(serializer),
                Shape::Vector(count) => {
                    serializer.collect_seq((0..count as usize).map(|n| cells.json(n, found)))
                }
                Shape::Matrix(rows, columns) => {
                    let row = |row| Row { cells, cells_before: row * columns as usize, columns, found };
                    serializer.collect_seq((0..rows as usize).map(row))
                }
                Shape::Stack => serializer.collect_seq([(); 0]),
            },
            JsonValue::List(count, part) => {
                let mut list = serializer.serialize_seq(Some(*count))?;
                (0..*count)
                    .try_for_each(|n| list.serialize_element(&WithUnits { reported: &part(n), found }))?;
                list.end()
            }
            JsonValue::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.0.len()))?;
                let mut members = object.0.iter();
                members.try_for_each(|(key, reported)| {
                    map.serialize_entry(key, &WithUnits { reported, found })
                })?;
                map.end()
            }
        }
    }
}

/// Serializer of one row of a matrix.
struct Row<'t, 'a> {
    cells: &'t JsonCells<'a>,
    cells_before: usize,
    columns: u32,
    found: &'t Cell<bool>,
}

impl Serialize for Row<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { cells, cells_before, columns, found } = *self;
        serializer.collect_seq((0..columns as usize).map(|n| cells.json(cells_before + n, found)))
    }
}

/// JSON object with members in output order.
#[derive(Default)]
pub struct Object<'a>(Vec<(String, JsonValue<'a>)>);

impl<'a> Object<'a> {
    /// Adds a member, replacing any of the same name.
    pub fn insert(&mut self, key: &str, reported: impl Into<JsonValue<'a>>) {
        let reported = reported.into();
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, member)) => *member = reported,
            None => self.0.push((key.to_owned(), reported)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn extend(&mut self, members: Map<String, Json>) {
        members.into_iter().for_each(|(key, value)| self.insert(&key, value));
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = JsonWriter::new(out);
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")
    }
}

/// Conversion from a list of members. The names must be distinct.
impl<'a> FromIterator<(String, JsonValue<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (String, JsonValue<'a>)>>(members: I) -> Self {
        Object(members.into_iter().collect())
    }
}

/// Serialization of the members. If a number equals no `f64`, the member `units` follows, with exact integers.
impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = Cell::new(false);
        let mut map = serializer.serialize_map(None)?;
        self.0.iter().try_for_each(|(key, reported)| {
            map.serialize_entry(key, &WithUnits { reported, found: &found })
        })?;
        if found.get() {
            map.serialize_entry("units", &Units(self))?;
        }
        map.end()
    }
}

/// Value of the member `units`: the exact integers of fixed-point numbers that no `f64` equals, by JSON pointer (RFC
/// 6901).
struct Units<'t, 'a>(&'t Object<'a>);

impl Serialize for Units<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, reported) in &self.0.0 {
            units_of(reported, &pointer("", key), &mut map)?;
        }
        map.end()
    }
}

fn pointer(to: &str, key: &str) -> String {
    format!("{to}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn units_of<M: SerializeMap>(reported: &JsonValue, to: &str, map: &mut M) -> Result<(), M::Error> {
    match reported {
        JsonValue::Json(_) => Ok(()),
        JsonValue::Cells(cells) => {
            let mut entry = |n: usize, to: &str| match cells.units(n) {
                // The integer is a string, because JSON readers may round numbers to `f64`.
                Some(units) => map.serialize_entry(to, &units.to_string()),
                None => Ok(()),
            };
            match cells.shape {
                Shape::Scalar => entry(0, to),
                Shape::Vector(count) => (0..count as usize).try_for_each(|n| entry(n, &format!("{to}/{n}"))),
                Shape::Matrix(rows, columns) => (0..rows as usize * columns as usize).try_for_each(|n| {
                    let (row, column) = (n / columns as usize, n % columns as usize);
                    entry(n, &format!("{to}/{row}/{column}"))
                }),
                Shape::Stack => Ok(()),
            }
        }
        JsonValue::List(count, part) => {
            (0..*count).try_for_each(|n| units_of(&part(n), &format!("{to}/{n}"), map))
        }
        JsonValue::Object(object) => {
            object.0.iter().try_for_each(|(key, reported)| units_of(reported, &pointer(to, key), map))
        }
    }
}
