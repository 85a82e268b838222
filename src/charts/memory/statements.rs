//! The statements of a procedure as rows, in the order of the text: each with its text and its accesses. Statements with
//! bodies are frames around their rows. The module also finds the steps from which cancelling pairs are detected.

use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::slice;

use reviver_inspect::listing::spell;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Base, Instruction, Link, Operand, Place};
use reviver_isa::module::{Module, Procedure};
use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{Block, BlockKind, Counting, Side};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{Action, OperandShape, TaskBound};
use reviver_vm::Program;

use super::access::{Access, Accesses, Part};
use super::arguments::PassedGlobals;
use super::cells::{Cells, SharedGlobals};
use super::compound::{Kind, OpenCompound};
use super::identity::{Identities, Tag};
use super::limits::{Exceeded, MOST_DEPTH, Remaining};
use super::pairs::{Effect, Single, Step, Undoing};

/// A row of the picture: a statement, or a word that delimits bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    pub text: String,
    /// The number of frames around the row, without the frame of which the row is a word.
    pub depth: usize,
    pub accesses: Vec<Access>,
}

/// The statements of a procedure.
#[derive(Default)]
pub struct Statements {
    pub rows: Vec<StatementRow>,
    /// The rows of each statement with bodies, and the number of frames around it.
    pub frames: Vec<(RangeInclusive<usize>, usize)>,
    /// The rows in which a local variable or a counter exists. A variable may occur several times.
    pub lives: Vec<(u32, RangeInclusive<usize>)>,
    pub steps: Vec<Step>,
    /// For each cell, whether it is 0 at the beginning of the procedure.
    pub vacant: Vec<bool>,
}

/// Reads the statements of a procedure.
///
/// # Errors
/// The statements exceed a limit of the picture.
pub fn statements(
    program: &Program,
    procedure: &Procedure,
    analyses: (&Effects, Option<&PassedGlobals>),
    remaining: &mut Remaining,
) -> Result<Statements, Exceeded> {
    let module = program.module();
    let (effects, passed) = analyses;
    let shared = SharedGlobals::new((module.number_of(procedure), procedure), effects, passed);
    let blocks = &module.structure.blocks;
    let first = blocks.partition_point(|block| block.start() <= procedure.entry);
    let last = blocks.partition_point(|block| block.start() <= procedure.exit);
    let renderer = TextRenderer { module, procedure };
    let mut reader = StatementReader {
        program,
        module,
        renderer,
        remaining,
        accesses: Accesses { module, procedure, effects },
        cells: Cells::new(module, procedure, shared),
        identities: Identities::new(renderer),
        blocks: blocks.get(first..last).unwrap_or_default().iter().peekable(),
        seams: Vec::new(),
        open: Vec::new(),
        locals: Vec::new(),
        found: Statements::default(),
    };
    reader.all(procedure)?;
    reader.found.vacant = reader.cells.vacant;
    Ok(reader.found)
}

