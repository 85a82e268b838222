//! Suggestions for words of other languages. This module handles words only; it knows no tokens and no names
//! of the program. Operands are passed as text, so that suggestions contain those of the user.

use reviver_isa::Function;
use reviver_isa::update::Update;

use super::words;
use crate::suggest::{did_you_mean, nearest};

/// The maximum length of an operand in a suggestion; for longer ones, a placeholder is used.
const LONGEST_OPERAND: usize = 24;

/// The words of other languages with their suggestions. `{x}` and `{y}` are replaced by the operands.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &[
            "mov", "movl", "movq", "move", "ld", "lda", "ldr", "ldi", "li", "lw", "load", "st", "sta", "str",
            "sw", "store", "let", "set", "assign",
        ],
        "nothing is overwritten here: write `add {x}, {y}` if {x} is 0 (`swap` exchanges two cells); \
         `overwrite {x}, {y}` loses what {x} held",
    ),
    (&["inc", "incr", "increment"], "write `add {x}, 1`"),
    (&["dec", "decr", "decrement"], "write `sub {x}, 1`"),
    (&["xchg", "exch", "exchange"], "write `swap {x}, {y}`"),
    (
        &["jmp", "jump", "goto", "j", "b", "bra"],
        "jumps come in pairs that name each other: `here: br there, always` and \
         `there: from here, always`; usually `if … fi` and `from … until` are clearer",
    ),
    (
        &[
            "je", "jz", "jne", "jnz", "jl", "jle", "jg", "jge", "ja", "jae", "jb", "jbe", "jc", "jnc", "js",
            "jns", "beq", "bne", "blt", "ble", "bgt", "bge", "bnz", "bz", "loopnz",
        ],
        "a jump tests its condition itself, and its target names it: `here: br there, a == b` and \
         `there: from here, c == d`; usually `if … fi` and `from … until` are clearer",
    ),
    (
        &["cmp", "test", "tst"],
        "there are no flags: conditions are written in `if {x} < {y} … fi`, `from … until` and `br`",
    ),
    (
        &["ret", "retn", "return", "iret", "leave"],
        "a procedure returns at its `.end` only; its results go into `inout` parameters",
    ),
    (&["halt", "hlt", "exit", "stop", "quit"], "a program ends where the statements of main end"),
    (&["nop", "noop", "pass", "skip"], "leave the line out: a body may be empty"),
    (
        &["print", "printf", "println", "echo", "puts", "display"],
        "write `show {x}`; results are declared with `.out`",
    ),
    (
        &["input", "scan", "scanf", "gets"],
        "write `read {x}`, which takes the next value of the tape; inputs are declared with `.in`",
    ),
    (
        &["while", "do", "repeat"],
        "a loop is `from entry … until exit`: entry holds on the first iteration and on no other; a \
         counted one is `for i in 0..n … rof`",
    ),
    (&["elif", "elsif", "elseif"], "write `else if …`; each `if` has its own `fi`, the inner one first"),
    (&["break", "continue"], "a loop ends at its `until` only: put the skipped part into `if … fi`"),
    (&["switch", "case", "match"], "put one `if … else … fi` into the other"),
    (&["endif"], "an `if` ends with `fi condition`, which holds exactly when the first body ran"),
    (&["endfor", "next", "done"], "a `for` ends with `rof`"),
    (&["endwhile", "wend"], "a `from` ends with `until condition`"),
    (
        &["end", "endproc", "endp", "endfunc", "endfunction"],
        "`.proc` ends with `.end`, `if` with `fi`, `from` with `until`, `for` with `rof`",
    ),
    (&["endm", "endmacro"], "a `.macro` ends with `.endm`"),
    (
        &["proc", "procedure", "fn", "func", "function", "def"],
        "a procedure begins with `.proc name(in a, inout b)` and ends with `.end`",
    ),
    (&["macro", "define"], "a macro begins with `.macro name(a, b)` and ends with `.endm`"),
    (&["include", "import", "use"], "write `.include \"file.rasm\"`"),
    (&["const", "equ"], "write `.const NAME = 3`"),
    (
        &["var", "int", "real", "dim", "auto", "float", "double", "bool", "char", "long"],
        "cells are declared with `.var x`, `.var x: real` or `.var A[3]`; inputs with `.in`, results \
         with `.out`; a local is `local x = 0` up to `delocal x = 0`",
    ),
    (&["in", "inout"], "inputs are declared with `.in x`, cells that are given and results with `.inout x`"),
    (&["out"], "results are declared with `.out x`"),
    (&["db", "dw", "dd", "dq"], "write `.var A[3] = {1, 2, 3}`"),
    (&["lea"], "there are no addresses: an element is `A[i]`, and procedures take arrays by reference"),
    (&["imul", "umul"], "write `add t, {x} * {y}`, which adds the product to a third cell"),
    (&["idiv", "udiv"], "write `add t, {x} / {y}`, which adds the quotient to a third cell"),
    (&["mod"], "write `add t, {x} % {y}`, which adds the remainder to a third cell"),
    (
        &["sal", "lsl", "lsr", "asr"],
        "a shift loses bits: `rol {x}, {y}` and `ror {x}, {y}` rotate; `add t, {x} << {y}` adds \
         the shifted value to a third cell",
    ),
    (
        &["clr", "clear", "reset", "free", "del", "delete"],
        "a cell becomes 0 by undoing the statements that changed it, such as `sub` after `add`; `vacate {x}` checks that it is \
         0, `erase {x}` loses what it holds",
    ),
    (&["raise", "throw", "error", "panic"], "write `assert a == b`, which traps unless it holds"),
    // Directives.
    (
        &[
            ".data", ".text", ".bss", ".section", ".segment", ".code", ".global", ".globl", ".extern",
            ".align", ".org",
        ],
        "leave it out: a text has no sections, and everything in it is visible",
    ),
    (&[".equ", ".set", ".define"], "write `.const NAME = 3`"),
    (
        &[".byte", ".short", ".long", ".quad", ".int", ".db", ".dw", ".space", ".skip", ".zero", ".array"],
        "write `.var x = 5`, or `.var A[3] = {1, 2, 3}`",
    ),
    (&[".func", ".function", ".sub", ".def"], "a procedure begins with `.proc name(in a, inout b)`"),
    (&[".endp", ".endproc", ".endfunc", ".return", ".ret"], "a procedure ends with `.end`"),
    (&[".endmacro"], "a macro ends with `.endm`"),
    (&[".local"], "write `local t = 0`, or `.ancilla t` for the whole procedure"),
    (&[".input"], "write `.in`"),
    (&[".output", ".result"], "write `.out`"),
    (&[".import", ".use"], "write `.include \"file.rasm\"`"),
];

