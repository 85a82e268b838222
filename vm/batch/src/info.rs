//! Properties of a device that are known before it is opened. This module opens no device.

use crate::error::BatchError;
use crate::float_controls::FloatControls;
use crate::lowering::{LoweredIntegers, LoweredResults, LoweredSingles, Lowering};

/// Properties of a device that are known before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The name that the driver gives the device.
    pub name: String,
    /// PCI address of the device (`0000:01:00.0`), which distinguishes devices of one name. Empty if unknown.
    pub address: String,
    /// The name of the driver, with its version.
    pub driver: String,
    /// True if the device is software that runs on the CPU.
    pub is_software: bool,
    /// True if the device has its own memory.
    pub is_discrete: bool,
    /// True if shaders have 64-bit floats.
    pub has_f64: bool,
    /// True if shaders have 64-bit integers. If they don't, pairs of 32-bit words emulate 64-bit integers.
    pub has_i64: bool,
    /// True if the device accepts SPIR-V unchanged (passthrough). SPIR-V can forbid the driver to rearrange results.
    /// Without passthrough, shaders combine each result with a zero whose value is unknown to the driver.
    pub has_passthrough: bool,
    /// The modes for 32-bit floats that a SPIR-V shader can request on this device.
    pub float_controls: FloatControls,
    /// The graphics API that reaches the device.
    pub backend: String,
    /// Size of the largest storage buffer binding, in bytes.
    pub most_bytes_of_binding: u64,
    /// Upper bound on invocations that execute a shader in lockstep (subgroup size).
    pub lanes_together: u32,
}

impl DeviceInfo {
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, features, limits) = (adapter.get_info(), adapter.features(), adapter.limits());
        Self {
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            name: info.name,
            address: info.device_pci_bus_id,
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            is_discrete: info.device_type == wgpu::DeviceType::DiscreteGpu,
            has_f64: features.contains(wgpu::Features::SHADER_F64),
            has_i64: features.contains(wgpu::Features::SHADER_INT64),
            // PASSTHROUGH_SHADERS means SPIR-V only on Vulkan; other backends accept another format.
            has_passthrough: features.contains(wgpu::Features::PASSTHROUGH_SHADERS)
                && info.backend == wgpu::Backend::Vulkan,
            float_controls: FloatControls::of(adapter),
            backend: info.backend.to_string(),
            most_bytes_of_binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            lanes_together: info.subgroup_max_size.max(1),
        }
    }

    /// Returns the names of the device and of its driver in one line; line breaks in them become spaces.
    #[must_use]
    pub fn with_driver(&self) -> String {
        format!("{}; {}", self.name, self.driver).replace(['\n', '\r'], " ")
    }

    /// Returns the name of the device, followed by its address if the address is known.
    pub(crate) fn title(&self) -> String {
        if self.address.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.address) }
    }

    /// Returns the lowering of shaders for this device, assuming that its 32-bit floats are exact.
    pub(crate) fn lowering(&self) -> Lowering {
        let integers = if self.has_i64 { LoweredIntegers::Native } else { LoweredIntegers::Pairs };
        let results = if self.has_passthrough { LoweredResults::Decorated } else { LoweredResults::Opaque };
        let controls = if self.has_passthrough { self.float_controls } else { FloatControls::NONE };
        Lowering { integers, results, singles: LoweredSingles::Native, controls }
    }

    pub(crate) fn lacks(&self, feature: &str, cure: &str) -> BatchError {
        BatchError::Lacks { device: self.name.clone(), feature: feature.to_owned(), cure: cure.to_owned() }
    }
}
