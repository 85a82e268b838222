//! Plots of a run, as curves and as a description in words.

use reviver_inspect::trace::{CellTrace, TracePoint};
use reviver_isa::instruction::Class;
use reviver_isa::names::adjoint_name;
use reviver_pictures::document::Words;
use reviver_pictures::numbers::{grouped, short};
use reviver_pictures::palette::COLOURS;
use reviver_pictures::plot::{Between, Curve, Panel, Plot, Shaded};

use crate::following::cells::ObservedCell;
use crate::following::sampler::Sampler;

/// Data of a plot.
pub struct PlotPage<'p> {
    pub file: String,
    /// Cells to plot. If `has_against` is true, the last cell is the horizontal axis.
    pub cells: Vec<ObservedCell>,
    pub has_against: bool,
    /// Name of the loss whose adjoints are plotted.
    pub adjoints_of: Option<&'p str>,
    /// True if each cell has its own panel (`--apart`).
    pub is_apart: bool,
    pub shows_drift: bool,
    pub shows_erased: bool,
    /// Name of the place at which cells were sampled; `None` if they were sampled at every step.
    pub at: Option<String>,
    pub sampler: Sampler,
}

/// Samples of the forward and the backward run.
struct SweepSamples {
    there: Vec<TracePoint>,
    back: Vec<TracePoint>,
    drift: Vec<TracePoint>,
    is_whole: bool,
    /// Interpolation between two samples: a step if every change was recorded, otherwise a line.
    between: Between,
}

