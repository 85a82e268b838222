//! Translates structured nodes to statements of a language whose jumps leave at most the innermost loop. A jump to a
//! place farther away stores its target in a variable, and control skips the code up to the target. A resumed lane
//! skips the code before its loop head in the same way. This module is independent of the content of blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::shader::KernelKind;
use crate::structure::StructureNode;

/// The number of a jump target. While control skips code up to a jump target, the variable `lead` holds the target's
/// label. If `lead` is 0, control flow is normal.
pub(crate) type StatementLabel = u32;

/// A statement of the target language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShaderStatement {
    /// Executes the content of a block. A block without successors ends the lane.
    Block(u32),
    /// Assigns the arguments of a jump to the target's parameters.
    Pass {
        from: u32,
        arm: usize,
    },
    If {
        test: FlowCondition,
        yes: Vec<ShaderStatement>,
        no: Vec<ShaderStatement>,
    },
    /// A loop without a condition. It ends with a `Break`.
    Loop(Vec<ShaderStatement>),
    /// Begins an iteration of the loop with this head. At this statement, a lane may be suspended, or leave the loop
    /// for good.
    Iteration {
        head: u32,
        label: StatementLabel,
    },
    /// Sets the variable `lead` to a label: from this statement on, control skips code up to the label.
    Lead(StatementLabel),
    Break,
    Continue,
}

/// The condition of an `If`. Control flow is *normal* while the variable `lead` is 0. Otherwise control is *on its way*
/// to the label in `lead`: it skips code up to the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlowCondition {
    /// True if the condition at the end of this block holds.
    Condition(u32),
    /// True if control flow is normal.
    Flows,
    /// True if control flow is normal, or control is on its way to one of these labels.
    Enters(RangeInclusive<StatementLabel>),
    /// True if control flow is normal and the condition of block `of` holds. Also true if control is on its way to
    /// one of the labels `entered`.
    Branches { of: u32, entered: Option<RangeInclusive<StatementLabel>> },
    /// True if control is on its way to this label.
    LeadsTo(StatementLabel),
    /// True if control is on its way to any label except this one.
    LeadsPast(StatementLabel),
}

/// Statements of a whole program, with the loop heads at which lanes may resume.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShaderStatements {
    pub all: Vec<ShaderStatement>,
    pub heads: BTreeMap<StatementLabel, u32>,
    /// True if control may reach the end of the statements. In the non-resumable kernel, perhaps only a lane that has
    /// left a loop for good reaches the end.
    pub is_open: bool,
}

impl ShaderStatements {
    pub fn of(nodes: &[StructureNode], pass: KernelKind) -> ShaderStatements {
        let mut lowering = StructureLowering {
            pass,
            heads: BTreeMap::new(),
            places: BTreeMap::new(),
            around_loops: BTreeMap::new(),
            around_places: BTreeMap::new(),
        };
        lowering.number_heads(nodes);
        lowering.number_places(nodes, None);
        let heads: BTreeMap<StatementLabel, u32> =
            lowering.heads.iter().map(|(&head, &label)| (label, head)).collect();
        let entering = match pass {
            KernelKind::NonResumable => BTreeSet::new(),
            KernelKind::Resumable => heads.keys().copied().collect(),
        };
        let (all, ended) = lowering.sequence(nodes, StatementSequence::led(entering), Around::default());
        ShaderStatements { all, heads, is_open: ended.is_open }
    }
}

/// The surroundings of a sequence of nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    /// The block that follows the end of the sequence; jumps to it need no statement.
    falls: Option<u32>,
    /// The head of the innermost loop around the sequence, and the block that follows the end of that loop.
    inside: Option<(u32, Option<u32>)>,
}

/// The state of control flow at the end of a sequence.
#[derive(Clone, Debug, Default)]
struct Ended {
    /// The labels that control may be on its way to at the end of the sequence, unless control flow is normal.
    led: BTreeSet<StatementLabel>,
    /// The labels that control may be on its way to after a break of the innermost loop.
    left: BTreeSet<StatementLabel>,
    /// True if some jump leaves the innermost loop.
    breaks: bool,
    /// True if control may reach the end of the sequence.
    is_open: bool,
}

