//! The texts of a shader as the device has them: the one that lanes begin with, and the one that they go on with, which is made once a lane needs it.

use std::sync::OnceLock;

use super::pipeline::{Pipeline, ShaderBindings};
use crate::code::ShaderCode;
use crate::device::BatchDevice;
use crate::error::BatchError;
use crate::shader::{LaneShader, ShaderPass};

/// What is dispatched.
#[derive(Debug)]
pub(super) struct ShaderPasses {
    bindings: ShaderBindings,
    single: Option<Pipeline>,
    resumable: OnceLock<Pipeline>,
    /// What the latter is made of.
    wgsl: String,
    helper_rounds: u32,
    most_rounds: u32,
}

impl ShaderPasses {
    /// Makes the text that lanes begin with.
    ///
    /// # Errors
    ///
    /// [`BatchError::Shader`] for a text that isn't one, [`BatchError::Lacks`] where the device ends loops too early for it, and what the device reports.
    pub fn new(device: &BatchDevice, shader: &LaneShader) -> Result<Self, BatchError> {
        let LaneShader { wgsl, single_pass, helper_rounds, .. } = shader;
        let first = single_pass.as_ref().unwrap_or(wgsl);
        let (code, most_rounds) = code(device, first, *helper_rounds)?;
        let bindings = ShaderBindings::new(device, &shader.constants)?;
        let pipeline = Pipeline::new(device, &code.form, &bindings)?;
        let (single, resumable) = match single_pass {
            Some(_) => (Some(pipeline), OnceLock::new()),
            None => (None, OnceLock::from(pipeline)),
        };
        Ok(Self {
            bindings,
            single,
            resumable,
            wgsl: wgsl.clone(),
            helper_rounds: *helper_rounds,
            most_rounds,
        })
    }

    pub fn bindings(&self) -> &ShaderBindings {
        &self.bindings
    }

    /// The most rounds of a lane in one dispatch.
    pub fn most_rounds(&self) -> u32 {
        self.most_rounds
    }

    pub fn has_single(&self) -> bool {
        self.single.is_some()
    }

    /// The text of a pass; of a shader that has no other, the resumable one.
    ///
    /// # Errors
    ///
    /// As [`ShaderPasses::new`].
    pub fn pipeline(&self, device: &BatchDevice, pass: ShaderPass) -> Result<&Pipeline, BatchError> {
        let made = match pass {
            ShaderPass::Single => self.single.as_ref(),
            ShaderPass::Resumable => None,
        };
        if let Some(pipeline) = made.or_else(|| self.resumable.get()) {
            return Ok(pipeline);
        }
        let (code, most_rounds) = code(device, &self.wgsl, self.helper_rounds)?;
        if most_rounds < self.most_rounds {
            return Err(lacks_rounds(device));
        }
        let pipeline = Pipeline::new(device, &code.form, &self.bindings)?;
        // Another thread may have made it meanwhile.
        Ok(self.resumable.get_or_init(|| pipeline))
    }
}

/// A text as the device takes it, and the most rounds of a lane in one dispatch.
fn code(device: &BatchDevice, wgsl: &str, helper_rounds: u32) -> Result<(ShaderCode, u32), BatchError> {
    let code = ShaderCode::of(wgsl, device.lowering(), device.info().has_f64, helper_rounds)?;
    let rounds =
        device.probe().rounds_of_a_lane(code.uncounted_rounds).ok_or_else(|| lacks_rounds(device))?;
    Ok((code, rounds))
}

fn lacks_rounds(device: &BatchDevice) -> BatchError {
    device.info().lacks("loops of enough rounds", "use another device, or the processor")
}
