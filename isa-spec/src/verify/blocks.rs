//! Rules about recorded statements and names. The records must refer to existing instructions and variables. A
//! recorded statement must have the instructions that lowering generates for such a statement.

use super::temporaries::computing;
use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::function::Function;
use crate::instruction::{Base, Instruction, Link, Operand, Place};
use crate::module::{Module, Procedure};
use crate::names::{is_name, is_operand_name};
use crate::predicate::{Predicate, PredicatePart};
use crate::structure::{Block, BlockKind, Counting, NameScope, Seam};
use crate::update::{OperandShape, Update};

impl Checker<'_> {
    /// Reports a block that is malformed, that isn't inside a procedure, or that isn't inside one body of its
    /// enclosing block.
    pub(super) fn blocks(&mut self) {
        let module = self.module;
        let mut open: Vec<&Block> = Vec::new();
        let mut procedures = module.procedures.iter().peekable();
        let mut before = 0;
        for block in &module.structure.blocks {
            while procedures.next_if(|p| p.exit < block.start()).is_some() {}
            while open.pop_if(|outer| outer.end() <= block.start()).is_some() {}
            let inside = |p: &&&Procedure| p.entry < block.start() && block.end() <= p.exit;
            let Some(procedure) = procedures.peek().filter(inside) else {
                self.report(
                    ProblemCode::MalformedImage,
                    Site::Module,
                    "a block reaches outside of its procedure",
                );
                return;
            };
            if block.start() < before || !is_ordered(&block.seams) {
                self.report(
                    ProblemCode::MalformedImage,
                    Site::Instruction(block.start()),
                    "the blocks are out of order",
                );
                return;
            }
            if open.last().is_some_and(|outer| !lies_in_body(block, outer)) {
                let message = "two blocks overlap, and neither is within a body of the other";
                self.report(ProblemCode::MalformedImage, Site::Instruction(block.start()), message);
                return;
            }
            before = block.start();
            open.push(block);
            self.block(procedure, block);
        }
    }

    fn block(&mut self, procedure: &Procedure, block: &Block) {
        let files = self.module.structure.paths.len();
        if block.seams.iter().any(|seam| seam.place.file as usize > files) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(block.start()),
                "a block is in a file that isn't recorded",
            );
        }
        if !has_shape(self.module, block) {
            let message = "the instructions of a block don't match its statement";
            self.report(ProblemCode::MalformedImage, Site::Instruction(block.start()), message);
            return;
        }
        match &block.kind {
            BlockKind::If { entry, exit } | BlockKind::Loop { entry, exit } => {
                self.predicate(procedure, block.start(), entry);
                self.predicate(procedure, block.start(), exit);
            }
            BlockKind::Assert { condition } => self.predicate(procedure, block.start(), condition),
            BlockKind::For(counting) => self.counting(procedure, block.start(), counting),
            BlockKind::Macro { name, .. } if !is_name(name) => {
                let message = format!("`{}` can't be a name", name.escape_debug());
                self.report(ProblemCode::MalformedImage, Site::Instruction(block.start()), message);
            }
            BlockKind::Macro { .. }
            | BlockKind::Local
            | BlockKind::Delocal
            | BlockKind::Compute
            | BlockKind::Temporaries => {}
        }
    }

    fn predicate(&mut self, procedure: &Procedure, at: u32, predicate: &Predicate) {
        if !predicate.is_whole() {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(at),
                "a recorded condition is malformed",
            );
            return;
        }
        for part in &predicate.parts {
            if let PredicatePart::Compare(function, a, b) = part {
                self.recorded_test(procedure, at, *function, [a, b]);
            }
        }
    }

    /// Reports a recorded comparison that couldn't be tested by an `assert` of its procedure.
    fn recorded_test(&mut self, procedure: &Procedure, at: u32, function: Function, sources: [&Operand; 2]) {
        let operands = sources.into_iter().cloned().collect();
        let test = Instruction { update: Update::Assert, function, operands, link: Link::None };
        let mut checker = Checker { module: self.module, violations: Vec::new() };
        let sound = function.order().is_some() && checker.legal(procedure, at, &test);
        if !sound || !checker.violations.is_empty() {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(at),
                "a recorded condition has operands that its procedure can't compare",
            );
        }
    }

    fn counting(&mut self, procedure: &Procedure, at: u32, counting: &Counting) {
        for bound in [&counting.from, &counting.to] {
            self.recorded_test(procedure, at, Function::Eq, [bound, &Operand::Int(0)]);
        }
        if counting.step == 0 {
            self.report(
                ProblemCode::MalformedImage,
                Site::Instruction(at),
                "a recorded loop counts in steps of 0",
            );
        }
    }

    /// Reports a name that doesn't refer to a frame variable, or has a scope that isn't within its procedure.
    pub(super) fn scopes(&mut self) {
        let module = self.module;
        let scopes = &module.structure.scopes;
        let order = |scope: &NameScope| (scope.procedure, scope.variable, scope.start);
        if !scopes.is_sorted_by_key(order) {
            self.report(ProblemCode::MalformedImage, Site::Module, "the scopes of names are out of order");
        }
        for scope in scopes {
            let owner = module.procedures.get(scope.procedure as usize);
            let is_sound = owner.is_some_and(|owner| {
                (scope.variable as usize) < owner.frame.len()
                    && owner.entry <= scope.start
                    && scope.start < scope.end
                    && scope.end <= owner.exit + 1
                    && scope.place.file as usize <= module.structure.paths.len()
                    && is_operand_name(&scope.name)
            });
            if !is_sound {
                let message = format!("the scope of `{}` is malformed", scope.name.escape_debug());
                self.report(ProblemCode::MalformedImage, Site::Module, message);
                return;
            }
        }
    }
}

