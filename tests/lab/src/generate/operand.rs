//! Generates operands: cells, array elements with constant or computed indices in bounds, and constants.

use reviver_isa::instruction::Class;

use super::facts::{Fact, Ints, Reals};
use super::scope::{Extent, Id, Variable};
use super::writer::Writer;

/// Index of an element: a scalar, a constant, or the sum of both.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub cell: Option<Id>,
    pub offset: i64,
}

/// Operand as text, with its interval.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub text: String,
    pub fact: Fact,
    /// Variable that the operand names; `None` for a constant.
    pub variable: Option<Id>,
    is_adjoint: bool,
    terms: Vec<Term>,
}

impl Operand {
    /// Returns the adjoint of the cell.
    pub fn adjoint(self) -> Operand {
        let text = match self.text.split_once('[') {
            Some((name, subscripts)) => format!("{name}'[{subscripts}"),
            None => format!("{}'", self.text),
        };
        Operand { text, is_adjoint: true, ..self }
    }

    /// Returns an expression as an operand; `uses` are the variables on which it depends.
    pub fn expression(text: String, fact: Fact, uses: Vec<Id>) -> Operand {
        let terms = uses.into_iter().map(|id| Term { cell: Some(id), offset: 0 }).collect();
        Operand { text, fact, variable: None, is_adjoint: false, terms }
    }

    fn constant(text: String, fact: Fact) -> Operand {
        Operand { text, fact, variable: None, is_adjoint: false, terms: Vec::new() }
    }

    /// Returns an integer literal as an operand.
    pub fn int(value: i64) -> Operand {
        Operand::constant(value.to_string(), Fact::Int(Ints::new(value, value)))
    }

    /// Returns every variable that the operand depends on.
    pub fn uses(&self) -> Vec<Id> {
        self.variable.into_iter().chain(self.terms.iter().filter_map(|term| term.cell)).collect()
    }

    /// Returns true if two operands may be the same cell. Different variables never share cells.
    pub fn may_be(&self, other: &Operand) -> bool {
        let apart = |(a, b): (&Term, &Term)| a.cell == b.cell && a.offset != b.offset;
        self.variable.is_some()
            && self.variable == other.variable
            && self.is_adjoint == other.is_adjoint
            && !self.terms.iter().zip(&other.terms).any(apart)
    }
}

