//! Words of the language, and suggestions for misspelt ones. This module is independent of tokens.

use std::collections::HashMap;
use std::sync::LazyLock;

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::language::KEYWORDS;
use reviver_isa::names::is_operand_name;
use reviver_isa::text::compound;
use reviver_isa::update::{OperandShape, Over, Update};

use crate::suggest::nearest;
use crate::tree::TextFunction;

/// A word that can't be a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reserved {
    Mnemonic,
    Keyword,
    Operand,
}

static RESERVED: LazyLock<HashMap<&'static str, Reserved>> = LazyLock::new(|| {
    let mnemonics = Update::ALL.iter().map(|update| (update.name(), Reserved::Mnemonic));
    mnemonics.chain(KEYWORDS.iter().map(|word| (*word, Reserved::Keyword))).collect()
});

static MNEMONICS: LazyLock<HashMap<&'static str, Update>> =
    LazyLock::new(|| Update::ALL.iter().map(|update| (update.name(), *update)).collect());

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> =
    LazyLock::new(|| Function::ALL.iter().map(|function| (function.name(), *function)).collect());

/// Returns the reason why a word can't be the name of a procedure, a macro or a label, or `None` if it can.
pub(super) fn reserved(word: &str) -> Option<Reserved> {
    RESERVED.get(word).copied()
}

/// Returns the reason why a word can't be the name of a cell, a constant or a counter, or `None` if it can.
pub(super) fn operand(word: &str) -> Option<Reserved> {
    (!is_operand_name(word)).then_some(Reserved::Operand)
}

/// Returns the update with this mnemonic.
pub(super) fn update(mnemonic: &str) -> Option<Update> {
    MNEMONICS.get(mnemonic).copied()
}

/// Returns the function with this name.
pub(super) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.get(name).copied()
}

/// The word for the length of an array, which is used like a function.
pub(super) const LENGTH: &str = "len";

/// The words of blocks: at their beginnings, middles and ends.
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

/// Returns the words that can begin a statement.
pub(crate) fn statement_words() -> impl Iterator<Item = &'static str> {
    mnemonics().chain(BLOCK_WORDS).chain(["undo", "par", "unpar", "callvia", "uncallvia"])
}

/// Returns true if an update applied to a function is an instruction for integers or reals.
pub(crate) fn combine(update: Update, function: Function) -> bool {
    let over = |class| match class {
        Class::Int => Over::Integers,
        Class::Real => Over::AdditiveReals,
    };
    let legal = |signature: Signature| update.over().contains(&over(signature.result()));
    update.shape() == OperandShape::Accumulate && function.arity() > 0 && function.signatures().any(legal)
}

/// Returns a suggestion for an unknown word with a dot, such as `mul.add`. The suggestion exchanges the two
/// halves, or consists of the nearest update and the nearest function that this update can apply.
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

/// Returns the nearest function to a word among those that an update can be applied to.
pub(super) fn nearest_function(update: Update, word: &str) -> Option<&'static str> {
    let fits = |function: &&Function| combine(update, **function);
    nearest(word, Function::ALL.iter().filter(fits).map(|function| function.name()))
}

/// Returns the mnemonics that are valid in a text.
pub(crate) fn mnemonics() -> impl Iterator<Item = &'static str> {
    Update::ALL.iter().filter(|update| update.shape() != OperandShape::Boundary).map(|update| update.name())
}

/// Returns the names of functions that can follow the dot of an update, and `len`.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    Function::ALL
        .iter()
        .filter(|function| function.arity() > 0)
        .map(|function| function.name())
        .chain([LENGTH])
        .chain(TextFunction::ALL.iter().map(|function| function.name()))
}

/// Returns a description with an article, for messages.
pub(super) fn describe(reserved: Reserved) -> &'static str {
    match reserved {
        Reserved::Mnemonic => "a mnemonic",
        Reserved::Keyword => "a keyword",
        Reserved::Operand => "an operand of the language",
    }
}
