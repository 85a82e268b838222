//! Error codes of files, images, and program transformations.

use super::{CodeAccount, CodeEvidence, programs, trial};

pub(super) static FILE_NOT_INCLUDED: CodeAccount = CodeAccount {
    title: "a file that is included can't be read",
    meaning: "The path is in quotes, and relative to the folder of the file that includes it.",
    cure: "Mend the path.",
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
    meaning: "Each file is included once. A file that includes itself couldn't come before the text that needs \
              it.",
    cure: "Move what both files need into a third one.",
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
    meaning: "Nothing is declared, and no instruction is written.",
    cure: "Declare cells, and write one instruction a line.",
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
    title: "a program with this has no inverse",
    meaning: "The inverse program undoes each statement, from the last one to the first. What loses bits \
              (`overwrite`, `erase`, `forget`, `fi forgotten`) can't be undone.",
    cure: "Undo what made the value, or keep it: `push` it, or declare it `.garbage`. `reviver bennett` \
           does so for a whole program.",
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
    title: "Bennett's method can't be applied to this",
    meaning: "The method copies the state of a program and runs parts of it again. It can't where the \
              state is more than cells: with stacks, tapes, adjoints, calls by value, and rotations of \
              floats, which lose bits in no cell.",
    cure: "Keep values in arrays, declare `.in` and `.out` arrays in place of tapes, call by name, and \
           take `.real fixed` for rotations.",
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
    title: "the states that Bennett's method keeps don't fit into the space",
    meaning: "`--space` says how many bytes the kept states may take. Even the fewest that the method can \
              do with don't fit.",
    cure: "Allow the bytes that the message names, or choose yourself: `--segments 2`.",
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

pub(super) static MALFORMED_IMAGE: CodeAccount = CodeAccount {
    title: "an image, or what a disassembly records, is malformed",
    meaning: "An image holds code, and records lines, labels, blocks and names of its text. They must \
              belong to each other. The assembler and the disassembler write them so; something else has \
              changed them.",
    cure: "Assemble the text anew. In a disassembly, leave out all that is recorded: `.lines`, `.file`, \
           `.block`, `.scope`, `.value`.",
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
    title: "Reviver has made a text that it can't read itself",
    meaning: "A transformation writes text out of what it has read. That this can't be read again is a \
              mistake of the transformation.",
    cure: "Report it, with the program.",
    evidence: CodeEvidence::Untold("it is no mistake of a program, and none is known that leads there"),
};
