//! The instruction card: the effect of an instruction, its inverse, and its effect on adjoints, with the values
//! before and after the step. The formulas are from the instruction table. To get the values after the step, the
//! step is executed on a temporary state.

use reviver_isa::Function;
use reviver_isa::card::{Card, CardLine, CardTerm, Held, TermRole, describe, describe_row};
use reviver_isa::instruction::{Base, Class, Instruction, Link, Operand, Place};
use reviver_isa::names::adjoint_name;
use reviver_isa::structure::Side;
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{OperandShape, Update};
use reviver_vm::explain::Valued;
use reviver_vm::values::element_name;
use reviver_vm::{State, Travel};

use super::lost;
use super::stack::{ArgumentView, arguments, call_text};
use crate::access::jumped;
use crate::listing::{self, spell};
use crate::memory::{Cell, MODE_BIT, Memory};
use crate::session::Session;
use reviver_vm::stops::Node;

/// Data of a step, from which its card is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardView {
    /// Index of the instruction in the module's code.
    pub at: u32,
    /// The source line of the instruction.
    pub line: listing::Line,
    /// The instruction as executed forward in time: inverted if the machine runs inverted.
    pub instruction: String,
    /// The documentation of the instruction in the table of instructions.
    pub doc: String,
    /// True at the end of the program, where no instruction comes next. The card then describes the previous step.
    pub is_end: bool,
    /// True if the step loses bits, so that undoing it needs a history.
    pub loses_bits: bool,
    /// True if the machine can execute the step. Then the values before and after the step are known.
    is_known: bool,
    /// The session's direction of travel.
    facing: Travel,
    mode: bool,
    does: Described,
    undone: Described,
    /// The outcome of the instruction's condition. `None` if the instruction has no condition, or if the step can't
    /// be executed.
    holds: Option<bool>,
    /// The call that the step begins, with its arguments.
    call: Option<Box<StartedCall>>,
    /// For a call of a procedure with a derivative rule: the effect of the rule, as a text for going forward and a
    /// text for going backward.
    rule: Option<[String; 2]>,
}

/// Data of an instruction, from which its formulas and values are rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Described {
    update: Update,
    function: Function,
    terms: Vec<CardTerm>,
    /// The condition of the source text, which replaces the formula. `None` unless the instruction names a cell
    /// that lowering introduced.
    tested: Option<Box<TestedCondition>>,
}

/// A procedure that is about to be called, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StartedCall {
    procedure: String,
    arguments: Vec<ArgumentView>,
}

impl StartedCall {
    /// Returns the innermost call of a state, with the values of its arguments.
    fn of(memory: &Memory, state: &State) -> Option<StartedCall> {
        let open = memory.frame(state, state.calls.len())?;
        let procedure = memory.program().module().procedures.get(open.procedure)?.name.clone();
        Some(StartedCall { procedure, arguments: arguments(memory, state, open) })
    }
}

/// A compound condition of the source text. An instruction tests the whole condition or a part of it. The text is
/// that of the source, or its negation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestedCondition {
    names: String,
    /// The condition with values instead of the names of cells.
    numbers: String,
}

impl TestedCondition {
    fn line(&self, update: Update) -> CardLine {
        // The formula of the instruction ends with the name of the cell that contains the condition. This name is
        // replaced by the condition.
        let words = describe_row(update).does.equation.formula;
        match words.strip_suffix('f').filter(|_| update.shape() == OperandShape::Branch) {
            Some(words) => {
                CardLine { formula: format!("{words}{}", self.names), numbers: Some(self.numbers.clone()) }
            }
            None => remark(&format!("part of the test of {}", self.names)),
        }
    }
}

/// The subject of a line of the card, which determines the line's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The effect of the instruction on values.
    Does,
    /// The instruction that undoes this one.
    Undone,
    /// The remark that the step has no inverse, because the step loses information.
    Lost,
    /// The effect of the step on adjoints.
    Adjoint,
    /// The data that the history keeps for this step.
    Kept,
    /// Definitions of names that occur in the other lines.
    Where,
}

impl Topic {
    /// Returns the label of the line, for the card's first column.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Does => "does",
            Topic::Undone | Topic::Lost => "undone",
            Topic::Adjoint => "adjoint",
            Topic::Kept => "kept",
            Topic::Where => "where",
        }
    }
}

