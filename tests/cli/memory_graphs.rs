//! Memory graphs: lines, marks and frames, and the pairs of statements that cancel each other.

use crate::pictures::Picture;
use crate::support::{Folder, reviver, root};

/// Draws a program's memory graph.
fn graph_of(text: &str) -> Picture {
    let folder = Folder::new();
    let file = folder.file("graph.rasm", text);
    Picture::of(&reviver(&format!("graph {file} --memory")).expect(0).stdout)
}

/// Returns the pairs of a procedure, such as `2-4 5` for a statement in the rows 2 to 4 that row 5 undoes.
fn pairs(description: &str, procedure: &str) -> Vec<String> {
    let graph = description.split("Memory of ").find(|graph| graph.starts_with(&format!("{procedure}: ")));
    let graph = graph.unwrap_or_else(|| panic!("no graph of {procedure}: {description}"));
    let sentences = graph.split(['.', ';']).filter_map(|sentence| sentence.split_once(" is undone by "));
    let number = |text: &str| text.trim().replace('–', "-");
    sentences.map(|(first, second)| format!("{} {}", number(first), number(second))).collect()
}

fn count(picture: &Picture, attribute: &str, value: &str) -> usize {
    let has = |found: &&String| *found == value;
    picture.elements.iter().filter(|(_, attributes)| attributes.get(attribute).filter(has).is_some()).count()
}

#[test]
fn a_statement_changes_and_reads_lines() {
    let picture =
        graph_of(".inout x: real, y: real, A[3]: real, unused\n add y, x * x\n add x, y\n add A[0], A[1]\n");
    assert_eq!(picture.title, "graph.rasm: memory");
    assert_eq!(
        picture.description,
        "Memory of main: 4 lines: x, y, A, unused; 3 rows. 0 cancelling pairs. 1: add y, x * x, changes y, \
         reads x; 2: add x, y, changes x, reads y; 3: add A[0], A[1], changes A, reads A."
    );
    // Each name is drawn once above its line, and each statement once.
    for text in ["x", "y", "A", "unused", "add y, x * x", "add x, y", "add A[0], A[1]"] {
        assert_eq!(picture.texts.iter().filter(|found| *found == text).count(), 1, "{text}");
    }
    let legend = graph_of(".inout z\n");
    let added = |attribute, value| count(&picture, attribute, value) - count(&legend, attribute, value);
    assert_eq!(added("width", "14"), 3, "a box for each change");
    assert_eq!((added("rx", "4"), added("rx", "2")), (2, 1), "a dot for each read, a small one in a box");
    assert_eq!(added("stroke-dasharray", "3 2.5"), 0, "no statement is cancelled");
}

#[test]
fn programs_of_the_nilang_paper_have_their_pairs() {
    let bessel = Picture::of(&reviver("graph programs/besselj.rasm --memory").expect(0).stdout);
    let found = pairs(&bessel.description, "main");
    // Both parts of the outer `compute` cancel each other, statement by statement, and the loops as a whole.
    for pair in ["3 63", "4 62", "5 61", "6 60", "7 59", "8 58", "9 57", "10-31 35-56"] {
        assert!(found.contains(&pair.to_owned()), "{pair}: {found:?}");
    }
    // The inner `compute` occurs in the loop and in its inverse.
    assert!(found.contains(&"16 29".to_owned()) && found.contains(&"40 53".to_owned()), "{found:?}");
    assert_eq!(found.len(), 18, "{found:?}");
    assert!(bessel.texts.contains(&"undone by 35–56".to_owned()), "{:?}", bessel.texts);
    assert!(bessel.texts.contains(&"delocal half = z * 0.5".to_owned()), "{:?}", bessel.texts);
    assert!(pairs(&bessel.description, "imul").is_empty());

    let logarithm = Picture::of(&reviver("graph programs/complex_log.rasm --memory").expect(0).stdout);
    assert!(logarithm.description.contains(
        "Memory of main: 4 lines: x, y, log_re, log_im; 1 row. 0 cancelling pairs. 1: call complex_log_add(log_re, log_im, x, y), \
         changes log_re, log_im, reads x, y."
    ));
    assert!(logarithm.description.contains("2: add im, atan2(y, x), changes im, reads x, y."));

    let copy = Picture::of(&reviver("graph programs/nilang_faq.rasm --memory").expect(0).stdout);
    assert_eq!(pairs(&copy.description, "main"), ["1 3"]);
    let legend = graph_of(".inout z\n");
    let dashed = count(&copy, "stroke-dasharray", "3 2.5") - count(&legend, "stroke-dasharray", "3 2.5");
    assert_eq!(dashed, 4, "two boxes and their connections");
    for note in ["undone by 3", "undoes 1"] {
        assert!(copy.texts.contains(&note.to_owned()), "{:?}", copy.texts);
    }
}

