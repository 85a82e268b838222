//! Transforms a program into the components of its reversible text: the state, the parts, and the procedures that they
//! call. This module calls the steps of the transformation in order, and prints nothing. Other modules implement the
//! steps.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use compact_str::{CompactString, format_compact};
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::tree::{
    Body, DeclarationNode, Directive, Expression, ProcedureNode, Statement, StatementNode,
};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Role};

use crate::cut::{Cutter, ProgramPart};
use crate::expand::Expander;
use crate::program::SortedProgram;
use crate::refuse;
use crate::state::{LoopCounters, StateVariable, changed, kept_name};
use crate::words::AddedNames;
use reviver_assembler::keep::class::{Classes, class_of, is_register};
use reviver_assembler::keep::make;
use reviver_assembler::keep::names::UnusedNames;
use reviver_assembler::keep::{Keeper, LossyProcedures, Rules, calls};

/// A procedure after macro expansion, with the classes of its names.
struct Routine {
    procedure: ProcedureNode,
    classes: Classes,
    names: UnusedNames,
}

/// The components of the reversible text.
pub struct Transformed {
    pub program: SortedProgram,
    /// The variables that belong to the state. The number of the current part belongs to the state, too, but isn't in
    /// this list.
    pub state: Vec<StateVariable>,
    pub parts: Vec<ProgramPart>,
    pub procedures: Vec<ProcedureNode>,
    pub words: AddedNames,
    pub counters: LoopCounters,
}

/// Transforms a program into the components of its reversible text.
pub fn transform(program: SortedProgram) -> Result<Transformed, Vec<Diagnostic>> {
    refused(refuse::declarations(&program))?;
    let names = declared(&program).into_shared();
    let classes = classes_of(&program).into_shared();
    let mut expander = Expander::new(&program.macros, names.clone(), classes.clone());
    let main = expander.routine(&program.main, Vec::new());
    refused(std::mem::take(&mut expander.problems))?;
    let main_classes = std::mem::take(&mut expander.classes);
    let main_names = expander.into_names();
    let routines = routines(&program, &main, &names, &classes)?;
    let mut refusals = refuse::statements(&main, program.is_exact());
    routines
        .iter()
        .for_each(|it| refusals.extend(refuse::statements(&it.procedure.body, program.is_exact())));
    refused(refusals)?;
    TransformationSteps { program, names: main_names, main, main_classes, routines }.run()
}

fn refused(problems: Vec<Diagnostic>) -> Result<(), Vec<Diagnostic>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns the names of declarations, which new names must not shadow.
fn declared(program: &SortedProgram) -> UnusedNames {
    let mut names = UnusedNames::default();
    program.globals.iter().for_each(|global| names.take(&global.declaration.name.text));
    program.ancillas.iter().for_each(|ancilla| names.take(&ancilla.name.text));
    program.constants.keys().for_each(|name| names.take(name));
    program.procedures.iter().for_each(|procedure| names.take(&procedure.name.text));
    program.macros.keys().for_each(|name| names.take(name));
    names
}

fn classes_of(program: &SortedProgram) -> Classes {
    let mut classes = Classes::default();
    let cells = program.globals.iter().map(|global| &global.declaration).chain(&program.ancillas);
    classes.extend(cells.map(|cell| (cell.name.text.clone(), class_of_declared(cell))));
    // Two passes, because a constant may be defined by constants that are declared later.
    for _ in 0..2 {
        let found: Vec<_> =
            program.constants.iter().map(|(name, value)| (name.clone(), class_of(value, &classes))).collect();
        classes.extend(found);
    }
    classes
}

fn class_of_declared(declaration: &DeclarationNode) -> Class {
    declaration.class.unwrap_or(Class::Int)
}

