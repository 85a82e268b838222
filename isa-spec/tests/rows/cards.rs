//! Tests of cards and of the manual's pages.

use reviver_isa::card::{Card, CardLine, CardTerm, describe};
use reviver_isa::instruction::Class::{Int, Real};
use reviver_isa::text::compound;
use reviver_isa::update::{OperandShape, Over};
use reviver_isa::{Function, Update, manual};

fn real(name: &str) -> CardTerm {
    CardTerm::cell(name, Real)
}

fn card(update: Update, function: Function, operands: &[CardTerm]) -> Card {
    describe(update, function, operands)
}

fn formulas(lines: &[CardLine]) -> Vec<&str> {
    lines.iter().map(|line| line.formula.as_str()).collect()
}

fn numbers(lines: &[CardLine]) -> Vec<Option<&str>> {
    lines.iter().map(|line| line.numbers.as_deref()).collect()
}

/// Returns the lines with numbers of both equations of a card: the instruction's and the inverse's.
fn both(card: &Card) -> [Option<&str>; 2] {
    [Some(&card.does), card.undone.as_ref()].map(|card_direction| {
        card_direction.and_then(|card_direction| card_direction.equation.numbers.as_deref())
    })
}

fn equation(card: &Card) -> &str {
    &card.does.equation.formula
}

#[test]
fn a_product_has_its_rules() {
    let card = card(Update::Add, Function::Mul, &[real("y"), real("a"), real("b")]);
    let undone = card.undone.as_ref().unwrap();
    assert_eq!(equation(&card), "y ← y + a·b");
    assert_eq!(undone.equation.formula, "y ← y - a·b");
    assert_eq!(formulas(&card.does.adjoint), ["a' ← a' - y'·b", "b' ← b' - y'·a"]);
    assert_eq!(formulas(&undone.adjoint), ["a' ← a' + y'·b", "b' ← b' + y'·a"]);
    assert_eq!(both(&card), [None, None]);
    assert_eq!(numbers(&card.does.adjoint), [None, None]);
}

#[test]
fn signs_and_trivial_factors_are_left_out() {
    let rules = |update, function: Function| {
        let operands = [real("y"), real("a"), real("b")];
        let card = card(update, function, &operands[..=function.arity()]);
        card.does.adjoint.into_iter().map(|line| line.formula).collect::<Vec<_>>()
    };
    assert_eq!(rules(Update::Add, Function::Diff), ["a' ← a' - y'", "b' ← b' + y'"]);
    assert_eq!(rules(Update::Sub, Function::Div), ["a' ← a' + y'/b", "b' ← b' - y'·(a/b/b)"]);
    assert_eq!(rules(Update::Add, Function::Cos), ["a' ← a' + y'·sin(a)"]);
    assert_eq!(rules(Update::Sub, Function::Sum), ["a' ← a' + y'", "b' ← b' + y'"]);
    assert_eq!(rules(Update::Add, Function::Log), ["a' ← a' - y'/a"]);
    assert!(rules(Update::Add, Function::Floor).is_empty());
    assert_eq!(rules(Update::Mul, Function::Sqrt), ["y' ← y'/sqrt(a)", "a' ← a' - y'·y_old·(0.5/sqrt(a))"]);
    assert_eq!(rules(Update::Overwrite, Function::Copy), ["a' ← a' + y'", "y' ← 0 (backward only)"]);
}

#[test]
fn rules_are_simplified() {
    let rules = |function: Function, second| {
        let operands = [real("y"), real("a"), CardTerm::cell("b", second)];
        let card = card(Update::Add, function, &operands[..=function.arity()]);
        assert!(card.parts.is_empty(), "{function:?}: {card:?}");
        card.does.adjoint.into_iter().map(|line| line.formula).collect::<Vec<_>>()
    };
    assert_eq!(rules(Function::Powi, Int), ["a' ← a' - y'·(real(b)·a^(b - 1))"]);
    assert_eq!(rules(Function::Pow, Real), ["a' ← a' - y'·(b·a^(b - 1))", "b' ← b' - y'·(a^b·log(a))"]);
    assert_eq!(rules(Function::Atan, Real), ["a' ← a' - y'/(1 + a·a)"]);
    assert_eq!(
        rules(Function::Atan2, Real),
        ["a' ← a' - y'·(b/(a·a + b·b))", "b' ← b' + y'·(a/(a·a + b·b))"]
    );
    assert_eq!(rules(Function::Acos, Real), ["a' ← a' + y'/sqrt(1 - a·a)"]);
    assert_eq!(rules(Function::Tanh, Real), ["a' ← a' - y'·(1 - tanh(a)·tanh(a))"]);
    let abs = card(Update::Add, Function::Abs, &[real("y"), real("a")]);
    assert_eq!(equation(&abs), "y ← y + (a < 0 ? -a : a)");
}

