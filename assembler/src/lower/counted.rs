//! The statement `for`: a counter in the frame and two branch pairs. Each iteration has an overhead of two
//! steps.
//!
//! ```text
//!         br    END, lo >= hi            ; left out where lo < hi is known
//!         vacate i
//!         add   i, lo
//! TOP:    from  BACK, i > lo
//!         …
//!         add   i, step
//! BACK:   br    TOP, i < hi
//!         sub   i, hi
//!         vacate i
//! END:    from  …, lo >= hi
//! ```
//!
//! `reversed` is the mirror image, with the body as written. A bound that is an expression is computed before
//! the loop and uncomputed after it.

use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::{Argument, Base, Class, Instruction, Link, Operand, Place};
use reviver_isa::module::{Passing, Shape};
use reviver_isa::structure::{BlockKind, Counting};
use reviver_isa::update::Update;

use super::Lowering;
use super::applied::{Checking, Temporaries};
use super::binding::own_name;
use super::instruction::Test;
use super::record::OpenSeam;
use super::scope::{Meaning, ScopeKind, ScopedName};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Expression, For};

/// A loop with resolved bounds.
struct Counted {
    counter: u32,
    lo: LoopBound,
    hi: LoopBound,
    step: u32,
    reversed: bool,
    /// The temporaries that compute the bounds.
    temporaries: Temporaries,
}

struct LoopBound {
    value: Operand,
    /// The scalars that determine the bound: the bound itself, or the sources of its expression. The body
    /// must not change them.
    kept: Vec<Operand>,
}

impl Counted {
    fn counter(&self) -> Operand {
        Operand::Place(Place::scalar(Base::Frame(self.counter)))
    }

    /// Returns the bound at which the counter starts: the upper one in a reversed loop.
    fn start(&self) -> &Operand {
        if self.reversed { &self.hi.value } else { &self.lo.value }
    }

    /// Returns the bound at which the counter ends: the lower one in a reversed loop.
    fn end(&self) -> &Operand {
        if self.reversed { &self.lo.value } else { &self.hi.value }
    }

    /// Returns the description of the loop that the structure records.
    fn counting(&self) -> Counting {
        let (from, to) = (self.lo.value.clone(), self.hi.value.clone());
        Counting { counter: self.counter, from, to, step: self.step, reversed: self.reversed }
    }

    fn may_be_empty(&self) -> bool {
        !matches!((&self.lo.value, &self.hi.value), (Operand::Int(lo), Operand::Int(hi)) if lo < hi)
    }

    /// Returns a comparison of the counter with a bound. In a reversed loop, `<` and `>` are exchanged.
    fn test(&self, order: Order, bound: &Operand) -> Test {
        let order = match (self.reversed, order) {
            (true, Order::Gt) => Order::Lt,
            (true, Order::Lt) => Order::Gt,
            (_, order) => order,
        };
        Test::compare(order, self.counter(), bound.clone())
    }

    /// Returns the test `lo >= hi`, which is true if the loop has no iterations.
    fn is_empty(&self) -> Test {
        Test::compare(Order::Ge, self.lo.value.clone(), self.hi.value.clone())
    }
}

