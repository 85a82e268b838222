//! Emits the turning point of a gradient, and the end of a lane with its outputs and checks. The checks ensure that the
//! CPU would accept the results without a warning or recomputation. `reviver_vm::differentiate::divergence` and
//! `reviver_vm::watch` explain the bounds. If the shader can't decide whether the CPU would accept the results, a check
//! fails the lane.

use reviver_compile::op::SsaOp;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::watch::{MARK_FACTOR, MARK_ROUNDS, MARK_SHIFT, Rounding};

use super::Writer;
use crate::cells::literal;
use crate::ends::{Closeness, Compared, LaneEnd, LossTerms, SeededResult};
use crate::lane_run::CellHome;
use crate::operations::{FloatType, ZERO};
use crate::shader::KernelKind;
use crate::words::WordSource;

impl Writer<'_> {
    /// Returns an expression for the content of a cell of class `class`. `home` is the value or memory word that holds
    /// the content.
    fn at_home(&self, class: Class, home: CellHome) -> String {
        match home {
            CellHome::Value(value) => self.value(value),
            CellHome::Memory(word) => self.of_word(Some(class), &self.place(word).held()),
        }
    }

    /// Emits the turning point of a gradient. A lane whose primal sweep exceeded its step limit ends here.
    pub(super) fn turned(&mut self) {
        self.report_steps();
        self.open("if (bitcast<u64>(clock) > most_steps) {");
        self.end_lane("true", "OVER");
        self.line("return;");
        self.close();
        if let Some(losses) = self.text.losses.as_ref().filter(|_| self.text.is_watched()) {
            let largest = self.near(losses.largest, true);
            self.line(format!("largest = {largest};"));
        }
    }

    /// Emits the output of a loss. The shader reads the loss at the turning point.
    pub(super) fn store_result(&mut self, op: &SsaOp, operands: &[&str]) {
        let (Some(losses), &[_, loss]) = (&self.text.losses, operands) else { return };
        let result =
            literal(&self.text.lane_run.function, op).and_then(|result| losses.results.get(result as usize));
        let Some(SeededResult { rows, words }) = result else { return self.line("failed = true;") };
        let bits = self.to_word(Some(Class::Real), loss);
        words.iter().for_each(|word| self.line(format!("set_output({word}u, {bits});")));
        if self.text.is_watched() {
            for &(row, seed) in rows {
                let term = self.weighted(loss, seed);
                self.line(format!("loss{row} = loss{row} + abs({term});"));
            }
        }
    }

    /// Returns an expression for the product of a number and the magnitude of a seed.
    fn weighted(&self, number: &str, seed: f64) -> String {
        if seed == 1.0 { number.to_owned() } else { format!("{} * {number}", self.near(seed, false)) }
    }

    /// Emits the end of the reverse sweep, with a check that fails if the reverse sweep took other branches than the
    /// primal sweep. Also emits the computation of `most`, the largest difference that rounding explains. `most`
    /// depends on the largest magnitude of all reals so far, including the inputs.
    pub(super) fn arrived(&mut self) {
        let Some(losses) = self.text.losses.as_ref().filter(|_| self.text.is_watched()) else { return };
        for &(first, count) in &losses.inputs {
            self.through((WordSource::Input(first), count), &[], |writer, source, _| {
                let input = writer.of_word(Some(Class::Real), source);
                writer.line(format!("largest = larger(largest, {input});"));
            });
        }
        let ulps = self.near(Rounding::of(self.numbers.system).ulps, true);
        self.line(format!("most = {ulps} * ulp_of(largest);"));
        self.fail("path != 0lu", None);
    }

    /// Emits the comparison of a real at the start with the number that the reverse sweep restored. Only the first row
    /// checks the size of the difference.
    pub(super) fn missed(&mut self, row: u32, [start, found, adjoint]: [&str; 3]) {
        if start == found {
            return;
        }
        if row == 0 {
            self.fail(&format!("is_missed({found}, {start}, most)"), None);
        }
        // A difference whose adjoint is the literal 0 has no effect on the loss.
        if adjoint != ZERO {
            let lost = format!("weighed(distance({found}, {start}), {adjoint})");
            self.line(format!("error{row} = summed(error{row}, {lost});"));
        }
    }

    /// Emits the record of a freed number whose adjoint may differ from 0. The code adds the number times the adjoint
    /// to the error of row `row`. If `row` is `None`, the code adds the product to the error of row 0, and also records
    /// the magnitude of the number.
    pub(super) fn freed(&mut self, freed: &str, adjoint: &str, row: Option<u32>) {
        if row.is_none() {
            self.line(format!("freed = larger(freed, {freed});"));
        }
        // A number whose adjoint is the literal 0 has no effect on the loss.
        if adjoint != ZERO {
            let sum = format!("error{}", row.unwrap_or(0));
            self.line(format!("{sum} = summed({sum}, weighed({freed}, {adjoint}));"));
        }
    }

    /// Emits the copying of the output words. One loop copies all words that are adjacent in memory.
    fn store_found(&mut self, lane_end: &LaneEnd) {
        let mut homes = (0_u32..).zip(&lane_end.outputs).peekable();
        while let Some((word, home)) = homes.next() {
            let Some(home) = *home else { continue };
            match home {
                CellHome::Value(value) => {
                    let class = self.text.lane_run.function.class(value);
                    let bits = self.to_word(class, &self.value(value));
                    self.line(format!("set_output({word}u, {bits});"));
                }
                CellHome::Memory(first) => {
                    let mut count = 1;
                    let is_next =
                        |home: &Option<CellHome>, count| *home == Some(CellHome::Memory(first + count));
                    while homes.next_if(|(_, home)| is_next(home, count)).is_some() {
                        count += 1;
                    }
                    self.through((WordSource::Same(0), count), &[first], |writer, _, offset| {
                        let held = writer.place_of(first, offset).held();
                        writer.line(format!("set_output({word}u + {}, {held});", offset.text()));
                    });
                }
            }
        }
    }

    /// Emits the outputs of a lane, its checks, and its end.
    pub(super) fn arrive(&mut self, lane_end: &LaneEnd) {
        self.store_found(lane_end);
        for compared in &lane_end.compared {
            self.compare(compared);
        }
        if self.text.is_watched() {
            self.check_losses(lane_end);
        }
        let is_over = if self.text.has_adjoints() {
            // If the reverse sweep has another number of steps than the primal sweep, the sweeps have diverged.
            if self.text.is_verified() {
                self.fail("!(clock == 0li)", None);
            }
            "false"
        } else {
            self.report_steps();
            "bitcast<u64>(clock) > most_steps"
        };
        self.end_lane(is_over, "ARRIVED");
        self.line("return;");
    }

    /// Emits the report of the number of steps so far, if the request asks for it.
    pub(super) fn report_steps(&mut self) {
        if self.text.reports_steps {
            self.line("steps[lane] = bitcast<u64>(clock);");
        }
    }

    /// Emits the end of a lane. A lane whose iterations are exhausted doesn't end, but starts again in another
    /// dispatch. `is_over` is the condition that the step limit is exceeded, and `otherwise` is the status of a lane
    /// within the step limit.
    pub(super) fn end_lane(&mut self, is_over: &str, otherwise: &str) {
        let is_spent = match self.pass {
            KernelKind::NonResumable if self.has_iterations() => "rounds > most_rounds",
            KernelKind::NonResumable | KernelKind::Resumable => "false",
        };
        self.line(format!("end_lane({is_spent}, {is_over}, {otherwise});"));
    }

    /// Emits checks that fail if errors of the reverse sweep change a loss by more than rounding does.
    fn check_losses(&mut self, lane_end: &LaneEnd) {
        // The CPU may add the same numbers in another order and with more precision, so the shader's bounds are
        // tighter.
        let less = if self.numbers.system == RealSystem::F32 { 0.99 } else { 1.0 - 1e-6 };
        let &Rounding { of_loss, of_freed, part, few_ulps, .. } = Rounding::of(self.numbers.system);
        let few = self.near(few_ulps, true);
        self.line(format!("let few = {few} * ulp_of(largest);"));
        let bounds = [of_loss, of_freed, part].map(|bound| self.near(bound * less, true));
        for row in self.text.rows() {
            self.check_loss(lane_end, row, &bounds);
        }
    }

    fn check_loss(&mut self, lane_end: &LaneEnd, row: usize, [of_loss, of_freed, part]: &[String; 3]) {
        let seed = self.text.losses.as_ref().and_then(|losses| losses.largest_seeds.get(row));
        let few = self.weighted("few", seed.copied().unwrap_or(1.0));
        let is_zero = format!("(max(error{row}, loss{row}) <= {few})");
        self.fail(&format!("!(error{row} <= {part} * loss{row}) & !{is_zero}"), None);
        // The CPU handles freed numbers with few digits separately. The shader doesn't.
        let exceeds = |size: &str| {
            format!(
                "!(error{row} <= {of_loss} * {size}) | (!(freed <= few) & !(error{row} <= {of_freed} * {size}))"
            )
        };
        // The shader computes the sum of |real·adjoint| only if the error is too large in comparison with the loss
        // alone, which is rare.
        self.open(format!("if ({}) {{", exceeds(&format!("loss{row}"))));
        self.line(format!("var size = loss{row};"));
        for terms in &lane_end.terms {
            match terms {
                LossTerms::Value(start, adjoints) => {
                    let Some(&adjoint) = adjoints.get(row) else { continue };
                    let (start, adjoint) = (self.value(*start), self.at_home(Class::Real, adjoint));
                    self.line(format!("size = size + abs({start} * {adjoint});"));
                }
                LossTerms::Words { input, count, adjoints } => {
                    let Some(&first) = adjoints.get(row) else { continue };
                    self.through((WordSource::Input(*input), *count), &[first], |writer, source, offset| {
                        let adjoint = writer.place_of(first, offset).held();
                        let [start, adjoint] =
                            [source, adjoint.as_str()].map(|word| writer.of_word(Some(Class::Real), word));
                        writer.line(format!("size = size + abs({start} * {adjoint});"));
                    });
                }
            }
        }
        self.fail(&format!("{} | !(size - size == zero)", exceeds("size")), None);
        self.close();
    }

    fn compare(&mut self, compared: &Compared) {
        match compared {
            Compared::Value { class, found, expected, closeness } => {
                if self.plan.resolved(*found) == self.plan.resolved(*expected) {
                    return;
                }
                let (found, expected) = (self.value(*found), self.value(*expected));
                if found != expected {
                    self.alike(*class, &found, &expected, *closeness);
                }
            }
            Compared::Words { expected, closeness } => {
                let run = *expected;
                self.through((run.source, run.count), &[run.word], |writer, source, offset| {
                    let held = writer.place_of(run.word, offset).held();
                    let fails = match closeness {
                        Closeness::Same => format!("{held} != {source}"),
                        Closeness::Close => format!("is_far({held}, {source})"),
                    };
                    writer.fail(&fails, None);
                });
            }
        }
    }

    fn alike(&mut self, class: Class, found: &str, expected: &str, closeness: Closeness) {
        match closeness {
            Closeness::Same if class == Class::Real && self.real() != "i64" => {
                let [a, b] = [found, expected].map(|value| self.to_word(Some(class), value));
                self.fail(&format!("{a} != {b}"), None);
            }
            Closeness::Same => self.fail(&format!("{found} != {expected}"), None),
            Closeness::Close => {
                let tolerance = self.near(self.numbers.tolerance, true);
                self.fail(&format!("!(distance({found}, {expected}) <= {tolerance})"), None);
            }
        }
    }

    /// Returns the functions that verify floats. These functions compute with less precision than the CPU. So they fail
    /// some correct lanes, but accept no wrong lane.
    pub(super) fn verifying(&self) -> String {
        if !self.has_reals {
            return String::new();
        }
        let real = self.real();
        let (above, least, bits, fraction, word) = match self.numbers.system {
            RealSystem::F64 => ("", "", "u64", "52", "lu"),
            // If a sum or product were rounded down or underflowed, an error could stay undetected.
            RealSystem::F32 => (" * 1.0000004f", " + 1e-37f", "u32", "23", "u"),
            RealSystem::Fixed(_) => return String::new(),
        };
        let &Rounding { part, .. } = Rounding::of(self.numbers.system);
        let (part, one) = (self.near(part, true), MARK_FACTOR);
        let iterations: String = MARK_ROUNDS
            .iter()
            .map(|(shift, factor)| format!("    mark = (mark ^ (mark >> {shift}u)) * {factor}lu;\n"))
            .collect();
        let tolerance = self.near(self.numbers.tolerance, true);
        let [of_found, of_wanted] = ["found", "wanted"].map(|word| self.of_word(Some(Class::Real), word));
        let mut text = format!(
            "\
fn distance(a: {real}, b: {real}) -> {real} {{
    return abs(a - b){above};
}}

