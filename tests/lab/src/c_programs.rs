//! Compiles the C texts of several programs into one executable, which answers queries on standard input.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reviver_ctext::text::CText;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role};
use reviver_vm::{Program, State};

/// Returns the C compiler of this system: `$CC`, otherwise `cc`, `gcc` or `clang`. Prints a note if there is none.
pub fn compiler() -> Option<String> {
    let named = std::env::var("CC").ok();
    let known = named.into_iter().chain(["cc", "gcc", "clang"].map(str::to_owned));
    let found = known.into_iter().find(|name| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    if found.is_none() {
        println!("NOT TRIED: there is no C compiler (`cc`, or what `$CC` names)");
    }
    found
}

/// Compiles a C file with all warnings as errors.
///
/// # Errors
/// Output of the compiler, including warnings.
pub fn compile(compiler: &str, options: &[&str], source: &Path, output: &Path) -> Result<(), String> {
    let usual = ["-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-pedantic", "-Werror"];
    // With `-c` nothing is linked, and a compiler would warn about the unused library.
    let library = if options.contains(&"-c") { None } else { Some("-lm") };
    let mut command = Command::new(compiler);
    command.args(usual).args(options).arg("-o").arg(output).arg(source).args(library);
    let asked = command.output();
    let answer = asked.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&answer.stderr).into_owned();
    if answer.status.success() && said.is_empty() { Ok(()) } else { Err(said) }
}

/// Returns true if the compiler accepts the options and builds a program that runs.
pub fn links(compiler: &str, options: &[&str]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "int main(void) {\n    return 0;\n}\n").unwrap();
    let program = folder.path().join("empty");
    compile(compiler, options, &source, &program).is_ok()
        && Command::new(program).status().is_ok_and(|status| status.success())
}

/// C function that a query calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CAsked {
    /// Function for the forward run, without checks of its arguments.
    There,
    /// Function for the backward run, without checks of its arguments.
    Back,
    /// Public function for the gradient, which checks its arguments, and copies results only on success.
    Gradient,
    Forward,
    Backward,
}

/// Query: the C function to call, and its start state.
#[derive(Clone, Debug)]
pub struct CQuestion {
    /// Index of the program.
    pub program: usize,
    pub function: CAsked,
    pub ints: Vec<i64>,
    pub reals: Vec<u64>,
    pub adjoints: Vec<u64>,
}

impl CQuestion {
    pub fn of(program: usize, function: CAsked, state: &State) -> CQuestion {
        let adjoints =
            state.adjoints.as_ref().map_or_else(|| vec![0; state.reals.len()], |a| a.cells.clone());
        CQuestion { program, function, ints: state.ints.clone(), reals: state.reals.clone(), adjoints }
    }
}

/// Outcome of a query to a C function.
#[derive(Clone, Debug, PartialEq)]
pub struct CAnswer {
    pub status: i64,
    pub steps: i64,
    /// Counts of erased bits, discarded bits, and drops.
    pub counts: [u64; 3],
    pub ints: Vec<i64>,
    pub reals: Vec<u64>,
    /// Loss and derivatives of a gradient, in the order of the function's parameters.
    pub adjoints: Vec<u64>,
}

/// Executable of programs that were compiled together.
pub struct CompiledPrograms {
    folder: tempfile::TempDir,
    executable: PathBuf,
}

impl CompiledPrograms {
    /// Compiles programs into one executable. The flag of an entry is true if the program's gradient is compiled, too.
    ///
    /// # Panics
    /// Panics if the compiler refuses the text, or warns.
    pub fn new(compiler: &str, options: &[&str], programs: &[(&Program, &CText, bool)]) -> CompiledPrograms {
        let texts: Vec<CText> = programs.iter().map(|(_, text, _)| (*text).clone()).collect();
        let mut source = CText::source_of(&texts);
        source.push_str(QUESTIONS);
        for (program, text, has_loss) in programs {
            source.push_str(&answers(program, text, *has_loss));
        }
        source.push_str("int main(void) {\n    int n, asked;\n    while (scanf(\"%d %d\", &n, &asked) == 2) {\n        switch (n) {\n");
        for (n, (_, text, _)) in programs.iter().enumerate() {
            let _ = writeln!(
                source,
                "        case {n}:\n            answer_{}(asked);\n            break;",
                text.prefix()
            );
        }
        source.push_str("        default:\n            return 1;\n        }\n    }\n    return 0;\n}\n");
        let folder = tempfile::tempdir().unwrap();
        let (file, executable) = (folder.path().join("programs.c"), folder.path().join("programs"));
        std::fs::write(&file, &source).unwrap();
        if let Err(said) = compile(compiler, options, &file, &executable) {
            let kept = std::env::temp_dir().join("reviver-refused.c");
            let _ = std::fs::write(&kept, &source);
            panic!("{} is refused:\n{}", kept.display(), said.chars().take(4000).collect::<String>());
        }
        CompiledPrograms { folder, executable }
    }

