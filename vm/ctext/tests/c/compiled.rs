//! Programs as C text in one file, compiled by the system's compiler, and run by questions on standard input.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reviver_ctext::text::CText;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem};
use reviver_vm::{Program, State};

/// A compiler that is there.
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

/// Compiles a C file; what the compiler says if it isn't silent.
pub fn compile(compiler: &str, options: &[&str], source: &Path, output: &Path) -> Result<(), String> {
    let usual = ["-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-pedantic", "-Werror"];
    // A compiler that doesn't link warns of what it would link with.
    let library = if options.contains(&"-c") { None } else { Some("-lm") };
    let mut command = Command::new(compiler);
    command.args(usual).args(options).arg("-o").arg(output).arg(source).args(library);
    let asked = command.output();
    let answer = asked.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&answer.stderr).into_owned();
    if answer.status.success() && said.is_empty() { Ok(()) } else { Err(said) }
}

/// Whether a compiler takes options, and makes a program with them.
pub fn links(compiler: &str, options: &[&str]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "int main(void) {\n    return 0;\n}\n").unwrap();
    let program = folder.path().join("empty");
    compile(compiler, options, &source, &program).is_ok()
        && Command::new(program).status().is_ok_and(|status| status.success())
}

/// What is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    There,
    Back,
    Gradient,
}

/// Where a run begins.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program's number.
    pub program: usize,
    pub way: Way,
    pub ints: Vec<i64>,
    pub reals: Vec<u64>,
    pub adjoints: Vec<u64>,
}

