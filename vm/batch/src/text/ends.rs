//! Emits the turning point of a gradient and the end of a lane: its outputs and its checks. The checks ensure that the
//! CPU would accept the results without a warning or recomputation. The bounds are explained in
//! `reviver_vm::differentiate::astray` and `reviver_vm::watch`; any doubt here fails the lane.

use reviver_compile::op::SsaValue;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::watch::{MARK_FACTOR, MARK_ROUNDS, MARK_SHIFT, Rounding};

use super::Writer;
use crate::ends::{Compared, LaneArrival, LaneTurning, Likeness};
use crate::journey::CellHome;
use crate::operations::{FloatType, ZERO};
use crate::shader::ShaderPass;
use crate::words::{WordRun, WordSource};

impl Writer<'_> {
    /// Returns the text of a value, or of a cell's word converted to its class.
    fn at_home(&self, class: Class, home: CellHome) -> String {
        match home {
            CellHome::Value(value) => self.value(value),
            CellHome::Memory(word) => self.of_word(Some(class), &self.place(word).held()),
        }
    }

    pub(super) fn turn(&mut self, turning: &LaneTurning) {
        self.tell_steps();
        let losses: Vec<String> =
            turning.losses.iter().map(|(home, _)| self.at_home(Class::Real, *home)).collect();
        for (loss, (_, words)) in losses.iter().zip(&turning.losses) {
            let bits = self.to_word(Some(Class::Real), loss);
            words.iter().for_each(|word| self.line(format!("tell({word}u, {bits});")));
        }
        self.open("if (bitcast<u64>(clock) > most_steps) {");
        self.end_lane("true", "OVER");
        self.line("return;");
        self.close();
        if !self.text.is_watched() {
            return;
        }
        for (row, loss) in losses.iter().enumerate() {
            self.line(format!("loss{row} = {loss};"));
        }
        let largest = self.near(turning.largest, true);
        self.line(format!("largest = {largest};"));
        let mut reals: Vec<SsaValue> = turning.reals.iter().map(|&value| self.plan.resolved(value)).collect();
        reals.sort_unstable();
        reals.dedup();
        for value in reals {
            let value = self.value(value);
            self.line(format!("largest = larger(largest, {value});"));
        }
        for run in &turning.first {
            self.through(run, &[], |writer, source, _| {
                let given = writer.of_word(Some(Class::Real), source);
                writer.line(format!("largest = larger(largest, {given});"));
            });
        }
        for run in &turning.words {
            let run = WordRun { word: run.word, count: run.cells(), source: WordSource::Same(0) };
            self.through(&run, &[], |writer, _, offset| {
                let held = writer.of_word(Some(Class::Real), &writer.place_of(run.word, offset).held());
                writer.line(format!("largest = larger(largest, {held});"));
            });
        }
    }

    /// Emits the bookkeeping for a freed number with an adjoint. `row` is the output row of a copied operation, which
    /// only adds to that row's error. It is None for the original, in row 0, which also records the size of the number.
    pub(super) fn freed(&mut self, freed: &str, adjoint: &str, row: Option<u32>) {
        if row.is_none() {
            self.line(format!("freed = larger(freed, {freed});"));
        }
        // If the adjoint is the literal 0, the number has no effect on the loss.
        if adjoint != ZERO {
            let sum = format!("freed_error{}", row.unwrap_or(0));
            self.line(format!("{sum} = summed({sum}, weighed({freed}, {adjoint}));"));
        }
    }

    /// Emits the copying of the output words; words that are adjacent in memory are copied by one loop.
    fn store_found(&mut self, arrival: &LaneArrival) {
        let mut homes = (0_u32..).zip(&arrival.found).peekable();
        while let Some((word, home)) = homes.next() {
            let Some(home) = *home else { continue };
            match home {
                CellHome::Value(value) => {
                    let class = self.text.journey.form.class(value);
                    let bits = self.to_word(class, &self.value(value));
                    self.line(format!("tell({word}u, {bits});"));
                }
                CellHome::Memory(first) => {
                    let mut count = 1;
                    let is_next =
                        |home: &Option<CellHome>, count| *home == Some(CellHome::Memory(first + count));
                    while homes.next_if(|(_, home)| is_next(home, count)).is_some() {
                        count += 1;
                    }
                    let run = WordRun { word: first, count, source: WordSource::Same(0) };
                    self.through(&run, &[], |writer, _, offset| {
                        let held = writer.place_of(first, offset).held();
                        writer.line(format!("tell({word}u + {}, {held});", offset.text()));
                    });
                }
            }
        }
    }

    /// Emits the outputs of a lane, its checks, and its end.
    pub(super) fn arrive(&mut self, arrival: &LaneArrival) {
        self.store_found(arrival);
        if self.text.is_watched() {
            let Rounding { ulps, few_ulps, .. } = Rounding::of(self.numbers.system);
            let [ulps, few_ulps] = [ulps, few_ulps].map(|bound| self.near(bound, true));
            self.line(format!("let most = {ulps} * ulp_of(largest);"));
            self.line(format!("let few = {few_ulps} * ulp_of(largest);"));
            for row in self.text.rows() {
                self.line(format!("error{row} = freed_error{row};"));
            }
            self.fail("path != 0lu", None);
        }
        for compared in &arrival.compared {
            self.compare(compared);
        }
        if self.text.is_watched() {
            self.weigh(arrival);
        }
        let is_over = match self.text.turning {
            Some(_) => {
                // A reverse sweep with another number of steps than the forward sweep has diverged.
                if self.text.is_judged() {
                    self.fail("!(clock == 0li)", None);
                }
                "false"
            }
            None => {
                self.tell_steps();
                "bitcast<u64>(clock) > most_steps"
            }
        };
        self.end_lane(is_over, "ARRIVED");
        self.line("return;");
    }

    /// Emits the report of the steps so far, if requested.
    pub(super) fn tell_steps(&mut self) {
        if self.text.tells_steps {
            self.line("steps[lane] = bitcast<u64>(clock);");
        }
    }

    /// Emits the end of a lane; a lane with exhausted iterations starts anew instead.
    pub(super) fn end_lane(&mut self, is_over: &str, otherwise: &str) {
        let is_spent = match self.pass {
            ShaderPass::Single if self.has_rounds() => "rounds > most_rounds",
            ShaderPass::Single | ShaderPass::Resumable => "false",
        };
        self.line(format!("end_lane({is_spent}, {is_over}, {otherwise});"));
    }

    /// Emits checks that fail if differences change a loss by more than rounding does.
    fn weigh(&mut self, arrival: &LaneArrival) {
        // The CPU may add the same numbers in another order, and with more precision, so the bounds are tightened.
        let less = if self.numbers.system == RealSystem::F32 { 0.99 } else { 1.0 - 1e-6 };
        let Rounding { of_loss, of_freed, part, .. } = Rounding::of(self.numbers.system);
        let bounds = [of_loss, of_freed, part].map(|bound| self.near(bound * less, true));
        for row in self.text.rows() {
            self.weigh_row(arrival, row, &bounds);
        }
    }

    fn weigh_row(&mut self, arrival: &LaneArrival, row: usize, [of_loss, of_freed, part]: &[String; 3]) {
        let is_zero = format!("(max(error{row}, abs(loss{row})) <= few)");
        self.fail(&format!("!(error{row} <= {part} * abs(loss{row})) & !{is_zero}"), None);
        // Only the CPU treats freed numbers with few digits separately.
        let exceeds = |size: &str| {
            format!(
                "!(error{row} <= {of_loss} * {size}) | (!(freed <= few) & !(error{row} <= {of_freed} * {size}))"
            )
        };
        // The size of the loss alone mostly suffices.
        self.open(format!("if ({}) {{", exceeds(&format!("abs(loss{row})"))));
        self.line(format!("var size = abs(loss{row});"));
        for (start, adjoints) in &arrival.terms {
            let Some(&adjoint) = adjoints.get(row) else { continue };
            let (start, adjoint) = (self.value(*start), self.at_home(Class::Real, adjoint));
            self.line(format!("size = size + abs({start} * {adjoint});"));
        }
        for compared in &arrival.compared {
            let Compared::Words { expected, likeness: Likeness::Restored, adjoints, .. } = compared else {
                continue;
            };
            let Some(first) = adjoints.get(row) else { continue };
            if matches!(expected.source, WordSource::Given(_)) {
                self.through(expected, &[*first], |writer, source, offset| {
                    let adjoint = writer.place_of(*first, offset).held();
                    let [start, adjoint] =
                        [source, adjoint.as_str()].map(|word| writer.of_word(Some(Class::Real), word));
                    writer.line(format!("size = size + abs({start} * {adjoint});"));
                });
            }
        }
        self.fail(&format!("{} | !(size - size == zero)", exceeds("size")), None);
        self.close();
    }

    fn compare(&mut self, compared: &Compared) {
        match compared {
            Compared::Value { class, found, expected, likeness, adjoints } => {
                if self.plan.resolved(*found) == self.plan.resolved(*expected) {
                    return;
                }
                let (found, expected) = (self.value(*found), self.value(*expected));
                if found == expected {
                    return;
                }
                let adjoints: Vec<String> =
                    adjoints.iter().map(|home| self.at_home(Class::Real, *home)).collect();
                self.alike(*class, &found, &expected, *likeness, &adjoints);
            }
            Compared::Words { class, expected, likeness, adjoints } => {
                let (class, likeness) = (*class, *likeness);
                self.through(expected, adjoints, |writer, source, offset| {
                    let held = writer.place_of(expected.word, offset).held();
                    let is_real = class == Class::Real && likeness != Likeness::Same;
                    if !is_real {
                        return writer.fail(&format!("{held} != {source}"), None);
                    }
                    if likeness == Likeness::Close {
                        return writer.fail(&format!("is_far({held}, {source})"), None);
                    }
                    if adjoints.is_empty() {
                        // Without an adjoint, the effect of a difference on the loss is unknown.
                        return writer.fail(&format!("{held} != {source}"), None);
                    }
                    writer.line(format!("restore({held}, {source}, most);"));
                    for (row, &first) in adjoints.iter().enumerate() {
                        let adjoint = writer.place_of(first, offset).held();
                        writer.line(format!(
                            "error{row} = summed(error{row}, lost({held}, {source}, {adjoint}));"
                        ));
                    }
                });
            }
        }
    }

    fn alike(&mut self, class: Class, found: &str, expected: &str, likeness: Likeness, adjoints: &[String]) {
        match likeness {
            Likeness::Same if class == Class::Real && self.real() != "i64" => {
                let [a, b] = [found, expected].map(|value| self.to_word(Some(class), value));
                self.fail(&format!("{a} != {b}"), None);
            }
            Likeness::Same => self.fail(&format!("{found} != {expected}"), None),
            Likeness::Close => {
                let tolerance = self.near(self.numbers.tolerance, true);
                self.fail(&format!("!(distance({found}, {expected}) <= {tolerance})"), None);
            }
            Likeness::Restored => {
                self.fail(&format!("is_missed({found}, {expected}, most)"), None);
                for (row, adjoint) in adjoints.iter().enumerate() {
                    let lost = format!("weighed(distance({found}, {expected}), {adjoint})");
                    self.line(format!("error{row} = summed(error{row}, {lost});"));
                }
                if adjoints.is_empty() {
                    // Without an adjoint, the effect of a difference on the loss is unknown.
                    self.fail(&format!("!({found} == {expected})"), None);
                }
            }
        }
    }

    /// Returns the functions that verify floats. With less precision than the CPU's they err on the side of failing.
    pub(super) fn judging(&self) -> String {
        if !self.has_reals {
            return String::new();
        }
        let real = self.real();
        let (above, least, bits, fraction, word) = match self.numbers.system {
            RealSystem::F64 => ("", "", "u64", "52", "lu"),
            // Rounding down a sum or product, or underflow, could hide an error.
            RealSystem::F32 => (" * 1.0000004f", " + 1e-37f", "u32", "23", "u"),
            RealSystem::Fixed(_) => return String::new(),
        };
        let Rounding { part, .. } = Rounding::of(self.numbers.system);
        let (part, one) = (self.near(part, true), MARK_FACTOR);
        let rounds: String = MARK_ROUNDS
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

// Whether two words are those of reals that aren't the same but for the tolerance.
fn is_far(found: u64, wanted: u64) -> bool {{
    return !(distance({of_found}, {of_wanted}) <= {tolerance});
}}

"
        );
        if self.text.is_watched() {
            let Some(float) = FloatType::of(self.numbers.system) else { return text };
            let [a_is_zero, b_is_zero, wanted_is_zero] = ["a", "b", "wanted"].map(|name| float.is_zero(name));
            let [found_real, wanted_real, adjoint] = ["found_word", "wanted_word", "adjoint_word"]
                .map(|word| self.of_word(Some(Class::Real), word));
            text.push_str(&format!(
                "\
fn mark_of(number: u64) -> u64 {{
    var mark = number * {one}lu;
{rounds}    return mark ^ (mark >> {MARK_SHIFT}u);
}}

// The unit in the last place of a number that isn't negative; 0 where that is too small.
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

// The size of a product, if it has one.
fn weighed(a: {real}, b: {real}) -> {real} {{
    let product = abs(a * b){above}{least};
    return select(product, zero, {a_is_zero} | {b_is_zero});
}}

// Whether a number is off by more than rounding explains.
fn is_missed(found: {real}, wanted: {real}, most: {real}) -> bool {{
    let by = distance(found, wanted);
    return !(by <= most) | (!{wanted_is_zero} & !(by <= abs(wanted) * {part}));
}}

// A word of the lane's own must be another one but for rounding.
fn restore(found_word: u64, wanted_word: u64, most: {real}) {{
    failed = failed | is_missed({found_real}, {wanted_real}, most);
}}

// What changes a loss where they aren't the same: by its adjoint.
fn lost(found_word: u64, wanted_word: u64, adjoint_word: u64) -> {real} {{
    return weighed(distance({found_real}, {wanted_real}), {adjoint});
}}

"
            ));
        }
        text
    }
}
