//! The shader text before and after a lane's statements: bindings, the lane's number, initialization, and resumption.

use std::fmt::Write as _;

use reviver_compile::op::OpKind;
use reviver_isa::instruction::Class;

use super::{ControlType, Writer};
use crate::shader::{KernelKind, WORKGROUP, status};
use crate::statements::StatementLabel;
use crate::words::WordRun;

impl Writer<'_> {
    /// Returns the parts of the text, without the helper functions of operations, which are known only after all
    /// operations are emitted.
    pub(super) fn parts(&mut self) -> ShaderParts {
        self.begin();
        let statements = self.statements;
        self.statements(&statements.all);
        if statements.is_open {
            // Control reaches this point only in a lane that has left a loop early, because its iterations are
            // exhausted or a check has failed.
            self.end_lane("false", "FAILED");
        }
        let body = std::mem::take(&mut self.lines).join("\n");
        ShaderParts {
            head: self.head(),
            main: format!("{}{}{}{body}\n}}\n", self.start_functions(), self.verifying(), main()),
        }
    }

    /// Returns true if the shader has loops, whose iterations are counted.
    pub(super) fn has_iterations(&self) -> bool {
        !self.statements.heads.is_empty()
    }

    /// Returns the bindings and the functions that end a lane.
    fn head(&mut self) -> String {
        let real = self.real();
        let mut text = String::from(BOUND);
        let states = [
            ("BEGINS", status::BEGINS),
            ("UNDERWAY", status::SUSPENDED),
            ("ARRIVED", status::FINISHED),
            ("FAILED", status::FAILED),
            ("OVER", status::OUT_OF_STEPS),
        ];
        for (name, state) in states {
            let _ = writeln!(text, "const {name} = {state}u;");
        }
        if self.has_reals {
            let _ = writeln!(
                text,
                "\n// A zero that is loaded at run time, so that no compiler folds sums with it.\nvar<private> zero: {real};\n"
            );
        }
        let fails = self.has_reals.then(|| self.operations.fails(OpKind::RequireAdmitted, &["admitted"]));
        let has_failed = match fails.flatten() {
            Some(fails) => {
                let _ = writeln!(text, "{ADMITTED}\nvar<private> admitted: {real};\n");
                format!("failed | {fails}")
            }
            None => "failed".to_owned(),
        };
        let _ = writeln!(text, "{LANE}fn has_failed() -> bool {{\n    return {has_failed};\n}}\n{END_LANE}");
        text
    }

    /// Emits the initialization of a lane, or the restoration of a suspended lane.
    fn begin(&mut self) {
        if self.has_reals {
            let zero = self.of_word(Some(Class::Real), "constants[0]");
            self.line(format!("zero = {zero};"));
        }
        self.line(
            "let most_steps = u64(parameters.most_steps_low) | (u64(parameters.most_steps_high) << 32u);",
        );
        if self.has_iterations() {
            let extra = self.other_iterations();
            // The device's limit on iterations includes loops over the lane's memory, so their iterations are
            // subtracted.
            self.line(format!("let most_rounds = max(parameters.rounds, {}u) - {extra}u;", extra + 1));
        }
        self.declare();
        self.inputs();
        let goes_on = self.has_iterations() && self.pass == KernelKind::Resumable;
        let text = self.text;
        if goes_on && !text.first.is_empty() {
            self.open("if (before == BEGINS) {");
        }
        for run in &text.first {
            self.through((run.source, run.count), &[run.word], |writer, source, offset| {
                writer.hold(&writer.place_of(run.word, offset), source);
            });
        }
        if goes_on && !text.first.is_empty() {
            self.close();
        }
        if goes_on {
            self.resume();
        }
    }

    /// Returns an upper bound on the iterations of loops over the lane's memory. These loops aren't loops of the
    /// program.
    fn other_iterations(&self) -> u32 {
        let sum = |runs: &mut dyn Iterator<Item = &WordRun>| {
            runs.map(|run| Self::iterations_over(run.count)).fold(0_u32, u32::saturating_add)
        };
        let first = sum(&mut self.text.first.iter());
        // Each output word is copied from at most one memory word.
        let outputs = self.text.outputs / 16;
        let lane_ends = self.text.lane_ends.values().map(|lane_end| sum(&mut lane_end.runs())).max();
        // Each input word is read once for the largest number, and once for the size of each loss.
        let times = 1 + u32::try_from(self.text.rows().len()).unwrap_or(u32::MAX - 1);
        let inputs = self.text.losses.as_ref().map_or(0, |_| (self.text.inputs / 16).saturating_mul(times));
        [first, lane_ends.unwrap_or(0), outputs, inputs].into_iter().fold(1, u32::saturating_add)
    }

    /// Emits a declaration for each input word that is used as an SSA value.
    fn inputs(&mut self) {
        let text = self.text;
        for (&value, word) in text.lane_run.inputs.iter().filter(|(value, _)| self.plan.uses(**value) > 0) {
            let class = text.lane_run.function.class(value);
            let of = self.of_word(class, &format!("input_word({word}u)"));
            self.line(format!("let g{word} = {of};"));
        }
    }

    /// Emits the restoration of a suspended lane.
    fn resume(&mut self) {
        self.open("if (before == UNDERWAY) {");
        for (word, control) in self.control.clone().into_iter().enumerate() {
            let word = format!("held({word}u)");
            let text = match control.of {
                ControlType::Label => format!("u32({word})"),
                ControlType::Steps => format!("i64({word})"),
                ControlType::Mark => word,
                ControlType::Real => self.of_word(Some(Class::Real), &word),
            };
            self.line(format!("{} = {text};", control.name));
        }
        for word in &self.text.memory.variables {
            self.line(format!("m{word} = held({}u);", self.memory_at() + word));
        }
        self.open("switch lead {");
        let heads: Vec<(StatementLabel, u32)> =
            self.statements.heads.iter().map(|(&label, &head)| (label, head)).collect();
        for (label, head) in heads {
            let kept = self.kept.get(&head).cloned().unwrap_or_default();
            if kept.is_empty() {
                continue;
            }
            self.open(format!("case {label}u: {{"));
            for (word, value) in (self.control.len()..).zip(kept) {
                let bits = self.of_word_for(value, &format!("held({word}u)"));
                let name = self.value(value);
                self.line(format!("{name} = {bits};"));
            }
            self.close();
        }
        self.line("default: {}");
        self.close();
        self.close();
    }

    /// Emits declarations of the variables whose scope is the whole function.
    fn declare(&mut self) {
        let real = self.real();
        self.line("var clock: i64;");
        if self.has_iterations() {
            self.line("var rounds: u32;");
        }
        // `lead` is declared in any shader, because jump targets have labels even without loops.
        self.line("var lead: u32;");
        if !self.reducible.dispatch_nodes.is_empty() {
            self.line("var chosen: u32;");
        }
        if self.text.is_watched() {
            self.line("var path: u64;");
            for name in self.text.evidence() {
                self.line(format!("var {name}: {real};"));
            }
        }
        for value in self.variables.clone() {
            let of = self.type_of(value);
            self.line(format!("var v{}: {of};", value.0));
        }
        for word in &self.text.memory.variables {
            self.line(format!("var m{word}: u64;"));
        }
    }
}

