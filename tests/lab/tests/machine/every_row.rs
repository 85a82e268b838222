//! Every row of the instruction table has an effect, through text and on every engine. So no row's meaning can be
//! lost between the table and an engine. Every law holds for each of these smallest programs.

use reviver_isa::Update;
use reviver_isa::instruction::Class;
use reviver_lab::engine::{ALL, Engine};
use reviver_lab::laws;
use reviver_lab::pairing::seed_adjoints;
use reviver_lab::rng::Rng;
use reviver_lab::specimens::{self, Effect, Specimen};
use reviver_lab::subject::Subject;
use reviver_vm::stops::Node;
use reviver_vm::{Machine, State, Stop, Travel};

/// Maximum number of steps of a smallest program.
const STEPS: u64 = 20;

/// Returns a copy of a state in which the position and the step number are 0, because every step changes these.
fn still(state: &State) -> State {
    State { position: 0, step: 0, ..state.try_clone().unwrap() }
}

/// Returns the update of the next step's instruction.
fn next(machine: &Machine, travel: Travel) -> Option<Update> {
    let at = Node::of(machine.state(), travel).instruction();
    machine.program().module().code.get(at as usize).map(|instruction| instruction.update)
}

/// Executes a step, and returns its effects. Returns `None` at the end of the program.
fn effects(machine: &mut Machine) -> Option<Vec<Effect>> {
    let (before, from, backward) =
        (still(machine.state()), machine.state().position, machine.state().inverted);
    let depth = before.calls.len();
    let shown = match machine.step(Travel::Forward) {
        Ok(Stop::Shown { .. }) => Some(Effect::Shows),
        Ok(Stop::Bound) => return None,
        Ok(Stop::Budget | Stop::Interrupted) => None,
        Err(_) => return Some(vec![Effect::Refuses]),
    };
    let state = machine.state();
    let next = if backward { from.checked_sub(1) } else { from.checked_add(1) };
    let jumped = Some(state.position) != next && state.calls.len() == depth;
    let changed = still(state) != before;
    let effects = [changed.then_some(Effect::Changes), jumped.then_some(Effect::Jumps), shown];
    Some(effects.into_iter().flatten().collect())
}

/// Runs a program, and returns true if a step with the specimen's update has the specimen's effect.
fn is_seen(specimen: &Specimen, mut machine: Machine) -> bool {
    for _ in 0..STEPS {
        let update = next(&machine, Travel::Forward);
        let Some(effects) = effects(&mut machine) else { return false };
        if update == Some(specimen.update) && effects.contains(&specimen.effect) {
            return true;
        }
        if effects.contains(&Effect::Refuses) {
            return false;
        }
    }
    false
}

/// Returns the programs of a specimen, set up to run on an engine.
fn subjects(engine: Engine, specimen: &Specimen) -> Vec<Subject> {
    let assembled = |text: &String| {
        Subject::on(engine, text).unwrap_or_else(|error| panic!("{}:\n{text}\n{error}", specimen.row))
    };
    specimen.texts.iter().map(assembled).collect()
}

/// Returns all pairs of an engine and a specimen.
fn pairs() -> impl Iterator<Item = (Engine, Specimen)> {
    ALL.iter().flat_map(|&engine| specimens::all().into_iter().map(move |specimen| (engine, specimen)))
}

#[test]
fn every_row_has_an_effect_on_every_engine() {
    for (engine, specimen) in pairs() {
        let seen =
            subjects(engine, &specimen).iter().any(|subject| is_seen(&specimen, subject.machine(false)));
        assert!(seen, "{} does nothing on {}: {:#?}", specimen.row, engine.name, specimen);
    }
}

/// In gradient mode, every update that changes reals also changes adjoints. An update without an inverse does so in
/// the reverse sweep. Functions aren't checked, because their derivatives may be 0.
#[test]
fn every_row_of_reals_has_an_effect_on_adjoints() {
    let of_reals = |specimen: &Specimen| {
        let changes = specimen.class == Some(Class::Real) && specimen.effect == Effect::Changes;
        changes && specimen.function.is_none()
    };
    for (engine, specimen) in pairs().filter(|(_, specimen)| of_reals(specimen)) {
        let travel = if specimen.update.is_reversible() { Travel::Forward } else { Travel::Backward };
        let is_carried = subjects(engine, &specimen).iter().any(|s| carries(s, specimen.update, travel));
        assert!(is_carried, "{} carries nothing on {}: {:#?}", specimen.row, engine.name, specimen);
    }
}

/// Returns true if a step of the update changes adjoints in a run in the given direction.
fn carries(subject: &Subject, update: Update, travel: Travel) -> bool {
    let mut machine = subject.machine(true);
    if travel == Travel::Backward && machine.run(Travel::Forward, STEPS).is_err() {
        return false;
    }
    seed_adjoints(&subject.program, machine.state_mut(), &mut Rng::new(3));
    let adjoints = |machine: &Machine| machine.state().try_clone().unwrap().adjoints;
    (0..STEPS).any(|_| {
        let (over, before) = (next(&machine, travel), adjoints(&machine));
        machine.step(travel).is_ok() && over == Some(update) && adjoints(&machine) != before
    })
}

#[test]
fn every_law_holds_for_every_row() {
    for (engine, specimen) in pairs() {
        for (subject, law) in
            subjects(engine, &specimen).iter().flat_map(|s| laws::ALL.iter().map(move |l| (s, l)))
        {
            let verdict = (law.check)(subject);
            assert_eq!(verdict, Ok(()), "\"{}\" on {} for\n{}", law.name, engine.name, subject.text);
        }
    }
}
