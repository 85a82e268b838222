//! Unchecked native code gives the same results as checked runs that complete, and reports its gradients as not
//! verified.

use std::sync::Arc;

use reviver::{CheckLevel, CompileOptions, EngineChoice, Error, Executable, Workspace, open};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Role};
use reviver_isa::structure::BlockKind;
use reviver_vm::{Program, State};

use crate::support::{compiled, programs};

const UNCHECKED: CompileOptions = CompileOptions { engine: EngineChoice::Jit, level: CheckLevel::Unchecked };
/// Step limit; longer runs aren't compared.
const ENOUGH: u64 = 1_000_000;

/// Returns the programs of the repository, each in its own number system and in fixed point.
fn shipped() -> Vec<(String, Arc<Program>)> {
    let own = programs().into_iter().map(|path| (path.display().to_string(), open(&path).unwrap()));
    let all = own.flat_map(|(name, assembled)| {
        let mut module = assembled.program().module().clone();
        module.real = RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS);
        let fixed = Program::new(module, 0).ok().map(Arc::new);
        let own = Arc::clone(assembled.program());
        [(name.clone(), Some(own)), (format!("{name} in fixed point"), fixed)]
    });
    all.filter_map(|(name, program)| Some((name, program?))).collect()
}

/// Runs a program from the start; `None` if it doesn't complete.
fn arrived(executable: &Executable) -> Option<(Workspace, u64)> {
    let mut call = executable.workspace().unwrap();
    call.limit_steps(ENOUGH);
    let steps = call.run().ok()?;
    Some((call, steps))
}

/// Returns true if saving and restoring a cell gives the same bits as uncomputing it, because the program's
/// arithmetic doesn't round.
fn is_same_to_the_bit(program: &Program) -> bool {
    let module = program.module();
    module.real.is_exact() || module.structure.blocks.iter().all(|block| block.kind != BlockKind::Compute)
}

fn compare(name: &str, program: &Program, [found, expected]: [&State; 2]) {
    assert_eq!(found.ints, expected.ints, "{name}");
    if is_same_to_the_bit(program) {
        assert_eq!(found.reals, expected.reals, "{name}");
    }
    let reals =
        program.module().globals.iter().enumerate().filter(|(_, global)| {
            global.class == Class::Real && matches!(global.role, Role::Out | Role::InOut)
        });
    for cell in reals.flat_map(|(n, _)| program.cells(n)) {
        let [found, expected] = [found, expected]
            .map(|state| program.approximate(reviver_vm::values::Value::Real(state.reals[cell])));
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1e-3), "{name}: {found}, {expected}");
    }
}

#[test]
fn programs_agree_forward_and_backward() {
    let (mut compared, mut back) = (0, 0);
    for (name, program) in shipped() {
        let checked = Executable::new(&name, &program, EngineChoice::Jit).unwrap();
        let unchecked = Executable::new(&name, &program, UNCHECKED).unwrap();
        let Some((expected, steps)) = arrived(&checked) else { continue };
        let (found, made) = arrived(&unchecked).unwrap_or_else(|| panic!("{name} doesn't arrive"));
        assert_eq!(made, steps, "{name}");
        let [found, expected] = [found.state().unwrap(), expected.state().unwrap()];
        compare(&name, &program, [found, expected]);
        compared += 1;
        let again = [&unchecked, &checked].map(|executable| {
            let mut call = executable.workspace().unwrap();
            call.limit_steps(ENOUGH);
            call.begin_with(reviver::Travel::Backward, expected.try_clone().unwrap()).unwrap();
            call.run_back().map(|steps| (steps, call.state().unwrap().try_clone().unwrap()))
        });
        if let [Ok((made, found)), Ok((steps, expected))] = again {
            assert_eq!(made, steps, "{name}");
            compare(&name, &program, [&found, &expected]);
            back += 1;
        }
    }
    assert!(compared > 60 && back > 40, "{compared} there, {back} back");
}

#[test]
fn gradients_are_equal_and_not_verified() {
    let mut compared = 0;
    for (name, program) in shipped() {
        let [checked, unchecked] = [EngineChoice::Jit.into(), UNCHECKED]
            .map(|options: CompileOptions| Executable::new(&name, &program, options).unwrap());
        let module = program.module();
        let loss = module.globals.iter().enumerate().find(|(_, global)| {
            global.class == Class::Real && global.role == Role::Out && global.shape.cells() > 0
        });
        let Some((n, _)) = loss else { continue };
        let of = |executable: &Executable| {
            let loss = executable.loss(&program.cell_name(n, 0)).ok()?;
            let mut call = executable.workspace().ok()?;
            call.limit_steps(ENOUGH);
            let found = call.gradient_anyway(&loss).ok()?;
            let inputs = module.globals.iter().filter(|g| g.class == Class::Real && g.role.is_given());
            let inputs = inputs.filter(|global| global.shape.cells() > 0);
            let slopes = inputs.map(|global| {
                let cells = executable.reals(&global.name).unwrap();
                let mut slope = vec![0.0; cells.len()];
                call.adjoints(cells, &mut slope).unwrap();
                slope
            });
            Some((slopes.collect::<Vec<_>>().concat(), found))
        };
        let Some((expected, known)) = of(&checked) else { continue };
        if known.verification_report.recomputed.is_some() {
            continue;
        }
        let (slope, found) = of(&unchecked).unwrap_or_else(|| panic!("{name} has no gradient"));
        assert_eq!((found.steps, found.steps_back), (known.steps, known.steps_back), "{name}");
        assert_eq!(
            (known.verification_report.loss_error.is_some(), found.verification_report.loss_error),
            (true, None),
            "{name}"
        );
        let size = expected.iter().fold(1e-3_f64, |size, slope| size.max(slope.abs()));
        let is_same = slope.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-6 * size);
        assert!(is_same, "{name}: {slope:?}, {expected:?}");
        assert!(!is_same_to_the_bit(&program) || slope == expected, "{name}: {slope:?}, {expected:?}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn executables_report_their_level_and_the_interpreter_has_only_one() {
    let text = ".out s\n.ancilla t\nfor i in 0..9\n add s, i\n add t, 1\nrof\nvacate t\n";
    let checked = compiled(text, EngineChoice::Jit);
    assert_eq!(checked.level(), CheckLevel::Checked);
    assert!(matches!(checked.workspace().unwrap().run(), Err(Error::Trap { .. })));
    let unchecked = reviver::assemble("levels.rasm", text).unwrap().compile(UNCHECKED).unwrap();
    assert_eq!(unchecked.level(), CheckLevel::Unchecked);
    let mut call = unchecked.workspace().unwrap();
    call.run().unwrap();
    assert_eq!(call.int(unchecked.ints("s").unwrap()).unwrap(), 36);
    let interpreted = CompileOptions { engine: EngineChoice::Interp, ..UNCHECKED };
    let refused = reviver::assemble("levels.rasm", text).unwrap().compile(interpreted).unwrap_err();
    assert!(refused.to_string().contains("the interpreter always checks everything"), "{refused}");
}
