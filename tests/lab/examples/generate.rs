//! Prints the generated program of a seed, as the tests use it.

use reviver_lab::generate::{Profile, program};

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(0);
    print!("{}", program(seed, &Profile::of_seed(seed)));
}
