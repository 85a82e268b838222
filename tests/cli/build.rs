//! `reviver build`: C text, headers and libraries, and refusals.

use std::process::Command;

use crate::support::{Folder, command, reviver, with_input};

/// Returns true if the command would find a C compiler.
fn has_compiler() -> bool {
    let is_there = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("NOT TRIED: there is no `cc`");
    }
    is_there
}

#[test]
fn text_and_header_are_printed_or_written() {
    let folder = Folder::new();
    let text = reviver("build programs/fib.rasm").expect(0).stdout;
    assert!(text.starts_with("/* written by `reviver build`"), "{text}");
    assert!(text.contains(
        "int fib_forward(struct fib_memory *memory, const int64_t *n_, int64_t *a_, int64_t *b_) {"
    ));
    assert_eq!(reviver("build programs/fib.rasm --c -o -").expect(0).stdout, text);
    let file = folder.path("fib.c").display().to_string();
    for _ in 0..2 {
        reviver(&format!("build programs/fib.rasm -o {file}")).expect(0).prints("");
        assert_eq!(folder.read("fib.c"), text.as_bytes());
    }
    let header = reviver("build programs/fib.rasm --header --name my-fib").expect(0).stdout;
    assert!(
        header.contains("int my_fib_backward(struct my_fib_memory *memory, int64_t *n_, const int64_t *a_"),
        "{header}"
    );
    assert!(!header.contains("_gradient"), "{header}");
    with_input("build - --header", b".in n\nadd n, 1\n").expect(0).prints_part("int program_forward(");
    reviver("build programs/fib.rasm --c --lib -o x").expect(2);
    reviver("build programs/fib.rasm --lib").expect(2).says("--output");
}

#[test]
fn seeds_are_arguments_of_the_gradient() {
    let header = reviver("build programs/complex_multiply.rasm --seed w_re,w_im --header").expect(0).stdout;
    assert!(
        header.contains("const double *w_re_seed_, const double *w_im_seed_, double *w_re_value_"),
        "{header}"
    );
    let refused = |options: &str, says: &str| {
        reviver(&format!("build programs/complex_multiply.rasm {options}")).expect(2).says(says);
    };
    refused("--seed w_re,w_re", "--seed: `w_re` is named twice");
    refused("--seed nothing", "--seed: there is no cell `nothing`");
    refused("--seed w_re --loss w_im", "cannot be used with");
}

#[test]
fn other_files_are_not_replaced() {
    let folder = Folder::new();
    let file = folder.path("mine.c").display().to_string();
    std::fs::write(&file, "int mine;\n").unwrap();
    reviver(&format!("build programs/fib.rasm -o {file}"))
        .expect(2)
        .says("is not a C text that `reviver` has written");
    assert_eq!(folder.read("mine.c"), b"int mine;\n");
    reviver(&format!("build programs/fib.rasm -o {file} --force")).expect(0);
    // A C file doesn't replace a header, nor a header a C file.
    reviver(&format!("build programs/fib.rasm --header -o {file}"))
        .expect(2)
        .says("is not a header that `reviver` has written");
    let header = folder.path("fib.h").display().to_string();
    for _ in 0..2 {
        reviver(&format!("build programs/fib.rasm --header -o {header}")).expect(0);
    }
    reviver(&format!("build programs/fib.rasm -o {header}"))
        .expect(2)
        .says("is not a C text that `reviver` has written");
}

#[test]
fn other_results_of_a_c_compiler_are_not_libraries() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    reviver(&format!("build programs/fib.rasm -o {}", path("fib.c"))).expect(0);
    reviver(&format!("build programs/fib.rasm --header -o {}", path("fib.h"))).expect(0);
    let user = "#include \"fib.h\"\nint main(void) {\n    return fib_built_by_reviver()[0] == 0;\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let made: [(&str, &[&str]); 3] =
        [("user", &["-rdynamic"]), ("libuser.so", &["-shared", "-fPIC"]), ("user.o", &["-r", "-nostdlib"])];
    for (name, options) in made {
        let mut cc = Command::new("cc");
        cc.args(options).args(["-o", &path(name), &path("user.c"), &path("fib.c"), "-lm"]);
        assert!(cc.output().unwrap().status.success(), "{name}");
        let bytes = folder.read(name);
        reviver(&format!("build programs/fib.rasm --lib -o {}", path(name)))
            .expect(2)
            .says("is not a library that `reviver` has built");
        assert_eq!(folder.read(name), bytes);
    }
}