/// Statements of main, and the expected pairs.
const PAIRS: &[(&str, &[&str])] = &[
    // Adjacent, nested, and separated by statements that change other cells.
    ("add x, y\n sub x, y\n", &["1 2"]),
    ("add x, y\n add y, 1\n sub y, 1\n sub x, y\n", &["2 3", "1 4"]),
    ("add x, y\n add z, x\n sub x, y\n", &["1 3"]),
    ("swap x, y\n not z\n swap y, x\n not z\n", &["1 3", "2 4"]),
    ("rot r, s, q\n add q, 1.0\n sub q, 1.0\n irot r, s, q\n", &["2 3", "1 4"]),
    // A statement in between changes a cell that the pair changes or reads.
    ("add x, y\n add y, 1\n sub x, y\n", &[]),
    ("add x, y\n not z\n add x, 1\n sub x, y\n", &[]),
    // The second statement isn't the inverse.
    ("add x, y\n sub x, z\n", &[]),
    ("add x, y\n add x, y\n", &[]),
    // Pairs that cross: when `y` is restored first, `x` isn't.
    ("add y, 1\n add x, y\n sub y, 1\n sub x, y\n", &["1 3"]),
    // Each statement belongs to one pair.
    ("neg x\n neg x\n neg x\n", &["1 2"]),
    // Checks and shows change nothing, so they cancel nothing, and don't separate pairs.
    ("assert x == 1\n assert x == 1\n show x\n show x\n", &[]),
    ("add x, 1\n show x\n sub x, 1\n", &["1 3"]),
    // Stacks and tapes.
    ("push x\n push y\n pop y\n pop x\n", &["2 3", "1 4"]),
    ("push x\n push y\n pop x\n pop y\n", &[]),
    ("push r\n push x\n pop r\n pop x\n", &["1 3", "2 4"]),
    ("read w\n unread w\n write x\n unwrite x\n", &["1 2", "3 4"]),
    // Elements with constant indices differ; other elements may be the same.
    ("add A[0], 1\n add A[1], 1\n sub A[0], 1\n", &["1 3"]),
    ("add A[0], 1\n add A[n], 1\n sub A[0], 1\n", &[]),
    ("add A[n], 1\n add A[0], 1\n sub A[n], 1\n sub A[0], 1\n", &[]),
    ("add A[n], 1\n add n, 1\n sub n, 1\n sub A[n], 1\n", &["2 3", "1 4"]),
    ("add M[0, 1], 1\n add M[1, 0], 1\n sub M[0, 1], 1\n", &["1 3"]),
    // Local variables.
    ("local t = x\n add y, t\n delocal t = x\n", &["1 3"]),
    ("local t = x\n add t, y\n add z, t\n sub t, y\n delocal t = x\n", &["2 4", "1 5"]),
    ("local t = x\n add t, 1\n delocal t = x + 1\n", &[]),
    ("local t = x\n add x, 1\n sub t, x\n add t, 1\n delocal t\n", &[]),
    // `compute` and `uncompute`; a conjugation cancels nothing.
    ("compute\n local t = x\n add t, y\n apply\n add z, t\n uncompute\n", &["3 7", "2 8"]),
    ("compute\n swap x, y\n apply\n add x, 1\n uncompute\n", &[]),
    // Loops as a whole: counters of other names, and the inverse order.
    ("for i in 0..4\n add A[i], x\n rof\n for k in 0..4 reversed\n sub A[k], x\n rof\n", &["1-3 4-6"]),
    ("for i in 0..4\n add A[i], x\n rof\n for i in 0..4\n sub A[i], x\n rof\n", &[]),
    ("for i in 0..4\n add x, y\n rof\n add y, 1\n for i in 0..4 reversed\n sub x, y\n rof\n", &[]),
    ("for i in 0..4\n add x, y\n sub x, y\n rof\n add y, x\n", &["2 3"]),
    // A statement in a body pairs with none around it, because the body may run never or several times.
    ("add x, 1\n for i in 0..n\n sub x, 1\n rof\n", &[]),
    // A body that cancels its own changes leaves the cell unchanged for the statements around it.
    ("add x, y\n for i in 0..4\n add y, 1\n add z, y\n sub y, 1\n rof\n sub x, y\n", &["3 5", "1 7"]),
    ("add x, y\n for i in 0..4\n add y, 1\n add z, y\n rof\n sub x, y\n", &[]),
    (
        "from n == 0\n add x, y\n loop\n add n, 1\n until n == 3\n from n == 3\n sub x, y\n loop\n sub n, 1\n until n == 0\n",
        &["1-5 6-10"],
    ),
    // Conditions are exchanged in the inverse.
    ("if x == 1\n add x, 1\n fi x == 2\n if x == 2\n sub x, 1\n fi x == 1\n", &["1-3 4-6"]),
    ("if x == 1\n add x, 1\n fi x == 2\n if x == 1\n sub x, 1\n fi x == 2\n", &[]),
    ("if x == 1\n add y, 1\n else\n add z, 1\n fi x == 1\n sub y, 1\n", &[]),
    // Branch halves: statements before and after a jump form no pairs.
    ("add x, 1\n a: br b, y == 1\n add z, 1\n sub z, 1\n b: from a, y == 1\n sub x, 1\n", &["3 4"]),
    // At its beginning `c` is 0, but not at the beginning of each iteration.
    ("add x, c\n sub c, y\n vacate c\n sub x, c\n", &["1 4"]),
    ("for i in 0..n\n add x, c\n sub c, y\n vacate c\n sub x, c\n add c, y\n rof\n", &[]),
    (
        "a: from b, n != 0\n add x, c\n sub c, y\n vacate c\n sub x, c\n add c, y\n add n, 1\n b: br a, n != 3\n",
        &[],
    ),
    // Calls, with slices and with globals of the callee.
    ("call f(x)\n uncall f(x)\n call f(A[0])\n call f(A[1])\n uncall f(A[0])\n", &["1 2", "3 5"]),
    ("call f(x)\n uncall f(y)\n", &[]),
    ("call g(A[0..2])\n uncall g(A[0..2])\n call g(A[0..2])\n uncall g(A[1..3])\n", &["1 2"]),
    ("call g(A[n..3])\n add n, 1\n uncall g(A[n..3])\n", &[]),
    ("call h()\n add z, 1\n uncall h()\n", &[]),
    ("call h()\n add x, 1\n uncall h()\n", &["1 3"]),
    ("call stacks(x)\n push y\n uncall stacks(x)\n", &[]),
    ("call loses(x)\n uncall loses(x)\n overwrite x, 1\n overwrite x, 1\n erase x\n erase x\n", &[]),
    ("par f(x), f(y)\n unpar f(x), f(y)\n", &["1-3 4-6"]),
    ("par for i in 0..4 call f(A[i])\n unpar for i in 0..4 call f(A[i])\n", &["1-4 5-8"]),
    // Macros.
    ("twice x\n undo twice x\n", &["1-3 4-6"]),
    // Gradient mode.
    ("grad.on\n grad.off\n add x, 1\n grad.on\n sub x, 1\n grad.off\n", &[]),
];

