//! Tests of lowering: the disassembly of each construct.

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::files::FilesInMemory;
use reviver_isa::instruction::{Instruction, Link};
use reviver_isa::module::Module;
use reviver_isa::structure::Block;
use reviver_isa::update::Update;

use crate::support::{assembly, module, module_of};

/// Returns the disassembly without declarations, structure and comments.
fn flat(text: &str) -> String {
    let text = disassemble(&module(text));
    let is_code =
        |line: &&str| !line.is_empty() && !line.starts_with('.') && !line.trim_start().starts_with(';');
    let lines: Vec<&str> = text.lines().filter(is_code).collect();
    lines.join("\n")
}

#[track_caller]
fn becomes(text: &str, expected: &str) {
    let found = flat(text);
    assert_eq!(found, expected.trim_matches('\n'), "\n{found}\n");
}

#[test]
fn if_without_else() {
    becomes(
        "\
.inout a, s
if a < 3
 add s, 1
fi s > 0
",
        "
if$1:   br    fi$1, a >= 3
        add   s, 1
fi$1:   from  if$1, s <= 0
",
    );
}

#[test]
fn if_with_else() {
    becomes(
        "\
.inout a, s
if a < 3
 add s, 1
else
 sub s, 1
fi a < 3
",
        "
if$1:   br    else$1, a >= 3
        add   s, 1
then$1: br    fi$1, always
else$1: from  if$1, always
        sub   s, 1
fi$1:   from  then$1, a < 3
",
    );
}

#[test]
fn if_compound() {
    becomes(
        "\
.inout a, b, s
if a < 3 and not b == 0
 add s, 1
else
 sub s, 1
fi s > 0 or b > 0
",
        "
        vacate flag
part$1: br    part$2, a >= 3
        xor.ne flag, b, 0
part$2: from  part$1, a >= 3
if$1:   br    else$1, flag == 0
        xor   flag, 1
        add   s, 1
        xor   flag, 1
then$1: br    fi$1, always
else$1: from  if$1, always
        sub   s, 1
fi$1:   from  then$1, flag != 0
        xor   flag, 1
part$3: br    part$4, s > 0
        xor.le flag, b, 0
part$4: from  part$3, s > 0
        vacate flag
",
    );
}

#[test]
fn loop_until_only() {
    becomes(
        "\
.inout s
from s == 0
 add s, 1
until s == 9
",
        "
from$1: from  until$1, s != 0
        add   s, 1
until$1: br    from$1, s != 9
",
    );
}

#[test]
fn loop_with_two_bodies() {
    becomes(
        "\
.inout s
from s == 0
 add s, 2
loop
 sub s, 1
until s == 9
",
        "
from$1: from  again$1, s != 0
        add   s, 2
until$1: br    done$1, s == 9
        sub   s, 1
again$1: br    from$1, always
done$1: from  until$1, always
",
    );
}

#[test]
fn assert_compound() {
    becomes(
        "\
.inout a, b
assert a > 0 and b > 0
",
        "
part$1: br    part$2, a <= 0
        xor.gt flag, b, 0
part$2: from  part$1, a <= 0
        assert flag != 0
part$3: br    part$4, a <= 0
        xor.gt flag, b, 0
part$4: from  part$3, a <= 0
",
    );
}

/// Checks that nested parts with the same connective need no separate flag. Parentheses make no difference.
#[test]
fn conditions_with_one_connective_nest() {
    becomes(
        "\
.inout a, b
if (a > 0 and not (b < 0 or b > 9)) and a != b
 neg a
fi a < 0
",
        "
        vacate flag
part$1: br    part$6, a <= 0
part$2: br    part$5, b < 0
part$3: br    part$4, b > 9
        xor.ne flag, a, b
part$4: from  part$3, b > 9
part$5: from  part$2, b < 0
part$6: from  part$1, a <= 0
if$1:   br    fi$1, flag == 0
        xor   flag, 1
        neg   a
fi$1:   from  if$1, a >= 0
",
    );
}

