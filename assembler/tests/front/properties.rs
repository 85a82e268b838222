//! Properties of all texts: nothing panics, and a valid text is formatted, printed and inverted consistently.

use proptest::prelude::*;
use reviver_assembler::format::{format, print, print_with};
use reviver_assembler::invert::invert;
use reviver_assembler::parser::parse;
use reviver_assembler::source::Sources;

use super::cases::complaints_of;

/// Calls all front-end functions for a text; none may panic. Returns true if the text is valid.
fn survives(bytes: Vec<u8>) -> bool {
    let mut sources = Sources::new();
    let file = match sources.add_bytes("random.rasm", bytes) {
        Ok(file) => file,
        Err(problem) => {
            assert!(!complaints_of(&sources, &[*problem]).is_empty());
            return false;
        }
    };
    let (body, diagnostics) = parse(&sources, file);
    if !diagnostics.is_empty() {
        complaints_of(&sources, &diagnostics);
        return false;
    }
    consistent(sources.file_text(file));
    if let Err(diagnostics) = invert(&body) {
        complaints_of(&sources, &diagnostics);
    }
    true
}

/// Checks the properties of a valid text.
fn consistent(text: &str) {
    let mut sources = Sources::new();
    let file = sources.add("first.rasm", text);
    let (body, _) = parse(&sources, file);
    let once = print_with(&sources, &body);
    let again = sources.add("second.rasm", once.as_str());
    assert_eq!(format(&sources, again).as_deref(), Ok(once.as_str()), "formatting is idempotent:\n{text}");

    let plain = print(&body);
    let third = sources.add("third.rasm", plain.as_str());
    let (read, diagnostics) = parse(&sources, third);
    assert!(diagnostics.is_empty(), "{}", complaints_of(&sources, &diagnostics));
    assert_eq!(print(&read), plain, "a printed tree is read as the same tree:\n{text}");
}

/// Checks that inverting a program twice gives the same text.
fn is_involution(text: &str) {
    let mut sources = Sources::new();
    let file = sources.add("program.rasm", text);
    let program = format(&sources, file).expect("it parses");
    let mut current = program.clone();
    for name in ["once.rasm", "twice.rasm"] {
        let file = sources.add(name, current);
        let (body, diagnostics) = parse(&sources, file);
        assert!(diagnostics.is_empty(), "{}", complaints_of(&sources, &diagnostics));
        current = print_with(&sources, &invert(&body).expect("nothing is erased"));
    }
    assert_eq!(current, program);
}

/// Tokens that a text may contain, and some invalid ones.
const SOUP: &[&str] = &[
    "add",
    "sub.mul",
    "swap",
    "neg",
    "rot",
    "assert",
    "br",
    "from",
    "call",
    "uncall",
    "callvia",
    "par",
    "push",
    "read",
    "grad.on",
    "if",
    "else",
    "fi",
    "loop",
    "until",
    "for",
    "in",
    "inout",
    "rof",
    "step",
    "reversed",
    "compute",
    "apply",
    "uncompute",
    "local",
    "delocal",
    "undo",
    "and",
    "or",
    "not",
    "always",
    "default",
    "rule",
    "mode",
    "pi",
    "int",
    "real",
    "x",
    "y",
    "A",
    "name$1",
    ".in",
    ".out",
    ".var",
    ".const",
    ".real",
    ".word",
    ".tolerance",
    ".inverse",
    ".limit",
    ".include",
    ".proc",
    ".end",
    ".macro",
    ".endm",
    ".ancilla",
    ".lines",
    ".block",
    "f64",
    "depth",
    "0",
    "42",
    "0xff",
    "1.5",
    "2e-3",
    "1_000",
    "12ab",
    "0x",
    "\"path\"",
    "\"",
    "; words\n",
    "\n",
    "\n",
    "\n",
    "\n",
    ",",
    ",",
    ":",
    "=",
    "'",
    "..",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "+",
    "-",
    "*",
    "/",
    "%",
    "~",
    "<<",
    ">>",
    "&",
    "^",
    "|",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "@",
    "é",
    "\r\n",
    "\t",
];

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(SOUP), 0..120).prop_map(|words| words.join(" "))
}

