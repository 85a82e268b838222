//! Shipped and random programs. Each of them has a valid shader, or an error says why it has none.

use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::op::Space;
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};
use reviver_lab::generate::Profile;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark, Travel};

use super::device::compiled;
use crate::emitter::EmittedShader;
use crate::lanes::{LaneRunKind, LanesRequest, RequestedNumber, ShaderCell, lane_shader};
use crate::no_shader::NoShader;
use crate::shader::LaneShader;

/// Maximum length, in bytes, of a shader that is compiled outside of a campaign. A driver's compiler takes many seconds
/// for longer shaders.
pub const LONGEST: usize = 48 << 10;

/// Returns the initial state of a run. Inputs that may be omitted have their defaults.
pub fn start(program: &Arc<Program>, travel: Travel) -> RunStart {
    let machine = match travel {
        Travel::Forward => Machine::at_begin(program.clone()),
        Travel::Backward => Machine::at_end(program.clone()),
    };
    let mut state = machine.unwrap().into_state();
    state.counters.shown = ShownMark::SILENT;
    for (n, _) in program.assumed(&[], travel) {
        program.give_default(&mut state, n).unwrap();
    }
    RunStart::new(program, state).unwrap()
}

/// Returns the cells of all globals with a role for which `wanted` is true.
pub fn cells(program: &Program, wanted: impl Fn(Role) -> bool) -> Vec<ShaderCell> {
    let globals = program.module().globals.iter().enumerate();
    let wanted = globals.filter(|(_, global)| wanted(global.role) && global.shape != Shape::Stack);
    let cells = wanted.flat_map(|(n, global)| {
        let space = if global.class == Class::Int { Space::Ints } else { Space::Reals };
        program.cells(n).map(move |address| ShaderCell { space, address })
    });
    cells.collect()
}

/// Returns the shader of a whole run. Its inputs are all cells that the user supplies.
pub fn whole(program: &Arc<Program>, travel: Travel, level: CheckLevel) -> Result<LaneShader, NoShader> {
    Ok(written(program, travel, level)?.shader)
}

/// Returns the same shader as [`whole`], with the properties of [`EmittedShader`].
pub fn written(program: &Arc<Program>, travel: Travel, level: CheckLevel) -> Result<EmittedShader, NoShader> {
    let takes = |role| program.takes(role, travel);
    let gives = |role: Role| match travel {
        Travel::Forward => role.is_result(),
        Travel::Backward => role.is_given(),
    };
    let request = LanesRequest {
        run_kind: LaneRunKind::Whole(travel),
        level,
        inputs: cells(program, takes),
        outputs: cells(program, gives).into_iter().map(RequestedNumber::Cell).collect(),
        reports_steps: true,
    };
    lane_shader(program, &start(program, travel), &request)
}

/// Returns the shader of the gradient of one loss.
pub fn gradient(program: &Arc<Program>, loss: usize, level: CheckLevel) -> Result<LaneShader, NoShader> {
    gradients(program, &[loss], level)
}

/// Returns the shader of the gradients of several losses. For each loss, the outputs are the derivatives, then the
/// loss.
pub fn gradients(
    program: &Arc<Program>,
    losses: &[usize],
    level: CheckLevel,
) -> Result<LaneShader, NoShader> {
    let seeds: Vec<Vec<SeededCell>> =
        losses.iter().map(|&loss| vec![SeededCell::loss(program, loss)]).collect();
    seeded(program, &seeds, level)
}

/// Returns the shader of the gradients of seeded sums. Its outputs are, for each sum, the derivatives and then the
/// values of its cells.
pub fn seeded(
    program: &Arc<Program>,
    losses: &[Vec<SeededCell>],
    level: CheckLevel,
) -> Result<LaneShader, NoShader> {
    let inputs = cells(program, |role| program.takes(role, Travel::Forward));
    let reals = || inputs.iter().filter(|cell| cell.space == Space::Reals);
    let outputs = losses.iter().enumerate().flat_map(|(row, seeds)| {
        let adjoints =
            reals().map(move |cell| RequestedNumber::Adjoint { row, real: cell.address, order: 0 });
        adjoints.chain((0..seeds.len()).map(move |seeded| RequestedNumber::Value { row, seeded, order: 0 }))
    });
    let outputs = outputs.collect();
    let request = LanesRequest {
        run_kind: LaneRunKind::Gradient { losses: losses.to_vec() },
        level,
        inputs,
        outputs,
        reports_steps: true,
    };
    Ok(lane_shader(program, &start(program, Travel::Forward), &request)?.shader)
}

pub fn shipped() -> Vec<(String, Arc<Program>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm"));
    // `REVIVER_SHADER` selects a single program, for debugging.
    let only = std::env::var("REVIVER_SHADER").ok();
    let runs = texts.filter_map(|path| {
        let name = path.file_stem().unwrap().display().to_string();
        if only.as_ref().is_some_and(|only| *only != name) {
            return None;
        }
        let module =
            assemble(&path.display().to_string(), std::fs::read(path).unwrap(), &Disk).module.unwrap();
        Some((name, Arc::new(Program::new(module, 0).ok()?)))
    });
    runs.collect()
}

/// Returns the addresses of the real cells that are results.
pub fn losses(program: &Program) -> Vec<usize> {
    let results = cells(program, Role::is_result);
    results.iter().filter(|cell| cell.space == Space::Reals).map(|cell| cell.address).collect()
}

