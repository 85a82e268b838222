//! The statements `local … delocal` and `compute … apply … uncompute`: ancillas that are 0 before and after.

use arrayvec::ArrayVec;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::{Base, Class, Instruction, Link, Operand, Place};
use reviver_isa::module::Shape;
use reviver_isa::operator::advice_on_powers;
use reviver_isa::structure::BlockKind;
use reviver_isa::update::Update;
use reviver_isa::verify::classes::{Conversion, conversion, converter};

use super::Lowering;
use super::applied::Source;
use super::applied::{AppliedFunction, Checking, natural_class};
use super::scope::ScopeKind;
use super::signature::signature;
use crate::diagnostic::Diagnostic;
use crate::invert::invert_body;
use crate::source::Span;
use crate::tree::{self, Compute};

impl Lowering<'_> {
    /// Emits the beginning of a `local`: `vacate t` and, if it has a value, `add.f t, …`.
    pub(super) fn local(&mut self, tree: &tree::Local, span: Span) {
        if !tree.shape.is_empty() {
            return self.local_array(tree, span);
        }
        let (value, temporaries) = self.collect(|this| this.value(tree, tree.class));
        let class = value.as_ref().map_or(tree.class.unwrap_or(Class::Int), |value| value.class);
        let variable = self.bind(&tree.name, class, Shape::Scalar, true);
        if tree.class.is_some() {
            self.current.classed.insert(variable);
        } else {
            self.current.classed.remove(&variable);
        }
        let Some(value) = value else {
            self.release_temporaries(temporaries);
            return self.current.scopes.give_up_meaning(&tree.name.text);
        };
        self.between(temporaries, Checking::Taken, span, |this| {
            let seam = this.open_block(BlockKind::Local);
            this.vacate(variable, span);
            this.accumulate(Update::Add, value.function, variable, value.sources, span);
            this.seam(&seam, span);
        });
    }

    /// Emits the end of a `local`: `sub.f t, …` if it has a value, and `vacate t`. Releases the variable.
    pub(super) fn delocal(&mut self, tree: &tree::Local, span: Span) {
        let Some(variable) = self.ending(tree) else { return };
        if !self.has_shape(tree, variable) {
            // The local counts as ended, because otherwise it would also be reported as open.
            return self.end_local(tree, variable);
        }
        if !tree.shape.is_empty() {
            return self.delocal_array(tree, variable, span);
        }
        let class = self.class_of(Base::Frame(variable));
        if let Some(annotated) = tree.class.filter(|c| *c != class) {
            let message = format!("`{}` is {}, not {}", tree.name.text, class.name(), annotated.name());
            self.report.add(Diagnostic::error(
                ProblemCode::LocalAndDelocalDiffer,
                message,
                tree.name.span,
                "another class",
            ));
        }
        let is_told = tree.class.is_some() || self.current.classed.contains(&variable);
        if tree.sources.is_empty() && class == Class::Real && !is_told {
            let name = &tree.name.text;
            let message = format!("`delocal {name}` doesn't say that `{name}` is real");
            self.report.add(
                Diagnostic::error(
                    ProblemCode::LocalAndDelocalDiffer,
                    message,
                    tree.name.span,
                    "this 0 may be an integer or a real",
                )
                .help(format!("write `delocal {name}: real`: in a backward run `{name}` begins here")),
            );
        }
        let broken =
            matches!(self.current.scopes.innermost(&tree.name.text), Some(local) if local.is_broken());
        let (value, temporaries) =
            self.collect(|this| if broken { None } else { this.value(tree, Some(class)) });
        self.current.scopes.remove(&tree.name.text);
        self.current.frame.release(&tree.name.text, variable);
        let Some(value) = value else { return self.release_temporaries(temporaries) };
        let update = accumulating(Update::Sub, value.function, variable, value.sources.clone());
        let Some(checking) = self.checking(&update, &temporaries, span) else {
            return self.release_temporaries(temporaries);
        };
        self.between(temporaries, checking, span, |this| {
            let seam = this.open_block(BlockKind::Delocal);
            this.accumulate(Update::Sub, value.function, variable, value.sources, span);
            this.vacate(variable, span);
            this.seam(&seam, span);
        });
        self.close_name(variable);
    }

    fn accumulate(
        &mut self,
        update: Update,
        function: Function,
        variable: u32,
        sources: Vec<Operand>,
        span: Span,
    ) {
        if sources.is_empty() {
            return;
        }
        let Instruction { update, function, operands, link } =
            accumulating(update, function, variable, sources);
        self.code.push(update, function, operands, link, span);
    }

    /// Returns the frame variable of the local that a `delocal` ends.
    fn ending(&mut self, tree: &tree::Local) -> Option<u32> {
        let name = &tree.name;
        if let Some(variable) = self.current.scopes.innermost(&name.text).and_then(|local| local.open) {
            return Some(variable);
        }
        let message = format!("no local `{}` is open in this block", name.text);
        let diagnostic = Diagnostic::error(ProblemCode::NoLocalOpen, message, name.span, "ended here");
        match self.current.scopes.find(&name.text) {
            Some(local) if local.open.is_some() => {
                let opened = local.span;
                self.current.scopes.give_up(&name.text);
                self.report.fail(
                    diagnostic
                        .with(opened, "opened here, in another block")
                        .help("`local` and `delocal` belong to the same block"),
                )
            }
            Some(local) => self.report.fail(diagnostic.with(local.span, "this is no `local`")),
            None => {
                let names = self.current.scopes.names();
                let help = self.report.suggest(&name.text, names);
                self.report.fail(diagnostic.help_if(help))
            }
        }
    }

    /// Returns the value that a `local` or `delocal` states: its class, its function, and its sources.
    /// Literals are converted to the class.
    fn value(&mut self, tree: &tree::Local, class: Option<Class>) -> Option<LocalValue> {
        if tree.sources.is_empty() {
            let class = class.unwrap_or(Class::Int);
            return Some(LocalValue { class, function: tree.function, sources: Vec::new() });
        }
        let AppliedFunction { function, sources } = match tree.sources.as_slice() {
            [value] if tree.function == Function::Copy => self.taken(value)?,
            list => {
                let sources: ArrayVec<Option<(Source, Span)>, 2> =
                    list.iter().take(2).map(|s| Some((self.source(s)?, s.span))).collect();
                let sources = sources.into_iter().collect::<Option<_>>()?;
                AppliedFunction { function: tree.function, sources }
            }
        };
        let (own, spans): (Vec<Source>, Vec<Span>) = sources.into_iter().unzip();
        let signature = signature(function, class, own.iter().map(Source::kind));
        if signature.is_none() {
            return self.misfit(tree, class, (function, &own, &spans));
        }
        let result = signature.map(Signature::result).or(class).unwrap_or(Class::Int);
        let typed: Vec<Option<Operand>> = own
            .into_iter()
            .zip(spans)
            .enumerate()
            .map(|(n, (source, span))| {
                let class = signature.map_or(source.class(), |signature| signature.source(n));
                self.typed(source, class, span)
            })
            .collect();
        Some(LocalValue { class: result, function, sources: typed.into_iter().collect::<Option<_>>()? })
    }

    /// Reports a value whose function has no signature for the class of the local.
    fn misfit<T>(
        &mut self,
        tree: &tree::Local,
        class: Option<Class>,
        (function, sources, spans): (Function, &[Source], &[Span]),
    ) -> Option<T> {
        let classes: Vec<Class> = sources.iter().map(Source::class).collect();
        let target = class.unwrap_or_else(|| natural_class(function, sources));
        let wanted = conversion(function, target, &classes).err();
        let name = &tree.name.text;
        let (place, said, help) = match wanted {
            Some(Conversion::Source(n, to)) => {
                let place = spans.get(n).copied().unwrap_or(tree.name.span);
                let source = self.sources.text(place);
                let (from, convert) = (classes.get(n).copied().unwrap_or(to), converter(to).name());
                let help = match sources.get(n) {
                    Some(Source::Literal(_)) => "write an integer, or give the local the class `real`".into(),
                    _ if function == Function::Xor => advice_on_powers(source),
                    _ => format!("convert the value: `{convert}({source})`"),
                };
                (place, format!("{}, expected {}", from.name(), to.name()), help)
            }
            _ => {
                let first = tree.sources.iter().map(|source| source.span);
                let whole = first.reduce(Span::to).unwrap_or(tree.name.span);
                let text = self.sources.text(whole);
                let value = match tree.function {
                    Function::Copy => text.to_owned(),
                    function => format!("{}({text})", function.name()),
                };
                let convert = converter(target).name();
                let help = format!(
                    "leave out the class, `local {name} = {value}`, or convert the value: `{convert}({value})`"
                );
                (tree.name.span, format!("`{value}` has another class"), help)
            }
        };
        let message = format!("the value does not fit the local `{name}`");
        self.report.fail(Diagnostic::error(ProblemCode::ClassesMixed, message, place, said).help(help))
    }

    /// Lowers a `compute` block. Locals that the first body opens are visible in the second body, and
    /// `uncompute` closes them.
    pub(super) fn compute(&mut self, tree: &Compute, span: Span) {
        let errors = self.report.count();
        self.current.scopes.enter(ScopeKind::Block);
        let mut seam = self.open_block(BlockKind::Compute);
        self.seam(&seam, Span { end: span.start, ..span });
        // The first body runs forward even if the statement is undone.
        let undone = std::mem::replace(&mut self.undone, false);
        self.nodes(&tree.body);
        self.undone = undone;
        seam.start = self.code.here();
        self.seam(&seam, tree.middle);
        self.body(&tree.apply);
        seam.start = self.code.here();
        self.seam(&seam, tree.end);
        if self.report.count() == errors {
            self.uncompute(tree);
            self.leave_scope();
        } else {
            // After an error, the first body isn't inverted: that would only repeat the error, and the locals
            // of the first body would be reported as open.
            self.current.scopes.leave();
        }
        seam.start = self.code.here();
        self.seam(&seam, tree.end);
        self.code.close(seam.block);
    }

    fn uncompute(&mut self, tree: &Compute) {
        let inverse = match invert_body(&tree.body) {
            Ok(inverse) => inverse,
            Err(diagnostics) => return diagnostics.into_iter().for_each(|d| self.report.add(d)),
        };
        let undone = std::mem::replace(&mut self.undone, true);
        self.enter_copy();
        self.nodes(&inverse);
        self.leave_copy();
        self.undone = undone;
    }
}

/// The initial and final value of a local; without sources it is 0.
struct LocalValue {
    class: Class,
    function: Function,
    sources: Vec<Operand>,
}

/// Returns the instruction that adds the function's value to a variable or subtracts it from the variable.
fn accumulating(update: Update, function: Function, variable: u32, sources: Vec<Operand>) -> Instruction {
    let target = Operand::Place(Place::scalar(Base::Frame(variable)));
    let operands: ArrayVec<Operand, 3> = std::iter::once(target).chain(sources).take(3).collect();
    Instruction { update, function, operands, link: Link::None }
}