/// Returns a proptest strategy for valid texts with some damage. The parser reads more of such a text than of
/// random tokens.
fn damaged() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(SOUP);
    (body(0), any::<prop::sample::Index>(), any::<prop::sample::Index>(), word).prop_map(
        |(text, from, to, word)| {
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            let kept = text.get(..from.min(to)).unwrap_or_default();
            format!("{kept}{word}{}", text.get(from.max(to)..).unwrap_or_default())
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&["a", "b", "long_name", "x$1", "r0", "f3"][..]).prop_map(String::from)
}

fn literal() -> impl Strategy<Value = String> {
    let written = proptest::sample::select(&["0xff", "0b10_1", "0o17", "1_000", "1.5", "2e-3", "1e300"][..]);
    prop_oneof![written.prop_map(String::from), any::<u64>().prop_map(|n| n.to_string())]
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        name(),
        literal(),
        name().prop_map(|n| format!("{n}'")),
        Just(String::from("mode")),
        Just(String::from("pi")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = proptest::sample::select(&["+", "-", "*", "/", "%", "<<", ">>", "&", "^", "|"][..]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("~ {a}")),
            (name(), inner.clone()).prop_map(|(n, i)| format!("{n}[{i}]")),
            (name(), inner.clone(), inner.clone()).prop_map(|(n, i, j)| format!("{n}'[{i}, {j}]")),
            (name(), inner.clone()).prop_map(|(n, i)| format!("{n}[.., {i}]")),
            (name(), inner.clone(), inner.clone()).prop_map(|(n, i, j)| format!("{n}[{i}..{j} step 2]")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let order = proptest::sample::select(&["==", "!=", "<", "<=", ">", ">="][..]);
    let compare = (expression(), order, expression()).prop_map(|(a, o, b)| format!("{a} {o} {b}"));
    prop_oneof![4 => compare, 1 => Just(String::from("always"))].prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} and {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} or {b}")),
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.prop_map(|a| format!("({a})")),
        ]
    })
}

/// Returns a strategy for a reversible statement of one line.
fn line() -> impl Strategy<Value = String> {
    let update = proptest::sample::select(&["add", "sub", "xor", "rol"][..]);
    let function = proptest::sample::select(&["sum", "mul", "atan2", "lt", "shl"][..]);
    let single =
        proptest::sample::select(&["neg", "push", "pop", "read", "unread", "write", "vacate", "show"][..]);
    prop_oneof![
        (update.clone(), name(), expression()).prop_map(|(u, y, a)| format!("{u} {y}, {a}")),
        (update, function, name(), expression(), expression())
            .prop_map(|(u, f, y, a, b)| format!("{u}.{f} {y}, {a}, {b}")),
        (single, name()).prop_map(|(u, y)| format!("{u} {y}")),
        (name(), name(), expression()).prop_map(|(x, y, a)| format!("rot {x}, {y}, {a}")),
        condition().prop_map(|c| format!("assert {c}")),
        (name(), condition()).prop_map(|(p, c)| format!("br {p}, {c}")),
        (name(), condition()).prop_map(|(p, c)| format!("from {p}, {c}")),
        (name(), expression(), expression()).prop_map(|(p, a, b)| format!("call {p}({a}, {b})")),
        (name(), name(), expression()).prop_map(|(p, q, a)| format!("par {p}({a}), {q}()")),
        (name(), expression()).prop_map(|(m, a)| format!("undo m_{m} {a}")),
        Just(String::from("grad.off")),
    ]
}

/// Returns a strategy for the end of a line: nothing, or a comment.
fn ending() -> impl Strategy<Value = String> {
    let comment = proptest::sample::select(&["; words", ";words ", ";;; more", ";"][..]);
    prop_oneof![3 => Just(String::from("\n")), 1 => comment.prop_map(|c| format!("  {c}\n"))]
}