/// Checks that a first part with both `and` and `or` is held in a separate flag, which the same steps clear.
#[test]
fn conditions_with_both_connectives() {
    becomes(
        "\
.inout a, b
assert (a > 0 or b > 0) and a != b
",
        "
        xor   flag$2, 1
part$1: br    part$2, a > 0
        xor.le flag$2, b, 0
part$2: from  part$1, a > 0
part$3: br    part$4, flag$2 == 0
        xor.ne flag$3, a, b
part$4: from  part$3, flag$2 == 0
        xor   flag, flag$3
part$5: br    part$6, flag$2 == 0
        xor.ne flag$3, a, b
part$6: from  part$5, flag$2 == 0
part$7: br    part$8, a > 0
        xor.le flag$2, b, 0
part$8: from  part$7, a > 0
        xor   flag$2, 1
        assert flag != 0
        xor   flag$2, 1
part$9: br    part$10, a > 0
        xor.le flag$2, b, 0
part$10: from  part$9, a > 0
part$11: br    part$12, flag$2 == 0
        xor.ne flag$3, a, b
part$12: from  part$11, flag$2 == 0
        xor   flag, flag$3
part$13: br    part$14, flag$2 == 0
        xor.ne flag$3, a, b
part$14: from  part$13, flag$2 == 0
part$15: br    part$16, a > 0
        xor.le flag$2, b, 0
part$16: from  part$15, a > 0
        xor   flag$2, 1
",
    );
}

#[test]
fn loop_compound() {
    becomes(
        "\
.inout a, s
from s == 0 or a == 0
 add s, 2
loop
 sub s, 1
until s == 9 and a == 0
",
        "
        xor   flag, 1
from$1: from  again$1, flag == 0
        xor   flag, 1
part$1: br    part$2, s == 0
        xor.ne flag, a, 0
part$2: from  part$1, s == 0
        vacate flag
        add   s, 2
        vacate flag
part$3: br    part$4, s != 9
        xor.eq flag, a, 0
part$4: from  part$3, s != 9
until$1: br    done$1, flag != 0
        sub   s, 1
again$1: br    from$1, always
done$1: from  until$1, always
        xor   flag, 1
",
    );
}

#[test]
fn for_between_cells() {
    becomes(
        "\
.in m, n
.inout s
for i in m..n step 2
 neg s
 neg s
rof
",
        "
for$1:  br    rof$1, m >= n
        vacate i
        add   i, m
top$1:  from  next$1, i > m
        neg   s
        neg   s
        add   i, 2
next$1: br    top$1, i < n
        sub   i, n
        vacate i
rof$1:  from  for$1, m >= n
",
    );
}

#[test]
fn for_known() {
    becomes(
        "\
.inout s
for i in 0..8
 add s, i
rof
",
        "
        vacate i
        add   i, 0
top$1:  from  next$1, i > 0
        add   s, i
        add   i, 1
next$1: br    top$1, i < 8
        sub   i, 8
        vacate i
",
    );
}

#[test]
fn for_reversed() {
    becomes(
        "\
.in n
.inout s
for i in 1..n reversed
 add s, i
rof
",
        "
for$1:  br    rof$1, 1 >= n
        vacate i
        add   i, n
top$1:  from  next$1, i < n
        sub   i, 1
        add   s, i
next$1: br    top$1, i > 1
        sub   i, 1
        vacate i
rof$1:  from  for$1, 1 >= n
",
    );
}

#[test]
fn compute_uncompute() {
    becomes(
        "\
.in n
.inout s
compute
 local t = mul(n, n)
 if t > 4
 add t, 1
 fi n > 2
apply
 add s, t
uncompute
",
        "
        vacate t
        add.mul t, n, n
if$1:   br    fi$1, t <= 4
        add   t, 1
fi$1:   from  if$1, n <= 2
        add   s, t
if$2:   br    fi$2, n <= 2
        sub   t, 1
fi$2:   from  if$2, t <= 4
        sub.mul t, n, n
        vacate t
",
    );
}

#[test]
fn local_of_each_class() {
    becomes(
        "\
.in x: real, n
.inout s: real
local t = 1
local u: real = 1
local v = powi(x, 2)
local w = toint(x)
add s, v
add s, u
delocal w = toint(x)
delocal v = powi(x, 2)
delocal u = 1
delocal t = 1
",
        "
        vacate t
        add   t, 1
        vacate u
        add   u, 1.0
        vacate v
        add.powi v, x, 2
        vacate w
        add.toint w, x
        add   s, v
        add   s, u
        sub.toint w, x
        vacate w
        sub.powi v, x, 2
        vacate v
        sub   u, 1.0
        vacate u
        sub   t, 1
        vacate t
",
    );
}

#[test]
fn macro_substitutes_operands() {
    becomes(
        "\
.in k
.inout A[9], s: real
.macro at(A, i, d)
 add A[i+1], A[d]
 if A[i] > d
 neg A[d]
 fi A[i] > d
.endm
 at A, k, 3
 at A, 2, k
",
        "
        add   A[k+1], A[3]
if$1:   br    fi$1, A[k] <= 3
        neg   A[3]
fi$1:   from  if$1, A[k] <= 3
        add   A[3], A[k]
if$2:   br    fi$2, A[2] <= k
        neg   A[k]
fi$2:   from  if$2, A[2] <= k
",
    );
}

