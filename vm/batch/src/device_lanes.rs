//! A program's lanes on a device. Knows neither how a shader is written nor how it is dispatched.

use std::sync::atomic::AtomicBool;

use reviver_compile::start::RouteStart;
use reviver_isa::module::RealSystem;
use reviver_vm::Program;

use crate::device::{BatchDevice, DeviceNumbers};
use crate::dispatch::{DeviceShader, LanesRun};
use crate::error::BatchError;
use crate::lanes::{LanesRequest, lane_shader};
use crate::text::WrittenLanes;

/// Lanes of a program that a device is ready to carry out, from several threads at once.
#[derive(Debug)]
pub struct DeviceLanes {
    shader: DeviceShader,
    switched: u32,
}

impl DeviceLanes {
    /// Makes the shader. All cells but those that lanes are given are as in a start.
    ///
    /// # Errors
    /// [`BatchError::NoShader`] for a program that does what devices can't, [`BatchError::Inexact`] and [`BatchError::Lacks`] where the device
    /// can't be trusted with its numbers or hasn't got them, and what the device reports.
    pub fn new(
        device: &BatchDevice,
        program: &Program,
        start: &RouteStart,
        request: &LanesRequest,
    ) -> Result<DeviceLanes, BatchError> {
        let WrittenLanes { shader, switched, has_reals } = lane_shader(program, start, request)?;
        device.is_exact_for(numbers(program, has_reals))?;
        Ok(DeviceLanes { shader: DeviceShader::new(device, &shader)?, switched })
    }

    /// How many loops of the program are entered in several places, so that they are carried out by a switch between these. All else is
    /// structured: loops and branches of the shader.
    pub fn switched(&self) -> u32 {
        self.switched
    }

    /// The most lanes that the device can have at once. Longer batches are carried out in blocks.
    pub fn most_lanes(&self) -> usize {
        self.shader.most_lanes()
    }

    /// Carries out lanes: `given` and `found` have a column for each cell that is given and asked for, in the order of the request, of
    /// `lanes` words each; the last column that is found of a gradient is for the loss. Words are the bits that a state has in a cell. What was found of a
    /// lane that hasn't arrived is undefined. No lane makes more than `most_steps` steps in a direction; `stop` is looked at about ten times a
    /// second.
    ///
    /// # Errors
    /// [`BatchError::Count`] for columns that don't fit, [`BatchError::Interrupted`], [`BatchError::Lost`], [`BatchError::Memory`], and what the
    /// device reports. What was found is undefined then.
    pub fn run(
        &self,
        given: &[&[u64]],
        found: &mut [&mut [u64]],
        lanes: usize,
        most_steps: u64,
        stop: &AtomicBool,
    ) -> Result<LanesRun, BatchError> {
        self.shader.run(given, found, lanes, most_steps, stop)
    }
}

/// The numbers whose bits lanes need: no real's, if they have none.
fn numbers(program: &Program, has_reals: bool) -> DeviceNumbers {
    match program.module().real {
        RealSystem::F64 if has_reals => DeviceNumbers::F64,
        RealSystem::F32 if has_reals => DeviceNumbers::F32,
        RealSystem::F64 | RealSystem::F32 | RealSystem::Fixed(_) => DeviceNumbers::Integers,
    }
}