#[test]
fn a_header_links_with_its_own_c_file_only() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let program = ".const N = 4\n.in n\n.inout A[N]: real\n.out y: real, m\nadd y, A[0] * A[1]\nadd m, n\n";
    std::fs::write(path("p.rasm"), program).unwrap();
    let options =
        ["", "--loss y", "--seed y", "--loss A[0]", "--const N=5", "--real f32", "--real fixed", "--word 32"];
    let built = |options: &str, form: &str| {
        reviver(&format!("build {} {options} {form}", path("p.rasm"))).expect(0);
    };
    let user = "#include \"p.h\"\nint main(void) {\n    static struct p_memory memory;\n\
        \x20   return (p_forward)(&memory, 0, 0, 0, 0) + (p_message(0) == 0);\n}\n";
    // The program is linked, and not run.
    std::fs::write(path("user.c"), user).unwrap();
    for (n, one) in options.iter().enumerate() {
        built(one, &format!("-o {}", path("p.c")));
        for other in [options[n], options[(n + 1) % options.len()]] {
            built(other, &format!("--header -o {}", path("p.h")));
            let linked = Command::new("cc")
                .args([&path("user.c"), &path("p.c"), "-o", &path("user"), "-lm"])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&linked.stderr);
            assert_eq!(linked.status.success(), *one == other, "{one:?} and {other:?}: {said}");
            assert!(*one == other || said.contains("p_forward_"), "{said}");
        }
    }
}

/// The number of reserved calls determines the size of the memory. So a header can't be used with a C file that
/// reserves another number.
#[test]
fn the_header_fixes_the_number_of_reserved_calls() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    reviver(&format!("build programs/fib_recursive.rasm --name f -o {}", path("f.c"))).expect(0);
    reviver(&format!("build programs/fib_recursive.rasm --name f --header -o {}", path("f.h"))).expect(0);
    let user = "#include <stdio.h>\n#include \"f.h\"\nint main(void) {\n    static struct f_memory memory;\n\
        \x20   int64_t n = 20, f = 0;\n    int status = f_forward(&memory, &n, &f);\n\
        \x20   printf(\"%d: %d %s\\n\", F_CALLS, (int)f, status == F_NO_ROOM ? \"NO_ROOM\" : f_message(status));\n    return 0;\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let compiled = |file: &str, option: &str| {
        let mut cc = Command::new("cc");
        cc.args(["-c", option, "-o", &path(&format!("{file}.o")), &path(&format!("{file}.c"))]);
        assert!(cc.output().unwrap().status.success(), "{file} {option}");
    };
    for (own, others, prints) in [
        ("-DF_CALLS=21", "-DF_CALLS=21", Some("21: 6765 the results are written\n")),
        ("-DF_CALLS=20", "-DF_CALLS=20", Some("20: 0 NO_ROOM\n")),
        ("-DF_CALLS=21", "-DF_CALLS=20", None),
        ("-DNDEBUG", "-DF_CALLS=20", None),
    ] {
        compiled("user", own);
        compiled("f", others);
        let [user, text] = ["user.o", "f.o"].map(path);
        let linked = Command::new("cc").args([&user, &text, "-o", &path("user"), "-lm"]).output().unwrap();
        assert_eq!(linked.status.success(), prints.is_some(), "{own} {others}");
        if let Some(prints) = prints {
            let ran = Command::new(path("user")).output().unwrap();
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), prints);
        }
    }
}

#[test]
fn a_discarded_adjoint_has_a_status() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    std::fs::write(
        path("p.rasm"),
        ".inout x: real\n.out n, y: real\nadd n, toint(x)\nadd y, x * x\nassert x == 2.5\n",
    )
    .unwrap();
    for form in ["-o p.c", "--header -o p.h"] {
        let (form, name) = form.rsplit_once(' ').unwrap();
        reviver(&format!("build {} --loss y {form} {}", path("p.rasm"), path(name))).expect(0);
    }
    let user = "#include <stdio.h>\n#include \"p.h\"\nint main(void) {\n    struct p_memory memory;\n    double y, by_x;\n\
        \x20   for (double x = 2; x < 3; x += 0.5) {\n        int status = p_gradient(&memory, &x, &y, &by_x);\n\
        \x20       printf(\"%d: %s\\n\", status == P_LOST_ADJOINT + P_ON_WAY_BACK, p_message(status));\n    }\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let compiled = Command::new("cc")
        .args([&path("user.c"), &path("p.c"), "-o", &path("user"), "-lm"])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let ran = Command::new(path("user")).output().unwrap();
    assert_eq!(
        String::from_utf8(ran.stdout).unwrap(),
        "0: an assertion or a join fails, an integer that must be 0 has another value, or the step to undo has lost information\n\
        1: in the reverse sweep of the gradient: a step would lose an adjoint other than 0\n"
    );
}