/// Returns the suggestion for a word of another language, with the operands as written. The names of
/// functions are such words, too, because a function alone is no instruction.
pub(crate) fn advice(word: &str, operands: &[String]) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let entry = ADVICE.iter().find(|(words, _)| words.contains(&lower.as_str()));
    match entry {
        Some((_, text)) => Some(filled(text, operands)),
        None => words::function(&lower).and_then(of_function),
    }
}

/// Returns the suggestion for an unknown word at the beginning of a statement, or `None` if there is none.
/// `operands` are the operands after the word.
pub(super) fn statement_help(word: &str, operands: &[String]) -> Option<String> {
    advice(word, operands).or_else(|| nearest(word, words::statement_words()).map(did_you_mean))
}

fn filled(text: &str, operands: &[String]) -> String {
    let operand = |n: usize, default: &'static str| match operands.get(n) {
        Some(written) if written.chars().count() <= LONGEST_OPERAND => written.clone(),
        _ => default.to_owned(),
    };
    text.replace("{x}", &operand(0, "x")).replace("{y}", &operand(1, "y"))
}

fn of_function(function: Function) -> Option<String> {
    let sources = ["", " a", " a, b"].get(function.arity())?;
    words::combine(Update::Add, function).then(|| {
        format!(
            "`{0}` is a function, which is used in a value: `add y, {0}({1})` adds it to y",
            function.name(),
            sources.trim_start(),
        )
    })
}
