//! Calls of a workspace don't allocate memory after the first one. The test's allocator counts allocations.

use reviver::{EngineChoice, Executable, assemble};

/// Model with about fourteen reals, a branch, a loop and elementary functions.
const MODEL: &str = "
.inout n default 2
.inout x[8]: real default 0.5
.inout k default 1
.out y: real, z: real
for i in 0..n
    compute
        local s = x[0] * x[1]
        local t = sin(x[2])
    apply
        add.mul y, s, t
        if k > 0
            add.mul z, s, x[i]
        fi k > 0
    uncompute
rof
add y, z * x[7]
";

/// Returns the number of allocations that a piece of work makes.
fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

fn program(engine: EngineChoice) -> Executable {
    assemble("model.rasm", MODEL).unwrap().compile(engine).unwrap()
}

#[test]
fn runs_allocate_nothing() {
    for engine in [EngineChoice::Interp, EngineChoice::Jit] {
        let program = program(engine);
        assert_eq!(program.is_native(), engine == EngineChoice::Jit);
        let [x, y, z] = ["x", "y", "z"].map(|name| program.reals(name).unwrap());
        let n = program.ints("n").unwrap();
        let mut call = program.workspace().unwrap();
        let mut round_trip = || {
            let mut values = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];
            call.give_reals(x, &values).unwrap();
            call.give_ints(n, &[3]).unwrap();
            call.run().unwrap();
            let results = [call.real(y).unwrap(), call.real(z).unwrap()];
            call.reals(x, &mut values).unwrap();
            call.give_result_ints(n, &[3]).unwrap();
            call.give_result_reals(x, &values).unwrap();
            call.give_result_reals(y, &results[..1]).unwrap();
            call.give_result_reals(z, &results[1..]).unwrap();
            call.run_back().unwrap();
            assert_eq!(call.int(n).unwrap(), 3);
        };
        round_trip();
        assert_eq!(allocations(|| (0..10).for_each(|_| round_trip())), 0, "{engine}");
    }
}

/// An interpreted gradient allocates, because it has a machine for each sweep. Native code has compiled functions of
/// gradients, which don't.
#[test]
fn gradients_by_native_code_allocate_nothing() {
    let program = program(EngineChoice::Jit);
    let (x, loss) = (program.reals("x").unwrap(), program.loss("y").unwrap());
    assert!(loss.is_native());
    let mut call = program.workspace().unwrap();
    let (mut at, mut slope) = ([0.25; 8], [0.0; 8]);
    let mut descend = || {
        call.gradient_at(&loss, x, &at, &mut slope).unwrap();
        at.iter_mut().zip(slope).for_each(|(x, s)| *x -= 0.01 * s);
    };
    descend();
    assert_eq!(allocations(|| (0..10).for_each(|_| descend())), 0);
}

#[test]
fn allocations_are_counted() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1]))) > 0);
}
