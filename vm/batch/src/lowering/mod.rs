//! From a shader's text to the same shader for a device that has no integers of 64 bits, or whose driver may rewrite sums. Texts are written
//! once, with `i64` and `u64`; this is the one place that knows that some devices have none. It goes through what naga has read, and writes
//! WGSL again, which naga reads again. Knows no device, and nothing of what a shader is for.
//!
//! - Integers of 64 bits become `vec2<u32>`, the lower word first, so that buffers are the same bytes; operations on them become calls.
//! - Results that a driver may rewrite become opaque: their bits go through an exclusive or with a word of a buffer which is 0, which
//!   no driver knows.
//! - Quotients, square roots and comparisons of floats of 32 bits become calls where the device's own aren't right.
//!
//! Only what shaders of this crate say has a lowering. Everything else is refused in words.
//!
//! | module | what it is |
//! |---|---|
//! | `types` | types and literals |
//! | `integers` | operations on integers of 64 bits as calls |
//! | `expressions`, `statements` | a function, written anew |
//! | `pairs`, `singles` | the functions that are called |
//! | `functions` | which of them a text needs |

mod expressions;
mod functions;
mod integers;
mod pairs;
mod singles;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;
use std::fmt::Write as _;

use naga::{
    AddressSpace, BuiltIn, EntryPoint, Function, FunctionArgument, GlobalVariable, Handle, ShaderStage,
};
use naga::{Binding, ResourceBinding, StorageAccess, TypeInner};

pub(crate) use self::singles::LoweredSingles;
use self::statements::FunctionWriter;
use self::types::{LoweredTypes, global_name, refused};
use crate::error::BatchError;
use crate::float_controls::FloatControls;
use crate::valid::{ValidShader, WideTypes};

/// How a device carries out integers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredIntegers {
    /// It has them.
    Native,
    /// As pairs of words of 32 bits.
    Pairs,
}

/// What keeps a driver from rewriting arithmetic on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredResults {
    /// It takes SPIR-V as it is, in which each result has a decoration that forbids it.
    Decorated,
    /// Each result goes through an operation that it can't see through.
    Opaque,
}

/// How a shader's text becomes what a device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lowering {
    pub integers: LoweredIntegers,
    pub results: LoweredResults,
    pub singles: LoweredSingles,
    /// What the shader says of floats of 32 bits, where results are decorated.
    pub controls: FloatControls,
}

impl Lowering {
    /// Which numbers of 64 bits are left.
    pub fn wide(self, floats: bool) -> WideTypes {
        WideTypes { floats, integers: self.integers == LoweredIntegers::Native }
    }

    /// A text as it is, for a device of which nothing more is known.
    #[cfg(test)]
    pub const PLAIN: Lowering = Lowering {
        integers: LoweredIntegers::Native,
        results: LoweredResults::Decorated,
        singles: LoweredSingles::Native,
        controls: FloatControls::NONE,
    };

    /// All that there are.
    pub fn all() -> impl Iterator<Item = Lowering> {
        let with = |integers, results| {
            let of_singles = move |singles| {
                FloatControls::all().map(|controls| Lowering { integers, results, singles, controls })
            };
            LoweredSingles::ALL.into_iter().flat_map(of_singles)
        };
        let all = [LoweredIntegers::Native, LoweredIntegers::Pairs];
        let both =
            |integers| [LoweredResults::Decorated, LoweredResults::Opaque].map(|results| (integers, results));
        all.into_iter().flat_map(both).flat_map(move |(integers, results)| with(integers, results))
    }

    /// Other ways to compute with floats of 32 bits, the fastest first, for a device that doesn't get them right itself. Where results must be
    /// opaque, so must those of multiply-adds.
    pub fn with_other_singles(self) -> impl Iterator<Item = Lowering> {
        let is_opaque = self.results == LoweredResults::Opaque;
        let fits = move |singles: &LoweredSingles| match singles {
            LoweredSingles::Native => false,
            LoweredSingles::Compared | LoweredSingles::Fused => !is_opaque,
            LoweredSingles::Whole => true,
        };
        LoweredSingles::ALL.into_iter().filter(fits).map(move |singles| Lowering { singles, ..self })
    }

    /// Whether a text stays as it is.
    fn keeps_texts(self) -> bool {
        self.integers == LoweredIntegers::Native
            && self.results == LoweredResults::Decorated
            && self.singles == LoweredSingles::Native
    }

    /// What there is to say of it, in the user's words.
    pub fn answers(self) -> [(&'static str, &'static str); 4] {
        let integers = match self.integers {
            LoweredIntegers::Native => "i64",
            LoweredIntegers::Pairs => "i64 on pairs of 32-bit words",
        };
        let results = match self.results {
            LoweredResults::Decorated => "decorated, so that the driver rewrites none",
            LoweredResults::Opaque => "made opaque, so that the driver rewrites none",
        };
        [
            ("integers", integers),
            ("results of floats", results),
            ("operations on f32", self.singles.answer()),
            ("modes of f32", self.controls.answer()),
        ]
    }
}

/// The shader for a device.
///
/// # Errors
///
/// [`BatchError::Shader`] for a text that isn't one, and for what has no lowering.
pub(crate) fn lowered(wgsl: &str, lowering: Lowering) -> Result<Cow<'_, str>, BatchError> {
    if lowering.keeps_texts() {
        return Ok(Cow::Borrowed(wgsl));
    }
    let valid = ValidShader::of(wgsl, WideTypes { floats: true, integers: true })?;
    let writer = ModuleWriter { valid: &valid, types: LoweredTypes::new(valid.module(), lowering) };
    Ok(Cow::Owned(writer.text()?))
}