/// Builds the card of the next step or, at the end of the program, that of the previous step. Returns `None` if the
/// program has no steps.
pub fn card(session: &mut Session) -> Option<CardView> {
    let (travel, at) = [Travel::Forward, Travel::Backward]
        .into_iter()
        .find_map(|travel| session.instruction(travel).map(|at| (travel, at)))?;
    let instruction = session.program().module().code.get(at as usize)?.clone();
    let step = NeighbourStep::new(session, travel, &instruction);
    let inverted = session.state().inverted;
    let does = step.described(session, at, &instruction);
    let undone = match step.partner(session, &instruction) {
        Some((at, partner)) => step.described(session, at, &partner),
        None => does.clone(),
    };
    // If the last step took a branch, the instruction before the current state is the partner of the branch.
    let (does, undone) = if travel == Travel::Forward { (does, undone) } else { (undone, does) };
    Some(CardView {
        at,
        line: session.listing().line(at),
        instruction: spell(session.program(), at, inverted),
        doc: step.update(&instruction).doc().split_whitespace().collect::<Vec<_>>().join(" "),
        is_end: travel == Travel::Backward,
        loses_bits: step.loses_bits,
        is_known: step.is_made,
        facing: session.facing(),
        mode: session.state().mode(),
        holds: step.holds(&instruction),
        call: step.call.clone().filter(|_| travel == Travel::Forward).map(Box::new),
        rule: step.rule(session, &instruction),
        does,
        undone,
    })
}

/// The step from the current state to an adjacent one, with data of the adjacent state.
struct NeighbourStep {
    travel: Travel,
    inverted: bool,
    /// True if the step can be executed, so that the adjacent state is known.
    is_made: bool,
    jumped: bool,
    loses_bits: bool,
    /// Values that the cells named by the instruction have in the adjacent state.
    beyond: Vec<(Cell, String)>,
    /// The call that is open in the adjacent state but not in the current one.
    call: Option<StartedCall>,
}

/// Data of the adjacent state, which the session has computed by executing the step on a temporary state.
#[derive(Default)]
struct NeighbourState {
    position: u32,
    loses_bits: bool,
    cells: Vec<(Cell, String)>,
    call: Option<StartedCall>,
}

impl NeighbourStep {
    fn new(session: &mut Session, travel: Travel, instruction: &Instruction) -> NeighbourStep {
        let cells = operand_cells(session, instruction);
        let (position, inverted) = (session.state().position, session.state().inverted);
        let partner = partner(session, instruction).map(|(_, partner)| operand_cells(session, &partner));
        let cells: Vec<Cell> = cells.into_iter().chain(partner.into_iter().flatten()).collect();
        let (memory, depth) = (session.memory().clone(), session.state().calls.len());
        let look = |state: &State, loses_bits: bool| {
            let held = |&cell: &Cell| cell.value(state).map(|value| (cell, memory.program().text(value)));
            let begins = state.calls.len() > depth;
            NeighbourState {
                position: state.position,
                loses_bits,
                cells: cells.iter().filter_map(held).collect(),
                call: if begins { StartedCall::of(&memory, state) } else { None },
            }
        };
        let seen = session.peek(travel, look);
        let is_made = seen.is_some();
        let seen = seen.unwrap_or(NeighbourState { position, ..NeighbourState::default() });
        let node = Node { position, backward: inverted != (travel == Travel::Backward) };
        let jumped = is_made && jumped(session.memory(), node, seen.position);
        let NeighbourState { loses_bits, cells: beyond, call, .. } = seen;
        NeighbourStep { travel, inverted, is_made, jumped, loses_bits, beyond, call }
    }

    /// Returns the update of an instruction as executed forward in time: inverted if the machine runs inverted.
    fn update(&self, instruction: &Instruction) -> Update {
        if self.inverted { instruction.update.inverse() } else { instruction.update }
    }

    /// Returns the partner of an instruction, if the step takes the branch.
    fn partner(&self, session: &Session, instruction: &Instruction) -> Option<(u32, Instruction)> {
        partner(session, instruction).filter(|_| self.jumped)
    }

    fn described(&self, session: &Session, at: u32, instruction: &Instruction) -> Described {
        let carries = session.state().mode() && !shares_an_adjoint(session, instruction);
        let terms = instruction.operands.iter().map(|o| self.term(session, at, o, carries)).collect();
        let tested = tested(session, at, instruction).map(Box::new);
        Described { update: self.update(instruction), function: instruction.function, terms, tested }
    }

    fn term(&self, session: &Session, at: u32, operand: &Operand, carries: bool) -> CardTerm {
        let module = session.program().module();
        let Some(procedure) = module.procedures.get(session.program().procedure_of(at)) else {
            return CardTerm::constant("?", Class::Int);
        };
        let renderer = TextRenderer { module, procedure };
        let name = element(session, renderer, operand).unwrap_or_else(|| renderer.name_in_formulas(operand));
        let term = match operand {
            Operand::Int(_) => return CardTerm::constant(name, Class::Int),
            Operand::Real(_) => return CardTerm::constant(name, Class::Real),
            Operand::Mode => CardTerm { role: TermRole::Constant, ..CardTerm::cell(name, Class::Int) },
            Operand::Place(place) => {
                let class = module.declaration(procedure, place.base).map_or(Class::Int, |d| d.class);
                let role = if place.adjoint { TermRole::Adjoint } else { TermRole::Cell };
                CardTerm { role, ..CardTerm::cell(name, class) }
            }
        };
        let Some(cell) = cell_of(session, operand) else { return term };
        let adjoint = cell.adjoint().filter(|_| carries);
        let here = |cell: Cell| cell.value(session.state()).map(|value| session.program().text(value));
        let here = Held { value: here(cell), adjoint: adjoint.and_then(here) };
        let beyond =
            Held { value: self.beyond(cell), adjoint: adjoint.and_then(|adjoint| self.beyond(adjoint)) };
        let (before, after) = if self.travel == Travel::Forward { (here, beyond) } else { (beyond, here) };
        CardTerm { before, after, ..term }
    }