    /// Runs the executable on all queries, and returns their outcomes in order.
    pub fn ask(&self, questions: &[CQuestion]) -> Vec<CAnswer> {
        let mut input = String::new();
        for question in questions {
            let _ = write!(input, "{} {}", question.program, question.function as i32);
            let cells = question.ints.iter().map(|value| *value as u64);
            for bits in cells.chain(question.reals.iter().copied()).chain(question.adjoints.iter().copied()) {
                let _ = write!(input, " {bits:x}");
            }
            input.push('\n');
        }
        let (path, answers) = (self.folder.path().join("questions"), self.folder.path().join("answers"));
        std::fs::File::create(&path).unwrap().write_all(input.as_bytes()).unwrap();
        let output = std::fs::File::create(&answers).unwrap();
        let status =
            Command::new(&self.executable).stdin(std::fs::File::open(&path).unwrap()).stdout(output).status();
        assert!(status.unwrap().success(), "the compiled programs end with an error");
        let text = std::fs::read_to_string(&answers).unwrap();
        let found: Vec<CAnswer> =
            text.lines().zip(questions).map(|(line, question)| read(line, question)).collect();
        assert_eq!(found.len(), questions.len());
        found
    }
}

fn read(line: &str, question: &CQuestion) -> CAnswer {
    let mut numbers =
        line.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{line}")));
    let mut next = || numbers.next().unwrap();
    let (status, steps) = (next() as i64, next() as i64);
    let counts = [next(), next(), next()];
    let ints = question.ints.iter().map(|_| next() as i64).collect();
    let reals = question.reals.iter().map(|_| next()).collect();
    CAnswer { status, steps, counts, ints, reals, adjoints: numbers.collect() }
}

/// Returns the globals that are inputs of the gradient's C function, each with its index among all globals.
pub fn given(program: &Program) -> impl Iterator<Item = (usize, &Global)> {
    program
        .module()
        .globals
        .iter()
        .enumerate()
        .filter(|(_, global)| global.role.is_given() && global.shape.cells() > 0)
}

/// Returns the text of the C function that answers queries about a program.
fn answers(program: &Program, text: &CText, has_loss: bool) -> String {
    let p = text.prefix();
    let (ints, reals) = program.flow().layout().static_cells();
    let kind = kind(program.module().real);
    let gradient = if has_loss { gradient_asked(program, p) } else { String::new() };
    let (forward, backward) = (public_asked(program, p, "forward"), public_asked(program, p, "backward"));
    format!(
        "static void tell_{p}(int status, const struct {p}_memory *m) {{\n\
        \x20   printf(\"%llx %llx %llx %llx %llx\", (unsigned long long)status, (unsigned long long)m->steps, (unsigned long long)m->erased_bits, (unsigned long long)m->discarded_bits, (unsigned long long)m->drops);\n\
        \x20   for (size_t i = 0; i < {ints}; i++) {{\n        printf(\" %llx\", (unsigned long long)m->ints[i]);\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        printf(\" %llx\", (unsigned long long)bits_{kind}(m->reals[i]));\n    }}\n}}\n\
        static void answer_{p}(int asked) {{\n    static struct {p}_memory m;\n    int status = 0;\n    {p}_begin(&m);\n\
        \x20   for (size_t i = 0; i < {ints}; i++) {{\n        m.ints[i] = (int64_t)next();\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        m.reals[i] = of_bits_{kind}(next());\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        m.adjoints[i] = of_bits_{kind}(next());\n    }}\n\
        \x20   switch (asked) {{\n    case {there}:\n        status = {p}_run_forward(&m);\n        break;\n\
        \x20   case {back}:\n        status = {p}_run_backward(&m);\n        break;\n\
        \x20   case {forward_asked}: {{\n{forward}        break;\n    }}\n\
        \x20   case {backward_asked}: {{\n{backward}        break;\n    }}\n\
        \x20   default: {{\n{gradient}        return;\n    }}\n    }}\n    tell_{p}(status, &m);\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        printf(\" %llx\", (unsigned long long)bits_{kind}(m.adjoints[i]));\n    }}\n    printf(\"\\n\");\n}}\n",
        there = CAsked::There as i32,
        back = CAsked::Back as i32,
        forward_asked = CAsked::Forward as i32,
        backward_asked = CAsked::Backward as i32,
    )
}

