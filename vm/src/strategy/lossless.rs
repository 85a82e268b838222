//! Classification of programs that lose bits by rounding, and of programs that discard information. The
//! module executes nothing.

use reviver_isa::instruction::{Class, Link};
use reviver_isa::module::Module;

/// Returns true if the inverse of each step of a module restores all values bit for bit.
pub fn loses_nothing(module: &Module) -> bool {
    let erases = module.code.iter().any(|instruction| !instruction.update.is_reversible());
    !erases && (module.real.is_exact() || !has_reals(module))
}

/// Returns true if a module has any real cell.
pub fn has_reals(module: &Module) -> bool {
    let is_real = |class: Class| class == Class::Real;
    module.globals.iter().any(|global| is_real(global.class))
        || module.procedures.iter().any(|p| p.frame.iter().any(|variable| is_real(variable.class)))
}

/// Returns true if a reverse run of a module reaches an instruction that discards information. Procedures
/// that are only rules don't count, because rules run forward only.
pub fn discards_information(module: &Module) -> bool {
    let is_rule =
        |n: usize| module.procedures.iter().any(|other| other.rule.is_some_and(|rule| rule as usize == n));
    let is_called = |n: usize| {
        module.code.iter().any(|instruction| match &instruction.link {
            Link::Calls(calls) => calls.iter().any(|call| call.procedure as usize == n),
            Link::None | Link::Partner(_) => false,
        })
    };
    module.procedures.iter().enumerate().any(|(n, procedure)| {
        let code = module.code.get(procedure.entry as usize..=procedure.exit as usize).unwrap_or_default();
        code.iter().any(|instruction| !instruction.update.is_reversible()) && (!is_rule(n) || is_called(n))
    })
}