/// Returns true if each seam begins at or after the end of the preceding one, and they have at least one
/// instruction in total.
fn is_ordered(seams: &[Seam]) -> bool {
    let ends = seams.iter().all(|seam| seam.start <= seam.end);
    let follow = seams.windows(2).all(|pair| matches!(pair, [a, b] if a.end <= b.start));
    let extent = seams.first().zip(seams.last());
    ends && follow && extent.is_some_and(|(first, last)| first.start < last.end)
}

fn lies_in_body(block: &Block, outer: &Block) -> bool {
    let bodies = outer.seams.windows(2);
    bodies.into_iter().any(|pair| matches!(pair, [a, b] if a.end <= block.start() && block.end() <= b.start))
}

/// Returns the branch halves of a seam, each with its index, update and partner. If both halves of a pair are
/// inside a seam that tests a condition, the pair is excluded, because it skips a part of the condition.
fn halves(module: &Module, kind: &BlockKind, seam: &Seam) -> Vec<(u32, Update, u32)> {
    let code = module.code.get(seam.start as usize..seam.end as usize).unwrap_or_default();
    let tests = matches!(kind, BlockKind::If { .. } | BlockKind::Loop { .. } | BlockKind::Assert { .. });
    let half = |(at, instruction): (u32, &Instruction)| match instruction.link {
        Link::Partner(partner) if tests && seam.contains(partner) => None,
        Link::Partner(partner) => Some((at, instruction.update, partner)),
        _ => None,
    };
    (seam.start..).zip(code).filter_map(half).collect()
}

/// Returns true if the seams contain exactly the instructions that lowering generates for the statement: its
/// branch pairs, and the instructions that open and close its variable.
fn has_shape(module: &Module, block: &Block) -> bool {
    use Update::{Br, From};
    let halves: Vec<Vec<(u32, Update, u32)>> =
        block.seams.iter().map(|seam| halves(module, &block.kind, seam)).collect();
    let halves: Vec<&[(u32, Update, u32)]> = halves.iter().map(Vec::as_slice).collect();
    match (&block.kind, halves.as_slice()) {
        (BlockKind::If { .. }, [[(_, Br, join)], [(at, From, _)]]) => join == at,
        (BlockKind::If { .. }, [[(_, Br, other)], [(_, Br, join), (at, From, _)], [(end, From, _)]]) => {
            other == at && join == end
        }
        (BlockKind::Loop { .. }, [[(top, From, _)], [(_, Br, back)]]) => top == back,
        (BlockKind::Loop { .. }, [[(top, From, _)], [(_, Br, out)], [(_, Br, back), (done, From, _)]]) => {
            top == back && out == done
        }
        (BlockKind::For(c), [[(top, From, _)], [(at, Br, back)]]) => {
            counts(module, block, c, *top, (*at, *back))
        }
        (BlockKind::For(c), [[(_, Br, out), (top, From, _)], [(at, Br, back), (end, From, _)]]) => {
            out == end && counts(module, block, c, *top, (*at, *back))
        }
        (BlockKind::Local, [[]]) => is_opening(module, block, Update::Add),
        (BlockKind::Delocal, [[]]) => is_opening(module, block, Update::Sub),
        (BlockKind::Assert { .. }, [[]]) => asserts_once(module, block),
        (BlockKind::Temporaries, [[], []]) => computes_and_uncomputes(module, block),
        (BlockKind::Compute, [_, _, _, _]) | (BlockKind::Macro { .. }, [_, _]) => {
            block.seams.iter().all(|seam| seam.start == seam.end)
        }
        _ => false,
    }
}

