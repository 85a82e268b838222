//! A program's lanes on a device. This module is independent of how a shader is written and how it is dispatched.

use std::sync::atomic::AtomicBool;

use reviver_compile::start::RunStart;
use reviver_isa::module::RealSystem;
use reviver_vm::Program;

use crate::device::{BatchDevice, DeviceNumbers};
use crate::dispatch::{DeviceShader, LanesRun};
use crate::emitter::EmittedShader;
use crate::error::BatchError;
use crate::lanes::{LanesRequest, lane_shader};

/// A program that is ready to run as lanes on a device, from several threads at once.
#[derive(Debug)]
pub struct DeviceLanes {
    shader: DeviceShader,
    irreducible_loops: u32,
}

impl DeviceLanes {
    /// Compiles the shader of a program. At the start of a lane, each cell that isn't an input has its value in
    /// `start`.
    ///
    /// # Errors
    /// Returns [`BatchError::NoShader`] if the program does something that devices can't. Returns
    /// [`BatchError::Inexact`] or [`BatchError::Lacks`] if the device gets the program's numbers wrong or doesn't
    /// have them. Passes on errors of the device.
    pub fn new(
        device: &BatchDevice,
        program: &Program,
        start: &RunStart,
        request: &LanesRequest,
    ) -> Result<DeviceLanes, BatchError> {
        let EmittedShader { shader, irreducible_loops, has_reals } = lane_shader(program, start, request)?;
        device.is_exact_for(numbers(program, has_reals))?;
        Ok(DeviceLanes { shader: DeviceShader::new(device, &shader)?, irreducible_loops })
    }

    /// Returns the number of the program's loops with several entries. In the shader, a switch dispatches to the
    /// entries of such a loop. All other control flow becomes loops and branches of the shader.
    pub fn irreducible_loops(&self) -> u32 {
        self.irreducible_loops
    }

    /// Returns the largest number of lanes that the device can hold at once. Longer batches are executed in blocks.
    pub fn most_lanes(&self) -> usize {
        self.shader.most_lanes()
    }

    /// Executes lanes. `inputs` and `outputs` have a column of `lanes` words for each input and each output cell, in
    /// the order of the request. The last output column of a gradient is the loss. Words have the bits that a state has
    /// in a cell.
    ///
    /// The outputs of a lane that has not finished are undefined. No lane executes more than `most_steps` steps in
    /// a direction. `stop` is checked about ten times a second.
    ///
    /// # Errors
    /// Returns [`BatchError::Count`] for columns of the wrong size, [`BatchError::Interrupted`], [`BatchError::Lost`],
    /// [`BatchError::Memory`], and errors of the device. The outputs are undefined then.
    pub fn run(
        &self,
        inputs: &[&[u64]],
        outputs: &mut [&mut [u64]],
        lanes: usize,
        most_steps: u64,
        stop: &AtomicBool,
    ) -> Result<LanesRun, BatchError> {
        self.shader.run(inputs, outputs, lanes, most_steps, stop)
    }
}

/// Returns the number type in which the device must be exact. If lanes compute reals, it is the type of the program's
/// reals; otherwise it is integers.
fn numbers(program: &Program, has_reals: bool) -> DeviceNumbers {
    match program.module().real {
        RealSystem::F64 if has_reals => DeviceNumbers::F64,
        RealSystem::F32 if has_reals => DeviceNumbers::F32,
        RealSystem::F64 | RealSystem::F32 | RealSystem::Fixed(_) => DeviceNumbers::Integers,
    }
}