/// Returns the random program with this seed, if it has a shader. Random programs seldom clear their cells, so cells of
/// the returned program may have any values at the start and at the end.
pub fn random(seed: u64) -> Option<Arc<Program>> {
    let profile = Profile { gradient: false, steps: 300, statements: 4, ..Profile::of_seed(seed) };
    let text = reviver_lab::generate::program(seed, &profile);
    let program = program(&reviver_lab::calls::subject::opened(&text));
    whole(&program, Travel::Forward, CheckLevel::Checked).is_ok().then_some(program)
}

/// Assembles a source text to a program.
pub fn program(text: &str) -> Arc<Program> {
    reviver_lab::subject::Subject::new(text).unwrap_or_else(|error| panic!("{error}")).program
}

#[test]
fn every_shipped_program_has_shaders_or_a_reason() {
    let mut refused = Vec::new();
    let mut made = 0;
    for (name, program) in shipped() {
        let mut take = |what: &str, shader: Result<LaneShader, NoShader>| match shader {
            Ok(shader) => {
                println!("{name} {what}: {} lines, {} kept", shader.wgsl.lines().count(), shader.kept);
                compiled(&shader);
                made += 1;
            }
            Err(error) => refused.push((name.clone(), format!("{what}: {error}"))),
        };
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            take("there", whole(&program, Travel::Forward, level));
            take("back", whole(&program, Travel::Backward, level));
            for loss in losses(&program).into_iter().take(1) {
                take("gradient", gradient(&program, loss, level));
            }
        }
    }
    println!("{made} shaders were generated");
    let words =
        |name: &str| REFUSED.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, words)| words);
    let mut unknown = refused.clone();
    unknown.retain(|(name, why)| !words(name).iter().any(|word| why.contains(word)));
    assert!(unknown.is_empty(), "devices refuse what they didn't: {unknown:#?}");
    if std::env::var_os("REVIVER_SHADER").is_none() {
        for (name, words) in REFUSED {
            for word in *words {
                let is_refused = refused.iter().any(|(known, why)| known == name && why.contains(word));
                assert!(is_refused, "devices don't refuse {name} any more because of {word}");
            }
        }
    }
}

/// The shipped programs that have no shader for some run, with parts of the expected reasons.
const REFUSED: &[(&str, &[&str])] = &[
    ("clipped_gradient", &["switches gradient mode itself"]),
    ("collatz", &["`push`"]),
    ("dot", &["`call`"]),
    ("forgetting_training", &["`push`"]),
    ("gcd", &["`push`"]),
    ("gmm", &["`read`"]),
    ("graph_adam", &["`push`"]),
    ("graph_newton", &["`show`"]),
    ("graph_training", &["`grad.on`", "`grad.off`", "switches gradient mode itself"]),
    ("hypergradient", &["`push`", "`uncall`"]),
    ("kick_drift", &["`grad.on`", "`grad.off`", "switches gradient mode itself"]),
    ("lattice_boltzmann", &["`call`"]),
    ("momentum", &["`grad.on`", "`show`", "switches gradient mode itself"]),
    ("reverse_string", &["`pop`", "`push`"]),
    ("safe_softmax", &["switches gradient mode itself"]),
    ("shared_weights", &["`call`"]),
    ("show", &["`show`"]),
    ("straight_through", &["switches gradient mode itself"]),
    ("training_rate", &["`push`"]),
    ("tree_of_tasks", &["`join`"]),
    ("truncated_bptt", &["`uncall`"]),
];

#[test]
fn programs_without_reals_name_no_float() {
    let mut without = 0;
    let has_reals = |program: &Program| {
        let module = program.module();
        let frames = module.procedures.iter().flat_map(|procedure| &procedure.frame);
        let mut classes =
            module.globals.iter().map(|global| global.class).chain(frames.map(|local| local.class));
        classes.any(|class| class == Class::Real)
    };
    for (name, program) in shipped().into_iter().filter(|(_, program)| !has_reals(program)) {
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            if let Ok(shader) = whole(&program, Travel::Forward, level) {
                assert!(!shader.wgsl.contains("f64") && !shader.wgsl.contains("f32"), "{name}");
                without += 1;
            }
        }
    }
    assert!(without > 10, "{without}");
}

#[test]
fn random_programs_have_shaders_that_compile() {
    let mut made = 0;
    for seed in 0..reviver_lab::campaign::programs(100) {
        let Some(program) = random(seed) else { continue };
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let mut shaders =
                vec![whole(&program, Travel::Forward, level), whole(&program, Travel::Backward, level)];
            let loss = losses(&program).into_iter().next();
            shaders.extend(loss.map(|loss| gradient(&program, loss, level)));
            for shader in shaders.into_iter().flatten() {
                compiled(&shader);
                made += 1;
            }
        }
    }
    println!("{made} shaders");
    assert!(made > 60, "{made}");
}

#[test]
#[ignore = "shows a shader to people"]
fn shader_of_a_program() {
    let wanted = std::env::var("REVIVER_SHADER").unwrap();
    let (_, program) = shipped().into_iter().find(|(name, _)| *name == wanted).unwrap();
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        println!("// {level:?}\n{}", whole(&program, Travel::Forward, level).unwrap().wgsl);
        for loss in losses(&program) {
            println!(
                "// {level:?}, the gradient of real {loss}\n{}",
                gradient(&program, loss, level).unwrap().wgsl
            );
        }
    }
}
