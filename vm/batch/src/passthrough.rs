//! SPIR-V is given to the driver as it is, which is unsafe code.

use std::borrow::Cow;

use crate::spirv::Spirv;

/// The entry point of every shader.
pub(crate) const ENTRY: &str = "main";

/// A module of what was written and decorated here. Errors go to the device's error scopes.
pub(crate) fn passed_module(device: &wgpu::Device, spirv: &Spirv) -> wgpu::ShaderModule {
    let entry = wgpu::PassthroughShaderEntryPoint {
        name: Cow::Borrowed(ENTRY),
        // Only Metal asks for it here; the SPIR-V says it itself.
        workgroup_size: (crate::shader::WORKGROUP, 1, 1),
    };
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some("lanes"),
        entry_points: Cow::Owned(vec![entry]),
        spirv: Some(Cow::Borrowed(spirv.words())),
        ..Default::default()
    };
    // SAFETY: A `Spirv` is only made by naga's own writer, of a module that naga's validator accepted for what the device has, with
    // every index kept within what is bound. What is added to it are decorations of results that exist, in the place of decorations,
    // and the mode of its entry point, of which the device says that it has it. Its
    // loops end: those of lanes after the rounds that they are allowed, those of helpers after 64.
    #[allow(unsafe_code)]
    unsafe {
        device.create_shader_module_passthrough(descriptor)
    }
}