#[test]
fn only_real_cells_receive_adjoints() {
    let exponent = [real("y"), real("a"), CardTerm::cell("n", Int)];
    let powered = card(Update::Add, Function::Powi, &exponent);
    assert_eq!(powered.does.adjoint.len(), 1);
    let constant = [real("y"), real("a"), CardTerm::constant("2.5", Real)];
    assert_eq!(formulas(&card(Update::Add, Function::Mul, &constant).does.adjoint), ["a' ← a' - y'·2.5"]);
    let adjoint = [CardTerm::adjoint("y'"), real("a"), real("b")];
    assert!(card(Update::Add, Function::Mul, &adjoint).does.adjoint.is_empty());
    let integers = [CardTerm::cell("i", Int), CardTerm::cell("j", Int)];
    let added = card(Update::Add, Function::Copy, &integers);
    assert_eq!((equation(&added), added.does.adjoint.len()), ("i ← i + j", 0));
}

#[test]
fn numbers_are_on_the_right_and_link_to_the_other_side() {
    let operands = [
        real("A[i]").with_values("1", "7"),
        real("x").with_values("-2", "-2"),
        CardTerm::constant("3", Real),
    ];
    let product = card(Update::Sub, Function::Mul, &operands);
    assert_eq!(equation(&product), "A[i] ← A[i] - x·3");
    assert_eq!(both(&product), [Some("A[i] ← 1 - (-2)·3 = 7"), Some("A[i] ← 7 + (-2)·3 = 1")]);
    // A card always has adjoint formulas with names, but formulas with numbers only in gradient mode.
    assert_eq!(formulas(&product.does.adjoint), ["x' ← x' + A'[i]·3"]);
    assert_eq!(numbers(&product.does.adjoint), [None]);
    let [target, source, three] = operands;
    let carried = [target.with_adjoints("0.5", "0.5"), source.with_adjoints("-1", "0.5"), three];
    let product = card(Update::Sub, Function::Mul, &carried);
    assert_eq!(numbers(&product.does.adjoint), [Some("x' ← -1 + 0.5·3 = 0.5")]);
    assert_eq!(numbers(&product.undone.unwrap().adjoint), [Some("x' ← 0.5 - 0.5·3 = -1")]);
}

/// Tests the card of an instruction that traps: there are no values after the instruction.
#[test]
fn unknown_values_are_omitted() {
    let mut target = CardTerm::cell("y", Int);
    target.before.value = Some("1".to_owned());
    let sum = card(Update::Add, Function::Copy, &[target, CardTerm::constant("2", Int)]);
    assert_eq!(both(&sum), [Some("y ← 1 + 2"), None]);
}

#[test]
fn equal_sources_get_their_shares_at_once() {
    let y = real("y").with_values("0", "9").with_adjoints("1", "1");
    let a = real("a").with_values("3", "3").with_adjoints("0", "-6");
    let card = card(Update::Add, Function::Mul, &[y, a.clone(), a]);
    assert_eq!(formulas(&card.does.adjoint), ["a' ← a' - y'·a - y'·a"]);
    assert_eq!(numbers(&card.does.adjoint), [Some("a' ← 0 - 1·3 - 1·3 = -6")]);
}

