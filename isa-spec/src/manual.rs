//! The manual, generated from the rows: one document of everything, and a page per instruction.
//!
//! This module only formats facts of other modules. The output is the same on every platform and in every
//! run.

use std::fmt::Write;

use crate::card::{self, Card, CardTerm};
use crate::formula::Formulas;
use crate::function::{Function, Group, Signature};
use crate::instruction::Class;
use crate::language;
use crate::number::{Arithmetic, F64, Reals, Wide};
use crate::text::compound;
use crate::update::{OperandShape, Over, Update};

const INTRODUCTION: &str = include_str!("manual/introduction.md");

/// The groups of functions in the order of the manual.
const GROUPS: [Group; 5] =
    [Group::Arithmetic, Group::Elementary, Group::Bits, Group::Comparison, Group::Conversion];

/// Returns the whole manual in Markdown.
pub fn document() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n## Updates\n\n");
    text.push_str(&updates_table());
    text.push_str("\n## Functions\n");
    for group in GROUPS {
        let _ = write!(text, "\n### {}\n\n{}", title(group), functions_table(group));
    }
    text.push_str("\n## The updates one by one\n");
    for &update in Update::ALL {
        let _ = write!(text, "\n### `{}` (update)\n\n{}", update.name(), update_page(update));
    }
    text.push_str("\n## The functions one by one\n");
    for &function in Function::ALL {
        let _ = write!(text, "\n### `{}` (function)\n\n{}", function.name(), function_page(function));
    }
    text
}

/// Returns an overview of all instructions and words, for a terminal.
pub fn overview() -> String {
    let mut text = String::from("An instruction is an update applied to a function: `add.mul y, a, b`.\n");
    text.push_str("\nUpdates (y is the target, f the function's value)\n\n");
    for &update in Update::ALL.iter().filter(|update| update.shape() != OperandShape::Boundary) {
        let _ = writeln!(text, "  {:<10} {}", update.name(), effect(update));
    }
    for group in GROUPS {
        let _ = write!(text, "\n{}\n\n", title(group));
        for function in rows(group) {
            let _ = writeln!(text, "  {:<10} {}", function.name(), summary(function));
        }
    }
    for (title, pages) in [("Keywords", language::KEYWORD_PAGES), ("Directives", language::DIRECTIVE_PAGES)] {
        let _ = write!(text, "\n{title}\n\n");
        for page in pages {
            let _ = writeln!(text, "  {}", page.words.join(" "));
        }
    }
    text.push_str(
        "\n`reviver isa NAME` explains an update (`add`), a function (`mul`), an instruction made\n",
    );
    text.push_str("of both (`add.mul`), a keyword (`for`) or a directive (`.in`).\n");
    text
}

/// Returns the page of an update, a function, an update applied to a function, a keyword or a directive. If
/// several share the name, all of their pages are returned.
pub fn page(name: &str) -> Option<String> {
    let mut text = String::new();
    if let Some(update) = Update::from_name(name) {
        let _ = write!(text, "{name}, an update\n\n{}", update_page(update));
    }
    if let Some(function) = Function::from_name(name) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{gap}{name}, a function\n\n{}", function_page(function));
    }
    if let Some(page) = language::page(name) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{gap}{name}, {}\n\n{}", kind_of_word(name), word_page(page));
    }
    if text.is_empty() {
        let (update, function) = name.split_once('.')?;
        return instruction_page(Update::from_name(update)?, Function::from_name(function)?);
    }
    Some(text)
}

fn kind_of_word(word: &str) -> &'static str {
    if word.starts_with('.') { "a directive" } else { "a keyword" }
}

fn word_page(page: &language::Page) -> String {
    let mut text = format!("{}\n\n", page.meaning);
    item(&mut text, "Written", &format!("`{}`", page.usage));
    item(&mut text, "Undone by", page.inverse);
    if !page.example.is_empty() {
        text.push_str("- Example:\n\n");
        for line in page.example.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn rows(group: Group) -> impl Iterator<Item = Function> {
    Function::ALL.iter().copied().filter(move |function| function.group() == group)
}

fn title(group: Group) -> &'static str {
    match group {
        Group::Arithmetic => "Arithmetic functions",
        Group::Elementary => "Elementary functions of reals",
        Group::Bits => "Functions of bits",
        Group::Comparison => "Comparisons, which are the conditions of `br`, `from` and `assert` too",
        Group::Conversion => "Conversions between the classes",
    }
}

/// Returns the first sentence of a row's description, without its full stop.
fn summary(function: Function) -> &'static str {
    first_sentence(function.doc())
}

