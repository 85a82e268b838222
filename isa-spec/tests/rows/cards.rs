//! Cards and pages of the manual.

use reviver_isa::card::{Card, Term, describe};
use reviver_isa::instruction::Class::{Int, Real};
use reviver_isa::text::compound;
use reviver_isa::update::Shape;
use reviver_isa::{Function, Update, manual};

fn real(name: &str) -> Term {
    Term::cell(name, Real)
}

fn card(update: Update, function: Function, operands: &[Term]) -> Card {
    describe(update, function, operands)
}

#[test]
fn a_product_has_its_rules() {
    let card = card(Update::Add, Function::Mul, &[real("y"), real("a"), real("b")]);
    assert_eq!(card.equation, "y ← y + a·b");
    assert_eq!(card.inverse.as_deref(), Some("y ← y - a·b"));
    assert_eq!(card.adjoint, ["a' ← a' - y'·b", "b' ← b' - y'·a"]);
    assert_eq!(card.numbers, None);
}

#[test]
fn signs_and_trivial_factors_are_left_out() {
    let rules = |update, function| {
        let operands = [real("y"), real("a"), real("b")];
        card(update, function, &operands[..=function.arity()]).adjoint
    };
    assert_eq!(rules(Update::Add, Function::Diff), ["a' ← a' - y'", "b' ← b' + y'"]);
    assert_eq!(rules(Update::Sub, Function::Div), ["a' ← a' + y'/b", "b' ← b' - y'·(a/b/b)"]);
    assert_eq!(rules(Update::Add, Function::Cos), ["a' ← a' + y'·sin(a)"]);
    assert_eq!(rules(Update::Sub, Function::Sum), ["a' ← a' + y'", "b' ← b' + y'"]);
    assert_eq!(rules(Update::Add, Function::Log), ["a' ← a' - y'/a"]);
    assert!(rules(Update::Add, Function::Floor).is_empty());
    assert_eq!(rules(Update::Mul, Function::Sqrt), ["y' ← y' / sqrt(a)", "a' ← a' - y'·y_old·(0.5/sqrt(a))"]);
    assert_eq!(rules(Update::Overwrite, Function::Copy), ["a' ← a' + y'", "y' ← 0 (backward only)"]);
}

#[test]
fn only_real_cells_receive() {
    let exponent = [real("y"), real("a"), Term::cell("n", Int)];
    let powered = card(Update::Add, Function::Powi, &exponent);
    assert_eq!(powered.equation, "y ← y + a^n");
    assert_eq!(powered.adjoint.len(), 1);
    let constant = [real("y"), real("a"), Term::constant("2.5", Real)];
    assert_eq!(card(Update::Add, Function::Mul, &constant).adjoint, ["a' ← a' - y'·2.5"]);
    let adjoint = [Term::adjoint("y'"), real("a"), real("b")];
    assert!(card(Update::Add, Function::Mul, &adjoint).adjoint.is_empty());
    let integers = [Term::cell("i", Int), Term::cell("j", Int)];
    let added = card(Update::Add, Function::Copy, &integers);
    assert_eq!((added.equation.as_str(), added.adjoint.len()), ("i ← i + j", 0));
}

#[test]
fn elements_values_and_targets_stand_in_their_places() {
    let operands = [real("A[i]").with_value("1"), real("x").with_value("-2"), Term::constant("3", Real)];
    let product = card(Update::Sub, Function::Mul, &operands);
    assert_eq!(product.equation, "A[i] ← A[i] - x·3");
    assert_eq!(product.numbers.as_deref(), Some("A[i] ← 1 - (-2)·3"));
    assert_eq!(product.adjoint, ["x' ← x' + A'[i]·3"]);
    let swap = card(Update::Swap, Function::Copy, &[real("p").with_value("1"), real("q").with_value("2")]);
    assert_eq!((swap.equation.as_str(), swap.numbers.as_deref()), ("p, q ← q, p", Some("p, q ← 2, 1")));
    assert_eq!(swap.adjoint, ["p', q' ← q', p'"]);
    let rotation = card(Update::Rot, Function::Copy, &[real("p"), real("q"), Term::constant("-0.5", Real)]);
    assert_eq!(rotation.equation, "p, q ← p·cos (-0.5) - q·sin (-0.5), p·sin (-0.5) + q·cos (-0.5)");
    assert_eq!(rotation.inverse.as_deref().map(|inverse| inverse.contains(" + q·sin")), Some(true));
    assert_eq!(rotation.adjoint, ["(p', q') rotates alike"]);
    let turned = card(Update::Rot, Function::Copy, &[real("p"), real("q"), real("w")]);
    assert_eq!(turned.adjoint, ["(p', q') rotates alike", "w' ← w' - (p·q' - q·p')"]);
}

