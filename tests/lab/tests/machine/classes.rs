//! Random expressions of complex numbers and logarithms, compared with arithmetic that this file defines.

use reviver_lab::engine::ALL;
use reviver_lab::rng::Rng;
use reviver_lab::run::{LONGEST, travel};
use reviver_lab::subject::Subject;
use reviver_vm::Travel;

/// Number of random programs.
const PROGRAMS: u64 = 300;

/// The maximum depth of an expression.
const DEEPEST: u32 = 4;

/// Relative error that roundings of the deepest expression may add up to.
const TOLERANCE: f64 = 1e-8;

/// A complex number, (re, im).
type Complex = (f64, f64);

fn times(z: Complex, w: Complex) -> Complex {
    (z.0 * w.0 - z.1 * w.1, z.0 * w.1 + z.1 * w.0)
}

fn inverse(z: Complex) -> Complex {
    let norm = z.0 * z.0 + z.1 * z.1;
    (z.0 / norm, -z.1 / norm)
}

fn is_moderate(z: Complex) -> bool {
    (0.05..20.0).contains(&z.0.hypot(z.1))
}

const CELLS: [(&str, Complex); 4] =
    [("a", (1.25, -0.5)), ("b", (0.5, 2.0)), ("v[1]", (-1.5, 0.75)), ("v[n]", (2.0, 0.25))];

/// Returns a random expression with its value. All intermediate values are of moderate magnitude.
fn expression(rng: &mut Rng, depth: u32) -> (String, Complex) {
    if depth == 0 || rng.chance(10) {
        return match rng.below(6) {
            0 => ("x".into(), (0.75, 0.0)),
            1 => ("2.0".into(), (2.0, 0.0)),
            _ => {
                let (name, value) = *rng.pick(&CELLS);
                (name.into(), value)
            }
        };
    }
    let (z_text, z) = expression(rng, depth - 1);
    let (text, value) = match rng.below(14) {
        0 => (format!("conj({z_text})"), (z.0, -z.1)),
        1 => (format!("-({z_text})"), (-z.0, -z.1)),
        2 if z.0.abs() < 3.0 => {
            (format!("exp({z_text} * complex(1, 0))"), (z.0.exp() * z.1.cos(), z.0.exp() * z.1.sin()))
        }
        3 => (format!("log({z_text} + complex(0, 0.5))"), {
            let z = (z.0, z.1 + 0.5);
            (z.0.hypot(z.1).ln(), z.1.atan2(z.0))
        }),
        4 => (format!("square({z_text})"), times(z, z)),
        5 => (format!("powi({z_text}, 3)"), times(z, times(z, z))),
        6 => (format!("complex(re({z_text}), abs({z_text}))"), (z.0, z.0.hypot(z.1))),
        7 => (format!("1 / ({z_text})"), inverse(z)),
        _ => {
            let (w_text, w) = expression(rng, depth - 1);
            match rng.below(4) {
                0 => (format!("({z_text}) + ({w_text})"), (z.0 + w.0, z.1 + w.1)),
                1 => (format!("({z_text}) - ({w_text})"), (z.0 - w.0, z.1 - w.1)),
                2 => (format!("({z_text}) / ({w_text})"), times(z, inverse(w))),
                _ => (format!("({z_text}) * ({w_text})"), times(z, w)),
            }
        }
    };
    // The branch cut of log, and numbers that lose digits, are avoided.
    let is_on_cut = value.1.abs() < 0.01 && value.0 < 0.0;
    if is_moderate(value) && is_moderate(z) && !is_on_cut { (text, value) } else { (z_text, z) }
}

/// The conditions are those of reals, so that the test doesn't rely on comparisons of complex numbers.
#[test]
fn complex_expressions_have_their_values_on_all_engines() {
    let mut longest = 0;
    for seed in 0..PROGRAMS {
        let (text, (re, im)) = expression(&mut Rng::new(seed), DEEPEST);
        let tolerance = TOLERANCE * (1.0 + re.hypot(im));
        let head = ".inout a: complex default {1.25, -0.5}, b: complex default {0.5, 2}, x: real default 0.75\n\
                    .inout v[3]: complex default {0, 1, -1.5, 0.75, 2, 0.25}, n default 2\n.out z: complex\n";
        let program = format!(
            "{head}add z, {text}\nassert abs(z.re - ({re:?})) <= {tolerance:e}\nassert abs(z.im - ({im:?})) <= {tolerance:e}\n"
        );
        for engine in ALL.iter().filter(|engine| engine.takes(seed as usize)) {
            let subject = Subject::on(*engine, &program).unwrap_or_else(|why| panic!("{program}{why}"));
            let mut machine = subject.machine(false);
            let end = travel(&mut machine, Travel::Forward, LONGEST);
            assert!(end.arrived(), "{} {program}{end:?}", engine.name);
            longest = longest.max(machine.state().step);
            let end = travel(&mut machine, Travel::Backward, LONGEST);
            assert!(end.arrived(), "{} backward {program}{end:?}", engine.name);
        }
    }
    assert!(longest > 60, "the longest run had {longest} steps only");
}

/// A product of random factors is divided by them in another order, and is 1 again.
#[test]
fn products_of_logarithms_are_exact_on_all_engines() {
    for seed in 0..PROGRAMS {
        let mut rng = Rng::new(seed);
        let factors: Vec<f64> = (0..8)
            .map(|_| (rng.within(1..=2000) as f64 - 1000.5) * 10f64.powi(rng.within(-200..=200) as i32))
            .collect();
        let mut updates: Vec<String> = factors.iter().map(|factor| format!("mul t, {factor:?}\n")).collect();
        let mut order: Vec<usize> = (0..factors.len()).collect();
        (1..order.len()).rev().for_each(|n| order.swap(n, rng.below(n + 1)));
        let logarithm: f64 = factors.iter().map(|factor| factor.abs().ln()).sum();
        let is_negative = factors.iter().filter(|factor| **factor < 0.0).count() % 2;
        updates.push(format!(
            "assert abs(t.log - ({logarithm:?})) <= 1e-10\nassert t.negative == {is_negative}\n"
        ));
        updates.extend(order.iter().map(|&n| format!("div t, {:?}\n", factors[n])));
        // Without a tolerance, the end of the program checks that the logarithm is exactly 0.
        let program = format!(".tolerance 0\n.var t: log\n{}", updates.concat());
        for engine in ALL.iter().filter(|engine| engine.takes(seed as usize)) {
            let subject = Subject::on(*engine, &program).unwrap_or_else(|why| panic!("{program}{why}"));
            let mut machine = subject.machine(false);
            let end = travel(&mut machine, Travel::Forward, LONGEST);
            assert!(end.arrived(), "{} {program}{end:?}", engine.name);
        }
    }
}