impl Lowering<'_> {
    pub(super) fn for_statement(&mut self, tree: &For) {
        let counted = self.counted(tree);
        let mut seam = self.open_block(BlockKind::For(counted.counting()));
        self.open_name(&tree.counter, counted.counter, seam.start);
        let start = tree.counter.span;
        self.compute_temporaries(&counted.temporaries, Checking::Watched, start);
        let skip =
            counted.may_be_empty().then(|| self.push_branch(Update::Br, counted.is_empty(), "for", start));
        self.vacate(counted.counter, start);
        self.advance(Update::Add, &counted, counted.start().clone(), start);
        self.rounds(tree, &counted, &mut seam);
        self.advance(Update::Sub, &counted, counted.end().clone(), tree.end);
        self.vacate(counted.counter, tree.end);
        if let Some(skip) = skip {
            let end = self.push_branch(Update::From, counted.is_empty(), "rof", tree.end);
            self.code.pair(skip, end);
        }
        self.uncompute_temporaries(&counted.temporaries, Checking::Watched, tree.end);
        self.seam(&seam, tree.end);
        self.close_name(counted.counter);
        self.code.close(seam.block);
        self.current.frame.release(&tree.counter.text, counted.counter);
        self.release_temporaries(counted.temporaries);
    }

    /// Emits the loop from `TOP` to `BACK`. A reversed loop updates the counter before the body, any other
    /// loop after the body.
    fn rounds(&mut self, tree: &For, counted: &Counted, seam: &mut OpenSeam) {
        let test = counted.test(Order::Gt, counted.start());
        let top = self.push_branch(Update::From, test, "top", tree.counter.span);
        let step = Operand::Int(i64::from(counted.step));
        if counted.reversed {
            self.advance(Update::Sub, counted, step.clone(), tree.counter.span);
        }
        self.seam(seam, tree.counter.span);
        let from = self.code.here();
        self.counted_body(tree, counted.counter);
        self.refuse_changes(tree, counted, from);
        seam.start = self.code.here();
        if !counted.reversed {
            self.advance(Update::Add, counted, step, tree.end);
        }
        let test = counted.test(Order::Lt, counted.end());
        let back = self.push_branch(Update::Br, test, "next", tree.end);
        self.code.pair(back, top);
    }

    fn advance(&mut self, update: Update, counted: &Counted, by: Operand, span: Span) {
        self.code.plain(update, super::operands([counted.counter(), by]), span);
    }

    /// Resolves the head of a loop. The bounds are resolved before the counter is declared, so the bounds can't
    /// use the counter.
    fn counted(&mut self, tree: &For) -> Counted {
        let (lo, mut temporaries) = self.collect(|this| this.bound(&tree.from));
        let lo = LoopBound { kept: kept(&lo, &temporaries), value: lo };
        let (hi, others) = self.collect(|this| this.bound(&tree.to));
        let hi = LoopBound { kept: kept(&hi, &others), value: hi };
        temporaries.extend(others);
        let step = tree.step.as_ref().and_then(|step| self.step(step)).unwrap_or(1);
        if let Some(step) = &tree.step {
            // The step is added to the counter, so it must fit into a word. This call reports a step that
            // doesn't.
            self.word(step);
        }
        self.refuse_missed_end(tree, &lo.value, &hi.value, step);
        let declared = &self.declared;
        let elsewhere = |name: &str| declared.is_global(name);
        let name = own_name(&tree.counter);
        let counter = self.current.frame.acquire(&name, Class::Int, Shape::Scalar, elsewhere);
        Counted { counter, lo, hi, step, reversed: tree.reversed, temporaries }
    }

    /// Returns a bound as an operand. An invalid bound is reported and replaced by 0.
    fn bound(&mut self, expression: &Expression) -> Operand {
        let source = self.source(expression);
        let value = source.and_then(|source| self.typed(source, Class::Int, expression.span));
        value.unwrap_or(Operand::Int(0))
    }

    /// Reports constant bounds whose distance isn't a multiple of the step: the counter could never be equal
    /// to the bound at which the loop ends.
    fn refuse_missed_end(&mut self, tree: &For, lo: &Operand, hi: &Operand, step: u32) {
        let (Operand::Int(lo), Operand::Int(hi)) = (lo, hi) else { return };
        let distance = i128::from(*hi) - i128::from(*lo);
        if distance <= 0 || distance % i128::from(step) == 0 {
            return;
        }
        let hit = i128::from(*hi) - distance % i128::from(step);
        self.report.add(
            Diagnostic::error(
                ProblemCode::EndMissed,
                format!("steps of {step} from {lo} do not reach {hi} exactly"),
                tree.from.span.to(tree.to.span),
                "the bounds of this loop",
            )
            .help(format!("write the upper bound {hit}, the nearest one that the steps reach")),
        );
    }

    fn counted_body(&mut self, tree: &For, counter: u32) {
        self.current.scopes.enter(ScopeKind::Block);
        self.refuse_shadowing(&tree.counter);
        let meaning = Meaning::Variable { base: Base::Frame(counter), adjoint: false };
        let local = ScopedName { meaning, span: tree.counter.span, open: None };
        self.current.scopes.insert(tree.counter.text.clone(), local);
        self.nodes(&tree.body);
        self.leave_scope();
    }

    /// Reports instructions of the body that certainly change the counter or a bound.
    fn refuse_changes(&mut self, tree: &For, counted: &Counted, from: u32) {
        let counter = counted.counter();
        let lower = counted.lo.kept.iter().map(|kept| (kept, tree.from.span, "the lower bound"));
        let upper = counted.hi.kept.iter().map(|kept| (kept, tree.to.span, "the upper bound"));
        let kept: Vec<_> =
            std::iter::once((&counter, tree.counter.span, "the counter")).chain(lower).chain(upper).collect();
        for at in from..self.code.here() {
            let Some(instruction) = self.code.instructions.get(at as usize) else { continue };
            for &(operand, declared, what) in &kept {
                let Operand::Place(place) = operand else { continue };
                if !self.changes(instruction, place) {
                    continue;
                }
                let span = self.code.spans.get(at as usize).copied().unwrap_or(tree.end);
                self.report.add(
                    Diagnostic::error(
                        ProblemCode::CounterChanged,
                        format!("the body of this `for` changes {what}"),
                        span,
                        "changed here",
                    )
                    .with(declared, format!("{what} of the loop"))
                    .help("change another cell: a backward run needs the same counter and the same bounds"),
                );
                // After the first error of a loop, others are likely to be consequences.
                return;
            }
        }
    }

    /// Returns true if a place is a target of an instruction.
    fn changes(&self, instruction: &Instruction, place: &Place) -> bool {
        let targets = instruction.update.shape().targets();
        let is_place = |operand: &Operand| matches!(operand, Operand::Place(p) if p == place);
        if instruction.operands.iter().take(targets).any(is_place) {
            return true;
        }
        let Link::Calls(calls) = &instruction.link else { return false };
        calls.iter().any(|call| {
            let parameters = self.declared.parameters_of(call.procedure);
            call.arguments.iter().zip(parameters.iter()).any(|(argument, (parameter, _))| {
                parameter.passing == Passing::InOut
                    && matches!(argument, Argument::Scalar(operand) if is_place(operand))
            })
        })
    }
}

/// Returns the scalars that determine a bound: the bound itself, or the sources of its expression.
fn kept(bound: &Operand, temporaries: &Temporaries) -> Vec<Operand> {
    let mut kept = temporaries.scalars();
    kept.push(bound.clone());
    kept
}
