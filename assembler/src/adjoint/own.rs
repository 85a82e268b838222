//! The gradients that a program computes itself, as plain statements. The code between `grad.on` and `grad.off` becomes code
//! that computes adjoints, as in an adjoint program, and the other code stays. So the program can be
//! differentiated again, and a program of depth n becomes one of depth n - 1.
//!
//! ```text
//!         call   f(y, x)         call   f(y, x)
//!         grad.on
//!         add    y', 1           add    y_bar, 1
//!         uncall f(y, x)         call   f_bar(y, y_bar, x, x_bar)
//!         add    s, x'           add    s, x_bar
//! ```
//!
//! The mode must be known before the run: both branches of an `if` end in the same mode, the body of a loop ends in the mode
//! in which it begins. A statement that names an adjoint passes no adjoint on, as in the machine.
//!
//! An adjoint that gradient mode drops is pushed, so the statements can be undone, also where the machine needs a history.
//! A `compute` block whose first body switches the mode stays a block: its `uncompute` pops what the body has pushed.
//!
//! | module | purpose |
//! |---|---|
//! | `involved` | the procedures and macros that switch the mode or name adjoints |
//! | `mode` | the mode of the statements that are written |
//! | `names` | names of adjoints |
//! | `outside` | statements outside of gradient mode |
//! | `program` | the whole program |

pub(super) mod involved;
pub(super) mod mode;
mod names;
mod outside;
mod program;

use std::collections::HashSet;

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;

use self::involved::{deepest, switch};
use super::emitter::Emitter;
use super::stacks;
use crate::build;
use crate::depths::DEEPEST;
use crate::diagnostic::Diagnostic;
use crate::include::Loaded;
use crate::rewrite::at_place;
use crate::source::Span;
use crate::tree::{
    Body, Directive, Expression, ExpressionKind, InstructionNode, Limit, Name, Operands, Statement,
    StatementNode,
};
use crate::visit;

/// The depth of gradient mode that a program may have unless it states another limit.
const USUAL_LIMIT: u64 = 2;

/// Replaces the gradients that a program computes itself, if their depth exceeds `depth`: 1 for the machine, 0 for a program
/// that is differentiated from outside. The program becomes a single file without includes. Other programs don't change.
pub(crate) fn replace(loaded: &mut Loaded, depth: u32) {
    if !loaded.diagnostics.is_empty() {
        return;
    }
    let found = loaded.trees().map(|(_, tree)| deepest(tree)).max().unwrap_or(0);
    // The machine's gradient mode drops adjoints, so a procedure that keeps a history couldn't be undone in it.
    if found <= depth && !(found > 0 && loaded.has_history) {
        return;
    }
    // Functions of whole arrays that were not replaced are errors, which lowering reports.
    if loaded.trees().any(|(_, tree)| names_array_function(tree)) {
        return;
    }
    loaded.state_classes();
    let mut body = loaded.splice(&HashSet::new());
    if let Some(problem) = too_deep(&body, found) {
        loaded.diagnostics.push(problem);
        return;
    }
    for left in (0..found).rev() {
        // Outside of `compute` blocks, dropped adjoints would remain as garbage. The machine discards them.
        if left < depth && !involved::is_balanced(&body) {
            break;
        }
        match program::lowered(&mut loaded.sources, &body) {
            Ok(made) if count(&made) > MOST_STATEMENTS => {
                loaded.diagnostics.push(too_much(&body));
                return;
            }
            Ok(made) => body = made,
            Err(diagnostics) => {
                loaded.diagnostics.extend(diagnostics);
                return;
            }
        }
    }
    loaded.set_program(body);
}

/// Replaces the gradients of a program whose procedures keep a history, before its text is written: the text doesn't tell
/// any more that the pushed values are a history.
pub(crate) fn replace_beside_history(loaded: &mut Loaded) {
    if loaded.has_history {
        replace(loaded, 1);
    }
}

fn names_array_function(body: &Body) -> bool {
    let mut found = false;
    visit::statements(body, &mut |statement| {
        visit::expressions(statement, &mut |expression| {
            found |= matches!(expression.kind, ExpressionKind::InText(_));
        });
    });
    found
}