/// Returns the C type that parameters of public functions have for numbers of a class.
fn passed(program: &Program, class: Class) -> String {
    match class {
        Class::Int => format!("int{}_t", program.module().word.bits()),
        Class::Real => kind(program.module().real).to_owned(),
    }
}

/// Returns C statements that copy a global's cells from the memory `m` to a new array. The array's name is `a` followed
/// by the global's index.
fn copied_out(program: &Program, n: usize, class: Class) -> String {
    let (cells, of, array) = (program.cells(n), passed(program, class), array(class));
    let (count, start) = (cells.len(), cells.start);
    format!(
        "        {of} a{n}[{count}];\n        for (size_t i = 0; i < {count}; i++) {{\n            a{n}[i] = ({of})m.{array}[{start} + i];\n        }}\n"
    )
}

fn array(class: Class) -> &'static str {
    if class == Class::Int { "ints" } else { "reals" }
}

/// Returns C statements that copy cells to arrays, call a public function with these arrays, and copy the arrays
/// back.
fn public_asked(program: &Program, p: &str, function: &str) -> String {
    let globals = program.module().globals.iter().enumerate();
    let public = globals.filter(|(_, global)| global.role != Role::Private && global.shape.cells() > 0);
    let (mut before, mut arguments, mut after) = (String::new(), String::new(), String::new());
    for (n, global) in public {
        before.push_str(&copied_out(program, n, global.class));
        let _ = write!(arguments, ", a{n}");
        let (cells, array) = (program.cells(n), array(global.class));
        let (count, start) = (cells.len(), cells.start);
        let _ = write!(
            after,
            "        for (size_t i = 0; i < {count}; i++) {{\n            m.{array}[{start} + i] = a{n}[i];\n        }}\n"
        );
    }
    format!("{before}        status = {p}_{function}(&m{arguments});\n{after}")
}

/// Returns C statements that compute the gradient and print the results.
fn gradient_asked(program: &Program, p: &str) -> String {
    let kind = kind(program.module().real);
    let (mut text, mut arguments, mut outputs) = (String::new(), String::new(), Vec::new());
    for (n, global) in given(program) {
        text.push_str(&copied_out(program, n, global.class));
        let _ = write!(arguments, "a{n}, ");
        if global.class == Class::Real {
            let cells = program.cells(n).len();
            let _ = writeln!(text, "        {kind} g{n}[{cells}] = {{0}};");
            outputs.push((n, cells));
        }
    }
    let taken: String = outputs.iter().map(|(n, _)| format!(", g{n}")).collect();
    let _ = write!(
        text,
        "        {kind} loss = 0;\n        status = {p}_gradient(&m, {arguments}&loss{taken});\n        tell_{p}(status, &m);\n        printf(\" %llx\", (unsigned long long)bits_{kind}(loss));\n"
    );
    for (n, cells) in outputs {
        let _ = write!(
            text,
            "        for (size_t i = 0; i < {cells}; i++) {{\n            printf(\" %llx\", (unsigned long long)bits_{kind}(g{n}[i]));\n        }}\n"
        );
    }
    text.push_str("        printf(\"\\n\");\n");
    text
}

fn kind(system: RealSystem) -> &'static str {
    match system {
        RealSystem::F64 => "double",
        RealSystem::F32 => "float",
        RealSystem::Fixed(_) => "int64_t",
    }
}

const QUESTIONS: &str = "
#include <stdio.h>
static uint64_t next(void) {
    unsigned long long bits = 0;
    if (scanf(\"%llx\", &bits) != 1) {
        bits = 0;
    }
    return bits;
}
uint64_t bits_double(double a);
uint64_t bits_double(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
double of_bits_double(uint64_t bits);
double of_bits_double(uint64_t bits) {
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}
uint64_t bits_float(float a);
uint64_t bits_float(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
float of_bits_float(uint64_t bits);
float of_bits_float(uint64_t bits) {
    uint32_t own = (uint32_t)bits;
    float a;
    memcpy(&a, &own, sizeof a);
    return a;
}
uint64_t bits_int64_t(int64_t a);
uint64_t bits_int64_t(int64_t a) {
    return (uint64_t)a;
}
int64_t of_bits_int64_t(uint64_t bits);
int64_t of_bits_int64_t(uint64_t bits) {
    return (int64_t)bits;
}
";
