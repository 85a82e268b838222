//! Errors of the library as Python exceptions. The classes are defined in `reviver_vm/errors.py`.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use reviver::{Assembled, Error, Explanation};

/// Returns an exception of a class in `reviver_vm.errors`, with attributes.
fn exception(py: Python<'_>, class: &str, message: &str, attributes: &Bound<'_, PyDict>) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let made = || {
        let module = MODULE.get_or_try_init(py, || py.import("reviver_vm.errors").map(Bound::unbind))?;
        let class = module.bind(py).getattr(class)?.cast_into::<PyType>()?;
        class.call((message,), Some(attributes))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns the exception for an argument that doesn't fit.
pub fn unfit(py: Python<'_>, cause: &str, cure: &str) -> PyErr {
    let attributes = PyDict::new(py);
    match attributes.set_item("cause", cause).and_then(|()| attributes.set_item("cure", cure)) {
        Ok(()) => exception(py, "InputError", &format!("{cause}; {cure}"), &attributes),
        Err(error) => error,
    }
}

/// Returns the exception for an error of the library. `program` gives the source lines of traps.
pub fn raised(py: Python<'_>, program: Option<&Assembled>, error: &Error) -> PyErr {
    match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::NoMemory(_) => return PyMemoryError::new_err(error.to_string()),
        _ => {}
    }
    match attributes(py, program, error) {
        Ok((class, message, attributes)) => exception(py, class, &message, &attributes),
        Err(error) => error,
    }
}

type Described<'py> = (&'static str, String, Bound<'py, PyDict>);

fn attributes<'py>(py: Python<'py>, program: Option<&Assembled>, error: &Error) -> PyResult<Described<'py>> {
    if let Error::Lane { lane, error: inner } = error {
        let (class, message, attributes) = attributes(py, program, inner)?;
        attributes.set_item("lane", *lane)?;
        return Ok((class, format!("lane {lane}: {message}"), attributes));
    }
    let found = PyDict::new(py);
    found.set_item("place", error.place())?;
    found.set_item("cause", error.cause())?;
    found.set_item("cure", error.cure())?;
    match error {
        Error::Text { rendered, .. } => found.set_item("rendered", rendered)?,
        Error::Trap { backward, explanation, .. } => {
            let rendered = program.map(|program| program.report(explanation)).unwrap_or_default();
            of_trap(&found, *backward, explanation, &rendered)?;
        }
        Error::Doubtful { losses } => found.set_item("losses", losses)?,
        _ => {}
    }
    Ok((class(error), error.to_string(), found))
}

fn of_trap(
    found: &Bound<'_, PyDict>,
    backward: bool,
    explanation: &Explanation,
    rendered: &str,
) -> PyResult<()> {
    found.set_item("code", explanation.code.text())?;
    found.set_item("line", explanation.spot.as_ref().map(|spot| spot.line))?;
    found.set_item("file", explanation.spot.as_ref().and_then(|spot| spot.file.as_deref()))?;
    found.set_item("statement", &explanation.instruction)?;
    found.set_item("procedure", &explanation.procedure)?;
    found.set_item("backward", backward)?;
    found.set_item("step", explanation.step)?;
    let values = PyDict::new(found.py());
    for (name, value) in &explanation.values {
        values.set_item(name, value)?;
    }
    found.set_item("values", values)?;
    found.set_item("notes", &explanation.notes)?;
    found.set_item("rendered", rendered)
}

/// Returns the name of the exception's class.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Unreadable { .. }
        | Error::Text { .. }
        | Error::Image { .. }
        | Error::Constant(_)
        | Error::Refused { .. } => "ProgramError",
        Error::Trap { .. } => "Trap",
        Error::StepLimit { .. } => "StepLimit",
        Error::Doubtful { .. } | Error::Underivable(_) => "DerivativeError",
        Error::NoSuchResults { .. } | Error::Leftovers { .. } | Error::NotRestored => "NotReversible",
        Error::Engine(_) | Error::Device(_) => "DeviceError",
        Error::LostThread | Error::NothingToRead(_) | Error::NoBeginning => "Error",
        _ => "InputError",
    }
}
