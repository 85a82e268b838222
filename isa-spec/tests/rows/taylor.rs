//! Tests the rows over Taylor numbers: values carry the derivatives that the rows define, including kinks,
//! and the primal is the same as in a plain system.

use reviver_isa::Function;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::function::Signature;
use reviver_isa::number::taylor::Coefficients;
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Reals, TaylorReals, Wide};

use crate::jets::{Jet, constant, row, rows, rows_of_textbooks, series, sources};
use crate::numbers::Random;
use crate::precise::{self, polynomial};

/// Numbers at which rows have kinks, jumps, or the end of their domain.
const CORNERS: [f64; 14] =
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 2.5, 3.0, -3.0, 0.0000152587890625];

/// Runs a test in every number system.
macro_rules! in_each_system {
    ($check:ident $(, $argument:expr)*) => {
        $check(F64 $(, $argument)*);
        $check(F32 $(, $argument)*);
        $check(FixedPoint::new(16) $(, $argument)*);
        $check(FixedPoint::new(43) $(, $argument)*);
        $check(FixedPoint::new(56) $(, $argument)*);
    };
}

/// Returns pairs of corners, and of numbers that every system represents, as sources of a signature.
fn points(signature: Signature) -> impl Iterator<Item = [f64; 2]> {
    let corners = CORNERS.into_iter().flat_map(|a| CORNERS.into_iter().map(move |b| [a, b]));
    let mut random = Random::new();
    let mut some = move || (256.0 * random.sign() * random.magnitude(-2.0, 1.0)).round() / 256.0;
    let others = (0..300).map(move |_| [some(), some()]);
    let whole = move |[a, b]: [f64; 2]| if signature == Signature::RealInt { [a, b.trunc()] } else { [a, b] };
    corners.chain(others).map(whole)
}

/// Returns the derivative along `changes`, (da, db): ∂f/∂a·da + ∂f/∂b·db. A term is omitted if its source
/// doesn't change.
fn directional<R: Reals<Bits = u64>>(
    reals: R,
    (function, signature): (Function, Signature),
    [a, b]: [f64; 2],
    changes: [f64; 2],
) -> Eval<f64> {
    let numbers = Arithmetic { words: Wide, reals };
    let (x, y) = (reals.literal(a)?, reals.literal(b)?);
    let part = |source: usize| {
        if changes[source] == 0.0 {
            return Ok(0.0);
        }
        let partial = match (signature, source) {
            (Signature::RealInt, 0) => function.d_a_int(&numbers, x, b as i64),
            (Signature::RealInt, _) => return Ok(0.0),
            (_, 0) => function.d_a(&numbers, x, y),
            _ if function.arity() < 2 => return Ok(0.0),
            _ => function.d_b(&numbers, x, y),
        };
        Ok(reals.to_f64(reals.admit(partial?)?) * changes[source])
    };
    Ok(part(0)? + part(1)?)
}

/// Returns true if a row documents that its derivatives trap somewhere in its domain.
fn lacks_derivatives(function: Function) -> bool {
    ["so does the derivative", "so do the derivatives"].iter().any(|says| function.edges().contains(says))
}

