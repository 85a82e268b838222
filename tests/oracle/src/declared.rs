//! Declarations of a program outside of bodies: settings, constants, globals, and heads of procedures and macros.
//! This module resolves no statements.

use std::collections::HashMap;

use reviver_assembler::tree::{
    self, Body, DeclarationNode, Directive, Expression, ExpressionKind, Initial, Limit, ShapeNode, Statement,
};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Role, Word};

use crate::Settings;
use crate::constant::{Number, TextNumbers, apply};
use crate::outcome::{Step, unsupported};
use crate::plan::{Global, Home, Numbers, Shape, Variable};
use crate::real::Real;
use crate::scope::Meaning;
use crate::value::Value;

/// Default limit on the number of open calls.
const DEFAULT_DEPTH: usize = 100_000;
/// Default limit on the number of entries of each stack.
const DEFAULT_STACK: usize = 1 << 24;
/// Default limit on the number of entries of each tape.
const DEFAULT_TAPE: usize = 1 << 24;

/// Declarations of a program.
pub(crate) struct Declared<'t> {
    pub(crate) numbers: Numbers,
    /// Number formats for constant expressions, as the text declares them. The program may run with other formats.
    pub(crate) text: TextNumbers,
    pub(crate) depth: usize,
    pub(crate) stack: usize,
    pub(crate) tape: usize,
    pub(crate) globals: Vec<Global>,
    names: HashMap<String, Meaning>,
    /// Procedures in text order, except main, which has no head. Main has index 0; the first entry has index 1.
    pub(crate) procedures: Vec<&'t tree::ProcedureNode>,
    pub(crate) macros: HashMap<&'t str, &'t tree::Macro>,
}

impl<'t> Declared<'t> {
    /// Reads the declarations of a program with expanded includes.
    pub(crate) fn read(body: &'t Body, settings: Settings) -> Step<Declared<'t>> {
        let (numbers, text) = numbers(body, settings);
        let mut declared = Declared {
            numbers,
            text,
            depth: DEFAULT_DEPTH,
            stack: DEFAULT_STACK,
            tape: DEFAULT_TAPE,
            globals: Vec::new(),
            names: HashMap::new(),
            procedures: Vec::new(),
            macros: HashMap::new(),
        };
        for node in body {
            match &node.statement {
                Statement::Directive(directive) => declared.directive(directive)?,
                Statement::Procedure(procedure) => declared.procedures.push(procedure),
                Statement::Macro(definition) => {
                    declared.macros.insert(&definition.name.text, definition);
                }
                _ => {}
            }
        }
        Ok(declared)
    }

    fn directive(&mut self, directive: &Directive) -> Step<()> {
        match directive {
            Directive::Globals { role, declarations } => {
                declarations.iter().try_for_each(|declaration| self.global(*role, declaration))?;
            }
            Directive::Const { name, value } => {
                let value = self.constant(value)?;
                self.names.insert(name.text.to_string(), Meaning::Constant(value));
            }
            Directive::Tolerance { value } => {
                self.numbers.tolerance = self.constant(value)?.to_float(self.text)?;
            }
            Directive::Limit { what: Limit::Depth, value } => {
                self.depth = self.constant(value)?.to_length()?
            }
            Directive::Limit { what: Limit::Stack, value } => {
                self.stack = self.constant(value)?.to_length()?
            }
            Directive::Limit { what: Limit::Tape, value } => self.tape = self.constant(value)?.to_length()?,
            Directive::Limit { what: Limit::Grad | Limit::History, .. } => {}
            Directive::Include { .. } => return unsupported("an include that isn't in place"),
            Directive::Record { .. } => return unsupported("a record"),
            // The word, the number system and the tolerance were read earlier. The other directives concern only the
            // assembler and the display of tapes.
            Directive::Word { .. }
            | Directive::Real { .. }
            | Directive::Inverse
            | Directive::Ancillas(_)
            | Directive::Lines(_)
            | Directive::NoLabels
            | Directive::File { .. }
            | Directive::Path(_)
            | Directive::Strategy(_)
            | Directive::Block(_)
            | Directive::Scope(_)
            | Directive::Value(_) => {}
        }
        Ok(())
    }

    fn global(&mut self, role: Role, declaration: &DeclarationNode) -> Step<()> {
        let class = declaration.class.unwrap_or(Class::Int);
        let shape = self.declared_shape(&declaration.shape)?;
        let values = |initial: &Option<Initial>| {
            initial.as_ref().map(|initial| self.values(initial, class, shape)).transpose()
        };
        let default = values(&declaration.default)?;
        let initial = values(&declaration.initial)?;
        let zero = Value::zero(class, self.numbers.system);
        let initial = initial.unwrap_or_else(|| vec![zero; shape.cells()]);
        self.add_global(Global {
            name: declaration.name.text.to_string(),
            class,
            role,
            shape,
            initial,
            default,
        });
        Ok(())
    }

    fn add_global(&mut self, global: Global) -> Meaning {
        let home = Home::Global(self.globals.len());
        let meaning = Meaning::Variable(Variable { home, class: global.class, shape: global.shape });
        self.names.insert(global.name.clone(), meaning.clone());
        self.globals.push(global);
        meaning
    }

    pub(crate) fn declared_shape(&self, shape: &ShapeNode) -> Step<Shape> {
        match shape {
            ShapeNode::Lengths(lengths) => self.shape(lengths),
            ShapeNode::Stack => Ok(Shape::Stack),
        }
    }

    /// Returns the shape with the given lengths.
    pub(crate) fn shape(&self, lengths: &[Expression]) -> Step<Shape> {
        let length = |expression: &Expression| self.constant(expression)?.to_length();
        match lengths {
            [] => Ok(Shape::Scalar),
            [n] => Ok(Shape::Vector(length(n)?)),
            [rows, columns] => Ok(Shape::Matrix(length(rows)?, length(columns)?)),
            _ => unsupported("an array of three dimensions"),
        }
    }

    fn values(&self, initial: &Initial, class: Class, shape: Shape) -> Step<Vec<Value>> {
        match initial {
            Initial::Every(value) if shape == Shape::Stack => {
                Ok(vec![self.value(&self.constant(value)?, class)?])
            }
            Initial::Every(value) => Ok(vec![self.value(&self.constant(value)?, class)?; shape.cells()]),
            Initial::Each(values) => {
                values.iter().map(|value| self.value(&self.constant(value)?, class)).collect()
            }
        }
    }

    /// Converts the value of a constant expression to the content of a cell.
    pub(crate) fn value(&self, number: &Number, class: Class) -> Step<Value> {
        match class {
            Class::Int => number.to_word(self.text).map(Value::Int),
            Class::Real => self.real(number).map(Value::Real),
        }
    }

    /// Converts a real constant to the number system of the run. If the text declares another number system, the value
    /// is first rounded to f64.
    fn real(&self, number: &Number) -> Step<Real> {
        match number {
            Number::Computed(_) if self.text.system == self.numbers.system => number.to_real(self.text),
            number => Real::literal(number.to_float(self.text)?, self.numbers.system),
        }
    }

    /// Evaluates a constant expression in a declaration, where no local names are visible.
    fn constant(&self, expression: &Expression) -> Step<Number> {
        match &expression.kind {
            ExpressionKind::Int { value, pattern } => {
                Ok(Number::Int { value: (*value).into(), pattern: *pattern })
            }
            ExpressionKind::LongInt { value, pattern } => {
                Ok(Number::Int { value: (**value).into(), pattern: *pattern })
            }
            ExpressionKind::Real(value) => Ok(Number::Real(*value)),
            ExpressionKind::Name { name, .. } => match self.find(name) {
                Some(Meaning::Constant(number)) => Ok(number),
                _ => unsupported(format!("`{name}` as a constant")),
            },
            ExpressionKind::Unary(operator, a) => Number::unary(*operator, &self.constant(a)?, self.text),
            ExpressionKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                Number::binary(*operator, &self.constant(a)?, &self.constant(b)?, self.text)
            }
            ExpressionKind::Element(element) => unsupported(format!("`{}[…]` as a constant", element.name)),
            ExpressionKind::Length(length) => match (self.find(&length.name), &length.dimension) {
                (Some(Meaning::Variable(Variable { shape: Shape::Vector(n), .. })), None) => {
                    Ok(Number::Int { value: n.into(), pattern: false })
                }
                _ => unsupported(format!("the length of `{}` in a constant", length.name)),
            },
            ExpressionKind::InText(_) => unsupported("a function of arrays"),
            ExpressionKind::Apply(application) => {
                let sources = application.sources.iter().map(|source| self.constant(source));
                apply(application.function, &sources.collect::<Step<Vec<Number>>>()?, self.text)
            }
        }
    }

