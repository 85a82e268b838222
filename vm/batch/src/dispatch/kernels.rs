//! The kernels of a shader on a device. If the shader has a non-resumable kernel, lanes begin with it, and the
//! resumable kernel is compiled when a lane first needs it.

use std::sync::{Arc, OnceLock};

use super::buffers::{Buffers, DispatchRequest, LaneSpan};
use super::capacity::WordShape;
use super::pipeline::{Pipeline, ShaderBindings};
use crate::code::{ShaderCode, ShaderSource};
use crate::device::{BatchDevice, WaitLimit};
use crate::error::BatchError;
use crate::shader::{KernelKind, LaneShader};

/// The kernels of a shader.
#[derive(Debug)]
pub(super) struct Kernels {
    bindings: Arc<ShaderBindings>,
    shape: WordShape,
    single: Option<Pipeline>,
    resumable: OnceLock<Pipeline>,
    /// The source of the resumable kernel, which may be compiled later.
    source: Arc<ShaderSource>,
    most_iterations: u32,
}

impl Kernels {
    /// Validates both kernels, and compiles the one that lanes begin with.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Shader`] for an invalid text, [`BatchError::Lacks`] if the device ends loops after too
    /// few iterations, and errors of the device.
    pub fn new(device: &BatchDevice, shader: &LaneShader, shape: WordShape) -> Result<Self, BatchError> {
        let LaneShader { wgsl, non_resumable, helper_iterations, .. } = shader;
        let (ShaderCode { source, .. }, iterations) = code(device, wgsl, *helper_iterations)?;
        let single = non_resumable.as_ref().map(|text| code(device, text, *helper_iterations)).transpose()?;
        let bindings = Arc::new(ShaderBindings::new(device, &shader.constants)?);
        let source = Arc::new(source);
        let new = |source: &Arc<ShaderSource>| compiled(device, source, &bindings, shape);
        let (single, resumable, most_iterations) = match single {
            Some((code, own)) => (Some(new(&Arc::new(code.source))?), OnceLock::new(), own.min(iterations)),
            None => (None, OnceLock::from(new(&source)?), iterations),
        };
        Ok(Self { bindings, shape, single, resumable, source, most_iterations })
    }

    pub fn bindings(&self) -> &ShaderBindings {
        &self.bindings
    }

    /// Returns the maximum number of iterations of a lane in one dispatch, for both kernels.
    pub fn most_iterations(&self) -> u32 {
        self.most_iterations
    }

    pub fn has_non_resumable(&self) -> bool {
        self.single.is_some()
    }

    /// Returns the kernel of a kind. Compiles the kernel if it isn't compiled yet. Returns the resumable kernel if the
    /// shader has no non-resumable kernel.
    ///
    /// # Errors
    ///
    /// Passes on errors of the device.
    pub fn pipeline(&self, device: &BatchDevice, pass: KernelKind) -> Result<&Pipeline, BatchError> {
        let made = match pass {
            KernelKind::NonResumable => self.single.as_ref(),
            KernelKind::Resumable => None,
        };
        if let Some(pipeline) = made.or_else(|| self.resumable.get()) {
            return Ok(pipeline);
        }
        let pipeline = compiled(device, &self.source, &self.bindings, self.shape)?;
        // Another thread may have compiled the kernel in the meantime.
        Ok(self.resumable.get_or_init(|| pipeline))
    }
}

/// Input column of the lane with which a kernel is warmed up. The results of this lane are dropped.
const NOTHING: [u64; 1] = [0];

/// Compiles a kernel completely. Some drivers compile, or finish compiling, only at the first dispatch. So this
/// function dispatches the kernel once, for a lane that executes no steps, and discards the results of this lane.
fn compiled(
    device: &BatchDevice,
    source: &Arc<ShaderSource>,
    bindings: &Arc<ShaderBindings>,
    shape: WordShape,
) -> Result<Pipeline, BatchError> {
    let (source, bindings) = (Arc::clone(source), Arc::clone(bindings));
    device.compiled(move |device| {
        let pipeline = Pipeline::new(device, &source, &bindings)?;
        let mut buffers = Buffers::new(device, &bindings, shape, 1)?;
        buffers.send(device, &vec![NOTHING.as_slice(); shape.inputs], &(0..1))?;
        let block = LaneSpan { lanes: 1, most_steps: 0 };
        let request = DispatchRequest { is_first: true, dispatches: 1, iterations: 1, with_results: false };
        let pending = buffers.submit(device, &pipeline, block, request)?;
        buffers.left(device, &pending, WaitLimit::None)?;
        buffers.done();
        Ok(pipeline)
    })
}

/// Translates a text to code for the device. Also returns the maximum number of iterations of a lane in one dispatch.
/// Fails if the device ends loops after too few iterations.
fn code(device: &BatchDevice, wgsl: &str, helper_iterations: u32) -> Result<(ShaderCode, u32), BatchError> {
    let code = ShaderCode::of(wgsl, device.lowering(), device.info().has_f64, helper_iterations)?;
    let iterations = device.probe().iterations_of_a_lane(code.uncounted_iterations);
    let lacks =
        || device.info().lacks("loops with enough iterations", "use another device, or the processor");
    Ok((code, iterations.ok_or_else(lacks)?))
}
