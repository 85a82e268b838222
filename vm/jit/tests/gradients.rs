//! Call functions of gradients: what the evaluator and native code find by them is what the two sweeps find one by one, to the last bit.

use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::bare::BareRoom;
use reviver_compile::call::{CallRoom, GradientCall};
use reviver_compile::check::check;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::form::SsaForm;
use reviver_compile::start::RouteStart;
use reviver_compile::turning::{BareEnd, TurningRoutes};
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_jit::Jit;
use reviver_vm::differentiate::{SeededCell, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark};

const MOST_STEPS: u64 = 2_000_000;
const SLACK: u64 = 1 << 16;

/// The evaluator, for well-made forms.
#[derive(Debug)]
struct Checked;

impl Backend for Checked {
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>> {
        check(&form).unwrap_or_else(|fault| panic!("{fault}\n{form:#?}"));
        Evaluator.compile(form)
    }
}

/// A gradient: steps, the bits of the losses, and the adjoint of each named real.
#[derive(Debug, PartialEq)]
struct Found {
    steps: [u64; 2],
    values: Vec<u64>,
    adjoints: Vec<u64>,
    is_verified: bool,
}

struct Trial {
    program: Arc<Program>,
    start: RouteStart,
    /// Losses that turn at one position.
    losses: Vec<usize>,
    turn: u32,
    /// The reals that have names.
    named: Vec<usize>,
}

impl Trial {
    fn of(program: Arc<Program>) -> Option<Trial> {
        let mut state = Machine::at_begin(program.clone()).ok()?.into_state();
        state.counters.shown = ShownMark::SILENT;
        let start = RouteStart::new(&program, state)?;
        let globals = || program.module().globals.iter().enumerate();
        let reals =
            || globals().filter(|(_, global)| global.class == Class::Real && global.shape != Shape::Stack);
        let frame = program.flow().layout().main_frame(Class::Real);
        let named =
            reals().flat_map(|(n, _)| program.cells(n)).filter(|&cell| !frame.contains(&(cell as u32)));
        let named = named.collect();
        let turn = |cell: usize| {
            let stops = early_turn(&program, &[cell]);
            stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position)
        };
        let results = reals().filter(|(_, global)| global.role.is_result());
        let mut losses: Vec<usize> = results.flat_map(|(n, _)| program.cells(n)).collect();
        let first = turn(*losses.first()?);
        losses.retain(|&cell| turn(cell) == first);
        losses.truncate(3);
        Some(Trial { program: program.clone(), start, losses, turn: first, named })
    }

    fn seeds(&self) -> Vec<SeededCell> {
        let seed = |(n, &cell): (usize, &usize)| {
            let one = SeededCell::loss(&self.program, cell);
            if n == 0 { one } else { SeededCell { seed: 0, ..one } }
        };
        self.losses.iter().enumerate().map(seed).collect()
    }

    fn found(&self, steps: [u64; 2], error: Option<f64>, values: &[u64], adjoints: &[u64]) -> Found {
        let adjoints = self.named.iter().map(|&cell| adjoints[cell]).collect();
        Found { steps, values: values.to_vec(), adjoints, is_verified: error.is_some() }
    }

    /// By the sweeps one by one.
    fn apart(&self, routes: &TurningRoutes, seeds: &[SeededCell]) -> Result<(Found, Option<f64>), BareEnd> {
        let (mut room, mut found) = (BareRoom::default(), None);
        let lists = [seeds];
        let progress = routes.run_bare(
            (&self.start, lists.into_iter()),
            &mut room,
            (MOST_STEPS, SLACK),
            |_, trip, room| {
                let steps = [trip.steps, trip.steps_back];
                found = Some((
                    self.found(steps, trip.loss_error, room.values(), room.adjoints()),
                    trip.loss_error,
                ));
            },
        );
        found.ok_or(progress.end)
    }

    fn call(&self, call: &GradientCall, room: &mut CallRoom) -> Result<(Found, Option<f64>), BareEnd> {
        Ok(self.rows(call, &[&self.seeds()], room)?.swap_remove(0))
    }

    /// Several sums at once.
    fn rows(
        &self,
        call: &GradientCall,
        seeds: &[&[SeededCell]],
        room: &mut CallRoom,
    ) -> Result<Vec<(Found, Option<f64>)>, BareEnd> {
        let found = call.run(&self.start, seeds, room, MOST_STEPS)?;
        let steps = [found.steps, found.steps_back];
        let row = |(row, &error): (usize, &Option<f64>)| {
            (self.found(steps, error, room.values(row), room.adjoints(row)), error)
        };
        Ok(found.loss_errors.iter().enumerate().map(row).collect())
    }
}