#[test]
fn functions_of_the_sources_keep_together() {
    let operands = [real("y"), real("a"), real("b")];
    assert_eq!(card(Update::Sub, Function::Diff, &operands).equation, "y ← y - (a - b)");
    assert_eq!(card(Update::Add, Function::Min, &operands).equation, "y ← y + (b < a ? b : a)");
    assert_eq!(
        card(Update::Overwrite, Function::Diff, &operands).equation,
        "y ← a - b, and the old y is lost"
    );
    let integers = ["y", "a", "b"].map(|name| Term::cell(name, Int));
    assert_eq!(card(Update::Xor, Function::And, &integers).equation, "y ← y xor (a and b)");
    assert_eq!(card(Update::Assert, Function::Le, &integers[1..]).equation, "traps unless a <= b");
    assert_eq!(card(Update::Br, Function::Always, &[]).equation, "jumps behind its partner if true");
    assert_eq!(card(Update::Overwrite, Function::Diff, &integers).inverse, None);
}

#[test]
fn operands_that_fit_nothing_are_no_harm() {
    let terms = [real("y"), Term::cell("i", Int), real("b")];
    for &update in Update::ALL {
        for &function in Function::ALL {
            for count in 0..=3 {
                let card = card(update, function, &terms[..count]);
                assert!(!card.equation.is_empty());
            }
        }
    }
}

#[test]
fn every_row_and_every_instruction_has_a_page() {
    for update in Update::ALL {
        assert!(manual::page(update.name()).is_some_and(|page| page.contains(update.meaning())));
    }
    for &function in Function::ALL {
        let page = manual::page(function.name()).unwrap();
        assert!(page.contains(function.edges()) && page.contains("f"));
    }
    let sum = manual::page("add.mul").unwrap();
    for line in ["y ← y + a·b", "y ← y - a·b", "a' ← a' - y'·b", "b' ← b' - y'·a", "0x01 0x03"] {
        assert!(sum.contains(line), "{line} in\n{sum}");
    }
    for &update in Update::ALL.iter().filter(|update| update.shape() == Shape::Accumulate) {
        for &function in Function::ALL.iter().filter(|&&function| function != Function::Copy) {
            let name = compound(update, function);
            assert_eq!(manual::page(&name).is_some(), is_legal(update, function), "{name}");
        }
    }
    for name in ["", ".", "add.", ".mul", "add.nothing", "swap.mul", "grad", "grad.", "Add", "add.mul.b"] {
        assert_eq!(manual::page(name), None, "{name}");
    }
}

/// Bits only of integers, products only of reals.
fn is_legal(update: Update, function: Function) -> bool {
    let results: Vec<_> = function.forms().map(|form| form.result()).collect();
    match update {
        Update::Xor | Update::Rol | Update::Ror => results.contains(&Int),
        Update::Mul | Update::Div => results.contains(&Real),
        _ => true,
    }
}

#[test]
fn the_overview_names_every_row() {
    let overview = manual::overview();
    for name in Function::ALL.iter().map(|f| f.name()) {
        assert!(overview.contains(&format!("\n  {name} ")), "{name}");
    }
    for update in Update::ALL.iter().filter(|update| update.shape() != Shape::Boundary) {
        assert!(overview.contains(&format!("\n  {} ", update.name())), "{}", update.name());
    }
}