#[test]
fn macro_labels_are_fresh() {
    becomes(
        "\
.in k
.macro skip(c)
go: br on, c > 0
on: from go, c > 0
.endm
go: br on, k == 0
on: from go, k == 0
 skip k
 undo skip k
",
        "
go:     br    on, k == 0
on:     from  go, k == 0
go$1:   br    on$1, k > 0
on$1:   from  go$1, k > 0
on$2:   br    go$2, k > 0
go$2:   from  on$2, k > 0
",
    );
}

#[test]
fn literals_take_the_class_of_their_place() {
    becomes(
        "\
.inout x: real, n
 add x, 2
 add n, 2
 add.powi x, 2, 3
 add.lt n, x, 1
 add.lt n, 1, 2
 assert 1 < x
 show 1.5
",
        "
        add   x, 2.0
        add   n, 2
        add.powi x, 2.0, 3
        add.lt n, x, 1.0
        add.lt n, 1, 2
        assert 1.0 < x
        show  1.5
",
    );
}

fn names(module: &Module) -> Vec<&str> {
    module.procedures.iter().flat_map(|p| &p.frame).map(|v| v.name.as_str()).collect()
}

#[test]
fn variables_are_reused_under_their_name() {
    let text = ".inout s\nfor i in 0..3\nadd s, i\nrof\nfor i in 0..3\nfor j in 0..3\nadd s, j\nrof\nrof\n\
                local t = s\ndelocal t = s\nlocal t = 1.5\ndelocal t = 1.5\nlocal t = s\ndelocal t = s\n";
    assert_eq!(names(&module(text)), ["i", "j", "t", "t$2"]);
}

#[test]
fn a_library_may_use_the_names_of_globals() {
    let text = ".inout n, t\n\tcall p(n)\n.proc p(inout n)\nlocal t = n\ndelocal t = n\n.end\n";
    assert_eq!(names(&module(text)), ["t$2"]);
}

#[test]
fn structure_records_lines_and_blocks() {
    let text = ".inout s\n.macro two(x)\n neg x\n neg x\n.endm\nif s < 3\n two s\nelse\n neg s\nfi s < 3\n";
    let structure = module(text).structure;
    assert_eq!(structure.lines, [1, 6, 7, 7, 8, 8, 9, 10, 1]);
    let seams = |block: &Block| block.seams.iter().map(|seam| (seam.start, seam.end)).collect::<Vec<_>>();
    let blocks: Vec<_> = structure.blocks.iter().map(seams).collect();
    assert_eq!(blocks, [vec![(1, 2), (4, 6), (7, 8)], vec![(2, 2), (4, 4)]]);
}

/// Returns the source lines of each branch pair in order of the code: first that of the `br`, then that of
/// its `from`.
fn pairs(text: &str) -> Vec<(u32, u32)> {
    let module = module(text);
    let line = |at: u32| module.structure.line(at).unwrap();
    let pair = |(at, instruction): (u32, &Instruction)| match instruction.link {
        Link::Partner(from) if instruction.update == Update::Br => Some((line(at), line(from))),
        _ => None,
    };
    (0..).zip(&module.code).filter_map(pair).collect()
}

#[test]
fn the_halves_of_a_pair_are_at_their_keywords() {
    let inout = ".inout s, n\n";
    assert_eq!(pairs(&format!("{inout}if s < 3\n neg n\nfi s < 3\n")), [(2, 4)]);
    assert_eq!(pairs(&format!("{inout}if s < 3\n neg n\nelse\n not n\nfi s < 3\n")), [(2, 4), (4, 6)]);
    assert_eq!(pairs(&format!("{inout}from s == 0\n add s, 1\nuntil s == n\n")), [(4, 2)]);
    let looped = format!("{inout}from s == 0\n add s, 1\nloop\n neg n\nuntil s == 9\n");
    assert_eq!(pairs(&looped), [(4, 6), (6, 2)]);
    assert_eq!(pairs(&format!("{inout}for i in 0..n\n add s, i\nrof\n")), [(2, 4), (4, 2)]);
    // In `uncompute`, the same words have their branch pairs in the opposite direction.
    let undone = format!(
        "{inout}compute\n if s < 3\n  neg n\n else\n  not n\n fi s < 3\napply\n swap n, s\nuncompute\n"
    );
    assert_eq!(pairs(&undone), [(3, 5), (5, 7), (7, 5), (5, 3)]);
}

