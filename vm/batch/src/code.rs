//! A shader in the form that a device is given. Knows no device, and nothing of what a shader is for.

use crate::error::BatchError;
use crate::loops::uncounted_rounds;
use crate::lowering::{LoweredResults, Lowering, lowered};
use crate::spirv::Spirv;
use crate::valid::ValidShader;

/// What a device is given of a shader.
#[derive(Clone, Debug)]
pub(crate) enum ShaderForm {
    /// As its driver takes it.
    Spirv(Spirv),
    /// For wgpu, which looks through it again and writes what the driver takes.
    Wgsl(String),
}

/// A shader for a device, and how many rounds it makes that nobody counts.
#[derive(Clone, Debug)]
pub(crate) struct ShaderCode {
    pub form: ShaderForm,
    /// See [`uncounted_rounds`].
    pub uncounted_rounds: u32,
}

impl ShaderCode {
    /// `floats` is whether the device has those of 64 bits.
    ///
    /// # Errors
    ///
    /// [`BatchError::Shader`] with naga's message and the line of the text that it is about, and for what has no lowering.
    pub fn of(wgsl: &str, lowering: Lowering, floats: bool, helper_rounds: u32) -> Result<Self, BatchError> {
        let text = lowered(wgsl, lowering)?;
        let valid = ValidShader::of(&text, lowering.wide(floats))?;
        let helper_rounds = helper_rounds.max(lowering.singles.rounds());
        let uncounted_rounds = uncounted_rounds(valid.module(), helper_rounds);
        let form = match lowering.results {
            LoweredResults::Decorated => ShaderForm::Spirv(Spirv::of(&valid, lowering.controls)?),
            LoweredResults::Opaque => ShaderForm::Wgsl(text.into_owned()),
        };
        Ok(Self { form, uncounted_rounds })
    }
}
