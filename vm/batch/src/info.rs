//! What is known of a device before it is opened. Opens none.

use crate::error::BatchError;
use crate::float_controls::FloatControls;
use crate::lowering::{LoweredIntegers, LoweredResults, LoweredSingles, Lowering};

/// What is known of a device before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// As its driver calls it.
    pub name: String,
    /// Where it is plugged in (`0000:01:00.0`), which tells devices of one name apart. Empty where that isn't known.
    pub address: String,
    /// The driver, with its version.
    pub driver: String,
    /// Whether it is the processor, made to look like a device.
    pub is_software: bool,
    /// Whether it has memory of its own.
    pub is_discrete: bool,
    /// Whether shaders have floats of 64 bits.
    pub has_f64: bool,
    /// Whether shaders have integers of 64 bits. Without them they are carried out on pairs of words of 32 bits.
    pub has_i64: bool,
    /// Whether it takes SPIR-V as it is, in which it is told what it may not rewrite. Without that results are made opaque.
    pub has_passthrough: bool,
    /// What a shader that it takes as it is can say of floats of 32 bits.
    pub float_controls: FloatControls,
    /// What it is reached by.
    pub backend: String,
    /// Bytes of the largest piece of memory that a shader can be bound to.
    pub most_bytes_of_binding: u64,
    /// The most invocations that go through a shader together.
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
            // Others than Vulkan take something else as it is.
            has_passthrough: features.contains(wgpu::Features::PASSTHROUGH_SHADERS)
                && info.backend == wgpu::Backend::Vulkan,
            float_controls: FloatControls::of(adapter),
            backend: info.backend.to_string(),
            most_bytes_of_binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            lanes_together: info.subgroup_max_size.max(1),
        }
    }

    /// Its name and its driver's, in one line, whatever a driver calls itself.
    #[must_use]
    pub fn with_driver(&self) -> String {
        format!("{}; {}", self.name, self.driver).replace(['\n', '\r'], " ")
    }

    /// Its name, with its address where that is known.
    pub(crate) fn title(&self) -> String {
        if self.address.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.address) }
    }

    /// What becomes of shaders for it, if floats of 32 bits are right then.
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