fn check_values<R: Reals<Bits = u64>>(reals: R, row_of: (Function, Signature)) {
    let ulp = reals.ulp(reals.literal(1.0).unwrap());
    let mut checked = 0;
    for point in points(row_of.1) {
        for changes in [[1.0, 0.0], [0.0, 1.0], [-0.5, 0.25]] {
            let [a, b] = [0, 1].map(|n| [point[n], changes[n]]);
            let taylor_numbers = row(reals, row_of, a, b);
            let plain =
                row(reals, row_of, [a[0]], [b[0]]).and_then(|_| directional(reals, row_of, point, changes));
            let place = format!("{row_of:?} at {point:?} along {changes:?} in {}", reals.system());
            match (taylor_numbers, plain) {
                (Ok([_, found]), Ok(expected)) => {
                    let bound = 4.0 * (ulp + f64::EPSILON) * (1.0 + expected.abs());
                    assert!((found - expected).abs() <= bound, "{place}: {found}, not {expected}");
                    checked += 1;
                }
                // At the end of the range, rounding decides whether there is an overflow.
                (Err(Fault::Overflow), _) | (_, Err(Fault::Overflow)) if R::EXACT => {}
                // |a| = √a² has a kink at 0, which the row reports. The first coefficients of a² are 0 at this point,
                // so they don't show the kink.
                (Ok([_, 0.0]), Err(_)) if lacks_derivatives(row_of.0) => {}
                (taylor_numbers, plain) => {
                    assert_eq!(
                        taylor_numbers.is_ok(),
                        plain.is_ok(),
                        "{place}: {taylor_numbers:?}, {plain:?}"
                    )
                }
            }
        }
    }
    assert!(checked > 200, "{row_of:?} in {}: {checked}", reals.system());
}

#[test]
fn the_derivative_of_a_value_is_the_sum_of_the_partial_derivatives() {
    for row in rows() {
        in_each_system!(check_values, row);
    }
}

/// Tests the kinks that the manual documents, and powers with exponent 0.
#[test]
fn kinks_have_the_derivatives_that_the_manual_states() {
    fn check<R: Reals<Bits = u64>>(reals: R) {
        let by_a = |function, a: f64, b: f64| {
            row(reals, (function, Signature::Real), [a, 1.0], [b, 0.0]).unwrap()[1]
        };
        let by_b = |function, a: f64, b: f64| {
            row(reals, (function, Signature::Real), [a, 0.0], [b, 1.0]).unwrap()[1]
        };
        for zero in [0.0, -0.0] {
            assert_eq!(by_a(Function::Abs, zero, 0.0), 0.0);
            assert_eq!(by_a(Function::Relu, zero, 0.0), 0.0);
            assert_eq!(by_a(Function::Pow, zero, 0.0), 0.0);
            assert_eq!(by_a(Function::Pow, zero, 1.0), 1.0);
            assert_eq!(by_a(Function::Pow, zero, 2.0), 0.0);
        }
        for tie in [Function::Min, Function::Max] {
            assert_eq!((by_a(tie, 2.0, 2.0), by_b(tie, 2.0, 2.0)), (1.0, 0.0));
        }
        for place in [-1.0, -0.5, 0.5, 2.0] {
            assert_eq!((by_a(Function::Floor, place, 0.0), by_a(Function::Round, place, 0.0)), (0.0, 0.0));
            assert_eq!(by_a(Function::Pow, place, 0.0), 0.0);
        }
        let powi =
            |a: f64, n: f64| row(reals, (Function::Powi, Signature::RealInt), [a, 1.0], [n, 0.0]).unwrap()[1];
        assert_eq!([powi(0.0, 0.0), powi(0.0, 1.0), powi(0.0, 2.0), powi(-1.0, 3.0)], [0.0, 1.0, 0.0, 3.0]);
        assert_eq!(by_a(Function::Pow, -2.0, 3.0), 12.0);
    }
    in_each_system!(check);
}

/// Tests integer powers at 0, which are polynomials. Also tests that no derivative is computed unless it is
/// needed.
#[test]
fn later_coefficients_need_only_earlier_derivatives() {
    let pow = |a, b: f64| row(F64, (Function::Pow, Signature::Real), a, constant(b));
    assert_eq!(pow([0.0, 1.0, 0.0, 0.0], 2.0), Ok([0.0, 0.0, 1.0, 0.0]));
    assert_eq!(pow([0.0, 2.0, 1.0, 0.0], 2.0), Ok([0.0, 0.0, 4.0, 4.0]));
    assert_eq!(pow([0.0, 0.0, 3.0, 0.0], 1.5), Ok([0.0; 4]));
    assert_eq!(pow([0.0, 0.0, 3.0, 0.0], 0.5), Err(Fault::NonFinite));
    let sqrt = |a| row(F64, (Function::Sqrt, Signature::Real), a, constant(0.0));
    assert_eq!(sqrt([0.0, 0.0, 0.0]), Ok([0.0; 3]));
    assert_eq!(sqrt([0.0, 0.0, 1.0]), Err(Fault::NonFinite));
    // The second derivative is out of range, the derivative is not.
    let tan = row(FixedPoint::new(43), (Function::Tan, Signature::Real), [1.5697, 1.0], constant(0.0));
    assert!((tan.unwrap()[1] - 1.5697_f64.cos().powi(-2)).abs() < 1e-3);
}

