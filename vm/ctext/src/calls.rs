//! Calls that are not inlined, such as the calls of a recursion. This module defines their records and cells in the
//! memory, and the status of a run whose memory is too small for one more call. This module is independent of
//! operations.

use reviver_compile::call::SweepCalls;
use reviver_compile::function::{Demands, FIRST_RECORD, TOP_WORD};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Limits, RealSystem};
use reviver_isa::verify::MAX_CELLS;

use crate::identifiers::words;
use crate::numbers::{CELL_INT, CNumbers};

/// Default size, in bytes, of the memory for calls that aren't inlined. A memory of this size fits on most stacks. A
/// macro defines the number of calls; users may redefine it when they compile the text.
const USUAL_BYTES: u64 = 1 << 18;
/// Number of calls whose cells are cleared at first. The number is doubled when more calls are open at once.
const FIRST_CALLS: u32 = 16;

/// Memory for the calls of a program that aren't inlined and are open at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallMemory {
    /// Number of words of each call's record.
    record: u32,
    /// Number of integer cells of each call.
    ints: u32,
    /// Number of real cells of each call.
    reals: u32,
    /// The number of words after the records. These words hold the arguments of inlined calls.
    references: u32,
    /// Largest number of calls that the program's limits on depth and cells permit in any run. The memory never holds
    /// more calls.
    most: u64,
    /// The default of the macro that defines the number of calls.
    usual: u64,
    /// The program's limit on nested calls (`.limit depth`), which includes inlined ones.
    limit: u32,
}

impl CallMemory {
    /// Computes the memory for the calls that SSA functions demand. `others` is the maximum number of other cells of
    /// each class. Returns `None` if the functions make no calls that aren't inlined.
    pub fn of(
        demands: Demands,
        others: [usize; 2],
        system: RealSystem,
        limits: &Limits,
    ) -> Option<CallMemory> {
        let Demands { record, references, depth, level, .. } = demands;
        if record == 0 {
            return None;
        }
        let cells = |others: usize| MAX_CELLS.saturating_sub(others as u64);
        let spaces = [
            (u64::from(limits.depth.saturating_sub(depth)), level.depth),
            (cells(others[0]), level.ints),
            (cells(others[1]), level.reals),
        ];
        let spaces = spaces.into_iter().filter(|(_, each)| *each > 0);
        let most = spaces.map(|(space, each)| space / u64::from(each)).min().unwrap_or(0);
        let real = u64::from(system.width() / 8);
        let bytes = 8 * u64::from(record + level.ints) + 2 * real * u64::from(level.reals);
        let usual = rounded(USUAL_BYTES / bytes.max(1)).clamp(1, most.max(1));
        let (ints, reals, limit) = (level.ints, level.reals, limits.depth);
        Some(CallMemory { record, ints, reals, references, most, usual, limit })
    }

    /// Returns the number of cells of a class that each call needs.
    pub fn cells(self, class: Class) -> u32 {
        match class {
            Class::Int => self.ints,
            Class::Real => self.reals,
        }
    }

    fn has_cells(self) -> bool {
        self.ints + self.reals > 0
    }

    /// Returns a part of the header: the description of these calls, and the macro that sets their number.
    pub fn defined(self, prefix: &str, upper: &str) -> String {
        let CallMemory { usual, limit, .. } = self;
        format!(
            "/* Number of calls, such as the calls of a recursion, that aren't inlined and may be open at once. A `struct\n   \
            {prefix}_memory` has memory for this number of calls. To change the number, define the macro with another number, in\n   \
            digits, for the C file and for all files that include this header. If a run needs memory for more calls, its\n   \
            status is NO_ROOM. The program itself allows {limit} open calls; if a run needs more, its status is DEPTH. */\n#ifndef {upper}_CALLS\n#define {upper}_CALLS {usual}\n#endif\n\n"
        )
    }

    /// Returns a linker name that includes the number of calls. So the linker rejects functions and callers with
    /// memories of different sizes.
    pub fn marked(upper: &str, name: &str) -> String {
        format!("{upper}_WITH_CALLS({name}, {upper}_CALLS)")
    }

    /// Returns the macros that [`CallMemory::marked`] uses.
    pub fn marks(upper: &str) -> String {
        format!(
            "#define {upper}_WITH_CALLS(name, calls) {upper}_WITH_NUMBER(name, calls)\n#define {upper}_WITH_NUMBER(name, calls) name##_##calls\n"
        )
    }

