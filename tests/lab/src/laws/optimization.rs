//! Law of optimization: a pass preserves the results of every run that succeeds, and needs no more steps.

use std::collections::HashMap;

use reviver_assembler::files::FilesInMemory;
use reviver_assembler::format::print_with;
use reviver_assembler::optimize::{Optimization, Pass, optimize_text};
use reviver_assembler::parser::parse;
use reviver_assembler::render::render;
use reviver_assembler::source::Sources;
use reviver_assembler::tree::{
    CallNode, InstructionNode, Name, Operands, ProcedureNode, Statement, StatementNode,
};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Role};
use reviver_isa::update::Update;
use reviver_vm::{Machine, Travel};

use super::motion;
use crate::run::{End, LONGEST, travel};
use crate::subject::Subject;

/// Tolerances of reals after a pass that rounds differently, relative to the largest real of the end state.
const ROUNDING: f64 = 1e-9;
const ROUNDING_F32: f64 = 1e-3;

/// Law: one of the passes, and all passes together, preserve the results.
pub fn results_stay(subject: &Subject) -> Result<(), String> {
    compared(subject).map(drop)
}

/// Checks the law, and returns the single pass that has changed the program, if it has. The pass depends on the text.
///
/// # Errors
/// A sentence if the program violates the law.
pub fn compared(subject: &Subject) -> Result<Option<Pass>, String> {
    let hash = xxhash_rust::xxh3::xxh3_64(subject.text.as_bytes());
    let single = Pass::ALL[(hash % Pass::ALL.len() as u64) as usize];
    if single == Pass::Inlining {
        let text = with_own_procedures(&subject.text);
        // A block can't become a procedure if it uses variables of main.
        let Ok(mut copied) = Subject::on(subject.engine, &text) else { return Ok(None) };
        copied.tape.clone_from(&subject.tape);
        return compared_with(&copied, single);
    }
    compared_with(subject, single)
}

fn compared_with(subject: &Subject, single: Pass) -> Result<Option<Pass>, String> {
    let mut machine = subject.machine(false);
    if travel(&mut machine, Travel::Forward, LONGEST) != End::Bound {
        return Ok(None);
    }
    let unchanged = optimized(subject, &[])?;
    let mut effective = None;
    for passes in [&[single][..], Pass::of_level(2)] {
        let text = optimized(subject, passes)?;
        if text == unchanged {
            continue;
        }
        results_agree(subject, &machine, (passes, &text))
            .map_err(|error| format!("{passes:?}: {error}\n{text}"))?;
        if passes == [single] {
            effective = Some(single);
        }
    }
    Ok(effective)
}

/// Returns a program in which each call in main calls a copy of the procedure, so that the copy is called once. Blocks of
/// main become procedures.
fn with_own_procedures(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("subject.rasm", text);
    let (mut body, _) = parse(&sources, file);
    let procedures = body.iter().filter_map(|node| match &node.statement {
        Statement::Procedure(tree) => Some((tree.name.text.to_string(), (**tree).clone())),
        _ => None,
    });
    let procedures: HashMap<_, _> = procedures.collect();
    let mut copies = Vec::new();
    for node in &mut body {
        if !matches!(node.statement, Statement::Procedure(_) | Statement::Macro(_)) {
            copy_called(node, &procedures, &mut copies);
            move_block(node, &mut copies);
        }
    }
    body.extend(copies);
    print_with(&sources, &body)
}

/// Replaces a block by the call of a procedure, and adds the procedure to `made`.
fn move_block(node: &mut StatementNode, made: &mut Vec<StatementNode>) {
    if node.label.is_some() || !matches!(node.statement, Statement::If(_) | Statement::For(_)) {
        return;
    }
    let span = node.span;
    let procedure = Name { text: format!("block_{}", made.len()).into(), span };
    let call = CallNode { procedure: procedure.clone(), arguments: Vec::new(), span };
    let instruction = InstructionNode {
        update: Update::Call,
        function: Function::Copy,
        mnemonic: span,
        operands: Operands::Call(Box::new(call)),
    };
    let block = std::mem::replace(&mut node.statement, Statement::Instruction(instruction));
    let tree = ProcedureNode {
        name: procedure,
        parameters: Vec::new(),
        rule: None,
        tangent: None,
        body: vec![StatementNode { label: None, statement: block, comment: None, span }],
        end_comment: None,
        end: span,
    };
    let statement = Statement::Procedure(Box::new(tree));
    made.push(StatementNode { label: None, statement, comment: None, span });
}

