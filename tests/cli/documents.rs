//! Documents: shown sessions and programs are correct.

use crate::support::{Folder, reviver, root, with_input};
#[cfg(unix)]
use crate::transcripts::are_true;

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

#[cfg(unix)]
#[test]
fn sessions_of_the_readme_are_current() {
    are_true("README.md", &read("README.md"), 8);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_c_are_current() {
    are_true("docs/c.md", &read("docs/c.md"), 1);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_batches_are_current() {
    are_true("docs/batch.md", &read("docs/batch.md"), 2);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_tests_are_current() {
    are_true("docs/test.md", &read("docs/test.md"), 4);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_strategies_are_current() {
    are_true("docs/strategies.md", &read("docs/strategies.md"), 2);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_pictures_are_current() {
    are_true("docs/pictures.md", &read("docs/pictures.md"), 14);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_bennett_are_current() {
    are_true("docs/bennett.md", &read("docs/bennett.md"), 1);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_stacks_are_current() {
    are_true("docs/stacks.md", &read("docs/stacks.md"), 5);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_page_of_derivatives_are_current() {
    are_true("docs/derivatives.md", &read("docs/derivatives.md"), 5);
}

#[cfg(unix)]
#[test]
fn sessions_of_the_language_page_are_current() {
    are_true("docs/language.md", &read("docs/language.md"), 3);
}

/// The picture matches its script. `UPDATE_PICTURE=1` draws it again; inspect it then.
#[test]
fn the_picture_of_the_readme_is_current() {
    assert!(read("README.md").contains("](docs/debugger.svg)"));
    let script = read("docs/picture.script");
    let drawing = "picture docs/debugger.svg";
    assert_eq!(script.matches(drawing).count(), 1);
    let folder = Folder::new();
    let drawn = folder.path("debugger.svg");
    let script = script.replace(drawing, &format!("picture {}", drawn.display()));
    with_input("debug programs/besselj.rasm --batch -", script.as_bytes()).expect(0);
    let drawn = std::fs::read_to_string(drawn).unwrap();
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        std::fs::write(root().join("docs/debugger.svg"), &drawn).unwrap();
        return;
    }
    assert!(
        drawn == read("docs/debugger.svg"),
        "docs/debugger.svg is not what the debugger draws; to draw it anew, run\n\
         UPDATE_PICTURE=1 cargo test --test cli the_picture"
    );
}

#[test]
fn the_table_of_programs_is_complete() {
    let table = read("programs/README.md");
    for folder in ["programs", "programs/lib"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".rasm") {
                let link = if folder == "programs" { format!("]({name})") } else { format!("](lib/{name})") };
                assert!(table.contains(&link), "programs/README.md doesn't mention {folder}/{name}");
            }
        }
    }
    for link in table.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root().join("programs").join(link).exists(), "programs/README.md links to {link}");
    }
}

/// Returns the blocks of `.rasm` in a document.
fn programs(document: &str) -> impl Iterator<Item = &str> {
    document.split("```rasm\n").skip(1).map(|start| start.split("```").next().unwrap())
}

#[test]
fn the_examples_of_gradient_mode_and_of_show_are_current() {
    let page = read("docs/language.md");
    let section = page.split("## Gradient mode").nth(1).unwrap().split("\n## ").next().unwrap();
    let folder = Folder::new();
    let mut programs = programs(section);
    let inside = folder.file("inside.rasm", programs.next().unwrap());
    reviver(&format!("run {inside} --check")).expect(0).says("");
    let ran = reviver(&format!("run {inside}")).expect(0);
    assert_eq!(ran.stdout, "x = 3.0\ny = 9.0\nslope = 6.0\n");
    let depth = folder.file("depth.rasm", programs.next().unwrap());
    let ran = reviver(&format!("run {depth}")).expect(0);
    assert_eq!(ran.stdout, "x = 3.0\nslope = 27.0\ncurvature = 18.0\n");
    let rule = programs.next().unwrap();
    let rule =
        folder.file("rule.rasm", format!(".inout x: real default 2\n.out y: real\ncall log1p(y, x)\n{rule}"));
    reviver(&format!("grad {rule} --loss y --verify")).expect(0);
    let page = read("docs/strategies.md");
    let section = page.split("## Strategies in programs").nth(1).unwrap();
    let kept = folder.file("kept.rasm", self::programs(section).next().unwrap());
    reviver(&format!("run {kept} --check")).expect(0).prints_part("restored: yes, bit for bit");
    let page = read("docs/derivatives.md");
    let section = page.split("## The output of show").nth(1).unwrap();
    let shows = folder.file("shows.rasm", self::programs(section).next().unwrap());
    let ran = reviver(&format!("grad {shows} --loss y")).expect(0);
    assert!(ran.stdout.starts_with("x = 7.0\ny' = 1.0\ny = 49.0\nx' = 10.0\n"), "{ran:#?}");
}

/// The page shows each program with its lowered form; `UPDATE_LOWERING=1` rewrites the lowered forms.
#[test]
fn the_page_of_lowering_is_current() {
    let folder = Folder::new();
    let page = read("docs/lowering.md");
    let mut parts = page.split("```rasm\n");
    let mut current = parts.next().unwrap().to_owned();
    let mut programs = 0;
    for part in parts {
        let (program, rest) = part.split_once("```\n").unwrap();
        let (between, rest) =
            rest.split_once("```expanded\n").expect("a program has its instructions behind it");
        let (_, rest) = rest.split_once("```").unwrap();
        assert_eq!(between.trim(), "", "what {program} becomes stands behind it");
        let file = folder.file("program.rasm", program);
        reviver(&format!("fmt --check {file}")).expect(0);
        let expanded = reviver(&format!("expand {file}")).expect(0).stdout;
        current.push_str(&format!("```rasm\n{program}```\n\n```expanded\n{expanded}```{rest}"));
        programs += 1;
    }
    assert!(programs > 9);
    if std::env::var_os("UPDATE_LOWERING").is_some() {
        std::fs::write(root().join("docs/lowering.md"), &current).unwrap();
        return;
    }
    assert!(
        current == page,
        "docs/lowering.md is not what the assembler does; to write it anew, run\n\
         UPDATE_LOWERING=1 cargo test --test cli the_page_of_lowering"
    );
}

/// The output of `expand` is a program with the same instructions.
#[test]
fn expanded_programs_have_the_same_instructions() {
    let folder = Folder::new();
    let code = |text: &str| -> Vec<String> {
        let flat = text.lines().map(|line| line.split(';').next().unwrap().trim_end());
        let recorded = [".scope", ".block", ".value", ".lines", ".path", ".file"];
        flat.filter(|line| !line.is_empty() && !recorded.iter().any(|word| line.starts_with(word)))
            .map(str::to_owned)
            .collect()
    };
    for name in ["besselj", "sort", "gmm", "crc32", "factor", "macros"] {
        let program = format!("programs/{name}.rasm");
        let expanded = folder.file("expanded.rasm", reviver(&format!("expand {program}")).expect(0).stdout);
        let flat = |file: &str| code(&reviver(&format!("disasm {file}")).expect(0).stdout);
        assert_eq!(flat(&expanded), flat(&program), "{name}");
    }
}