#[test]
fn pairs_cancel_if_no_needed_cell_changes() {
    let declared = ".inout x, y, z, n, w, A[4], M[2, 2], r: real, s: real, q: real\n.ancilla c\n\
        .macro twice(v)\n add v, 1\n not v\n.endm\n";
    let procedures = ".proc f(inout v)\n add v, 1\n.end\n.proc g(inout v[])\n add v[0], 1\n.end\n\
        .proc h()\n add z, n\n.end\n.proc stacks(inout v)\n push v\n.end\n.proc loses(inout v)\n erase v\n.end\n";
    for (text, expected) in PAIRS {
        let picture = graph_of(&format!("{declared} {text}{procedures}"));
        let found = pairs(&picture.description, "main");
        assert_eq!(found, *expected, "{text}{}", picture.description);
    }
}

/// A parameter may be a global that the procedure also names, if a call passes this global.
#[test]
fn parameters_may_be_globals() {
    let found = |call: &str, body: &str| {
        let text = format!(
            ".inout x, y\n {call}\n.proc f(inout v)\n.ancilla t\n{body}.end\n.proc outer(inout w)\n call f(w)\n.end\n"
        );
        pairs(&graph_of(&text).description, "f")
    };
    for (body, apart) in [
        (" add v, 1\n add y, 1\n sub v, 1\n", "1 3"),
        (" add y, 1\n add v, 1\n sub y, 1\n", "1 3"),
        (" add t, v\n add y, t\n sub t, v\n", "1 3"),
        (" add t, y\n add v, t\n sub t, y\n", "1 3"),
    ] {
        assert_eq!(found("call f(x)", body), [apart], "`v` is `x`");
        assert!(found("call f(y)", body).is_empty(), "`v` is `y`");
        assert!(found("call outer(y)", body).is_empty(), "`v` is `y`, through `w`");
    }
    let nested = " add v, 1\n add y, 1\n sub y, 1\n sub v, 1\n";
    assert_eq!(found("call f(y)", nested), ["2 3", "1 4"], "`v` and `y` are restored");
}