struct StatementReader<'p, 'r> {
    program: &'p Program,
    module: &'p Module,
    renderer: TextRenderer<'p>,
    remaining: &'r mut Remaining,
    accesses: Accesses<'p>,
    cells: Cells<'p>,
    identities: Identities<'p>,
    /// The blocks that begin later.
    blocks: Peekable<slice::Iter<'p, Block>>,
    /// The open blocks, each with the number of its next seam.
    seams: Vec<(&'p Block, usize)>,
    open: Vec<OpenCompound>,
    /// The open local variables and counters, each with the row in which it begins.
    locals: Vec<(u32, usize)>,
    found: Statements,
}

impl<'p> StatementReader<'p, '_> {
    fn all(&mut self, procedure: &Procedure) -> Result<(), Exceeded> {
        let mut at = procedure.entry + 1;
        loop {
            let seam = self.seams.last().and_then(|(block, next)| block.seams.get(*next)).copied();
            let until = seam.map_or(procedure.exit, |seam| seam.start);
            // A block that ends before the next seam is within the current body.
            if let Some(block) = self.blocks.next_if(|block| block.start() <= at && block.end() <= until) {
                self.seams.push((block, 0));
                at = self.seam(at)?;
            } else if seam.is_some_and(|seam| seam.start <= at) {
                at = self.seam(at)?;
            } else if at < procedure.exit {
                self.instruction(at)?;
                at += 1;
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the text of a block's word. If the text of the program is undone here, returns the inverse statement, which
    /// is executed.
    fn words(&self, block: &Block, seam: usize) -> String {
        if !block.undone {
            return self.renderer.words(block, seam);
        }
        let kind = match &block.kind {
            BlockKind::Macro { name, undo } => BlockKind::Macro { name: name.clone(), undo: !undo },
            kind => kind.clone(),
        };
        self.renderer.words(&Block { kind, undone: false, seams: block.seams.clone() }, seam)
    }

    /// Reads the next seam of the innermost block. Returns the index of the instruction after the seam.
    fn seam(&mut self, at: u32) -> Result<u32, Exceeded> {
        let Some((block, seam)) = self.seams.pop() else { return Ok(at) };
        let is_last = seam + 1 >= block.seams.len();
        if !is_last {
            self.seams.push((block, seam + 1));
        }
        match &block.kind {
            // The statement that uses the temporaries shows their expressions.
            BlockKind::Temporaries => {}
            BlockKind::Local | BlockKind::Delocal => self.local(block)?,
            BlockKind::Assert { condition } => {
                let accesses = self.accesses.read(condition.operands());
                let words = vec![self.identities.predicate(condition)];
                let own = self.identities.number(Tag::Assert, words);
                let text = self.words(block, seam);
                self.single(text, accesses, Undoing { own, inverse: Some(own) }, Pairing::Check)?;
            }
            _ if seam == 0 => self.head(block)?,
            _ if is_last => self.tail(block, seam)?,
            _ => {
                self.word(self.words(block, seam), Vec::new())?;
                self.found.steps.push(Step::Turn);
                self.open.last_mut().into_iter().for_each(OpenCompound::turn);
            }
        }
        Ok(block.seams.get(seam).map_or(at, |seam| seam.end).max(at))
    }

    /// Begins a statement with bodies.
    fn head(&mut self, block: &Block) -> Result<(), Exceeded> {
        let accesses = self.guards(block, Side::Entry);
        let kind = match &block.kind {
            BlockKind::If { entry, exit } => Kind::If(self.conditions(entry, exit)),
            BlockKind::Loop { entry, exit } => Kind::Loop(self.conditions(entry, exit)),
            BlockKind::For(Counting { counter, from, to, step, reversed }) => {
                let [from, to] = [from, to].map(|bound| self.identities.operand(bound));
                let (step, reversed, cell) = (*step, *reversed, self.cells.variable(*counter));
                self.identities.counters.push(*counter);
                self.locals.push((*counter, self.found.rows.len()));
                Kind::For { from, to, step, reversed, counter: cell }
            }
            _ => Kind::Sequence,
        };
        self.begin(self.words(block, 0), kind, accesses)
    }

    /// Returns the numbers of two conditions, or `None` if one of them is forgotten.
    fn conditions(&mut self, entry: &Predicate, exit: &Predicate) -> Option<[u64; 2]> {
        let forgets = entry.is_forgotten() || exit.is_forgotten();
        (!forgets).then(|| [entry, exit].map(|predicate| self.identities.predicate(predicate)))
    }

    /// Returns the accesses of the first or the last word of a statement: those of its condition, or the counter and
    /// the bounds.
    fn guards(&self, block: &Block, side: Side) -> Vec<Access> {
        match &block.kind {
            BlockKind::For(counting) => {
                let counter = Part::Declared { base: Base::Frame(counting.counter), adjoint: false };
                let bounds = self.accesses.read([&counting.from, &counting.to]);
                std::iter::once(Access { part: counter, element: None, changes: true })
                    .chain(bounds)
                    .collect()
            }
            _ => block.guard(side).map_or(Vec::new(), |(guard, _)| self.accesses.read(guard.operands())),
        }
    }

    fn begin(&mut self, text: String, kind: Kind, accesses: Vec<Access>) -> Result<(), Exceeded> {
        if self.open.len() >= MOST_DEPTH {
            return Err(Exceeded::Depth);
        }
        let effect = self.cells.effect(&accesses);
        self.open.push(OpenCompound::new(kind, self.found.rows.len(), self.found.steps.len(), effect));
        self.found.steps.push(Step::Turn);
        self.word(text, accesses)
    }

    /// Ends a statement with bodies. A macro and a `compute` have no word at their end.
    fn tail(&mut self, block: &Block, seam: usize) -> Result<(), Exceeded> {
        if !matches!(block.kind, BlockKind::Compute | BlockKind::Macro { .. }) {
            let accesses = self.guards(block, Side::Exit);
            let effect = self.cells.effect(&accesses);
            self.open.last_mut().into_iter().for_each(|open| open.access(&effect));
            self.word(self.words(block, seam), accesses)?;
        }
        if let BlockKind::For(counting) = &block.kind {
            self.identities.counters.pop();
            self.end_life(counting.counter);
        }
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let (step, last) = (open.step, self.found.rows.len().saturating_sub(1));
        let compound = open.close(last, self.found.steps.len(), &mut self.identities);
        self.found.frames.push((compound.rows.clone(), self.open.len()));
        if let Some(parent) = self.open.last_mut() {
            parent.add(compound.undoing, &compound.effect);
        }
        // The step at the beginning was a placeholder, because the effect wasn't known there.
        self.found.steps.get_mut(step).into_iter().for_each(|found| *found = Step::Open(compound.clone()));
        self.found.steps.push(Step::Close);
    }

    fn end_life(&mut self, variable: u32) {
        let last = self.found.rows.len().saturating_sub(1);
        let begun = self.locals.iter().rposition(|(open, _)| *open == variable);
        let first = begun.map_or(0, |n| self.locals.remove(n).1);
        self.found.lives.push((variable, first..=last));
    }

    fn local(&mut self, block: &Block) -> Result<(), Exceeded> {
        let Some((variable, value)) = block.opened(&self.module.code) else { return Ok(()) };
        let cell = Operand::Place(Place::scalar(Base::Frame(variable)));
        let mut accesses: Vec<Access> = self.accesses.read([&cell]);
        accesses.iter_mut().for_each(|access| access.changes = true);
        accesses.extend(self.accesses.read(value.iter().flat_map(|value| value.operands.iter().skip(1))));
        let [opens, closes] = self.identities.local(variable, value);
        let begins = block.kind == BlockKind::Local;
        let (own, inverse) = if begins { (opens, closes) } else { (closes, opens) };
        let number = self.cells.variable(variable);
        let text = self.words(block, 0);
        let clears = if begins { None } else { Some(number) };
        self.open.iter_mut().for_each(|open| open.scope(number, if begins { 1 } else { -1 }));
        if begins {
            self.locals.push((variable, self.found.rows.len()));
        }
        self.single(text, accesses, Undoing { own, inverse: Some(inverse) }, Pairing::Free { clears })?;
        if !begins {
            self.end_life(variable);
        }
        Ok(())
    }

    fn instruction(&mut self, at: u32) -> Result<(), Exceeded> {
        let Some(instruction) = self.module.code.get(at as usize) else { return Ok(()) };
        let accesses = self.accesses.of(instruction);
        let text = || match self.module.structure.label(at) {
            Some(label) => format!("{label}: {}", spell(self.program, at, false)),
            None => spell(self.program, at, false),
        };
        match instruction.update.action() {
            Action::Begin | Action::End => Ok(()),
            Action::Tasks(TaskBound::Opens) => self.begin("par".to_owned(), Kind::Sequence, Vec::new()),
            Action::Tasks(TaskBound::Closes) => {
                self.end();
                Ok(())
            }
            Action::Jump | Action::Join | Action::Switch(_) => {
                let own = self.identities.unique();
                self.single(text(), accesses, Undoing { own, inverse: None }, Pairing::Jump)
            }
            Action::Clear => self.vacate(instruction, text(), accesses),
            _ => {
                let undoing = self.undoing(instruction);
                let is_check =
                    matches!(instruction.update.shape(), OperandShape::Show | OperandShape::Condition);
                let pairing = if is_check { Pairing::Check } else { Pairing::Free { clears: None } };
                let expressed = self.renderer.with_expressions(instruction);
                self.single(expressed.unwrap_or_else(text), accesses, undoing, pairing)
            }
        }
    }

    fn undoing(&mut self, instruction: &Instruction) -> Undoing {
        let own = self.identities.instruction(instruction.update, instruction);
        let is_lossy = match &instruction.link {
            Link::Calls(calls) => {
                calls.iter().any(|call| self.accesses.effects.has_no_inverse(call.procedure))
            }
            _ => false,
        };
        let inverse = instruction.update.inverse();
        let has_inverse = instruction.update.is_reversible() && !is_lossy;
        let inverse = has_inverse.then(|| self.identities.instruction(inverse, instruction));
        Undoing { own, inverse }
    }

    /// Reads a `vacate`. Those of all elements of an array, one after the other, are one row.
    fn vacate(
        &mut self,
        instruction: &Instruction,
        text: String,
        accesses: Vec<Access>,
    ) -> Result<(), Exceeded> {
        let undoing = self.undoing(instruction);
        let Some(Access { part: part @ Part::Declared { base, .. }, .. }) = accesses.first().copied() else {
            return Ok(());
        };
        if self.cells.is_scalar(part) {
            let clears = match self.cells.effect(&accesses).changes[..] {
                [cell, ..] => Some(cell),
                [] => None,
            };
            return self.single(text, accesses, undoing, Pairing::Vacated { clears });
        }
        let joined = format!("vacate {}", self.renderer.name(base));
        let is_element = accesses.first().is_some_and(|access| access.element.is_some());
        let last = self.found.rows.last_mut().filter(|row| {
            let is_same = |access: &Access| access.part == part && access.element.is_some();
            row.text.starts_with("vacate ") && row.accesses.first().is_some_and(is_same)
        });
        match (last, self.found.steps.last()) {
            (Some(row), Some(Step::Single(Single { row: n, .. }))) if is_element => {
                row.text = joined;
                let n = *n;
                self.remaining.marks(accesses.len())?;
                self.step(n, &accesses, undoing, Pairing::Vacated { clears: None });
                Ok(())
            }
            _ => self.single(text, accesses, undoing, Pairing::Vacated { clears: None }),
        }
    }

    /// Adds a statement without bodies.
    fn single(
        &mut self,
        text: String,
        accesses: Vec<Access>,
        undoing: Undoing,
        pairing: Pairing,
    ) -> Result<(), Exceeded> {
        let row = self.found.rows.len();
        self.step(row, &accesses, undoing, pairing);
        self.row(text, accesses, self.open.len())
    }

    fn step(&mut self, row: usize, accesses: &[Access], undoing: Undoing, pairing: Pairing) {
        let mut effect: Effect = self.cells.effect(accesses);
        if let Pairing::Free { clears } | Pairing::Vacated { clears } = pairing {
            effect.clears.extend(clears);
        }
        if let Some(parent) = self.open.last_mut() {
            parent.add(undoing, &effect);
        }
        let (pairs, jumps) = (matches!(pairing, Pairing::Free { .. }), matches!(pairing, Pairing::Jump));
        self.found.steps.push(Step::Single(Single { row, undoing, effect, pairs, jumps }));
    }

    /// Adds the row of a word that delimits a body of the innermost open statement.
    fn word(&mut self, text: String, accesses: Vec<Access>) -> Result<(), Exceeded> {
        self.row(text, accesses, self.open.len().saturating_sub(1))
    }

    fn row(&mut self, text: String, accesses: Vec<Access>, depth: usize) -> Result<(), Exceeded> {
        self.remaining.row(accesses.len())?;
        self.found.rows.push(StatementRow { text, depth, accesses });
        Ok(())
    }
}

/// The way in which a statement takes part in pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pairing {
    /// The statement forms pairs. Afterwards the cell `clears` is 0.
    Free { clears: Option<u32> },
    /// The statement checks that a cell is 0, and discards a rest.
    Vacated { clears: Option<u32> },
    /// The statement changes no cell.
    Check,
    /// The statement may jump, or switches gradient mode.
    Jump,
}
