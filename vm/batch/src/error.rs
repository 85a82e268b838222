//! Why a batch isn't carried out by a device: what is the cause, and what helps.

use crate::no_shader::NoShader;

/// Why a device doesn't carry out what it was asked for. Nothing that was found before is lost by any of these; the processor can carry
/// out every batch instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// No device, or more than one, has the name that was asked for.
    #[error("there is no device that {asked} means alone; {}", listed(.there_are))]
    NoDevice {
        /// What was asked for, in the user's words.
        asked: String,
        /// The names of the devices that there are.
        there_are: Vec<String>,
    },
    /// The device can't do something that every lane needs.
    #[error("{device} lacks {feature}: {cure}")]
    Lacks {
        /// The device's name.
        device: String,
        /// What it lacks: `SHADER_F64`, `SHADER_INT64`, or words.
        feature: String,
        /// What the user can do.
        cure: String,
    },
    /// The device computes other bits than the processor.
    #[error("{device} isn't exact: {what}; use another device, another number system, or the processor")]
    Inexact {
        /// The device's name.
        device: String,
        /// Which results are wrong.
        what: String,
    },
    /// The program has no shader.
    #[error("{0}; {cure}", cure = .0.cure())]
    NoShader(#[from] NoShader),
    /// The text of a shader isn't one. This is a fault of whoever wrote it, not of the program.
    #[error("the shader isn't accepted: {0}")]
    Shader(String),
    /// The device is gone: taken away, reset by its driver, or destroyed.
    #[error("the device is lost: open it again, or use the processor")]
    Lost,
    /// The device has no room, even for a part of the batch.
    #[error("the device has no memory left for {lanes} lanes: free some of it, or use the processor")]
    Memory {
        /// The fewest lanes for which room was asked in vain.
        lanes: usize,
    },
    /// The device or its driver reports something, or does what it mustn't.
    #[error("the device fails: {0}; use another one, or the processor")]
    Device(String),
    /// Somebody asked to end it.
    #[error("interrupted")]
    Interrupted,
    /// Columns that don't fit to each other or to the program.
    #[error("{what}: there are {are} where there should be {should}")]
    Count {
        /// What was counted.
        what: String,
        /// How many there are.
        are: usize,
        /// How many there should be.
        should: usize,
    },
}

/// The devices that there are, as the end of a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [] => "no device was found: Vulkan and a driver for it must be installed".to_owned(),
        names => format!("there are: {}", names.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::BatchError;

    #[test]
    fn errors_list_what_there_is() {
        let none = BatchError::NoDevice { asked: "h100".to_owned(), there_are: Vec::new() };
        assert!(none.to_string().contains("must be installed"));
        let some = BatchError::NoDevice { asked: "h100".to_owned(), there_are: vec!["a".into(), "b".into()] };
        assert_eq!(some.to_string(), "there is no device that h100 means alone; there are: a; b");
    }
}
