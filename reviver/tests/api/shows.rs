//! Values of `show` in the calls of a workspace.

use std::sync::{Arc, Mutex};

use reviver::{Shown, ShownNumber, Workspace};

use crate::support::{ENGINES, compiled};

const TEXT: &str = "
.inout n default 2
.inout x: real default 3
.out y: real
        show  n
        call  f(y, x)
.proc f(inout y: real, in x: real) rule g
        add   y, x*x
        show  y
.end
.proc g(inout y: real, in x: real)
        show  y'
        add   x', y'*2
.end
";

/// Registers a function that collects shown values, and returns the list that it fills.
fn seen(call: &mut Workspace) -> Arc<Mutex<Vec<Shown>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    call.on_show(move |shown| kept.lock().unwrap().push(shown));
    seen
}

fn shown(name: &str, value: ShownNumber) -> Shown {
    Shown { name: name.to_owned(), value }
}

#[test]
fn calls_report_shown_values() {
    for engine in ENGINES {
        let program = compiled(TEXT, engine);
        let (x, loss) = (program.reals("x").unwrap(), program.loss("y").unwrap());
        let (mut call, mut silent) = (program.workspace().unwrap(), program.workspace().unwrap());
        let seen = seen(&mut call);
        let taken = || std::mem::take(&mut *seen.lock().unwrap());
        for value in [3.0, 5.0] {
            let forward =
                [shown("n", ShownNumber::Int(2)), shown("y", ShownNumber::Real(value * value))].to_vec();
            let both = [&forward[..], &[shown("y'", ShownNumber::Real(1.0))]].concat();
            call.give_reals(x, &[value]).unwrap();
            silent.give_reals(x, &[value]).unwrap();
            assert_eq!(call.run().unwrap(), silent.run().unwrap());
            assert_eq!(taken(), forward);
            let (found, other) = (call.gradient(&loss).unwrap(), silent.gradient(&loss).unwrap());
            assert_eq!((found.value, found.steps_back), (other.value, other.steps_back));
            assert_eq!(taken(), both);
            let mut slopes = [[0.0]; 2];
            call.adjoints(x, &mut slopes[0]).unwrap();
            silent.adjoints(x, &mut slopes[1]).unwrap();
            assert_eq!(slopes, [[2.0]; 2]);
            call.hessian(&loss, &[x]).unwrap();
            assert_eq!(taken(), both);
            let y = program.reals("y").unwrap();
            let series = call.taylor(&[y], &[(x, &[1.0])], 2).unwrap();
            assert_eq!((series.coefficients, taken()), (vec![vec![value * value, 2.0, 0.0]], both));
            call.run().unwrap();
            call.come_back().unwrap();
            assert_eq!(taken(), forward);
        }
    }
}

/// If a program has no `show`, registering a function changes nothing: its gradients still need no machine.
#[test]
fn a_program_without_show_is_unaffected() {
    for engine in ENGINES {
        let program = compiled(".inout x: real default 3\n.out y: real\n        add   y, x*x\n", engine);
        let loss = program.loss("y").unwrap();
        let mut call = program.workspace().unwrap();
        let seen = seen(&mut call);
        call.run().unwrap();
        assert_eq!(call.gradient(&loss).unwrap().value, 9.0);
        assert!(seen.lock().unwrap().is_empty());
    }
}