#[test]
fn a_factor_of_the_target_moves_its_adjoint_first() {
    let y = real("y").with_values("8", "4").with_adjoints("3", "6");
    let a = real("a").with_values("2", "2").with_adjoints("0", "12");
    let card = card(Update::Div, Function::Copy, &[y, a]);
    assert_eq!(formulas(&card.does.adjoint), ["y' ← y'·a", "a' ← a' + y'·y_new/a"]);
    assert_eq!(numbers(&card.does.adjoint), [Some("y' ← 3·2 = 6"), Some("a' ← 0 + 6·4/2 = 12")]);
    let undone = card.undone.unwrap();
    assert_eq!(formulas(&undone.adjoint), ["y' ← y'/a", "a' ← a' - y'·y_old"]);
    assert_eq!(numbers(&undone.adjoint), [Some("y' ← 6/2 = 3"), Some("a' ← 12 - 3·4 = 0")]);
}

#[test]
fn moves_show_their_values() {
    let [p, q] = [("p", "1", "2"), ("q", "2", "1")].map(|(name, before, after)| {
        real(name).with_values(before, after).with_adjoints(format!("0.{before}"), format!("0.{after}"))
    });
    let swap = card(Update::Swap, Function::Copy, &[p.clone(), q]);
    assert_eq!((equation(&swap), both(&swap)), ("p, q ← q, p", [Some("p, q ← 2, 1"), Some("p, q ← 1, 2")]));
    assert_eq!(formulas(&swap.does.adjoint), ["p', q' ← q', p'"]);
    assert_eq!(numbers(&swap.does.adjoint), [Some("p', q' ← 0.2, 0.1")]);
    let pushed = real("p").with_values("5.0", "0.0").with_adjoints("0.5", "0.0");
    let push = card(Update::Push, Function::Copy, &[pushed]);
    assert_eq!(
        both(&push),
        [Some("the stack gains 5.0; p ← 0"), Some("the stack loses its top; p ← the top = 5.0")]
    );
    assert_eq!(numbers(&push.does.adjoint), [Some("the stack gains 0.5 too; p' ← 0")]);
    assert_eq!(numbers(&push.undone.unwrap().adjoint), [Some("p' ← the adjoint of the top = 0.5")]);
    let neg = card(Update::Neg, Function::Copy, &[p]);
    assert_eq!(both(&neg), [Some("p ← -1 = 2"), Some("p ← -2 = 1")]);
    let neg = card(Update::Neg, Function::Copy, &[CardTerm::cell("p", Int).with_values("5", "-5")]);
    assert_eq!(both(&neg), [Some("p ← -5"), Some("p ← -(-5) = 5")]);
}

#[test]
fn the_adjoint_of_an_angle_uses_the_unrotated_pair() {
    let rotation =
        card(Update::Rot, Function::Copy, &[real("p"), real("q"), CardTerm::constant("-0.5", Real)]);
    assert_eq!(equation(&rotation), "p, q ← p·cos(-0.5) - q·sin(-0.5), p·sin(-0.5) + q·cos(-0.5)");
    assert_eq!(
        rotation.undone.map(|card_direction| card_direction.equation.formula.contains(" + q·sin(")),
        Some(true)
    );
    assert_eq!(
        formulas(&rotation.does.adjoint),
        ["p', q' ← p'·cos(-0.5) - q'·sin(-0.5), p'·sin(-0.5) + q'·cos(-0.5)"]
    );
    // The angle is a quarter turn, to two decimal places.
    let p = real("p").with_values("1", "0").with_adjoints("3", "-4");
    let q = real("q").with_values("0", "1").with_adjoints("4", "3");
    let w = real("w").with_values("1.57", "1.57").with_adjoints("0", "-4");
    let turned = card(Update::Rot, Function::Copy, &[p, q, w]);
    assert_eq!(both(&turned)[0], Some("p, q ← 1·cos(1.57) - 0·sin(1.57), 1·sin(1.57) + 0·cos(1.57) = 0, 1"));
    assert_eq!(formulas(&turned.does.adjoint)[0], "w' ← w' - (p_old·q' - q_old·p')");
    assert_eq!(numbers(&turned.does.adjoint)[0], Some("w' ← 0 - (1·4 - 0·3) = -4"));
    let undone = turned.undone.unwrap();
    assert_eq!(formulas(&undone.adjoint)[1], "w' ← w' + (p_new·q' - q_new·p')");
    assert_eq!(numbers(&undone.adjoint)[1], Some("w' ← -4 + (1·4 - 0·3) = 0"));
}