#[derive(Debug)]
struct StructureLowering {
    pass: KernelKind,
    /// The label of each loop head. The labels of all loops in a node are consecutive.
    heads: BTreeMap<u32, StatementLabel>,
    /// The label of each block that is a jump target.
    places: BTreeMap<u32, StatementLabel>,
    /// For each loop, given by its head, the head of the loop around it; `None` for an outermost loop.
    around_loops: BTreeMap<u32, Option<u32>>,
    around_places: BTreeMap<u32, Option<u32>>,
}

impl StructureLowering {
    fn number_heads(&mut self, nodes: &[StructureNode]) {
        for node in nodes {
            match node {
                StructureNode::Loop { head, body } => {
                    self.heads.insert(*head, self.heads.len() as StatementLabel + 1);
                    self.number_heads(body);
                }
                StructureNode::Choice { arms, .. } => arms.iter().for_each(|arm| self.number_heads(arm)),
                StructureNode::Block(_) | StructureNode::Jump { .. } | StructureNode::Place(_) => {}
            }
        }
    }

    /// Assigns labels to the blocks that are jump targets. These labels follow those of loop heads.
    fn number_places(&mut self, nodes: &[StructureNode], inside: Option<u32>) {
        for node in nodes {
            match node {
                StructureNode::Place(block) => {
                    self.places.insert(*block, (self.heads.len() + self.places.len()) as StatementLabel + 1);
                    self.around_places.insert(*block, inside);
                }
                StructureNode::Loop { head, body } => {
                    self.around_loops.insert(*head, inside);
                    self.number_places(body, Some(*head));
                }
                StructureNode::Choice { arms, .. } => {
                    arms.iter().for_each(|arm| self.number_places(arm, inside))
                }
                StructureNode::Block(_) | StructureNode::Jump { .. } => {}
            }
        }
    }

    /// Returns the range of labels of the loops among some nodes.
    fn labels(&self, nodes: &[StructureNode]) -> Option<RangeInclusive<StatementLabel>> {
        let hull =
            |a: Option<RangeInclusive<StatementLabel>>, b: Option<RangeInclusive<StatementLabel>>| match (
                a, b,
            ) {
                (Some(a), Some(b)) => Some(*a.start().min(b.start())..=*a.end().max(b.end())),
                (a, b) => a.or(b),
            };
        nodes.iter().fold(None, |all, node| match node {
            StructureNode::Loop { head, body } => {
                let own = self.heads.get(head).map(|&label| label..=label);
                hull(all, hull(own, self.labels(body)))
            }
            StructureNode::Choice { arms: [yes, no], .. } => {
                hull(all, hull(self.labels(yes), self.labels(no)))
            }
            StructureNode::Block(_) | StructureNode::Jump { .. } | StructureNode::Place(_) => all,
        })
    }

    /// Emits the statements of a sequence. `written` holds the state of control flow at its start.
    fn sequence(
        &self,
        nodes: &[StructureNode],
        mut written: StatementSequence,
        around: Around,
    ) -> (Vec<ShaderStatement>, Ended) {
        for (n, node) in nodes.iter().enumerate() {
            let next = nodes.get(n + 1);
            let falls = match next {
                None => around.falls,
                Some(StructureNode::Place(block)) => Some(*block),
                Some(
                    StructureNode::Block(_)
                    | StructureNode::Jump { .. }
                    | StructureNode::Choice { .. }
                    | StructureNode::Loop { .. },
                ) => None,
            };
            match node {
                StructureNode::Block(block) => {
                    written.flow(ShaderStatement::Block(*block));
                    if !matches!(next, Some(StructureNode::Jump { .. } | StructureNode::Choice { .. })) {
                        written.end();
                    }
                }
                StructureNode::Jump { from, arm, leaves } => {
                    written.flow(ShaderStatement::Pass { from: *from, arm: *arm });
                    if let Some(to) = leaves {
                        self.leave(*to, &mut written, Around { falls, ..around });
                    }
                }
                StructureNode::Choice { of, arms } => {
                    self.choice(*of, arms, &mut written, Around { falls, ..around });
                }
                StructureNode::Loop { head, body } => self.repeated(*head, body, &mut written, falls),
                StructureNode::Place(block) => written.arrive(self.places.get(block).copied()),
            }
        }
        written.ended()
    }