/// A statement of a random program, with its row.
enum Statement {
    /// `add`, `sub` or `swap` of cells.
    Single(usize, &'static str, usize, usize),
    /// The head's row, the body, and the last row. An `if` runs its body if `flag` is 1, a loop runs it twice.
    If(usize, Vec<Statement>, usize),
    For(usize, Vec<Statement>, usize),
}

/// The cells of random programs. The last one is an element whose index is known only in a run.
const CELLS: [&str; 6] = ["a", "b", "c", "A[0]", "A[1]", "A[i]"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// Returns statements, of which many are the inverses of earlier ones.
    fn body(&mut self, depth: usize, row: &mut usize, text: &mut String) -> Vec<Statement> {
        let mut body: Vec<Statement> = Vec::new();
        for _ in 0..3 + self.below(9 - 3 * depth) {
            let kind = self.below(10);
            if kind < 2 && depth < 2 {
                let (head, is_loop) = (*row, kind == 0);
                *row += 1;
                let counter = format!("k{depth}");
                *text +=
                    &if is_loop { format!("for {counter} in 0..2\n") } else { "if flag == 1\n".to_owned() };
                let inner = self.body(depth + 1, row, text);
                *text += if is_loop { "rof\n" } else { "fi flag == 1\n" };
                let last = *row;
                *row += 1;
                body.push(match is_loop {
                    true => Statement::For(head, inner, last),
                    false => Statement::If(head, inner, last),
                });
                continue;
            }
            let earlier = match body.len() {
                0 => None,
                n => match &body[n - 1 - self.below(n.min(4))] {
                    Statement::Single(_, word, y, x) if kind < 7 => Some((*word, *y, *x)),
                    _ => None,
                },
            };
            let (word, y, x) = match earlier {
                Some((word, y, x)) => (inverse(word), y, x),
                None => (["add", "sub", "swap"][self.below(3)], self.below(6), self.below(6)),
            };
            // The same cell can't be target and source.
            if y == x || y.max(x) == 5 && y.min(x) > 2 {
                continue;
            }
            *text += &format!("{word} {}, {}\n", CELLS[y], CELLS[x]);
            body.push(Statement::Single(*row, word, y, x));
            *row += 1;
        }
        body
    }
}

fn inverse(word: &'static str) -> &'static str {
    match word {
        "add" => "sub",
        "sub" => "add",
        other => other,
    }
}

/// A run of a random program, which checks its pairs.
struct Run<'p> {
    cells: [i64; 5],
    i: usize,
    flag: bool,
    pairs: &'p [(usize, usize, usize, usize)],
    /// The cells before each row that begins a statement.
    before: Vec<[i64; 5]>,
    /// The cells that each statement has changed, by its first row.
    changed: Vec<Vec<usize>>,
    checked: usize,
}

impl Run<'_> {
    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            let (first, last) = match statement {
                Statement::Single(row, ..) => (*row, *row),
                Statement::If(first, _, last) | Statement::For(first, _, last) => (*first, *last),
            };
            self.before[first] = self.cells;
            self.changed[first].clear();
            match statement {
                Statement::Single(row, word, y, x) => {
                    let place = |n: usize| if n == 5 { 3 + self.i } else { n };
                    let (y, x) = (place(*y), place(*x));
                    match *word {
                        "add" => self.cells[y] += self.cells[x],
                        "sub" => self.cells[y] -= self.cells[x],
                        _ => self.cells.swap(y, x),
                    }
                    let changed: &[usize] = if *word == "swap" { &[y, x] } else { &[y] };
                    self.changed[*row] = changed.to_vec();
                }
                Statement::If(_, inner, _) => (0..i32::from(self.flag)).for_each(|_| self.body(inner)),
                Statement::For(_, inner, _) => (0..2).for_each(|_| self.body(inner)),
            }
            if first != last {
                let same = |n: &usize| self.cells[*n] != self.before[first][*n];
                self.changed[first] = (0..5).filter(same).collect();
            }
            self.check(first, last);
        }
    }

    /// Checks that a statement which undoes an earlier one has restored the cells that the earlier one changed.
    fn check(&mut self, first: usize, last: usize) {
        for (start, end, ..) in self.pairs.iter().filter(|pair| (pair.2, pair.3) == (first, last)) {
            for cell in &self.changed[*start] {
                assert_eq!(
                    self.cells[*cell], self.before[*start][*cell],
                    "rows {start}-{end}, {first}-{last}"
                );
            }
            self.checked += 1;
        }
    }
}