/// Evaluates a partial derivative over dual numbers along (da, db). The tangent of the result is a second
/// derivative.
pub fn second<R: Reals<Bits = u64>>(
    reals: R,
    (function, signature): (Function, Signature),
    source: usize,
    [a, b]: [Jet<2>; 2],
) -> Eval<f64> {
    let numbers = Arithmetic { words: Wide, reals: TaylorReals::<R, 2>::new(reals) };
    let (x, y) = (series(reals, a), series(reals, b));
    let partial = match (signature, source) {
        (Signature::RealInt, _) => function.d_a_int(&numbers, x, b[0] as i64),
        (_, 0) => function.d_a(&numbers, x, y),
        _ => function.d_b(&numbers, x, y),
    };
    Ok(reals.to_f64(numbers.reals.admit(partial?)?.0[1]))
}

/// Returns the second derivatives ∂²/∂a², ∂²/∂b² and ∂²/∂a∂b, by interpolation.
fn curvature(function: Function, [a, b]: [f64; 2]) -> [f64; 3] {
    let along = |da: f64, db: f64| -> f64 {
        let [_, _, half] =
            precise::taylor(|t| precise::value(function, &polynomial(&[a, da], t), &polynomial(&[b, db], t)));
        2.0 * half
    };
    let [by_a, by_b] = [along(1.0, 0.0), along(0.0, 1.0)];
    [by_a, by_b, (along(1.0, 1.0) - by_a - by_b) / 2.0]
}

fn check_second<R: Reals<Bits = u64>>(reals: R, row: (Function, Signature), tolerance: f64) {
    let mut random = Random::new();
    for _ in 0..8 {
        let point = sources(row.0, row.1, &mut random);
        let [a, b] = point;
        let [by_a, by_b, mixed] = if row.1 == Signature::RealInt {
            let along =
                |t: &precise::Real| precise::value(row.0, &polynomial(&[a, 1.0], t), &precise::real(b));
            [2.0 * precise::taylor::<3>(along)[2], 0.0, 0.0]
        } else {
            curvature(row.0, point)
        };
        let check = |source: usize, changes: [f64; 2], expected: f64| {
            let found = second(reals, row, source, [[a, changes[0]], [b, changes[1]]]).unwrap();
            let off = (found - expected).abs();
            assert!(
                off <= tolerance * (1.0 + expected.abs()),
                "{row:?} at {point:?}: {found}, not {expected}"
            );
        };
        check(0, [1.0, 0.0], by_a);
        if row.1 == Signature::Real && row.0.arity() == 2 {
            check(0, [0.0, 1.0], mixed);
            check(1, [1.0, 0.0], mixed);
            check(1, [0.0, 1.0], by_b);
        }
    }
}

#[test]
fn partial_derivatives_of_dual_numbers_carry_the_second_derivatives() {
    for row in rows_of_textbooks() {
        check_second(F64, row, 1e-12);
        check_second(FixedPoint::new(43), row, 1e-9);
    }
}