    fn beyond(&self, cell: Cell) -> Option<String> {
        self.beyond.iter().find(|(other, _)| *other == cell).map(|(_, text)| text.clone())
    }

    /// Returns the outcome of the instruction's condition. Returns `None` if the instruction has no condition, or
    /// if the step can't be executed.
    fn holds(&self, instruction: &Instruction) -> Option<bool> {
        match instruction.update.shape() {
            OperandShape::Condition => self.is_made.then_some(true),
            OperandShape::Branch => self.is_made.then_some(self.jumped),
            _ => None,
        }
    }

    /// Describes the effect of a derivative rule that replaces the body of a called procedure: a text for going
    /// forward, and a text for going backward. Returns `None` if the instruction calls no procedure with a rule.
    fn rule(&self, session: &Session, instruction: &Instruction) -> Option<[String; 2]> {
        let Link::Calls(calls) = &instruction.link else { return None };
        let procedures = &session.program().module().procedures;
        let callee = procedures.get(calls.first()?.procedure as usize)?;
        let rule = &procedures.get(callee.rule? as usize)?.name;
        let (body, off) = (&callee.name, "with gradient mode off");
        let forward = format!("uncalls the rule `{rule}`, then calls `{body}`, {off}");
        let backward = format!("uncalls `{body}`, then calls the rule `{rule}`, {off}");
        let is_call = self.update(instruction) == Update::Call;
        Some(if is_call { [forward, backward] } else { [backward, forward] })
    }
}

fn partner(session: &Session, instruction: &Instruction) -> Option<(u32, Instruction)> {
    let Link::Partner(at) = instruction.link else { return None };
    session.program().module().code.get(at as usize).map(|partner| (at, partner.clone()))
}

/// Returns the name of the element that an indexed operand refers to: `A[3]` for `A[i]`. Returns `None` for
/// an operand without an index, or with an index out of bounds.
fn element(session: &Session, renderer: TextRenderer<'_>, operand: &Operand) -> Option<String> {
    let Operand::Place(place) = operand else { return None };
    place.index.as_ref()?;
    let cell = session.memory().operand(session.state(), operand)?;
    let value = Cell { adjoint: false, ..cell };
    let storage = session.memory().storage(session.state(), session.state().calls.len(), place.base)?;
    let number = usize::try_from(storage.number(value)?).ok()?;
    let element = element_name(renderer.name(place.base), storage.shape(), number);
    Some(if place.adjoint { adjoint_name(&element) } else { element })
}

/// Returns the cell that an operand reads or writes.
fn cell_of(session: &Session, operand: &Operand) -> Option<Cell> {
    match operand {
        Operand::Mode => Some(MODE_BIT),
        _ => session.memory().operand(session.state(), operand),
    }
}

/// Returns the compound condition of the source text that an instruction tests. Returns `None` unless the
/// instruction names a cell that lowering introduced.
fn tested(session: &Session, at: u32, instruction: &Instruction) -> Option<TestedCondition> {
    let program = session.program();
    let (module, number) = (program.module(), program.procedure_of(at));
    let is_own = |operand: &Operand| match operand {
        Operand::Place(Place { base: Base::Frame(variable), .. }) => {
            module.structure.source_name(number as u32, *variable).is_none()
        }
        _ => false,
    };
    if !instruction.operands.iter().any(is_own) {
        return None;
    }
    let (block, seam) = program.seam(at)?;
    let (predicate, _) = block.guard(if seam == 0 { Side::Entry } else { Side::Exit })?;
    let renderer = TextRenderer { module, procedure: module.procedures.get(number)? };
    let valued = Valued { program, state: session.state(), at };
    let held = |operand: &Operand| match operand {
        Operand::Place(_) => {
            valued.value(operand).map_or_else(|| "?".to_owned(), |value| program.text(value))
        }
        constant => renderer.operand(constant),
    };
    let is_negated =
        instruction.update.shape() == OperandShape::Branch && instruction.function == Function::Eq;
    let oriented = |text: String| if is_negated { format!("not ({text})") } else { text };
    let names = oriented(renderer.predicate(predicate));
    Some(TestedCondition { names, numbers: oriented(predicate.text(held)) })
}

