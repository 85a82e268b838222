//! The keywords and directives of the language, each with its manual page. The list of keywords is derived
//! from the pages, so every keyword has a page.

/// A manual page about words that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The words that the page describes, such as `if`, `else` and `fi`.
    pub words: &'static [&'static str],
    /// The syntax of the words.
    pub usage: &'static str,
    /// The effect of the words, in one or more sentences.
    pub meaning: &'static str,
    /// The effect of the inverse statement; empty if there is nothing to undo.
    pub inverse: &'static str,
    /// An example: a complete program.
    pub example: &'static str,
}

macro_rules! pages {
    ($Pages:ident $Words:ident $(#[doc = $doc:literal])+ $(
        [$($word:literal)+] $usage:literal
        $meaning:literal
        undone $inverse:literal
        example $example:literal
    )+) => {
        $(#[doc = $doc])+
        pub const $Words: &[&str] = &[$($($word),+),+];

        /// The pages of these words.
        pub const $Pages: &[Page] = &[$(Page {
            words: &[$($word),+],
            usage: $usage,
            meaning: $meaning,
            inverse: $inverse,
            example: $example,
        }),+];
    };
}

pages! {
    KEYWORD_PAGES KEYWORDS
    /// The keywords. Like the mnemonics, they can't be names of procedures, macros and labels.

    ["if" "else" "fi"] "if entry … else … fi exit"
    "If entry holds, the first body runs, otherwise the second; `else` is optional. After the body, exit \
     must hold exactly when the first body ran: a backward run tests exit to choose the body to undo. `else \
     if` begins an inner `if` on the line of the `else`; each `if` has a `fi`, the inner one first."
    undone "`if exit … else … fi entry` with both bodies undone"
    example ".inout n\n        if    n < 10\n            add   n, 100\n        fi    n >= 100\n"

    ["from" "loop" "until"] "from entry … loop … until exit"
    "A loop. entry must hold on the first iteration and on no other. The first body runs, then the loop ends \
     if exit holds; otherwise the second body runs, and the next iteration begins. `loop` and the second body \
     are optional."
    undone "`from exit … loop … until entry` with both bodies undone"
    example ".inout n\n        local i = 0\n        from  i == 0\n            add   n, i\n            add   i, 1\n        until i == 5\n        delocal i = 5\n"

    ["for" "rof" "step" "reversed"] "for i in lo..hi step s reversed … rof"
    "A new counter i takes the values lo, lo + s, … below hi; with `reversed`, it takes the same values \
     in the opposite order. The step s is a positive constant, by default 1; hi - lo must be a multiple of \
     s. The body must change neither the counter nor the bounds. If lo >= hi, nothing runs."
    undone "the same values in the opposite order, with the body undone"
    example ".inout s\n        for   i in 0..10 step 2\n            add   s, i\n        rof\n"

    ["compute" "apply" "uncompute"] "compute … apply … uncompute"
    "Runs the first body, then the second, then undoes the first. Variables that the first body opens are \
     open in the second body, too. The values that the first body computes are undone at the end."
    undone "the same, with the second body undone"
    example ".inout x, y\n.ancilla t\n        compute\n            add.mul t, x, x\n        apply\n            add   y, t\n        uncompute\n"

    ["local" "delocal"] "local t: class = value … delocal t = value, local v[n]: class … delocal v[n]: class"
    "A new cell, which begins with the value of its `local` and must hold the value of its `delocal` at the \
     end. A value is an expression, such as `a*b + 1` or `sin(a)`; without a value, as in `local t` or \
     `local t: real`, it is 0. The class is that of the value; with the class `real`, an integer literal is \
     a real. An array begins and ends as 0, and both statements state the same lengths and class. Both \
     belong to the same block."
    undone "each the other: `local t = b … delocal t = a`"
    example ".inout x, y\n        local t = 3*x + 1\n        add   y, t\n        delocal t = 3*x + 1\n"

    ["par" "unpar"] "par p(…), q(…), par for i in lo..hi call p(…)"
    "Calls that several threads may execute at the same time: *tasks*. With any number of threads, the \
     results are bit for bit those of executing the tasks one after the other. No task may use a cell that \
     another task changes, as an argument or by its name. If the assembler can tell that arguments overlap, it \
     reports an error; otherwise the program traps before any task begins. Tasks use no stack and no tape, and \
     don't switch the mode. If a task only reads a cell, its contributions to that cell's adjoint are \
     accumulated separately, and added in the order of the tasks. `unpar` undoes the tasks, the last one \
     first. A `par` becomes a `fork`, the calls, and a `join`."
    undone "each the other"
    example ".inout A[4], a, b\n        par   more(a), more(b)\n        par   for i in 0..4 call more(A[i])\n.proc more(inout x)\n        add   x, 1\n.end\n"

    ["callvia" "uncallvia"] "callvia c(arguments)"
    "Calls the procedure whose number the integer cell c holds: 1 is the first `.proc` of the text, 2 the \
     second. The procedure must have parameters that take the arguments; if c holds any other number, the \
     program traps. c must hold the same number after the call. The statement becomes an `if` for each of \
     these procedures."
    undone "each the other"
    example ".inout c default 2, x\n        callvia c(x)\n.proc up(inout x)\n        add   x, 1\n.end\n.proc down(inout x)\n        sub   x, 1\n.end\n"

    ["undo"] "undo name arguments"
    "Uses a macro backward: undoes its statements, the last one first."
    undone "the use of the macro"
    example ".macro up(x)\n        add   x, 1\n.endm\n.inout n\n        up    n\n        undo up n\n"

    ["and" "or" "not"] "a < 2*b and not (c == d or e == f)"
    "Join the comparisons of `if`, `fi`, `from`, `until` and `assert`. `and` and `or` short-circuit, in both \
     directions. `not` binds more strongly than `and`, `and` more strongly than `or`."
    undone ""
    example ".inout x, y\n        if    x < 3 and not y == 1\n            add   y, 2\n        fi    x < 3 and not y == 3\n"

    ["always"] "br partner, always"
    "The condition of a `br` or `from` that always holds. A `from …, always` must follow each `br …, \
     always`, because no other statement could be reached after it."
    undone ""
    example ".in  n\n.out a\ntop:    from  again, a != 0\nleave:  br    done, n == 0\n        add   a, 1\n        sub   n, 1\nagain:  br    top, always\ndone:   from  leave, always\n"

    ["forgotten"] "fi forgotten, from forgotten"
    "Replaces the condition of a join if no condition distinguishes the paths. One bit is erased, as by \
     `forget`; running backward needs a history of it."
    undone ""
    example ".inout n, halved\n        if    n % 2 == 0\n            overwrite n, n / 2\n            add   halved, 1\n        fi    forgotten\n"

    ["in" "inout"] ".proc name(in a, inout b), for i in 0..n"
    "The mode of a parameter, which is always passed by reference: `in` is never changed, `inout` may be. \
     Arguments may share cells only if both parameters are `in`. In a `for`, `in` comes before the range."
    undone ""
    example ".inout x\n        call  add_to(x, 3)\n.proc add_to(inout sum, in term)\n        add   sum, term\n.end\n"

    ["default"] ".in n default 10"
    "The value of an input at the start if the user gives none. It isn't the initial value, such as `= 0`, \
     with which an `.in` must end."
    undone ""
    example ".inout n default 10\n        neg   n\n"

    ["shared"] ".in w: real shared"
    "Declares that all lanes of a batch (`reviver batch`) have the same value of this input, for example a \
     parameter that is fitted to a sum over lanes. A gradient has one derivative with respect to the input, \
     the sum over the lanes. The word comes before `default`. In a single run, `shared` has no effect."
    undone ""
    example ".inout w: real shared default 0.5\n.inout x: real\n.out y: real\n        add.mul y, w, x\n"

    ["rule"] ".proc p(…) rule q"
    "The procedure q, which has the same parameters, replaces the adjoint of p: in gradient mode p runs on \
     values only, and q propagates the adjoints. q may change only its frame and adjoints. `rule q tangent t` \
     names a procedure for tangent programs, too."
    undone ""
    example ".inout y: real, x: real\n        call  f(y, x)\n.proc f(inout y: real, in x: real) rule g\n        add   y, x\n.end\n.proc g(inout y: real, in x: real)\n        add   x', y'\n.end\n"

    ["mode"] "a source: add y, mode"
    "The gradient mode bit, an integer: 1 between `grad.on` and `grad.off`, else 0. Nothing else changes it."
    undone ""
    example ".out y\n        add   y, mode\n"

    ["pi"] "a constant: add x, pi / 2"
    "The number π, a real."
    undone ""
    example ".inout x: real\n        add   x, pi / 2\n"

    ["int" "real"] ".var x: real, .proc p(in a: int)"
    "The two classes of cells. A cell is an integer by default; `toreal` and `toint` convert."
    undone ""
    example ".inout n: int, x: real\n        add.toreal x, n\n"
}

pages! {
    DIRECTIVE_PAGES DIRECTIVES
    /// Every directive, as written.

    [".in" ".out" ".inout" ".garbage" ".var"] ".in name[shape]: class = initial shared default given, …"
    "Declares global cells. `.in`: an input, which must end at its initial value. `.out`: a result, which \
     begins at its initial value. `.inout`: an input and a result. `.garbage`: an unwanted result that \
     running backward needs. `.var`: neither input nor result; it must end at its initial value. The \
     initial value is 0 by default; the list `{1, 2, 3}` has a value for each cell."
    undone "`.in` by `.out`, `.out` and `.garbage` by `.in`"
    example ".in  n default 3\n.out square\n.var A[2, 3]: real, t = 5\n        add.mul square, n, n\n        sub   n, 3\n"

    [".const"] ".const NAME = expression"
    "Defines a name for an integer or a real, valid from this line on."
    undone ""
    example ".const SIZE = 4 * 2\n.inout A[SIZE]\n        add   A[SIZE - 1], SIZE\n"

    [".record"] ".record NAME: field: class, …"
    "Names a group of cells. A declaration, a parameter or a local states the name in the place of a class; \
     `p.x` is a field, and `p[i].x` is the field of an element of an array of records. Each field is a \
     separate array."
    undone ""
    example ".record Particle: x: real, v: real\n.inout p[3]: Particle\n        add   p[1].x, p[1].v\n"

    [".real"] ".real f64"
    "The number system of reals: `f64`, `f32`, `fixed` (64 bits, 43 of them for the fraction) or `fixed 32`."
    undone ""
    example ".real fixed 32\n.inout x: real\n        add   x, 0.5\n"

    [".word"] ".word 8"
    "The width of integers: 8, 16, 32 or 64 bits."
    undone ""
    example ".word 8\n.inout n\n        add   n, 100 + 100\n"

    [".tolerance"] ".tolerance 1e-9"
    "The greatest magnitude of a float that counts as vacant."
    undone ""
    example ".tolerance 1e-6\n.inout x: real\n        neg   x\n"

    [".inverse"] ".inverse"
    "Marks the program as the inverse of another one: the user must give every input, and tapes are printed \
     with the last value first."
    undone ""
    example ".inverse\n.in n\n.out m\n        add   m, n\n        sub   n, m\n"

    [".limit"] ".limit depth 1000, .limit stack 1000, .limit tape 1000, .limit history 1000, .limit grad 3"
    "Limits the number of open calls, of entries of each stack, of entries of each tape, of entries that \
     procedures with a strategy keep on each stack, or the depth of gradient mode."
    undone ""
    example ".limit depth 10\n.limit stack 100\n.inout n\n        neg   n\n"

    [".include"] ".include \"path\""
    "Includes the text of another file, whose path is relative to the folder of this file. A file that is \
     included several times is inserted once."
    undone ""
    example ""

    [".proc" ".end"] ".proc name(in a, inout b[]: real) rule other … .end"
    "A procedure, which `call` runs and `uncall` undoes. Parameters are passed by reference; `[]` is an \
     array of any length. The `.ancilla` cells of a procedure are 0 at its beginning, and must be 0 again \
     at its end."
    undone "`uncall` for `call`"
    example ".inout x\n        call  twice(x)\n        uncall twice(x)\n.proc twice(inout y)\n        add   y, 2\n.end\n"

    [".macro" ".endm"] ".macro name(a, b) … .endm"
    "Statements that replace each use of the macro, a line that begins with its name. The arguments replace \
     the parameters; labels and locals are new in each use."
    undone "`undo name a, b`"
    example ".macro cnot(c, t)\n        xor   t, c\n.endm\n.inout x, y\n        cnot  x, y\n"

    [".ancilla"] ".ancilla t, u: real, v[4]"
    "Variables of the procedure that contains the directive, or of main. They are 0 at the entry and at the \
     exit of the procedure. No other procedure can name them."
    undone ""
    example ".inout x\n.ancilla t\n        add   t, x\n        sub   t, x\n"

    [".strategy"] ".strategy reverse"
    "Lets a procedure keep what its statements discard, so that a call can be undone: `reverse` keeps the \
     discarded values, `tape` also the old values of floats, and `checkpoint=N` divides loops into N segments, \
     keeps the states between them, and repeats a segment to undo it. The history is on the stacks."
    undone ""
    example ".inout n default 7\n        call  halve(n)\n        uncall halve(n)\n.proc halve(inout n)\n.strategy reverse\n        overwrite n, n / 2\n.end\n"

    [".lines" ".labels" ".path" ".file" ".block" ".scope" ".value"] ".lines 1, 2, …"
    "Records in a disassembled text about the original text: the lines and files of the instructions, \
     whether labels are recorded, the statements with their conditions, the names of variables, and the \
     expressions of temporaries. The disassembler writes them."
    undone ""
    example ".inout x\n.block macro 1..1 (2, 9, 12) up, end 2..2 (2, 9, 12)\n        add   x, 1\n.lines 1, 2, 3\n"
}

/// Returns the page of a keyword or a directive.
pub fn page(word: &str) -> Option<&'static Page> {
    KEYWORD_PAGES.iter().chain(DIRECTIVE_PAGES).find(|page| page.words.contains(&word))
}