fn first_sentence(doc: &'static str) -> &'static str {
    let sentence = doc.trim().split(". ").next().unwrap_or_default();
    sentence.trim_end_matches('.')
}

fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

// ---- updates ----

fn updates_table() -> String {
    let mut text = String::from("| byte | update | operands | over | meaning | inverse | adjoint |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for &update in Update::ALL {
        let _ = writeln!(
            text,
            "| 0x{:02x} | `{}` | {} | {} | {} | {} | {} |",
            update.byte(),
            update.name(),
            operands(update.shape()),
            over(update),
            effect(update),
            inverse_name(update),
            adjoint(update),
        );
    }
    text
}

/// Returns the effect of an update on its target as a formula, with the function left open: `y ← y + f`.
pub fn effect(update: Update) -> String {
    card::describe_row(update).does.equation.formula
}

/// Returns the effects of an update on adjoints as formulas, in order of execution.
fn adjoint(update: Update) -> String {
    let lines: Vec<String> =
        card::describe_row(update).does.adjoint.into_iter().map(|line| line.formula).collect();
    lines.join(", then ")
}

fn operands(shape: OperandShape) -> &'static str {
    match shape {
        OperandShape::Accumulate => "target, sources of f",
        OperandShape::Single => "target",
        OperandShape::Exchange => "target, target",
        OperandShape::Rotate => "target, target, angle",
        OperandShape::Condition => "condition",
        OperandShape::Branch => "partner, condition",
        OperandShape::Boundary => "none (not written in source text)",
        OperandShape::Call => "procedure(arguments)",
        OperandShape::Tasks => "none",
        OperandShape::Show => "source",
        OperandShape::Switch => "none",
    }
}

/// Returns the names of the number systems over which an update is legal. Systems that aren't implemented yet
/// are listed only if the update is legal over no implemented one.
fn over(update: Update) -> String {
    let exists = |over: &&Over| matches!(over, Over::Integers | Over::AdditiveReals);
    let existing: Vec<&str> = update.over().iter().filter(exists).map(|&over| numbers(over)).collect();
    if existing.is_empty() {
        update.over().iter().map(|&over| numbers(over)).collect::<Vec<_>>().join(", ")
    } else {
        existing.join(", ")
    }
}

fn numbers(over: Over) -> &'static str {
    match over {
        Over::Integers => "integers",
        Over::AdditiveReals => "reals",
        Over::MultiplicativeReals => "cells of the classes `log` and `tropical`, by their fields",
        Over::ComplexReals => "cells of the class `complex`, by their fields",
    }
}

fn inverse_name(update: Update) -> String {
    match update.is_reversible() {
        true => format!("`{}`", update.inverse().name()),
        false => "none: bits are erased".to_owned(),
    }
}

fn update_page(update: Update) -> String {
    let mut text = format!("{}\n\n    {}\n\n", paragraph(update.doc()), effect(update));
    item(&mut text, "Operands", operands(update.shape()));
    item(&mut text, "Over", &over(update));
    let undoing = match update.is_reversible() {
        true => format!("{}, {}", inverse_name(update), effect(update.inverse())),
        false => inverse_name(update),
    };
    item(&mut text, "Inverse", &undoing);
    item(&mut text, "Adjoint", &adjoint(update));
    item(&mut text, "Example", &update_example(update).map_or(String::new(), |line| format!("`{line}`")));
    item(&mut text, "Byte", &format!("0x{:02x}", update.byte()));
    text
}

/// Returns an example instruction for an update.
fn update_example(update: Update) -> Option<String> {
    let operands = match update.shape() {
        OperandShape::Accumulate => return Some(format!("{0} y, a`, `{0}.mul y, a, b", update.name())),
        OperandShape::Single | OperandShape::Show => "y",
        OperandShape::Exchange => "x, y",
        OperandShape::Rotate => "x, y, angle",
        OperandShape::Condition => "a < b",
        OperandShape::Branch => "partner, a < b",
        OperandShape::Boundary => return None,
        OperandShape::Call => "p(a, b)",
        OperandShape::Tasks | OperandShape::Switch => return Some(update.name().to_owned()),
    };
    Some(format!("{} {operands}", update.name()))
}

