//! Words that mean something by themselves, and what a misspelt one may have been meant to be.
//! Knows no tokens.

use std::collections::HashMap;
use std::sync::LazyLock;

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;
use reviver_isa::language::KEYWORDS;
use reviver_isa::text::compound;
use reviver_isa::update::{OperandShape, Over, Update};

use crate::suggest::nearest;

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

/// What the length of an array is asked by, as a function is.
pub(super) const LENGTH: &str = "len";

/// The words of blocks: where they begin, go on and end.
pub(crate) const BLOCK_WORDS: [&str; 13] = [
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

/// The words that a statement can begin with.
pub(crate) fn statement_words() -> impl Iterator<Item = &'static str> {
    mnemonics().chain(BLOCK_WORDS).chain(["undo", "par", "unpar", "callvia", "uncallvia"])
}

/// Whether an update applied to a function is an instruction over the numbers that there are.
pub(crate) fn combine(update: Update, function: Function) -> bool {
    let over = |class| match class {
        Class::Int => Over::Integers,
        Class::Real => Over::AdditiveReals,
    };
    let legal = |form: Form| update.over().contains(&over(form.result()));
    update.shape() == OperandShape::Accumulate && function.arity() > 0 && function.forms().any(legal)
}

/// The instruction that a word with a dot was meant to be: its halves the other way round, or the
/// nearest update and the nearest function that it can be applied to.
pub(super) fn meant_instruction(first: &str, second: &str) -> Option<String> {
    let named = |update: &str, function: &str| {
        let (update, function) = (self::update(update)?, self::function(function)?);
        combine(update, function).then(|| compound(update, function))
    };
    named(second, first).or_else(|| {
        let updates = mnemonics().filter(|name| update(name).is_some_and(|row| row.takes_function()));
        let update = update(first).or_else(|| nearest(first, updates).and_then(update))?;
        named(update.name(), nearest_function(update, second)?)
    })
}

/// The function nearest to a word of those that an update can be applied to.
pub(super) fn nearest_function(update: Update, word: &str) -> Option<&'static str> {
    let fits = |function: &&Function| combine(update, **function);
    nearest(word, Function::ALL.iter().filter(fits).map(|function| function.name()))
}

/// The mnemonics that a text may use.
pub(crate) fn mnemonics() -> impl Iterator<Item = &'static str> {
    Update::ALL.iter().filter(|update| update.shape() != OperandShape::Boundary).map(|update| update.name())
}

/// The names of the functions that can follow an update's dot.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    Function::ALL
        .iter()
        .filter(|function| function.arity() > 0)
        .map(|function| function.name())
        .chain([LENGTH])
}

/// A word with its article, for messages.
pub(super) fn describe(reserved: Reserved) -> &'static str {
    match reserved {
        Reserved::Mnemonic => "a mnemonic",
        Reserved::Keyword => "a keyword",
    }
}
