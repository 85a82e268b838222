//! Suggestions for words of other languages. This module handles words only, and is independent of tokens and
//! of the names in the program. The functions take operands as text, so that a suggestion contains the user's
//! operands.

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
        "write `add {x}, {y}` if {x} is 0, or exchange two cells with `swap`; \
         `overwrite {x}, {y}` would lose the old value of {x}",
    ),
    (&["inc", "incr", "increment"], "write `add {x}, 1`"),
    (&["dec", "decr", "decrement"], "write `sub {x}, 1`"),
    (&["xchg", "exch", "exchange"], "write `swap {x}, {y}`"),
    (
        &["jmp", "jump", "goto", "j", "b", "bra"],
        "write `if … fi` or `from … until`, or a pair of branches that name each other: \
         `here: br there, always` and `there: from here, always`",
    ),
    (
        &[
            "je", "jz", "jne", "jnz", "jl", "jle", "jg", "jge", "ja", "jae", "jb", "jbe", "jc", "jnc", "js",
            "jns", "beq", "bne", "blt", "ble", "bgt", "bge", "bnz", "bz", "loopnz",
        ],
        "write `if … fi` or `from … until`, or a pair of branches with their conditions: \
         `here: br there, a == b` and `there: from here, c == d`",
    ),
    (
        &["cmp", "test", "tst"],
        "write the condition in `if {x} < {y} … fi`, `from … until` or `br`: there are no flags",
    ),
    (
        &["ret", "retn", "return", "iret", "leave"],
        "move the line to the `.end`, where a procedure returns; return results in `inout` parameters",
    ),
    (
        &["halt", "hlt", "exit", "stop", "quit"],
        "delete the line: a program ends after the last statement of main",
    ),
    (&["nop", "noop", "pass", "skip"], "delete the line: a body may be empty"),
    (
        &["print", "printf", "println", "echo", "puts", "display"],
        "write `show {x}`; declare results with `.out`",
    ),
    (
        &["input", "scan", "scanf", "gets"],
        "write `read {x}`, which takes the next value of the tape; declare inputs with `.in`",
    ),
    (
        &["while", "do", "repeat"],
        "write `from entry … until exit`, where entry holds on the first iteration and on no other, \
         or count with `for i in 0..n … rof`",
    ),
    (&["elif", "elsif", "elseif"], "write `else if …`; each `if` has its own `fi`, the inner one first"),
    (&["break", "continue"], "put the skipped part into `if … fi`: a loop ends at its `until` only"),
    (&["switch", "case", "match"], "write `if … else if … fi … fi`"),
    (&["endif"], "end an `if` with `fi condition`; the condition holds exactly when the first body ran"),
    (&["endfor", "next", "done"], "end a `for` with `rof`"),
    (&["endwhile", "wend"], "end a `from` with `until condition`"),
    (
        &["end", "endproc", "endp", "endfunc", "endfunction"],
        "end `.proc` with `.end`, `if` with `fi`, `from` with `until`, `for` with `rof`",
    ),
    (&["endm", "endmacro"], "end a `.macro` with `.endm`"),
    (
        &["proc", "procedure", "fn", "func", "function", "def"],
        "begin a procedure with `.proc name(in a, inout b)`, and end it with `.end`",
    ),
    (&["macro", "define"], "begin a macro with `.macro name(a, b)`, and end it with `.endm`"),
    (&["include", "import", "use"], "write `.include \"file.rasm\"`"),
    (&["const", "equ"], "write `.const NAME = 3`"),
    (
        &["var", "int", "real", "dim", "auto", "float", "double", "bool", "char", "long"],
        "declare cells with `.var x`, `.var x: real` or `.var A[3]`, inputs with `.in`, and results \
         with `.out`; write `local x = 0 … delocal x = 0` for a local",
    ),
    (&["in", "inout"], "declare inputs with `.in x`, and cells that are inputs and results with `.inout x`"),
    (&["out"], "declare results with `.out x`"),
    (&["db", "dw", "dd", "dq"], "write `.var A[3] = {1, 2, 3}`"),
    (
        &["lea"],
        "write `A[i]` for an element: there are no addresses, and procedures take arrays by reference",
    ),
    (&["imul", "umul"], "write `add t, {x} * {y}`, which adds the product to a third cell"),
    (&["idiv", "udiv"], "write `add t, {x} / {y}`, which adds the quotient to a third cell"),
    (&["mod"], "write `add t, {x} % {y}`, which adds the remainder to a third cell"),
    (
        &["sal", "lsl", "lsr", "asr"],
        "write `rol {x}, {y}` or `ror {x}, {y}` to rotate, or `add t, {x} << {y}` to add \
         the shifted value to a third cell: a shift would lose bits",
    ),
    (
        &["clr", "clear", "reset", "free", "del", "delete"],
        "undo the statements that changed the cell, such as `sub` after `add`; `vacate {x}` checks that {x} is \
         0, and `erase {x}` loses its value",
    ),
    (&["raise", "throw", "error", "panic"], "write `assert a == b`, which traps unless it holds"),
    // Directives.
    (
        &[
            ".data", ".text", ".bss", ".section", ".segment", ".code", ".global", ".globl", ".extern",
            ".align", ".org",
        ],
        "delete the line: a text has no sections, and everything in it is visible",
    ),
    (&[".equ", ".set", ".define"], "write `.const NAME = 3`"),
    (
        &[".byte", ".short", ".long", ".quad", ".int", ".db", ".dw", ".space", ".skip", ".zero", ".array"],
        "write `.var x = 5`, or `.var A[3] = {1, 2, 3}`",
    ),
    (&[".func", ".function", ".sub", ".def"], "begin a procedure with `.proc name(in a, inout b)`"),
    (&[".endp", ".endproc", ".endfunc", ".return", ".ret"], "end a procedure with `.end`"),
    (&[".endmacro"], "end a macro with `.endm`"),
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
            "`{0}` is a function: write it in a value, as in `add y, {0}({1})`",
            function.name(),
            sources.trim_start(),
        )
    })
}
