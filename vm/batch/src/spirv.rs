//! Translates a valid shader to SPIR-V with arithmetic that no driver may rearrange. This module is independent of
//! devices and of the computations in shaders.
//!
//! Drivers simplify sums as if they were exact, unless each result is decorated with `NoContraction`. naga doesn't
//! write that decoration, so this module inserts it. Execution modes for 32-bit floats (`SPV_KHR_float_controls`) are
//! inserted, too, for devices that support them.

use std::collections::BTreeSet;

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use crate::error::BatchError;
use crate::float_controls::FloatControls;
use crate::valid::ValidShader;

/// SPIR-V that naga wrote for a valid shader, with its arithmetic decorated. Only [`Spirv::of`] constructs it.
#[derive(Clone, Debug)]
pub(crate) struct Spirv {
    words: Vec<u32>,
}

impl Spirv {
    /// Writes and decorates the SPIR-V of a valid shader.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Shader`] with the message of naga's writer.
    pub fn of(shader: &ValidShader, controls: FloatControls) -> Result<Self, BatchError> {
        let written = spv::write_vec(shader.module(), shader.info(), &options(), None)
            .map_err(|error| BatchError::Shader(error.to_string()))?;
        match controlled(&written, controls).as_deref().and_then(decorated) {
            Some(words) => Ok(Self { words }),
            None => Err(BatchError::Shader("the output of naga's writer isn't valid SPIR-V".to_owned())),
        }
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

/// Returns the options of naga's writer. Indices are clamped to their bindings, so that no shader accesses other
/// memory. The writer needn't bound loops, because lanes leave their loops after their permitted iterations.
fn options() -> spv::Options<'static> {
    spv::Options {
        lang_version: (1, 0),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        force_loop_bounding: false,
        ..spv::Options::default()
    }
}

/// Number of words before the first instruction.
const HEADER: usize = 5;
const EXT_INST: u32 = 12;
const DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;
/// Opcodes of `OpFNegate`, `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpFRem`, `OpFMod`.
const ARITHMETIC: [u32; 7] = [127, 129, 131, 133, 136, 140, 141];
/// Opcodes of conversions between floats and integers. Without the decoration, Mesa turns `f32(i32(x))` into a
/// rounding that keeps the sign of zero.
const CONVERSIONS: [u32; 4] = [109, 110, 111, 112];
/// Numbers of `Sqrt`, `InverseSqrt` and `Fma` in the only set of extended instructions that naga imports.
const EXTENDED_ARITHMETIC: [u32; 3] = [31, 32, 50];
/// Opcodes of the sections before annotations: capabilities, extensions, imports, the memory model, entry points, their
/// execution modes, and debug information.
const BEFORE_ANNOTATIONS: [u32; 14] = [17, 10, 11, 14, 15, 16, 331, 2, 3, 4, 5, 6, 7, 330];

const CAPABILITY: u32 = 17;
const EXTENSION: u32 = 10;
const EXT_INST_IMPORT: u32 = 11;
const MEMORY_MODEL: u32 = 14;
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
/// Execution mode that preserves subnormal numbers, with its capability.
const DENORM_PRESERVE: FloatMode = FloatMode { mode: 4459, capability: 4464 };
/// Execution mode that rounds to nearest, ties to even, with its capability.
const ROUNDING_MODE_RTE: FloatMode = FloatMode { mode: 4462, capability: 4467 };
const FLOAT_CONTROLS: &str = "SPV_KHR_float_controls";
/// Opcodes of the sections before extensions.
const BEFORE_EXTENSIONS: [u32; 1] = [CAPABILITY];
/// Opcodes of the sections before execution modes.
const BEFORE_MODES: [u32; 5] = [CAPABILITY, EXTENSION, EXT_INST_IMPORT, MEMORY_MODEL, ENTRY_POINT];

#[derive(Clone, Copy, Debug)]
struct FloatMode {
    mode: u32,
    capability: u32,
}

/// One instruction, with the index of its first word.
struct SpirvInstruction<'a> {
    at: usize,
    code: u32,
    operands: &'a [u32],
}

