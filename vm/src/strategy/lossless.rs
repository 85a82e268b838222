//! Whether the steps of a program lose bits. Knows rows; runs nothing.

use reviver_isa::instruction::Class;
use reviver_isa::module::Module;

/// Whether each step of a module can be undone by its inverse alone, bit for bit, as far as values go.
pub fn loses_nothing(module: &Module) -> bool {
    let erases = module.code.iter().any(|instruction| !instruction.update.is_reversible());
    !erases && (module.real.is_exact() || !has_reals(module))
}

/// Whether a module has any real cell.
pub fn has_reals(module: &Module) -> bool {
    let is_real = |class: Class| class == Class::Real;
    module.globals.iter().any(|global| is_real(global.class))
        || module.procedures.iter().any(|p| p.frame.iter().any(|variable| is_real(variable.class)))
}