/// Appends a line to a page, unless the content is empty.
fn item(text: &mut String, title: &str, content: &str) {
    if !content.is_empty() {
        let _ = writeln!(text, "- {title}: {content}");
    }
}

// ---- functions ----

fn functions_table(group: Group) -> String {
    let mut text = String::from("| byte | function | forms | f | derivatives | edges |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for function in rows(group) {
        let formulas = FunctionFormulas::of(function);
        let partials: Vec<&str> = formulas.partials.iter().map(|(_, partial)| partial.as_str()).collect();
        let _ = writeln!(
            text,
            "| 0x{:02x} | `{}` | {} | {} | {} | {} |",
            function.byte(),
            function.name(),
            signatures(function).join("; "),
            formulas.values.join("; "),
            if formulas.parts.is_empty() { partials.join("; ") } else { "see its section".to_owned() },
            if function.edges().is_empty() { "none" } else { function.edges() },
        );
    }
    text
}

fn signatures(function: Function) -> Vec<String> {
    function.signatures().map(|signature| signature_name(signature, function.arity())).collect()
}

fn signature_name(signature: Signature, arity: usize) -> String {
    let sources: Vec<&str> = (0..arity).map(|n| signature.source(n).name()).collect();
    format!("({}) → {}", sources.join(", "), signature.result().name())
}

