//! Reasons why a device doesn't execute a batch, each with a remedy.

use crate::no_shader::NoShader;

/// Error of a batch on a device. Results of earlier batches stay valid, and the CPU can execute every batch instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// No device, or more than one, has the requested name.
    #[error("{asked} must match exactly one device; {}", listed(.there_are))]
    NoDevice {
        /// The request, in the user's words.
        asked: String,
        /// The names of the available devices.
        there_are: Vec<String>,
    },
    /// The device lacks a feature that every lane needs.
    #[error("{device} lacks {feature}: {cure}")]
    Lacks {
        /// The name of the device.
        device: String,
        /// The missing feature: `SHADER_F64`, `SHADER_INT64`, or a description.
        feature: String,
        /// The remedy, in words for the user.
        cure: String,
    },
    /// The device's results have other bits than the CPU's.
    #[error(
        "{device} computes wrong bits: {what}; use another device, another number system, or the processor"
    )]
    Inexact {
        /// The name of the device.
        device: String,
        /// The results that are wrong.
        what: String,
    },
    /// The program has no shader.
    #[error("{0}; {cure}", cure = .0.cure())]
    NoShader(#[from] NoShader),
    /// The text of a shader is invalid. This is a bug of this crate, not of the program.
    #[error("the shader is invalid, which is a bug of Reviver: {0}")]
    Shader(String),
    /// The device is gone: unplugged, reset by its driver, or destroyed.
    #[error("the device is lost: open the device again, or use the processor")]
    Lost,
    /// The device doesn't have enough free memory, not even for a part of the batch.
    #[error(
        "the device has no memory left for {lanes} lanes: free memory of the device, or use the processor"
    )]
    Memory {
        /// The smallest number of lanes for which an allocation failed.
        lanes: usize,
    },
    /// The device or its driver reports an error or violates its contract.
    #[error("the device fails: {0}; use another device, or the processor")]
    Device(String),
    /// The caller requested an interrupt.
    #[error("interrupted")]
    Interrupted,
    /// A count is wrong: the number of columns differs from the program's, or the number of lanes differs between
    /// columns.
    #[error("the number of {what} is {are}, expected {should}")]
    Count {
        /// Description of the counted items.
        what: String,
        /// The number of items found.
        are: usize,
        /// The number of items expected.
        should: usize,
    },
}

/// Returns the names of the available devices, as the end of a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [] => "no device was found: install Vulkan and a driver for the device".to_owned(),
        names => format!("available devices: {}", names.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::BatchError;

    #[test]
    fn errors_list_available_devices() {
        let none = BatchError::NoDevice { asked: "h100".to_owned(), there_are: Vec::new() };
        assert!(none.to_string().contains("install Vulkan"));
        let some = BatchError::NoDevice { asked: "h100".to_owned(), there_are: vec!["a".into(), "b".into()] };
        assert_eq!(some.to_string(), "h100 must match exactly one device; available devices: a; b");
    }
}
