//! Native code for programs, made by Cranelift of their SSA forms. What an operation means is said by
//! [`reviver_compile::evaluate`]; functions that are too long to be put in place are the interpreter's own, called. This crate knows no
//! program, no step and no state.
//!
//! | module | what it is |
//! |---|---|
//! | `translate` | from a form to Cranelift's language: integers, reals, memory; `group`, the same for lanes side by side |
//! | `functions` | what native code calls |
//! | `registers` | the choice of a register allocator |
//! | `context`, `native` | what it is given; where it is run, the one file with unsafe code |
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_compile::driver::Driver;
//! use reviver_jit::Jit;
//! use reviver_vm::{Machine, Program, Stop, Travel};
//!
//! let text = ".in n default 1000000\n.out sum\nfor i in 0..n\n    add sum, i\nrof\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let program = Arc::new(Program::new(module, 0).unwrap());
//! let mut machine = Machine::at_begin(program.clone()).unwrap();
//! machine.run_by(Arc::new(Driver::new(&program, Jit::new().unwrap())));
//! assert_eq!(machine.run(Travel::Forward, u64::MAX >> 1), Ok(Stop::Bound));
//! assert_eq!(machine.state().ints[program.flow().layout().globals[1] as usize], 499_999_500_000);
//! ```

mod context;
mod functions;
mod native;
mod registers;
mod translate;

use std::sync::Arc;

use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::{TargetFrontendConfig, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use reviver_compile::backend::{Backend, Code, GroupCode};
use reviver_compile::form::SsaForm;
use reviver_compile::group::form::GroupForm;
use reviver_isa::module::RealSystem;

use native::{Native, NativeGroup};

/// Why there is no native code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no native code for this machine: {0}")]
pub struct NoNativeCode(String);

/// Makes native code for the machine that it runs on.
#[derive(Clone)]
pub struct Jit {
    target: Arc<dyn TargetIsa>,
    /// The same target with the single-pass register allocator.
    single_pass_target: Arc<dyn TargetIsa>,
    /// The same for groups, whose code stays in the order of its form: what is made as late as possible keeps more values alive than there are registers.
    target_of_groups: Arc<dyn TargetIsa>,
}

/// Upper bound on the vectors in the code of a SIMD group.
const MOST_VECTORS: usize = 20_000;

impl std::fmt::Debug for Jit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jit({})", self.target.triple())
    }
}

impl Jit {
    /// For this machine. What it makes is verified where the build has assertions.
    ///
    /// # Errors
    /// Cranelift doesn't know the machine.
    pub fn new() -> Result<Jit, NoNativeCode> {
        let [target, single_pass_target, target_of_groups] =
            [("backtracking", "speed"), ("single_pass", "speed"), ("backtracking", "none")].map(target);
        Ok(Jit {
            target: target?,
            single_pass_target: single_pass_target?,
            target_of_groups: target_of_groups?,
        })
    }

    fn native(&self, form: &SsaForm) -> Option<Native> {
        let fraction_bits = match form.numbers.system {
            RealSystem::Fixed(bits) => bits.into(),
            RealSystem::F64 | RealSystem::F32 => 0,
        };
        let target = if registers::needs_single_pass(form) { &self.single_pass_target } else { &self.target };
        let (module, function) =
            made(target, |function, config| translate::translate(form, function, config))?;
        Some(Native::new(module, function, fraction_bits))
    }
}

/// A function of a form's code, finished. `None` where it can't be made: it is too long, or the system gives no memory that
/// code may be run in.
fn made(
    target: &Arc<dyn TargetIsa>,
    translate: impl FnOnce(&mut Function, TargetFrontendConfig) -> Option<()>,
) -> Option<(JITModule, FuncId)> {
    let builder = JITBuilder::with_isa(target.clone(), default_libcall_names());
    let mut module = JITModule::new(builder);
    match finished(&mut module, translate) {
        Some(function) => Some((module, function)),
        None => {
            native::discard(module);
            None
        }
    }
}

/// This machine, with a way of giving out registers, and how much is done for quick code.
fn target((registers, level): (&str, &str)) -> Result<Arc<dyn TargetIsa>, NoNativeCode> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let wanted = [
        ("opt_level", level),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // A frame of many values touches each of its pages, so that a full stack is noticed at its guard.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("regalloc_algorithm", registers),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| NoNativeCode(error.to_string()))?;
    }
    let host = cranelift_native::builder().map_err(|error| NoNativeCode(error.to_owned()))?;
    host.finish(settings::Flags::new(flags)).map_err(|error| NoNativeCode(error.to_string()))
}

fn finished(
    module: &mut JITModule,
    translate: impl FnOnce(&mut Function, TargetFrontendConfig) -> Option<()>,
) -> Option<FuncId> {
    let mut context = module.make_context();
    let config = module.target_config();
    context.func.signature = translate::signature(config);
    translate(&mut context.func, config)?;
    let function = module.declare_function("form", Linkage::Local, &context.func.signature).ok()?;
    module.define_function(function, &mut context).ok()?;
    module.finalize_definitions().ok()?;
    Some(function)
}

impl Backend for Jit {
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>> {
        Some(Box::new(self.native(&form)?))
    }

    fn compile_group(&self, form: &GroupForm) -> Option<Box<dyn GroupCode>> {
        // Where bytes lie the other way round, so do the lanes of a vector.
        if cfg!(target_endian = "big") {
            return None;
        }
        // Its frame would take too much of a stack, and its registers too much time.
        if translate::vectors_of(form) > MOST_VECTORS {
            return None;
        }
        let (module, function) = made(&self.target_of_groups, |function, config| {
            translate::translate_for_group(form, function, config)
        })?;
        Some(Box::new(NativeGroup::new(module, function, form.form().version.is_watched)))
    }
}
