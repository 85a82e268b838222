//! Outcomes in words, as the line mode prints them. The only file that spells messages about the
//! session; it changes nothing.

use std::collections::HashMap;
use std::fmt::Write;

use reviver_isa::module::Shape;
use reviver_vm::explain::Explanation;
use reviver_vm::{Program, Travel};

use crate::command::table::Command;
use crate::command::{CommandError, Outcome};
use crate::listing::spell;
use crate::outcome::{
    Check, Edit, History, Hit, HitKind, Motion, Origin, OriginCause, Print, Printed, Reason, Seed, Touch,
};
use crate::points::{Point, Trigger, UNNUMBERED, Watch};
use crate::session::{Event, Range, Session};
use crate::timeline::{BranchNumber, Calls, Fork, Moment, SpanEnd};
use crate::view::card::CardView;
use crate::view::cells::{ArrayView, CellView, CellsPane};
use crate::view::code::{Bracket, CodeLine, CodePane, Piece, detail};
use crate::view::plot::Plot;
use crate::view::stack::{FrameView, Row};
use crate::view::status::Status;
use crate::view::timeline::{Events, Happening};

/// What came of a command, line by line, each with its end. The session may have gone on since.
pub fn render(session: &Session, outcome: &Outcome) -> String {
    let mut page = Page { session, out: String::new(), depth: 0 };
    page.outcome(outcome);
    page.out
}

/// What a script did before it failed; empty where the error is none of a script.
pub fn render_done(session: &Session, error: &CommandError) -> String {
    let mut page = Page { session, out: String::new(), depth: 0 };
    page.done(error);
    page.out
}

/// What `show` and log points printed on the way to an outcome, line by line.
pub fn printed(session: &Session, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Motion(motion) => prints(session, &motion.printed),
        Outcome::All(all) => all.iter().map(|(_, outcome)| printed(session, outcome)).collect(),
        _ => String::new(),
    }
}

fn prints(session: &Session, printed: &Printed) -> String {
    let program = session.program();
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut text = String::new();
    for print in printed.lines() {
        let _ = match print {
            Print::Shown { at, value } => {
                let name = names.entry(*at).or_insert_with(|| name_shown(program, *at));
                writeln!(text, "{name} = {}", program.text(*value))
            }
            // In a transcript a line that begins with `> ` is a command.
            Print::Logged(line) if line.starts_with("> ") => writeln!(text, " {line}"),
            Print::Logged(line) => writeln!(text, "{line}"),
        };
    }
    if printed.left_out() > 0 {
        let _ = writeln!(text, "… and {} lines more", printed.left_out());
    }
    text
}

/// The name of what a `show` shows, as the instruction has it.
fn name_shown(program: &Program, at: u32) -> String {
    let text = spell(program, at, false);
    text.split_once(' ').map_or(text.as_str(), |(_, operand)| operand).to_owned()
}

/// An error and what could help.
pub fn render_error(error: &CommandError) -> String {
    let help = error.help().map_or(String::new(), |help| format!("  help: {help}\n"));
    format!("error: {error}\n{help}")
}

struct Page<'a> {
    session: &'a Session,
    out: String,
    /// Scripts whose outcome this is a part of.
    depth: usize,
}

/// Writes a line; writing to a string can't fail.
macro_rules! line {
    ($page:expr, $($text:tt)*) => {{
        let _ = writeln!($page.out, $($text)*);
    }};
}

