//! Derivatives: values, verification, and refusals.

use reviver::{EngineChoice, Error, open};

use crate::support::{ENGINES, compiled};

/// Program for y = x₀²·x₁ + sin(x₁), as a loop over n terms.
const LOOP: &str = "
.in n default 3
.inout x[2]: real default {0.5, 2}
.out y: real
for i in 0..n
    compute
        local s = x[0] * x[0]
    apply
        add.mul y, s, x[1]
    uncompute
rof
add.sin y, x[1]
";

#[test]
fn a_gradient_matches_the_formula() {
    for engine in ENGINES {
        let program = compiled(LOOP, engine);
        let (x, loss) = (program.reals("x").unwrap(), program.loss("y").unwrap());
        assert_eq!(loss.is_native(), engine == EngineChoice::Jit);
        let mut call = program.workspace().unwrap();
        for [a, b] in [[0.5, 2.0], [3.0, -1.0], [0.0, 0.0]] {
            let mut slope = [0.0; 2];
            let found = call.gradient_at(&loss, x, &[a, b], &mut slope).unwrap();
            let wanted = (3.0 * a * a * b + b.sin(), [6.0 * a * b, 3.0 * a * a + b.cos()]);
            assert!((found.value - wanted.0).abs() < 1e-14, "{found:?}");
            assert!(slope.iter().zip(wanted.1).all(|(g, w)| (g - w).abs() < 1e-14), "{slope:?}");
            assert!(
                found.verification_report.recomputed.is_none()
                    && found.verification_report.reports.is_empty()
            );
        }
    }
}

#[test]
fn second_derivatives_match_the_formula() {
    for engine in ENGINES {
        let program = compiled(LOOP, engine);
        let (x, loss) = (program.reals("x").unwrap(), program.loss("y").unwrap());
        let mut call = program.workspace().unwrap();
        let [a, b] = [0.5, 2.0];
        call.give_reals(x, &[a, b]).unwrap();
        let found = call.hessian(&loss, &[x]).unwrap();
        let wanted = [[6.0 * b, 6.0 * a], [6.0 * a, -b.sin()]];
        for (row, wanted) in found.rows.iter().zip(wanted) {
            assert!(row.iter().zip(wanted).all(|(h, w)| (h - w).abs() < 1e-13), "{found:?}");
        }
        assert_eq!(found.rows, call.hessian(&loss, &[]).unwrap().rows);
        let second = program.reals("x[1]").unwrap();
        assert_eq!(call.hessian(&loss, &[second]).unwrap().rows, [[found.rows[1][1]]]);
        assert_eq!(found.value, call.gradient(&loss).unwrap().value);
    }
}

/// If comparisons of rounded numbers make a reverse sweep diverge, the sweep is repeated with a history, and the
/// report says so.
#[test]
fn a_diverged_reverse_sweep_is_recomputed() {
    for engine in ENGINES {
        let program = open(concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/tie.rasm"))
            .unwrap()
            .compile(engine)
            .unwrap();
        let loss = program.loss("paid").unwrap();
        let mut call = program.workspace().unwrap();
        for _ in 0..2 {
            let found = call.gradient(&loss).unwrap();
            assert_eq!(
                found.verification_report.recomputed.map(|divergence| divergence.name()),
                Some("path")
            );
        }
    }
}

#[test]
fn converting_a_real_with_an_adjoint_is_reported() {
    let text =
        ".inout x: real default 2\n.out y: real\n.garbage g\nadd.toint g, x\nadd.toreal y, g\nadd y, x\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let (x, loss) = (program.reals("x").unwrap(), program.loss("y").unwrap());
        let mut call = program.workspace().unwrap();
        let error = call.gradient(&loss).unwrap_err();
        assert!(matches!(error, Error::Doubtful { .. }), "{error}");
        assert!(
            error.to_string().contains("test.rasm:4: an active real was converted to an integer"),
            "{error}"
        );
        let mut slope = [0.0];
        assert!(call.adjoints(x, &mut slope).is_err(), "nobody vouches for them");
        let found = call.gradient_anyway(&loss).unwrap();
        call.adjoints(x, &mut slope).unwrap();
        assert_eq!((found.value, slope, found.verification_report.reports.iter().count()), (4.0, [1.0], 1));
    }
}