#[test]
fn pairs_of_random_programs_restore_their_cells() {
    let mut random = Random(1);
    let mut text = ".inout a, b, c, A[2], i, flag\n".to_owned();
    let (mut procedures, mut calls, mut bodies) = (String::new(), String::new(), Vec::new());
    for n in 0..60 {
        calls += &format!("call r{n}(a, b, c, A, i, flag)\n");
        procedures += &format!(".proc r{n}(inout a, inout b, inout c, inout A[], in i, in flag)\n");
        let mut rows = 1;
        let body = random.body(0, &mut rows, &mut procedures);
        procedures += ".end\n";
        bodies.push((body, rows));
    }
    text += &(calls + &procedures);
    let description = graph_of(&text).description;
    let mut checked = 0;
    for (n, (body, rows)) in bodies.iter().enumerate() {
        let found: Vec<_> = pairs(&description, &format!("r{n}")).iter().map(|pair| numbers(pair)).collect();
        for (i, flag) in [(0, false), (0, true), (1, true), (1, false)] {
            let (before, changed) = (vec![[0; 5]; *rows], vec![Vec::new(); *rows]);
            let mut run = Run {
                cells: [3, 50, 700, 11_000, 130_000],
                i,
                flag,
                pairs: &found,
                before,
                changed,
                checked: 0,
            };
            run.body(body);
            checked += run.checked;
        }
    }
    assert!(checked > 200, "only {checked} pairs were checked");
}