/// The formulas of a row with the sources a and b.
struct FunctionFormulas {
    /// The values of all signatures; a single one if the values of all signatures have the same text.
    values: Vec<String>,
    /// The names ∂f/∂a and ∂f/∂b, each with its formula.
    partials: Vec<(&'static str, String)>,
    parts: Vec<String>,
}

impl FunctionFormulas {
    fn of(function: Function) -> FunctionFormulas {
        let arena = Formulas::new();
        let (a, b) = (arena.leaf("a"), arena.leaf("b"));
        let mut values: Vec<_> = function
            .signatures()
            .filter_map(|signature| arena.value(function, signature, a, b).ok())
            .collect();
        values.dedup();
        let sources = (0..function.arity()).zip(["∂f/∂a", "∂f/∂b"]);
        let partials: Vec<_> = sources
            .filter_map(|(n, name)| {
                let partial = |signature| arena.partial(function, signature, n, a, b).ok();
                function.signatures().find_map(partial).map(|partial| (name, partial))
            })
            .collect();
        let count = values.len();
        let roots: Vec<_> = values.into_iter().chain(partials.iter().map(|&(_, partial)| partial)).collect();
        let spelled = arena.spell(&roots);
        let mut texts: Vec<String> = spelled.formulas.into_iter().map(|formula| formula.text).collect();
        let names = partials.iter().map(|&(name, _)| name);
        let partials = names.zip(texts.split_off(count)).collect();
        FunctionFormulas { values: texts, partials, parts: spelled.parts }
    }
}

fn function_page(function: Function) -> String {
    let mut text = format!("{}\n\n", paragraph(function.doc()));
    let formulas = FunctionFormulas::of(function);
    let example = ["f", "f(a)", "f(a, b)"][function.arity()];
    for value in &formulas.values {
        let _ = writeln!(text, "    {example} = {value}");
    }
    for (name, partial) in &formulas.partials {
        let _ = writeln!(text, "    {name} = {partial}");
    }
    if !formulas.parts.is_empty() {
        let _ = writeln!(text, "    where {}", formulas.parts.join(", "));
    }
    text.push('\n');
    item(&mut text, "Forms", &signatures(function).join("; "));
    item(&mut text, "Edges", function.edges());
    item(&mut text, "Example", &function_example(function));
    item(&mut text, "Byte", &format!("0x{:02x}", function.byte()));
    text
}

/// Returns an example instruction for a function, and the function's value for sample sources.
fn function_example(function: Function) -> String {
    let sources = ["", ", a", ", a, b"][function.arity()];
    let line = format!("`{} y{sources}`", compound(Update::Add, function));
    let line = match function.order() {
        Some(order) => format!("{line}, `assert a {} b`", order.symbol()),
        None if function.is_condition() => format!("`br partner, {}`", function.name()),
        None => line,
    };
    let values: Vec<String> =
        function.signatures().map(|signature| example_value(function, signature)).collect();
    if function.arity() == 0 { line } else { format!("{line}; {}", values.join(", ")) }
}

/// Returns the value for sample sources: `f(7, 2) = 3`
fn example_value(function: Function, signature: Signature) -> String {
    let numbers = Arithmetic { words: Wide, reals: F64 };
    let (ints, reals) = ([7, 2], [0.75, 2.0]);
    let value = match signature {
        Signature::Int => function.int(&numbers, ints[0], ints[1]).map(|v| v.to_string()),
        Signature::RealsToInt => function.reals_to_int(&numbers, reals[0], reals[1]).map(|v| v.to_string()),
        Signature::Real => function.real(&numbers, reals[0], reals[1]).map(|v| F64.text(v)),
        Signature::RealInt => function.real_int(&numbers, reals[0], ints[1]).map(|v| F64.text(v)),
        Signature::IntsToReal => function.ints_to_real(&numbers, ints[0], ints[1]).map(|v| F64.text(v)),
    };
    let sources: Vec<String> = (0..function.arity())
        .map(|n| match signature.source(n) {
            Class::Int => ints[n].to_string(),
            Class::Real => F64.text(reals[n]),
        })
        .collect();
    format!("f({}) = {}", sources.join(", "), value.unwrap_or_else(|fault| fault.to_string()))
}

// ---- instructions ----

/// Returns the page of an update applied to a function, if there is such an instruction.
fn instruction_page(update: Update, function: Function) -> Option<String> {
    let legal = |signature: &Signature| match signature.result() {
        Class::Int => update.over().contains(&Over::Integers),
        Class::Real => update.over().iter().any(|&over| over != Over::Integers),
    };
    let signatures: Vec<Signature> = function.signatures().filter(legal).collect();
    // The adjoints on the page are those of the signature with a real target, if there is one.
    let signature = signatures
        .iter()
        .find(|signature| signature.result() == Class::Real)
        .or(signatures.first())
        .copied()?;
    if update.shape() != OperandShape::Accumulate {
        return None;
    }
    let mut terms = vec![CardTerm::cell("y", signature.result())];
    let sources = ["a", "b"].into_iter().enumerate().take(function.arity());
    terms.extend(sources.map(|(n, name)| CardTerm::cell(name, signature.source(n))));
    let operands: Vec<&str> = terms.iter().map(|term| term.name.as_str()).collect();
    let operands = operands.join(", ");
    let card = card::describe(update, function, &terms);

    let mut text = format!("{} {operands}\n\n", compound(update, function));
    let _ = writeln!(text, "{} {}\n", paragraph(update.doc()), paragraph(function.doc()));
    write_card(&mut text, &card);
    let names: Vec<String> =
        signatures.into_iter().map(|signature| signature_name(signature, function.arity())).collect();
    item(&mut text, "Forms", &names.join("; "));
    if update.is_reversible() {
        item(&mut text, "Inverse", &format!("`{} {operands}`", compound(update.inverse(), function)));
    } else {
        item(&mut text, "Inverse", &inverse_name(update));
    }
    item(&mut text, "Edges", function.edges());
    item(&mut text, "Bytes", &format!("0x{:02x} 0x{:02x}", update.byte(), function.byte()));
    Some(text)
}

fn write_card(text: &mut String, card: &Card) {
    let _ = writeln!(text, "    forward   {}", card.does.equation.formula);
    if let Some(undone) = &card.undone {
        let _ = writeln!(text, "    backward  {}", undone.equation.formula);
    }
    let titles = std::iter::once("adjoint").chain(std::iter::repeat(""));
    for (title, line) in titles.zip(&card.does.adjoint) {
        let _ = writeln!(text, "    {title:<9} {}", line.formula);
    }
    if !card.parts.is_empty() {
        let parts: Vec<&str> = card.parts.iter().map(|part| part.formula.as_str()).collect();
        let _ = writeln!(text, "    where     {}", parts.join(", "));
    }
    text.push('\n');
}
