//! `reviver graph`: draws a program's flow charts, and the call tree of a run, or its memory graphs.

use std::io::{IsTerminal as _, stdout};

use reviver_debugger::columns::width;
use reviver_inspect::follow::{self, PlacedObserver, RunObserver as _};
use reviver_inspect::memory::Memory;
use reviver_pictures::call_tree::{self, CallLine};
use reviver_pictures::canvas::Canvas;
use reviver_pictures::document::Words;
use reviver_pictures::flow_chart::FlowChart;
use reviver_pictures::memory_graph::MemoryGraph;
use reviver_pictures::numbers::grouped;
use reviver_pictures::{memory_page, memory_text};
use reviver_vm::{Program, Travel};
use std::sync::Arc;

use crate::charts::{calls::CallCounter, flow, memory};
use crate::cli::{GraphOptions, GraphPart};
use crate::failure::{Failure, Fallible, all};
use crate::output::picture;
use crate::run_to_end::{self, RunToEnd, Shows};
use crate::{ended, read, start, streams, write};

/// Flow charts and call tree to draw.
struct GraphPage {
    file: String,
    charts: Vec<FlowChart>,
    calls: Vec<CallLine>,
}

pub fn run(options: &GraphOptions) -> Fallible {
    start::check_input(&options.given, &[])?;
    let program = start::plain_program(&options.given)?;
    if options.shows_memory || options.only == Some(GraphPart::Memory) {
        return draw_memory(options, &program);
    }
    let charts = match options.only {
        Some(GraphPart::Calls) => Vec::new(),
        _ => flow::charts(&program),
    };
    let (calls, outcome) = match options.only {
        Some(GraphPart::Flow) => (Vec::new(), Ok(())),
        _ => counted(options, &program)?,
    };
    let target = write::picture(&options.drawn)?;
    let graph = GraphPage { file: read::titled(&options.given.file), charts, calls };
    let drawn = if target.is_none() && stdout().is_terminal() && !graph.calls.is_empty() {
        if !graph.charts.is_empty() {
            streams::complain(
                "note: the terminal shows only the call tree; `-o FILE.svg` writes a picture that has the flow chart, too\n",
            );
        }
        streams::print(&call_tree::text(&graph.calls))
    } else {
        picture::write(&graph.svg(), target)
    };
    all([outcome, drawn])
}

/// Draws the memory graphs. The program doesn't run.
fn draw_memory(options: &GraphOptions, program: &Program) -> Fallible {
    let file = read::titled(&options.given.file);
    let graphs = memory::graphs(program).map_err(|exceeded| {
        let cause = exceeded.words();
        Failure::load(format_args!("{file}: the memory graph would be too large: {cause}"))
            .help("draw a smaller program, for example one with a loop instead of repeated statements, or the flow chart: `--only flow`")
    })?;
    let target = write::picture(&options.drawn)?;
    if target.is_some() || !stdout().is_terminal() {
        return picture::write(&memory_page::svg(&file, &graphs), target);
    }
    let texts: Vec<String> = graphs.iter().map(MemoryGraph::text).collect();
    let text = texts.join("\n") + "\n" + memory_text::LEGEND;
    let widest = text.lines().map(width).max().unwrap_or(0);
    if streams::columns().is_some_and(|columns| columns < widest) {
        streams::complain(&format!(
            "note: the graph needs {widest} columns, more than the terminal has; `-o FILE.svg` writes a picture\n"
        ));
    }
    streams::print(&text)
}

/// Runs the program and counts its calls. Returns the lines of the call tree, and the verdict on the run.
fn counted(options: &GraphOptions, program: &Arc<Program>) -> Fallible<(Vec<CallLine>, Fallible)> {
    let machine = start::machine(&options.given, program, Travel::Forward)?;
    let mut checkpointed_run = run_to_end::begin(machine, None, Travel::Forward)?;
    let mut counter = CallCounter::new(program.clone(), checkpointed_run.machine().state());
    let places = follow::places(&Memory::new(program.clone()), CallCounter::instructions(program));
    let mut observer = PlacedObserver { places, looks: &mut counter };
    let to_end = RunToEnd { limit: options.max_steps, shows: Shows::Dropped, observer: Some(&mut observer) };
    let ending = run_to_end::go(to_end, &mut checkpointed_run, Travel::Forward)?;
    counter.look(checkpointed_run.machine().state(), Travel::Forward, None);
    Ok((counter.lines(), ended::verdict(&options.given.file, "", &ending)))
}

const MARGIN: f64 = 24.0;

/// Maximum total width of the charts in a row, in user units of the SVG.
const WIDTH: f64 = 1200.0;

impl GraphPage {
    fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        let (mut x, mut y, mut tallest, mut widest) = (MARGIN, MARGIN, 0.0_f64, 0.0_f64);
        for chart in &self.charts {
            let (width, _) = chart.draw(&mut Canvas::default(), (x, y));
            if x > MARGIN && x + width > WIDTH {
                (x, y, tallest) = (MARGIN, y + tallest + MARGIN, 0.0);
            }
            let (width, height) = chart.draw(&mut canvas, (x, y));
            x += width + 2.0 * MARGIN;
            (tallest, widest) = (tallest.max(height), widest.max(x));
        }
        y += tallest;
        if !self.calls.is_empty() {
            y += if self.charts.is_empty() { 0.0 } else { MARGIN };
            let (width, height) =
                call_tree::draw("calls, and their steps", &self.calls, &mut canvas, (MARGIN, y));
            (y, widest) = (y + height, widest.max(width + 2.0 * MARGIN));
        }
        canvas.document(&self.words(), (widest.max(200.0), y + MARGIN))
    }

    fn words(&self) -> Words {
        let title = match (self.charts.is_empty(), self.calls.is_empty()) {
            (false, true) => format!("{}: control flow", self.file),
            (true, _) => format!("{}: calls", self.file),
            (false, false) => format!("{}: control flow and calls", self.file),
        };
        let charts =
            self.charts.iter().map(|chart| format!("Control flow of {}: {}. ", chart.name, chart.words()));
        let calls = self.calls.iter().map(|line| {
            let times =
                if line.calls == 1 { "once".into() } else { format!("{} times", grouped(line.calls)) };
            let (steps, own) = (grouped(line.steps), grouped(line.own));
            format!("{}: called {times}, {steps} steps, {own} without its callees. ", line.name)
        });
        let description: String = charts.chain(calls).collect();
        Words { title, description: description.trim_end().to_owned() }
    }
}
