//! Calls with seeds and directions: their results, and calls that are refused.

use reviver::batch::{Batch, BatchOptions};
use reviver::{Device, Error, LaneInputs};

use crate::support::{ENGINES, compiled, said};

/// Program for y = (x₀², x₀·x₁), z = eˣ¹.
const PAIR: &str = "
.inout x[2]: real default {3, 0.5}
.inout n default 1
.out y[2]: real, z: real
add.square y[0], x[0]
add.mul y[1], x[0], x[1]
add.exp z, x[1]
";

#[test]
fn a_seeded_gradient_is_that_of_the_weighted_sum() {
    for engine in ENGINES {
        let program = compiled(PAIR, engine);
        let (x, y, z) =
            (program.reals("x").unwrap(), program.reals("y").unwrap(), program.reals("z").unwrap());
        let seeded = program.seeded(&[(y, &[10.0, -1.0]), (z, &[2.0])]).unwrap();
        let mut call = program.workspace().unwrap();
        for [a, b] in [[3.0, 0.0], [0.5, 2.0], [-1.0, -3.0]] {
            let mut slope = [0.0; 2];
            let found = call.gradient_at(&seeded, x, &[a, b], &mut slope).unwrap();
            let value = 10.0 * a * a - a * b + 2.0 * b.exp();
            assert!((found.value - value).abs() < 1e-12 * value.abs(), "{found:?}");
            let wanted = [20.0 * a - b, -a + 2.0 * b.exp()];
            assert!(slope.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-12));
            // With the seed 1 for one cell and 0 for others, a seeded sum equals the loss of that cell.
            let one = seeded.with_seeds(&[0.0, 1.0, 0.0]).unwrap();
            let mut other = [0.0; 2];
            let found = call.gradient_at(&one, x, &[a, b], &mut slope).unwrap();
            let of_loss = call.gradient_at(&program.loss("y[1]").unwrap(), x, &[a, b], &mut other).unwrap();
            assert_eq!((found.value, slope), (of_loss.value, other));
        }
    }
}

#[test]
fn bits_are_seeds_in_fixed_point() {
    let program = compiled(&format!(".real fixed\n{PAIR}"), ENGINES[0]);
    let (x, y) = (program.reals("x").unwrap(), program.reals("y").unwrap());
    // In this number system, 1 is 2⁴³ units of the last bit.
    let seeded = program.seeded_bits(&[(y, &[1, 1 << 43])]).unwrap();
    let mut call = program.workspace().unwrap();
    let mut slope = [0.0; 2];
    call.gradient_at(&seeded, x, &[4.0, 0.5], &mut slope).unwrap();
    assert_eq!(slope, [0.5 + 8.0 / (1u64 << 43) as f64, 4.0]);
}

#[test]
fn directions_are_products_and_series() {
    for engine in ENGINES {
        let program = compiled(PAIR, engine);
        let (x, y) = (program.reals("x").unwrap(), program.reals("y").unwrap());
        let second = program.reals("x[1]").unwrap();
        let mut call = program.workspace().unwrap();
        call.give_reals(x, &[3.0, 0.5]).unwrap();
        let along = call.jacobian_times(&[y], &[(x, &[1.0, 2.0])]).unwrap();
        assert_eq!((along.values, along.product), (vec![9.0, 1.5], vec![6.0, 6.5]));
        let along = call.jacobian_times(&[y], &[(second, &[2.0])]).unwrap();
        assert_eq!(along.product, [0.0, 6.0]);
        assert_eq!(call.jacobian_times(&[y], &[]).unwrap().product, [0.0, 0.0]);
        let series = call.taylor(&[y], &[(x, &[1.0, 2.0])], 3).unwrap().coefficients;
        assert_eq!(series, [[9.0, 6.0, 1.0, 0.0], [1.5, 6.5, 2.0, 0.0]]);
        // The Hessian of 10·y₀ − y₁ is ((20, −1), (−1, 0)).
        let seeded = program.seeded(&[(y, &[10.0, -1.0])]).unwrap();
        let found = call.hessian_times(&seeded, &[(x, &[1.0, 2.0])]).unwrap();
        assert_eq!((found.value, found.gradient, found.product), (88.5, vec![59.5, -3.0], vec![18.0, -1.0]));
        assert_eq!(call.hessian(&seeded, &[x]).unwrap().rows, [[20.0, -1.0], [-1.0, 0.0]]);
    }
}

