//! Interface between a shader's text and the code that dispatches it. This module is independent of SSA functions and
//! devices.

/// The kind of a kernel. It determines how the kernel handles a lane that exhausts its permitted loop iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelKind {
    /// Non-resumable kernel: it discards the work of the lane, which starts again in another dispatch. This kernel
    /// contains no code that saves lanes. So on software devices, which execute both sides of every branch, it takes a
    /// fourth of the resumable kernel's time.
    NonResumable,
    /// Resumable kernel: it saves the lane's state, and the lane continues in the next dispatch.
    Resumable,
}

/// A shader with its bindings. Each invocation is one lane.
///
/// Group 0 has the bindings below, all of storage type. A `u64` is a 64-bit word. A real with fewer bits is in the low
/// bits of its word; an integer with fewer bits is sign-extended, as in a [`reviver_vm::State`]. Words with the same
/// index in neighbouring lanes are adjacent: word `k` of lane `n` is `[k * stride + n]`, where `stride` is one of the
/// parameters.
///
/// 0. `Parameters`, read only: the fields of [`Parameters`], as seven `u32`.
/// 1. `array<u64>`, read only: [`LaneShader::constants`].
/// 2. `array<u64>`, read only: the inputs, `inputs` words for each lane.
/// 3. `array<u64>`, read and write: the outputs, `outputs` words for each lane. The outputs of a lane are undefined
///    unless the lane has finished.
/// 4. `array<u64>`, read and write: `kept` words for each lane, which are preserved from one dispatch to the next.
///    These words are uninitialized before the first dispatch.
/// 5. `array<u32>`, read and write: the status of each lane, a value of [`status`]. The host fills the statuses with
///    [`status::BEGINS`] before the first dispatch. Three more words follow the `stride` statuses. The shader counts,
///    in word `stride`, the lanes that have not ended after this dispatch; the host clears this word before each
///    dispatch.
/// 6. `array<u64>`, read and write: the number of steps that each lane has executed, if lanes report it. The host
///    clears these words before the first dispatch.
///
/// The entry point is `main`, with workgroups of [`WORKGROUP`] lanes in one dimension. Workgroups are dispatched in two
/// dimensions, and `lane = (group.y * groups.x + group.x) * WORKGROUP + local`. An invocation does nothing if `lane` is
/// at least `lanes`, or if the lane's status is neither `BEGINS` nor `SUSPENDED`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LaneShader {
    /// The WGSL of the resumable kernel, [`KernelKind::Resumable`].
    pub wgsl: String,
    /// The WGSL of the non-resumable kernel, [`KernelKind::NonResumable`]; `None` if even the resumable kernel never
    /// saves a lane. The non-resumable kernel has the same bindings. It may use `kept` for other purposes, because this
    /// kernel suspends no lane.
    pub non_resumable: Option<String>,
    /// Constants, never empty. Word 0 is 0: sums and products load zeros from this word, because compilers would fold a
    /// literal zero.
    pub constants: Vec<u64>,
    pub inputs: u32,
    pub outputs: u32,
    pub kept: u32,
    /// True if lanes report their number of steps.
    pub reports_steps: bool,
    /// Upper bound on the iterations of each loop in the helper functions, for each execution of the loop. Shaders
    /// don't count these iterations.
    pub helper_iterations: u32,
}

/// Number of lanes in a workgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// Parameters of a dispatch, in the order of the shader's structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub lanes: u32,
    pub stride: u32,
    /// Maximum number of loop iterations of a lane in one dispatch. A lane that reaches the maximum leaves its loops,
    /// or saves its state and is suspended. The limit exists because llvmpipe silently stops all loops of a group of 8
    /// lanes after 65,535 iterations in total. Loops of `main` count their iterations. Loops of helper functions don't;
    /// see [`LaneShader::helper_iterations`].
    pub iterations: u32,
    /// Not 0 in the first dispatch of a block.
    pub is_first: u32,
    /// Upper bound on the steps of a lane, as the two halves of a `u64`.
    pub most_steps_low: u32,
    pub most_steps_high: u32,
    pub unused: u32,
}

impl Parameters {
    /// Returns the parameters as the shader's seven words.
    pub fn in_words(self) -> [u32; 7] {
        let Self { lanes, stride, iterations, is_first, most_steps_low, most_steps_high, unused } = self;
        [lanes, stride, iterations, is_first, most_steps_low, most_steps_high, unused]
    }
}

/// Values of a lane's status word.
pub(crate) mod status {
    pub const BEGINS: u32 = 0;
    pub const SUSPENDED: u32 = 1;
    pub const FINISHED: u32 = 2;
    /// A check failed, or the shader can't decide the outcome. The CPU must execute the lane.
    pub const FAILED: u32 = 3;
    /// The lane exceeded its step limit.
    pub const OUT_OF_STEPS: u32 = 4;
}