fn copy_called(
    node: &mut StatementNode,
    procedures: &HashMap<String, ProcedureNode>,
    copies: &mut Vec<StatementNode>,
) {
    if let Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) =
        &mut node.statement
        && let Some(procedure) = procedures.get(call.procedure.text.as_str())
        && procedure.rule.is_none()
    {
        let mut copy = procedure.clone();
        copy.name.text = format!("{}_{}", procedure.name.text, copies.len()).into();
        call.procedure.text = copy.name.text.clone();
        let statement = Statement::Procedure(Box::new(copy));
        copies.push(StatementNode { label: None, statement, comment: None, span: node.span });
    }
    for body in node.statement.bodies_mut() {
        body.iter_mut().for_each(|node| copy_called(node, procedures, copies));
    }
}

fn optimized(subject: &Subject, passes: &[Pass]) -> Result<String, String> {
    let bytes = subject.text.clone().into_bytes();
    let Optimization { sources, text, .. } =
        optimize_text("subject.rasm", bytes, (passes, "subject.rasm"), &FilesInMemory::new());
    text.map_err(|diagnostics| render(&sources, &diagnostics, false))
}

/// Compares the results of the original, whose machine is at its end, with those of the optimized program.
fn results_agree(
    subject: &Subject,
    original: &Machine,
    (passes, text): (&[Pass], &str),
) -> Result<(), String> {
    let mut optimized = Subject::on(subject.engine, text)?;
    optimized.tape.clone_from(&subject.tape);
    let mut machine = optimized.machine(false);
    let end = travel(&mut machine, Travel::Forward, LONGEST);
    // Other roundings may change the path of the program.
    let rounds = rounds_differently(subject, passes);
    if rounds && end != End::Bound {
        return Ok(());
    }
    if end != End::Bound {
        return Err(format!("the run ends with {end:?}"));
    }
    let (steps, limit) = (machine.state().step, original.state().step);
    if steps > limit && !passes.contains(&Pass::Inlining) {
        return Err(format!("{steps} steps, at most {limit} expected"));
    }
    let values = |program: &Subject, machine: &Machine, n| -> Vec<f64> {
        let values = program.program.read(machine.state(), n).into_iter();
        values.map(|value| program.program.approximate(value)).collect()
    };
    let module = subject.program.module();
    let largest = (0..module.globals.len()).flat_map(|n| values(subject, original, n));
    let largest = largest.fold(1.0f64, |most, number| most.max(number.abs()));
    let tolerance = match module.real {
        _ if !rounds => 0.0,
        RealSystem::F32 => ROUNDING_F32 * largest,
        _ => ROUNDING * largest,
    };
    for (n, global) in module.globals.iter().enumerate() {
        if matches!(global.role, Role::Garbage | Role::Private) {
            continue;
        }
        let Some((m, _)) = optimized.program.global(&global.name) else {
            return Err(format!("there is no cell `{}`", global.name));
        };
        let (expected, found) = (values(subject, original, n), values(&optimized, &machine, m));
        let is_same = |a: f64, b: f64| a == b || global.class == Class::Real && (a - b).abs() <= tolerance;
        if found.len() != expected.len() || !found.iter().zip(&expected).all(|(&a, &b)| is_same(a, b)) {
            return Err(format!("`{}` is {found:?}, expected {expected:?}", global.name));
        }
    }
    let is_last = passes.len() == Pass::ALL.len();
    if is_last && subject.is_reversible() { motion::round_trip(&optimized) } else { Ok(()) }
}

/// Returns true if a pass may change the last bits of reals. In fixed point, a number minus itself is 0.
fn rounds_differently(subject: &Subject, passes: &[Pass]) -> bool {
    let is_exact = subject.program.module().real.is_exact();
    passes.contains(&Pass::Divisions) || passes.contains(&Pass::Pairs) && !is_exact
}
