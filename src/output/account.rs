//! Account of a run: text for users, JSON members for programs.

use std::io::{self, Write};

use reviver_pictures::numbers::short;
use serde_json::{Value as Json, json};

use crate::account::{Account, CellsAndBits};
use crate::failure::counted;

impl Account {
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let reported = |CellsAndBits { cells, bits }| {
            let cells = counted(usize::try_from(cells).unwrap_or(usize::MAX), "cell");
            format!("{cells}, {}", self::bits(bits))
        };
        writeln!(out, "account:")?;
        writeln!(out, "  steps             {}", self.steps)?;
        writeln!(out, "  garbage           {}", reported(self.garbage))?;
        if self.declared.cells > 0 {
            writeln!(out, "  declared garbage  {}", reported(self.declared))?;
        }
        writeln!(out, "  ancillas at once  {}", reported(self.ancillas))?;
        writeln!(out, "  history           {}", counted(self.history_bytes, "byte"))?;
        let kept = if self.kept_bits > 0 { ", which the history keeps" } else { "" };
        writeln!(out, "  erased            {}{kept}", bits(self.erased_bits))?;
        if self.discarded_bits > 0 {
            let discarded = bits(self.discarded_bits);
            writeln!(out, "  discarded         {discarded} of floats within the tolerance")?;
        }
        let heat = |joules| format!("{} J at {} K", short(joules), short(self.kelvin));
        let until = if self.kept_bits > 0 { ", until the history is erased" } else { "" };
        writeln!(out, "  heat              {}{until}", heat(self.joules_due()))?;
        let Some(entropy) = &self.entropy else { return Ok(()) };
        let reported = |bits: f64| format!("{} bit{}", short(bits), if bits == 1.0 { "" } else { "s" });
        let [inputs, results, lost] = [entropy.inputs, entropy.results, entropy.lost()].map(reported);
        let [garbage, mutual] = [entropy.garbage, entropy.mutual()].map(reported);
        writeln!(out, "  inputs            {}, {inputs} of entropy", counted(entropy.cases, "case"))?;
        writeln!(out, "  results           {results} of entropy")?;
        writeln!(out, "  all garbage       {garbage} of entropy: its information about the input")?;
        writeln!(out, "  mutual            {mutual}: information that results and garbage share")?;
        writeln!(out, "  entropy lost      {lost}, {}", heat(self.joules(entropy.lost())))
    }

    pub fn members(&self) -> Json {
        let both = |CellsAndBits { cells, bits }| json!({ "cells": cells, "bits": bits });
        let mut members = json!({
            "steps": self.steps,
            "garbage": both(self.garbage),
            "declared_garbage": both(self.declared),
            "ancillas": both(self.ancillas),
            "history_bytes": self.history_bytes,
            "erased_bits": self.erased_bits,
            "kept_bits": self.kept_bits,
            "discarded_bits": self.discarded_bits,
            "kelvin": self.kelvin,
            "joules": self.joules_due(),
        });
        if let (Some(entropy), Some(object)) = (&self.entropy, members.as_object_mut()) {
            let reported = json!({
                "cases": entropy.cases,
                "inputs": entropy.inputs,
                "results": entropy.results,
                "garbage": entropy.garbage,
                "mutual": entropy.mutual(),
                "garbage_determines_input": entropy.garbage_determines_input(),
                "lost": entropy.lost(),
                "joules": self.joules(entropy.lost()),
            });
            object.insert("entropy".into(), reported);
        }
        members
    }
}

/// Formats a count of bits: "1 bit", "3 bits".
pub fn bits(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "bit")
}
