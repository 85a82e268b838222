//! Tests the partial derivatives of every row: against central differences, against forward differentiation,
//! and against other number systems.

use reviver_isa::Function;
use reviver_isa::fault::Eval;
use reviver_isa::function::Signature;
use reviver_isa::module::{RealSystem, Word};

use crate::bytes::is_frozen;
use crate::dual::{Dual, Duals};
use crate::numbers::{Random, System};

/// A partial derivative of a function's signature with respect to a source.
#[derive(Clone, Copy, Debug)]
struct Partial {
    function: Function,
    signature: Signature,
    source: usize,
}

impl Partial {
    fn all(function: Function) -> Vec<Partial> {
        let of = |signature: Signature| match signature {
            Signature::Real => 0..function.arity(),
            Signature::RealInt => 0..1,
            _ => 0..0,
        };
        function
            .signatures()
            .flat_map(|signature| of(signature).map(move |source| Partial { function, signature, source }))
            .collect()
    }

    fn value(self, system: System, [a, b]: [f64; 2]) -> Eval<f64> {
        match self.signature {
            Signature::RealInt => system.real_int(self.function, a, b as i64),
            _ => system.real(self.function, a, b),
        }
    }

    fn derivative(self, system: System, [a, b]: [f64; 2]) -> Eval<f64> {
        match self.signature {
            Signature::RealInt => system.partial_int(self.function, a, b as i64),
            _ => system.partial(self.function, self.source, a, b),
        }
    }

    fn forward(self, [a, b]: [f64; 2]) -> Eval<f64> {
        let first = Dual::source(a, 0);
        let dual = match self.signature {
            Signature::RealInt => self.function.real_int(&Duals, first, b as i64),
            _ => self.function.real(&Duals, first, Dual::source(b, 1)),
        };
        dual.map(|dual| dual.by[self.source])
    }

    /// Returns points of all magnitudes, many of them close to a kink, a pole or an end of a domain.
    fn points(self) -> impl Iterator<Item = [f64; 2]> {
        let mut random = Random::new();
        (0..6000).map(move |_| {
            let near = random.sign() * random.magnitude(-8.0, -1.0);
            let first = match random.bits() >> 61 {
                0..=3 => random.sign() * random.magnitude(-6.0, 3.0),
                4 => random.sign() * (1.0 - near.abs()),
                5 => random.sign() * (1.0 + near),
                6 => ((random.bits() >> 60) as f64 - 8.0) / 2.0 + near,
                _ => random.unit(),
            };
            let second = match random.bits() >> 62 {
                _ if self.signature == Signature::RealInt => ((random.bits() >> 60) as f64) - 8.0,
                0 => first * (1.0 + near),
                1 => -first * (1.0 + near),
                _ => random.sign() * random.magnitude(-2.0, 1.5),
            };
            [first, second]
        })
    }
}

/// Returns the distance of a point from the places where a function may have a kink, a jump or the end of its
/// domain; at most 1.
fn room([a, b]: [f64; 2], source: usize) -> f64 {
    let x = [a, b][source];
    let special = [x.abs(), (x.abs() - 1.0).abs(), (2.0 * x - (2.0 * x).round()).abs() / 2.0];
    let ties = [(a - b).abs(), (a + b).abs()];
    special.into_iter().chain(ties).fold(1.0, f64::min)
}

/// Returns the central difference, and a bound of its error.
fn central_difference(partial: Partial, point: [f64; 2]) -> Option<(f64, f64)> {
    let system = System::of(RealSystem::F64);
    let step = 1e-3 * room(point, partial.source);
    let slope = |step: f64| {
        let mut probes = [point, point];
        probes[0][partial.source] -= step;
        probes[1][partial.source] += step;
        let width = probes[1][partial.source] - probes[0][partial.source];
        let values = probes.map(|probe| partial.value(system, probe).ok());
        let [Some(low), Some(high)] = values else { return None };
        let noise = (8.0 * f64::EPSILON * (low.abs() + high.abs()) + f64::MIN_POSITIVE) / width;
        (width > 0.0).then_some(((high - low) / width, noise))
    };
    let ((wide, _), (narrow, noise)) = (slope(step)?, slope(step / 2.0)?);
    // The error of the wide difference is 4/3 of the distance between both, plus terms of fourth order.
    Some((narrow + (narrow - wide) / 3.0, (narrow - wide).abs() + 4.0 * noise))
}

fn check_differences(partial: Partial) {
    let system = System::of(RealSystem::F64);
    let (mut checked, mut sharp) = (0, 0);
    for point in partial.points() {
        let Some((slope, error)) = central_difference(partial, point) else { continue };
        let Ok(derivative) = partial.derivative(system, point) else { continue };
        let off = (derivative - slope).abs();
        assert!(off <= error, "{partial:?} at {point:?} is {derivative}, not {slope} ± {error}");
        checked += 1;
        sharp += u32::from(error <= 1e-4 * derivative.abs().max(1.0));
    }
    let enough = !is_frozen(partial.function) || (checked > 1000 && sharp > 500);
    assert!(enough, "{partial:?}: {checked} points, of which {sharp} are sharp");
}

fn check_forward(partial: Partial) {
    let system = System::of(RealSystem::F64);
    let mut checked = 0;
    for point in partial.points() {
        let (Ok(derivative), Ok(forward)) = (partial.derivative(system, point), partial.forward(point))
        else {
            continue;
        };
        if !forward.is_finite() {
            continue;
        }
        let off = (derivative - forward).abs();
        let bound = 1e-9 * forward.abs() + 1e-15;
        assert!(off <= bound, "{partial:?} at {point:?} is {derivative}, not {forward}");
        checked += 1;
    }
    assert!(!is_frozen(partial.function) || checked > 1000, "{partial:?}: {checked} points");
}