    /// Emits a jump to a block that is a jump target, or to the head of an enclosing loop.
    fn leave(&self, to: u32, written: &mut StatementSequence, around: Around) {
        if around.falls == Some(to) {
            return;
        }
        let inside = around.inside.map(|(head, _)| head);
        if inside == Some(to) {
            written.flow(ShaderStatement::Continue);
            return written.end();
        }
        if around.inside.is_some_and(|(_, behind)| behind == Some(to)) {
            return written.leave_loop(None);
        }
        let is_head = self.is_around(to, inside);
        let label = if is_head { self.heads.get(&to) } else { self.places.get(&to) }.copied();
        let is_near = !is_head && self.around_places.get(&to).copied().flatten() == inside;
        written.flow(ShaderStatement::Lead(label.unwrap_or_default()));
        match is_near {
            true => written.lead(label),
            false => written.leave_loop(label),
        }
    }

    /// Returns true if `head` is the head of the loop `inside`, or of a loop around it.
    fn is_around(&self, head: u32, inside: Option<u32>) -> bool {
        let mut at = inside;
        while let Some(found) = at.filter(|&found| found != head) {
            at = self.around_loops.get(&found).copied().flatten();
        }
        at.is_some()
    }

    fn choice(
        &self,
        of: u32,
        arms: &[Vec<StructureNode>; 2],
        written: &mut StatementSequence,
        around: Around,
    ) {
        let before = std::mem::take(&mut written.led);
        let entered = arms.each_ref().map(|arm| self.labels(arm).filter(|_| !before.is_empty()));
        let [yes, no] = [(&arms[0], &entered[0]), (&arms[1], &entered[1])].map(|(arm, entered)| {
            let led = before.iter().copied().filter(|label| is_in(entered, *label)).collect();
            self.sequence(arm, StatementSequence::led(led), around)
        });
        let others = before.iter().filter(|&&label| !entered.iter().any(|range| is_in(range, label)));
        let led: BTreeSet<StatementLabel> = others.copied().collect();
        let is_passed_by = !led.is_empty();
        written.led = before;
        let statement = match written.led.is_empty() {
            true => ShaderStatement::If { test: FlowCondition::Condition(of), yes: yes.0, no: no.0 },
            false => {
                let [of_yes, of_no] = entered;
                let test = of_no.map_or(FlowCondition::Flows, FlowCondition::Enters);
                let no = if no.0.is_empty() {
                    Vec::new()
                } else {
                    vec![ShaderStatement::If { test, yes: no.0, no: Vec::new() }]
                };
                ShaderStatement::If { test: FlowCondition::Branches { of, entered: of_yes }, yes: yes.0, no }
            }
        };
        written.put(statement);
        written.led = led;
        written.is_open &= is_passed_by || yes.1.is_open || no.1.is_open;
        for arm in [yes.1, no.1] {
            written.led.extend(arm.led);
            written.left.extend(arm.left);
            written.breaks |= arm.breaks;
        }
    }

    fn repeated(
        &self,
        head: u32,
        body: &[StructureNode],
        written: &mut StatementSequence,
        falls: Option<u32>,
    ) {
        let Some(&label) = self.heads.get(&head) else { return };
        let labels = match self.labels(body) {
            Some(inner) => label..=*inner.end(),
            None => label..=label,
        };
        let (within, others): (BTreeSet<StatementLabel>, BTreeSet<StatementLabel>) =
            written.led.iter().partition(|label| labels.contains(label));
        let mut inner = StatementSequence::led(within);
        // A jump in an inner loop may target this loop's head.
        if self.labels(body).is_some() {
            inner.led.insert(label);
        }
        inner.arrive(Some(label));
        inner.flow(ShaderStatement::Iteration { head, label });
        let around = Around { falls: Some(head), inside: Some((head, falls)) };
        let (mut statements, mut ended) = self.sequence(body, inner, around);
        ended.led.remove(&label);
        if ended.is_open && !ended.led.is_empty() {
            let yes = vec![ShaderStatement::Break];
            statements.push(ShaderStatement::If {
                test: FlowCondition::LeadsPast(label),
                yes,
                no: Vec::new(),
            });
            ended.breaks = true;
            ended.left.extend(ended.led);
        }
        let statement = ShaderStatement::Loop(statements);
        match others.is_empty() {
            true => written.put(statement),
            false => {
                let test = FlowCondition::Enters(labels);
                written.put(ShaderStatement::If { test, yes: vec![statement], no: Vec::new() });
            }
        }
        let is_left = ended.breaks || self.pass == KernelKind::NonResumable;
        written.is_open &= is_left || !others.is_empty();
        written.led = others;
        written.led.extend(ended.left);
    }
}

