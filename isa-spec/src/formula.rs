//! The text reading of the rows: the value or a derivative of a function as a readable formula.
//!
//! Expressions are nodes of an arena and are identified by number, so shared subexpressions are recognized.
//! By default a formula shows exactly what the row computes, with the fewest parentheses and without
//! rearrangement. An arena created by [`Formulas::as_written`] shows the textbook form: without factors of 1,
//! with signs in front, and with the alternative that a row declares by [`Arith::written_as`]. This module
//! defines the spelling of formulas, and is independent of updates and page layouts.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::arith::{Arith, Elementary, Order};
use crate::fault::{Eval, Fault};
use crate::function::{Function, Signature};
use crate::instruction::Class;

/// The precedence of a formula's outermost operation, lowest first. An operand with a lower precedence than
/// its context needs parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// `c ? a : b`
    Choice,
    /// `a < b`
    Test,
    /// `a and b`, `a shl b`, `a rem b`
    Word,
    /// `a + b`, `a - b`, `-a`
    Sum,
    /// `a·b`, `a/b`
    Product,
    /// `a^b`
    Power,
    /// A name, a number, or `sin(a)`.
    Atom,
}

/// The number of an expression in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expr(u32);

#[derive(Clone, Debug, PartialEq, Eq)]
enum FormulaNode {
    /// An operand of the row: a name or a number, as written.
    Leaf(String),
    /// A number that the row itself contains, such as the 2 of x^2.
    Number(String),
    Negated(Expr),
    Infix(Infix, Expr, Expr),
    Applied(&'static str, Vec<Expr>),
    Choice {
        condition: Expr,
        yes: Expr,
        no: Expr,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Infix {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Word(&'static str),
    Test(Order),
}

impl Infix {
    /// Returns the spelling, the precedence of the operation, and the precedences that it requires of its
    /// operands.
    fn spelling(self) -> (String, Binding, [Binding; 2]) {
        use Binding::{Atom, Power, Product, Sum, Test, Word};
        match self {
            Infix::Add => (" + ".into(), Sum, [Sum, Product]),
            Infix::Sub => (" - ".into(), Sum, [Sum, Product]),
            Infix::Mul => ("·".into(), Product, [Product, Power]),
            Infix::Div => ("/".into(), Product, [Product, Power]),
            Infix::Pow => ("^".into(), Power, [Atom, Power]),
            Infix::Word(word) => (format!(" {word} "), Word, [Power, Power]),
            Infix::Test(order) => (format!(" {} ", order.symbol()), Test, [Sum, Sum]),
        }
    }
}

/// The arena of expressions: an implementation of [`Arith`] whose numbers are formulas.
#[derive(Debug, Default)]
pub struct Formulas {
    nodes: RefCell<Vec<FormulaNode>>,
    /// True if formulas are shown in their textbook form instead of as computed.
    as_written: bool,
}

/// A formula as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The text without enclosing parentheses: `a + b`.
    pub text: String,
    /// The precedence of the outermost operation. [`Formula::within`] adds parentheses if the context has a
    /// higher precedence.
    pub binding: Binding,
}

impl Formula {
    /// Returns a formula that is a name, or a number as written.
    pub fn leaf(text: impl Into<String>) -> Formula {
        let text = text.into();
        let binding = if text.starts_with('-') { Binding::Sum } else { Binding::Atom };
        Formula { text, binding }
    }

    /// Returns the text as an operand in a context of the given precedence.
    pub fn within(self, demanded: Binding) -> String {
        if self.binding < demanded { format!("({})", self.text) } else { self.text }
    }
}

/// Several formulas as text. Long parts that are used more than once are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedExpression {
    /// The formulas, in the order of the expressions passed to [`Formulas::spell`].
    pub formulas: Vec<Formula>,
    /// Definitions of the named parts, such as `t = a < 0 ? -a : a`. A part follows the parts that it uses.
    pub parts: Vec<String>,
}

/// The repeated parts of expressions, each with the letter that replaces it in formulas.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(Expr, &'static str)>);

impl Formulas {
    /// Returns an arena that shows formulas as computed, step by step.
    pub fn new() -> Formulas {
        Formulas::default()
    }

    /// Returns an arena that shows formulas in their textbook form: see [`Arith::written_as`].
    pub fn as_written() -> Formulas {
        Formulas { as_written: true, ..Formulas::default() }
    }

    /// Returns the expression of a node; equal nodes share one expression.
    fn push(&self, node: FormulaNode) -> Expr {
        let mut nodes = self.nodes.borrow_mut();
        let known = nodes.iter().position(|known| *known == node);
        let number = known.unwrap_or(nodes.len());
        if known.is_none() {
            nodes.push(node);
        }
        Expr(number as u32)
    }

    fn node(&self, expr: Expr) -> FormulaNode {
        let nodes = self.nodes.borrow();
        // If the expression belongs to another arena, this arena may have no such node.
        nodes.get(expr.0 as usize).cloned().unwrap_or_else(|| FormulaNode::Leaf("?".to_owned()))
    }

    /// Returns an expression that is a name, or a number as written.
    pub fn leaf(&self, text: impl Into<String>) -> Expr {
        self.push(FormulaNode::Leaf(text.into()))
    }

    fn number(&self, text: impl Into<String>) -> Expr {
        self.push(FormulaNode::Number(text.into()))
    }

    fn infix(&self, infix: Infix, a: Expr, b: Expr) -> Expr {
        let simpler = if self.as_written { self.simplified(infix, a, b) } else { None };
        simpler.unwrap_or_else(|| self.push(FormulaNode::Infix(infix, a, b)))
    }

    /// Returns the textbook form of a sum or product, without neutral elements and with signs in front.
    /// Returns `None` if the expression already has that form.
    fn simplified(&self, infix: Infix, a: Expr, b: Expr) -> Option<Expr> {
        match infix {
            Infix::Add if self.is_number(b, "0") => Some(a),
            Infix::Add => self.negated(b).map(|b| self.infix(Infix::Sub, a, b)),
            Infix::Sub if self.is_number(b, "0") => Some(a),
            Infix::Sub => self.negated(b).map(|b| self.infix(Infix::Add, a, b)),
            Infix::Mul if self.is_number(b, "0") || self.is_number(a, "1") => Some(b),
            Infix::Mul if self.is_number(b, "1") => Some(a),
            Infix::Mul => match (self.negated(b), self.reciprocal(b)) {
                (Some(b), _) => Some(self.push(FormulaNode::Negated(self.infix(Infix::Mul, a, b)))),
                (None, divisor) => divisor.map(|divisor| self.infix(Infix::Div, a, divisor)),
            },
            Infix::Div | Infix::Pow | Infix::Word(_) | Infix::Test(_) => None,
        }
    }

    fn applied(&self, name: &'static str, arguments: Vec<Expr>) -> Expr {
        self.push(FormulaNode::Applied(name, arguments))
    }

    /// Returns a function's value in one of its signatures.
    ///
    /// # Errors
    /// Returns an error if the function has no such signature.
    pub fn value(&self, function: Function, signature: Signature, a: Expr, b: Expr) -> Eval<Expr> {
        match signature {
            Signature::Int => function.int(&self, a, b),
            Signature::Real => function.real(&self, a, b),
            Signature::RealInt => function.real_int(&self, a, b),
            Signature::RealsToInt => function.reals_to_int(&self, a, b),
            Signature::IntsToReal => function.ints_to_real(&self, a, b),
        }
    }

    /// Returns the partial derivative of a signature with respect to a source (0 or 1).
    ///
    /// # Errors
    /// Returns an error if there is no such derivative: the function has no such signature, or the source is an
    /// integer.
    pub fn partial(
        &self,
        function: Function,
        signature: Signature,
        source: usize,
        a: Expr,
        b: Expr,
    ) -> Eval<Expr> {
        match (signature, source) {
            (Signature::Real, 0) => function.d_a(&self, a, b),
            (Signature::Real, 1) => function.d_b(&self, a, b),
            (Signature::RealInt, 0) => function.d_a_int(&self, a, b),
            _ => Err(Fault::NoSignature),
        }
    }

    /// Returns true if an expression is the number `text`, written in the row itself and not an operand.
    fn is_number(&self, expr: Expr, text: &str) -> bool {
        matches!(self.node(expr), FormulaNode::Number(number) if number == text)
    }

    /// If an expression is a negation, returns its operand; if it is a negative number, returns its
    /// magnitude.
    fn negated(&self, expr: Expr) -> Option<Expr> {
        match self.node(expr) {
            FormulaNode::Negated(a) => Some(a),
            FormulaNode::Number(text) => text.strip_prefix('-').map(|magnitude| self.number(magnitude)),
            _ => None,
        }
    }

    /// If an expression is `1/x`, returns x.
    fn reciprocal(&self, expr: Expr) -> Option<Expr> {
        match self.node(expr) {
            FormulaNode::Infix(Infix::Div, one, divisor) if self.is_number(one, "1") => Some(divisor),
            _ => None,
        }
    }

    /// Returns expressions as text, in which repeated parts are named.
    pub fn spell(&self, exprs: &[Expr]) -> RenderedExpression {
        let names = self.name_parts(exprs);
        let formulas = exprs.iter().map(|&expr| self.spell_with(expr, &names, &str::to_owned)).collect();
        RenderedExpression { formulas, parts: self.parts(&names, &str::to_owned) }
    }

    /// Gives letters to the parts that contain a choice and occur more than once in the expressions.
    pub fn name_parts(&self, exprs: &[Expr]) -> Names {
        let letters = self.unused_letters();
        Names(self.repeated_choices(exprs).into_iter().zip(letters).collect())
    }

    /// Returns an expression as text. Parts in `names`, which [`Formulas::name_parts`] returned, are replaced
    /// by their letters. `leaf` returns the text for a leaf, for example a value instead of a name.
    pub fn spell_with(&self, expr: Expr, names: &Names, leaf: &dyn Fn(&str) -> String) -> Formula {
        Printer { arena: self, leaf, names: &names.0 }.formula(expr)
    }

    /// Returns the definitions of the named parts, such as `t = a < 0 ? -a : a`. A part follows the parts
    /// that it uses.
    pub fn parts(&self, names: &Names, leaf: &dyn Fn(&str) -> String) -> Vec<String> {
        let spelled = names.0.iter().enumerate().map(|(n, &(part, letter))| {
            // A definition refers to earlier parts by name, and not to itself.
            let printer = Printer { arena: self, leaf, names: names.0.get(..n).unwrap_or_default() };
            format!("{letter} = {}", printer.formula(part).text)
        });
        spelled.collect()
    }

    /// Returns letters that aren't the name of a leaf in this arena.
    fn unused_letters(&self) -> impl Iterator<Item = &'static str> + use<> {
        let nodes = self.nodes.borrow().clone();
        let letters = ["t", "u", "v", "w", "p", "q", "r", "s", "g", "h"];
        letters.into_iter().filter(move |&letter| !nodes.contains(&FormulaNode::Leaf(letter.into())))
    }

    /// Returns the subexpressions that contain a choice and are used more than once, inner ones first.
    fn repeated_choices(&self, exprs: &[Expr]) -> Vec<Expr> {
        let mut uses = HashMap::new();
        let mut order = Vec::new();
        exprs.iter().for_each(|&expr| self.count_uses(expr, &mut uses, &mut order));
        order.retain(|part| uses.get(part) > Some(&1) && self.has_choice(*part));
        order
    }

    fn count_uses(&self, expr: Expr, uses: &mut HashMap<Expr, u32>, order: &mut Vec<Expr>) {
        if order.contains(&expr) {
            return;
        }
        for operand in self.operands(expr) {
            *uses.entry(operand).or_insert(0) += 1;
            self.count_uses(operand, uses, order);
        }
        order.push(expr);
    }

    fn has_choice(&self, expr: Expr) -> bool {
        matches!(self.node(expr), FormulaNode::Choice { .. })
            || self.operands(expr).into_iter().any(|operand| self.has_choice(operand))
    }

    fn operands(&self, expr: Expr) -> Vec<Expr> {
        match self.node(expr) {
            FormulaNode::Leaf(_) | FormulaNode::Number(_) => Vec::new(),
            FormulaNode::Negated(a) => vec![a],
            FormulaNode::Infix(_, a, b) => vec![a, b],
            FormulaNode::Applied(_, arguments) => arguments,
            FormulaNode::Choice { condition, yes, no } => vec![condition, yes, no],
        }
    }
}

/// A printer of expressions with named parts.
struct Printer<'a> {
    arena: &'a Formulas,
    /// Returns the text that replaces a leaf.
    leaf: &'a dyn Fn(&str) -> String,
    names: &'a [(Expr, &'static str)],
}