/// Tests that the derivatives in all number systems are equal, up to the systems' resolution. The points are
/// exact in every system.
fn check_systems(partial: Partial) {
    let reference = System::of(RealSystem::F64);
    for system in [RealSystem::F32, RealSystem::Fixed(43), RealSystem::Fixed(32)].map(System::of) {
        let mut random = Random::new();
        let mut checked = 0;
        for _ in 0..3000 {
            // The points are multiples of 1/16 up to 60,000; their squares exceed the range of 43 fraction
            // bits.
            let mut some = |high| random.sign() * (16.0 * random.magnitude(-1.0, high)).round() / 16.0;
            let (a, b) = (some(4.8), some(4.8));
            let point = if partial.signature == Signature::RealInt { [a, (b % 4.0).trunc()] } else { [a, b] };
            let Ok(expected) = partial.derivative(reference, point) else { continue };
            let Ok(found) = partial.derivative(system, point) else { continue };
            // A rounding error of half a unit is divided by at most two factors of 1/16.
            let bound = 2048.0 * system.ulp() * expected.abs().max(1.0) * slack(partial, point);
            let off = (found - expected).abs();
            assert!(off <= bound, "{partial:?} at {point:?} is {found} in {}, not {expected}", system.reals);
            checked += 1;
        }
        assert!(!is_frozen(partial.function) || checked > 100, "{partial:?} in {}: {checked}", system.reals);
    }
}

/// Returns the factor by which a function magnifies the rounding errors of sources that are rounded to f32.
fn slack(partial: Partial, [a, b]: [f64; 2]) -> f64 {
    match partial.function {
        Function::Pow => 1.0 + b.abs() + (b * a.abs().max(0.1).ln()).abs(),
        _ => 1.0,
    }
}

pub fn check_function(function: Function) {
    for partial in Partial::all(function) {
        check_differences(partial);
        check_forward(partial);
        check_systems(partial);
    }
}

#[test]
fn derivatives_are_right_near_every_kink_and_in_every_system() {
    Function::ALL.iter().copied().for_each(check_function);
}

#[test]
fn every_function_from_reals_to_reals_has_its_derivatives() {
    for &function in Function::ALL {
        for partial in Partial::all(function) {
            let system = System::of(RealSystem::F64);
            assert!(partial.derivative(system, [0.7, 0.4]).is_ok(), "{partial:?}");
        }
    }
}

/// Tests that the derivatives of angles don't square numbers: in fixed point, squares often overflow or
/// vanish.
#[test]
fn derivatives_of_angles_need_no_squares() {
    let system = System::of(RealSystem::Fixed(43));
    for magnitude in [2_f64.powi(-18), 2_f64.powi(-10), 1.0, 2_f64.powi(10), 2_f64.powi(19)] {
        let (a, b) = (magnitude, magnitude * 0.75);
        let expected = [b / (a * a + b * b), -a / (a * a + b * b)];
        for source in [0, 1] {
            let found = system.partial(Function::Atan2, source, a, b).unwrap();
            let bound = 8.0 * system.ulp() * (1.0 + 1.0 / magnitude);
            assert!((found - expected[source]).abs() < bound, "{found} at {a}, {b}");
        }
        let found = system.partial(Function::Atan, 0, magnitude, 0.0).unwrap();
        assert!((found - 1.0 / (1.0 + magnitude * magnitude)).abs() < 4.0 * system.ulp());
    }
}

/// Tests derivatives that are in range although parts of their formula aren't.
#[test]
fn derivatives_in_fixed_point_exist_if_they_are_in_range() {
    let system = System::of(RealSystem::Fixed(43));
    for a in [2_f64.powi(-30), -2_f64.powi(-30), 3.0 * 2_f64.powi(-31), 2_f64.powi(-10), 0.99, 1.0, 1e6, -1e6]
    {
        let expected = 1.0 / (3.0 * a.cbrt() * a.cbrt());
        let found = system.partial(Function::Cbrt, 0, a, 0.0).unwrap();
        assert!((found - expected).abs() < 4.0 * system.ulp() * (1.0 + 1.0 / a.abs()), "{found} at {a}");
    }
    for a in [1_048_575.5, 1_048_574.5, 1.0, 1.5, 0.25, -0.75] {
        let found = system.partial(Function::Ln1p, 0, a, 0.0).unwrap();
        assert!((found - 1.0 / (1.0 + a)).abs() < 2.0 * system.ulp(), "{found} at {a}");
    }
}

/// Tests that the derivative of a power is correct even if the exponent minus 1 doesn't fit into the word.
#[test]
fn the_derivative_of_the_least_power_does_not_wrap() {
    for word in Word::ALL {
        let system = System { word, reals: RealSystem::F64 };
        let least = *word.range().start();
        assert_eq!(system.partial_int(Function::Powi, 1.0, least), Ok(least as f64));
        assert_eq!(system.partial_int(Function::Powi, -1.0, least), Ok(-(least as f64)));
    }
    let bytes = System { word: Word::W8, reals: RealSystem::F64 };
    assert_eq!(bytes.partial_int(Function::Powi, 2.0, -128), Ok(-(2_f64.powi(7 - 129))));
}
