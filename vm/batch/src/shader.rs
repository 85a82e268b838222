//! What the text of a shader and whoever dispatches it agree on. Knows no form and no device.

/// What a text of a shader does with a lane whose rounds don't last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShaderPass {
    /// The lane begins anew in another dispatch. What keeps lanes isn't there, which takes a fourth of the time where a
    /// device goes through it without need, as those do that are software.
    Single,
    /// It keeps it, and the lane goes on in the next dispatch.
    Resumable,
}

/// A shader of which each invocation is one lane, and what it is bound to.
///
/// Group 0 has these bindings, all of storage; *u64* means 64-bit words, in which a real or an integer of fewer bits is in the low ones
/// (integers sign-extended, as [`reviver_vm::State`] holds them). Words of neighbouring lanes are neighbours: word `k` of lane `n` is
/// `[k * stride + n]`, where `stride` is in the parameters.
///
/// 0. `Parameters`, read only: see [`Parameters`], as seven `u32`.
/// 1. `array<u64>`, read only: [`LaneShader::constants`].
/// 2. `array<u64>`, read only: what each lane is given, `given` words.
/// 3. `array<u64>`, read and write: what each lane has come to, `found` words. Undefined unless it has arrived.
/// 4. `array<u64>`, read and write: `kept` words a lane, which are its own from one dispatch to the next. Nobody fills them before
///    the first one.
/// 5. `array<u32>`, read and write: `status` of each lane, [`status`] below; filled with [`status::BEGINS`] before the first dispatch. The
///    words behind `stride` are three: word `stride` counts lanes that haven't ended behind this dispatch (atomic; the host makes it
///    0 before each dispatch).
/// 6. `array<u64>`, read and write: steps that each lane has made, if it tells them; 0 before the first dispatch.
///
/// The entry point is `main`, with workgroups of [`WORKGROUP`] lanes in one dimension; groups are dispatched in two dimensions, and
/// `lane = (group.y * groups.x + group.x) * WORKGROUP + local`. Invocations whose lane isn't below `lanes`, or whose status isn't `BEGINS` or
/// `UNDERWAY`, do nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LaneShader {
    /// Its text as [`ShaderPass::Resumable`].
    pub wgsl: String,
    /// Its text as [`ShaderPass::Single`], if lanes of it are ever kept: the bindings are the same, and `kept` may be used in another way, because none of
    /// its lanes is under way behind a dispatch.
    pub single_pass: Option<String>,
    /// Never empty: word 0 is 0, so that zeros in sums and products are loaded and not written.
    pub constants: Vec<u64>,
    pub given: u32,
    pub found: u32,
    pub kept: u32,
    /// Whether lanes tell how many steps they have made.
    pub tells_steps: bool,
    /// The most rounds that a loop of a function makes that `main` calls, each time it is entered: these don't count.
    pub helper_rounds: u32,
}

/// Lanes of a workgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// What is told to every dispatch, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub lanes: u32,
    pub stride: u32,
    /// Rounds of loops that a lane may make in one dispatch before it leaves them, or keeps what it needs and ends: llvmpipe stops all loops of a group of 8
    /// lanes silently after 65,535 rounds in all. Loops of `main` count theirs; those of functions that it calls don't, and have at most 64
    /// each time they are entered.
    pub rounds: u32,
    /// Not 0 in the first dispatch of a batch.
    pub is_first: u32,
    /// The most steps of a lane, as halves of a `u64`.
    pub most_steps_low: u32,
    pub most_steps_high: u32,
    pub unused: u32,
}

impl Parameters {
    /// As the shader sees them.
    pub fn in_words(self) -> [u32; 7] {
        let Self { lanes, stride, rounds, is_first, most_steps_low, most_steps_high, unused } = self;
        [lanes, stride, rounds, is_first, most_steps_low, most_steps_high, unused]
    }
}

/// What a lane's status word may be.
pub(crate) mod status {
    pub const BEGINS: u32 = 0;
    pub const UNDERWAY: u32 = 1;
    pub const ARRIVED: u32 = 2;
    /// A check failed, or something that the shader can't tell: whoever has a processor finds out what.
    pub const FAILED: u32 = 3;
    /// The steps didn't last.
    pub const OVER: u32 = 4;
}