/// The most statements of a program after a depth was replaced. Each depth multiplies the statements by about 4.
const MOST_STATEMENTS: usize = 500_000;

fn count(body: &Body) -> usize {
    let mut count = 0;
    visit::statements(body, &mut |_| count += 1);
    count
}

fn too_much(body: &Body) -> Diagnostic {
    let place =
        body.iter().find(|node| switch(&node.statement).is_some()).map_or(Span::default(), |node| node.span);
    let message =
        format!("without gradient mode, the program would have more than {MOST_STATEMENTS} statements");
    let problem = Diagnostic::error(ProblemCode::TooMuch, message, place, "in this program");
    problem.help("use a smaller depth of gradient mode, or shorter procedures")
}

/// Returns the error for a depth that exceeds the program's limit.
fn too_deep(body: &Body, found: u32) -> Option<Diagnostic> {
    let limit = body.iter().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Limit { what: Limit::Grad, value }) => match &value.kind {
            ExpressionKind::Int { value, .. } => Some(*value),
            _ => None,
        },
        _ => None,
    });
    let limit = limit.unwrap_or(USUAL_LIMIT);
    if u64::from(found) <= limit {
        return None;
    }
    let place = place_of(body, found).unwrap_or_default();
    let message = format!("gradient mode has the depth {found} here, and the limit is {limit}");
    let problem = Diagnostic::error(ProblemCode::TooMuch, message, place, "too deep");
    Some(problem.help(format!(
        "write `.limit grad {found}`, up to {DEEPEST}; each depth doubles the cells and the code"
    )))
}

/// Returns the place of the first statement of a depth.
fn place_of(body: &[StatementNode], depth: u32) -> Option<Span> {
    body.iter().find_map(|node| {
        let is_here = switch(&node.statement).is_some_and(|it| it.depth == depth);
        let mut named = None;
        visit::expressions(&node.statement, &mut |expression| {
            if involved::depths(expression).deepest() == depth {
                named.get_or_insert(expression.span);
            }
        });
        let inner = || node.statement.bodies().into_iter().find_map(|body| place_of(body, depth));
        is_here.then_some(node.span).or(named).or_else(inner)
    })
}

