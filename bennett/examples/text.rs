//! Prints the reversible text of a program: `text FILE SEGMENTS LEVELS ROUNDS`, no rounds for 0.

use reviver_assembler::files::Disk;
use reviver_assembler::render::render;
use reviver_bennett::{SegmentPlan, bennett};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(0u32);
    let plan = SegmentPlan::new(number(2), number(3), (number(4) > 0).then(|| number(4))).unwrap_or_default();
    let file = arguments.get(1).map(String::as_str).unwrap_or_default();
    let bytes = std::fs::read(file).unwrap_or_default();
    let made = bennett(file, bytes, &Disk, &plan);
    match made.text {
        Ok(text) => print!("{text}"),
        Err(problems) => {
            eprint!("{}", render(&made.sources, &problems, false));
            std::process::exit(3);
        }
    }
}
