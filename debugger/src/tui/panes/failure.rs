//! Why the machine can't make a step: what was violated, and with which values. Where two ways meet, both
//! of them: the one that was taken, and the one that the condition expects.

use reviver_isa::instruction::{Instruction, Link, Operand};
use reviver_isa::text::Speller;
use reviver_isa::update::Update;
use reviver_vm::Cause;
use reviver_vm::explain::Explanation;

use super::Context;
use super::sheet::{OneSheet, Sheet};
use crate::listing::{label, spell};
use crate::outcome::Reason;
use crate::session::Session;
use reviver_vm::stops::Node;

pub struct Failure;

impl OneSheet for Failure {
    fn title(&self, context: &Context<'_>) -> String {
        match explanation(context) {
            Some(trap) => format!("failure: {}", trap.instruction),
            None => "failure".to_owned(),
        }
    }

    fn sheet(&self, context: &Context<'_>) -> Sheet {
        sheet(context)
    }
}

fn explanation<'a>(context: &Context<'a>) -> Option<&'a Explanation> {
    match context.session.reason() {
        Some(Reason::Trap(explanation)) => Some(explanation),
        _ => None,
    }
}

fn sheet(context: &Context<'_>) -> Sheet {
    let (theme, session) = (context.theme, context.session);
    let mut sheet = Sheet::new(context);
    let Some(trap) = explanation(context) else {
        sheet.field("", "Nothing has failed.", theme.dim);
        return sheet;
    };
    match Junction::of(session, trap) {
        Some(junction) => {
            sheet.field("condition", &junction.condition(session), theme.changed);
            sheet.field("came", &junction.way(session, junction.came_by_jump), theme.text);
            sheet.field("expected", &junction.way(session, !junction.came_by_jump), theme.good);
            sheet.field("trap", &trap.message, theme.trap);
        }
        None => {
            sheet.field("trap", &trap.message, theme.trap);
            sheet.field("at", &place(session, trap.at), theme.text);
            for (n, note) in trap.notes.iter().enumerate() {
                sheet.field(if n == 0 { "because" } else { "" }, note, theme.changed);
            }
        }
    }
    sheet
}

/// Where two ways meet, in the direction in which the machine was to go.
struct Junction {
    /// The half of a branch pair that tells the ways apart.
    join: u32,
    /// The other half: one of the ways begins there.
    partner: u32,
    /// The instruction beside the join: there the other one begins.
    neighbour: Option<u32>,
    came_by_jump: bool,
    /// Whether the neighbour stands below.
    backward: bool,
}

impl Junction {
    /// The junction at which the machine came the wrong way; none if something else failed.
    fn of(session: &Session, trap: &Explanation) -> Option<Junction> {
        let is_met = matches!(trap.cause, Cause::UnexpectedJump { .. } | Cause::UnexpectedFall);
        if is_met { Junction::new(session, trap.at) } else { None }
    }

    fn new(session: &Session, at: u32) -> Option<Junction> {
        let Link::Partner(partner) = instruction(session, at)?.link else { return None };
        let backward = Node::of(session.state(), session.facing()).backward;
        let update = instruction(session, at)?.update;
        let acts_as = if backward { update.inverse() } else { update };
        let came_by_jump = acts_as == Update::Br;
        let (join, partner) = if came_by_jump { (partner, at) } else { (at, partner) };
        let neighbour = if backward { join.checked_add(1) } else { join.checked_sub(1) };
        Some(Junction { join, partner, neighbour, came_by_jump, backward })
    }

    /// The condition, whether it holds, and the values that say so.
    fn condition(&self, session: &Session) -> String {
        let text = spell(session.program(), self.join, false);
        let condition = text.split_once(", ").map_or("", |(_, condition)| condition);
        // Taken and not expected: the condition doesn't hold; and the other way round.
        let holds = if self.came_by_jump { "is false" } else { "is true" };
        let values = values(session, self.join);
        let values = if values.is_empty() { values } else { format!(": {values}") };
        format!("`{condition}` {holds}{values} ({})", line_name(session, self.join))
    }

    /// One of the two ways.
    fn way(&self, session: &Session, is_jump: bool) -> String {
        match self.neighbour.filter(|_| !is_jump) {
            Some(neighbour) => {
                let side = if self.backward { "below" } else { "above" };
                format!("from {side}: {}", place(session, neighbour))
            }
            None => format!("from {}", place(session, self.partner)),
        }
    }
}

fn instruction(session: &Session, at: u32) -> Option<&Instruction> {
    session.program().module().code.get(at as usize)
}

/// An instruction with its label and its line.
fn place(session: &Session, at: u32) -> String {
    let number = session.program().procedure_of(at);
    let procedure = session.program().module().procedures.get(number).map_or("", |p| p.name.as_str());
    match instruction(session, at).map(|instruction| instruction.update) {
        Some(Update::Enter) => return format!("the beginning of `{procedure}`"),
        Some(Update::Exit) => return format!("the end of `{procedure}`"),
        _ => {}
    }
    let label = label(session.program().module(), at).map_or(String::new(), |label| format!("{label}: "));
    format!("`{label}{}` ({})", spell(session.program(), at, false), line_name(session, at))
}

fn line_name(session: &Session, at: u32) -> String {
    session.listing().name(session.listing().line(at))
}

/// The values of the cells that an instruction names.
fn values(session: &Session, at: u32) -> String {
    let module = session.program().module();
    let Some(procedure) = module.procedures.get(session.program().procedure_of(at)) else {
        return String::new();
    };
    let operands = instruction(session, at).map_or(&[][..], |instruction| &instruction.operands);
    let value = |operand: &Operand| {
        let cell = session.memory().operand(session.state(), operand)?;
        let name = Speller { module, procedure }.operand(operand);
        Some(format!("{name} = {}", session.memory().text(session.state(), cell)))
    };
    operands.iter().filter_map(value).collect::<Vec<_>>().join(", ")
}