fn is_in(range: &Option<RangeInclusive<StatementLabel>>, label: StatementLabel) -> bool {
    range.as_ref().is_some_and(|range| range.contains(&label))
}

/// A sequence of statements that is being emitted.
#[derive(Debug, Default)]
struct StatementSequence {
    statements: Vec<ShaderStatement>,
    /// Statements that must be executed only if control flow is normal, and that aren't emitted yet. They will be
    /// emitted in one `If`.
    guarded: Vec<ShaderStatement>,
    /// The labels that control may be on its way to at this point, unless control flow is normal.
    led: BTreeSet<StatementLabel>,
    left: BTreeSet<StatementLabel>,
    breaks: bool,
    is_open: bool,
    /// True if control flow is never normal at this point: control is on its way to a label, or doesn't reach this
    /// point.
    is_led: bool,
}

impl StatementSequence {
    fn led(led: BTreeSet<StatementLabel>) -> StatementSequence {
        StatementSequence { led, is_open: true, ..StatementSequence::default() }
    }

    /// Adds a statement that is executed only if control flow is normal.
    fn flow(&mut self, statement: ShaderStatement) {
        if !self.is_open || self.is_led {
            return;
        }
        match self.led.is_empty() {
            true => self.statements.push(statement),
            false => self.guarded.push(statement),
        }
    }

    /// Adds a statement that is executed for any control flow. If the statement depends on `lead`, it checks `lead`
    /// itself.
    fn put(&mut self, statement: ShaderStatement) {
        self.close();
        if self.is_open {
            self.statements.push(statement);
        }
    }

    fn close(&mut self) {
        if !self.guarded.is_empty() {
            let yes = std::mem::take(&mut self.guarded);
            self.statements.push(ShaderStatement::If { test: FlowCondition::Flows, yes, no: Vec::new() });
        }
    }

    /// Ends normal control flow after a jump was emitted. After the jump, control reaches statements only on its way to
    /// a label.
    fn end(&mut self) {
        self.is_open &= !self.led.is_empty();
        self.is_led = true;
    }

    /// Ends normal control flow: from this point on, control is on its way to `label`.
    fn lead(&mut self, label: Option<StatementLabel>) {
        self.close();
        self.led.extend(label);
        self.is_led = true;
    }

    /// Emits a break of the innermost loop. If `label` is given, control is then on its way to that label.
    fn leave_loop(&mut self, label: Option<StatementLabel>) {
        self.flow(ShaderStatement::Break);
        self.left.extend(label);
        self.breaks = true;
        self.end();
    }

    /// Emits a label: if control is on its way to this label, control flow is normal from this point on.
    fn arrive(&mut self, label: Option<StatementLabel>) {
        self.close();
        self.is_led = false;
        let Some(label) = label.filter(|label| self.led.remove(label)) else { return };
        let lead = ShaderStatement::Lead(0);
        self.statements.push(match self.led.is_empty() {
            true => lead,
            false => {
                ShaderStatement::If { test: FlowCondition::LeadsTo(label), yes: vec![lead], no: Vec::new() }
            }
        });
    }

    fn ended(mut self) -> (Vec<ShaderStatement>, Ended) {
        self.close();
        let StatementSequence { statements, led, left, breaks, is_open, .. } = self;
        (statements, Ended { led, left, breaks, is_open })
    }
}
