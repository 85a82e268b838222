//! Error codes of source text: characters, words, statements.

use super::{CodeAccount, programs, trial};

pub(super) static UNREADABLE_TEXT: CodeAccount = CodeAccount {
    title: "a file isn't a text that can be assembled",
    meaning: "A text is UTF-8, and is assembled as a reader sees it. So characters that a screen hides, or that \
              change the direction of writing, are refused, also in comments. A file in another encoding, a line \
              above 1 MiB, and a file above 4 GiB are refused too.",
    cure: "Save the file as UTF-8, and delete the character that the message names.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n        ; a number\u{202e}
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n        ; a number
        neg   n
",
        ),
    ),
};

pub(super) static UNKNOWN_CHARACTER: CodeAccount = CodeAccount {
    title: "a character isn't part of the language",
    meaning: "Statements consist of letters, digits, and the signs of operators and brackets. Some \
              characters only look like one of these: a long dash, or a no-break space.",
    cure: "Type the character again. A comment begins with `;`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        neg   n  # turn it
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        neg   n  ; turn it
",
        ),
    ),
};

pub(super) static UNCLOSED_QUOTE: CodeAccount = CodeAccount {
    title: "a text in quotes has no end",
    meaning: "A text that begins with a quotation mark ends with one on the same line.",
    cure: "Write the second quotation mark.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        neg   n
.path \"notes.rasm
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        neg   n
.path \"notes.rasm\"
",
        ),
    ),
};

pub(super) static MALFORMED_NUMBER: CodeAccount = CodeAccount {
    title: "a number is malformed, or too large",
    meaning: "Numbers are `42`, `1_000`, `0xff`, `0b101`, `0o17`, `1.5` and `2e-3`. A name can't begin \
              with a digit.",
    cure: "Delete signs that aren't digits, or write a blank or an operator in between.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        add   n, 12kg
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        add   n, 12
",
        ),
    ),
};

pub(super) static SOMETHING_ELSE_EXPECTED: CodeAccount = CodeAccount {
    title: "something else is expected here",
    meaning: "The statement was read up to this place, and this word or sign can't continue it. The message says \
              what can.",
    cure: "Compare with the usage: `reviver isa WORD` shows how an instruction, a keyword or a directive \
           is written. Often a comma or a bracket is missing just before.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        add   n 3
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        add   n, 3
",
        ),
    ),
};

pub(super) static RESERVED_NAME: CodeAccount = CodeAccount {
    title: "a name is taken by the language",
    meaning: "Instructions, keywords and functions can't be names. Neither can `main`, the name of the code \
              outside of procedures. Names that begin with `len$` pass lengths to procedures.",
    cure: "Choose another name.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout add
        neg   add
",
        ),
        trial(
            "check FILE",
            "\
.inout sum_of_all
        neg   sum_of_all
",
        ),
    ),
};

pub(super) static UNKNOWN_DIRECTIVE: CodeAccount = CodeAccount {
    title: "there is no such directive",
    meaning: "A word with a point in front declares something, and this one isn't known.",
    cure: "`reviver isa` lists the directives; cells are declared by `.in`, `.out`, `.inout`, `.garbage` \
           and `.var`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.input n
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        neg   n
",
        ),
    ),
};

pub(super) static OUT_OF_PLACE: CodeAccount = CodeAccount {
    title: "a directive isn't allowed here",
    meaning: "Globals, constants, procedures and macros are declared outside of procedures and blocks. \
              `.ancilla` is at the beginning of its procedure. No directive is inside of a block.",
    cure: "Move it out of the block. In a block, `local` declares a variable.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        if n > 0
.out m
            add   m, 1
        fi n > 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n
.out m
        if n > 0
            add   m, 1
        fi n > 0
",
        ),
    ),
};

pub(super) static TOO_MUCH: CodeAccount = CodeAccount {
    title: "a text exceeds a limit of the assembler",
    meaning: "The nesting and the copies of expressions, blocks, macros and included files are limited. \
              Without limits a few lines could request any amount of memory.",
    cure: "Split it: use a `local` for a part of an expression, and a procedure for a repeated part.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        add   n, ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------1
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        add   n, -1
",
        ),
    ),
};

pub(super) static UNKNOWN_INSTRUCTION: CodeAccount = CodeAccount {
    title: "there is no such instruction or macro",
    meaning: "A statement begins with the name of an instruction, of a macro, or with a keyword. This word is \
              none of them. A function follows an update, as in `add y, exp(x)`.",
    cure: "`reviver isa` lists the instructions. A procedure is called: `call p(x)`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        inc   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        add   n, 1
",
        ),
    ),
};

pub(super) static UNKNOWN_FUNCTION: CodeAccount = CodeAccount {
    title: "there is no such function",
    meaning: "Functions have the names that the manual lists. Some instructions, such as `swap`, take none.",
    cure: "`reviver isa` lists the functions.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout x: real default 4
.out y: real
        add   y, root(x)
",
        ),
        trial(
            "check FILE",
            "\
.inout x: real default 4
.out y: real
        add   y, sqrt(x)
",
        ),
    ),
};

pub(super) static WRONG_NUMBER_OF_OPERANDS: CodeAccount = CodeAccount {
    title: "an instruction or a function has too many or too few operands",
    meaning: "Each instruction has a fixed number of operands, and each function a fixed number of sources.",
    cure: "`reviver isa NAME` prints how many.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout a, b
        swap  a
",
        ),
        trial(
            "check FILE",
            "\
.inout a, b
        swap  a, b
",
        ),
    ),
};

pub(super) static ASSIGNED: CodeAccount = CodeAccount {
    title: "there is no assignment with `=`",
    meaning: "A statement begins with an instruction. There is no `=`, because the old value of the cell \
              would be lost. Values are added, subtracted or exchanged instead.",
    cure: "Write `add n, 1` for n += 1. A cell that is 0 becomes 5 by `add n, 5`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        n += 1
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        add   n, 1
",
        ),
    ),
};

pub(super) static NO_CONDITION: CodeAccount = CodeAccount {
    title: "this isn't a condition",
    meaning: "A condition compares two values: `a == b`, `!=`, `<`, `<=`, `>` or `>=`. Conditions are \
              joined by `and`, `or` and `not`; a number alone is none.",
    cure: "Compare: `n != 0`, `a < b and b < c`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        assert n
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 1
        assert n != 0
",
        ),
    ),
};

pub(super) static OTHER_CONDITION_WANTED: CodeAccount = CodeAccount {
    title: "this condition isn't allowed here",
    meaning: "`br` and `from` of a pair are single instructions: they test one comparison of cells and \
              constants, or `always`. Blocks test any condition, but not `always`; only a join forgets.",
    cure: "Write a block (`if … fi`, `from … until`), which tests any condition.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        if always
            neg   n
        fi n > 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 1
        if n > 0
            neg   n
        fi n < 0
",
        ),
    ),
};
