//! SSA functions with a bounded call depth, for engines that allocate all memory of a run in advance. If such a
//! function has no space for another call, a check fails; other functions take a side exit. This module is independent
//! of engines.

use reviver_vm::{Program, State};

use crate::frames;
use crate::function::{Demands, FIRST_RECORD, SsaEnd, SsaFunction};
use crate::op::{Input, OpKind};
use crate::order::drop_unreachable;

/// Memory that an SSA function may use for its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundedCalls {
    /// Largest number of out-of-line calls that may be open at once.
    pub functions: u32,
    /// Number of integer cells that are allocated after the cells of the initial state. They must hold 0 at the start.
    pub ints: u32,
    /// Number of real cells that are allocated after the cells of the initial state. They must hold 0 at the start.
    pub reals: u32,
    /// Number of words in [`crate::op::Space::References`]; 0 if the function makes no out-of-line call.
    pub references: u32,
}

impl BoundedCalls {
    /// Returns the larger of two bounds for each field. The result suffices for both functions.
    pub fn max(self, other: BoundedCalls) -> BoundedCalls {
        BoundedCalls {
            functions: self.functions.max(other.functions),
            ints: self.ints.max(other.ints),
            reals: self.reals.max(other.reals),
            references: self.references.max(other.references),
        }
    }

    /// Computes the memory for open out-of-line calls. The number of calls is the largest that fits in `words` words,
    /// but at least `least`. The program's limits may reduce this number. Each real takes `words_of_real` words, for
    /// example 2 if it has an adjoint. Returns `None` if the limits don't even allow the inlined calls.
    pub fn of(
        program: &Program,
        state: &State,
        demands: Demands,
        (words, least): (u32, u32),
        words_of_real: u32,
    ) -> Option<BoundedCalls> {
        let Demands { record, level, references, .. } = demands;
        let reals = level.reals.saturating_mul(words_of_real);
        let of_one = record.saturating_add(level.ints).saturating_add(reals);
        let wanted = if record == 0 { 0 } else { (words / of_one.max(1)).max(least) };
        let functions = frames::levels(program, state, demands, wanted)?;
        let cells = |in_place: u32, level: u32| in_place.saturating_add(functions.saturating_mul(level));
        let records = FIRST_RECORD.saturating_add(functions.saturating_mul(record));
        Some(BoundedCalls {
            functions,
            ints: cells(demands.frame_ints, level.ints),
            reals: cells(demands.frame_reals, level.reals),
            references: if record == 0 { 0 } else { records.saturating_add(references) },
        })
    }
}

/// Turns each exit that is taken if there is no space for a call into a check that fails. The function must begin in
/// main.
pub fn bounded(mut function: SsaFunction, calls: BoundedCalls) -> SsaFunction {
    let end = FIRST_RECORD + calls.functions * function.demands.record;
    let given: Vec<_> = function.inputs().filter(|(_, input)| *input == Input::RecordsEnd).collect();
    for (value, _) in given {
        function.replace(value, OpKind::Int(end.into()));
    }
    for number in 0..function.blocks.len() {
        let Some(SsaEnd::Branch { condition, yes, no }) = function.blocks.get(number).map(|block| &block.end)
        else {
            continue;
        };
        let (condition, yes, no) = (*condition, yes.clone(), no.to);
        if !is_full(&function, no) {
            continue;
        }
        let has_room = function.define(OpKind::RequireTrue, &[condition]);
        if let Some(block) = function.blocks.get_mut(number) {
            block.ops.push(has_room);
            block.end = SsaEnd::Jump(yes);
        }
    }
    drop_unreachable(&mut function);
    function
}

/// Returns true if a block exits because there is no space for a call.
fn is_full(function: &SsaFunction, block: u32) -> bool {
    let Some(SsaEnd::Exit { exit }) = function.blocks.get(block as usize).map(|block| &block.end) else {
        return false;
    };
    function.exits.get(*exit as usize).is_some_and(|exit| exit.is_full)
}

#[cfg(test)]
mod tests {
    use reviver_assembler::{assemble::assemble, files::FilesInMemory};
    use reviver_vm::{CheckLevel, Machine, Travel};

    use super::*;
    use crate::build::build;
    use crate::check::check;
    use crate::compiled_run::RunPlan;
    use crate::order::reached;
    use crate::passes::{PASSES, optimized};

    const RECURSION: &str = ".in n default 5\n.out sum\ncall down(n, sum)\n\n.proc down(in n, inout sum)\n\
                             if n > 0\n add sum, n\n call down(n - 1, sum)\nfi n > 0\n.end\n";
    const INLINED: &str = ".limit depth 1\n.out x\ncall a(x)\n\n.proc a(inout x)\n call b(x)\n.end\n\n\
                            .proc b(inout x)\n add x, 1\n.end\n";

    fn program(text: &str) -> Program {
        let module = assemble("bounded.rasm", text.into(), &FilesInMemory::new()).module;
        Program::new(module.unwrap_or_else(|| panic!("{text}")), 0).unwrap()
    }

    fn function(program: &Program) -> SsaFunction {
        let plan = RunPlan::whole(program, Travel::Forward, CheckLevel::Checked);
        let specialization = plan.specialization(program);
        build(program.module(), program.flow(), specialization).unwrap()
    }

    fn calls(program: &Program, function: &SsaFunction, words: u32) -> Option<BoundedCalls> {
        let state = Machine::at_begin(std::sync::Arc::new(program.clone())).unwrap().into_state();
        BoundedCalls::of(program, &state, function.demands, (words, 2), 2)
    }

    #[test]
    fn the_check_for_call_memory_replaces_exits() {
        let program = program(RECURSION);
        let plain = function(&program);
        assert!(plain.inputs().next().is_some() && plain.exits.iter().any(|exit| exit.is_full));
        let calls = calls(&program, &plain, 1000).unwrap();
        assert!(calls.functions > 10 && calls.references > 10 * plain.demands.record, "{calls:?}");
        let bounded = bounded(plain, calls);
        check(&bounded).unwrap();
        assert_eq!(bounded.inputs().next(), None);
        assert!(!reached(&bounded).into_iter().any(|block| is_full(&bounded, block)));
        check(&optimized(bounded, &PASSES)).unwrap();
    }

    #[test]
    fn reserved_calls_are_limited_by_the_program() {
        let plain = program(RECURSION);
        assert_eq!(calls(&plain, &function(&plain), 1).map(|calls| calls.functions), Some(2));
        let limited = program(&format!(".limit depth 1\n{RECURSION}"));
        assert_eq!(calls(&limited, &function(&limited), 1000).map(|calls| calls.functions), Some(1));
        let in_place = program(INLINED);
        assert_eq!(calls(&in_place, &function(&in_place), 1000), None);
    }
}
