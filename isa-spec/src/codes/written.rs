//! Error codes of source text: characters, words, statements.

use super::{CodeAccount, programs, trial};

pub(super) static UNREADABLE_TEXT: CodeAccount = CodeAccount {
    title: "a file isn't a text that can be assembled",
    meaning: "A text is UTF-8, and the text on a screen must be the text that is assembled. So invisible \
              characters, and characters that change the direction of writing, are refused, even in \
              comments. Lines of more than 1 MiB and files of more than 4 GiB are refused, too.",
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
    cure: "Type the character that was meant. Begin a comment with `;`.",
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
    meaning: "A text that begins with a quotation mark must end with a quotation mark on the same line.",
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
    meaning: "Numbers have the forms `42`, `1_000`, `0xff`, `0b101`, `0o17`, `1.5` and `2e-3`. A name can't \
              begin with a digit.",
    cure: "Delete the characters that aren't digits, or separate the number from the name by a blank or an \
           operator.",
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
    meaning: "The statement is valid up to this place, but this word or sign can't follow. The message says \
              what can follow.",
    cure: "Compare the statement with its syntax, which `reviver isa WORD` shows for an instruction, a \
           keyword or a directive. Often a comma or a bracket is missing before this place.",
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
    title: "a name is reserved by the language",
    meaning: "Procedures, macros and labels can't have the name of an instruction or a keyword. Cells and \
              constants can, because these words have no meaning in the place of an operand; they can't be \
              named `mode` or `pi`. No procedure is named `main`, the name of the code outside of procedures. Names \
              that begin with `len$` are reserved for parameters that pass lengths to procedures.",
    cure: "Choose another name.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout pi: real
        neg   pi
",
        ),
        trial(
            "check FILE",
            "\
.inout angle: real, step: real
        add   angle, step * pi
",
        ),
    ),
};

pub(super) static UNKNOWN_DIRECTIVE: CodeAccount = CodeAccount {
    title: "there is no such directive",
    meaning: "A word that begins with a dot is a directive, and there is no directive of this name.",
    cure: "Correct the name; `reviver isa` lists the directives. Declare cells by `.in`, `.out`, `.inout`, \
           `.garbage` or `.var`.",
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
              `.ancilla` may also be in a procedure, outside of its blocks.",
    cure: "Move the directive out of the block or the procedure. To declare a variable in a block, write \
           `local`.",
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
    meaning: "The depth of nested expressions, blocks, macros and includes is limited, and so is the number \
              of statements that macros and `uncompute` copy. Without these limits, a few lines could \
              request any amount of memory.",
    cure: "Split the text: compute a part of an expression into a `local`, and write a procedure for a \
           repeated part.",
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
    meaning: "A statement begins with an instruction, the name of a macro, or a keyword, and this word is \
              none of them. A function can't begin a statement; it is part of an instruction, as in `add y, \
              exp(x)`.",
    cure: "Correct the word; `reviver isa` lists the instructions. To run a procedure, write `call p(x)`.",
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
    meaning: "The manual lists the names of the functions, and this name isn't one of them. Some \
              instructions, such as `swap`, take no function at all.",
    cure: "Correct the name; `reviver isa` lists the functions.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout x: real default 4
.out y: real
        add   y, squareroot(x)
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
    cure: "Run `reviver isa NAME`, and write as many operands as in the example that it prints.",
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
    cure: "Write `add n, 1` for n += 1. If n is 0, `add n, 5` sets it to 5.",
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
    meaning: "A condition compares two values: `a == b`, `!=`, `<`, `<=`, `>` or `>=`. `and` and `or` join \
              conditions, and `not` negates a condition; a number alone isn't a condition.",
    cure: "Compare the value, for example `n != 0` or `a < b and b < c`.",
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
    meaning: "A `br` or a `from` of a pair is a single instruction: it tests one comparison of cells and \
              constants, or `always`. A block tests any condition except `always`. Only a `fi`, or the \
              `from` of a loop, can be `forgotten`.",
    cure: "Instead of a pair, write a block (`if … fi`, `from … until`), which tests any comparison. In a \
           block, write a comparison instead of `always`.",
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
