//! Device discovery, selection by name, and opening. This module is independent of shaders.

use std::path::Path;

use crate::device::BatchDevice;
use crate::error::BatchError;
use crate::info::DeviceInfo;
use crate::probe::Probe;

/// The graphics APIs that are tried, if the build includes them. OpenGL is excluded for two reasons: it has no 64-bit
/// numbers, and its drivers may rewrite shaders without restriction. Every device that OpenGL reaches is also reached
/// by another API.
const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY.difference(wgpu::Backends::BROWSER_WEBGPU);

/// The devices that can be reached on this computer.
#[derive(Debug)]
pub struct Adapters {
    all: Vec<(wgpu::Adapter, DeviceInfo)>,
}

impl Adapters {
    /// Lists all devices, each once. The list is empty if no driver is installed. This function loads the drivers,
    /// which may take long.
    #[must_use]
    pub fn list() -> Self {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: BACKENDS,
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let found = crate::ready::ready(instance.enumerate_adapters(BACKENDS));
        let with_info = |adapter: wgpu::Adapter| {
            let info = DeviceInfo::of(&adapter);
            (adapter, info)
        };
        Self { all: reached_once(found.into_iter().map(with_info).collect()) }
    }

    /// Returns true if a hardware device may exist. If the result is false, a caller that wants no software device
    /// needn't load the drivers. Loading drivers is slow, and some drivers write to standard error.
    #[must_use]
    pub fn may_have_hardware() -> bool {
        !cfg!(target_os = "linux") || has_driver_files()
    }

    /// Returns the properties of each device.
    pub fn infos(&self) -> impl Iterator<Item = &DeviceInfo> {
        self.all.iter().map(|(_, info)| info)
    }

    /// Returns the default device, which is never software on the CPU. Devices with the most number types are
    /// preferred, then those with SPIR-V passthrough, then those with their own memory.
    #[must_use]
    pub fn auto(&self) -> Option<&DeviceInfo> {
        let fits = |info: &&DeviceInfo| !info.is_software;
        // `max_by_key` would return the last of several equal devices, but the first one is the driver's own choice.
        self.infos().filter(fits).reduce(|best, other| if rank(other) > rank(best) { other } else { best })
    }

    /// Returns the device whose name or address is `asked`. If there is no such device, returns the only device whose
    /// name contains `asked`, ignoring case.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::NoDevice`] if no device matches, or if several devices match.
    pub fn named(&self, asked: &str) -> Result<&DeviceInfo, BatchError> {
        let is_exact =
            |info: &&DeviceInfo| info.name == asked || (info.address == asked && !asked.is_empty());
        let exactly: Vec<&DeviceInfo> = self.infos().filter(is_exact).collect();
        let part = asked.to_lowercase();
        let partly = self.infos().filter(|info| info.name.to_lowercase().contains(&part));
        let found = if exactly.is_empty() { partly.collect() } else { exactly };
        match found.as_slice() {
            [info] => Ok(info),
            _ => Err(self.no_device(asked)),
        }
    }

    /// Opens a device and probes its capabilities, which takes about a second on a software device.
    ///
    /// # Errors
    ///
    /// See [`Adapters::open_with`].
    pub fn open(&self, which: &DeviceInfo) -> Result<BatchDevice, BatchError> {
        self.open_with(which, None)
    }

    /// Opens a device with `known`, the result of an earlier capability probe. Probes the device if `known` is `None`,
    /// or is the result for another device or driver.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::NoDevice`] if `which` isn't in this list, and [`BatchError::Inexact`] if the device
    /// computes integers wrongly. Passes on errors of the driver.
    pub fn open_with(&self, which: &DeviceInfo, known: Option<Probe>) -> Result<BatchDevice, BatchError> {
        let found = self.all.iter().find(|(_, info)| info == which);
        let Some((adapter, info)) = found else { return Err(self.no_device(&which.name)) };
        BatchDevice::open(adapter, info, known)
    }

    fn no_device(&self, asked: &str) -> BatchError {
        let there_are = self.infos().map(DeviceInfo::title).collect();
        BatchError::NoDevice { asked: asked.to_owned(), there_are }
    }
}

/// Returns true if Linux has a device file of a GPU driver.
fn has_driver_files() -> bool {
    let is_render = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("renderD");
    let has_render = std::fs::read_dir("/dev/dri").is_ok_and(|all| all.flatten().any(is_render));
    has_render || ["/dev/nvidiactl", "/dev/dxg", "/dev/kfd"].iter().any(|file| Path::new(file).exists())
}