/// Returns the cells to which the operands refer, and their adjoints.
fn operand_cells(session: &Session, instruction: &Instruction) -> Vec<Cell> {
    let cells = instruction.operands.iter().filter_map(|operand| cell_of(session, operand));
    cells.flat_map(|cell| [Some(cell), cell.adjoint()]).flatten().collect()
}

/// Returns true if two sources with different names are the same cell. The adjoint of that cell then receives two
/// shares, and neither of the card's two lines could show the new value of the adjoint.
fn shares_an_adjoint(session: &Session, instruction: &Instruction) -> bool {
    let sources = instruction.operands.get(instruction.update.shape().targets()..).unwrap_or_default();
    let mut places = sources.iter().filter(|operand| matches!(operand, Operand::Place(_)));
    match (places.next(), places.next()) {
        (Some(a), Some(b)) => a != b && cell_of(session, a) == cell_of(session, b),
        _ => false,
    }
}

impl CardView {
    /// Builds the texts of the card. `number` formats a number, for example by shortening it.
    fn describe(&self, number: &dyn Fn(&str) -> String) -> Card {
        let card = |described: &Described| {
            let terms = described.terms.iter().cloned().map(|term| term.map_numbers(number));
            let mut card = describe(described.update, described.function, &terms.collect::<Vec<_>>());
            if let Some(tested) = &described.tested {
                card.does.equation = tested.line(described.update);
                if let Some(undone) = &mut card.undone {
                    undone.equation = tested.line(described.update.inverse());
                }
            }
            card
        };
        let (does, behind) = (card(&self.does), card(&self.undone));
        // If the step takes a branch, the partner of the branch undoes the step.
        let undone = if self.does == self.undone { does.undone } else { behind.undone };
        let mut card = Card { does: does.does, undone, parts: does.parts };
        card.does.equation.numbers = self.call(number).or(card.does.equation.numbers);
        for (card_direction, rule) in
            std::iter::once(&mut card.does).chain(&mut card.undone).zip(self.rule.iter().flatten())
        {
            card_direction.adjoint = vec![remark(rule)];
        }
        for card_direction in std::iter::once(&mut card.does).chain(&mut card.undone) {
            if let (Some(numbers), Some(holds)) = (&mut card_direction.equation.numbers, self.holds) {
                *numbers += if holds { ", which is true" } else { ", which is false" };
            }
        }
        card
    }

    /// Returns true if gradient mode is on, so that the step propagates adjoints.
    pub fn carries_adjoints(&self) -> bool {
        self.mode
    }

    /// Renders the call that the step begins, with its arguments: `tower(disks=1, source=2)`. Returns `None`
    /// if the step begins no call.
    pub fn call(&self, number: &dyn Fn(&str) -> String) -> Option<String> {
        self.call.as_ref().map(|call| call_text(&call.procedure, &call.arguments, number))
    }

    /// Returns the lines of the card. The first line is the effect of the step in the session's direction of
    /// travel. If gradient mode is on, the adjoint lines for this direction follow, and then the effect in the
    /// other direction. If gradient mode is off, the two effects come first, and then the adjoint lines for the
    /// forward direction. `number` formats a number, for example by shortening it.
    pub fn lines(&self, number: &dyn Fn(&str) -> String) -> Vec<(Topic, CardLine)> {
        let Card { does, undone, parts } = self.describe(number);
        let goes_back = self.is_end || self.facing == Travel::Backward;
        let (undone, behind) = match undone {
            Some(card_direction) => ((Topic::Undone, card_direction.equation), card_direction.adjoint),
            None => {
                let terms = self.does.terms.iter().cloned().map(|term| term.map_numbers(number));
                let terms: Vec<CardTerm> = terms.collect();
                let back = lost::carried_back(&does.adjoint, &terms);
                ((Topic::Lost, lost::undone(&terms, self.is_known)), back)
            }
        };
        let rule = if self.mode && goes_back { behind } else { does.adjoint };
        let does = (Topic::Does, does.equation);
        let (first, second) = if goes_back { (undone, does) } else { (does, undone) };
        let rule = rule.into_iter().map(|line| (Topic::Adjoint, line));
        let mut lines = vec![first];
        lines.extend(rule);
        lines.insert(if self.mode { lines.len() } else { 1 }, second);
        if self.loses_bits && self.does.update.is_reversible() {
            lines.push((
                Topic::Kept,
                remark("the bits that this step loses, so that running backward is exact"),
            ));
        }
        lines.extend(parts.into_iter().map(|line| (Topic::Where, line)));
        lines
    }
}

fn remark(text: &str) -> CardLine {
    CardLine { formula: text.to_owned(), numbers: None }
}