/// Tests that at exponent 0 the derivative with respect to the base is 0, but changes with the exponent.
#[test]
fn a_power_has_its_second_derivatives_at_the_exponent_0() {
    let pow = (Function::Pow, Signature::Real);
    for a in [0.25, 1.0, 2.0] {
        assert_eq!(second(F64, pow, 0, [[a, 0.0], [0.0, 1.0]]), Ok(1.0 / a));
        assert_eq!(second(F64, pow, 1, [[a, 1.0], [0.0, 0.0]]), Ok(1.0 / a));
        assert_eq!(second(F64, pow, 0, [[a, 1.0], [0.0, 0.0]]), Ok(0.0));
    }
    for (n, expected) in [(0.0, 0.0), (1.0, 0.0), (2.0, 2.0), (3.0, 0.0)] {
        assert_eq!(second(F64, pow, 0, [[0.0, 1.0], [n, 0.0]]), Ok(expected));
        assert_eq!(
            second(F64, (Function::Powi, Signature::RealInt), 0, [[0.0, 1.0], [n, 0.0]]),
            Ok(expected)
        );
    }
}

/// Returns the bits of a value, plain and as a Taylor number.
fn both<R: Reals<Bits = u64>>(
    reals: R,
    (function, signature): (Function, Signature),
    [a, b]: [Jet<3>; 2],
) -> (Eval<u64>, Eval<[u64; 3]>) {
    let plain = Arithmetic { words: Wide, reals };
    let taylor_numbers = Arithmetic { words: Wide, reals: TaylorReals::<R, 3>::new(reals) };
    let (p, q) = (reals.literal(a[0]).unwrap(), reals.literal(b[0]).unwrap());
    let (x, y) = (series(reals, a), series(reals, b));
    let n = b[0] as i64;
    let (value, series) = match signature {
        Signature::RealInt => (function.real_int(&plain, p, n), function.real_int(&taylor_numbers, x, n)),
        _ => (function.real(&plain, p, q), function.real(&taylor_numbers, x, y)),
    };
    let admitted = value.and_then(|v| plain.reals.admit(v)).map(|v| plain.reals.to_bits(v));
    (admitted, series.and_then(|v| taylor_numbers.reals.admit(v)).map(|v| taylor_numbers.reals.to_bits(v)))
}

fn check_primal<R: Reals<Bits = u64>>(reals: R, row: (Function, Signature)) {
    for [a, b] in points(row.1) {
        let place = format!("{row:?} at {a}, {b} in {}", reals.system());
        let (plain, taylor_numbers) = both(reals, row, [constant(a), constant(b)]);
        match taylor_numbers {
            Ok([primal, rest @ ..]) => {
                assert_eq!(Ok(primal), plain, "{place}");
                let rest = rest.map(|bits| reals.to_f64(reals.of_bits(bits)));
                assert_eq!(rest, [0.0; 2], "{place}");
            }
            Err(fault) => assert_eq!(Err(fault), plain, "{place}"),
        }
        let (plain, taylor_numbers) = both(reals, row, [[a, 0.5, -0.25], [b, -0.5, 0.125]]);
        match taylor_numbers {
            Ok([primal, ..]) => assert_eq!(Ok(primal), plain, "{place}"),
            Err(fault) => assert!(plain.is_ok() || plain == Err(fault), "{place}: {fault:?}, {plain:?}"),
        }
    }
}

#[test]
fn the_primal_has_the_bits_of_a_plain_run_and_constants_stay_constant() {
    for row in rows() {
        in_each_system!(check_primal, row);
    }
}

#[test]
fn conditions_read_the_primal_only() {
    fn check<R: Reals<Bits = u64>>(reals: R) {
        let plain = Arithmetic { words: Wide, reals };
        let taylor_numbers = Arithmetic { words: Wide, reals: TaylorReals::<R, 3>::new(reals) };
        let conditions = Function::ALL
            .iter()
            .filter(|f| f.signatures().any(|signature| signature == Signature::RealsToInt));
        for condition in conditions {
            for [a, b] in points(Signature::RealsToInt) {
                let (p, q) = (reals.literal(a).unwrap(), reals.literal(b).unwrap());
                let (x, y) = (series(reals, [a, 1.0, -3.0]), series(reals, [b, -2.0, 0.5]));
                let place = format!("{condition:?} at {a}, {b}");
                assert_eq!(
                    condition.reals_to_int(&taylor_numbers, x, y),
                    condition.reals_to_int(&plain, p, q),
                    "{place}"
                );
            }
        }
    }
    in_each_system!(check);
}

