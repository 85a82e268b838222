//! Edges, and cases that are exact.

use crate::real::Width;
use crate::subject::{SUBJECTS, Subject};

fn subject(name: &str) -> &'static Subject {
    SUBJECTS.iter().find(|subject| subject.name == name).expect("a function")
}

/// Each is the same to the last bit in both formats.
fn is(name: &str, a: f64, b: f64, expected: f64) {
    for width in Width::ALL {
        let found = subject(name).value(width, a, b);
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{name}({a:?}, {b:?}) is {found:?} in {}, not {expected:?}", width.name());
    }
}

const INF: f64 = f64::INFINITY;

#[test]
fn limits_and_zeros() {
    for name in ["sinh", "tanh", "exp_m1", "ln_1p"] {
        is(name, 0.0, 0.0, 0.0);
        is(name, -0.0, 0.0, -0.0);
        is(name, f64::NAN, 0.0, f64::NAN);
    }
    for (name, a, value) in [
        ("exp", 0.0, 1.0),
        ("exp", -0.0, 1.0),
        ("exp", INF, INF),
        ("exp", -INF, 0.0),
        ("exp", 1e30, INF),
        ("exp", -1e30, 0.0),
        ("exp_m1", INF, INF),
        ("exp_m1", -INF, -1.0),
        ("exp_m1", -1e30, -1.0),
        ("sinh", INF, INF),
        ("sinh", -1e30, -INF),
        ("cosh", 0.0, 1.0),
        ("cosh", -INF, INF),
        ("cosh", 1e30, INF),
        ("tanh", INF, 1.0),
        ("tanh", -1e30, -1.0),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", INF, 1.0),
        ("sigmoid", -INF, 0.0),
        ("sigmoid", -1e30, 0.0),
        ("log", 1.0, 0.0),
        ("log", 0.0, -INF),
        ("log", -0.0, -INF),
        ("log", -1.0, f64::NAN),
        ("log", INF, INF),
        ("ln_1p", -1.0, -INF),
        ("ln_1p", -1.5, f64::NAN),
        ("ln_1p", INF, INF),
    ] {
        is(name, a, 0.0, value);
    }
    for name in ["exp", "cosh", "sigmoid", "log"] {
        is(name, f64::NAN, 0.0, f64::NAN);
    }
}
