//! Translation of a shader to the code that a device accepts. This module needs no opened device, and is independent of
//! the computations in shaders.

use crate::error::BatchError;
use crate::loops::uncounted_iterations;
use crate::lowering::{LoweredResults, Lowering, lowered};
use crate::spirv::Spirv;
use crate::valid::ValidShader;

/// Code of a shader for a device.
#[derive(Clone, Debug)]
pub(crate) enum ShaderSource {
    /// SPIR-V that the driver gets unchanged.
    Spirv(Spirv),
    /// WGSL for wgpu, which validates it again and translates it for the driver.
    Wgsl(String),
}

/// A shader's code for a device, with a bound on its uncounted loop iterations.
#[derive(Clone, Debug)]
pub(crate) struct ShaderCode {
    pub source: ShaderSource,
    /// Upper bound on loop iterations that a lane doesn't count; see [`uncounted_iterations`].
    pub uncounted_iterations: u32,
}

impl ShaderCode {
    /// Lowers, validates and translates a WGSL shader. `floats` is true if the device has 64-bit floats.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Shader`] for an invalid shader, with naga's message and the faulty line, and for a
    /// construct that has no lowering.
    pub fn of(
        wgsl: &str,
        lowering: Lowering,
        floats: bool,
        helper_iterations: u32,
    ) -> Result<Self, BatchError> {
        let text = lowered(wgsl, lowering)?;
        let valid = ValidShader::of(&text, lowering.wide(floats))?;
        let helper_iterations = helper_iterations.max(lowering.singles.iterations());
        let uncounted_iterations = uncounted_iterations(valid.module(), helper_iterations);
        let source = match lowering.results {
            LoweredResults::Decorated => ShaderSource::Spirv(Spirv::of(&valid, lowering.controls)?),
            LoweredResults::Opaque => ShaderSource::Wgsl(text.into_owned()),
        };
        Ok(Self { source, uncounted_iterations })
    }
}
