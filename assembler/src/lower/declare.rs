//! The first pass over everything outside of bodies: settings, constants, globals, and the heads of
//! procedures and macros. Statements are lowered later.
//!
//! Constants and lengths must be defined before their use; procedures and macros may be used before they are
//! defined.

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Global, Limits, Parameter, RealSystem, Role, Shape, Structure, Values, Word};
use reviver_isa::names::{LENGTH_PARAMETER, register_class};
use reviver_isa::verify::{MAX_DEPTH, MAX_STACK, MAX_TAPE, MAX_VALUES};

use super::constant::Number;
use super::lengths::{self, ParameterLength};
use super::report::{Reporter, Unknown};
use super::scope::Meaning;
use super::tangent_rules;
use crate::constants::{GivenNumber, RefusedConstant, Replacements};
use crate::depths::DEEPEST;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::parser::foreign::advice;
use crate::parser::words;
use crate::source::Span;
use crate::tree::{
    self, Body, DeclarationNode, Directive, Expression, Initial, Limit, Name, Statement, UnaryOperator,
};

/// The meaning of a name outside of procedures.
#[derive(Clone, Copy)]
pub(super) enum Outer {
    Global(u32),
    Constant(Number),
    /// A declaration that is invalid and has been reported. Uses of the name aren't reported again.
    Broken,
}

/// The head of a procedure.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) name: CompactString,
    pub(super) span: Span,
    pub(super) rule: Option<u32>,
}

/// The value of a setting such as `.word` with its place, or `None` before it is set.
type Setting<T> = Option<(T, Span)>;

/// The results of the first pass.
pub(super) struct Declared<'t> {
    /// The values that the caller supplies in place of those in the text.
    pub(super) given: Replacements<'t>,
    /// The supplied values that are reals although their constants in the text are integers.
    misfits: Vec<RefusedConstant>,
    pub(super) word: Word,
    word_span: Option<Span>,
    real: Setting<RealSystem>,
    tolerance: Setting<f64>,
    inverse: Setting<()>,
    depth: Setting<u32>,
    stack: Setting<u32>,
    history: Setting<u32>,
    /// The numbers of the procedures that are tangent rules. No code refers to them.
    pub(super) tangent_rules: Vec<u32>,
    tape: Setting<u32>,
    globals: Vec<Global>,
    global_spans: Vec<Span>,
    pub(super) names: HashMap<CompactString, (Outer, Span)>,
    /// The number of initial values that the module may still store.
    pub(super) values_left: u64,
    main: &'t Body,
    heads: Vec<Head>,
    parameters: Vec<Rc<[(Parameter, Span)]>>,
    /// The lengths that each procedure gets as additional parameters, after its own parameters. The index in
    /// the list is the procedure's number.
    asked_lengths: Vec<Vec<ParameterLength>>,
    trees: Vec<&'t tree::ProcedureNode>,
    procedure_numbers: HashMap<CompactString, u32>,
    macros: Vec<&'t tree::Macro>,
    macro_numbers: HashMap<CompactString, usize>,
    lines: Option<Vec<u32>>,
    drops_labels: bool,
    files: Vec<(u32, u32)>,
    paths: Vec<String>,
}

/// The parts of a module that the first pass determines.
pub(super) struct ModuleHead {
    pub(super) word: Word,
    pub(super) real: RealSystem,
    pub(super) limits: Limits,
    pub(super) tolerance: Option<f64>,
    pub(super) inverse: bool,
    pub(super) globals: Vec<Global>,
    pub(super) global_spans: Vec<Span>,
    pub(super) procedure_spans: Vec<Span>,
}

