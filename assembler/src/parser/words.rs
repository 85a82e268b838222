//! Words that mean something by themselves, and what a misspelt one may have been meant to be.
//! Knows no tokens.

use std::collections::HashMap;
use std::sync::LazyLock;

use reviver_isa::function::Function;
use reviver_isa::module::BlockKind;
use reviver_isa::names::KEYWORDS;
use reviver_isa::update::{Shape, Update};

use crate::suggest::{did_you_mean, nearest};

/// Every directive, as written.
pub(crate) const DIRECTIVES: &[&str] = &[
    ".in",
    ".out",
    ".inout",
    ".garbage",
    ".var",
    ".const",
    ".real",
    ".word",
    ".tolerance",
    ".limit",
    ".include",
    ".proc",
    ".end",
    ".macro",
    ".endm",
    ".ancilla",
    ".lines",
    ".file",
    ".block",
];

/// The spelling of a block's kind in `.block`.
pub(crate) fn block_name(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::If => "if",
        BlockKind::Else => "else",
        BlockKind::Loop => "loop",
        BlockKind::For => "for",
        BlockKind::Compute => "compute",
        BlockKind::Apply => "apply",
        BlockKind::Uncompute => "uncompute",
        BlockKind::Macro => "macro",
    }
}

/// The kind of block with this spelling in `.block`.
pub(crate) fn block_kind(name: &str) -> Option<BlockKind> {
    use BlockKind::*;
    [If, Else, Loop, For, Compute, Apply, Uncompute, Macro].into_iter().find(|kind| block_name(*kind) == name)
}

/// A word that can't be a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reserved {
    Mnemonic,
    Keyword,
}

static RESERVED: LazyLock<HashMap<&'static str, Reserved>> = LazyLock::new(|| {
    let mnemonics = Update::ALL.iter().map(|update| (update.name(), Reserved::Mnemonic));
    mnemonics.chain(KEYWORDS.iter().map(|word| (*word, Reserved::Keyword))).collect()
});

static MNEMONICS: LazyLock<HashMap<&'static str, Update>> =
    LazyLock::new(|| Update::ALL.iter().map(|update| (update.name(), *update)).collect());

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> =
    LazyLock::new(|| Function::ALL.iter().map(|function| (function.name(), *function)).collect());

/// Why a word can't be a name, if it can't.
pub(super) fn reserved(word: &str) -> Option<Reserved> {
    RESERVED.get(word).copied()
}

/// The update with this mnemonic.
pub(super) fn update(mnemonic: &str) -> Option<Update> {
    MNEMONICS.get(mnemonic).copied()
}

/// The function with this name.
pub(super) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.get(name).copied()
}

/// `did you mean …?` for a word where a statement begins.
pub(super) fn statement_hint(word: &str) -> Option<String> {
    const OPENERS: [&str; 13] = [
        "if",
        "else",
        "fi",
        "from",
        "loop",
        "until",
        "for",
        "rof",
        "compute",
        "apply",
        "uncompute",
        "local",
        "delocal",
    ];
    foreign(word).or_else(|| nearest(word, mnemonics().chain(OPENERS))).map(did_you_mean)
}

/// The mnemonics that a text may use.
pub(super) fn mnemonics() -> impl Iterator<Item = &'static str> {
    Update::ALL.iter().filter(|update| update.shape() != Shape::Boundary).map(|update| update.name())
}

/// The names of the functions that can follow an update's dot.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    Function::ALL.iter().filter(|function| function.arity() > 0).map(|function| function.name())
}

/// What languages nearby write for it.
fn foreign(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "endif" => "fi",
        "end" | "endproc" | "ret" | "return" => ".end",
        "endm" | "endmacro" => ".endm",
        "endfor" | "next" => "rof",
        "while" | "do" | "repeat" => "from",
        "proc" | "procedure" | "fn" | "def" => ".proc",
        "macro" => ".macro",
        "include" => ".include",
        "const" => ".const",
        "jmp" | "goto" | "jump" | "b" => "br",
        "print" => "show",
        "inc" => "add x, 1",
        "dec" => "sub x, 1",
        "xchg" | "exch" => "swap",
        _ => return None,
    })
}

/// A word with its article, for messages.
pub(super) fn describe(reserved: Reserved) -> &'static str {
    match reserved {
        Reserved::Mnemonic => "a mnemonic",
        Reserved::Keyword => "a keyword",
    }
}
