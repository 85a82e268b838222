//! Warnings about stacks that are only pushed to, so that values remain at the end, and stacks that are only
//! popped from, so that values are missing.
//!
//! Procedures that main doesn't reach are ignored. The analysis doesn't follow calls: if the program contains
//! an `uncall`, a `push` may act as a `pop`, so there are no warnings.

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Class, Operand};
use reviver_isa::module::{Module, Role};
use reviver_isa::update::Update;
use reviver_isa::verify::a_class;

use super::own::is_own;
use super::used::reached;
use crate::diagnostic::{Collection, Diagnostic};
use crate::lower::Lowered;

/// The instruction indices of the first `push` to a stack and of the first `pop` from it.
#[derive(Default)]
struct Moves {
    push: Option<u32>,
    pop: Option<u32>,
}

/// Warns about a stack that is pushed to but never popped from although it must be empty at the end, or
/// popped from but never pushed to although it is empty at the start.
pub(super) fn warn(lowered: &Lowered, warnings: &mut Collection) {
    if lowered.module.code.iter().any(|instruction| instruction.update == Update::Uncall) {
        return;
    }
    for class in [Class::Int, Class::Real] {
        let role = lowered.module.stack(class).map_or(Role::Private, |(_, global)| global.role);
        let (at, message, label, help) = match moves(&lowered.module, class) {
            Moves { push: Some(push), pop: None } if !role.is_result() => {
                let cure = cure(&lowered.module, class, Role::Garbage);
                let help = format!("{cure}: then the stack may have values at the end");
                let message = format!("the program pushes {} here, but never pops one", a_class(class));
                (push, message, "the stack must be empty at the end", help)
            }
            Moves { push: None, pop: Some(pop) } if !role.is_given() => {
                let cure = cure(&lowered.module, class, Role::In);
                let help = format!("{cure}: then the user gives the values of the stack");
                let message = format!("the program pops {} here, but never pushes one", a_class(class));
                (pop, message, "the stack is empty at the start", help)
            }
            _ => continue,
        };
        if let Some(&place) = lowered.spans.get(at as usize).filter(|place| is_own(**place)) {
            warnings.add(Diagnostic::warning(ProblemCode::StackOneSided, message, place, label).help(help));
        }
    }
}

/// Returns the suggestion to declare the stack of a class with a role. `role` is the role to suggest if the
/// program doesn't declare the stack.
fn cure(module: &Module, class: Class, role: Role) -> String {
    // If the stack is declared as an input or a result already, it needs both roles. So the suggestion is
    // `.inout`.
    let declared = module.stack(class).filter(|(_, global)| global.role != Role::Private);
    let directive = declared.map_or(role, |_| Role::InOut).directive();
    match (module.stack(class), class) {
        (Some((_, global)), _) => {
            format!("declare `{}` by `{directive}` instead of `{}`", global.name, global.role.directive())
        }
        (None, Class::Int) => format!("declare `{directive} NAME[]`"),
        (None, Class::Real) => format!("declare `{directive} NAME[]: real`"),
    }
}

/// Returns true if a `push` or a `pop` uses the stack of a class.
pub(super) fn is_used(module: &Module, class: Class) -> bool {
    let Moves { push, pop } = moves(module, class);
    push.or(pop).is_some()
}

fn moves(module: &Module, class: Class) -> Moves {
    let mut moves = Moves::default();
    for procedure in reached(module) {
        for at in procedure.entry..procedure.exit {
            let Some(instruction) = module.code.get(at as usize) else { break };
            let first = match instruction.update {
                Update::Push => &mut moves.push,
                Update::Pop => &mut moves.pop,
                _ => continue,
            };
            let Some(Operand::Place(place)) = instruction.operands.first() else { continue };
            if module.declaration(procedure, place.base).is_some_and(|cell| cell.class == class) {
                first.get_or_insert(at);
            }
        }
    }
    moves
}
