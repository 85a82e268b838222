//! Programs for benchmarks of lanes, with their inputs. This module depends on no device.

use reviver::{CheckLevel, CompileOptions, EngineChoice, Executable, assemble, open};

use crate::native::reprojection::{CAMERA, INPUTS};

/// Compiles a program of `programs/` to checked native code.
pub fn program(name: &str) -> Executable {
    program_at(name, CheckLevel::Checked)
}

/// Compiles a program of `programs/` to native code of a check level.
pub fn program_at(name: &str, level: CheckLevel) -> Executable {
    let path = format!("{}/programs/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
    let options = CompileOptions { level, ..EngineChoice::Jit.into() };
    open(path).and_then(|text| text.compile(options)).unwrap()
}

/// Compiles `besselj.rasm` in 32-bit floats, where an uncomputed product leaves a relative residue of up to 10⁻⁶.
pub fn bessel_in_f32(level: CheckLevel) -> Executable {
    let path = format!("{}/programs/besselj.rasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("\n.tolerance 1e-8\n", "\n.tolerance 1e-6\n.real f32\n");
    let options = CompileOptions { level, ..EngineChoice::Jit.into() };
    assemble(&path, &text).and_then(|text| text.compile(options)).unwrap()
}

/// Returns arguments of a Bessel function that differ between lanes, and need different numbers of terms.
pub fn points(lanes: usize) -> Vec<f64> {
    (0..lanes).map(|lane| 0.1 + (lane % 1000) as f64 / 250.0).collect()
}

/// Returns observations of a bundle adjustment: a column for each input of `bundle_adjustment.rasm`.
pub fn observations(lanes: usize) -> Vec<(String, Vec<f64>)> {
    let camera = [0.1, -0.2, 0.3, 0.5, -0.3, -4.0, 500.0, 320.0, 240.0, -0.12, 0.03];
    let observation = |lane: usize, n: usize| match n {
        0..CAMERA => camera[n] * (1.0 + (lane % 17) as f64 / 1000.0),
        11..14 => [0.2, 0.4, 1.5][n - CAMERA] + (lane % 1013) as f64 / 2000.0,
        14 => 0.9,
        _ => [184.0, 228.0][n - INPUTS],
    };
    let names = (0..11).map(|n| format!("camera[{n}]")).chain((0..3).map(|n| format!("X[{n}]")));
    let names = names.chain(["w".to_owned(), "feature[0]".to_owned(), "feature[1]".to_owned()]);
    names.enumerate().map(|(n, name)| (name, (0..lanes).map(|lane| observation(lane, n)).collect())).collect()
}

/// Returns numbered message blocks: a column for each input of `xtea_blocks.rasm` that isn't shared.
pub fn blocks(lanes: usize) -> Vec<(String, Vec<i64>)> {
    let word = |n: usize| i64::from((n as u32).wrapping_mul(0x9e37_79b9) as i32);
    let column = |name: &str, of: &dyn Fn(usize) -> i64| (name.to_owned(), (0..lanes).map(of).collect());
    vec![
        column("text[0]", &|lane| word(2 * lane)),
        column("text[1]", &|lane| word(2 * lane + 1)),
        column("number", &|lane| lane as i64),
    ]
}