impl Writer<'_> {
    /// Returns a cell that a statement may change here; `None` if there is none.
    pub fn target(&mut self, class: Class) -> Option<Operand> {
        if self.in_rule {
            return if class == Class::Real { self.adjoint(false) } else { None };
        }
        let candidates = self.scope.find(|v| v.class == class && v.frozen == 0 && !v.accumulator);
        self.one_of(&candidates)
    }

    /// Returns a cell that a statement may change here, and that is certainly different from each of `not`.
    pub fn other_target(&mut self, class: Class, not: &[&Operand]) -> Option<Operand> {
        (0..6).find_map(|_| self.target(class).filter(|it| !not.iter().any(|other| other.may_be(it))))
    }

    /// Returns an operand to read: a constant, or a cell that is certainly different from each of `not`.
    pub fn source(&mut self, class: Class, not: &[&Operand]) -> Operand {
        if class == Class::Int && self.profile.gradient && self.rng.chance(2) {
            return Operand::constant("mode".into(), Fact::Int(Ints::new(0, 1)));
        }
        if self.rng.chance(75) {
            let cells = self.scope.find(|v| v.class == class && !v.accumulator);
            let found = (0..4)
                .find_map(|_| self.one_of(&cells).filter(|it| !not.iter().any(|other| other.may_be(it))));
            if let Some(cell) = found {
                return cell;
            }
        }
        self.literal(class)
    }

    /// Returns a cell of a random variable among the candidates.
    fn one_of(&mut self, candidates: &[Id]) -> Option<Operand> {
        if candidates.is_empty() {
            return None;
        }
        let id = *self.rng.pick(candidates);
        Some(self.cell_of(id))
    }

    /// Returns the cell of a scalar, or an element of an array.
    pub fn cell_of(&mut self, id: Id) -> Operand {
        let Variable { name, extent, fact, .. } = self.scope.get(id).clone();
        let terms = match extent {
            Extent::Scalar => Vec::new(),
            Extent::Vector(n) => vec![self.index(n)],
            Extent::Matrix(rows, columns) => vec![self.index(rows), self.index(columns)],
        };
        let subscripts: Vec<String> = terms.iter().map(|term| self.subscript(term)).collect();
        let text = if terms.is_empty() { name } else { format!("{name}[{}]", subscripts.join(", ")) };
        let operand = Operand { text, fact, variable: Some(id), is_adjoint: false, terms };
        operand.uses().into_iter().for_each(|id| self.scope.touch(id));
        operand
    }

    /// Returns an index in `0..length`, mostly computed from a cell with a small range.
    pub fn index(&mut self, length: i64) -> Term {
        if self.rng.chance(70) {
            let fits = |range: Ints| range.hi - range.lo < length;
            let cells = self.scope.find(|v| v.range().is_some_and(fits));
            if !cells.is_empty() {
                let id = *self.rng.pick(&cells);
                if let Some(range) = self.scope.get(id).range() {
                    let offset = self.rng.within(-range.lo..=length - 1 - range.hi);
                    let nearest = if range.lo >= 0 && range.hi < length { 0 } else { offset };
                    let offset = if self.rng.chance(50) { nearest } else { offset };
                    let stray = i64::from(range.lo < range.hi && self.dares());
                    return Term { cell: Some(id), offset: offset + stray };
                }
            }
        }
        Term { cell: None, offset: self.rng.within(0..=length - 1) }
    }

    /// Formats an index term, sometimes as an expression.
    fn subscript(&mut self, term: &Term) -> String {
        let plain = self.spell(term);
        let Some(name) = term.cell.map(|id| self.scope.get(id).name.clone()) else { return plain };
        let Term { offset, .. } = *term;
        if self.plain_indices {
            return plain;
        }
        // With 8-bit words, the text of a larger offset would not be a valid literal.
        let is_number = i8::try_from(offset).is_ok();
        match self.rng.below(16) {
            _ if !is_number => plain,
            0 => format!("{offset} - (0 - {name})"),
            1 => format!("{name}*1{offset:+}"),
            2 => format!("max({name}{offset:+}, {name}{offset:+})"),
            _ => plain,
        }
    }

    /// Formats an index term in its plain form.
    pub fn spell(&self, term: &Term) -> String {
        match (term.cell.map(|id| &self.scope.get(id).name), term.offset) {
            (None, offset) => offset.to_string(),
            (Some(name), 0) => name.clone(),
            (Some(name), offset) => format!("{name}{offset:+}"),
        }
    }

    /// Returns a literal as an operand.
    pub fn literal(&mut self, class: Class) -> Operand {
        match class {
            Class::Int => {
                let value = self.small_int();
                Operand::constant(value.to_string(), Fact::Int(Ints::new(value, value)))
            }
            Class::Real => {
                let value = self.small_real();
                Operand::constant(format!("{value:?}"), Fact::Real(Reals::new(value, value)))
            }
        }
    }

    /// Returns an integer that fits every word, mostly a small one.
    pub fn small_int(&mut self) -> i64 {
        match self.rng.below(8) {
            0 => *self.rng.pick(&[i64::from(i8::MIN), i64::from(i8::MAX), 64, -64]),
            1 => self.rng.within(-100..=100),
            _ => self.rng.within(-3..=9),
        }
    }

    /// Returns a short decimal number of moderate size.
    pub fn small_real(&mut self) -> f64 {
        match self.rng.below(4) {
            0 => *self.rng.pick(&[0.0, 1.0, -1.0, 0.5, 2.0, -0.25]),
            1 => self.rng.within(-80..=80) as f64 / 100.0,
            2 => self.rng.within(1..=40) as f64 / 10.0,
            _ => self.rng.within(-400..=400) as f64 / 128.0,
        }
    }
}
