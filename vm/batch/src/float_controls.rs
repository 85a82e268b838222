//! Modes for 32-bit floats that a shader may request on a device. wgpu doesn't report these modes, so this module
//! queries the Vulkan driver, with unsafe code. This module opens no device.

/// Modes that every shader requests for 32-bit floats (`SPV_KHR_float_controls`), regardless of other float widths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// True if subnormal numbers are preserved.
    pub keep_subnormals: bool,
    /// True if results are rounded to nearest, ties to even. With this mode some drivers stop flushing subnormal sums,
    /// products and quotients to 0.
    pub round_to_nearest: bool,
}

impl FloatControls {
    /// No mode is requested.
    pub const NONE: FloatControls = FloatControls { keep_subnormals: false, round_to_nearest: false };

    /// Returns the modes that an adapter's device supports.
    #[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        use ash::vk;

        // SAFETY: The adapter that `as_hal` returns is only read, and dropped before this function returns. No part
        // of it is destroyed.
        #[allow(unsafe_code)]
        let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() };
        let Some(vulkan) = vulkan else { return Self::NONE };
        // From version 1.2 on, float controls are core Vulkan and needn't be enabled when a device is opened.
        let instance = vulkan.shared_instance();
        let of_device = vulkan.physical_device_capabilities().properties().api_version;
        if instance.instance_api_version().min(of_device) < vk::API_VERSION_1_2 {
            return Self::NONE;
        }
        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
        // SAFETY: The physical device belongs to this instance, and both live as long as the adapter. Instances of
        // version 1.1 or later have the function. The function fills a chain of two structures. Each structure has its
        // type tag, and both outlive the call.
        #[allow(unsafe_code)]
        unsafe {
            instance.raw_instance().get_physical_device_properties2(vulkan.raw_physical_device(), &mut all);
        }
        let is_free = |independence| independence != vk::ShaderFloatControlsIndependence::NONE;
        let (subnormals, rounding) =
            (controls.denorm_behavior_independence, controls.rounding_mode_independence);
        Self {
            keep_subnormals: is_free(subnormals) && controls.shader_denorm_preserve_float32 == vk::TRUE,
            round_to_nearest: is_free(rounding) && controls.shader_rounding_mode_rte_float32 == vk::TRUE,
        }
    }

    /// Returns no modes: APIs other than Vulkan guarantee none.
    #[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
    pub(crate) fn of(_: &wgpu::Adapter) -> Self {
        Self::NONE
    }

    /// Returns all combinations of the two modes.
    pub(crate) fn all() -> [Self; 4] {
        [(false, false), (false, true), (true, false), (true, true)]
            .map(|(keep_subnormals, round_to_nearest)| Self { keep_subnormals, round_to_nearest })
    }

    /// Describes the modes in words for the user.
    pub(crate) fn answer(self) -> &'static str {
        match (self.keep_subnormals, self.round_to_nearest) {
            (false, false) => "none",
            (false, true) => "rounding to the nearest float",
            (true, false) => "preserving subnormal numbers",
            (true, true) => "rounding to the nearest float, preserving subnormal numbers",
        }
    }
}