impl Emitter {
    /// Returns true in gradient mode: everywhere in an adjoint program.
    pub(super) fn is_on(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.is_on)
    }

    /// Sets the mode of the next statements of a program that switches it.
    pub(super) fn set_on(&mut self, is_on: bool) {
        if let Some(own) = &mut self.own {
            own.is_on = is_on;
        }
    }

    /// Begins a block. Locals of a block that concerns gradient mode have adjoints.
    pub(super) fn enter_block(&mut self, body: &[StatementNode]) {
        self.names.enter();
        if let Some(own) = &mut self.own {
            let concerns = own.is_on || own.involved.involves(body);
            own.blocks.push(concerns);
        }
    }

    pub(super) fn leave_block(&mut self) {
        self.names.leave();
        if let Some(own) = &mut self.own {
            own.blocks.pop();
        }
    }

    /// Reports statements that end in another mode than they must.
    pub(super) fn check_mode(&mut self, must_be_on: bool, place: Span, what: &str) {
        if self.is_on() == must_be_on {
            return;
        }
        let word = |is_on| if is_on { "on" } else { "off" };
        self.refuse(
            place,
            &format!("gradient mode is {} at the end of {what}, and must be {}", word(!must_be_on), word(must_be_on)),
            "here the mode depends on the run",
            "switch the mode in the same block on and off, or in a `compute` block, whose `uncompute` switches it back",
        );
        self.set_on(must_be_on);
    }

    /// Reports a branch whose partner is executed in the other mode.
    pub(super) fn check_branch(&mut self, node: &StatementNode, partner: &Name) {
        let Some(own) = &mut self.own else { return };
        let is_on = own.is_on;
        own.branches.extend(node.label.iter().map(|label| (label.text.clone(), is_on)));
        if own.branches.get(&partner.text).is_some_and(|partner| *partner != is_on) {
            self.refuse(
                node.span,
                "a branch leads from gradient mode to code outside of it, or back",
                "here the mode depends on the run",
                "write `if`, `from` or `for` instead of labels, and switch the mode on and off in the same block",
            );
        }
    }

    /// Appends a statement of gradient mode if the machine treats it specially in a program that switches the mode.
    /// Returns false for other statements.
    pub(super) fn special(&mut self, node: &StatementNode, made: &mut Body) -> bool {
        if self.own.is_none() {
            return false;
        }
        if let Some(switch) = switch(&node.statement) {
            self.switched(node, switch, made);
            return true;
        }
        if let Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) =
            &node.statement
        {
            let Some(adjoint) = call.arguments.iter().find(|argument| involved::is_adjoint(argument)) else {
                return false;
            };
            self.refuse(
                adjoint.span,
                "an adjoint can't be passed to a procedure",
                "an adjoint",
                "copy the adjoint to a cell, and pass the cell",
            );
            return true;
        }
        let Statement::Instruction(InstructionNode { operands: Operands::Cells(cells), .. }) =
            &node.statement
        else {
            return false;
        };
        let is_outer = |cell: &&Expression| {
            let depths = involved::depths(cell);
            depths.deepest() > 1 && !depths.has_first()
        };
        if let Some(outer) = cells.iter().find(is_outer).filter(|_| self.is_on()) {
            self.refuse(
                outer.span,
                "an adjoint of a greater depth is named while gradient mode of depth 1 is on",
                "has no adjoint of depth 1",
                "name it outside of the smaller depth",
            );
        }
        let is_plain = cells.iter().any(involved::is_adjoint);
        if is_plain {
            self.stays(node, made);
        }
        is_plain
    }

    /// Switches the mode. A switch of a greater depth stays a statement.
    fn switched(&mut self, node: &StatementNode, switch: involved::Switch, made: &mut Body) {
        let word = if switch.is_on { "on" } else { "off" };
        if switch.depth > 1 {
            if self.is_on() {
                self.refuse(
                    node.span,
                    &format!(
                        "gradient mode of depth {} is switched {word} while depth 1 is on",
                        switch.depth
                    ),
                    "a greater depth differentiates the code that switches to a smaller one",
                    "switch to the greater depth outside of the smaller one",
                );
            }
            return made.push(self.own_statement(node));
        }
        if self.is_on() == switch.is_on {
            self.refuse(
                node.span,
                &format!("gradient mode is {word} already"),
                "switches again",
                "write one `grad.off` for each `grad.on`",
            );
        }
        if let Some(own) = &mut self.own {
            own.is_on = switch.is_on;
            own.is_unbalanced |= own.computes == 0;
        }
    }

    /// Counts the `compute` bodies that are open.
    pub(super) fn open_computes(&mut self, change: impl FnOnce(&mut usize)) {
        if let Some(own) = &mut self.own {
            change(&mut own.computes);
        }
    }

    /// Appends a statement that stays. A real on the stack gets an adjoint, which is 0.
    pub(super) fn stays(&self, node: &StatementNode, made: &mut Body) {
        let mut stays = vec![self.own_statement(node)];
        if let Some(zero) = self.own.as_ref().and_then(|own| own.zero.as_ref()) {
            stacks::pair(&self.names, &mut stays, zero);
        }
        made.append(&mut stays);
    }

    /// Gives statements without a place the place of the statement that they replace.
    pub(super) fn place(&self, made: &mut [StatementNode], place: Span) {
        if self.own.is_some() {
            at_place(made, place);
        }
    }

    /// Returns the place of the end of a definition that replaces another one. In a new text, it has no place.
    pub(super) fn end_like(&self, end: Span) -> Span {
        if self.own.is_some() { end } else { build::NOWHERE }
    }

    /// Returns true if a local of the current block has an adjoint.
    pub(super) fn has_adjoint(&self, class: Class) -> bool {
        let concerns =
            self.own.as_ref().is_none_or(|own| own.is_on || own.blocks.last().copied().unwrap_or(false));
        class == Class::Real && concerns
    }
}