/// Returns true if the counter of a `for` is vacated before the loop and after it, and its update is in the
/// right place. In a reversed loop the update is the last instruction of the first seam, otherwise the first
/// one of the last seam.
fn counts(module: &Module, block: &Block, counting: &Counting, top: u32, (at, back): (u32, u32)) -> bool {
    let [head, tail] = block.seams.as_slice() else { return false };
    let (before, behind) = (u32::from(counting.reversed), u32::from(!counting.reversed));
    if head.end != top.saturating_add(1 + before) || at.checked_sub(behind) != Some(tail.start) {
        return false;
    }
    let vacates = |at: Option<u32>| at.is_some_and(|at| vacated(module, at) == Some(counting.counter));
    top == back && vacates(top.checked_sub(2)) && vacates(at.checked_add(2))
}

/// Returns the frame variable that an instruction vacates, or `None` for other instructions.
fn vacated(module: &Module, at: u32) -> Option<u32> {
    let instruction = module.code.get(at as usize).filter(|i| i.update == Update::Vacate)?;
    match instruction.operands.first()? {
        Operand::Place(Place { base: Base::Frame(variable), index: None, adjoint: false }) => Some(*variable),
        _ => None,
    }
}

/// Returns true if the second seam contains the inverses of the first seam's instructions in reverse order,
/// and all of these compute or vacate temporaries.
fn computes_and_uncomputes(module: &Module, block: &Block) -> bool {
    let [first, second] = block.seams.as_slice() else { return false };
    let of = |seam: &Seam| module.code.get(seam.start as usize..seam.end as usize).unwrap_or_default();
    let (computed, uncomputed) = (of(first), of(second));
    let procedure = module.procedures.partition_point(|procedure| procedure.exit < first.start) as u32;
    let target = |instruction: &Instruction| match instruction.operands.first() {
        Some(Operand::Place(Place { base: Base::Frame(variable), index: None, adjoint: false })) => {
            module.structure.temporary(procedure, *variable)
        }
        _ => None,
    };
    let undoes = |(done, undone): (&Instruction, &Instruction)| match (target(done), done.update) {
        (Some(_), Update::Vacate) => done == undone,
        (Some(temporary), Update::Add) => {
            let is = |instruction: &Instruction, update| *instruction == computing(temporary, update);
            is(done, Update::Add) && is(undone, Update::Sub)
        }
        _ => false,
    };
    computed.len() == uncomputed.len() && computed.iter().zip(uncomputed.iter().rev()).all(undoes)
}

/// Returns true if a block contains exactly one `assert`.
fn asserts_once(module: &Module, block: &Block) -> bool {
    let code = module.code.get(block.start() as usize..block.end() as usize).unwrap_or_default();
    code.iter().filter(|instruction| instruction.update == Update::Assert).count() == 1
}

fn is_opening(module: &Module, block: &Block, update: Update) -> bool {
    let length = block.end() - block.start();
    let is_target =
        |variable: u32, operand: &Operand| *operand == Operand::Place(Place::scalar(Base::Frame(variable)));
    if length == 1 {
        return vacated(module, block.start()).is_some();
    }
    length == 2
        && block.opened(&module.code).is_some_and(|(variable, instruction)| {
            let Some(instruction) = instruction else { return false };
            let vacate = if update == Update::Add { block.start() } else { block.start() + 1 };
            vacated(module, vacate) == Some(variable)
                && instruction.update == update
                && instruction.update.shape() == OperandShape::Accumulate
                && instruction.operands.first().is_some_and(|operand| is_target(variable, operand))
        })
}