/// Returns a strategy for lines before a statement.
fn lead() -> impl Strategy<Value = String> {
    let lead = &[
        "",
        "",
        "",
        "",
        "\n",
        "; at the margin\n",
        "   ; inside\n",
        "here: ",
        "here:\n",
        "\n\n; after two\n\n",
    ];
    proptest::sample::select(&lead[..]).prop_map(String::from)
}

fn statement(depth: u32) -> BoxedStrategy<String> {
    let simple = (lead(), line(), ending()).prop_map(|(lead, line, end)| format!("{lead}{line}{end}"));
    if depth > 2 {
        return simple.boxed();
    }
    let inner = || body(depth + 1);
    let joined = (inner(), prop::option::of(inner()));
    let branching = (lead(), condition(), ending(), joined, condition(), ending()).prop_map(
        |(lead, entry, end, (then, otherwise), exit, last)| {
            let otherwise = otherwise.map_or(String::new(), |body| format!("else{end}{body}"));
            format!("{lead}if {entry}{end}{then}{otherwise}fi {exit}{last}")
        },
    );
    let repeated = (inner(), prop::option::of(inner()));
    let looping = (lead(), expression(), ending(), repeated, condition(), ending()).prop_map(
        |(lead, entry, end, (first, again), exit, last)| {
            let again = again.map_or(String::new(), |body| format!("loop{end}{body}"));
            format!("{lead}from {entry} == 0{end}{first}{again}until {exit}{last}")
        },
    );
    let counting = (lead(), expression(), expression(), any::<bool>(), ending(), inner()).prop_map(
        |(lead, from, to, reversed, end, body)| {
            let reversed = if reversed { " reversed" } else { "" };
            format!("{lead}for i in {from}..{to}{reversed}{end}{body}rof{end}")
        },
    );
    let computing = (lead(), ending(), inner(), inner())
        .prop_map(|(lead, end, body, apply)| format!("{lead}compute{end}{body}apply\n{apply}uncompute{end}"));
    let local = (lead(), any::<bool>(), expression(), expression(), inner()).prop_map(
        |(lead, real, start, end, body)| {
            let class = if real { ": real" } else { "" };
            format!("{lead}local t{class} = mul({start}, 2)\n{body}delocal t = {end}\n")
        },
    );
    prop_oneof![6 => simple, 1 => branching, 1 => looping, 1 => counting, 1 => computing, 1 => local].boxed()
}

fn body(depth: u32) -> BoxedStrategy<String> {
    proptest::collection::vec(statement(depth), 0..5).prop_map(|lines| lines.concat()).boxed()
}

/// Returns a strategy for a whole program, with declarations before, between and after its statements.
fn program() -> impl Strategy<Value = String> {
    let declaration = || {
        prop_oneof![
            Just(String::from(".in n, m[3]: real = {1, 2, ; two\n 3}\n")),
            expression().prop_map(|e| format!(".out a = {e}   ; result\n")),
            Just(String::from("\n.const K = 0xff  ; kay\n")),
            Just(String::from(".word 32\n.real fixed 20\n.limit depth 5\n")),
            body(1).prop_map(|b| format!(
                "\n.proc p(inout v[]: real, in k) rule q\n.ancilla t: real\n{b}.end\n"
            )),
            body(1).prop_map(|b| format!(".macro m_a(c, t)\n{b}.endm ; over\n\n")),
        ]
    };
    let header = prop_oneof![Just(""), Just("; a program\n; of two lines\n"), Just("; a program\n\n")];
    (header, declaration(), body(0), declaration(), body(0), ending())
        .prop_map(|(header, a, first, b, second, end)| format!("{header}{a}{first}{b}{second}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_survive(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(bytes);
    }

    #[test]
    fn token_soup_survives(text in soup()) {
        survives(text.into_bytes());
    }

    #[test]
    fn damaged_programs_survive(text in damaged()) {
        survives(text.into_bytes());
    }

    #[test]
    fn programs_are_consistent(text in program()) {
        prop_assert!(survives(text.clone().into_bytes()), "{}", super::cases::complaints(text));
    }

    #[test]
    fn inverting_twice_gives_the_program(text in program()) {
        is_involution(&text);
    }
}