#[test]
fn invalid_vectors_are_refused() {
    let (program, other) = (compiled(PAIR, ENGINES[0]), compiled(PAIR, ENGINES[0]));
    let (x, y, foreign) =
        (program.reals("x").unwrap(), program.reals("y").unwrap(), other.reals("y").unwrap());
    let call = program.workspace().unwrap();
    assert!(matches!(program.seeded(&[]), Err(Error::NoSeeds)));
    assert!(said(program.seeded(&[])).contains("there are no seeds"));
    assert!(matches!(program.seeded(&[(foreign, &[1.0, 2.0])]), Err(Error::Foreign)));
    assert!(matches!(program.seeded(&[(y, &[1.0])]), Err(Error::Length { cells: 2, given: 1, .. })));
    assert!(matches!(program.seeded(&[(y, &[1.0, f64::NAN])]), Err(Error::NotAReal { index: 1, .. })));
    let nan = f64::NAN.to_bits();
    assert!(matches!(program.seeded_bits(&[(y, &[nan, 0])]), Err(Error::NotAReal { index: 0, .. })));
    let twice = program.seeded(&[(y, &[1.0, 2.0]), (program.reals("y[1]").unwrap(), &[1.0])]);
    assert_eq!(said(twice), "`y[1]` is given twice; leave one of the two out");
    let seeded = program.seeded(&[(y, &[1.0, 2.0])]).unwrap();
    assert!(matches!(seeded.with_seeds(&[1.0]), Err(Error::Length { cells: 2, given: 1, .. })));
    assert!(matches!(seeded.with_seeds(&[1.0, f64::INFINITY]), Err(Error::NotAReal { index: 1, .. })));
    assert!(matches!(call.jacobian_times(&[foreign], &[(x, &[1.0, 0.0])]), Err(Error::Foreign)));
    assert!(matches!(call.jacobian_times(&[y], &[(foreign, &[1.0, 0.0])]), Err(Error::Foreign)));
    assert!(matches!(call.hessian_times(&seeded, &[(x, &[1.0])]), Err(Error::Length { .. })));
    for order in [0, 17] {
        assert!(matches!(call.taylor(&[y], &[(x, &[1.0, 0.0])], order), Err(Error::Order { .. })));
    }
    let mut elsewhere = other.workspace().unwrap();
    assert!(matches!(elsewhere.gradient(&seeded), Err(Error::Foreign)));
    assert!(matches!(elsewhere.hessian_times(&seeded, &[]), Err(Error::Foreign)));
}

/// SIMD groups, single-lane native code, and the interpreter give the same bits for any seeds.
#[test]
fn lanes_have_the_same_bits_as_calls() {
    const LANES: usize = 37;
    let first: Vec<f64> = (0..LANES).map(|lane| lane as f64 * 0.25 - 3.0).collect();
    let second: Vec<f64> = (0..LANES).map(|lane| 1.0 / (lane as f64 + 1.0)).collect();
    for engine in ENGINES {
        let program = compiled(PAIR, engine);
        let (x, y, z) =
            (program.reals("x").unwrap(), program.reals("y").unwrap(), program.reals("z").unwrap());
        let lanes = LaneInputs::new(LANES).reals("x[0]", first.as_slice()).reals("x[1]", second.as_slice());
        for seeds in [[10.0, -1.0, 2.0], [0.0, -0.0, 0.5], [1e-3, 1e3, -0.0]] {
            let seeded = program.seeded(&[(y, &seeds[..2]), (z, &seeds[2..])]).unwrap();
            let batch = Batch::new(&program, Device::cpu_with(2)).with(BatchOptions::default());
            let found = batch.gradient(&seeded, &[], &lanes).unwrap();
            let mut call = program.workspace().unwrap();
            for lane in 0..LANES {
                let mut slope = [0.0; 2];
                call.gradient_at(&seeded, x, &[first[lane], second[lane]], &mut slope).unwrap();
                let own = ["x'[0]", "x'[1]"].map(|name| found.reals(name).unwrap()[lane]);
                assert_eq!(own, slope, "lane {lane}");
            }
            assert_eq!(found.reals("y[0]").unwrap()[4], first[4] * first[4]);
            let sums: Vec<&str> = found.sums().iter().map(|sum| sum.name.as_str()).collect();
            assert_eq!(sums, ["y[0]", "y[1]", "z"]);
        }
    }
}
