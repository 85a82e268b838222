//! Native code, and its execution. No other module executes native code. The execution relies on properties that the
//! Rust compiler can't check; a comment states why each of these properties holds.
//!
//! Cranelift's JIT library owns the memory of the code. The library first writes the code, and then makes the memory
//! executable and read-only.
#![allow(unsafe_code)]

use std::mem::transmute;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use reviver_compile::backend::{Code, GroupCode, GroupJob, GroupOutcome};
use reviver_compile::run::{CodeOutcome, Counts, Job};
use reviver_vm::differentiate::group::{GROUP, GroupEvidence};

use crate::context::{CodeContext, GroupContext};

/// Function type of native code: see [`crate::translate::signature`].
type NativeFunction = extern "C" fn(&mut CodeContext) -> i64;

/// Native code of an SSA function.
#[derive(Debug)]
pub struct Native {
    entry: NativeFunction,
    fraction_bits: u32,
    _code: OwnedCode,
}

/// Owner of the memory of native code. The memory stays allocated as long as the code may be executed.
struct OwnedCode(Option<JITModule>);

impl std::fmt::Debug for OwnedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("native code")
    }
}

// SAFETY: after the code is finished, nothing changes or reads the module until the module is dropped, which happens
// only once. No method takes the module by reference, and the code itself is only read.
unsafe impl Sync for OwnedCode {}

impl Drop for OwnedCode {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the only pointer into this memory is the `entry`, if it exists, which is dropped together with
            // the memory. No call of the `entry` is in progress, because a call borrows the `Native` or `NativeGroup`
            // that owns the `entry` and the memory.
            unsafe { module.free_memory() }
        }
    }
}

/// Frees the memory of a module. The caller ensures that code of the module was never executed.
pub fn discard(module: JITModule) {
    drop(OwnedCode(Some(module)));
}

impl Native {
    /// Wraps a function that was defined and finalized in a module.
    pub fn new(module: JITModule, function: FuncId, fraction_bits: u32) -> Native {
        let address = module.get_finalized_function(function);
        // SAFETY: the function was translated with the signature of `NativeFunction`: it takes one pointer and returns
        // a 64-bit integer, in the calling convention of the host, which is that of `extern "C"`.
        let entry = unsafe { transmute::<*const u8, NativeFunction>(address) };
        Native { entry, fraction_bits, _code: OwnedCode(Some(module)) }
    }
}

impl Code for Native {
    /// Runs the code once. The code accesses memory without bounds checks, at addresses that the function computes. As
    /// in the interpreter, each address belongs to a cell that exists, for these reasons:
    ///
    /// - Literal addresses belong to static cells, or to the frames of callees, for which space was allocated.
    /// - Indices are checked.
    /// - Inputs come from a state that was checked to fit the program.
    /// - Each real has an adjoint if the function has a step that accesses an adjoint.
    /// - Without a machine, the memory has as many cells as a state of the program, plus the cells that the function
    ///   demands in addition. The number of cells is checked before each run.
    /// - The start cells are the cells of a state that fits the program.
    /// - A call function has a word for each of its results.
    fn run(&self, Job { inputs, cells, left, watcher, evidence }: Job) -> CodeOutcome {
        let mut context = CodeContext {
            ints: cells.ints.as_mut_ptr(),
            reals: cells.reals.as_mut_ptr(),
            adjoints: cells.adjoints.as_mut_ptr(),
            references: cells.references.as_mut_ptr(),
            start_ints: cells.start_ints.as_ptr(),
            start_reals: cells.start_reals.as_ptr(),
            results: cells.results.as_mut_ptr(),
            inputs: inputs.as_ptr(),
            fraction_bits: self.fraction_bits,
            freed: watcher.as_ref().map(|watcher| watcher.freed_so_far()).unwrap_or_default(),
            ..CodeContext::begun(left, watcher.as_deref())
        };
        context.watcher = watcher;
        if (self.entry)(&mut context) == crate::translate::FAILED {
            return CodeOutcome::Failed;
        }
        if let Some(watcher) = &mut context.watcher {
            watcher.marked(context.marks);
            watcher.has_error(context.freed.error);
        }
        if let Some(evidence) = evidence {
            *evidence = context.evidence;
        }
        let CodeContext { erased_bits, discarded_bits, drops, calls, exit, budget, primal_steps, .. } =
            context;
        let counts = Counts { erased_bits, discarded_bits, drops, calls };
        let steps = primal_steps + (budget - context.left);
        CodeOutcome::Exit { exit, steps, primal_steps, counts }
    }
}

/// Function type of native code for a SIMD group.
type NativeGroupFunction = extern "C" fn(&mut GroupContext) -> i64;

/// Native code of a call function for a SIMD group.
#[derive(Debug)]
pub struct NativeGroup {
    entry: NativeGroupFunction,
    /// True if the code marks branches. Marks and step counts of both sweeps are then compared.
    is_watched: bool,
    _code: OwnedCode,
}

impl NativeGroup {
    /// Wraps a function that was defined and finalized in a module.
    pub fn new(module: JITModule, function: FuncId, is_watched: bool) -> NativeGroup {
        let address = module.get_finalized_function(function);
        // SAFETY: as in `Native::new`. The function's only argument is a pointer to a `GroupContext`, for which the
        // function was translated.
        let entry = unsafe { transmute::<*const u8, NativeGroupFunction>(address) };
        NativeGroup { entry, is_watched, _code: OwnedCode(Some(module)) }
    }
}

impl GroupCode for NativeGroup {
    /// Runs the code once. As for one lane ([`Native::run`]), each address belongs to a cell that exists. The memory
    /// has as many cells as the function demands, which is checked before each run. Each cell has a number for every
    /// lane. The memory has the adjoints of each row, and the evidence has the errors of each row.
    fn run(&self, job: GroupJob) -> GroupOutcome {
        let mut context = GroupContext {
            lane: CodeContext {
                ints: job.ints.as_mut_ptr().cast(),
                reals: job.reals.as_mut_ptr().cast(),
                adjoints: job.adjoints.as_mut_ptr().cast(),
                start_ints: job.start_ints.as_ptr().cast(),
                start_reals: job.start_reals.as_ptr().cast(),
                results: job.results.as_mut_ptr().cast(),
                // Number of the last interval, if the first interval has number 0. The choice of the first number
                // doesn't matter, because only differences of marks count.
                last_interval: job.left as i64 - 1,
                per_step_left: -1,
                ..CodeContext::begun(job.left, None)
            },
            evidence: GroupEvidence::default(),
            conditions: 0,
        };
        if (self.entry)(&mut context) == crate::translate::FAILED {
            return failure(context.conditions);
        }
        *job.evidence = context.evidence;
        let CodeContext { marks, budget, left, primal_steps, .. } = context.lane;
        GroupOutcome::Finished {
            has_same_path: !self.is_watched || marks == 0 && budget - left == primal_steps,
        }
    }
}

/// Returns the outcome of a group that was abandoned, from [`GroupContext::conditions`].
fn failure(conditions: u64) -> GroupOutcome {
    let of_first = if conditions & 1 == 0 { 0 } else { u64::MAX };
    match (conditions ^ of_first).trailing_zeros() as usize {
        first @ 1..GROUP if conditions != 0 => GroupOutcome::Diverged(first),
        _ => GroupOutcome::Failed,
    }
}
