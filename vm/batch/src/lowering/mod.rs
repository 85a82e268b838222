//! Rewrites a shader for a device without 64-bit integers, or for a driver that may rearrange sums. The emitter writes
//! each shader with `i64` and `u64`; only this module handles devices without these types. It traverses the module that
//! naga has parsed, and writes new WGSL, which naga parses again. This module is independent of devices and of the
//! computations in shaders.
//!
//! - 64-bit integers become `vec2<u32>`, the low word first, so that buffers have the same bytes. Operations on them
//!   become calls.
//! - Results that a driver may rearrange become opaque: their bits are combined, by an exclusive or, with a word of a
//!   buffer. The word is 0, but its value is unknown to drivers.
//! - Quotients, square roots and comparisons of 32-bit floats become calls if the device's own operations are inexact.
//!
//! Only constructs that shaders of this crate use have a lowering. For any other construct, the rewriting fails with an
//! error that describes the construct.
//!
//! | module | contents |
//! |---|---|
//! | `choice` | the choice of a lowering |
//! | `types` | types and literals |
//! | `integers` | operations on 64-bit integers as calls |
//! | `expressions`, `statements` | rewriting of a function |
//! | `pairs`, `singles` | the helper functions that are called |
//! | `functions` | selection of the helper functions that a text needs |

mod choice;
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

pub(crate) use self::choice::{LoweredIntegers, LoweredResults, Lowering};
pub(crate) use self::singles::LoweredSingles;
use self::statements::FunctionWriter;
use self::types::{LoweredTypes, global_name, refused};
use crate::error::BatchError;
use crate::valid::{ValidShader, WideTypes};

/// Rewrites a shader for a device.
///
/// # Errors
///
/// Returns [`BatchError::Shader`] for an invalid text, and for constructs that have no lowering.
pub(crate) fn lowered(wgsl: &str, lowering: Lowering) -> Result<Cow<'_, str>, BatchError> {
    if lowering.keeps_texts() {
        return Ok(Cow::Borrowed(wgsl));
    }
    let valid = ValidShader::of(wgsl, WideTypes { floats: true, integers: true })?;
    let writer = ModuleWriter { valid: &valid, types: LoweredTypes::new(valid.module(), lowering) };
    Ok(Cow::Owned(writer.text()?))
}

/// The number of the binding of the constants, in group 0. The first word of the constants is 0.
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

    /// Returns an expression for the low half of the constant word that is 0.
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
