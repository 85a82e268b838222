//! Derives the constants of the elementary functions. Each file of this folder writes one file of
//! `src/number/elementary/constants`. `UPDATE_CONSTANTS=1 cargo test -p reviver-isa --test elementary
//! constants` writes them again.

mod exp;
mod inverse_trig;
mod log;
mod roots;
mod special;
pub mod trig;

use std::{env, fs, path::Path};

use crate::real::{Real, Width};

/// The text of one format's constants, to which fields are added.
struct Constants {
    width: Width,
    text: String,
}

impl Constants {
    fn field(&mut self, name: &str, value: String) {
        self.text += &format!("    {name}: {value},\n");
    }

    fn number(&mut self, name: &str, value: f64) {
        self.field(name, format!("{value:?}"));
    }

    fn int(&mut self, name: &str, value: i64) {
        self.field(name, value.to_string());
    }

    fn pair(&mut self, name: &str, [high, low]: [f64; 2]) {
        self.field(name, format!("[{high:?}, {low:?}]"));
    }

    /// Adds coefficients, each rounded to the format.
    fn coefficients(&mut self, name: &str, values: &[Real]) {
        let values = values.iter().map(|value| format!("        {:?},\n", self.width.nearest(value)));
        let values = values.collect::<String>();
        self.field(name, format!("&[\n{values}    ]"));
    }

    /// Adds the bits of floats of the format, padded with zeros to a power of two.
    fn table(&mut self, name: &str, values: &[f64]) {
        let words = values.iter().map(|&value| self.width.bits(value));
        let words: Vec<i64> = words.collect();
        self.words(name, &words);
    }

    fn words(&mut self, name: &str, values: &[i64]) {
        let padding = values.len().next_power_of_two() - values.len();
        let padded = values.iter().copied().chain((0..padding).map(|_| 0)).collect::<Vec<i64>>();
        let lines = padded.chunks(4).map(|line| {
            let words = line
                .iter()
                .map(|word| format!("{}{:#x}", if *word < 0 { "-" } else { "" }, word.unsigned_abs()));
            format!("        {},\n", words.collect::<Vec<_>>().join(", "))
        });
        let lines = lines.collect::<String>();
        self.field(name, format!("&[\n{lines}    ]"));
    }
}

/// Checks that a committed file of constants is equal to the derived text. With `UPDATE_CONSTANTS`, writes
/// the file instead.
fn check(file: &str, type_name: &str, derive: impl Fn(&mut Constants)) {
    let mut text = format!(
        "//! Derived by `tests/elementary/constants/{file}.rs`: not to be edited.\n\nuse super::{type_name};\n"
    );
    for width in Width::ALL {
        let name = width.of("DOUBLE", "SINGLE");
        let mut constants = Constants { width, text: String::new() };
        derive(&mut constants);
        text += &format!("\npub const {name}: {type_name} = {type_name} {{\n{}}};\n", constants.text);
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/number/elementary/constants/{file}.rs"));
    if env::var_os("UPDATE_CONSTANTS").is_some() {
        fs::write(&path, text).expect("the file can be written");
    } else {
        let written = fs::read_to_string(&path).expect("the file is there");
        assert!(written == text, "{file}: other constants are derived");
    }
}