#[test]
fn functions_of_the_sources_are_parenthesized() {
    let operands = [real("y"), real("a"), real("b")];
    assert_eq!(equation(&card(Update::Sub, Function::Diff, &operands)), "y ← y - (a - b)");
    assert_eq!(equation(&card(Update::Add, Function::Min, &operands)), "y ← y + (b < a ? b : a)");
    assert_eq!(equation(&card(Update::Overwrite, Function::Diff, &operands)), "y ← a - b; the old y is lost");
    let integers = ["y", "a", "b"].map(|name| CardTerm::cell(name, Int).with_values("6", "6"));
    let masked = card(Update::Xor, Function::And, &integers);
    assert_eq!(equation(&masked), "y ← y xor (a and b)");
    assert_eq!(both(&masked)[0], Some("y ← 6 xor (6 and 6) = 6"));
    let assertion = card(Update::Assert, Function::Le, &integers[1..]);
    assert_eq!((equation(&assertion), both(&assertion)[0]), ("traps unless a <= b", Some("6 <= 6")));
    let jump = card(Update::Br, Function::Always, &[]);
    assert_eq!((equation(&jump), both(&jump)), ("jumps past its partner if true", [None, None]));
    let lost = card(Update::Overwrite, Function::Diff, &integers);
    assert_eq!(both(&lost), [Some("y ← 6 - 6 = 6; the old 6 is lost"), None]);
    assert_eq!(lost.undone, None);
    let shown = card(Update::Show, Function::Copy, &integers[..1]);
    assert_eq!((equation(&shown), both(&shown)[0]), ("prints y", Some("prints 6")));
}

#[test]
fn callers_may_shorten_numbers() {
    let y = real("y").with_values("0.123456", "1.123456").with_adjoints("1.0", "1.0");
    let y = y.map_numbers(|number| number.chars().take(4).collect());
    assert_eq!(
        both(&card(Update::Add, Function::Copy, &[y, CardTerm::constant("1", Real)]))[0],
        Some("y ← 0.12 + 1 = 1.12")
    );
}

#[test]
fn cards_accept_any_operands() {
    let terms = [real("y"), CardTerm::cell("i", Int), real("b")];
    for &update in Update::ALL {
        for &function in Function::ALL {
            for count in 0..=3 {
                let card = card(update, function, &terms[..count]);
                assert!(!equation(&card).is_empty());
            }
        }
    }
}

#[test]
fn every_row_and_every_instruction_has_a_page() {
    for update in Update::ALL {
        assert!(manual::page(update.name()).is_some_and(|page| page.contains(&manual::effect(*update))));
    }
    for &function in Function::ALL {
        let page = manual::page(function.name()).unwrap();
        assert!(page.contains(function.edges()) && page.contains("f"));
    }
    let sum = manual::page("add.mul").unwrap();
    for line in ["y ← y + a·b", "y ← y - a·b", "a' ← a' - y'·b", "b' ← b' - y'·a", "0x01 0x03"] {
        assert!(sum.contains(line), "{line} in\n{sum}");
    }
    for &update in Update::ALL.iter().filter(|update| update.shape() == OperandShape::Accumulate) {
        for &function in Function::ALL.iter().filter(|&&function| function != Function::Copy) {
            let name = compound(update, function);
            assert_eq!(manual::page(&name).is_some(), is_legal(update, function), "{name}");
        }
    }
    for name in ["", ".", "add.", ".mul", "add.nothing", "swap.mul", "grad", "grad.", "Add", "add.mul.b"] {
        assert_eq!(manual::page(name), None, "{name}");
    }
}

/// Returns true if the function has values in a number system of the update.
fn is_legal(update: Update, function: Function) -> bool {
    let results = |class| function.signatures().any(|signature| signature.result() == class);
    update.over().iter().any(|over| match over {
        Over::Integers => results(Int),
        Over::AdditiveReals | Over::MultiplicativeReals | Over::ComplexReals => results(Real),
    })
}

#[test]
fn the_overview_names_every_row() {
    let overview = manual::overview();
    for name in Function::ALL.iter().map(|f| f.name()) {
        assert!(overview.contains(&format!("\n  {name} ")), "{name}");
    }
    for update in Update::ALL.iter().filter(|update| update.shape() != OperandShape::Boundary) {
        assert!(overview.contains(&format!("\n  {} ", update.name())), "{}", update.name());
    }
}
