//! `reviver jvp`: writes the derivatives of a program along a direction (Jacobian–vector products) as a program.

use reviver::selection::Selection;
use reviver_assembler::adjoint::{TangentRequest, tangent_text};
use reviver_isa::module::Shape;
use reviver_vm::differentiate::Subject;

use crate::cli::JvpOptions;
use crate::commands::emit::Original;
use crate::failure::{Failure, Fallible};
use crate::{read, subject};

pub fn run(options: &JvpOptions) -> Fallible {
    if !options.emit {
        let direction = options.wrt.join(",").replace(',', "=1,");
        return Err(Failure::usage("`jvp` only writes programs, and `--emit` is missing")
            .help("add `--emit`")
            .help(format_args!(
                "or use `reviver jacobian {} --times {direction}=1`, which computes the derivatives",
                read::name(&options.file)
            )));
    }
    let original = Original::read(&options.file, options.written.output.as_deref(), "no tangent program")?;
    let tangents = |request: &TangentRequest| {
        let Original { name, bytes, new_name, .. } = &original;
        original.text(tangent_text(name, bytes.clone(), (request, new_name), read::files()))
    };
    // A program that names adjoints has no subject. The construction of the tangent program reports the places.
    let subject =
        original.subject()?.or_else(|error| tangents(&TangentRequest::default()).and(Err(error)))?;
    let request = TangentRequest { inputs: inputs(&subject, &options.wrt)? };
    original.write(tangents(&request)?, options.level, options.written.force.force)
}

/// Returns the names of the inputs that change along the direction. Each must be a scalar or a whole array.
fn inputs(subject: &Subject, names: &[String]) -> Fallible<Vec<String>> {
    subject::inputs(subject, names)?.into_iter().map(|selection| input(subject, selection)).collect()
}

fn input(subject: &Subject, Selection { name, .. }: Selection) -> Fallible<String> {
    let (base, is_element) = match name.split_once('[') {
        Some((array, _)) => (array, true),
        None => (name.as_str(), false),
    };
    if is_element {
        return Err(Failure::usage(format_args!("--wrt: `{name}` is an element of an array"))
            .help(format_args!("name the whole array, `--wrt {base}`: its direction selects the elements")));
    }
    let global = subject.program.global(base).map(|(_, global)| global);
    match global {
        Some(global) if global.shape == Shape::Stack => {
            Err(Failure::usage(format_args!("--wrt: `{name}` is a stack"))
                .help("declare an array instead of the stack"))
        }
        Some(global) if !global.role.is_given() => {
            Err(Failure::usage(format_args!("--wrt: `{name}` isn't an input of the program"))
                .help("name cells that `.in` or `.inout` declares"))
        }
        _ => Ok(name),
    }
}