/// The buffer whose first word is 0, in group 0.
const CONSTANTS: u32 = 1;

struct ModuleWriter<'a> {
    valid: &'a ValidShader,
    types: LoweredTypes<'a>,
}

impl ModuleWriter<'_> {
    fn text(&self) -> Result<String, BatchError> {
        let (module, info) = (self.valid.module(), self.valid.info());
        if !module.overrides.is_empty() {
            return Err(refused("an override"));
        }
        let mut text = self.structs()?;
        for (handle, global) in module.global_variables.iter() {
            text.push_str(&self.global(handle, global)?);
        }
        for (handle, function) in module.functions.iter() {
            let mut writer = FunctionWriter::new(&self.types, function, &info[handle]);
            writer.body()?;
            let name = types::function_name(module, handle);
            text.push_str(&self.function(&name, function, &writer.text())?);
        }
        for (number, entry) in module.entry_points.iter().enumerate() {
            let mut writer = FunctionWriter::new(&self.types, &entry.function, info.get_entry_point(number));
            if self.types.lowering.results == LoweredResults::Opaque {
                writer.line(&format!("{} = {};", pairs::OPAQUE_ZERO, self.zero()?));
            }
            writer.body()?;
            text.push_str(&self.entry(entry, &writer.text())?);
        }
        Ok(format!("{}{text}", functions::needed(&text)))
    }

    fn structs(&self) -> Result<String, BatchError> {
        let mut text = String::new();
        for (handle, kind) in self.valid.module().types.iter() {
            let TypeInner::Struct { members, .. } = &kind.inner else { continue };
            let _ = writeln!(text, "struct {} {{", self.types.name(handle)?);
            for (number, member) in members.iter().enumerate() {
                let _ = writeln!(text, "    m{number}: {},", self.types.name(member.ty)?);
            }
            text.push_str("}\n");
        }
        Ok(text)
    }

    fn global(&self, handle: Handle<GlobalVariable>, global: &GlobalVariable) -> Result<String, BatchError> {
        let (name, of) = (global_name(self.valid.module(), handle), self.types.name(global.ty)?);
        let space = match global.space {
            AddressSpace::Private => "private",
            AddressSpace::Storage { access } if access == StorageAccess::LOAD => "storage, read",
            AddressSpace::Storage { .. } => "storage, read_write",
            other => return Err(refused(&format!("a variable in {other:?}"))),
        };
        let bound = match global.binding {
            Some(ResourceBinding { group, binding }) => format!("@group({group}) @binding({binding}) "),
            None => String::new(),
        };
        let first = match global.init {
            Some(init) => format!(" = {}", self.types.constant(init)?),
            None => String::new(),
        };
        Ok(format!("{bound}var<{space}> {name}: {of}{first};\n"))
    }

    /// The lower half of the word that is 0.
    fn zero(&self) -> Result<String, BatchError> {
        let module = self.valid.module();
        let place = Some(ResourceBinding { group: 0, binding: CONSTANTS });
        let found = module.global_variables.iter().find(|(_, global)| global.binding == place);
        let Some((handle, _)) = found else { return Err(refused("a shader without a buffer of constants")) };
        let word = format!("{}[0]", global_name(module, handle));
        Ok(match self.types.lowering.integers {
            LoweredIntegers::Native => format!("u32({word})"),
            LoweredIntegers::Pairs => format!("{word}.x"),
        })
    }

    fn function(&self, name: &str, function: &Function, body: &str) -> Result<String, BatchError> {
        let arguments = self.arguments(&function.arguments)?;
        let gives = match &function.result {
            Some(result) => format!(" -> {}", self.types.name(result.ty)?),
            None => String::new(),
        };
        Ok(format!("fn {name}({arguments}){gives} {{\n{body}}}\n"))
    }

    fn entry(&self, entry: &EntryPoint, body: &str) -> Result<String, BatchError> {
        if entry.stage != ShaderStage::Compute {
            return Err(refused(&format!("an entry point for {:?}", entry.stage)));
        }
        let [x, y, z] = entry.workgroup_size;
        let function = self.function(&entry.name, &entry.function, body)?;
        Ok(format!("@compute @workgroup_size({x}, {y}, {z})\n{function}"))
    }

    fn arguments(&self, arguments: &[FunctionArgument]) -> Result<String, BatchError> {
        let of_one = |(number, argument): (usize, &FunctionArgument)| {
            let of = self.types.name(argument.ty)?;
            let bound = match &argument.binding {
                None => String::new(),
                Some(Binding::BuiltIn(what)) => format!("@builtin({}) ", built_in(*what)?),
                Some(Binding::Location { .. }) => return Err(refused("an argument with a location")),
            };
            Ok(format!("{bound}p{number}: {of}"))
        };
        Ok(arguments.iter().enumerate().map(of_one).collect::<Result<Vec<_>, BatchError>>()?.join(", "))
    }
}

fn built_in(what: BuiltIn) -> Result<&'static str, BatchError> {
    match what {
        BuiltIn::WorkGroupId => Ok("workgroup_id"),
        BuiltIn::NumWorkGroups => Ok("num_workgroups"),
        BuiltIn::LocalInvocationIndex => Ok("local_invocation_index"),
        other => Err(refused(&format!("the built-in {other:?}"))),
    }
}
