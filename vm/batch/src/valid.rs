//! Shader text, parsed and validated by naga. This module uses only the number types of a device, and is independent of
//! the computations in shaders.

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ScalarKind, TypeInner};

use crate::error::BatchError;

/// The 64-bit number types that a shader may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WideTypes {
    pub floats: bool,
    pub integers: bool,
}

/// A module that naga's validator accepted, with the results of the validation. Only [`ValidShader::of`] constructs
/// it.
#[derive(Debug)]
pub(crate) struct ValidShader {
    module: Module,
    info: ModuleInfo,
}

impl ValidShader {
    /// Parses and validates WGSL.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Shader`] with naga's message and the faulty line.
    pub fn of(wgsl: &str, wide: WideTypes) -> Result<Self, BatchError> {
        let module = naga::front::wgsl::parse_str(wgsl)
            .map_err(|error| BatchError::Shader(error.emit_to_string(wgsl)))?;
        let mut capabilities = Capabilities::empty();
        capabilities.set(Capabilities::FLOAT64, wide.floats);
        capabilities.set(Capabilities::SHADER_INT64, wide.integers);
        let info = Validator::new(ValidationFlags::all(), capabilities)
            .validate(&module)
            .map_err(|error| BatchError::Shader(error.emit_to_string(wgsl)))?;
        Ok(Self { module, info })
    }

    pub fn module(&self) -> &Module {
        &self.module
    }

    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }
}

/// Returns true if a WGSL text uses 64-bit floats, even if the text is invalid for another reason. Returns false if the
/// text can't be parsed.
pub(crate) fn names_wide_floats(wgsl: &str) -> bool {
    naga::front::wgsl::parse_str(wgsl).is_ok_and(|module| has_wide_floats(&module))
}

fn has_wide_floats(module: &Module) -> bool {
    module.types.iter().any(|(_, kind)| {
        matches!(kind.inner, TypeInner::Scalar(scalar) if scalar.kind == ScalarKind::Float && scalar.width == 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line() {
        let wide = WideTypes { floats: true, integers: true };
        let Err(BatchError::Shader(text)) = ValidShader::of("fn main() {\n    let x = nothing;\n}", wide)
        else {
            panic!("this is no shader")
        };
        assert!(text.contains("nothing") && text.contains(":2:"), "{text}");
    }

    #[test]
    fn wide_numbers_need_a_device_that_has_them() {
        let doubles = "fn half(x: f64) -> f64 { return x / 2.0lf; }";
        let longs = "fn half(x: i64) -> i64 { return x / 2li; }";
        for (text, floats) in [(doubles, true), (longs, false)] {
            let without = WideTypes { floats: !floats, integers: floats };
            assert!(matches!(ValidShader::of(text, without), Err(BatchError::Shader(_))));
            assert!(ValidShader::of(text, WideTypes { floats, integers: !floats }).is_ok());
        }
        assert!(names_wide_floats(doubles));
        assert!(!names_wide_floats("fn half(x: f32) -> f32 { return x / 2.0; }"));
    }
}