/// Returns the instructions of a module; `None` if an instruction's length exceeds the module.
fn instructions(words: &[u32]) -> Option<Vec<SpirvInstruction<'_>>> {
    let (mut at, mut found) = (HEADER, Vec::new());
    while let Some(&first) = words.get(at) {
        let length = usize::try_from(first >> 16).ok()?;
        let operands = words.get(at + 1..at + length)?;
        found.push(SpirvInstruction { at, code: first & 0xffff, operands });
        at += length;
    }
    Some(found)
}

/// Returns the result of an instruction if it is float arithmetic. Operand 0 is the type, operand 1 the result. In an
/// extended instruction, operands 2 and 3 are the instruction set and the number of the instruction in the set.
fn arithmetic_result(instruction: &SpirvInstruction<'_>) -> Option<u32> {
    let is_arithmetic = match instruction.code {
        EXT_INST => instruction.operands.get(3).is_some_and(|number| EXTENDED_ARITHMETIC.contains(number)),
        code => ARITHMETIC.contains(&code) || CONVERSIONS.contains(&code),
    };
    if is_arithmetic { instruction.operands.get(1).copied() } else { None }
}

/// Encodes a string as words of SPIR-V: its bytes and a terminating 0, padded to whole words.
fn string_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytemuck::pod_collect_to_vec(&bytes)
}

/// Encodes an instruction as words.
fn instruction(code: u32, operands: &[u32]) -> Vec<u32> {
    let length = operands.len() as u32 + 1;
    std::iter::once(length << 16 | code).chain(operands.iter().copied()).collect()
}

/// Inserts words before the first instruction with an opcode that isn't in `before`.
fn inserted(words: &[u32], before: &[u32], added: &[u32]) -> Option<Vec<u32>> {
    let instructions = instructions(words)?;
    let first = instructions.iter().find(|instruction| !before.contains(&instruction.code));
    let (front, back) = words.split_at_checked(first.map_or(words.len(), |instruction| instruction.at))?;
    Some([front, added, back].concat())
}

/// Adds execution modes for 32-bit floats to all entry points of a module.
fn controlled(words: &[u32], controls: FloatControls) -> Option<Vec<u32>> {
    let FloatControls { keep_subnormals, round_to_nearest } = controls;
    let wanted = [(keep_subnormals, DENORM_PRESERVE), (round_to_nearest, ROUNDING_MODE_RTE)];
    let wanted = wanted.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, mode)| *mode);
    let modes: Vec<FloatMode> = wanted.collect();
    if modes.is_empty() {
        return Some(words.to_vec());
    }
    let capabilities: Vec<u32> =
        modes.iter().flat_map(|mode| instruction(CAPABILITY, &[mode.capability])).collect();
    let with_capabilities = inserted(words, &[], &capabilities)?;
    let name = instruction(EXTENSION, &string_words(FLOAT_CONTROLS));
    let with_extension = inserted(&with_capabilities, &BEFORE_EXTENSIONS, &name)?;
    let of_entry =
        |entry: u32| modes.iter().flat_map(move |mode| instruction(EXECUTION_MODE, &[entry, mode.mode, 32]));
    let entries = instructions(words)?.into_iter().filter(|instruction| instruction.code == ENTRY_POINT);
    let of_entries = entries.filter_map(|entry| entry.operands.get(1).copied()).flat_map(of_entry);
    inserted(&with_extension, &BEFORE_MODES, &of_entries.collect::<Vec<_>>())
}