// Returns true if two reals, given as words, differ by more than the tolerance.
fn is_far(found: u64, wanted: u64) -> bool {{
    return !(distance({of_found}, {of_wanted}) <= {tolerance});
}}

"
        );
        if self.text.is_watched() {
            let Some(float) = FloatType::of(self.numbers.system) else { return text };
            let [a_is_zero, b_is_zero, wanted_is_zero] = ["a", "b", "wanted"].map(|name| float.is_zero(name));
            text.push_str(&format!(
                "\
fn mark_of(number: u64) -> u64 {{
    var mark = number * {one}lu;
{iterations}    return mark ^ (mark >> {MARK_SHIFT}u);
}}

// Returns the unit in the last place of a number that isn't negative; 0 if the unit would be subnormal.
fn ulp_of(number: {real}) -> {real} {{
    let exponent = bitcast<{bits}>(number) >> {fraction}u;
    let last = select(0{word}, (exponent - {fraction}{word}) << {fraction}u, exponent > {fraction}{word});
    return bitcast<{real}>(last);
}}

fn larger(most: {real}, number: {real}) -> {real} {{
    return max(most, abs(number));
}}

fn summed(a: {real}, b: {real}) -> {real} {{
    return (a + b){above};
}}

// Returns the magnitude of a product; 0 if a factor is 0.
fn weighed(a: {real}, b: {real}) -> {real} {{
    let product = abs(a * b){above}{least};
    return select(product, zero, {a_is_zero} | {b_is_zero});
}}

// Returns true if rounding doesn't explain the difference between a restored real and the start.
fn is_missed(found: {real}, wanted: {real}, most: {real}) -> bool {{
    let by = distance(found, wanted);
    return !(by <= most) | (!{wanted_is_zero} & !(by <= abs(wanted) * {part}));
}}

"
            ));
        }
        text
    }
}
