//! Compiles the text in the same way as users. Installed compilers must give no warning at their highest warning level,
//! for a text with all functions, in each number system, and for any names of cells. No compiler may fuse or reorder
//! operations on floats.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use reviver_ctext::text::{CGradient, CText};
use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_isa::names::{is_name, register_class};
use reviver_lab::c_programs::compile;
use reviver_lab::subject::Subject;
use reviver_vm::CheckLevel;

/// Returns a program that calls every function of reals.
fn all_functions(system: &str) -> String {
    let of_reals = Function::ALL
        .iter()
        .filter(|function| function.signatures().any(|signature| signature == Signature::Real));
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

/// Returns the C compilers that are installed.
fn compilers() -> impl Iterator<Item = &'static str> {
    ["gcc", "clang"].into_iter().filter(|compiler| {
        let found = is_there(compiler);
        if !found {
            println!("NOT TRIED: there is no {compiler}");
        }
        found
    })
}

#[test]
fn compilers_give_no_warnings() {
    let folder = tempfile::tempdir().unwrap();
    for compiler in compilers() {
        for system in ["f64", "f32", "fixed"] {
            let subject = Subject::new(&all_functions(system)).unwrap();
            let text =
                CText::of(&subject.program, "functions", Some(CGradient::Loss("y")), CheckLevel::Checked)
                    .unwrap();
            let (source, header) = (folder.path().join("functions.c"), folder.path().join("functions.h"));
            std::fs::write(&source, text.source()).unwrap();
            std::fs::write(&header, text.header()).unwrap();
            let library = folder.path().join("library.o");
            let options = ["-O3", "-c", "-Wshadow"];
            compile(compiler, &options, &source, &library)
                .unwrap_or_else(|said| panic!("{compiler}: {said}"));
            // The header is included before and after the C file, which contains a copy of the header.
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

/// Returns the words of a text that are valid names of cells. Of the words that end with at least two digits, includes
/// only the first 40.
fn words(text: &str) -> BTreeSet<String> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let words =
        text.split(|sign| !is_part(sign)).filter(|word| is_name(word) && register_class(word).is_none());
    let (numbered, others): (BTreeSet<&str>, BTreeSet<&str>) = words
        .partition(|word| word.trim_end_matches(|sign: char| sign.is_ascii_digit()).len() + 2 <= word.len());
    others.into_iter().chain(numbered.into_iter().take(40)).map(str::to_owned).collect()
}

/// Returns a program with cells of these names; the program reads and changes all of them.
fn called(names: &BTreeSet<String>) -> String {
    let names: Vec<&String> = names.iter().collect();
    let declared: String = names
        .iter()
        .enumerate()
        .map(|(n, name)| match n % 3 {
            0 => format!(".inout {name}\n"),
            1 => format!(".inout {name}: real\n"),
            _ => format!(".inout {name}[2]: real\n"),
        })
        .collect();
    let changed: String = names
        .windows(6)
        .enumerate()
        .map(|(n, names)| match n % 3 {
            0 => format!("add {}, {}\n", names[3], names[0]),
            1 => format!("add.mul {}, {}, {}[1]\n", names[3], names[0], names[1]),
            _ => format!("add.exp {}[0], {}[1]\n", names[3], names[0]),
        })
        .collect();
    format!("{declared}.out y_of_all: real\n{changed}add y_of_all, {}\n", names[1])
}

#[test]
fn cells_may_have_the_names_of_identifiers_in_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::new(".in a: real = 0.5, n = 3\n.out y: real, z: real\nrot a, z, y\nadd y, tanh(a)\nadd.powi y, a, n\nadd z, log(a)\n").unwrap();
    let first =
        CText::of(&subject.program, "functions", Some(CGradient::Loss("y")), CheckLevel::Checked).unwrap();
    let mut names = words(&first.source());
    // These are C keywords that the text doesn't contain, and macros of compilers and headers.
    names.extend(words(
        "asm auto bool class delete double_t errno fmax linux long M_PI M_PI_2 new nullptr NULL register restrict signed this \
         UINT64_MAX union unix volatile functions_begin functions_there FUNCTIONS_DONE rv_exp_f64 I complex",
    ));
    let expected: [&[&str]; 2] = [
        &[
            "functions_there",
            "i",
            "value",
            "memcpy",
            "size_t",
            "DBL_MAX",
            "FUNCTIONS_DONE",
            "rv_exp_f64",
            "a_",
        ],
        &["size_t_", "DBL_MAX_", "a__"],
    ];
    // The second iteration uses the identifiers that the text derives from these names.
    for (round, expected) in expected.iter().enumerate() {
        assert!(expected.iter().all(|name| names.contains(*name)), "{names:?}");
        let subject = Subject::new(&called(&names)).unwrap_or_else(|error| panic!("{error:?}"));
        let text =
            CText::of(&subject.program, "functions", Some(CGradient::Loss("y_of_all")), CheckLevel::Checked)
                .unwrap();
        let (source, user) = (folder.path().join("functions.c"), folder.path().join("user.c"));
        std::fs::write(&source, text.source()).unwrap();
        std::fs::write(folder.path().join("functions.h"), text.header()).unwrap();
        let headers = ["complex", "float", "math", "stdint", "stdlib", "string", "time"];
        let headers: String = headers.map(|name| format!("#include <{name}.h>\n")).concat();
        let uses =
            "#include \"functions.h\"\nint used(void);\nint used(void) {\n    return FUNCTIONS_DONE;\n}\n";
        std::fs::write(&user, format!("#define _GNU_SOURCE\n{headers}{uses}")).unwrap();
        for compiler in compilers() {
            let object = folder.path().join("functions.o");
            for (file, options) in [
                (&source, &["-O0", "-c", "-Wshadow"]),
                (&source, &["-O0", "-c", "-std=gnu11"]),
                (&user, &["-O0", "-c", "-std=gnu11"]),
            ] {
                compile(compiler, options, file, &object).unwrap_or_else(|said| {
                    panic!("{compiler}, round {round}: {}", said.chars().take(3000).collect::<String>())
                });
            }
        }
        names = words(&text.source()).difference(&names).cloned().collect();
        names.remove("y_of_all");
    }
}

#[test]
fn operations_are_neither_fused_nor_reordered() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::new(&all_functions("f64")).unwrap();
    let text =
        CText::of(&subject.program, "functions", Some(CGradient::Loss("y")), CheckLevel::Checked).unwrap();
    let (source, assembly) = (folder.path().join("functions.c"), folder.path().join("functions.s"));
    std::fs::write(&source, text.source()).unwrap();
    let one = folder.path().join("one.c");
    std::fs::write(
        &one,
        "double one(double a, double b);\ndouble one(double a, double b) {\n    return a * b + a;\n}\n",
    )
    .unwrap();
    for compiler in compilers() {
        let build = |file, options: &[&str]| {
            let mut command = Command::new(compiler);
            let built =
                command.args(options).args(["-O2", "-S", "-o"]).arg(&assembly).arg(file).output().unwrap();
            let text = std::fs::read_to_string(&assembly).unwrap_or_default();
            let _ = std::fs::remove_file(&assembly);
            built.status.success().then(|| {
                text.matches("fmadd").count() + text.matches("fmsub").count() + text.matches("fnmadd").count()
            })
        };
        // First, a text without the pragmas shows that the compiler does fuse operations.
        let options = ["-mfma", "-ffp-contract=fast"];
        match build(&one, &options) {
            Some(1..) if compiler == "gcc" => assert_eq!(build(&source, &options), Some(0)),
            Some(1..) => assert_eq!(build(&source, &["-mfma", "-ffp-contract=on"]), Some(0)),
            _ => println!("NOT TRIED: {compiler} fuses nothing here"),
        }
        let refused: &[&str] = match compiler {
            "gcc" => {
                &["-ffast-math", "-funsafe-math-optimizations", "-freciprocal-math", "-ffinite-math-only"]
            }
            _ => &["-ffast-math", "-ffinite-math-only"],
        };
        for option in refused {
            assert!(build(&one, &[option]).is_some(), "{compiler} {option}");
            assert_eq!(build(&source, &[option]), None, "{compiler} {option}");
        }
    }
}