/// Returns the rotated point, by interpolation.
fn turned([x, y, angle]: [Jet<3>; 3]) -> [Jet<3>; 2] {
    let at = |t: &precise::Real| [x, y, angle].map(|jet| polynomial(&jet, t));
    let to_x = |[x, y, angle]: [precise::Real; 3]| x * angle.cos() - y * angle.sin();
    let to_y = |[x, y, angle]: [precise::Real; 3]| x * angle.sin() + y * angle.cos();
    [precise::taylor(|t| to_x(at(t))), precise::taylor(|t| to_y(at(t)))]
}

fn check_rotation<R: Reals<Bits = u64>>(reals: R, tolerance: f64) {
    let taylor_numbers = TaylorReals::<R, 3>::new(reals);
    let close = |found: Coefficients<R::Cell, 3>, expected: Jet<3>, bound: f64| {
        let found = found.0.map(|lane| reals.to_f64(lane));
        let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= bound);
        assert!(close, "{found:?}, not {expected:?}, in {}", reals.system());
    };
    let mut random = Random::new();
    for _ in 0..50 {
        let jets = [0; 3].map(|_| [0; 3].map(|_| (128.0 * random.unit()).round() / 64.0 - 1.0));
        let [x, y, angle] = jets.map(|jet| series(reals, jet));
        let there = taylor_numbers.rotate(x, y, angle).unwrap();
        assert_eq!((there.0.0[0], there.1.0[0]), reals.rotate(x.0[0], y.0[0], angle.0[0]).unwrap());
        let expected = turned(jets);
        close(there.0, expected[0], tolerance);
        close(there.1, expected[1], tolerance);
        let way_back = taylor_numbers.rotate_back(there.0, there.1, angle).unwrap();
        let other_way = taylor_numbers
            .rotate_back(x, y, angle)
            .and_then(|(x, y)| taylor_numbers.rotate(x, y, angle))
            .unwrap();
        for (x, y) in [way_back, other_way] {
            let bound = if R::EXACT { 0.0 } else { tolerance };
            close(x, jets[0], bound);
            close(y, jets[1], bound);
        }
    }
}

#[test]
fn rotations_are_reversible_in_every_coefficient() {
    check_rotation(F64, 1e-14);
    check_rotation(F32, 1e-5);
    check_rotation(FixedPoint::new(16), 1e-3);
    check_rotation(FixedPoint::new(43), 1e-11);
}

#[test]
fn bits_hold_one_word_for_each_coefficient() {
    let taylor_numbers = TaylorReals::<F64, 3>::new(F64);
    let two = [2.0_f64.to_bits(), 0, 0];
    assert_eq!(taylor_numbers.of_bits(two).0, [2.0, 0.0, 0.0]);
    let series = [2.0_f64.to_bits(), (-5.0_f64).to_bits(), 0];
    assert_eq!(taylor_numbers.of_bits(series).0, [2.0, -5.0, 0.0]);
    assert_eq!(taylor_numbers.to_bits(taylor_numbers.of_bits(series)), series);
    assert_eq!(taylor_numbers.to_bits(Coefficients::default()), [0; 3]);
    let cell = taylor_numbers.of_bits(series);
    assert_eq!(
        (taylor_numbers.to_f64(cell), taylor_numbers.tangent(cell, 2), F64.tangent(2.0, 2)),
        (2.0, 5.0, 0.0)
    );
    assert_eq!(
        (taylor_numbers.text(cell), taylor_numbers.parse("2.0").map(|two| two.0)),
        ("2.0".into(), Some([2.0, 0.0, 0.0]))
    );
    assert_eq!(
        taylor_numbers.admit(Coefficients([1.0, 0.0, f64::INFINITY])).map(|cell| cell.0),
        Err(Fault::NonFinite)
    );
}
