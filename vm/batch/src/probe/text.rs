//! Shaders of the probe. They have no branches, and compute one expression for each output word. This module is
//! independent of the tested expressions.

use crate::shader::{LaneShader, WORKGROUP};

/// The beginning of each shader of the probe: the bindings that [`LaneShader`] describes.
const BEGIN: &str = "
struct Parameters {
    lanes: u32, stride: u32, rounds: u32, is_first: u32, most_steps_low: u32, most_steps_high: u32, unused: u32,
}
@group(0) @binding(0) var<storage, read> parameters: Parameters;
@group(0) @binding(1) var<storage, read> constants: array<u64>;
@group(0) @binding(2) var<storage, read> inputs: array<u64>;
@group(0) @binding(3) var<storage, read_write> outputs: array<u64>;
@group(0) @binding(4) var<storage, read_write> kept: array<u64>;
@group(0) @binding(5) var<storage, read_write> statuses: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> steps: array<u64>;
";

/// Returns a shader that executes `lines` in each lane and outputs `words`, all of type `u64`. The lines read input
/// word `k` as `inputs[k * stride + lane]`.
pub(crate) fn lane_shader(inputs: u32, lines: &str, words: &[String], constants: Vec<u64>) -> LaneShader {
    let stores: String = words
        .iter()
        .enumerate()
        .map(|(number, word)| format!("    outputs[{number}u * stride + lane] = {word};\n"))
        .collect();
    let outputs = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let body = format!("{lines}\n{stores}    atomicStore(&statuses[lane], 2u);\n");
    LaneShader {
        wgsl: with_main(&body),
        non_resumable: None,
        constants,
        inputs,
        outputs,
        kept: 0,
        reports_steps: false,
        helper_iterations: 0,
    }
}

/// Returns the text of a shader whose entry point executes `body` for each lane that has not ended. `body` can use the
/// variables `lane` and `stride`.
pub(crate) fn with_main(body: &str) -> String {
    format!(
        "{BEGIN}
@compute @workgroup_size({WORKGROUP})
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {{
    let lane = (group.y * groups.x + group.x) * {WORKGROUP}u + local;
    let stride = parameters.stride;
    if lane >= parameters.lanes || atomicLoad(&statuses[lane]) > 1u {{ return; }}
{body}}}
"
    )
}