impl Printer<'_> {
    fn formula(&self, expr: Expr) -> Formula {
        if let Some((_, name)) = self.names.iter().find(|(part, _)| *part == expr) {
            return Formula::leaf(*name);
        }
        let (text, binding) = match self.arena.node(expr) {
            FormulaNode::Leaf(text) => return Formula::leaf((self.leaf)(&text)),
            FormulaNode::Number(text) => return Formula::leaf(text),
            FormulaNode::Negated(a) => (format!("-{}", self.operand(a, Binding::Product)), Binding::Sum),
            FormulaNode::Infix(infix, a, b) => {
                let (sign, binding, [left, right]) = infix.spelling();
                (format!("{}{sign}{}", self.operand(a, left), self.operand(b, right)), binding)
            }
            FormulaNode::Applied(name, arguments) => {
                let arguments: Vec<String> = arguments.into_iter().map(|a| self.formula(a).text).collect();
                (format!("{name}({})", arguments.join(", ")), Binding::Atom)
            }
            FormulaNode::Choice { condition, yes, no } => {
                let condition = self.operand(condition, Binding::Test);
                let (yes, no) = (self.operand(yes, Binding::Test), self.operand(no, Binding::Choice));
                (format!("{condition} ? {yes} : {no}"), Binding::Choice)
            }
        };
        Formula { text, binding }
    }

    fn operand(&self, expr: Expr, demanded: Binding) -> String {
        self.formula(expr).within(demanded)
    }
}