impl Question {
    pub fn of(program: usize, way: Way, state: &State) -> Question {
        let adjoints =
            state.adjoints.as_ref().map_or_else(|| vec![0; state.reals.len()], |a| a.cells.clone());
        Question { program, way, ints: state.ints.clone(), reals: state.reals.clone(), adjoints }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: i64,
    pub steps: i64,
    /// Erased bits, discarded bits, drops.
    pub counts: [u64; 3],
    pub ints: Vec<i64>,
    pub reals: Vec<u64>,
    /// Of a gradient the loss and the derivatives, in the order of the parameters.
    pub adjoints: Vec<u64>,
}

/// Programs that were compiled together.
pub struct Compiled {
    folder: tempfile::TempDir,
    executable: PathBuf,
}

impl Compiled {
    /// Compiles programs; with a gradient where there is a loss.
    ///
    /// # Panics
    /// The compiler refuses the text, or warns.
    pub fn new(compiler: &str, options: &[&str], programs: &[(&Program, &CText, bool)]) -> Compiled {
        let texts: Vec<CText> = programs.iter().map(|(_, text, _)| (*text).clone()).collect();
        let mut source = CText::source_of(&texts);
        source.push_str(QUESTIONS);
        for (program, text, has_loss) in programs {
            source.push_str(&answers(program, text, *has_loss));
        }
        source.push_str("int main(void) {\n    int n, way;\n    while (scanf(\"%d %d\", &n, &way) == 2) {\n        switch (n) {\n");
        for (n, (_, text, _)) in programs.iter().enumerate() {
            let _ = writeln!(
                source,
                "        case {n}:\n            answer_{}(way);\n            break;",
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
        Compiled { folder, executable }
    }

    /// Answers questions, in their order.
    pub fn ask(&self, questions: &[Question]) -> Vec<Answer> {
        let mut input = String::new();
        for question in questions {
            let _ = write!(input, "{} {}", question.program, question.way as i32);
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
        let found: Vec<Answer> =
            text.lines().zip(questions).map(|(line, question)| read(line, question)).collect();
        assert_eq!(found.len(), questions.len());
        found
    }
}

fn read(line: &str, question: &Question) -> Answer {
    let mut numbers =
        line.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{line}")));
    let mut next = || numbers.next().unwrap();
    let (status, steps) = (next() as i64, next() as i64);
    let counts = [next(), next(), next()];
    let ints = question.ints.iter().map(|_| next() as i64).collect();
    let reals = question.reals.iter().map(|_| next()).collect();
    Answer { status, steps, counts, ints, reals, adjoints: numbers.collect() }
}

/// The globals that a gradient is given.
pub fn given(program: &Program) -> impl Iterator<Item = (usize, &Global)> {
    program
        .module()
        .globals
        .iter()
        .enumerate()
        .filter(|(_, global)| global.role.is_given() && global.shape.cells() > 0)
}

/// The function that answers questions about a program.
fn answers(program: &Program, text: &CText, has_loss: bool) -> String {
    let (p, module) = (text.prefix(), program.module());
    let (_, reals) = program.flow().layout().static_cells();
    let (ints, kind) = (program.flow().layout().static_cells().0, kind(module.real));
    let mut gradient = String::new();
    if has_loss {
        let word = module.word.bits();
        let of = |class| if class == Class::Int { format!("int{word}_t") } else { kind.to_owned() };
        let (mut arguments, mut outputs) = (String::new(), Vec::new());
        for (n, global) in given(program) {
            let (cells, of) = (program.cells(n), of(global.class));
            let array = if global.class == Class::Int { "ints" } else { "reals" };
            let _ = write!(
                gradient,
                "        {of} a{n}[{}];\n        for (size_t i = 0; i < {}; i++) {{\n            a{n}[i] = ({of})m.{array}[{} + i];\n        }}\n",
                cells.len(),
                cells.len(),
                cells.start
            );
            let _ = write!(arguments, "a{n}, ");
            if global.class == Class::Real {
                let _ = writeln!(gradient, "        {of} g{n}[{}] = {{0}};", cells.len());
                outputs.push((n, cells.len()));
            }
        }
        let taken: String = outputs.iter().map(|(n, _)| format!(", g{n}")).collect();
        let _ = write!(
            gradient,
            "        {kind} loss = 0;\n        status = {p}_gradient(&m, {arguments}&loss{taken});\n        tell_{p}(status, &m);\n        printf(\" %llx\", (unsigned long long)bits_{kind}(loss));\n"
        );
        for (n, cells) in outputs {
            let _ = write!(
                gradient,
                "        for (size_t i = 0; i < {cells}; i++) {{\n            printf(\" %llx\", (unsigned long long)bits_{kind}(g{n}[i]));\n        }}\n"
            );
        }
        gradient.push_str("        printf(\"\\n\");\n        return;\n");
    }
    format!(
        "static void tell_{p}(int status, const struct {p}_memory *m) {{\n\
        \x20   printf(\"%llx %llx %llx %llx %llx\", (unsigned long long)status, (unsigned long long)m->steps, (unsigned long long)m->erased_bits, (unsigned long long)m->discarded_bits, (unsigned long long)m->drops);\n\
        \x20   for (size_t i = 0; i < {ints}; i++) {{\n        printf(\" %llx\", (unsigned long long)m->ints[i]);\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        printf(\" %llx\", (unsigned long long)bits_{kind}(m->reals[i]));\n    }}\n}}\n\
        static void answer_{p}(int way) {{\n    static struct {p}_memory m;\n    int status = 0;\n    {p}_begin(&m);\n\
        \x20   for (size_t i = 0; i < {ints}; i++) {{\n        m.ints[i] = (int64_t)next();\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        m.reals[i] = of_bits_{kind}(next());\n    }}\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        m.adjoints[i] = of_bits_{kind}(next());\n    }}\n\
        \x20   if (way == 2) {{\n{gradient}    }}\n    status = way == 0 ? {p}_there(&m) : {p}_back(&m);\n    tell_{p}(status, &m);\n\
        \x20   for (size_t i = 0; i < {reals}; i++) {{\n        printf(\" %llx\", (unsigned long long)bits_{kind}(m.adjoints[i]));\n    }}\n    printf(\"\\n\");\n}}\n"
    )
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