/// Returns the procedures that main calls, directly or through others.
fn routines(
    program: &SortedProgram,
    main: &Body,
    names: &UnusedNames,
    classes: &Classes,
) -> Result<Vec<Routine>, Vec<Diagnostic>> {
    let mut places = HashMap::new();
    for (at, procedure) in program.procedures.iter().enumerate() {
        places.entry(&procedure.name.text).or_insert((at, procedure));
    }
    let mut wanted: Vec<CompactString> = called(main);
    let mut known = HashSet::new();
    let mut routines = Vec::new();
    while let Some(name) = wanted.pop() {
        let Some(&(at, procedure)) = places.get(&name) else { continue };
        if known.insert(name) {
            let routine = routine(program, procedure, names, classes)?;
            wanted.extend(called(&routine.procedure.body));
            routines.push((at, routine));
        }
    }
    routines.sort_by_key(|(at, _)| *at);
    Ok(routines.into_iter().map(|(_, routine)| routine).collect())
}

fn called(body: &Body) -> Vec<CompactString> {
    let mut names = Vec::new();
    for node in body {
        if let Statement::Instruction(instruction) = &node.statement {
            names.extend(calls(instruction).iter().map(|call| call.procedure.text.clone()));
        }
        node.statement.bodies().into_iter().for_each(|inner| names.extend(called(inner)));
    }
    names
}

/// Returns a procedure after macro expansion. The custom derivative rule is dropped, because a program that computes
/// adjoints can't be transformed.
fn routine(
    program: &SortedProgram,
    procedure: &ProcedureNode,
    names: &UnusedNames,
    classes: &Classes,
) -> Result<Routine, Vec<Diagnostic>> {
    let (mut names, mut classes) = (names.clone(), classes.clone());
    let mut procedure = ProcedureNode { rule: None, tangent: None, ..procedure.clone() };
    // A macro may refer to the program's cells where it is used. So parameters and locals get names that don't shadow
    // these cells.
    let mut renamed = Vec::new();
    let mut declare = |name: &mut CompactString, class: Class| {
        let other = names.fresh(name);
        classes.insert(other.clone(), class);
        renamed.push((std::mem::replace(name, other.clone()), other));
    };
    for parameter in &mut procedure.parameters {
        declare(&mut parameter.name.text, parameter.class.unwrap_or(Class::Int));
    }
    for declaration in ancillas_mut(&mut procedure.body) {
        let class = class_of_declared(declaration);
        declare(&mut declaration.name.text, class);
    }
    let mut expander = Expander::new(&program.macros, names, classes);
    procedure.body = expander.routine(&procedure.body, renamed);
    refused(std::mem::take(&mut expander.problems))?;
    let classes = std::mem::take(&mut expander.classes);
    Ok(Routine { procedure, classes, names: expander.into_names() })
}

/// Returns the variables of a procedure's frame.
fn ancillas(body: &Body) -> impl Iterator<Item = &DeclarationNode> {
    body.iter().flat_map(|node| match &node.statement {
        Statement::Directive(Directive::Ancillas(declarations)) => declarations.as_slice(),
        _ => &[],
    })
}

fn ancillas_mut(body: &mut Body) -> impl Iterator<Item = &mut DeclarationNode> {
    body.iter_mut().flat_map(|node| match &mut node.statement {
        Statement::Directive(Directive::Ancillas(declarations)) => declarations.as_mut_slice(),
        _ => &mut [],
    })
}

struct TransformationSteps {
    program: SortedProgram,
    names: UnusedNames,
    main: Body,
    main_classes: Classes,
    routines: Vec<Routine>,
}

