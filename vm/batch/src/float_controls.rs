//! What a device lets a shader say of floats of 32 bits, which wgpu doesn't tell. Asks the driver of Vulkan; has unsafe code for that, and opens
//! no device.

/// What every shader says of floats of 32 bits, whatever is said of others (`SPV_KHR_float_controls`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// Subnormal numbers are kept.
    pub keep_subnormals: bool,
    /// Results are rounded to the nearest float, ties to even. Some drivers make no sum, product or quotient 0 then that is subnormal.
    pub round_to_nearest: bool,
}

impl FloatControls {
    /// Nothing is said.
    pub const NONE: FloatControls = FloatControls { keep_subnormals: false, round_to_nearest: false };

    /// What a device has that is reached by an adapter.
    #[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        use ash::vk;

        // SAFETY: What is handed out is read, and dropped before this returns; nothing of it is destroyed.
        #[allow(unsafe_code)]
        let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() };
        let Some(vulkan) = vulkan else { return Self::NONE };
        // From version 1.2 on, float controls belong to Vulkan itself, and needn't be asked for where a device is opened.
        let instance = vulkan.shared_instance();
        let of_device = vulkan.physical_device_capabilities().properties().api_version;
        if instance.instance_api_version().min(of_device) < vk::API_VERSION_1_2 {
            return Self::NONE;
        }
        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
        // SAFETY: The physical device is one of this instance, both live as long as the adapter, and instances of version 1.1 or later have the
        // function. What it fills is a chain of two structures, each with its type, and both outlive the call.
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

    /// Other interfaces than Vulkan's have no such promises.
    #[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
    pub(crate) fn of(_: &wgpu::Adapter) -> Self {
        Self::NONE
    }

    /// Every one that there is.
    pub(crate) fn all() -> [Self; 4] {
        [(false, false), (false, true), (true, false), (true, true)]
            .map(|(keep_subnormals, round_to_nearest)| Self { keep_subnormals, round_to_nearest })
    }

    /// In the user's words.
    pub(crate) fn answer(self) -> &'static str {
        match (self.keep_subnormals, self.round_to_nearest) {
            (false, false) => "none",
            (false, true) => "to the nearest float",
            (true, false) => "subnormal numbers are kept",
            (true, true) => "to the nearest float, subnormal numbers are kept",
        }
    }
}
