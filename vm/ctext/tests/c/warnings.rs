//! The text as users compile it: each compiler that is there, at the highest level, has nothing to say; nor where every function
//! is called, in either width of floats.

use std::process::{Command, Stdio};

use reviver_ctext::text::CText;
use reviver_isa::Function;
use reviver_isa::function::Form;
use reviver_lab::subject::Subject;

use super::compiled::compile;

/// A program that calls every function of reals.
fn all_functions(system: &str) -> String {
    let of_reals = Function::ALL.iter().filter(|function| function.forms().any(|form| form == Form::Real));
    let lines = of_reals.map(|function| {
        let sources = ["", ", a", ", a, b"][function.arity()];
        format!("add.{} y{sources}\n", function.name())
    });
    format!(
        ".real {system}\n.in a: real = 0.5, b: real = 0.25, n = 3\n.out y: real\nrot a, b, y\n{}add.powi y, a, n\n",
        lines.collect::<String>()
    )
}

fn is_there(compiler: &str) -> bool {
    let asked = Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

#[test]
fn compilers_have_nothing_to_say() {
    let folder = tempfile::tempdir().unwrap();
    for compiler in ["gcc", "clang"] {
        if !is_there(compiler) {
            println!("NOT TRIED: there is no {compiler}");
            continue;
        }
        for system in ["f64", "f32"] {
            let subject = Subject::new(&all_functions(system)).unwrap();
            let text = CText::of(&subject.program, "functions", Some("y")).unwrap();
            let (source, header) = (folder.path().join("functions.c"), folder.path().join("functions.h"));
            std::fs::write(&source, text.source()).unwrap();
            std::fs::write(&header, text.header()).unwrap();
            let library = folder.path().join("library.o");
            let options = ["-O3", "-c", "-Wshadow"];
            compile(compiler, &options, &source, &library)
                .unwrap_or_else(|said| panic!("{compiler}: {said}"));
            // The header alone, before and behind the source's own copy of it.
            let user = folder.path().join("user.c");
            std::fs::write(
                &user,
                "#include \"functions.h\"\n#include \"functions.c\"\n#include \"functions.h\"\n",
            )
            .unwrap();
            compile(compiler, &["-O1", "-c"], &user, &library)
                .unwrap_or_else(|said| panic!("{compiler}: {said}"));
        }
    }
}
