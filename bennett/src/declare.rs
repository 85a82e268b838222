//! The declarations of the reversible text: inputs and outputs, the program's cells, and the saved states.
//! This module is independent of procedures.

use compact_str::CompactString;
use reviver_assembler::tree::{
    BinaryOperator, Body, DeclarationNode, Directive, Expression, ShapeNode, Statement, StatementNode,
};
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;

use crate::program::DeclaredGlobal;
use crate::state::StateVariable;
use crate::transform::Transformed;
use reviver_assembler::keep::class::is_register;
use reviver_assembler::keep::make::{self, node};

/// Returns the declarations of inputs and outputs. The reversible program preserves the values of inputs, so the result
/// of an `.inout` has a separate cell.
pub fn interface(made: &Transformed) -> Body {
    let mut body = Body::new();
    for global in &made.program.globals {
        let variable = variable(made, &global.declaration.name.text);
        let is_kept = variable.is_some();
        match (global.role, is_kept) {
            (Role::In | Role::InOut, _) => body.push(declared(Role::InOut, global, true)),
            (Role::Out, _) => body.push(declared(Role::Out, global, !is_kept)),
            (Role::Private | Role::Garbage, false) => body.push(declared(Role::Private, global, true)),
            (Role::Private | Role::Garbage, true) => {}
        }
    }
    for variable in made.state.iter().filter(|variable| variable.role == Role::InOut) {
        body.extend(variable.result.iter().map(|it| cells(Role::Out, it, variable.class, &variable.shape)));
    }
    body
}

fn variable<'t>(made: &'t Transformed, name: &str) -> Option<&'t StateVariable> {
    made.state.iter().find(|variable| variable.name == name)
}

/// Returns the declarations of the program's internal cells.
pub fn hidden(made: &Transformed, is_undone: bool) -> Body {
    let words = &made.words;
    let is_hidden = |it: &&StateVariable| matches!(it.role, Role::Private | Role::Garbage);
    let is_register = |it: &&StateVariable| is_register(&it.name) && !is_declared(made, &it.name);
    let own = made.state.iter().filter(is_hidden).filter(|it| !is_register(it));
    let mut body: Body = own.map(|it| cells(Role::Private, &it.name, it.class, &it.shape)).collect();
    for variable in found(made, is_undone) {
        body.extend(
            variable.result.iter().map(|it| cells(Role::Private, it, variable.class, &variable.shape)),
        );
    }
    let mut numbers = cells(Role::Private, &words.at, Class::Int, &[]);
    numbers.comment = Some(" number of the part to run; 0 at the end".into());
    body.push(numbers);
    let mut next = cells(Role::Private, &words.next, Class::Int, &[]);
    next.comment = Some(" number of the part to run after it".into());
    body.push(next);
    body
}

fn is_declared(made: &Transformed, name: &str) -> bool {
    let program = &made.program;
    program
        .globals
        .iter()
        .map(|global| &global.declaration)
        .chain(&program.ancillas)
        .any(|it| it.name.text == name)
}

/// Returns the declarations of the arrays that hold saved states.
pub fn kept(made: &Transformed) -> Body {
    let words = &made.words;
    let states = || make::binary(BinaryOperator::Add, make::cell(&words.last), make::int(1));
    let mut body = vec![cells(Role::Private, &words.kept_at, Class::Int, &[states()])];
    body.extend(
        made.state.iter().map(|it| cells(Role::Private, &it.kept, it.class, &it.kept_shape(states()))),
    );
    body
}

/// Returns the variables whose results have separate cells. Segments use the variables' own cells for computing. At the
/// end, main moves the results from the separate cells to the variables' own cells.
pub fn found(made: &Transformed, is_undone: bool) -> impl Iterator<Item = &StateVariable> {
    made.state.iter().filter(move |variable| variable.role == Role::Out && is_undone)
}

/// Returns a declaration of the original program, with another role.
fn declared(role: Role, global: &DeclaredGlobal, with_initial: bool) -> StatementNode {
    let mut declaration = global.declaration.clone();
    if !with_initial {
        declaration.initial = None;
    }
    let statement = Statement::Directive(Directive::Globals { role, declarations: vec![declaration] });
    StatementNode { comment: global.comment.clone(), ..node(statement) }
}

fn cells(role: Role, name: &CompactString, class: Class, shape: &[Expression]) -> StatementNode {
    let declaration = DeclarationNode {
        record: None,
        name: make::name(name),
        shape: ShapeNode::Lengths(shape.to_vec()),
        class: (class == Class::Real).then_some(Class::Real),
        initial: None,
        is_shared: false,
        default: None,
    };
    node(Statement::Directive(Directive::Globals { role, declarations: vec![declaration] }))
}
