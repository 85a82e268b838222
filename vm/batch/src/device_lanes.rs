//! A program's lanes on a device. This module is independent of the emission and the dispatch of shaders.

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
    /// Returns [`BatchError::NoShader`] if devices can't execute the program. Returns [`BatchError::Lacks`] if the
    /// device doesn't have the program's number types, and [`BatchError::Inexact`] if it computes with other bits than
    /// the CPU. Passes on errors of the device.
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

    /// Executes lanes. `inputs` and `outputs` have a column of `lanes` words for each input and each output of the
    /// request, in the order of the request. Words have the same bits as the cells of a state.
    ///
    /// The outputs of a lane that has not finished are undefined. Each lane executes at most `most_steps` steps in each
    /// direction. The function checks `stop` about ten times a second.
    ///
    /// # Errors
    /// Returns [`BatchError::Count`] for columns of the wrong size, [`BatchError::Interrupted`], [`BatchError::Lost`],
    /// [`BatchError::Memory`], and errors of the device. After an error, the outputs are undefined.
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