impl<'t> Declared<'t> {
    /// Reads everything outside of bodies.
    pub(super) fn read(body: &'t Body, given: Replacements<'t>, report: &mut Reporter) -> Declared<'t> {
        let mut declared = Declared { given, ..Declared::empty(body) };
        // The word and the number system are read before everything else, because constants are computed in
        // them. `.inverse` is read first, too, because it turns garbage into inputs.
        for node in body {
            match &node.statement {
                Statement::Directive(Directive::Word { word }) => declared.set_word(*word, node.span, report),
                Statement::Directive(Directive::Real { system }) => {
                    set(&mut declared.real, *system, node.span, "the number system", report);
                }
                Statement::Directive(Directive::Inverse) => {
                    set(&mut declared.inverse, (), node.span, "`.inverse`", report);
                }
                _ => {}
            }
        }
        for node in body {
            match &node.statement {
                Statement::Directive(directive) => declared.directive(directive, node.span, report),
                Statement::Procedure(tree) => declared.procedure(tree, report),
                Statement::Macro(tree) => declared.macro_definition(tree, report),
                _ => {}
            }
        }
        declared.rules(report);
        declared.lengths();
        declared
    }

    /// Appends parameters for the lengths that each procedure uses.
    fn lengths(&mut self) {
        self.asked_lengths = lengths::asked(&self.trees, &self.macros, &self.procedure_numbers);
        for (parameters, asked) in self.parameters.iter_mut().zip(&self.asked_lengths) {
            if !asked.is_empty() {
                let lengths = asked.iter().filter_map(|length| {
                    let (measured, span) = parameters.get(length.parameter)?;
                    Some((lengths::length_parameter(measured, length.dimension), *span))
                });
                let lengths: Vec<_> = lengths.collect();
                *parameters = parameters.iter().cloned().chain(lengths).collect();
            }
        }
    }

    /// Returns the lengths that are passed as the last parameters of a procedure, in order.
    pub(super) fn asked_lengths(&self, number: u32) -> &[ParameterLength] {
        self.asked_lengths.get(number as usize).map_or(&[], Vec::as_slice)
    }

    fn empty(main: &'t Body) -> Declared<'t> {
        let head = Head { name: CompactString::const_new("main"), span: Span::default(), rule: None };
        Declared {
            given: Replacements::default(),
            misfits: Vec::new(),
            word: Word::W64,
            word_span: None,
            real: None,
            tolerance: None,
            inverse: None,
            depth: None,
            stack: None,
            history: None,
            tangent_rules: Vec::new(),
            tape: None,
            globals: Vec::new(),
            global_spans: Vec::new(),
            names: HashMap::new(),
            values_left: MAX_VALUES,
            main,
            heads: vec![head],
            parameters: vec![Rc::new([])],
            asked_lengths: Vec::new(),
            trees: Vec::new(),
            procedure_numbers: HashMap::new(),
            macros: Vec::new(),
            macro_numbers: HashMap::new(),
            lines: None,
            drops_labels: false,
            files: Vec::new(),
            paths: Vec::new(),
        }
    }

    fn directive(&mut self, directive: &Directive, span: Span, report: &mut Reporter) {
        match directive {
            Directive::Globals { role, declarations } => {
                let role = self.role(*role);
                for declaration in declarations {
                    self.global(role, declaration, report);
                }
            }
            Directive::Const { name, value } => {
                let value = self.constant(value, report).map(|own| self.given_for(&name.text, own));
                self.name(name, value.map_or(Outer::Broken, Outer::Constant), report);
            }
            Directive::Tolerance { value } => self.tolerate(value, span, report),
            Directive::Limit { what, value } => self.limit(*what, value, span, report),
            Directive::Lines(lines) => {
                self.lines.get_or_insert_default().extend(lines);
            }
            Directive::NoLabels => self.drops_labels = true,
            Directive::File { start, file } => self.files.push((*start, *file)),
            Directive::Path(path) => self.paths.push(path.clone()),
            // `.word`, `.real` and `.inverse` have been read already, includes have been spliced, and records have been
            // replaced. The other directives of this list belong to bodies.
            Directive::Word { .. }
            | Directive::Record { .. }
            | Directive::Real { .. }
            | Directive::Inverse
            | Directive::Ancillas(_)
            | Directive::Strategy(_)
            | Directive::Block(_)
            | Directive::Scope(_)
            | Directive::Value(_)
            | Directive::Include { .. } => {}
        }
    }

    /// Returns the role of a global that is declared with a directive. In an inverse program, `.garbage`
    /// declares an input: inverting a text keeps the directive, so that inverting twice restores the original.
    fn role(&self, declared: Role) -> Role {
        match declared {
            Role::Garbage if self.inverse.is_some() => declared.inverse(),
            role => role,
        }
    }

    /// Returns the value that the caller supplies for a constant, or `own`, the value in the text, if there is
    /// none.
    fn given_for(&mut self, name: &str, own: Number) -> Number {
        let Some(given) = self.given.constants.iter().find(|given| given.name == name) else { return own };
        match (own.class(), given.value) {
            (Class::Int, GivenNumber::Real(_)) => {
                self.misfits.push(RefusedConstant::Real { name: name.to_owned() });
                own
            }
            (Class::Int, GivenNumber::Int { magnitude, pattern, is_negative }) => {
                let written = Number::Int { value: magnitude, pattern };
                // A value that doesn't fit is rejected where the constant is used, because the value itself
                // has no place in the text.
                match is_negative {
                    true => self.numbers().unary(UnaryOperator::Negate, written, true).unwrap_or(written),
                    false => written,
                }
            }
            (Class::Real, GivenNumber::Real(value)) => Number::Real(value),
            (Class::Real, GivenNumber::Int { magnitude, is_negative, .. }) => {
                Number::Real(if is_negative { -(magnitude as f64) } else { magnitude as f64 })
            }
        }
    }

    /// Returns the supplied values that can't be used.
    pub(super) fn refused_constants(&mut self) -> Vec<RefusedConstant> {
        let mut refused = std::mem::take(&mut self.misfits);
        for given in self.given.constants {
            let is_cell = match self.names.get(given.name.as_str()) {
                Some((Outer::Constant(_) | Outer::Broken, _)) => continue,
                Some((Outer::Global(_), _)) => true,
                None => false,
            };
            let constants = self.names.iter().filter(|(_, (outer, _))| matches!(outer, Outer::Constant(_)));
            let mut known: Vec<String> = constants.map(|(name, _)| name.to_string()).collect();
            known.sort();
            refused.push(RefusedConstant::Unknown { name: given.name.clone(), is_cell, known });
        }
        refused
    }

    /// Returns the number system of reals.
    pub(super) fn real_system(&self) -> RealSystem {
        self.real.map_or(RealSystem::F64, |(system, _)| system)
    }

    fn set_word(&mut self, word: Word, span: Span, report: &mut Reporter) {
        let mut setting = self.word_span.map(|first| (self.word, first));
        set(&mut setting, word, span, "the width of integers", report);
        if let Some((word, span)) = setting {
            (self.word, self.word_span) = (word, Some(span));
        }
    }

    fn tolerate(&mut self, value: &Expression, span: Span, report: &mut Reporter) {
        let Some(number) = self.constant(value, report) else { return };
        let Some(tolerance) = self.real_value(number, value.span, report) else { return };
        if tolerance.is_finite() && tolerance >= 0.0 {
            set(&mut self.tolerance, tolerance, span, "the tolerance", report);
        } else {
            let message = "the tolerance must be a finite number, 0 or above";
            report.add(Diagnostic::error(ProblemCode::OutOfRange, message, value.span, "not a tolerance"));
        }
    }

    fn limit(&mut self, what: Limit, value: &Expression, span: Span, report: &mut Reporter) {
        let Some(number) = self.constant(value, report) else { return };
        if self.not_wrapped(number, value.span, report).is_none() {
            return;
        }
        let limit = match limit_of(what, number) {
            Ok(limit) => limit,
            Err((message, label)) => {
                report.add(Diagnostic::error(ProblemCode::OutOfRange, message, value.span, label));
                return;
            }
        };
        match what {
            Limit::Depth => set(&mut self.depth, limit, span, "the depth of calls", report),
            Limit::Stack => set(&mut self.stack, limit, span, "the size of stacks", report),
            Limit::Tape => set(&mut self.tape, limit, span, "the size of tapes", report),
            // Gradient mode of greater depth was replaced when the program was loaded.
            Limit::Grad => {}
            Limit::History => set(&mut self.history, limit, span, "the size of the history", report),
        }
    }

    fn name(&mut self, name: &Name, outer: Outer, report: &mut Reporter) -> bool {
        if let Some(refused) = name_of_length(name) {
            report.add(refused);
            self.names.insert(name.text.clone(), (Outer::Broken, name.span));
            return false;
        }
        if let Some((_, first)) = self.names.get(&name.text) {
            report.add(twice("name", name, *first));
            return false;
        }
        self.names.insert(name.text.clone(), (outer, name.span));
        true
    }

    fn global(&mut self, role: Role, declaration: &DeclarationNode, report: &mut Reporter) {
        let Some(shape) = self.declared_shape(&declaration.shape, report) else {
            self.name(&declaration.name, Outer::Broken, report);
            return;
        };
        let class = declaration.class.unwrap_or(Class::Int);
        let initial = match &declaration.initial {
            Some(initial) => self.values(initial, class, shape, report),
            None => Values::zero(class),
        };
        let used = declaration.default.as_ref().filter(|it| !self.is_replaced(declaration, it, shape));
        let default = used.map(|default| self.values(default, class, shape, report));
        // An empty stack default is invalid and has been reported.
        let default = default.filter(|values| shape != Shape::Stack || !values.is_empty());
        if default.is_some() && !role.is_given() {
            report.add(
                Diagnostic::error(
                    ProblemCode::NoSuchBeginning,
                    format!("`{}` is not an input, so it can't have a default", declaration.name.text),
                    declaration.name.span,
                    format!("declared by `{}`", role.directive()),
                )
                .help("write `= value` for the initial value, or declare an input by `.in` or `.inout`"),
            );
            return;
        }
        let is_shared = declaration.is_shared;
        if is_shared && let Some(problem) = unshared(role, shape, &declaration.name) {
            report.add(problem);
            return;
        }
        let number = self.globals.len() as u32;
        if self.name(&declaration.name, Outer::Global(number), report) {
            let name = declaration.name.text.as_str().into();
            self.globals.push(Global { name, class, role, shape, initial, default, is_shared });
            self.global_spans.push(declaration.name.span);
        }
    }

    /// Returns true if a list of values is too long or too short, but isn't used, because the caller supplies all values.
    fn is_replaced(&self, declaration: &DeclarationNode, default: &Initial, shape: Shape) -> bool {
        let fits = match default {
            Initial::Every(_) => true,
            Initial::Each(values) => values.len() as u64 == shape.cells(),
        };
        !fits && self.given.cells.iter().any(|name| *name == declaration.name.text)
    }

    fn procedure(&mut self, tree: &'t tree::ProcedureNode, report: &mut Reporter) {
        if tree.name.text == "main" {
            report.add(
                Diagnostic::error(
                    ProblemCode::ReservedName,
                    "no procedure can be named `main`",
                    tree.name.span,
                    "named here",
                )
                .help("choose another name: `main` is the code outside of procedures"),
            );
            return;
        }
        if let Some(&first) = self.procedure_numbers.get(&tree.name.text) {
            let first = self.head(first).span;
            report.add(twice("procedure", &tree.name, first));
            return;
        }
        self.procedure_numbers.insert(tree.name.text.clone(), self.heads.len() as u32);
        self.heads.push(Head { name: tree.name.text.clone(), span: tree.name.span, rule: None });
        self.parameters.push(parameters(tree, report).into());
        self.trees.push(tree);
    }

    fn macro_definition(&mut self, tree: &'t tree::Macro, report: &mut Reporter) {
        let number = self.macros.len();
        if let Some(first) = self.macro_numbers.get(&tree.name.text).and_then(|&n| self.macros.get(n)) {
            report.add(twice("macro", &tree.name, first.name.span));
            return;
        }
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for parameter in &tree.parameters {
            name_of_length(parameter).into_iter().for_each(|refused| report.add(refused));
            if let Some(first) = seen.insert(&parameter.text, parameter.span) {
                report.add(twice("parameter", parameter, first));
            }
        }
        self.macro_numbers.insert(tree.name.text.clone(), number);
        self.macros.push(tree);
    }

    /// Resolves the names of rules after all procedures are declared, because a rule may be defined after the
    /// procedure that names it.
    fn rules(&mut self, report: &mut Reporter) {
        for (n, tree) in (1..).zip(self.trees.clone()) {
            if let Some(rule) = &tree.rule {
                let number = self.procedure_number(rule, report);
                if let Some(head) = self.heads.get_mut(n) {
                    head.rule = number;
                }
            }
            if let Some(tangent) = &tree.tangent {
                let number = self.procedure_number(tangent, report);
                self.tangent_rules.extend(number);
                let rule = self.trees.iter().find(|other| other.name.text == tangent.text);
                rule.into_iter().for_each(|rule| tangent_rules::check(tree, rule, report));
            }
        }
    }

    /// Returns the number of the procedure that a call or a rule names. An unknown name is reported.
    pub(super) fn procedure_number(&self, name: &Name, report: &mut Reporter) -> Option<u32> {
        if let Some(&number) = self.procedure_numbers.get(&name.text) {
            return Some(number);
        }
        report.unknown(Unknown::Procedure, name, |report| {
            let message = format!("no procedure `{}`", name.text);
            let diagnostic =
                Diagnostic::error(ProblemCode::UnknownProcedure, message, name.span, "unknown procedure");
            if self.macro_numbers.contains_key(&name.text) {
                return diagnostic.help("leave out `call`: a macro is used by its name alone");
            }
            let names = self.procedure_numbers.keys().map(CompactString::as_str);
            diagnostic.help_if(report.suggest(&name.text, names))
        })
    }

    /// Returns the macro that a use names, with its number. `arguments` are those of the use, for a
    /// suggestion if the name is unknown.
    pub(super) fn macro_named(
        &self,
        name: &Name,
        arguments: &[Expression],
        report: &mut Reporter,
    ) -> Option<(usize, &'t tree::Macro)> {
        let number = self.macro_numbers.get(&name.text).copied();
        if let Some(found) = number.and_then(|n| self.macros.get(n).map(|&tree| (n, tree))) {
            return Some(found);
        }
        report.unknown(Unknown::Instruction, name, |report| {
            let message = format!("no instruction or macro `{}`", name.text);
            let diagnostic =
                Diagnostic::error(ProblemCode::UnknownInstruction, message, name.span, "unknown here");
            if self.procedure_numbers.contains_key(&name.text) {
                return diagnostic.help(format!("write `call {}(…)` to run the procedure", name.text));
            }
            let operands: Vec<String> = arguments.iter().map(spelled).collect();
            let known: Vec<&str> = words::statement_words().collect();
            let names = self.macro_numbers.keys().map(CompactString::as_str).chain(known);
            let advice = advice(&name.text, &operands).or_else(|| report.suggest(&name.text, names));
            diagnostic.help_if(advice)
        })
    }

    pub(super) fn macro_trees(&self) -> &[&'t tree::Macro] {
        &self.macros
    }

    /// Returns the statements of main, which are all statements outside of procedures, including
    /// declarations.
    pub(super) fn main_body(&self) -> &'t Body {
        self.main
    }

    /// Returns the trees of all procedures except main, in order of their numbers.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &'t tree::ProcedureNode> + use<'t> {
        self.trees.clone().into_iter()
    }

    pub(super) fn head(&self, number: u32) -> Head {
        self.heads.get(number as usize).cloned().unwrap_or_else(|| Head {
            name: CompactString::default(),
            span: Span::default(),
            rule: None,
        })
    }

    /// Returns the parameters of a procedure, with the spans of their declarations.
    pub(super) fn parameters_of(&self, number: u32) -> Rc<[(Parameter, Span)]> {
        self.parameters.get(number as usize).cloned().unwrap_or_default()
    }

    /// Returns the number of procedures, including main, which has the number 0.
    pub(super) fn procedure_count(&self) -> u32 {
        self.heads.len() as u32
    }

    /// Returns the meaning of a name outside of procedures, and the span of its declaration.
    pub(super) fn outer(&self, name: &str) -> Option<(Meaning, Span)> {
        let (outer, span) = self.names.get(name)?;
        let meaning = match outer {
            Outer::Global(n) => Meaning::Variable { base: Base::Global(*n), adjoint: false },
            Outer::Constant(number) => Meaning::Constant(*number),
            Outer::Broken => Meaning::Broken,
        };
        Some((meaning, *span))
    }

    pub(super) fn outer_names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(CompactString::as_str)
    }

    pub(super) fn global_at(&self, number: u32) -> Option<(&Global, Span)> {
        self.globals.get(number as usize).zip(self.global_spans.get(number as usize).copied())
    }

    /// Returns true if a name is declared outside of procedures, or is that of a register, which may become a
    /// global later.
    pub(super) fn is_global(&self, name: &str) -> bool {
        self.names.contains_key(name) || register_class(name).is_some()
    }

    /// Declares a register as a global at its first use.
    pub(super) fn register(&mut self, name: &CompactString, span: Span) -> Option<Meaning> {
        let class = register_class(name)?;
        let number = self.globals.len() as u32;
        self.globals.push(Global {
            name: name.as_str().into(),
            class,
            role: Role::Private,
            shape: Shape::Scalar,
            initial: Values::zero(class),
            default: None,
            is_shared: false,
        });
        self.global_spans.push(span);
        self.names.insert(name.clone(), (Outer::Global(number), span));
        Some(Meaning::Variable { base: Base::Global(number), adjoint: false })
    }

    /// Replaces lines, files, paths and labels of a structure by those that the text records. Returns true if
    /// the text is a disassembly with recorded lines. If it is, the caller must use the recorded blocks and
    /// names, too.
    pub(super) fn recorded_structure(&mut self, structure: &mut Structure) -> bool {
        let Some(lines) = self.lines.take() else { return false };
        structure.lines = lines;
        if self.drops_labels {
            structure.labels.clear();
        }
        structure.files = std::mem::take(&mut self.files);
        structure.paths = std::mem::take(&mut self.paths);
        true
    }

    /// Returns true if the text records source lines by directives, even if `.lines` lists none.
    pub(super) fn records_lines(&self) -> bool {
        self.lines.is_some() || !self.files.is_empty()
    }

    /// Returns true if the text has no declarations.
    pub(super) fn is_bare(&self) -> bool {
        let declares = !(self.names.is_empty() && self.trees.is_empty() && self.macros.is_empty());
        !declares && !self.records_lines()
    }

    /// Returns the limit on each stack: what the program itself may push, and what procedures with a strategy may keep.
    fn stack_limit(&self, default: u32) -> u32 {
        let (stack, history) = (self.stack.map(|it| it.0), self.history.map(|it| it.0));
        match (stack, history) {
            (None, None) => default,
            (stack, history) => {
                stack.unwrap_or_default().saturating_add(history.unwrap_or_default()).min(MAX_STACK)
            }
        }
    }

    pub(super) fn finish(self) -> ModuleHead {
        let default = Limits::default();
        ModuleHead {
            word: self.word,
            real: self.real_system(),
            limits: Limits {
                depth: self.depth.map_or(default.depth, |(depth, _)| depth),
                stack: self.stack_limit(default.stack),
                tape: self.tape.map_or(default.tape, |(tape, _)| tape),
            },
            tolerance: self.tolerance.map(|(tolerance, _)| tolerance),
            inverse: self.inverse.is_some(),
            globals: self.globals,
            global_spans: self.global_spans,
            procedure_spans: self.heads.into_iter().map(|head| head.span).collect(),
        }
    }
}