#[test]
fn erasing_a_cell_with_an_adjoint_is_reported_with_its_place() {
    let text = ".inout x: real default 2\n.inout w: real default 5\n.out y: real\nadd.mul y, x, w\nerase x\nadd x, 7.0\nadd.mul y, x, w\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let loss = program.loss("y").unwrap();
        let mut call = program.workspace().unwrap();
        // Without a history, the reverse sweep can't undo this instruction.
        let said = call.gradient(&loss).unwrap_err().to_string();
        assert!(said.starts_with("test.rasm:5") && said.contains("while running backward"), "{said}");
        call.keep_history(true);
        let error = call.gradient(&loss).unwrap_err();
        assert!(matches!(error, Error::Doubtful { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("test.rasm:5: an active cell was erased"), "{said}");
        let found = call.gradient_anyway(&loss).unwrap();
        assert_eq!((found.value, found.verification_report.reports.iter().count()), (45.0, 1));
    }
}

#[test]
fn gradients_trap_where_the_program_does_and_heed_limits() {
    let text = ".in n default 1\n.inout x: real default 4\n.out y: real\nassert n > 0\nadd.sqrt y, x\n";
    for engine in ENGINES {
        let program = compiled(text, engine);
        let (n, x, loss) =
            (program.ints("n").unwrap(), program.reals("x").unwrap(), program.loss("y").unwrap());
        let mut call = program.workspace().unwrap();
        let mut slope = [f64::NAN];
        for _ in 0..2 {
            call.give_ints(n, &[0]).unwrap();
            let said = call.gradient(&loss).unwrap_err().to_string();
            assert!(said.starts_with("test.rasm:4") && said.contains("n > 0"), "{said}");
            assert!(call.adjoints(x, &mut slope).is_err());
            call.give_ints(n, &[1]).unwrap();
            call.gradient_at(&loss, x, &[4.0], &mut slope).unwrap();
            assert_eq!(slope, [0.25]);
            // At 0 the value exists, but its derivative doesn't.
            let said = call.gradient_at(&loss, x, &[0.0], &mut slope).unwrap_err().to_string();
            assert!(said.starts_with("test.rasm:5"), "{said}");
        }
        call.give_reals(x, &[4.0]).unwrap();
        call.limit_steps(1);
        assert!(matches!(call.gradient(&loss), Err(Error::StepLimit { .. })));
    }
}

#[test]
fn a_run_between_two_gradients_changes_nothing() {
    for engine in ENGINES {
        let program = compiled(LOOP, engine);
        let (x, y, loss) =
            (program.reals("x").unwrap(), program.reals("y").unwrap(), program.loss("y").unwrap());
        let mut call = program.workspace().unwrap();
        let mut gradient = || {
            let value = call.gradient(&loss).unwrap().value;
            let mut slope = [0.0; 2];
            call.adjoints(x, &mut slope).unwrap();
            assert!(call.real(y).is_err(), "results are read behind a run");
            call.run().unwrap();
            assert!(call.adjoints(x, &mut slope).is_err(), "adjoints are read behind a gradient");
            assert_eq!(call.real(y).unwrap(), value);
            (value, slope)
        };
        assert_eq!(gradient(), gradient());
    }
}

/// Program in which `y` is final before `uncompute`, and `z` after it. So the gradients of both have different
/// turning points and inline different calls.
const TURNS: &str = "
.inout x: real default 3
.out y: real
.inout z: real default 0
.ancilla t: real
compute
    call square(t, x)
    add z, t
apply
    add y, t * x
uncompute
.proc square(inout to: real, in of: real)
    compute
        local power = of * of
    apply
        add to, power
    uncompute
.end
";

#[test]
fn losses_with_different_turning_points_share_a_workspace() {
    let program = compiled(TURNS, EngineChoice::Jit);
    let (x, losses) = (program.reals("x").unwrap(), ["y", "z"].map(|name| program.loss(name).unwrap()));
    let gradient = |call: &mut reviver::Workspace, n: usize| {
        let found = call.gradient(&losses[n]).unwrap();
        let mut slope = [0.0];
        call.adjoints(x, &mut slope).unwrap();
        (found.value.to_bits(), found.steps, found.steps_back, slope[0].to_bits())
    };
    let fresh: Vec<_> = (0..2).map(|n| gradient(&mut program.workspace().unwrap(), n)).collect();
    assert_ne!(fresh[0].1, fresh[1].1, "they turn at different places");
    assert_eq!([f64::from_bits(fresh[0].3), f64::from_bits(fresh[1].3)], [27.0, 0.0]);
    let mut call = program.workspace().unwrap();
    for n in [0, 1, 1, 0] {
        assert_eq!(gradient(&mut call, n), fresh[n]);
        call.run().unwrap();
        call.limit_steps(3);
        assert!(call.gradient(&losses[n]).is_err());
        call.limit_steps(u64::MAX);
    }
}

/// Program with f = 4x, which uses a function without a derivative at 0. The second result has no derivative at c =
/// 0.
const ROOTS: &str = "
.inout x: real default 0, c: real default 0
.out f: real, g: real
compute
    local r = cbrt(x)
apply
    add f, 3*x + r*r*r
uncompute
add g, x*x + sqrt(c)
";

#[test]
fn an_infinite_derivative_multiplied_by_0_is_reported() {
    for engine in ENGINES {
        let program = compiled(ROOTS, engine);
        let (x, f) = (program.reals("x").unwrap(), program.loss("f").unwrap());
        let mut call = program.workspace().unwrap();
        let mut slope = [0.0];
        for (at, is_doubtful) in [(0.0, true), (1.0, false), (0.0, true), (-8.0, false)] {
            call.give_reals(x, &[at]).unwrap();
            let found = call.gradient_anyway(&f).unwrap();
            assert_eq!(!found.verification_report.reports.is_empty(), is_doubtful, "{at}: {found:?}");
            call.adjoints(x, &mut slope).unwrap();
            let wanted = if is_doubtful { 3.0 } else { 4.0 };
            assert!((slope[0] - wanted).abs() < 1e-12, "{at}: {slope:?}");
            assert_eq!(matches!(call.gradient(&f), Err(Error::Doubtful { .. })), is_doubtful, "{at}");
        }
    }
}

#[test]
fn inputs_that_are_not_requested_need_no_derivative() {
    for engine in ENGINES {
        let all = reviver::assemble("roots.rasm", ROOTS).unwrap();
        for (program, exists) in [(all.with_respect_to(&["x"]).unwrap(), true), (all.clone(), false)] {
            let program = program.compile(engine).unwrap();
            let (x, g) = (program.reals("x").unwrap(), program.loss("g").unwrap());
            let mut call = program.workspace().unwrap();
            let mut slope = [0.0];
            let found = call.gradient_at(&g, x, &[3.0], &mut slope);
            assert_eq!(found.is_ok(), exists, "{found:?}");
            assert!(!exists || slope == [6.0], "{slope:?}");
        }
        assert!(matches!(all.with_respect_to(&["none"]), Err(Error::Unknown { .. })));
    }
}

#[test]
fn a_second_derivative_at_a_kink_is_reported() {
    let program = compiled(".inout x: real default 0\n.out y: real\nadd y, abs(0 - x*x)\n", ENGINES[0]);
    let mut call = program.workspace().unwrap();
    let (x, y) = (program.reals("x").unwrap(), program.loss("y").unwrap());
    assert!(matches!(call.hessian(&y, &[x]), Err(Error::Doubtful { .. })));
    call.give_reals(x, &[0.5]).unwrap();
    assert_eq!(call.hessian(&y, &[x]).unwrap().rows, [[2.0]]);
}