impl PlotPage<'_> {
    pub fn plot(&self) -> Plot {
        let kept = |trace: &CellTrace| trace.clone().time_points();
        let Sampler { there, back, drift, .. } = &self.sampler;
        let is_whole = there.is_whole() && back.is_whole();
        // Samples of one place, or of a long run, don't show the values between them, so a line connects them.
        let between = if is_whole && self.at.is_none() { Between::Step } else { Between::Line };
        let seen =
            SweepSamples { there: kept(there), back: kept(back), drift: kept(drift), is_whole, between };
        match self.has_against {
            true => self.against(&seen),
            false => self.over_time(&seen),
        }
    }

    fn over_time(&self, seen: &SweepSamples) -> Plot {
        let both = || seen.there.iter().chain(&seen.back);
        let last = both().last().map_or(0, |time_point| time_point.time);
        let mut panels = self.values(self.curves(both(), seen));
        if let Some(loss) = self.adjoints_of {
            panels.push(Panel { name: format!("derivative of {loss}"), curves: self.adjoints(seen) });
        }
        if self.shows_drift && self.sampler.turned().is_some() {
            let name = "backward minus forward".into();
            panels.push(Panel { name, curves: self.curves(seen.drift.iter(), seen) });
        }
        if self.shows_erased {
            let at = self.sampler.width();
            let points = both().map(|time_point| (time_point.time as f64, value(time_point, at))).collect();
            let curve = Curve { name: "erased".into(), points, between: Between::Step, colour: COLOURS - 1 };
            panels.push(Panel { name: "bits".into(), curves: vec![curve] });
        }
        let turn = self.sampler.turned();
        let shaded = turn.filter(|turn| *turn < last).map(|turn| Shaded {
            from: turn as f64,
            to: last as f64,
            name: "back".into(),
        });
        let along = if turn.is_some() { "steps, forward and backward" } else { "steps" };
        let extent = Some((0.0, (last as f64).max(1.0)));
        let words = self.words(&panels, &format!("over {} steps", grouped(last)), seen);
        Plot { words, along: along.into(), extent, shaded, panels }
    }

    /// Returns one panel with all curves, or with `--apart` a panel for each curve.
    fn values(&self, curves: Vec<Curve>) -> Vec<Panel> {
        let panel = |curves| Panel { name: "value".into(), curves };
        match self.is_apart {
            true => curves.into_iter().map(|curve| panel(vec![curve])).collect(),
            false => vec![panel(curves)],
        }
    }

    /// Returns a curve for each cell.
    fn curves<'m>(
        &self,
        time_points: impl Iterator<Item = &'m TracePoint> + Clone,
        seen: &SweepSamples,
    ) -> Vec<Curve> {
        let curve = |(n, cell): (usize, &ObservedCell)| {
            let points = time_points
                .clone()
                .map(|time_point| (time_point.time as f64, value(time_point, n)))
                .collect();
            Curve { name: cell.name.clone(), points, between: seen.between, colour: n }
        };
        self.cells.iter().enumerate().map(curve).collect()
    }

    /// Returns a curve for each adjoint in the backward run, in the color of its cell.
    fn adjoints(&self, seen: &SweepSamples) -> Vec<Curve> {
        let real = self.cells.iter().enumerate().filter(|(_, cell)| cell.class == Class::Real);
        let curve = |(adjoint, (n, cell)): (usize, (usize, &ObservedCell))| {
            let at = self.cells.len() + adjoint;
            let points =
                seen.back.iter().map(|time_point| (time_point.time as f64, value(time_point, at))).collect();
            Curve { name: adjoint_name(&cell.name), points, between: seen.between, colour: n }
        };
        real.enumerate().map(curve).collect()
    }

    /// Plots the other cells over the last cell. Curves of the backward run are dashed.
    fn against(&self, seen: &SweepSamples) -> Plot {
        let Some((along, cells)) = self.cells.split_last() else { return Plot::default() };
        let trace_points = |time_points: &[TracePoint], n: usize| {
            time_points
                .iter()
                .map(|time_point| (value(time_point, cells.len()), value(time_point, n)))
                .collect()
        };
        // The path between samples is known only if every time point was sampled.
        let is_known = self.at.is_none() && seen.is_whole;
        let between = if is_known { Between::Line } else { Between::Nothing };
        let there = cells.iter().enumerate().map(|(n, cell)| Curve {
            name: cell.name.clone(),
            points: trace_points(&seen.there, n),
            between,
            colour: n,
        });
        let back = cells.iter().enumerate().filter(|_| !seen.back.is_empty()).map(|(n, cell)| Curve {
            name: format!("{} (back)", cell.name),
            points: trace_points(&seen.back, n),
            between,
            colour: COLOURS + (n + 1) % COLOURS,
        });
        let curves: Vec<Curve> = there.chain(back).collect();
        let name = cells.iter().map(|cell| cell.name.clone()).collect::<Vec<_>>().join(", ");
        let panels = vec![Panel { name, curves }];
        let words = self.words(&panels, &format!("over {}", along.name), seen);
        Plot { words, along: along.name.clone(), extent: None, shaded: None, panels }
    }

    fn words(&self, panels: &[Panel], over: &str, seen: &SweepSamples) -> Words {
        let names: Vec<&str> = match self.has_against {
            true => self.cells.split_last().map_or(&[][..], |(_, cells)| cells),
            false => &self.cells[..],
        }
        .iter()
        .map(|cell| cell.name.as_str())
        .collect();
        let title = format!("{}: {} {over}", self.file, names.join(", "));
        let mut description = String::new();
        for panel in panels {
            for curve in &panel.curves {
                let reported = match curve.bounds() {
                    Some([low, high, last]) => {
                        format!("from {} to {}, at the end {}", short(low), short(high), short(last))
                    }
                    None => "no values".to_owned(),
                };
                description.push_str(&format!("{} ({}): {reported}. ", curve.name, panel.name));
            }
        }
        if let Some(turn) = self.sampler.turned() {
            description.push_str(&format!("The backward run begins after {} steps. ", grouped(turn)));
        }
        if let Some(place) = &self.at {
            description.push_str(&format!("Sampled where the run reaches {place}. "));
        }
        if !seen.is_whole {
            description.push_str(
                "The picture shows only the least and the greatest value of each part of the run. ",
            );
        }
        Words { title, description: description.trim_end().to_owned() }
    }
}

fn value(time_point: &TracePoint, n: usize) -> f64 {
    time_point.values.get(n).copied().unwrap_or(f64::NAN)
}