/// Decorates each arithmetic result of a module, before its other annotations.
fn decorated(words: &[u32]) -> Option<Vec<u32>> {
    let results: BTreeSet<u32> = instructions(words)?.iter().filter_map(arithmetic_result).collect();
    let decorations: Vec<u32> =
        results.iter().flat_map(|&result| instruction(DECORATE, &[result, NO_CONTRACTION])).collect();
    inserted(words, &BEFORE_ANNOTATIONS, &decorations)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::valid::WideTypes;

    const ALL: WideTypes = WideTypes { floats: true, integers: true };

    const SUMS: &str = "
        @group(0) @binding(0) var<storage, read_write> cells: array<f64>;
        fn half(x: f64) -> f64 { return -x / cells[3]; }
        @compute @workgroup_size(1) fn main() {
            cells[0] = (cells[1] + cells[2]) - cells[2] * half(cells[4]) + sqrt(cells[5]) % cells[6];
            cells[7] = f64(cells[8] < cells[9]);
            cells[10] = f64(i64(cells[11]));
        }";

    fn spirv() -> Spirv {
        Spirv::of(&ValidShader::of(SUMS, ALL).unwrap(), FloatControls::NONE).unwrap()
    }

    #[test]
    fn each_arithmetic_result_is_decorated_once() {
        let spirv = spirv();
        let all = instructions(spirv.words()).unwrap();
        let mut decorations = BTreeMap::new();
        for instruction in &all {
            if instruction.code == DECORATE && instruction.operands.get(1) == Some(&NO_CONTRACTION) {
                *decorations.entry(instruction.operands[0]).or_insert(0) += 1;
            }
        }
        let results: Vec<u32> = all.iter().filter_map(arithmetic_result).collect();
        // The results are a sum, at least two more sums or differences, a product, a negation, a quotient, a root, a
        // remainder, and two conversions.
        assert!(results.len() >= 10, "{results:?}");
        assert_eq!(decorations.len(), results.len());
        assert!(results.iter().all(|result| decorations.get(result) == Some(&1)));
    }

    #[test]
    fn decorations_are_among_the_annotations() {
        let spirv = spirv();
        let all = instructions(spirv.words()).unwrap();
        let first = all.iter().position(|instruction| instruction.code == DECORATE).unwrap();
        assert!(all[..first].iter().all(|instruction| BEFORE_ANNOTATIONS.contains(&instruction.code)));
        assert!(all[first..].iter().all(|instruction| !BEFORE_ANNOTATIONS.contains(&instruction.code)));
    }

    #[test]
    fn other_instructions_are_unchanged() {
        let valid = ValidShader::of(SUMS, ALL).unwrap();
        let written = spv::write_vec(valid.module(), valid.info(), &options(), None).unwrap();
        let ours = spirv();
        let is_ours = |instruction: &&SpirvInstruction<'_>| {
            instruction.code == DECORATE && instruction.operands.get(1) == Some(&NO_CONTRACTION)
        };
        let added = instructions(ours.words()).unwrap().iter().filter(is_ours).count();
        assert_eq!(ours.words().len(), written.len() + 3 * added);
    }

    #[test]
    fn modes_of_floats_are_those_of_every_entry_point() {
        let valid = ValidShader::of(SUMS, ALL).unwrap();
        let [.., controls] = FloatControls::all();
        let controlled = Spirv::of(&valid, controls).unwrap();
        let all = instructions(controlled.words()).unwrap();
        let modes = [DENORM_PRESERVE, ROUNDING_MODE_RTE];
        assert_eq!(
            [all[0].operands, all[1].operands],
            modes.each_ref().map(|mode| std::slice::from_ref(&mode.capability))
        );
        let names = all.iter().filter(|instruction| instruction.code == EXTENSION);
        let mut names = names.map(|name| bytemuck::cast_slice::<u32, u8>(name.operands));
        assert!(names.any(|name| name == b"SPV_KHR_float_controls\0\0"));
        let entry = all.iter().find(|instruction| instruction.code == ENTRY_POINT).unwrap().operands[1];
        for FloatMode { mode, .. } in modes {
            let is_mode = |instruction: &&SpirvInstruction<'_>| {
                instruction.code == EXECUTION_MODE && instruction.operands == [entry, mode, 32]
            };
            assert_eq!(all.iter().filter(is_mode).count(), 1);
        }
        // Each kind of instruction follows those that must precede it.
        let order = [CAPABILITY, EXTENSION, EXT_INST_IMPORT, MEMORY_MODEL, ENTRY_POINT, EXECUTION_MODE];
        let places: Vec<usize> =
            all.iter().map_while(|one| order.iter().position(|code| *code == one.code)).collect();
        assert!(places.is_sorted() && places.last() == Some(&5), "{places:?}");
    }

    #[test]
    fn words_outside_a_module_have_no_instructions() {
        assert!(instructions(&[0; 4]).is_some_and(|all| all.is_empty()));
        assert!(decorated(&[0, 0, 0, 0, 0, 9 << 16 | 17, 1]).is_none());
        // An instruction of length 0 would never be passed.
        assert!(decorated(&[0, 0, 0, 0, 0, 0]).is_none());
    }
}
