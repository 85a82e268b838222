//! Classes of closed variables. `delocal t = 0` closes an integer or a real; its inverse `local t = 0` opens an integer. So
//! before a program is inverted, each `delocal` of a real states the class, unless its value tells it.

use reviver_isa::instruction::Class;

use crate::definitions::ProgramNames;
use crate::rewrite::rewrite;
use crate::scopes::{Bound, Names};
use crate::tree::{Body, Local, Statement, StatementNode};

/// States the classes of closed variables in the trees of a program.
pub(crate) fn state(trees: &mut [Body]) {
    let names = ProgramNames::of(trees.iter()).names;
    for tree in trees {
        let body = std::mem::take(tree);
        *tree = rewrite(
            &mut names.clone(),
            body,
            &mut |names: &Names, mut node: StatementNode, made: &mut Body| {
                if let Statement::Delocal(local) = &mut node.statement
                    && hides_class(names, local)
                {
                    local.class = Some(Class::Real);
                }
                made.push(node);
            },
        );
    }
}

/// Returns true if a variable is a real, and the value at its end would open an integer.
fn hides_class(names: &Names, local: &Local) -> bool {
    let is_real = matches!(names.find(&local.name.text), Some(Bound::Cells { class: Class::Real, .. }));
    is_real && names.class_of_local(local) == Class::Int
}
