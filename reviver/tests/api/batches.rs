//! Lanes give the same bits as single runs, on any number of threads. A failing lane doesn't affect others.

use reviver::batch::plan::{LaneDirection, LaneTask};
use reviver::{
    Batch, BatchOptions, CheckLevel, CompileOptions, Device, EngineChoice, Error, Executable, LaneInputs,
    LaneResults, State, open,
};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role, Shape};
use reviver_vm::differentiate::{self, Subject};
use reviver_vm::explain::explain;
use reviver_vm::{Machine, Program, ShownMark, Stop, Travel};

use crate::support::{ENGINES, compiled, programs, said};

/// Step limit that suffices for most lanes. With some inputs a run of a program is much longer.
const ENOUGH: u64 = 20_000_000;
const LANES: usize = 6;

fn arrays(program: &Program) -> impl Iterator<Item = (usize, &Global)> {
    program.module().globals.iter().enumerate().filter(|(_, global)| global.shape != Shape::Stack)
}

/// Returns true if each lane has its own number for a global. Globals declared `shared` have their `default` instead.
fn is_own(program: &Program, global: &Global, travel: Travel) -> bool {
    program.takes(global.role, travel) && !(global.is_shared && travel == Travel::Forward)
}

/// Returns lane inputs: lane 0 has the program's own numbers, the other lanes have variations of them.
fn varied(program: &Program, own: &State, travel: Travel) -> Vec<(String, Class, Vec<u64>)> {
    let mut columns = Vec::new();
    for (n, global) in arrays(program).filter(|(_, global)| is_own(program, global, travel)) {
        for (element, cell) in program.cells(n).enumerate() {
            let name = program.cell_name(n, element);
            let column = (0..LANES as i64).map(|lane| match global.class {
                Class::Int => (own.ints[cell] + lane * (cell as i64 % 3)) as u64,
                Class::Real => nudged(program.module().real, own.reals[cell], lane),
            });
            columns.push((name, global.class, column.collect()));
        }
    }
    columns
}

fn nudged(system: RealSystem, bits: u64, lane: i64) -> u64 {
    match system {
        RealSystem::F64 => (f64::from_bits(bits) * (1.0 + lane as f64 / 16.0)).to_bits(),
        RealSystem::F32 => u64::from((f32::from_bits(bits as u32) * (1.0 + lane as f32 / 16.0)).to_bits()),
        RealSystem::Fixed(_) => ((bits as i64) + (bits as i64 / 16) * lane) as u64,
    }
}

fn lanes(columns: &[(String, Class, Vec<u64>)]) -> LaneInputs<'_> {
    columns.iter().fold(LaneInputs::new(LANES), |lanes, (name, _, bits)| lanes.bits_of(name, &bits[..]))
}

/// Returns the start state of one lane.
fn start(
    program: &std::sync::Arc<Program>,
    columns: &[(String, Class, Vec<u64>)],
    lane: usize,
    travel: Travel,
) -> State {
    let machine = match travel {
        Travel::Forward => Machine::at_begin(program.clone()),
        Travel::Backward => Machine::at_end(program.clone()),
    };
    let mut state = machine.unwrap().into_state();
    let mut columns = columns.iter();
    for (n, global) in arrays(program).filter(|(_, global)| is_own(program, global, travel)) {
        for (cell, (_, _, bits)) in program.cells(n).zip(&mut columns) {
            match global.class {
                Class::Int => state.ints[cell] = bits[lane] as i64,
                Class::Real => state.reals[cell] = bits[lane],
            }
        }
    }
    state.counters.shown = ShownMark::SILENT;
    state
}

/// Runs the interpreter from a start state. Returns the final state, or the message of its trap.
fn single(program: &std::sync::Arc<Program>, start: State, travel: Travel) -> Result<State, String> {
    let mut machine = Machine::resume(program.clone(), start, None);
    match machine.run(travel, ENOUGH) {
        Ok(Stop::Bound) => Ok(machine.into_state()),
        Ok(_) => Err("stopped after".into()),
        Err(trap) => {
            let explanation = explain(program, machine.state(), trap);
            Err(format!("{} {}", explanation.message, explanation.step))
        }
    }
}