impl TransformationSteps {
    fn run(mut self) -> Result<Transformed, Vec<Diagnostic>> {
        let mut words = AddedNames::new(&mut self.names);
        let counters = LoopCounters { row: self.names.fresh("row"), column: self.names.fresh("column") };
        let mut state = self.state();
        let mut main = std::mem::take(&mut self.main);
        let private = state.iter().filter(|variable| variable.is_private());
        main.extend(private.filter_map(StateVariable::ended));

        let tolerance = self.tolerance();
        let losing = self.losing(&tolerance);
        let rules = Rules {
            exact: self.program.is_exact(),
            tolerance: &tolerance,
            losing: &losing,
            blocks_stay: false,
        };
        let mut keeper = Keeper::new(rules, &self.main_classes, self.names.clone());
        let mut cutter = Cutter::new(&mut keeper, &words.next);
        cutter.main(&main);
        let Cutter { parts, promoted, .. } = cutter;
        refused(std::mem::take(&mut keeper.problems))?;
        state.extend(promoted.into_iter().map(|it| private_variable(it.name, it.class, it.shape)));
        let undone = std::mem::take(&mut keeper.undone);
        self.names = keeper.names;
        let procedures = self.procedures(rules, undone)?;
        self.name_state(&mut state, &mut words);
        Ok(Transformed { program: self.program, state, parts, procedures, words, counters })
    }

    /// Returns the maximum magnitude of a real that may be freed.
    fn tolerance(&self) -> Expression {
        let usual = if self.program.system == RealSystem::F32 { 1e-4 } else { 1e-9 };
        self.program.tolerance.clone().unwrap_or_else(|| make::real(usual))
    }

    /// Returns the state: the declared cells and the registers that main, or a procedure that it calls, may change.
    fn state(&self) -> Vec<StateVariable> {
        let mut names = HashSet::new();
        changed(&self.main, &mut names);
        self.routines.iter().for_each(|routine| changed(&routine.procedure.body, &mut names));
        let globals = self.program.globals.iter().map(|global| variable(global.role, &global.declaration));
        let ancillas = self.program.ancillas.iter().map(|ancilla| variable(Role::Private, ancilla));
        let mut state: Vec<StateVariable> =
            globals.chain(ancillas).filter(|variable| names.contains(&variable.name)).collect();
        let undeclared = |name: &&CompactString| is_register(name) && !self.names.is_taken(name);
        let mut registers: Vec<&CompactString> = names.iter().filter(undeclared).collect();
        registers.sort();
        state.extend(registers.into_iter().map(|name| {
            private_variable(name.clone(), class_of(&make::cell(name), &Classes::default()), Vec::new())
        }));
        state
    }

    /// Returns the lossy procedures: those with a lossy statement, and those that call a lossy procedure.
    fn losing(&mut self, tolerance: &Expression) -> LossyProcedures {
        let none = LossyProcedures::new();
        let rules = Rules { exact: self.program.is_exact(), tolerance, losing: &none, blocks_stay: false };
        let mut callers: HashMap<CompactString, Vec<usize>> = HashMap::new();
        // Indices of lossy routines whose callers aren't marked as lossy yet. The routine with the lowest index is
        // processed first.
        let mut found = BinaryHeap::new();
        for (at, routine) in self.routines.iter().enumerate() {
            let keeper = Keeper::new(rules, &routine.classes, UnusedNames::default());
            let body = &routine.procedure.body;
            if keeper.body_loses(body) || !rounded(routine, rules.exact).is_empty() {
                found.push(Reverse(at));
            }
            called(body).into_iter().for_each(|name| callers.entry(name).or_default().push(at));
        }
        let mut losing = LossyProcedures::new();
        while let Some(Reverse(at)) = found.pop() {
            let Some(routine) = self.routines.get(at) else { continue };
            let name = &routine.procedure.name.text;
            if losing.contains_key(name) {
                continue;
            }
            losing.insert(name.clone(), self.names.fresh(&format_compact!("{name}_undone")));
            found.extend(callers.remove(name).unwrap_or_default().into_iter().map(Reverse));
        }
        losing
    }