/// Returns the sort key of a device; the greatest key is preferred. It uses only properties that are known before the
/// device is opened.
fn rank(info: &DeviceInfo) -> (bool, bool, bool, bool) {
    (info.has_f64 && info.has_i64, info.has_i64, info.has_passthrough, info.is_discrete)
}

/// Keeps one entry for each device. If several backends reach a device, keeps the entry of the preferred backend.
fn reached_once<T>(all: Vec<(T, DeviceInfo)>) -> Vec<(T, DeviceInfo)> {
    let infos: Vec<DeviceInfo> = all.iter().map(|(_, info)| info.clone()).collect();
    let is_preferred = |(place, info): (usize, &DeviceInfo)| {
        let mut others = infos
            .iter()
            .enumerate()
            .filter(|(_, other)| other.name == info.name && other.backend != info.backend);
        others.all(|(n, other)| rank(info) > rank(other) || (rank(info) == rank(other) && place < n))
    };
    let kept: Vec<bool> = infos.iter().enumerate().map(is_preferred).collect();
    all.into_iter().zip(kept).filter_map(|(device, is_kept)| is_kept.then_some(device)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_reported_with_the_available_ones() {
        let all = Adapters::list();
        let Err(BatchError::NoDevice { asked, there_are }) = all.named("no such device") else {
            panic!("there is no such device")
        };
        assert_eq!((asked.as_str(), there_are.len()), ("no such device", all.infos().count()));
    }

    #[test]
    fn devices_are_found_by_unambiguous_parts_of_names() {
        let all = Adapters::list();
        for info in all.infos() {
            let is_alone = |name: &str| all.infos().filter(|info| info.name == name).count() == 1;
            assert_eq!(all.named(&info.name).is_ok(), is_alone(&info.name), "{}", info.name);
        }
        assert!(all.auto().is_none_or(|info| !info.is_software));
    }

    /// Returns a device with its own memory and without 64-bit floats.
    fn info(name: &str, address: &str, backend: &str, has_i64: bool) -> DeviceInfo {
        DeviceInfo {
            name: name.to_owned(),
            address: address.to_owned(),
            driver: String::new(),
            is_software: false,
            is_discrete: true,
            has_f64: false,
            has_i64,
            has_passthrough: backend == "vulkan",
            float_controls: crate::float_controls::FloatControls::NONE,
            backend: backend.to_owned(),
            most_bytes_of_binding: 1 << 27,
            lanes_together: 32,
        }
    }

    #[test]
    fn a_device_of_several_backends_is_listed_once() {
        let all = [
            info("a", "1", "dx12", true),
            info("a", "2", "dx12", true),
            info("a", "1", "vulkan", true),
            info("a", "2", "vulkan", true),
            info("b", "3", "dx12", false),
            info("c", "", "metal", false),
            info("c", "", "other", false),
        ];
        let kept = reached_once((0..).zip(all).collect());
        let numbers: Vec<i32> = kept.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 3, 4, 5]);
    }

    #[test]
    fn devices_are_ranked_by_number_types_first() {
        let plain = info("a", "", "dx12", false);
        let integers = DeviceInfo { is_discrete: false, ..info("a", "", "dx12", true) };
        let passing = DeviceInfo { is_discrete: false, ..info("a", "", "vulkan", true) };
        let floats = DeviceInfo { has_f64: true, ..integers.clone() };
        // Without 64-bit integers, a device's 64-bit floats can't be used.
        let useless = DeviceInfo { has_f64: true, ..plain.clone() };
        assert_eq!(rank(&useless), rank(&plain));
        assert!(rank(&plain) < rank(&integers));
        assert!(rank(&integers) < rank(&passing));
        assert!(rank(&passing) < rank(&floats));
    }

    #[test]
    fn missing_features_determine_the_lowering() {
        use crate::lowering::{LoweredIntegers, LoweredResults};
        let none = info("a", "", "dx12", false).lowering();
        assert_eq!((none.integers, none.results), (LoweredIntegers::Pairs, LoweredResults::Opaque));
        let all = info("a", "", "vulkan", true).lowering();
        assert_eq!((all.integers, all.results), (LoweredIntegers::Native, LoweredResults::Decorated));
    }
}