fn batch(executable: &Executable, threads: usize) -> Batch {
    let options = BatchOptions { most_steps: ENOUGH, keeps_going: true, allows_doubt: true, interrupt: None };
    Batch::new(executable, Device::cpu_with(threads)).with(options)
}

/// Returns the message of each lane's failure, with the step if it is a trap. Returns `None` for a lane that completed.
fn failures(results: &LaneResults) -> Vec<Option<String>> {
    let mut failures = vec![None; results.len()];
    for failure in results.failures() {
        failures[failure.lane as usize] = Some(match &failure.error {
            Error::Trap { explanation, .. } => format!("{} {}", explanation.message, explanation.step),
            error => error.to_string(),
        });
    }
    failures
}

/// Compares lanes in one direction with single runs. Returns the number of completed lanes.
fn agree(executable: &Executable, columns: &[(String, Class, Vec<u64>)], travel: Travel) -> usize {
    let program = executable.program();
    let go = |threads| match travel {
        Travel::Forward => batch(executable, threads).run(&lanes(columns)),
        Travel::Backward => batch(executable, threads).back(&lanes(columns)),
    };
    let (alone, together) = (go(1).unwrap(), go(3).unwrap());
    let names: Vec<String> = alone.names().map(str::to_owned).collect();
    for name in &names {
        assert_eq!(alone.bits(name).unwrap(), together.bits(name).unwrap(), "{name}");
    }
    let failed = failures(&alone);
    assert_eq!(failed, failures(&together));
    for (lane, failed) in failed.iter().enumerate() {
        match (single(program, start(program, columns, lane, travel), travel), failed) {
            (Ok(state), None) => {
                let ends = |global: &Global| match travel {
                    Travel::Forward => global.role.is_result(),
                    Travel::Backward => global.role.is_given(),
                };
                for (n, global) in arrays(program).filter(|(_, global)| ends(global)) {
                    for (element, cell) in program.cells(n).enumerate() {
                        let found = alone.bits(&program.cell_name(n, element)).unwrap()[lane];
                        let wanted = match global.class {
                            Class::Int => state.ints[cell] as u64,
                            Class::Real => state.reals[cell],
                        };
                        assert_eq!(found, wanted, "{} in lane {lane}", program.cell_name(n, element));
                    }
                }
            }
            (Ok(state), Some(failed)) => {
                let garbage = program.garbage(&state, travel);
                assert!(!garbage.is_empty() && failed.contains("not results of the program"), "{failed}");
            }
            (Err(wanted), Some(failed)) => assert!(failed.starts_with(&wanted), "{failed} for {wanted}"),
            (Err(wanted), None) => panic!("lane {lane} arrived, and alone it says {wanted}"),
        }
    }
    failed.iter().filter(|failed| failed.is_none()).count()
}