    /// Returns the field of the memory that counts the calls with cleared cells. The field must precede the arrays,
    /// because fields before the arrays are initialized first.
    pub fn ready(self) -> &'static str {
        match self.has_cells() {
            true => "    /* Number of calls with cleared cells. */\n    int64_t ready_calls;\n",
            false => "",
        }
    }

    /// Returns the last field of the memory, which has the call records. Its length is a 64-bit constant expression, so
    /// that a compiler rejects an excessive number of calls instead of wrapping the length.
    pub fn records(self, upper: &str) -> String {
        let CallMemory { record, references, .. } = self;
        let words = u64::from(FIRST_RECORD) + u64::from(references);
        format!(
            "    /* Records of open calls, and their arguments. */\n    {CELL_INT} calls[{words} + INT64_C({record}) * {upper}_CALLS];\n"
        )
    }

    /// Returns the definitions that must precede all functions in the C file: the maximum number of calls, and a
    /// function that clears the cells of further calls.
    pub fn functions(self, prefix: &str, upper: &str, numbers: CNumbers, others: [usize; 2]) -> String {
        let most = format!(
            "/* Maximum number of calls: the program's limits may allow fewer than the memory. */\n#define {upper}_MOST_CALLS ((int64_t)({upper}_CALLS < {most} ? {upper}_CALLS : {most}))\n",
            most = self.most
        );
        if !self.has_cells() {
            return most;
        }
        let real = numbers.real();
        let arrays = [
            ("ints", self.ints, CELL_INT, others[0]),
            ("reals", self.reals, real, others[1]),
            ("adjoints", self.reals, real, others[1]),
        ];
        let has_cells = |(_, each, ..): &(&str, u32, &str, usize)| *each > 0;
        let arrays: Vec<_> = arrays.into_iter().filter(has_cells).collect();
        let parameters: String = arrays.iter().map(|(name, _, of, _)| format!(", {of} *{name}")).collect();
        let cleared: String = arrays
            .iter()
            .map(|(name, each, _, others)| {
                format!(
                    "    memset({name} + {others} + {each} * before, 0, {each} * (size_t)(ready - before) * sizeof {name}[0]);\n"
                )
            })
            .collect();
        format!(
            "{most}\n/* Clears the cells of more calls, if there is memory for them. Returns the number of calls with cleared cells. */\n\
            static int64_t {prefix}_more_calls(struct {prefix}_memory *m{parameters}) {{\n\
            \x20   const int64_t before = m->ready_calls;\n    const int64_t wanted = before == 0 ? {FIRST_CALLS} : 2 * before;\n\
            \x20   const int64_t ready = wanted < {upper}_MOST_CALLS ? wanted : {upper}_MOST_CALLS;\n{cleared}\
            \x20   m->ready_calls = ready;\n    return ready;\n}}\n"
        )
    }

    /// Returns true if a text uses the definitions of [`CallMemory::functions`].
    pub fn is_asked(self, text: &str, prefix: &str, upper: &str) -> bool {
        let named = match self.has_cells() {
            true => format!("{prefix}_more_calls"),
            false => format!("{upper}_MOST_CALLS"),
        };
        words(text).any(|word| word == named)
    }

    /// Returns the index of the first word after the memory for call records. The variable `room` of a function holds
    /// this index.
    pub fn room(self, record: u32, upper: &str) -> String {
        let calls =
            if self.has_cells() { "m->ready_calls".to_owned() } else { format!("{upper}_MOST_CALLS") };
        format!("{FIRST_RECORD} + {record} * {calls}")
    }

    /// Returns a C condition that is true if there is memory for the call record that begins at a word. If the cells of
    /// this call haven't been cleared yet, evaluating the condition clears the cells of more calls.
    pub fn has_memory(self, word: &str, record: u32, prefix: &str) -> String {
        if !self.has_cells() {
            return format!("({word} < room)");
        }
        let arrays = [("ints", self.ints), ("reals", self.reals), ("adjoints", self.reals)];
        let arrays: String =
            arrays.iter().filter(|(_, each)| *each > 0).map(|(name, _)| format!(", {name}")).collect();
        format!(
            "({word} < room || {word} < (room = {FIRST_RECORD} + {record} * {prefix}_more_calls(m{arrays})))"
        )
    }

    /// Returns the C function that computes the status for a call for which there is no memory. The status says whether
    /// the program's limit is reached or the memory is too small.
    pub fn refusal(self, sweep: &SweepCalls, name: &str, upper: &str) -> String {
        let (record, limit) = (sweep.record, self.limit);
        let opened: Vec<String> = sweep.calls.iter().map(|call| call.opened.len().to_string()).collect();
        let count = opened.len();
        let rows: String = opened.chunks(16).map(|row| format!("        {},\n", row.join(", "))).collect();
        format!(
            "/* Returns the status if `more` calls can't be opened: the program's limit is reached, or the memory is too small. */\n\
            static int {name}(const int64_t *calls, int64_t more) {{\n    /* Number of calls that each kind of record stands for, by call number. */\n\
            \x20   static const uint8_t opened[{count}] = {{\n{rows}    }};\n    int64_t depth = more;\n\
            \x20   for (int64_t call = {FIRST_RECORD}; call < calls[{TOP_WORD}]; call += {record}) {{\n\
            \x20       depth += opened[calls[call] - 1];\n    }}\n    return depth > {limit} ? {upper}_DEPTH : {upper}_NO_ROOM;\n}}\n\n"
        )
    }
}

/// Rounds a number down to two significant decimal digits.
fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number - number % unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_two_digits() {
        assert_eq!([0, 7, 42, 119, 3276, 99_999].map(rounded), [0, 7, 42, 110, 3200, 99_000]);
    }
}