    /// Returns the meaning of a global's or a constant's name; `None` for other names.
    fn find(&self, name: &str) -> Option<Meaning> {
        match self.names.get(name) {
            Some(meaning) => Some(meaning.clone()),
            None if name == "pi" => Some(Meaning::Constant(Number::Real(std::f64::consts::PI))),
            None => None,
        }
    }

    /// Returns the meaning of a name outside of procedures: a global, a constant, the mode, or a register. A register
    /// becomes a global when it is first used.
    pub(crate) fn outer(&mut self, name: &str) -> Step<Meaning> {
        if let Some(meaning) = self.find(name) {
            return Ok(meaning);
        }
        if name == "mode" {
            return Ok(Meaning::Mode);
        }
        let class = match name.as_bytes() {
            [b'r', digits @ ..] if is_number(digits) => Class::Int,
            [b'f', digits @ ..] if is_number(digits) => Class::Real,
            _ => return unsupported(format!("the name `{name}`")),
        };
        let initial = vec![Value::zero(class, self.numbers.system)];
        let (name, role, shape) = (name.to_owned(), Role::Private, Shape::Scalar);
        Ok(self.add_global(Global { name, class, role, shape, initial, default: None }))
    }
}

fn is_number(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns the formats of the run (width, number system, tolerance), and those that the text declares for its
/// constants.
fn numbers(body: &Body, settings: Settings) -> (Numbers, TextNumbers) {
    let (mut word, mut real) = (Word::W64, RealSystem::F64);
    for node in body {
        match &node.statement {
            Statement::Directive(Directive::Word { word: set }) => word = *set,
            Statement::Directive(Directive::Real { system }) => real = *system,
            _ => {}
        }
    }
    let system = settings.real.unwrap_or(real);
    let tolerance = match system {
        RealSystem::F64 => 1e-9,
        RealSystem::F32 => 1e-4,
        RealSystem::Fixed(_) => 0.0,
    };
    let bits = width(settings.word.unwrap_or(word));
    (Numbers { bits, system, tolerance }, TextNumbers { bits: width(word), system: real })
}

fn width(word: Word) -> u32 {
    match word {
        Word::W8 => 8,
        Word::W16 => 16,
        Word::W32 => 32,
        Word::W64 => 64,
    }
}