fn parameters(tree: &tree::ProcedureNode, report: &mut Reporter) -> Vec<(Parameter, Span)> {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    let mut lowered = Vec::with_capacity(tree.parameters.len());
    for (n, parameter) in tree.parameters.iter().enumerate() {
        let span = parameter.name.span;
        let mut name = parameter.name.text.to_string();
        if let Some(first) = seen.insert(&parameter.name.text, span) {
            report.add(twice("parameter", &parameter.name, first));
            // A unique name prevents the verifier from reporting the duplicate again.
            name.push_str(&format!("${n}"));
        }
        let class = parameter.class.unwrap_or(Class::Int);
        let (passing, rank) = (parameter.passing, parameter.rank);
        lowered.push((Parameter { name, class, passing, rank }, span));
    }
    lowered
}

/// Returns the error for a declaration with `shared` that isn't a scalar or array input; `None` if it is
/// valid.
fn unshared(role: Role, shape: Shape, name: &Name) -> Option<Diagnostic> {
    let (why, help) = match shape {
        _ if !role.is_given() => (
            "is not an input, so it can't be `shared`",
            "declare an input by `.in` or `.inout`: `shared` means that all lanes of a batch get the same value",
        ),
        Shape::Stack => ("is a stack and can't be `shared`", "declare an array, which can be shared"),
        _ => return None,
    };
    let label = format!("declared by `{}`", role.directive());
    Some(
        Diagnostic::error(ProblemCode::NoSuchBeginning, format!("`{}` {why}", name.text), name.span, label)
            .help(help),
    )
}

