//! Native code, and the one place where it is run. Everything here that a compiler of Rust can't check says why it holds.
//!
//! The memory of code is the library's, which first writes it and then makes it executable and no longer writable.
#![allow(unsafe_code)]

use std::mem::transmute;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use reviver_compile::backend::{Code, GroupCode, GroupJob, GroupOutcome};
use reviver_compile::run::{CodeOutcome, Counts, Job};
use reviver_vm::differentiate::group::{GROUP, GroupEvidence};

use crate::context::{CodeContext, GroupContext};

/// The type that every form's code has: see [`crate::translate::signature`].
type FormCode = extern "C" fn(&mut CodeContext) -> i64;

/// The code of a form.
#[derive(Debug)]
pub struct Native {
    entry: FormCode,
    fraction_bits: u32,
    _code: OwnedCode,
}

/// Memory that lives as long as the code in it may be run.
struct OwnedCode(Option<JITModule>);

impl std::fmt::Debug for OwnedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("native code")
    }
}

// SAFETY: once the code is finished nothing changes the module, or looks at it, until it is dropped, which happens once; there is
// no method that takes it by reference, and the code itself is only read.
unsafe impl Sync for OwnedCode {}

impl Drop for OwnedCode {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the only pointer into this memory, if there is one, is the `entry` that is dropped with it, and no call of
            // it is under way, because a call borrows the `Native` that owns both.
            unsafe { module.free_memory() }
        }
    }
}

/// Gives the memory of a module back whose code was never run.
pub fn discard(module: JITModule) {
    drop(OwnedCode(Some(module)));
}

impl Native {
    /// The code of a function that a module has finished.
    pub fn new(module: JITModule, function: FuncId, fraction_bits: u32) -> Native {
        let address = module.get_finalized_function(function);
        // SAFETY: the function was translated with the signature of `FormCode`: one pointer, and an integer of 64 bits back,
        // in the calling convention of the host, which is that of `extern "C"`.
        let entry = unsafe { transmute::<*const u8, FormCode>(address) };
        Native { entry, fraction_bits, _code: OwnedCode(Some(module)) }
    }
}

impl Code for Native {
    /// The addresses that a form computes are those of cells that a verified program has, as the interpreter's are: literals
    /// lie within the static cells, or the frames of callees that room was made for, indices are checked, inputs come from a
    /// state that was found to be the program's, and each real has an adjoint where the form has a step that looks at one. Cells without a
    /// machine are as many as such a state has, and what the form demands besides, which is looked at before each run. The cells of the start
    /// are those of such a state, and a call function has a word for each of its results.
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

/// The type of code for a group.
type GroupFormCode = extern "C" fn(&mut GroupContext) -> i64;

/// The code of a form for a group.
#[derive(Debug)]
pub struct NativeGroup {
    entry: GroupFormCode,
    /// True if branches are marked, and steps counted for comparison.
    is_watched: bool,
    _code: OwnedCode,
}

impl NativeGroup {
    /// The code of a function that a module has finished.
    pub fn new(module: JITModule, function: FuncId, is_watched: bool) -> NativeGroup {
        let address = module.get_finalized_function(function);
        // SAFETY: as in `Native::new`; the one pointer is that of a `GroupContext`.
        let entry = unsafe { transmute::<*const u8, GroupFormCode>(address) };
        NativeGroup { entry, is_watched, _code: OwnedCode(Some(module)) }
    }
}

impl GroupCode for NativeGroup {
    /// Addresses are those of cells, as for one lane ([`Native::run`]): a room has as many of them as the form demands, which is looked at before each run, each
    /// with a number for every lane, and of adjoints for every row; so there are errors.
    fn run(&self, job: GroupJob) -> GroupOutcome {
        let mut context = GroupContext {
            lane: CodeContext {
                ints: job.ints.as_mut_ptr().cast(),
                reals: job.reals.as_mut_ptr().cast(),
                adjoints: job.adjoints.as_mut_ptr().cast(),
                start_ints: job.start_ints.as_ptr().cast(),
                start_reals: job.start_reals.as_ptr().cast(),
                results: job.results.as_mut_ptr().cast(),
                // The number of the last interval; only differences of marks count.
                last_interval: job.left as i64 - 1,
                per_step_left: -1,
                ..CodeContext::begun(job.left, None)
            },
            evidence: GroupEvidence::default(),
            ways: 0,
        };
        if (self.entry)(&mut context) == crate::translate::FAILED {
            return failure(context.ways);
        }
        *job.evidence = context.evidence;
        let CodeContext { marks, budget, left, primal_steps, .. } = context.lane;
        GroupOutcome::Arrived { is_same_way: !self.is_watched || marks == 0 && budget - left == primal_steps }
    }
}

/// What a group has come to that was given up where its lanes take these ways, if they part there.
fn failure(ways: u64) -> GroupOutcome {
    let of_first = if ways & 1 == 0 { 0 } else { u64::MAX };
    match (ways ^ of_first).trailing_zeros() as usize {
        first @ 1..GROUP if ways != 0 => GroupOutcome::Parted(first),
        _ => GroupOutcome::Failed,
    }
}
