//! Passes SPIR-V to the driver unchanged, which needs unsafe code.

use std::borrow::Cow;

use crate::spirv::Spirv;

/// The entry point of every shader.
pub(crate) const ENTRY: &str = "main";

/// Creates a shader module from SPIR-V that this crate wrote and decorated. Errors go to the device's error scopes.
pub(crate) fn passed_module(device: &wgpu::Device, spirv: &Spirv) -> wgpu::ShaderModule {
    let entry = wgpu::PassthroughShaderEntryPoint {
        name: Cow::Borrowed(ENTRY),
        // Only Metal needs the size here; SPIR-V contains it.
        workgroup_size: (crate::shader::WORKGROUP, 1, 1),
    };
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some("lanes"),
        entry_points: Cow::Owned(vec![entry]),
        spirv: Some(Cow::Borrowed(spirv.words())),
        ..Default::default()
    };
    // SAFETY: Only naga's own writer creates a `Spirv`, from a module that naga's validator has accepted for the
    // device's features, with every index clamped to its binding. This crate adds only decorations of existing results,
    // in the section of decorations, and modes of the entry point that the device supports. All loops end: loops of
    // lanes after their permitted iterations, and loops of helper functions after
    // [`crate::shader::LaneShader::helper_iterations`] iterations.
    #[allow(unsafe_code)]
    unsafe {
        device.create_shader_module_passthrough(descriptor)
    }
}