#[test]
fn lanes_equal_single_runs_in_both_directions() {
    let (mut there, mut back) = (0, 0);
    for path in programs() {
        let assembled = open(&path).unwrap();
        let program = assembled.program();
        let begin = Machine::at_begin(program.clone()).unwrap().into_state();
        let columns = varied(program, &begin, Travel::Forward);
        let end = single(program, begin, Travel::Forward);
        for engine in ENGINES {
            let executable = assembled.compile(engine).unwrap();
            match batch(&executable, 1).prepare(LaneTask::Run, &[], &LaneInputs::new(0)) {
                Err(Error::Stack { .. }) => continue,
                Ok(_) | Err(_) => there += agree(&executable, &columns, Travel::Forward),
            }
            let Ok(end) = &end else { continue };
            let columns = varied(program, end, Travel::Backward);
            match batch(&executable, 1).back(&lanes(&columns)) {
                Err(Error::Stack { .. }) => {}
                Ok(_) => back += agree(&executable, &columns, Travel::Backward),
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }
    assert!(there > 400 && back > 300, "{there} lanes there, {back} back");
}

#[test]
fn lanes_have_the_gradients_of_single_runs() {
    let mut found = 0;
    for path in programs() {
        let assembled = open(&path).unwrap();
        let program = assembled.program();
        let begin = Machine::at_begin(program.clone()).unwrap().into_state();
        let columns = varied(program, &begin, Travel::Forward);
        let reals = || arrays(program).filter(|(_, global)| global.class == Class::Real);
        let Some((n, _)) = reals().find(|(_, global)| global.role.is_result()) else { continue };
        for engine in ENGINES {
            let executable = assembled.compile(engine).unwrap();
            let Ok(loss) = executable.loss(&program.cell_name(n, 0)) else { continue };
            let gradient = |threads| batch(&executable, threads).gradient(&loss, &[], &lanes(&columns));
            let Ok(alone) = gradient(1) else { continue };
            let together = gradient(2).unwrap();
            assert_eq!(alone.sums(), together.sums());
            for (lane, failed) in failures(&alone).iter().enumerate() {
                let begin = start(program, &columns, lane, Travel::Forward);
                let subject = Subject::new(program.clone(), begin, false, ENOUGH).unwrap();
                let variable = subject.variables(n).unwrap().remove(0);
                let wanted = differentiate::gradient(&subject, &variable);
                assert_eq!(wanted.is_err(), failed.is_some(), "{} lane {lane}: {failed:?}", path.display());
                let Ok(wanted) = wanted else { continue };
                for (input, global) in
                    reals().filter(|(_, global)| global.role.is_given() && !global.is_shared)
                {
                    for (element, cell) in program.cells(input).enumerate() {
                        let name = reviver_isa::names::adjoint_name(&program.cell_name(input, element));
                        let bits = [&alone, &together].map(|results| results.bits(&name).unwrap()[lane]);
                        assert_eq!(
                            bits,
                            [wanted.adjoints.cells[cell]; 2],
                            "{} {}",
                            path.display(),
                            global.name
                        );
                    }
                }
                found += 1;
            }
        }
    }
    assert!(found > 200, "only {found} gradients");
}

const SQUARE: &str = ".in n\n.out y\nassert n != 3\nassert n != 5\nadd.mul y, n, n\n";

#[test]
fn a_lane_that_fails_fails_alone() {
    let program = compiled(SQUARE, EngineChoice::Auto);
    let numbers: Vec<i64> = (0..10_000).collect();
    let lanes = || LaneInputs::new(10_000).ints("n", &numbers[..]);
    let results = batch(&program, 2).run(&lanes()).unwrap();
    assert_eq!(results.failures().iter().map(|failure| failure.lane).collect::<Vec<_>>(), [3, 5]);
    assert!(!results.has_arrived(3) && results.has_arrived(4));
    let y = results.ints("y").unwrap();
    assert_eq!((y[3], y[4], y[9999]), (0, 16, 99_980_001));
    assert_eq!(results.leftovers().count, 9_997, "`n` is never used up, but where it is 0");
    // If a failure ends the batch, the error is that of the first failed lane, on any number of threads.
    for threads in [1, 2, 7] {
        let error = Batch::new(&program, Device::cpu_with(threads)).run(&lanes()).unwrap_err();
        assert!(error.to_string().starts_with("lane 3: test.rasm:3"), "{error}");
        assert!(matches!(error, Error::Lane { lane: 3, .. }));
    }
}

#[test]
fn no_lanes_and_one_lane_are_batches() {
    let program = compiled(SQUARE, EngineChoice::Auto);
    let batch = Batch::new(&program, Device::cpu());
    let none = batch.run(&LaneInputs::new(0).ints("n", Vec::new())).unwrap();
    assert!(none.is_empty() && none.names().eq(["y"]) && none.ints("y").unwrap().is_empty());
    let one = batch.run(&LaneInputs::new(1).ints("n", vec![12])).unwrap();
    assert_eq!(one.ints("y").unwrap(), [144]);
    assert_eq!(
        batch.run(&LaneInputs::new(2).shared_ints("n", vec![4])).unwrap().ints("y").unwrap(),
        [16, 16]
    );
}

#[test]
fn a_million_lanes_keep_their_order() {
    let program = compiled(".inout n\nadd n, 1\n", EngineChoice::Auto);
    let numbers: Vec<i64> = (0..1_000_000).collect();
    let results = Batch::new(&program, Device::cpu_with(3))
        .run(&LaneInputs::new(1_000_000).ints("n", numbers))
        .unwrap();
    assert!(results.ints("n").unwrap().into_iter().eq(1..=1_000_000));
}

#[test]
fn a_long_lane_next_to_short_ones() {
    let text = ".in n\n.out y\nfor i in 0..n\nadd y, i\nrof\n";
    let program = compiled(text, EngineChoice::Auto);
    let mut numbers = vec![1; 100];
    numbers[50] = 1_000_000;
    let results = batch(&program, 2).run(&LaneInputs::new(100).ints("n", numbers)).unwrap();
    let y = results.ints("y").unwrap();
    assert_eq!((y[49], y[50], y[51]), (0, 499_999_500_000, 0));
    // Each lane has its own step limit.
    let limited = BatchOptions { most_steps: 1000, keeps_going: true, ..BatchOptions::default() };
    let mut numbers = vec![1; 100];
    numbers[50] = 1_000_000;
    let results = Batch::new(&program, Device::cpu())
        .with(limited)
        .run(&LaneInputs::new(100).ints("n", numbers))
        .unwrap();
    assert!(
        matches!(results.failures(), [failure] if failure.lane == 50 && matches!(failure.error, Error::StepLimit { .. }))
    );
}

#[test]
fn diverging_lanes_have_their_own_derivatives() {
    const LANES: usize = 3_000;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/besselj.rasm");
    let programs =
        [EngineChoice::Jit, EngineChoice::Interp].map(|engine| open(path).unwrap().compile(engine).unwrap());
    // The inputs are pseudorandom, so neighboring lanes differ in their number of terms and in their function. Some
    // lanes fail.
    let chance = |lane: usize, of: u64| (lane as u64 * of).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let points: Vec<f64> = (0..LANES).map(|lane| 0.25 + (chance(lane, 1) % 9_000) as f64 / 1_000.0).collect();
    let orders: Vec<i64> =
        (0..LANES).map(|lane| (chance(lane, 3) % 5) as i64 - i64::from(lane % 700 == 650)).collect();
    let without: Vec<u64> = (0..).zip(&orders).filter(|(_, nu)| **nu < 0).map(|(lane, _)| lane).collect();
    assert!((1..5).contains(&without.len()), "{without:?}");
    let lanes = || LaneInputs::new(LANES).reals("z", &points[..]).ints("nu", &orders[..]);
    let loss = |program: &Executable| program.loss("out").unwrap();
    let expected = batch(&programs[1], 1).gradient(&loss(&programs[1]), &[], &lanes()).unwrap();
    for threads in [1, 2, 7] {
        let found = batch(&programs[0], threads).gradient(&loss(&programs[0]), &[], &lanes()).unwrap();
        assert!(found.failures().iter().map(|failure| failure.lane).eq(without.iter().copied()));
        for name in expected.names() {
            assert_eq!(found.bits(name).unwrap(), expected.bits(name).unwrap(), "{name}, {threads} threads");
        }
        let batch = Batch::new(&programs[0], Device::cpu_with(threads));
        let error = batch.gradient(&loss(&programs[0]), &[], &lanes()).unwrap_err();
        assert!(matches!(error, Error::Lane { lane, .. } if lane == without[0]), "{error}");
    }
}

const LINE: &str = ".inout w[2]: real shared default {0.5, -1}\n.inout x: real\n.inout t: real\n.out loss: real\n.ancilla e: real
compute\nadd e, w[0] * x\nadd e, w[1]\nsub e, t\napply\nadd loss, square(e)\nuncompute\n";

#[test]
fn shared_inputs_of_lanes_have_one_derivative() {
    let program = compiled(LINE, EngineChoice::Auto);
    let (loss, count) = (program.loss("loss").unwrap(), 1000);
    let x: Vec<f64> = (0..count).map(|lane| f64::from(lane) / 7.0).collect();
    let t: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let lanes = LaneInputs::new(x.len()).reals("x", &x[..]).reals("t", &t[..]);
    let results = batch(&program, 1).gradient(&loss, &[], &lanes).unwrap();
    assert!(results.names().eq(["loss", "x'", "t'"]), "{:?}", results.names().collect::<Vec<_>>());
    // Sums along the tree of lane numbers that [`LaneResults::sums`] defines.
    fn tree(values: &[f64]) -> f64 {
        match values {
            [] => 0.0,
            [one] => *one,
            _ => {
                let left = (values.len().next_power_of_two() / 2).max(1);
                tree(&values[..left]) + tree(&values[left..])
            }
        }
    }
    let error = |lane: usize| 0.5 * x[lane] - 1.0 - t[lane];
    let expected: Vec<f64> = (0..x.len()).map(|lane| 2.0 * error(lane) * x[lane]).collect();
    assert!((results.sum("w'[0]").unwrap() - expected.iter().sum::<f64>()).abs() < 1e-6);
    assert_eq!(results.sum("loss").unwrap(), tree(&results.reals("loss").unwrap()));
    for threads in [2, 3, 8] {
        let again = batch(&program, threads).gradient(&loss, &[], &lanes).unwrap();
        assert_eq!(again.sums(), results.sums());
    }
    // A shared value replaces the default; a column for a shared cell is refused.
    let other =
        batch(&program, 2).gradient(&loss, &[], &lanes.clone().shared_reals("w", vec![1.0, 0.0])).unwrap();
    assert_ne!(other.sum("loss").unwrap(), results.sum("loss").unwrap());
    let own = lanes.clone().reals("w[0]", &x[..]);
    assert!(said(batch(&program, 1).gradient(&loss, &[], &own)).contains("declared to be `shared`"));
    // Sums don't depend on the lengths of blocks.
    let prepared = batch(&program, 2)
        .prepare(LaneTask::Gradient { loss, by: Vec::new() }, &["x", "t"], &LaneInputs::new(0))
        .unwrap();
    let bits = [&x, &t].map(|column| column.iter().map(|value| value.to_bits()).collect::<Vec<u64>>());
    let mut running = prepared.begin();
    for block in [0..1, 1..334, 334..1000] {
        let inputs: Vec<&[u64]> = bits.iter().map(|column| &column[block.clone()]).collect();
        let mut room = vec![vec![0; block.len()]; prepared.plan().results.len()];
        let mut results: Vec<&mut [u64]> = room.iter_mut().map(Vec::as_mut_slice).collect();
        running.block(&inputs, block.len(), &mut results, &|_| {}).unwrap();
    }
    assert_eq!(running.sums().unwrap(), results.sums());
}

#[test]
fn jacobians_are_gradients_of_each_result() {
    let text = ".inout x[2]: real\n.out y[2]: real\nadd y[0], x[0] * x[1]\nadd y[1], sin(x[0])\n";
    let program = compiled(text, EngineChoice::Auto);
    let (x, y) = (program.reals("x").unwrap(), program.reals("y").unwrap());
    let lanes = LaneInputs::new(3).reals("x[0]", vec![1.0, 2.0, 3.0]).reals("x[1]", vec![5.0, 6.0, 7.0]);
    let found = batch(&program, 2).jacobian(&[y], &[x], &lanes).unwrap();
    let columns = ["y[0]", "y[1]", "y[0]/x[0]", "y[0]/x[1]", "y[1]/x[0]", "y[1]/x[1]"];
    assert!(found.names().eq(columns));
    assert_eq!(found.reals("y[0]/x[0]").unwrap(), [5.0, 6.0, 7.0]);
    assert_eq!(found.reals("y[0]/x[1]").unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(found.reals("y[1]/x[1]").unwrap(), [0.0; 3]);
    let cosine = found.reals("y[1]/x[0]").unwrap()[1];
    assert!((cosine - 2f64.cos()).abs() < 1e-15);
    assert!(
        said(batch(&program, 1).jacobian(
            &[compiled(text, EngineChoice::Interp).reals("y").unwrap()],
            &[],
            &lanes
        ))
        .contains("a different `Executable`")
    );
}

#[test]
fn lanes_have_the_second_derivatives_of_single_calls() {
    let text = ".in x[2]: real\n.out y: real\nadd y, sin(x[0]) * exp(x[1]) + x[0] * x[0] * x[1]\n";
    for engine in [EngineChoice::Interp, EngineChoice::Jit] {
        let program = compiled(text, engine);
        let (x, y, loss) =
            (program.reals("x").unwrap(), program.reals("y").unwrap(), program.loss("y").unwrap());
        let points: Vec<[f64; 2]> =
            (0..40).map(|n| [f64::from(n) / 7.0 - 3.0, f64::from(n) / 11.0]).collect();
        let column = |k: usize| points.iter().map(|point| point[k]).collect::<Vec<f64>>();
        let lanes = LaneInputs::new(points.len()).reals("x[0]", column(0)).reals("x[1]", column(1));
        let along = LaneDirection::new(&program, &[(x, &[1.0, -2.0])]).unwrap();
        let batch = batch(&program, 2);
        let hessian = batch.hessian(&loss, &[x], &lanes).unwrap();
        let products = batch.hessian_times(&loss, &along, &lanes).unwrap();
        let tangents = batch.jacobian_times(&[y], &along, &lanes).unwrap();
        let mut call = program.workspace().unwrap();
        for (lane, point) in points.iter().enumerate() {
            call.give_reals(x, point).unwrap();
            let number = |found: &LaneResults, name: &str| found.reals(name).unwrap()[lane];
            let alone = call.hessian(&loss, &[x]).unwrap();
            let row = |k: usize| [0, 1].map(|n| number(&hessian, &format!("x'[{k}]/x[{n}]")));
            assert_eq!(alone.rows, [row(0), row(1)], "{engine:?} {point:?}");
            assert_eq!(alone.gradient, [0, 1].map(|n| number(&hessian, &format!("x'[{n}]"))));
            let alone = call.hessian_times(&loss, &[(x, &[1.0, -2.0])]).unwrap();
            assert_eq!(alone.product, [0, 1].map(|n| number(&products, &format!("x'[{n}]/times"))));
            let alone = call.jacobian_times(&[y], &[(x, &[1.0, -2.0])]).unwrap();
            assert_eq!(
                (alone.values, alone.product),
                (vec![number(&tangents, "y")], vec![number(&tangents, "y/times")])
            );
        }
    }
}

/// Maximum number of results for which the rows of a Jacobian are compared.
const ROWS: usize = 6;

/// Returns the bits of a column in lanes that didn't fail.
fn arrived<'r>(results: &'r LaneResults, name: &str, failed: &'r [bool]) -> impl Iterator<Item = u64> + 'r {
    results.bits(name).unwrap().iter().zip(failed).filter(|(_, failed)| !**failed).map(|(bits, _)| *bits)
}

#[test]
fn rows_of_jacobians_have_the_bits_of_gradients() {
    let mut rows = 0;
    for (path, level) in programs()
        .into_iter()
        .flat_map(|path| [CheckLevel::Checked, CheckLevel::Unchecked].map(|level| (path.clone(), level)))
    {
        let assembled = open(&path).unwrap();
        let program = assembled.program().clone();
        let executable = assembled.compile(CompileOptions { level, ..EngineChoice::Jit.into() }).unwrap();
        let begin = start(&program, &[], 0, Travel::Forward);
        let is_real = |global: &Global| global.class == Class::Real;
        let real = |wanted: fn(Role) -> bool| {
            let found = arrays(&program).filter(|(_, global)| is_real(global) && wanted(global.role));
            found.map(|(n, _)| n).collect::<Vec<_>>()
        };
        let cells: Vec<String> = real(Role::is_result)
            .into_iter()
            .flat_map(|n| (0..program.cells(n).len()).map(move |element| (n, element)))
            .map(|(n, element)| program.cell_name(n, element))
            .take(ROWS)
            .collect();
        let losses: Vec<_> = cells.iter().filter_map(|name| executable.loss(name).ok()).collect();
        if losses.len() < 2 || losses.len() < cells.len() || real(Role::is_given).is_empty() {
            continue;
        }
        let columns = varied(&program, &begin, Travel::Forward);
        let (lanes, batch) = (lanes(&columns), batch(&executable, 1));
        let of: Vec<_> = cells.iter().map(|name| executable.reals(name).unwrap()).collect();
        let Ok(found) = batch.jacobian(&of, &[], &lanes) else { continue };
        let failed: Vec<bool> = failures(&found).iter().map(Option::is_some).collect();
        for (name, loss) in cells.iter().zip(&losses) {
            let wanted = batch.gradient(loss, &[], &lanes).unwrap();
            let place = format!("{} {level:?}: {name}", path.display());
            for slope in wanted.names().filter(|slope| slope.ends_with('\'')) {
                let column = format!("{name}/{}", slope.trim_end_matches('\''));
                let [row, alone] = [(&found, column.as_str()), (&wanted, slope)]
                    .map(|(results, name)| arrived(results, name, &failed).collect::<Vec<_>>());
                assert_eq!(row, alone, "{place}, {column}");
                rows += row.len();
            }
        }
    }
    assert!(rows > 1000, "only {rows} derivatives were compared");
}

/// Program with three results. The gradient of the middle one can't be verified alone, because rounding of `x`
/// matters for it.
const SENSITIVE: &str = "
.inout x: real
.inout z: real
.out y[3]: real
add y[0], x + z
add y[1], x * 3.0
add y[2], x - z
add x, 1e6
";

#[test]
fn a_recomputed_row_does_not_change_the_others() {
    let program = compiled(SENSITIVE, EngineChoice::Jit);
    let lanes = LaneInputs::new(2).reals("x", vec![0.0003, 64.0]).reals("z", vec![5.0, 5.0]);
    let found = batch(&program, 1).jacobian(&[program.reals("y").unwrap()], &[], &lanes).unwrap();
    assert!(found.failures().is_empty());
    assert_eq!(found.recomputed().count, 1, "the first lane's row alone");
    for (row, slopes) in [("y[0]", [1.0, 1.0]), ("y[1]", [3.0, 0.0]), ("y[2]", [1.0, -1.0])] {
        for (by, slope) in ["x", "z"].into_iter().zip(slopes) {
            assert_eq!(found.reals(&format!("{row}/{by}")).unwrap(), [slope; 2], "{row}/{by}");
        }
    }
}

#[test]
fn an_unrestored_lane_fails() {
    let text = ".inout x: real\n.out y: real\nadd y, x\n";
    let program = compiled(text, EngineChoice::Auto);
    let lanes = LaneInputs::new(2).reals("x", vec![0.1, 1e17]);
    assert!(batch(&program, 1).round_trip(&lanes).unwrap().failures().is_empty());
    let lossy = compiled(".inout x: real\n.out y: real\nadd x, 1e20\n", EngineChoice::Auto);
    let results = batch(&lossy, 1).round_trip(&lanes).unwrap();
    assert_eq!(results.failures().len(), 1, "0.1 is lost beside 10^20, and 10^17 isn't");
    assert!(results.failures()[0].error.to_string().contains("not restored"));
}

#[test]
fn wrong_columns_are_refused() {
    let program = compiled(".inout x: real\n.inout A[2]\n.inout d default 5\n.out y\n", EngineChoice::Interp);
    let run = |lanes: LaneInputs<'_>| said(Batch::new(&program, Device::cpu()).run(&lanes));
    let x = || LaneInputs::new(2).reals("x", vec![1.0, 2.0]);
    assert_eq!(
        run(x()),
        "these inputs have no column: `A[0]`, `A[1]`; add a column for each, or set them for all lanes"
    );
    let all = || x().ints("A[0]", vec![1, 2]).shared_ints("A[1]", vec![7]);
    assert!(Batch::new(&program, Device::cpu()).run(&all()).is_ok());
    assert!(run(all().ints("z", vec![1, 2])).contains("no cell `z`"));
    assert!(run(all().ints("y", vec![1, 2])).contains("`y` can't be given"));
    assert!(run(all().ints("A[0]", vec![1, 2])).contains("`A[0]` is given twice"));
    assert!(run(all().ints("A", vec![1, 2])).contains("`A` has 2 cells"));
    assert!(run(all().ints("d", vec![1])).contains("has 1 numbers, and there are 2 lanes"));
    assert!(run(all().reals("d", vec![1.0, 2.0])).contains("is an integer, but reals were requested"));
    let bad = LaneInputs::new(2).reals("x", vec![1.0, f64::NAN]).shared_ints("A", vec![1, 2]);
    assert_eq!(run(bad), "`x`: NaN, in lane 1, is not a number that fits into f64");
    let results = Batch::new(&program, Device::cpu()).run(&all()).unwrap();
    assert!(said(results.bits("x'")).contains("no result `x'`"));
    assert!(said(results.ints("x")).contains("integers were requested"));
}

#[test]
fn batches_run_concurrently_and_stop_on_request() {
    let program = compiled(SQUARE, EngineChoice::Auto);
    let both = Batch::new(&program, Device::cpu_with(2));
    let run = |offset: i64| {
        let numbers: Vec<i64> = (0..20_000).map(|lane| lane + offset).collect();
        both.run(&LaneInputs::new(numbers.len()).ints("n", numbers)).unwrap().ints("y").unwrap()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(1_000));
        assert!(run(10).into_iter().eq((10..20_010).map(|n| n * n)));
        assert!(other.join().unwrap().into_iter().eq((1_000..21_000).map(|n| n * n)));
    });
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let endless = compiled(".in n\n.var i\nfrom i == 0\nadd i, 1\nuntil i == 0\n", EngineChoice::Auto);
    let options = BatchOptions { interrupt: Some(flag.clone()), ..BatchOptions::default() };
    let batch = Batch::new(&endless, Device::cpu_with(2)).with(options);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| batch.run(&LaneInputs::new(4).ints("n", vec![1; 4])));
        std::thread::sleep(std::time::Duration::from_millis(100));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(run.join().unwrap(), Err(Error::Interrupted)));
    });
}