impl Page<'_> {
    fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Motion(motion) => self.motion(motion),
            Outcome::Values(values) => values.iter().for_each(|(text, value)| match value {
                Ok(value) => line!(self, "{text} = {value}"),
                Err(error) => line!(self, "{text}: {error}"),
            }),
            Outcome::Array(array) => self.array(array),
            Outcome::PointSet(point) => self.point(point),
            Outcome::Points(points) if points.is_empty() => line!(self, "there are none"),
            Outcome::Points(points) => points.iter().for_each(|point| self.point(point)),
            Outcome::Deleted(count) => line!(self, "deleted {count}"),
            Outcome::Origins(chain) => self.origins(chain, None),
            Outcome::History(history) => self.history(history),
            Outcome::Edited { edit, branch } => self.edit(edit, *branch),
            Outcome::Seeded { seed, branch } => self.seed(seed, *branch),
            Outcome::Check(check) => self.check(check),
            Outcome::Code(pane) => self.code(pane),
            Outcome::Instructions(list) => self.instructions(list),
            Outcome::Line { name, instructions } if instructions.is_empty() => {
                line!(self, "{name} has no instructions");
            }
            Outcome::Line { name, instructions } => {
                let count = instructions.len();
                line!(self, "{name} has {count} instruction{}:", plural(count as u64));
                self.instructions(instructions);
            }
            Outcome::Frame(frame) => self.frame(frame),
            Outcome::Frames(frames) if frames.len() == 1 => frames.iter().for_each(|frame| self.frame(frame)),
            Outcome::Frames(frames) => frames.iter().for_each(|frame| {
                self.out.push_str(if frame.is_selected { "* " } else { "  " });
                self.frame(frame);
            }),
            Outcome::Cells(pane) => self.cells(pane),
            Outcome::Rows(rows) => rows.iter().for_each(|row| self.row(row)),
            Outcome::Card(card) => self.card(card),
            Outcome::Status(status) => self.status(status),
            Outcome::Marks(marks) if marks.is_empty() => line!(self, "there are none"),
            Outcome::Marks(marks) => {
                marks.iter().for_each(|(name, at)| line!(self, "{name}: {}", moment(*at)));
            }
            Outcome::Marked { name, at } => line!(self, "mark {name}: {}", moment(*at)),
            Outcome::Events(events) => self.events(events),
            Outcome::Fences(steps) if steps.is_empty() => line!(self, "there are none"),
            Outcome::Fences(steps) => steps.iter().for_each(|step| line!(self, "step {step}")),
            Outcome::Fence { at, is_set: true } => line!(self, "a fence at {}", moment(*at)),
            Outcome::Fence { at, is_set: false } => line!(self, "no fence at {}", moment(*at)),
            Outcome::Forks(forks) => forks.iter().for_each(|fork| self.fork(fork)),
            Outcome::Inverse(lines) => lines.iter().for_each(|text| line!(self, "{text}")),
            Outcome::Plot(plot) => self.plot(plot),
            Outcome::Unplotted(names) if names.is_empty() => line!(self, "nothing is plotted any more"),
            Outcome::Unplotted(names) => line!(self, "still plotted: {}", names.join(", ")),
            Outcome::Help(commands) => self.help(commands),
            Outcome::All(all) => self.all(all),
            Outcome::Saved(path) => line!(self, "saved to {path}"),
            Outcome::Empty => line!(self, "there are none"),
            Outcome::Quit | Outcome::Nothing => {}
        }
    }

    /// Outcomes, each behind its command.
    /// Commands of a script and what came of them.
    fn all(&mut self, all: &[(String, Outcome)]) {
        self.depth += 1;
        for (command, outcome) in all {
            self.command(command);
            self.outcome(outcome);
        }
        self.depth -= 1;
    }

    /// A command of a script. A `>` more tells it from the one that ran the script: who replays a transcript
    /// replays it with that.
    fn command(&mut self, command: &str) {
        if !command.is_empty() {
            line!(self, "{}> {command}", ">".repeat(self.depth));
        }
    }

    /// What a script did before it failed, and the command that did.
    fn done(&mut self, error: &CommandError) {
        let CommandError::Script { done, command, error, .. } = error else { return };
        self.all(done);
        self.depth += 1;
        self.command(command);
        self.done(error);
        self.depth -= 1;
    }

    fn motion(&mut self, motion: &Motion) {
        self.out += &prints(self.session, &motion.printed);
        match &motion.reason {
            Reason::Arrived => {}
            Reason::Points(hits) => hits.iter().for_each(|hit| self.hit(hit)),
            Reason::HistoryBegin => line!(self, "history begin"),
            Reason::HistoryEnd => line!(self, "history end"),
            Reason::Trap(explanation) => self.trap(explanation),
            Reason::Interrupted => line!(self, "interrupted"),
            Reason::Fence => line!(self, "fence"),
            Reason::StepLimit => line!(self, "step limit"),
        }
        self.place(motion);
    }

    /// Where a motion led: step, line, what comes next.
    fn place(&mut self, motion: &Motion) {
        let (session, at) = (self.session, motion.to);
        let inverted = if motion.inverted { ", inverted" } else { "" };
        let Some(next) = motion.next else {
            line!(self, "{}: the end", moment(at));
            return;
        };
        let listing = session.listing();
        let line = listing.line(next);
        let text = listing.text(line).split(';').next().unwrap_or_default().trim();
        let origin = listing.origin(next).map_or(String::new(), |origin| format!(" (source: {origin})"));
        let detail = detail(session, next, motion.inverted);
        let detail = detail.map_or(String::new(), |detail| format!("  ({})", detail.text()));
        line!(self, "{}, {}{origin}{inverted}: {text}{detail}", moment(at), listing.name(line));
    }

    fn edit(&mut self, edit: &Edit, branch: BranchNumber) {
        let Edit { cell, before, after, is_change } = edit;
        match is_change {
            true => line!(self, "{cell}: {before} -> {after}, in branch {branch}"),
            false => line!(self, "{cell} is {after} already: nothing has changed"),
        }
    }

    fn seed(&mut self, seed: &Seed, branch: BranchNumber) {
        let Seed { adjoint, value, cleared, is_change } = seed;
        if !is_change {
            line!(self, "{adjoint} = {value} and gradient mode on already: nothing has changed");
            return;
        }
        line!(self, "{adjoint} = {value} and gradient mode on, in branch {branch}");
        match cleared {
            0 => {}
            1 => line!(self, "another adjoint was not 0, and now is"),
            count => line!(self, "{count} other adjoints were not 0, and now are"),
        }
        line!(self, "going back carries adjoints: `rs`, `rc` and `goto start` walk, `timeline up` leaves");
    }

    fn hit(&mut self, hit: &Hit) {
        let temporary = if hit.temporary { "temporary " } else { "" };
        match &hit.what {
            HitKind::Break { text } => line!(self, "{temporary}breakpoint {}, {text}", hit.id),
            HitKind::Watch { write, .. } if hit.id == UNNUMBERED => self.touch(write),
            HitKind::Watch { watch, write } => {
                let _ = write!(self.out, "{} {}: ", watch.name(), hit.id);
                self.touch(write);
            }
        }
        if let Some(error) = &hit.condition_error {
            line!(self, "  its condition has no value here: {error}");
        }
    }

    fn touch(&mut self, touch: &Touch) {
        let what = match (touch.written, touch.is_changed()) {
            (_, true) => format!("{} -> {}", touch.before, touch.after),
            (true, false) => format!("{} written again", touch.after),
            (false, false) => format!("{} read", touch.after),
        };
        let (name, text) = (&touch.name, &touch.instruction);
        let line = self.session.listing().name(touch.line);
        line!(self, "{name}: {what} by `{text}` ({line}, step {})", touch.step + 1);
    }

    fn trap(&mut self, trap: &Explanation) {
        line!(self, "trap: {}", trap.message);
        let listing = self.session.listing();
        line!(self, "  at `{}` ({})", trap.instruction, listing.name(listing.line(trap.at)));
        for note in &trap.notes {
            line!(self, "  {note}");
        }
    }

    fn point(&mut self, point: &Point) {
        let kind = match point.trigger {
            Trigger::Break(_) => "breakpoint",
            Trigger::Watch { watch: Watch::Change, .. } => "watchpoint",
            Trigger::Watch { watch, .. } => watch.name(),
        };
        let _ = write!(self.out, "{kind} {}: {}", point.id, point.text);
        if let Some(condition) = &point.condition {
            let _ = write!(self.out, " if {}", condition.text());
        }
        if let Some(log) = &point.log {
            let _ = write!(self.out, " log {}", log.text());
        }
        let flags = [(point.temporary, ", temporary"), (!point.enabled, ", disabled")];
        flags.iter().filter(|(is_so, _)| *is_so).for_each(|(_, text)| self.out.push_str(text));
        if point.ignore > 0 {
            let _ = write!(self.out, ", passes {} more", point.ignore);
        }
        if point.hits > 0 {
            let _ = write!(self.out, ", hit {} time{}", point.hits, plural(point.hits));
        }
        self.out.push('\n');
    }

    /// The links that a link asked for, indented below it.
    fn origins(&mut self, chain: &[Origin], parent: Option<usize>) {
        for (n, origin) in chain.iter().enumerate().filter(|(_, origin)| origin.parent == parent) {
            let indent = "  ".repeat(origin.depth);
            match &origin.cause {
                OriginCause::Written { write, sources, store } => {
                    let (name, value, text) = (&origin.cell, &origin.value, &write.instruction);
                    let same = if write.is_changed() { "" } else { ", unchanged" };
                    let (line, step) = (self.session.listing().name(write.line), write.step + 1);
                    line!(self, "{indent}{name} = {value}: `{text}` ({line}, step {step}{same})");
                    let values = sources.iter().map(|(name, value)| format!("{name} = {value}"));
                    let values: Vec<String> =
                        values.chain(store.map(|store| store.name().to_owned())).collect();
                    if !values.is_empty() {
                        line!(self, "{indent}  from {}", values.join(", "));
                    }
                }
                OriginCause::Initial { step } => {
                    line!(self, "{indent}{} = {}: so since step {step}", origin.cell, origin.value);
                }
                OriginCause::Stopped { step, reason } => {
                    let (name, value, reason) = (&origin.cell, &origin.value, words(reason));
                    line!(self, "{indent}{name} = {value}: so at step {step}; {reason}: not looked further");
                }
                OriginCause::Constant => {
                    line!(self, "{indent}{} = {}: a constant", origin.cell, origin.value);
                }
                OriginCause::Deeper => line!(self, "{indent}{} = {}: …", origin.cell, origin.value),
            }
            self.origins(chain, Some(n));
        }
    }

    fn history(&mut self, history: &History) {
        if history.writes.is_empty() && history.stopped.is_none() {
            let span = if history.is_ahead { "after this" } else { "up to here" };
            line!(self, "{} was not written {span}", history.cell);
        }
        if history.is_cut && !history.is_ahead {
            line!(self, "…");
        }
        for write in &history.writes {
            self.touch(write);
        }
        if history.is_cut && history.is_ahead {
            line!(self, "…");
        }
        if let Some(reason) = &history.stopped {
            line!(self, "{}: there may be more writes", words(reason));
        }
    }

    fn check(&mut self, check: &Check) {
        let steps = check.steps;
        match &check.stop {
            Reason::HistoryEnd => line!(self, "{steps} step{} to the end", plural(steps)),
            Reason::HistoryBegin => line!(self, "{steps} step{} back to the beginning", plural(steps)),
            Reason::Trap(explanation) => {
                line!(self, "a trap after {steps} step{}", plural(steps));
                self.trap(explanation);
            }
            Reason::StepLimit => line!(self, "the step limit, after {steps} step{}", plural(steps)),
            _ => line!(self, "interrupted after {steps} step{}", plural(steps)),
        }
        for garbage in &check.garbage {
            line!(self, "garbage: {} is {}, and must be {}", garbage.name, garbage.found, garbage.expected);
        }
        match check.restored {
            Some(true) => line!(self, "the way back restores the start, bit for bit"),
            Some(false) => {
                line!(self, "the way back, without a history, does not restore the start bit for bit")
            }
            None if matches!(check.stop, Reason::HistoryEnd | Reason::HistoryBegin) => {
                line!(self, "interrupted on the way back")
            }
            None => {}
        }
        if check.erased_bits > 0 {
            line!(self, "not reversible: {} erased bits", check.erased_bits);
        }
    }

    fn code(&mut self, pane: &CodePane) {
        let columns = pane.lines.iter().flat_map(|line| &line.brackets).map(|b| b.column + 1).max();
        if pane.is_included {
            line!(self, "{}:", pane.file);
        }
        for line in &pane.lines {
            let drawn = brackets(line, columns.unwrap_or(0));
            let marker = match line {
                CodeLine { is_next: true, .. } => "=>",
                CodeLine { is_call: true, .. } => " >",
                CodeLine { is_executed: true, .. } => " -",
                _ => "  ",
            };
            let point = match line.breakpoints.first() {
                Some(point) if point.enabled => "*",
                Some(_) => "o",
                None => " ",
            };
            let text = format!("{point}{marker} {:>4} {drawn} {}", line.line, line.text);
            line!(self, "{}", text.trim_end());
        }
    }

    fn instructions(&mut self, list: &[(u32, String, bool)]) {
        for (at, text, is_next) in list {
            line!(self, "{} {at:>5}  {text}", if *is_next { "=>" } else { "  " });
        }
    }

    fn frame(&mut self, frame: &FrameView) {
        let arguments: Vec<String> =
            frame.arguments.iter().map(|(name, what)| format!("{name}: {what}")).collect();
        let inverted = if frame.inverted { " inverted" } else { "" };
        let (number, name) = (frame.number, &frame.procedure);
        let (arguments, text) = (arguments.join(", "), &frame.instruction);
        let line = self.session.listing().name(frame.line);
        line!(self, "#{number} {name}({arguments}){inverted} at `{text}` ({line})");
    }

    fn cells(&mut self, pane: &CellsPane) {
        let lists = [&pane.globals, &pane.registers, &pane.parameters, &pane.ancillas];
        if pane.arrays.is_empty() && lists.iter().all(|list| list.is_empty()) {
            line!(self, "there are none");
        }
        lists.into_iter().flatten().for_each(|cell| self.cell(cell));
        for array in &pane.arrays {
            let shape = match array.shape {
                Shape::Matrix(rows, columns) => format!("{rows}, {columns}"),
                shape => shape.cells().to_string(),
            };
            line!(self, "{}[{shape}]: {}", array.name, array.class.name());
        }
    }

    fn cell(&mut self, cell: &CellView) {
        let what = match (&cell.other, cell.written, cell.read) {
            (Some(other), ..) => format!("  (was {other})"),
            (None, true, _) => "  (written)".to_owned(),
            (None, false, true) => "  (read)".to_owned(),
            (None, false, false) => String::new(),
        };
        let adjoint = cell.adjoint.as_ref().map_or(String::new(), |adjoint| {
            let was = adjoint.other.as_ref().map_or(String::new(), |other| format!("  (was {other})"));
            format!("    {} = {}{was}", adjoint.name, adjoint.value)
        });
        line!(self, "{} = {}{what}{adjoint}", cell.name, cell.value);
    }

    fn array(&mut self, array: &ArrayView) {
        for cell in &array.elements {
            self.cell(cell);
        }
        let shown = array.first.saturating_add(array.elements.len() as u64);
        let left = array.facts.shape.cells().saturating_sub(shown);
        if left > 0 {
            line!(self, "… and {left} more");
        }
    }

    fn row(&mut self, row: &Row) {
        let more = if row.total > row.next.len() { ", …" } else { "" };
        match row.total {
            0 => line!(self, "{}: empty", row.name),
            total => line!(self, "{}: {total}, next {}{more}", row.name, row.next.join(", ")),
        }
    }

    fn card(&mut self, view: &CardView) {
        let end = if view.is_end { "the end, behind " } else { "" };
        line!(self, "{end}{} ({})", view.instruction, self.session.listing().name(view.line));
        let mut last = None;
        for (topic, text) in view.lines(&str::to_owned) {
            let name = if last == Some(topic) { "" } else { topic.name() };
            line!(self, "  {name:<9} {}", text.formula);
            text.numbers.iter().for_each(|numbers| line!(self, "  {:<9} {numbers}", ""));
            last = Some(topic);
        }
    }

    fn status(&mut self, status: &Status) {
        let (first, last) = status.span.steps();
        let end = match status.span.end {
            SpanEnd::Known => "",
            SpanEnd::Reached => " or later",
            SpanEnd::Expected => " as on its parent",
        };
        let percent = status.percent.map_or(String::new(), |percent| format!(" ({percent:.1} %)"));
        line!(self, "step {}{percent} of {first} to {last}{end}", status.step);
        let travel = if status.travel == Travel::Forward { "forward" } else { "backward" };
        let own = if status.machine_inverted { "backward" } else { "forward" };
        let depth = status.depth;
        line!(self, "travel: {travel}; the machine: {own}, {depth} open call{}", plural(depth as u64));
        line!(self, "branch: {}", status.branch);
        line!(
            self,
            "history: {} B of residues, {} B of checkpoints",
            status.history_bytes,
            status.checkpoint_bytes
        );
        line!(self, "erased: {} bits; discarded: {} bits", status.erased_bits, status.discarded_bits);
        if status.gradient_mode || status.drops > 0 {
            let mode = if status.gradient_mode { "on" } else { "off" };
            line!(self, "gradient mode: {mode}; dropped: {} adjoint{}", status.drops, plural(status.drops));
        }
    }

    fn events(&mut self, events: &Events) {
        if events.moments.is_empty() && events.calls.none() {
            line!(self, "there are none");
        }
        if events.more_moments > 0 {
            line!(self, "… {} before", events.more_moments);
        }
        for (step, happening) in &events.moments {
            match happening {
                Happening::Mark(name) => line!(self, "step {step}: mark {name}"),
                Happening::Fence => line!(self, "step {step}: a fence"),
                Happening::Fork(branch) => line!(self, "step {step}: branch {branch} begins"),
                Happening::Stop(Event::Point(id)) => line!(self, "step {step}: stopped by point {id}"),
                Happening::Stop(Event::Trap) => line!(self, "step {step}: a trap"),
            }
        }
        for stretch in &events.stretches {
            let calls = calls(stretch.calls);
            match (stretch.from + 1, stretch.to) {
                (first, last) if first == last => line!(self, "step {last}: {calls}"),
                (first, last) => line!(self, "steps {first} to {last}: {calls}"),
            }
        }
        if events.stretches.len() > 1 {
            line!(self, "in all: {}", calls(events.calls));
        }
    }

    fn fork(&mut self, fork: &Fork) {
        let marker = if fork.is_current { "*" } else { " " };
        let (first, last) = fork.extent;
        match fork.parent {
            None => line!(self, "{marker} {}: the program's own, steps {first} to {last}", fork.branch),
            Some(parent) => {
                let edits = fork.edits.join(", ");
                let (line, step) = (fork.branch, fork.step);
                line!(
                    self,
                    "{marker} {line}: left {parent} at step {step} by {edits}, steps {first} to {last}"
                );
            }
        }
    }

    fn plot(&mut self, plot: &Plot) {
        let (first, last) = plot.samples.steps;
        if !plot.samples.is_whole {
            line!(self, "interrupted: {} is plotted in part", plot.name);
        }
        let Some(Range { low, high }) = plot.range() else {
            line!(self, "{} has no value at any of the steps {first} to {last}", plot.name);
            return;
        };
        line!(self, "{}, steps {first} to {last}: from {low} to {high}", plot.name);
        if !plot.samples.is_exact {
            line!(self, "sampled: it is written too often to look at every value");
        }
        plot.rows().iter().for_each(|row| line!(self, "|{row}"));
    }

    fn help(&mut self, commands: &[&'static Command]) {
        match commands {
            [command] => self.help_on(command),
            _ => {
                self.summaries(commands);
                line!(self, "`help COMMAND` tells how a command is written, and more about it.");
            }
        }
    }

    fn help_on(&mut self, command: &Command) {
        line!(self, "{}", command.usage);
        if !command.aliases.is_empty() {
            line!(self, "also: {}", command.aliases.join(", "));
        }
        wrapped(command.help, HELP_WIDTH).iter().for_each(|text| line!(self, "{text}"));
        self.summaries(&command.topics().iter().collect::<Vec<_>>());
    }

    /// Each command with the first sentence of its help.
    fn summaries(&mut self, commands: &[&'static Command]) {
        let widest = commands.iter().map(|command| command.name.len()).max().unwrap_or(0);
        for command in commands {
            let (first, _) = command.help.split_once(". ").unwrap_or((command.help, ""));
            let mut name = command.name;
            for text in wrapped(first.trim_end_matches('.'), HELP_WIDTH - widest - 2) {
                line!(self, "{name:<widest$}  {text}");
                name = "";
            }
        }
    }
}

/// Columns that help takes.
const HELP_WIDTH: usize = 79;

/// A text in lines of at most so many characters, broken between words.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn moment(at: Moment) -> String {
    match at.branch {
        0 => format!("step {}", at.step),
        branch => format!("step {} of branch {branch}", at.step),
    }
}

/// A reason to stop in words, without its particulars.
fn words(reason: &Reason) -> String {
    reason.kind().name().replace('-', " ")
}

fn calls(Calls { entered, left }: Calls) -> String {
    match (entered, left) {
        (1, 0) => "a call entered".to_owned(),
        (0, 1) => "a call left".to_owned(),
        (_, 0) => format!("{entered} calls entered"),
        (0, _) => format!("{left} calls left"),
        _ => format!("{entered} call{} entered, {left} left", plural(entered)),
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The brackets of a line, the outermost first; arrows point at where a taken branch lands.
fn brackets(line: &CodeLine, columns: usize) -> String {
    let piece = |column: usize| {
        let bracket = line.brackets.iter().find(|bracket: &&Bracket| bracket.column == column);
        match bracket.map(|bracket| bracket.piece) {
            None => ' ',
            Some(Piece::Top) => '┌',
            Some(Piece::Middle) => '│',
            Some(Piece::Bottom) => '└',
        }
    };
    let touches = line.brackets.iter().find(|bracket| bracket.piece != Piece::Middle);
    let end = touches.map_or(' ', |bracket| if bracket.is_br { '─' } else { '>' });
    (0..columns).rev().map(piece).chain([end]).collect()
}