/// Returns the first and the last row of both statements of a pair.
fn numbers(pair: &str) -> (usize, usize, usize, usize) {
    let rows = |text: &str| -> (usize, usize) {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        (first.parse().unwrap(), last.parse().unwrap())
    };
    let (first, second) = pair.split_once(' ').unwrap();
    let ((a, b), (c, d)) = (rows(first), rows(second));
    (a, b, c, d)
}

#[test]
fn statements_with_bodies_are_frames() {
    let text = ".inout x, y, z, n\n for i in 0..n\n if x == 1\n add y, 1\n fi x == 1\n compute\n not y\n apply\n add z, y\n uncompute\n rof\n";
    let picture = graph_of(text);
    let boxes = |picture: &Picture| count(picture, "rx", "3") - count(picture, "width", "14");
    assert_eq!(boxes(&picture) - boxes(&graph_of(".inout z\n")), 3, "{}", picture.description);
    for row in ["for i in 0..n", "if x == 1", "fi x == 1", "compute", "apply", "uncompute", "rof"] {
        assert!(picture.texts.contains(&row.to_owned()), "{row}: {:?}", picture.texts);
    }
    assert!(picture.description.contains("1: for i in 0..n, changes i, reads n;"), "{}", picture.description);
}

#[test]
fn every_program_has_a_memory_graph() {
    let mut drawn = 0;
    for folder in ["programs", "course/book/programs"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "rasm") {
                let name = path.file_name().unwrap().to_str().unwrap();
                let draw = format!("graph {folder}/{name} --memory");
                let svg = reviver(&draw).expect(0).stdout;
                Picture::of(&svg);
                reviver(&draw).expect(0).prints(&svg);
                drawn += 1;
            }
        }
    }
    assert!(drawn > 80, "{drawn}");
}

#[test]
fn an_image_has_the_graph_of_its_text() {
    let folder = Folder::new();
    let image = folder.at("besselj.rbc");
    reviver(&format!("asm programs/besselj.rasm -o {image}")).expect(0);
    let of_image = Picture::of(&reviver(&format!("graph {image} --memory")).expect(0).stdout);
    let of_text = Picture::of(&reviver("graph programs/besselj.rasm --only memory").expect(0).stdout);
    assert_eq!(of_image.description, of_text.description);
    reviver("graph programs/fib.rasm --memory --only flow").expect(2).says("cannot be used with");
    reviver("graph programs/fib.rasm --memory --max-steps 3").expect(2).says("cannot be used with");
}

#[test]
fn large_programs_are_refused() {
    let folder = Folder::new();
    let refused = |text: String, words: &str| {
        let file = folder.file("large.rasm", text);
        let ran = reviver(&format!("graph {file} --memory")).expect(3);
        ran.says("large.rasm: the memory graph would be too large").says(words).says("= help: ").prints("");
    };
    refused(format!(".inout x\n{}", " add x, 1\n".repeat(100_000)), "more than 2000 statements");
    let cells: Vec<String> = (0..501).map(|n| format!("c{n}")).collect();
    refused(format!(".inout {}\n not c0\n", cells.join(", ")), "more than 500 cells");
    let (heads, ends) = ("if x == 1\n".repeat(61), "fi x == 1\n".repeat(61));
    refused(format!(".inout x, y\n{heads} not y\n{ends}"), "nested more than 60 deep");
    let most = folder.file("most.rasm", format!(".inout x\n{}", " add x, 1\n".repeat(2000)));
    reviver(&format!("graph {most} --memory")).expect(0);
}

#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(60);
    let picture = graph_of(&format!(".inout {long}\n add {long}, 1\n"));
    assert!(picture.texts.contains(&format!("{}…", "x".repeat(13))), "{:?}", picture.texts);
    assert!(picture.texts.contains(&format!("add {}…", "x".repeat(39))), "{:?}", picture.texts);
    assert!(picture.description.contains(&format!("changes {long}.")), "the description has the whole name");
}