impl Trial {
    /// Holds rows against single losses; returns true if there were several.
    fn holds_for_rows(&self, name: &str, (routes, jit): (&TurningRoutes, &Jit), level: CheckLevel) -> bool {
        let plan = (self.turn, level);
        let seeds: Vec<Vec<SeededCell>> =
            self.losses.iter().map(|&loss| vec![SeededCell::loss(&self.program, loss)]).collect();
        let lists: Vec<&[SeededCell]> = seeds.iter().map(Vec::as_slice).collect();
        let rows = (&self.losses[..], lists.len() as u32);
        let Some(evaluated) = GradientCall::new(&self.program, &Checked, plan, rows) else { return false };
        let native = GradientCall::new(&self.program, jit, plan, rows).unwrap();
        let mut room = CallRoom::default();
        let found = self.rows(&native, &lists, &mut room);
        assert_eq!(self.rows(&evaluated, &lists, &mut room), found, "{name} {level:?}");
        let Ok(found) = found else { return false };
        for (n, (row, error)) in found.iter().enumerate() {
            let (apart, apart_error) = self.apart(routes, lists[n]).unwrap();
            assert_eq!(&apart, row, "{name} {level:?} loss {n}");
            let (apart_error, error) = (apart_error.unwrap_or(0.0), error.unwrap_or(0.0));
            assert!((apart_error - error).abs() <= 1e-9 * apart_error, "{name}: {apart_error:e} {error:e}");
        }
        lists.len() > 1
    }
}

#[test]
fn gradients_of_shipped_programs_are_those_of_their_sweeps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let jit = Jit::new().unwrap();
    let (mut called, mut several, mut apart_only) = (0, 0, Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm")) {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(path).unwrap(), &Disk).module.unwrap();
        let Ok(program) = Program::new(module, 0) else { continue };
        let Some(trial) = Trial::of(Arc::new(program)) else { continue };
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let routes = TurningRoutes::new(&trial.program, &jit, trial.turn, level);
            let apart = trial.apart(&routes, &trial.seeds());
            let plan = (trial.turn, level);
            let evaluated = GradientCall::new(&trial.program, &Checked, plan, (&trial.losses, 1));
            let native = GradientCall::new(&trial.program, &jit, plan, (&trial.losses, 1));
            assert_eq!(evaluated.is_some(), native.is_some(), "{name}");
            let (Some(evaluated), Some(native)) = (evaluated, native) else {
                if apart.is_ok() {
                    apart_only.push(name.clone());
                }
                continue;
            };
            let mut room = CallRoom::default();
            let by_evaluator = trial.call(&evaluated, &mut room);
            // The room of one call serves another.
            let by_code = [trial.call(&native, &mut room), trial.call(&native, &mut room)];
            assert_eq!(by_code[0], by_code[1], "{name} {level:?}");
            assert_eq!(by_evaluator, by_code[0], "{name} {level:?}");
            several += usize::from(trial.holds_for_rows(&name, (&routes, &jit), level));
            match (&apart, &by_evaluator) {
                (Ok((apart, apart_error)), Ok((found, error))) => {
                    assert_eq!(apart, found, "{name} {level:?}");
                    let (apart_error, error) = (apart_error.unwrap_or(0.0), error.unwrap_or(0.0));
                    assert!(
                        (apart_error - error).abs() <= 1e-9 * apart_error,
                        "{name}: {apart_error:e} {error:e}"
                    );
                    called += 1;
                }
                // A doubt is no verdict: a machine decides then.
                (Err(BareEnd::Refused), Err(BareEnd::NeedsMachine)) => {}
                (apart, found) => assert_eq!(apart.as_ref().err(), found.as_ref().err(), "{name} {level:?}"),
            }
        }
    }
    assert!(apart_only.is_empty(), "{apart_only:?}");
    assert!(called >= 60 && several >= 20, "{called} gradients by call functions, {several} Jacobians");
}

/// Recursions are calls of the function, for which the room grows: x^n by n calls, which are more than there is room for at first.
#[test]
fn gradients_lead_through_recursions() {
    let text = ".limit depth 1000\n.in x: real default 1.01\n.in n default 100\n.out y: real\n.ancilla p[200]: real\ncompute\n \
                add p[0], 1\n call up(p, x, n)\napply\n add y, p[n]\nuncompute\n\
                .proc up(inout p[]: real, in x: real, in k)\n.ancilla less\nif k > 0\n add less, k - 1\n call up(p, x, less)\n \
                sub less, k - 1\n add.mul p[k], p[k-1], x\nfi k > 0\n.end\n";
    let module = assemble("power.rasm", text.into(), &Disk);
    let module = module.module.unwrap_or_else(|| panic!("{:?}", module.diagnostics));
    let trial = Trial::of(Arc::new(Program::new(module, 0).unwrap())).unwrap();
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        let plan = (trial.turn, level);
        let evaluated = GradientCall::new(&trial.program, &Checked, plan, (&trial.losses, 1)).unwrap();
        let native =
            GradientCall::new(&trial.program, &Jit::new().unwrap(), plan, (&trial.losses, 1)).unwrap();
        let mut room = CallRoom::default();
        let found = trial.call(&evaluated, &mut room).unwrap();
        assert_eq!(found, trial.call(&native, &mut room).unwrap(), "{level:?}");
        let [value, slope] = [found.0.values[0], found.0.adjoints[0]].map(f64::from_bits);
        assert!((value - 1.01_f64.powi(100)).abs() < 1e-13, "{value}");
        assert!((slope - 100.0 * 1.01_f64.powi(99)).abs() < 1e-11, "{slope}");
    }
}