/// Returns the beginning of the entry point: the computation of the lane's number, and the check of its status.
fn main() -> String {
    format!(
        "\
@compute @workgroup_size({WORKGROUP})
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {{
    lane = (group.y * groups.x + group.x) * {WORKGROUP}u + local;
    if (lane >= parameters.lanes) {{
        return;
    }}
    let before = atomicLoad(&status[lane]);
    if (before > UNDERWAY) {{
        return;
    }}
    stride = parameters.stride;
"
    )
}

const BOUND: &str = "\
struct Parameters {
    lanes: u32,
    stride: u32,
    rounds: u32,
    is_first: u32,
    most_steps_low: u32,
    most_steps_high: u32,
    unused: u32,
}

@group(0) @binding(0) var<storage, read> parameters: Parameters;
@group(0) @binding(1) var<storage, read> constants: array<u64>;
@group(0) @binding(2) var<storage, read> inputs: array<u64>;
@group(0) @binding(3) var<storage, read_write> outputs: array<u64>;
@group(0) @binding(4) var<storage, read_write> kept: array<u64>;
@group(0) @binding(5) var<storage, read_write> status: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> steps: array<u64>;

";

/// The text of a kernel in two parts. The helper functions of operations are inserted between them.
pub(super) struct ShaderParts {
    pub head: String,
    pub main: String,
}

const ADMITTED: &str = "\
// The sum of all numbers that must be finite. If a number isn't finite, the sum isn't finite either. The CPU decides
// whether only the sum is too large.";

const LANE: &str = "\
var<private> lane: u32;
var<private> stride: u32;
// True if a check has failed; the place isn't recorded.
var<private> failed: bool;

// Returns a word of the lane's saved state and memory.
fn held(word: u32) -> u64 {
    return kept[word * stride + lane];
}

fn hold(word: u32, bits: u64) {
    kept[word * stride + lane] = bits;
}

fn input_word(word: u32) -> u64 {
    return inputs[word * stride + lane];
}

fn set_output(word: u32, bits: u64) {
    outputs[word * stride + lane] = bits;
}

";

const END_LANE: &str = "
// Ends a lane, or lets it begin again if its iterations are exhausted. The CPU executes a failed lane again, and checks
// the step limit first.
fn end_lane(is_spent: bool, is_over: bool, otherwise: u32) {
    let ended = select(select(otherwise, OVER, is_over), FAILED, has_failed());
    let state = select(ended, BEGINS, is_spent);
    atomicStore(&status[lane], state);
    if (state <= UNDERWAY) {
        atomicAdd(&status[parameters.stride], 1u);
    }
}

";