#[test]
fn code_of_a_flag_has_the_lines_of_its_block() {
    let text = ".inout s, n\nif s > 0 and n > 0\n neg n\nelse\n not n\nfi s > 0 and n < 0\n";
    let lines = module(text).structure.lines;
    // The last instruction is excluded: the end of main has no word in the text, so its line isn't in order.
    assert!(lines[..lines.len() - 1].is_sorted(), "{lines:?}");
    let text = ".inout s, n\nfrom s == 0 and n > 0\n add s, 1\nloop\n neg n\nuntil s == 9 or n == 1\n";
    let lines = module(text).structure.lines;
    assert!(lines[..lines.len() - 1].is_sorted(), "{lines:?}");
}

#[test]
fn a_violation_is_shown_at_its_text() {
    let text = ".inout s\n.var A[2]\nfrom s == 0\n add s, 1\nloop\n neg s\nuntil A[2] == 9\n";
    let assembly = assembly(text);
    let place = assembly.sources.position(assembly.diagnostics[0].primary.span);
    assert_eq!(place.line, 7, "{:?}", assembly.diagnostics);
}

#[test]
fn structure_records_the_files_of_lines() {
    let files = FilesInMemory::new()
        .with(
            "lib/a.rasm",
            ".include \"b.rasm\"\n.macro up(x)\n add x, 1\n.endm\n.proc a(inout x)\n call b(x)\n.end\n",
        )
        .with("lib/b.rasm", ".proc b(inout x)\n neg x\n.end\n")
        .with("c.rasm", " neg s\n");
    let text = ".include \"lib/a.rasm\"\n.include \"./c.rasm\"\n.inout s\n call a(s)\n up s\n";
    let structure = module_of(text, &files).structure;
    assert_eq!(structure.lines, [1, 1, 4, 5, 1, 1, 2, 3, 5, 6, 7]);
    assert_eq!(structure.paths, ["lib/a.rasm", "lib/b.rasm", "./c.rasm"]);
    assert_eq!(structure.files, [(1, 3), (2, 0), (5, 2), (8, 1)]);
    let of_each = (0..11).map(|at| structure.file(at).unwrap_or("")).collect::<Vec<_>>();
    let (b, a) = (["lib/b.rasm"; 3], ["lib/a.rasm"; 3]);
    assert_eq!(of_each, [&["", "./c.rasm", "", "", ""][..], &b, &a].concat());
}

#[test]
fn written_labels_keep_their_names() {
    let text = ".inout s\nif$1: br fi$1, s == 0\nfi$1: from if$1, s == 0\nif s < 3\n neg s\nfi s < 3\n";
    let labels: Vec<String> = module(text).structure.labels.into_iter().map(|(_, name)| name).collect();
    assert_eq!(labels, ["if$1", "fi$1", "if$2", "fi$2"]);
}

#[test]
fn constants_are_words_and_reals_of_the_program() {
    let text = ".word 8\n.const A = 0xff & ~0x0f\n.const B = (1 << 7) >> 5\n.inout x = 0x80 | 1, y = A, z = B\n\
                .inout w: real = pi / 2 + 7 / 2\n";
    let values: Vec<String> = module(text).globals.iter().map(|g| format!("{:?}", g.initial)).collect();
    assert_eq!(values, ["Ints([-127])", "Ints([-16])", "Ints([-4])", "Reals([4.570796326794897])"]);
}

/// Checks that division truncates towards 0, and that a remainder has the sign of the dividend.
#[test]
fn constants_divide_as_rust_does() {
    let quotients = [("7 / 2", 3), ("-7 / 2", -3), ("7 / -2", -3), ("-7 / -2", 3)];
    let rests = [("7 % 3", 1), ("-7 % 3", -1), ("7 % -3", 1), ("-7 % -3", -1)];
    let shifts = [("-7 >> 1", -4), ("-7 << 1", -14), ("1 << 3 >> 2", 2)];
    for (text, value) in quotients.into_iter().chain(rests).chain(shifts) {
        let module = module(&format!(".inout x = {text}\n"));
        assert_eq!(format!("{:?}", module.globals[0].initial), format!("Ints([{value}])"), "{text}");
    }
}

/// Checks that a constant next to a cell is added or subtracted so that the literal is positive. The least
/// word has no negation and is added.
#[test]
fn constants_added_to_a_cell() {
    let text = |word: &str| {
        format!("{word}.in x\n.out y\n add y, x - 128\n add y, x + 100 + 100\n add y, 3 + x - 5\n")
    };
    let expected = |first: &str, second: &str| {
        format!("\n        {first}\n        {second}\n        add.diff y, x, 2\n")
    };
    becomes(&text(""), &expected("add.diff y, x, 128", "add.sum y, x, 200"));
    becomes(&text(".word 8\n"), &expected("add.sum y, x, -128", "add.diff y, x, 56"));
}