/// Returns the error for a duplicate declaration.
pub(super) fn twice(what: &str, name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error(
        ProblemCode::DeclaredTwice,
        format!("the {what} `{}` is declared twice", name.text),
        name.span,
        "declared again",
    )
    .with(first, "first declared here")
}

/// Converts a number to a limit. If it is out of range, returns the message and the label of an error.
fn limit_of(what: Limit, number: Number) -> Result<u32, (String, &'static str)> {
    let (name, most) = match what {
        Limit::Depth => ("depth", MAX_DEPTH),
        Limit::Stack => ("stack", MAX_STACK),
        Limit::Tape => ("tape", MAX_TAPE),
        Limit::Grad => ("grad", DEEPEST),
        Limit::History => ("history", MAX_STACK),
    };
    let given = match number.integer() {
        Some(value) if value > most.into() => {
            return Err((format!("`.limit {name}` is at most {most}"), "too large"));
        }
        value => value.and_then(|value| u32::try_from(value).ok()),
    };
    given.ok_or_else(|| ("a limit is an integer, 0 or above".to_owned(), "not a limit"))
}

/// Sets a setting. If the setting has another value already, reports both places.
fn set<T: PartialEq>(setting: &mut Setting<T>, value: T, span: Span, what: &str, report: &mut Reporter) {
    match setting {
        Some((first, place)) if *first != value => {
            report.add(
                Diagnostic::error(
                    ProblemCode::SetTwice,
                    format!("{what} is set twice, to different values"),
                    span,
                    "set again",
                )
                .with(*place, "first set here"),
            );
        }
        Some(_) => {}
        None => *setting = Some((value, span)),
    }
}

/// Returns the error for declaring a name such as `len$v`, which is reserved for parameters that pass
/// lengths.
pub(super) fn name_of_length(name: &Name) -> Option<Diagnostic> {
    name.text.starts_with(LENGTH_PARAMETER).then(|| {
        let message = format!("`{}` is a reserved name", name.text);
        let why = format!("parameters that begin with `{LENGTH_PARAMETER}` pass lengths to procedures");
        Diagnostic::error(ProblemCode::ReservedName, message, name.span, why).help("choose another name")
    })
}