/// Returns the signature of a function for these source classes and this result class.
pub fn signature(function: Function, result: Class, sources: &[Class]) -> Option<Signature> {
    let fits = |signature: &Signature| {
        signature.result() == result
            && sources.iter().enumerate().all(|(n, &class)| signature.source(n) == class)
    };
    function.signatures().find(fits)
}

impl Arith for &Formulas {
    type Int = Expr;
    type Real = Expr;

    fn int(&self, value: i64) -> Expr {
        self.number(value.to_string())
    }
    fn int_add(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Add, a, b)
    }
    fn int_sub(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Sub, a, b)
    }
    fn int_neg(&self, a: Expr) -> Expr {
        self.push(FormulaNode::Negated(a))
    }
    fn int_mul(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Mul, a, b)
    }
    fn int_div(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Div, a, b))
    }
    fn int_rem(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Word("rem"), a, b))
    }
    fn int_pow(&self, a: Expr, exponent: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Pow, a, exponent))
    }
    fn int_and(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Word("and"), a, b)
    }
    fn int_or(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Word("or"), a, b)
    }
    fn int_xor(&self, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Word("xor"), a, b)
    }
    fn int_not(&self, a: Expr) -> Expr {
        self.applied("not", vec![a])
    }
    fn int_rol(&self, a: Expr, amount: Expr) -> Expr {
        self.infix(Infix::Word("rol"), a, amount)
    }
    fn int_ror(&self, a: Expr, amount: Expr) -> Expr {
        self.infix(Infix::Word("ror"), a, amount)
    }
    fn int_shl(&self, a: Expr, amount: Expr) -> Expr {
        self.infix(Infix::Word("shl"), a, amount)
    }
    fn int_shr(&self, a: Expr, amount: Expr) -> Expr {
        self.infix(Infix::Word("shr"), a, amount)
    }
    fn int_sar(&self, a: Expr, amount: Expr) -> Expr {
        self.infix(Infix::Word("sar"), a, amount)
    }
    fn int_test(&self, order: Order, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Test(order), a, b)
    }
    fn int_choose(&self, condition: Expr, yes: Expr, no: Expr) -> Expr {
        self.push(FormulaNode::Choice { condition, yes, no })
    }

    fn real(&self, value: f64) -> Eval<Expr> {
        Ok(self.number(value.to_string()))
    }
    fn add(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Add, a, b))
    }
    fn sub(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Sub, a, b))
    }
    fn mul(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Mul, a, b))
    }
    fn div(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Div, a, b))
    }
    fn neg(&self, a: Expr) -> Eval<Expr> {
        Ok(self.push(FormulaNode::Negated(a)))
    }
    fn pow(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Pow, a, b))
    }
    fn powi(&self, a: Expr, exponent: Expr) -> Eval<Expr> {
        Ok(self.infix(Infix::Pow, a, exponent))
    }
    fn atan2(&self, y: Expr, x: Expr) -> Eval<Expr> {
        Ok(self.applied("atan2", vec![y, x]))
    }
    fn hypot(&self, a: Expr, b: Expr) -> Eval<Expr> {
        Ok(self.applied("hypot", vec![a, b]))
    }
    fn elementary(&self, function: Elementary, a: Expr) -> Eval<Expr> {
        Ok(self.applied(function.name(), vec![a]))
    }
    fn rotate(&self, (x, y): (Expr, Expr), angle: Expr) -> Eval<(Expr, Expr)> {
        let (sin, cos) = (self.applied("sin", vec![angle]), self.applied("cos", vec![angle]));
        Ok((self.sub(self.mul(x, cos)?, self.mul(y, sin)?)?, self.add(self.mul(x, sin)?, self.mul(y, cos)?)?))
    }
    fn rotate_back(&self, (x, y): (Expr, Expr), angle: Expr) -> Eval<(Expr, Expr)> {
        let (sin, cos) = (self.applied("sin", vec![angle]), self.applied("cos", vec![angle]));
        Ok((self.add(self.mul(x, cos)?, self.mul(y, sin)?)?, self.sub(self.mul(y, cos)?, self.mul(x, sin)?)?))
    }
    fn test(&self, order: Order, a: Expr, b: Expr) -> Expr {
        self.infix(Infix::Test(order), a, b)
    }
    fn choose(&self, condition: Expr, yes: Expr, no: Expr) -> Expr {
        self.push(FormulaNode::Choice { condition, yes, no })
    }
    fn real_of(&self, a: Expr) -> Eval<Expr> {
        Ok(self.applied("real", vec![a]))
    }
    fn int_of(&self, a: Expr) -> Eval<Expr> {
        Ok(self.applied("trunc", vec![a]))
    }
    fn written_as(
        &self,
        written: impl FnOnce() -> Eval<Expr>,
        computed: impl FnOnce() -> Eval<Expr>,
    ) -> Eval<Expr> {
        if self.as_written { written() } else { computed() }
    }
}
