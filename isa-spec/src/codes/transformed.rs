//! Error codes of files, images, and program transformations.

use super::{CodeAccount, CodeEvidence, programs, trial};

pub(super) static FILE_NOT_INCLUDED: CodeAccount = CodeAccount {
    title: "an included file can't be read",
    meaning: "The path is in quotes, and relative to the folder of the file that includes it.",
    cure: "Correct the path.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.include \"parts/rotate.rasm\"
.inout n
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

pub(super) static INCLUDES_ITSELF: CodeAccount = CodeAccount {
    title: "a file includes itself",
    meaning: "Each file is included once, before the text that needs it. A file can't come before itself, \
              so it must not include itself, directly or through other files.",
    cure: "Move the declarations that both files need into a third file.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.include \"includes-itself.rasm\"
.inout n
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

pub(super) static NO_PROGRAM: CodeAccount = CodeAccount {
    title: "there is no program in the text",
    meaning: "The text has neither a declaration nor an instruction.",
    cure: "Declare cells, and write one instruction on each line.",
    evidence: programs(
        trial(
            "check FILE",
            "\
; nothing yet
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

pub(super) static NO_INVERSE_PROGRAM: CodeAccount = CodeAccount {
    title: "a statement has no inverse, so the program has none",
    meaning: "The inverse program undoes each statement, from the last one to the first. Statements that \
              lose bits (`overwrite`, `erase`, `forget`, `fi forgotten`) can't be undone.",
    cure: "Instead of erasing a value, undo the statements that computed it, `push` it, or keep it in a \
           `.garbage` cell. `reviver bennett` transforms a whole program.",
    evidence: programs(
        trial(
            "invert FILE",
            "\
.inout n
        overwrite n, 7
",
        ),
        trial(
            "invert FILE",
            "\
.inout n
        add   n, 7
",
        ),
    ),
};

pub(super) static NOT_TRANSFORMED: CodeAccount = CodeAccount {
    title: "Bennett's method can't transform this statement",
    meaning: "The method copies the state of a program and runs parts of it again. It handles only states \
              that consist of cells: no stacks, tapes or adjoints. A `callvia` is refused, because it isn't \
              known whether the called procedure loses bits. Rotations of floats are refused, because they \
              lose bits that are in no cell. A procedure with `.strategy` can't use macros that lose bits, and \
              macros can't call it.",
    cure: "Keep values in arrays, declare `.in` and `.out` arrays instead of tapes, write `call` instead of \
           `callvia`, procedures instead of macros, and use `.real fixed` for rotations.",
    evidence: programs(
        trial(
            "bennett FILE",
            "\
.inout n
        push  n
        overwrite n, 7
        pop   n
",
        ),
        trial(
            "bennett FILE",
            "\
.inout n
        overwrite n, 7
",
        ),
    ),
};

pub(super) static NO_ROOM_FOR_STATES: CodeAccount = CodeAccount {
    title: "the states that Bennett's method keeps exceed `--space`",
    meaning: "`--space` limits the bytes of the kept states. Even the smallest plan of the method needs \
              more.",
    cure: "Raise `--space` to the number of bytes that the message names, or choose the plan with \
           `--segments` and `--levels`.",
    evidence: programs(
        trial(
            "bennett FILE --space 100",
            "\
.inout n
        overwrite n, 7
",
        ),
        trial(
            "bennett FILE --segments 2 --levels 1 --rounds 1",
            "\
.inout n
        overwrite n, 7
",
        ),
    ),
};

pub(super) static NO_ADJOINT_PROGRAM: CodeAccount = CodeAccount {
    title: "the derivative of this statement can't be written as a program",
    meaning: "`grad --emit` writes the gradient as plain assembly. It can't write the gradients of statements that \
              move reals to tapes, that call the procedure that a cell chooses, or that apply a function whose \
              derivative the language can't express. `jvp --emit` writes derivatives along a direction. It can \
              write moves to tapes. A procedure with a `rule` needs a tangent rule, too, `rule q tangent t`, because \
              a rule computes only adjoints. If a program switches gradient mode itself, its gradients are written as statements before \
              it is differentiated again. Then the mode must be known before the run, and no real is moved to or \
              from a tape while it is on.",
    cure: "Keep reals in arrays, and give a procedure a `rule` that computes its derivative. Switch gradient mode \
           on and off in the same block, or in a `compute` block. `grad` without `--emit` and `jacobian --times` \
           differentiate programs that don't switch the mode.",
    evidence: programs(
        trial(
            "grad FILE --of y --emit",
            "\
.inout x: real default 2
.out y: real
        add   y, lgamma(x)
",
        ),
        trial(
            "grad FILE --of y --emit",
            "\
.inout x: real default 2
.out y: real
        add   y, log(x)
",
        ),
    ),
};

pub(super) static MALFORMED_IMAGE: CodeAccount = CodeAccount {
    title: "an image, or a record in a disassembly, is malformed",
    meaning: "An image contains code, and records the lines, labels, blocks and names of its text. The \
              records must match the code. The assembler and the disassembler write matching records, so \
              these records were changed afterwards.",
    cure: "Assemble the text again. In a disassembly, delete all records: `.lines`, `.file`, `.block`, \
           `.scope`, `.value`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.lines 1
.inout n
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

pub(super) static OUR_MISTAKE: CodeAccount = CodeAccount {
    title: "Reviver wrote a text that it can't read",
    meaning: "A transformation of Reviver wrote this text, and the assembler rejects it. That is a mistake \
              in Reviver.",
    cure: "Report the mistake, with the program.",
    evidence: CodeEvidence::NotShown("no mistake in a program is known to cause it"),
};
