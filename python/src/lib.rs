//! The native module of the Python package `reviver_vm`. It converts between Python objects and the library `reviver`,
//! which does all the work. The package's other modules are written in Python, in `reviver_vm/`.
//!
//! | file | subject |
//! |---|---|
//! | `program` | the class `Program`: compilation, calls in both directions |
//! | `compiled` | cells by name; workspaces, each for one call at a time |
//! | `given` | inputs: Python objects as numbers of cells |
//! | `found` | results: numbers of cells as Python objects; the class `Results` |
//! | `patient` | calls without the interpreter's lock, which Ctrl-C stops |
//! | `derivatives` | the functions that the methods `value_and_grad`, `jacobian` and others return |
//! | `batch`, `arrow` | many lanes at once, in NumPy arrays or Arrow tables |
//! | `lane_inputs`, `lane_results` | inputs and results of batches as NumPy arrays |
//! | `recording` | the class `Recording`: a run whose time points can be visited and questioned |
//! | `errors` | exceptions |

mod arrow;
mod batch;
mod compiled;
mod derivatives;
mod errors;
mod found;
mod given;
mod lane_inputs;
mod lane_results;
mod patient;
mod program;
mod recording;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::Table;
    #[pymodule_export]
    use super::derivatives::DerivativeFunction;
    #[pymodule_export]
    use super::found::Results;
    #[pymodule_export]
    use super::program::Program;
    #[pymodule_export]
    use super::recording::{Recording, TimePoint};
}
