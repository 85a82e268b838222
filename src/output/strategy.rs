//! Report on the retention strategy of a backward run: the states that were kept and the steps that were repeated, or a
//! plan of both. Text for users, JSON members for programs.

use std::io::{self, Write};

use reviver_vm::differentiate::Subject;
use reviver_vm::differentiate::matrices::ReverseSweeps;
use reviver_vm::strategy::schedule::PlannedAction;
use reviver_vm::strategy::{Plan, Retention, RunCost, Strategy, StrategyReason, UsedStrategy};
use serde_json::{Map, Value as Json, json};

use super::json_values::Object;
use crate::failure::counted;

/// Strategy of a backward run, and its cost.
#[derive(Clone, Copy)]
pub struct StrategyReport {
    /// Strategy that was used; `None` if the user requested none.
    pub taken: Option<UsedStrategy>,
    pub cost: RunCost,
    /// Steps of the forward run, or of all forward runs.
    pub steps: u64,
    /// True if the cost is reported (`--stats`).
    pub stats: bool,
}

impl StrategyReport {
    /// Creates the report on all backward runs of one command, with their total cost.
    pub fn of_all(subject: &Subject, reverse_sweeps: Option<ReverseSweeps>, stats: bool) -> StrategyReport {
        // Without a strategy of the subject, the sweeps used no history or the plain history of `--exact`, which isn't
        // reported.
        let taken = reverse_sweeps.map(|all| all.taken).filter(|_| subject.retention.is_some());
        let cost = reverse_sweeps.map(|all| all.cost).unwrap_or_default();
        let steps = reverse_sweeps.map_or(0, |all| all.steps);
        StrategyReport { taken, cost, steps, stats: stats && reverse_sweeps.is_some() }
    }

    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(taken) = &self.taken {
            writeln!(out, "strategy: {taken}")?;
        }
        if self.stats {
            let RunCost { steps, again, checkpoints, peak_bytes, .. } = self.cost;
            let ratio = steps as f64 / self.steps.max(1) as f64;
            writeln!(
                out,
                "cost: {} in total ({ratio:.2} for each forward step), {again} of them repeated; {} kept, and {} of memory at most",
                counted(usize::try_from(steps).unwrap_or(usize::MAX), "step"),
                counted(usize::try_from(checkpoints).unwrap_or(usize::MAX), "state"),
                counted(usize::try_from(peak_bytes).unwrap_or(usize::MAX), "byte"),
            )?;
        }
        Ok(())
    }

    pub fn members(&self) -> Map<String, Json> {
        let mut members = Map::new();
        if let Some(taken) = &self.taken {
            members.insert("strategy".into(), strategy(taken.strategy, Some(taken.why)));
        }
        if self.stats {
            let RunCost { steps, again, checkpoints, peak_bytes, .. } = self.cost;
            let cost = json!({
                "steps": steps, "again": again, "checkpoints": checkpoints, "peak_bytes": peak_bytes,
            });
            members.insert("cost".into(), cost);
        }
        members
    }
}

/// Returns a strategy as JSON, with its parameters and the reason for its choice.
fn strategy(strategy: Strategy, why: Option<StrategyReason>) -> Json {
    let mut members = Map::new();
    members.insert("name".into(), strategy.name().into());
    if let Strategy::Checkpoint { slots, leaf } = strategy {
        members.insert("slots".into(), slots.into());
        members.insert("leaf".into(), leaf.into());
    }
    members.extend(why.map(|why| ("why".to_owned(), why.name().into())));
    match why {
        Some(StrategyReason::Fits { bytes, memory }) => {
            members.insert("history_bytes".into(), bytes.into());
            members.insert("memory".into(), memory.into());
        }
        Some(StrategyReason::Exceeds { step, memory }) => {
            members.insert("exceeded_at".into(), step.into());
            members.insert("memory".into(), memory.into());
        }
        Some(StrategyReason::Asked | StrategyReason::NothingIsLost) | None => {}
    }
    Json::Object(members)
}

/// Data of a plan.
pub struct PlanPage {
    pub retention: Retention,
    pub plan: Plan,
    /// True if the program's steps lose no bits, so that nothing needs to be kept.
    pub is_lossless: bool,
}

/// Maximum number of a plan's actions in the text.
const FEW: usize = 40;
/// Maximum number of a plan's actions in the JSON object.
const MANY: usize = 1 << 20;

impl PlanPage {
    /// Returns true if the strategy keeps nothing for this program. The strategy `tape` keeps changes even of
    /// lossless programs.
    fn keeps_nothing(&self) -> bool {
        self.is_lossless && self.retention.strategy != Strategy::Tape
    }

    /// Returns the strategy to execute. For checkpoints, it has the number of snapshots and the length of a leaf from
    /// the plan.
    fn planned(&self) -> Strategy {
        match self.retention.strategy {
            Strategy::Checkpoint { .. } => Strategy::Checkpoint {
                slots: Some(u32::try_from(self.plan.slots).unwrap_or(u32::MAX)),
                leaf: Some(self.plan.leaf),
            },
            strategy => strategy,
        }
    }

    fn forward_steps(&self) -> u64 {
        if self.keeps_nothing() { self.plan.steps } else { self.plan.forward_steps() }
    }

    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (plan, forward) = (self.plan, self.forward_steps());
        let ratio = forward as f64 / plan.steps.max(1) as f64;
        writeln!(out, "{} forward, and as many backward", counted(plan.steps as usize, "step"))?;
        if self.keeps_nothing() {
            writeln!(out, "nothing is kept: no step of this program loses bits")?;
        } else {
            let (slots, leaf) = (counted(plan.slots as usize, "slot"), counted(plan.leaf as usize, "step"));
            writeln!(out, "{}: {slots}, leaves of {leaf}", self.retention.strategy.name())?;
        }
        let forward = counted(usize::try_from(forward).unwrap_or(usize::MAX), "step");
        writeln!(out, "{forward} forward in total, {ratio:.2} for each step of the run")?;
        if self.keeps_nothing() {
            return Ok(());
        }
        let mut actions = plan.actions();
        for action in actions.by_ref().take(FEW) {
            match action {
                PlannedAction::Advance { from, to } => writeln!(out, "  run  {from} to {to}"),
                PlannedAction::Keep { at } => writeln!(out, "  keep {at}"),
                PlannedAction::Reverse { from, to } => writeln!(out, "  back {to} to {from}"),
                PlannedAction::Free { at } => writeln!(out, "  free {at}"),
            }?;
        }
        match actions.next() {
            Some(_) => writeln!(out, "  …: `--json` lists all actions"),
            None => Ok(()),
        }
    }

    pub fn members(&self) -> Object<'static> {
        let mut object = Object::default();
        object.insert("steps", self.plan.steps);
        object.insert("strategy", strategy(self.planned(), None));
        object.insert("slots", self.plan.slots);
        object.insert("leaf", self.plan.leaf);
        object.insert("forward_steps", self.forward_steps());
        let mut actions = self.plan.actions();
        let listed: Vec<Json> = match self.keeps_nothing() {
            true => Vec::new(),
            false => actions.by_ref().take(MANY).map(action).collect(),
        };
        object.insert("actions", listed);
        object.insert("actions_are_all", self.keeps_nothing() || actions.next().is_none());
        object
    }
}

fn action(action: PlannedAction) -> Json {
    match action {
        PlannedAction::Advance { from, to } => json!({ "run": [from, to] }),
        PlannedAction::Keep { at } => json!({ "keep": at }),
        PlannedAction::Reverse { from, to } => json!({ "back": [to, from] }),
        PlannedAction::Free { at } => json!({ "free": at }),
    }
}