/// The numbers of failed lanes count from the first lane of the batch, whatever the blocks.
#[test]
fn lanes_of_later_blocks_fail_by_their_numbers() {
    let text = ".in n\n.out y, z: real\nassert n > 0\nadd y, 12 / n\nadd z, 1.5\n";
    let executable = reviver::assemble("share.rasm", text).unwrap().compile(EngineChoice::Auto).unwrap();
    let options = BatchOptions { keeps_going: true, ..BatchOptions::default() };
    let batch = Batch::new(&executable, Device::cpu()).with(options);
    let prepared = batch.prepare(LaneTask::Run, &["n"], &LaneInputs::new(0)).unwrap();
    let mut running = prepared.begin();
    let mut failed = Vec::new();
    for block in [&[1, -2, 3][..], &[4, 5], &[0, 6, -1]] {
        let results = running.lanes_of(&LaneInputs::new(block.len()).ints("n", block)).unwrap();
        for (lane, &n) in block.iter().enumerate() {
            assert_eq!(results.has_arrived(lane), n > 0, "lane {lane} of {block:?}");
        }
        assert_eq!(results.first() + results.len() as u64, running.lanes());
        failed.extend(results.failures().iter().map(|failure| failure.lane));
    }
    assert_eq!(failed, [1, 5, 7]);
}