#[test]
fn an_infinite_derivative_that_meets_0_has_a_status() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let root =
        ".inout x: real\n.out y: real\ncompute\nlocal r = cbrt(x)\napply\nadd y, 3*x + r*r*r\nuncompute\n";
    std::fs::write(path("p.rasm"), root).unwrap();
    for form in ["-o p.c", "--header -o p.h"] {
        let (form, name) = form.rsplit_once(' ').unwrap();
        reviver(&format!("build {} --loss y {form} {}", path("p.rasm"), path(name))).expect(0);
    }
    let user = "#include <stdio.h>\n#include \"p.h\"\nint main(void) {\n    struct p_memory memory;\n    double y, by_x = 0;\n\
        \x20   for (double x = -1; x < 2; x += 1) {\n        int status = p_gradient(&memory, &x, &y, &by_x);\n\
        \x20       printf(\"%d %d %.3f\\n\", status == 0, status == P_NOT_FINITE + P_ON_WAY_BACK, by_x);\n    }\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let compiled = Command::new("cc")
        .args([&path("user.c"), &path("p.c"), "-o", &path("user"), "-lm"])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let ran = Command::new(path("user")).output().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "1 0 4.000\n0 1 4.000\n1 0 4.000\n");
}

#[test]
fn hessian_products_are_those_of_the_command() {
    if !has_compiler() {
        return;
    }
    let bodies = [
        "add y, exp(v[0]) * v[1] / v[2]\n",
        "for i in 0..3\n compute\n local s = v[i] * v[i]\n apply\n add y, sin(s) * v[0]\n uncompute\nrof\n",
        "compute\nlocal r = hypot(v[0], v[1])\napply\nadd y, r * r * v[2] + 0.5\nuncompute\n",
        "call f(y, v[0..2])\n.proc f(inout y: real, in w[]: real)\nfor i in 0..2\n add y, pow(w[i], 2.5)\nrof\n.end\n",
    ];
    let user = "#include <stdio.h>\n#include \"p.h\"\nint main(void) {\n    static struct p_memory memory;\n\
        \x20   NUMBER v[3] = {0.5, 1.25, 2}, d[3] = {1, -0.5, 0.25}, y, g[3], h[3], z[3];\n\
        \x20   int status = p_gradient(&memory, v, d, &y, g, h);\n\
        \x20   int other = p_gradient(&memory, v, NULL, NULL, NULL, z);\n    printf(\"%d %d %.17g\", status, other, (double)y);\n\
        \x20   for (int i = 0; i < 3; i++) printf(\" %.17g %.17g %.17g\", (double)g[i], (double)h[i], (double)z[i]);\n    return 0;\n}\n";
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    for (system, number) in [("f64", "double"), ("f32", "float")] {
        for body in bodies {
            folder.file("p.rasm", format!(".real {system}\n.in v[3]: real\n.out y: real\n{body}"));
            reviver(&format!("build {} --of y --times -o {} --force", path("p.rasm"), path("p.c"))).expect(0);
            reviver(&format!("build {} --of y --times --header -o {} --force", path("p.rasm"), path("p.h")))
                .expect(0);
            folder.file("user.c", user.replace("NUMBER", number));
            let [user, text, out] = ["user.c", "p.c", "user"].map(path);
            let arguments = ["-std=c11", "-O1", "-ffp-contract=off", &user, &text, "-o", &out, "-lm"];
            let compiled = Command::new("cc").args(arguments).output().unwrap();
            assert!(compiled.status.success(), "{body}: {compiled:?}");
            let ran = String::from_utf8(Command::new(&out).output().unwrap().stdout).unwrap();
            let printed: Vec<f64> = ran.split(' ').map(|number| number.parse().unwrap()).collect();
            let wanted = "--of y --set v=0.5,1.25,2 --times v=1,-0.5,0.25 --json";
            let object = reviver(&format!("hessian {} {wanted}", path("p.rasm"))).expect(0).json();
            let list = |name: &str| -> Vec<f64> {
                object[name]["v"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
            };
            let (gradient, product) = (list("grad"), list("product"));
            let mut expected = vec![0.0, 0.0, object["value"].as_f64().unwrap()];
            (0..3).for_each(|i| expected.extend([gradient[i], product[i], 0.0]));
            // The program prints floats of 32 bits with the digits of doubles.
            let rounded = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect::<Vec<f32>>();
            match system {
                "f32" => assert_eq!(rounded(&printed), rounded(&expected), "{body} {object}"),
                _ => assert_eq!(printed, expected, "{body} {object}"),
            }
        }
    }
    let build = |options: &str| reviver(&format!("build {} {options}", path("p.rasm")));
    build("--times").expect(2).says("--of");
    build("--of y --times --unchecked").expect(3).says("the product is always checked");
}

#[test]
fn programs_without_c_text_are_refused_with_the_place() {
    with_input("build -", b".in n\npush n\npop n\n")
        .expect(3)
        .says("line 2: `push` has no C text")
        .says("= help: keep");
    with_input("build -", b".in n\nshow n\n").expect(3).says("line 2: `show` has no C text");
    let fixed = b".real fixed\n.inout x: real\n.out y: real\nadd y, exp(x)\n";
    with_input("build -", fixed).expect(0).prints_part("rv_exp_fixed");
    let calls = ".limit depth 1\n.inout a\ncall f(a)\n.proc f(inout b)\nadd b, 1\ncall g(b)\n.end\n.proc g(inout b)\nadd b, 1\n.end\n";
    with_input("build -", calls.as_bytes())
        .expect(3)
        .says("line 6: this call is deeper than `.limit depth 1` allows")
        .says("= help: allow deeper calls");
    with_input("build -", calls.replace("depth 1", "depth 2").as_bytes()).expect(0);
    let with_step = b".inout A[4]\ncall f(A[0..4 step 2])\n.proc f(inout B[])\nadd B[0], 1\n.end\n";
    with_input("build -", with_step)
        .expect(3)
        .says("line 2: `call` has no C text")
        .says("a slice with a step");
    for (loss, said) in
        [("zz", "no cell `zz`"), ("c", "`c` has 5 cells"), ("i", "no cell `i`"), ("c[9]", "no cell `c[9]`")]
    {
        reviver(&format!("build programs/horner.rasm --loss {loss}")).expect(2).says(said);
    }
    reviver("build programs/fib.rasm --loss a").expect(2).says("only reals have a gradient");
    reviver("build programs/nowhere.rasm").expect(3);
}

#[test]
fn a_library_computes_what_the_program_computes() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let library = path("libhorner.so");
    // An earlier output is replaced.
    for _ in 0..2 {
        reviver(&format!("build programs/horner.rasm --loss y --lib -o {library}")).expect(0);
    }
    reviver(&format!("build programs/horner.rasm --loss y --header -o {}", path("horner.h"))).expect(0);
    let user = "#include <stdio.h>\n#include \"horner.h\"\n\
        int main(void) {\n    struct horner_memory memory;\n    double x = 2, c[5] = {1, 2, 3, 4, 5}, y, by_x, by_c[5];\n\
        \x20   int status = horner_gradient(&memory, &x, c, &y, &by_x, by_c);\n\
        \x20   printf(\"%s: %g, %g, %g\\n\", horner_message(status), y, by_x, by_c[4]);\n    return status;\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let compiled =
        Command::new("cc").args([&path("user.c"), &library, "-o", &path("user"), "-lm"]).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let ran = Command::new(path("user")).env("LD_LIBRARY_PATH", folder.path("")).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said, "the results are written: 129, 222, 16\n");
}

#[test]
fn a_compiler_that_is_missing_or_refuses_is_named() {
    let folder = Folder::new();
    for (compiler, said) in
        [("no-such-compiler", "can't run the C compiler `no-such-compiler`"), ("false", "refuses the text")]
    {
        let mut build = command();
        build
            .args(["build", "programs/fib.rasm", "--lib", "-o"])
            .arg(folder.path("fib.so"))
            .env("CC", compiler);
        let output = build.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(3) && stderr.contains(said), "{stderr}");
        assert!(!folder.path("fib.so").exists());
    }
}
