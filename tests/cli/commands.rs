//! Subcommands without a separate test module, and help of the command line.

use crate::support::{Folder, command, reviver, with_input};

#[test]
fn help_and_version_are_printed() {
    reviver("--version").expect(0).prints(concat!("reviver ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = reviver("--help").expect(0).stdout;
    assert!(help.contains("Exit codes: 0 success"), "{help}");
    assert_eq!(reviver("").expect(2).stderr, help, "without arguments the help is shown");
    for name in [
        "run",
        "batch",
        "devices",
        "bench",
        "plot",
        "graph",
        "circuit",
        "asm",
        "disasm",
        "build",
        "expand",
        "check",
        "test",
        "course",
        "fmt",
        "invert",
        "bennett",
        "tradeoff",
        "isa",
        "explain",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
        let page = reviver(&format!("{name} --help")).expect(0).stdout;
        assert!(page.contains(&format!("Usage: reviver {name}")), "{page}");
    }
    reviver("runn").expect(2).says("'run'");
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = reviver(&format!("completions {shell}")).expect(0).stdout;
        assert!(script.contains("reviver") && script.contains("from-state"), "{shell}");
    }
    reviver("completions tcsh").expect(2);
}

#[test]
fn the_manual_finds_instructions_and_suggests_near_misses() {
    let page = reviver("isa add.mul").expect(0).stdout;
    assert!(page.contains("a·b"), "{page}");
    let page = reviver("isa swap").expect(0).stdout;
    assert!(page.contains("Inverse"), "{page}");
    assert!(reviver("isa").expect(0).stdout.contains("  swap "));
    for (word, said) in [
        ("for", "a new counter"),
        (".proc", "`uncall`"),
        ("from", "from, an update"),
        ("fi", "exit must hold"),
    ] {
        let page = reviver(&format!("isa {word}")).expect(0).stdout.to_lowercase();
        assert!(page.contains(said), "{page}");
    }
    reviver("isa .prok").expect(2).says("did you mean `.proc`?");
    reviver("isa swpa").expect(2).says("did you mean `swap`?");
    reviver("isa add.mull").expect(2).says("did you mean `add.mul`?");
    reviver("isa zzzzzz").expect(2).says("lists all instructions");
}

#[test]
fn images_and_texts_round_trip() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let [image, text, again] = ["fib.rbc", "flat.rasm", "again.rbc"].map(path);
    reviver(&format!("asm programs/fib.rasm -o {image}")).expect(0);
    reviver(&format!("disasm {image} -o {text}")).expect(0);
    reviver(&format!("asm {text} -o {again}")).expect(0);
    assert_eq!(folder.read("fib.rbc"), folder.read("again.rbc"));
    let piped = with_input("run - --set n=3", &folder.read("fib.rbc")).expect(0);
    assert_eq!(piped.stdout, "a = 2\nb = 3\n");
    reviver("asm programs/fib.rasm").expect(2).says("--output");
}

#[test]
fn check_describes_a_program() {
    reviver("check programs/fib.rasm")
        .expect(0)
        .prints("every instruction can be undone; 7 instructions, 0 procedures other than main, 64 bits, f64; nothing was run\n");
    let ran = reviver("check programs/erase.rasm").expect(0);
    assert!(ran.stdout.starts_with("not reversible: 4 erasures; "), "{ran:?}");
}

/// An image has no text, so `check` can't search it for warnings.
#[test]
fn check_of_an_image_notes_that_warnings_need_the_text() {
    let folder = Folder::new();
    let text = folder.file("spare.rasm", ".inout x\n.var spare\nadd x, 1\n");
    let image = folder.path("spare.rbc").display().to_string();
    reviver(&format!("asm {text} -o {image}")).expect(0).says("nothing uses the cell `spare`");
    let ran = reviver(&format!("check {image}")).expect(0).says("");
    assert!(ran.stdout.ends_with("; an image has no text to check for warnings\n"), "{ran:?}");
    assert!(reviver(&format!("check {image} --json")).expect(0).json()["diagnostics"].is_null());
    assert!(reviver(&format!("check {text} --json")).expect(0).json()["diagnostics"].is_array());
}

#[test]
fn fmt_prints_rewrites_or_checks() {
    let folder = Folder::new();
    let file = folder.file("loose.rasm", ".inout   x\nadd x,1\n");
    reviver(&format!("fmt --check {file}")).expect(1).says("not formatted: ");
    let neat = reviver(&format!("fmt {file}")).expect(0).stdout;
    assert_eq!(folder.read("loose.rasm"), b".inout   x\nadd x,1\n");
    reviver(&format!("fmt --write {file}")).expect(0).prints("");
    assert_eq!(folder.read("loose.rasm"), neat.as_bytes());
    reviver(&format!("fmt --check {file}")).expect(0);
    with_input("fmt -", b".inout   x\nadd x,1\n").expect(0).prints(&neat);
    reviver("fmt").expect(2);
}

#[test]
fn inverting_twice_gives_an_equivalent_program() {
    let folder = Folder::new();
    let inverse = folder.path("inverse.rasm").display().to_string();
    reviver(&format!("invert programs/fib.rasm -o {inverse}")).expect(0);
    reviver(&format!("run {inverse} --set a=55,b=89 --check")).expect(0).prints(
        "n = 10\nrestored: yes, bit for bit\nsteps: 52 forward, 52 backward, history: 0 bytes, erased: 0 bits\n",
    );
    let twice = reviver(&format!("invert {inverse}")).expect(0).stdout;
    with_input("run - --set n=10", twice.as_bytes()).expect(0).prints("a = 55\nb = 89\n");
}

#[test]
fn nothing_is_coloured_in_a_pipe() {
    let folder = Folder::new();
    let file = folder.file("bad.rasm", "frob r0\n");
    for arguments in [format!("check {file}"), "--help".into(), "run".into()] {
        let ran = reviver(&arguments);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains('\x1b'), "{ran:?}");
    }
    let output =
        command().args(["run", "programs/leapfrog.rasm", "--set", "steps=2000000"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "no progress line in a pipe");
}