    /// Returns the procedures of the reversible text: each original one, and the inverse of each lossy one that is
    /// uncalled.
    fn procedures(
        &self,
        rules: Rules,
        undone: HashSet<CompactString>,
    ) -> Result<Vec<ProcedureNode>, Vec<Diagnostic>> {
        let mut made: Vec<ProcedureNode> = Vec::new();
        let named = self.routines.iter().enumerate().map(|(at, it)| (&it.procedure.name.text, at));
        let places: HashMap<&CompactString, usize> = named.collect();
        let placed = |names: HashSet<CompactString>| -> Vec<usize> {
            names.iter().filter_map(|name| places.get(name).copied()).collect()
        };
        let mut wanted: BTreeSet<usize> = placed(undone).into_iter().collect();
        for routine in &self.routines {
            let mut keeper = Keeper::new(rules, &routine.classes, routine.names.clone());
            made.push(kept(routine, &routine.procedure.body, &routine.procedure.name.text, &mut keeper));
            wanted.extend(placed(std::mem::take(&mut keeper.undone)));
            refused(keeper.problems)?;
        }
        let mut done = HashSet::new();
        while let Some(at) = wanted.pop_first() {
            if !done.insert(at) {
                continue;
            }
            let Some(routine) = self.routines.get(at) else { continue };
            let Some(other) = rules.losing.get(&routine.procedure.name.text) else { continue };
            let mut keeper = Keeper::new(rules, &routine.classes, routine.names.clone());
            let body = keeper.undo(&routine.procedure.body).unwrap_or_default();
            made.push(kept(routine, &body, other, &mut keeper));
            wanted.extend(placed(std::mem::take(&mut keeper.undone)));
            refused(keeper.problems)?;
        }
        Ok(made)
    }

    /// Assigns to every variable the array of its saved values, and the cell of its result.
    fn name_state(&mut self, state: &mut [StateVariable], words: &mut AddedNames) {
        words.name_kept(&mut self.names);
        for variable in state {
            variable.kept = self.names.fresh(&kept_name(&variable.name));
            let result = match variable.role {
                Role::InOut => Some(format_compact!("{}_out", variable.name)),
                Role::Out => Some(format_compact!("found_{}", variable.name)),
                Role::Private | Role::In | Role::Garbage => None,
            };
            variable.result = result.map(|name| self.names.fresh(&name));
        }
    }
}

fn variable(role: Role, declaration: &DeclarationNode) -> StateVariable {
    let shape = declaration.shape.lengths().to_vec();
    let class = class_of_declared(declaration);
    StateVariable {
        role,
        initial: declaration.initial.clone(),
        ..private_variable(declaration.name.text.clone(), class, shape)
    }
}

fn private_variable(name: CompactString, class: Class, shape: Vec<Expression>) -> StateVariable {
    let kept = CompactString::default();
    StateVariable { name, class, shape, role: Role::Private, initial: None, kept, result: None }
}

/// Returns the real variables of a procedure's frame. If reals are floats, these variables may differ from 0 at the end
/// of the procedure, because of rounding.
fn rounded(routine: &Routine, exact: bool) -> Vec<DeclarationNode> {
    let is_rounded = |it: &&DeclarationNode| !exact && class_of_declared(it) == Class::Real;
    ancillas(&routine.procedure.body).filter(is_rounded).cloned().collect()
}

/// Returns a procedure called `name`, with lossy statements of `body` replaced.
fn kept(routine: &Routine, body: &Body, name: &str, keeper: &mut Keeper) -> ProcedureNode {
    let mut kept = keeper.body(body);
    if keeper.rules.losing.contains_key(&routine.procedure.name.text) {
        for ancilla in rounded(routine, keeper.rules.exact) {
            match ancilla.shape.lengths() {
                [] => keeper.cleared(&make::cell(&ancilla.name.text), None, &mut kept),
                shape => keeper.cleared_array(&ancilla.name.text, shape, &mut kept),
            }
        }
    }
    kept.retain(|node: &StatementNode| !node.is_blank());
    let name = reviver_assembler::tree::Name { text: name.into(), ..routine.procedure.name.clone() };
    ProcedureNode { name, body: kept, ..routine.procedure.clone() }
}
