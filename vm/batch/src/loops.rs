//! Bounds on uncounted loop iterations of a shader: the iterations in functions that `main` calls. This module is
//! independent of devices.

use std::collections::HashMap;

use naga::{Block, Function, Handle, Module, Statement};

/// Returns an upper bound on the uncounted loop iterations between two counted iterations of `main`. The bound follows
/// from three facts. Between two counted iterations, control reaches each loop and call of `main` at most once. Each
/// loop of a helper function has at most `of_a_helper` iterations. A loop of `main` counts all of its iterations except
/// the last one, which ends the loop.
pub(crate) fn uncounted_iterations(module: &Module, of_a_helper: u32) -> u32 {
    let mut iterations = HashMap::new();
    // A function follows the functions that it calls.
    for (handle, function) in module.functions.iter() {
        let of_this = of_block(&function.body, &iterations, of_a_helper);
        iterations.insert(handle, of_this);
    }
    let entries = module.entry_points.iter();
    entries.map(|entry| of_block(&entry.function.body, &iterations, 0)).max().unwrap_or(0)
}

/// Returns the iterations in a block, including those of nested calls. Each loop counts as `of_a_loop` uncounted
/// iterations and one iteration that ends it.
fn of_block(block: &Block, functions: &HashMap<Handle<Function>, u32>, of_a_loop: u32) -> u32 {
    let inner = |block: &Block| of_block(block, functions, of_a_loop);
    block.iter().fold(0, |sum: u32, statement| {
        let iterations = match statement {
            Statement::Block(block) => inner(block),
            Statement::If { accept, reject, .. } => inner(accept).saturating_add(inner(reject)),
            Statement::Switch { cases, .. } => {
                cases.iter().fold(0, |sum: u32, case| sum.saturating_add(inner(&case.body)))
            }
            Statement::Loop { body, continuing, .. } => {
                let inside = inner(body).saturating_add(inner(continuing));
                inside.saturating_add(1).saturating_mul(of_a_loop.saturating_add(1))
            }
            Statement::Call { function, .. } => functions.get(function).copied().unwrap_or(0),
            _ => 0,
        };
        sum.saturating_add(iterations)
    })
}

#[cfg(test)]
mod tests {
    use super::uncounted_iterations;

    fn of(wgsl: &str) -> u32 {
        uncounted_iterations(&naga::front::wgsl::parse_str(wgsl).unwrap(), 64)
    }

    const HELPERS: &str = "
        fn twice(x: u32) -> u32 { return x + x; }
        fn digits(x: u32) -> u32 { var n = 0u; loop { n += 1u; if (x >> n) == 0u { break; } } return n; }
        fn both(x: u32) -> u32 { return digits(x) + digits(twice(x)); }
        fn nested(x: u32) -> u32 { var n = x; loop { n -= both(x); if n < 9u { break; } } return n; }
    ";

    #[test]
    fn calls_of_helpers_are_summed() {
        let of_main =
            |body: &str| of(&format!("{HELPERS} @compute @workgroup_size(1) fn main() {{ {body} }}"));
        assert_eq!(of_main("_ = twice(3u);"), 0);
        assert_eq!(of_main("_ = digits(3u);"), 65);
        assert_eq!(of_main("if true { _ = both(3u); } else { _ = digits(3u); }"), 195);
        assert_eq!(of_main("_ = nested(3u);"), 65 * 131);
    }

    #[test]
    fn loops_of_main_count_themselves() {
        let text = format!(
            "{HELPERS} @compute @workgroup_size(1) fn main() {{ var n = 0u; loop {{ n += digits(n); if n > 9u {{ break; }} }} }}"
        );
        assert_eq!(of(&text), 66);
    }
}
