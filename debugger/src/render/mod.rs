//! Rendering of outcomes for the line mode; errors have their own messages. This file renders movements,
//! stops and edits.

/// Writes a line to the output string, which can't fail.
macro_rules! line {
    ($page:expr, $($text:tt)*) => {{
        let _ = writeln!($page.out, $($text)*);
    }};
}

mod answers;
mod help;
mod over_time;
mod views;

pub use answers::moves_in_words;

use std::collections::HashMap;
use std::fmt::Write as _;

use reviver_isa::codes::page;
use reviver_vm::Cause;
use reviver_vm::codes;
use reviver_vm::explain::Explanation;

use crate::command::{CommandError, Outcome};
use crate::listing::Line;
use crate::outcome::{Edit, Hit, HitKind, Motion, NoWrite, Print, Printed, Reason, Seed, StopKind, Touch};
use crate::points::{Point, Trigger, UNNUMBERED, WatchMode};
use crate::session::Session;
use crate::timeline::{BranchNumber, Calls, TimePoint};
use crate::view::code::detail;

/// Renders the outcome of a command as lines with line ends. `session` is the session that executed the command. It
/// may have executed further commands since.
pub fn render(session: &Session, outcome: &Outcome) -> String {
    let mut page = RenderedText { session, out: String::new(), depth: 0 };
    page.outcome(outcome);
    page.out
}

/// Renders the outcomes of a script up to the command that failed. If the error isn't from a script, returns an
/// empty text.
pub fn render_done(session: &Session, error: &CommandError) -> String {
    let mut page = RenderedText { session, out: String::new(), depth: 0 };
    page.done(error);
    page.out
}

/// Renders the lines printed by `show` and log points before an outcome.
pub fn printed(session: &Session, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Motion(motion) => prints(session, &motion.printed),
        Outcome::Difference(difference) => prints(session, &difference.printed),
        Outcome::Trace(trace) => prints(session, &trace.printed),
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
            Print::Shown(shown) => {
                let name = names.entry(shown.at).or_insert_with(|| shown.name(program));
                writeln!(text, "{name} = {}", program.text(shown.value))
            }
            // If a printed line began with `> `, a replay of the transcript would take the line for a command.
            Print::Logged(line) if line.starts_with("> ") => writeln!(text, " {line}"),
            Print::Logged(line) => writeln!(text, "{line}"),
        };
    }
    if printed.left_out() > 0 {
        let _ = writeln!(text, "… and {} more lines", printed.left_out());
    }
    text
}

/// Renders an error and its suggestion.
pub fn render_error(error: &CommandError) -> String {
    let help = error.help().map_or(String::new(), |help| format!("  help: {help}\n"));
    format!("error: {error}\n{help}")
}

struct RenderedText<'a> {
    session: &'a Session,
    out: String,
    /// Nesting depth: the number of scripts that contain the command of this outcome.
    depth: usize,
}

impl RenderedText<'_> {
    fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Motion(motion) => self.motion(motion),
            Outcome::Values(values) => values.iter().for_each(|(text, value)| match value {
                Ok(value) => line!(self, "{text} = {value}"),
                Err(error) => line!(self, "{text}: {error}"),
            }),
            Outcome::Array(array) => self.array(array),
            Outcome::PointSet(point) => self.point(point),
            Outcome::Points(points) if points.is_empty() => line!(self, "there are no points"),
            Outcome::Points(points) => points.iter().for_each(|point| self.point(point)),
            Outcome::Deleted(count) => line!(self, "deleted {count}"),
            Outcome::Origins { chain, all } => self.origins(chain, None, (0, *all)),
            Outcome::History(history) => self.history(history),
            Outcome::Difference(difference) => {
                self.out += &prints(self.session, &difference.printed);
                self.difference(difference);
            }
            Outcome::Trace(trace) => {
                self.out += &prints(self.session, &trace.printed);
                self.trace(trace);
            }
            Outcome::Edited { edit, branch } => self.edit(edit, *branch),
            Outcome::Seeded { seed, branch } => self.seed(seed, *branch),
            Outcome::Check(check) => self.check(check),
            Outcome::Code(pane) => self.code(pane),
            Outcome::Counts(lines) => self.counts(lines),
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
            Outcome::Marks(marks) if marks.is_empty() => line!(self, "there are no marks"),
            Outcome::Marks(marks) => {
                marks.iter().for_each(|(name, at)| line!(self, "{name}: {}", time_point(*at)));
            }
            Outcome::Marked { name, at } => line!(self, "mark {name}: {}", time_point(*at)),
            Outcome::Events(events) => self.events(events),
            Outcome::Fences(steps) if steps.is_empty() => line!(self, "there are no fences"),
            Outcome::Fences(steps) => steps.iter().for_each(|step| line!(self, "step {step}")),
            Outcome::Fence { at, is_set: true } => line!(self, "a fence at {}", time_point(*at)),
            Outcome::Fence { at, is_set: false } => line!(self, "removed the fence at {}", time_point(*at)),
            Outcome::Forks(forks) => forks.iter().for_each(|fork| self.fork(fork)),
            Outcome::Inverse(lines) => lines.iter().for_each(|text| line!(self, "{text}")),
            Outcome::Plot(plot) => self.plot(plot),
            Outcome::Unplotted(names) if names.is_empty() => line!(self, "nothing is plotted any more"),
            Outcome::Unplotted(names) => line!(self, "still plotted: {}", names.join(", ")),
            Outcome::Help(commands) => self.help(commands),
            Outcome::Explained(entry) => self.out.push_str(&page::page(entry, &codes::printed(entry.code))),
            Outcome::All(all) => self.all(all),
            Outcome::Saved(path) => line!(self, "saved to {path}"),
            Outcome::Empty => line!(self, "there is nothing to print"),
            Outcome::Quit | Outcome::Nothing => {}
        }
    }

    /// Renders the commands of a script and their outcomes.
    fn all(&mut self, all: &[(String, Outcome)]) {
        self.depth += 1;
        for (command, outcome) in all {
            self.command(command);
            self.outcome(outcome);
        }
        self.depth -= 1;
    }

    /// Renders a command of a script. An additional `>` distinguishes this command from the `source` command that
    /// ran the script. A replay of the transcript executes only the `source` command.
    fn command(&mut self, command: &str) {
        if !command.is_empty() {
            line!(self, "{}> {command}", ">".repeat(self.depth));
        }
    }

    /// Renders the outcomes of a script before its failure, and the command that failed.
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
            Reason::NoWrite(search) => self.no_write(search, motion.from.step),
        }
        if let Some(asked) = motion.beyond {
            let (last, word) = match motion.reason {
                Reason::HistoryBegin => ("begins", "start"),
                _ => ("ends", "end"),
            };
            line!(
                self,
                "there is no step {asked}: the run {last} at step {}; type `goto {word}`",
                motion.to.step
            );
        }
        self.place(motion);
    }

    fn no_write(&mut self, search: &NoWrite, from: i64) {
        let NoWrite { cells, has_condition, step, end } = search;
        let kind = if *has_condition { " for which the condition holds" } else { "" };
        let end = if *end == StopKind::Trap { ", where the run traps" } else { "" };
        line!(self, "no write to {cells}{kind} from step {from} to step {step}{end}");
    }

    /// Renders the destination of a movement: step, line, next instruction.
    fn place(&mut self, motion: &Motion) {
        let (session, at) = (self.session, motion.to);
        let inverted = if motion.inverted { ", inverted" } else { "" };
        let Some(next) = motion.next else {
            line!(self, "{}: the end", time_point(at));
            return;
        };
        let listing = session.listing();
        let line = listing.line(next);
        let text = listing.text(line).split(';').next().unwrap_or_default().trim();
        let origin = listing.origin(next).map_or(String::new(), |origin| format!(" (source: {origin})"));
        let detail = detail(session, next, motion.inverted);
        let detail = detail.map_or(String::new(), |detail| format!("  ({})", detail.text()));
        line!(self, "{}, {}{origin}{inverted}: {text}{detail}", time_point(at), listing.name(line));
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
            1 => line!(self, "1 other adjoint that was not 0 is now 0"),
            count => line!(self, "{count} other adjoints that were not 0 are now 0"),
        }
        line!(
            self,
            "running backward propagates adjoints (`rs`, `rc`, `goto start`); `timeline up` leaves the branch"
        );
    }

    fn hit(&mut self, hit: &Hit) {
        let temporary = if hit.temporary { "temporary " } else { "" };
        match &hit.what {
            HitKind::Break { text } => line!(self, "{temporary}breakpoint {}, {text}", hit.id),
            HitKind::Watch { touches, .. } if hit.id == UNNUMBERED => {
                touches.iter().for_each(|touch| self.touch(touch));
            }
            HitKind::Watch { watch, touches } => touches.iter().for_each(|touch| {
                let _ = write!(self.out, "{} {}: ", watch.name(), hit.id);
                self.touch(touch);
            }),
        }
        if let Some(error) = &hit.condition_error {
            line!(self, "  the condition has no value at this step: {error}");
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
        line!(self, "trap[{}]: {}", trap.code.text(), trap.message);
        let listing = self.session.listing();
        let line = trap.spot.as_ref().map_or(listing.line(trap.at), Line::from);
        line!(self, "  at `{}` ({})", trap.instruction, listing.name(line));
        for other in &trap.others {
            let name = listing.name(Line::from(&other.spot));
            line!(self, "  `{}` ({name}): {}", other.words, other.label);
        }
        for note in trap.notes.iter().chain(&trap.called()) {
            line!(self, "  {note}");
        }
        if let Some(help) = &trap.help {
            line!(self, "  help: {help}");
        }
    }

    fn point(&mut self, point: &Point) {
        let kind = match point.trigger {
            Trigger::Break(_) => "breakpoint",
            Trigger::Watch { watch: WatchMode::Change, .. } => "watchpoint",
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
            let _ = write!(self.out, ", ignores {} more", point.ignore);
        }
        if point.hits > 0 {
            let _ = write!(self.out, ", hit {} time{}", point.hits, plural(point.hits));
        }
        self.out.push('\n');
    }
}

fn time_point(at: TimePoint) -> String {
    match at.branch {
        0 => format!("step {}", at.step),
        branch => format!("step {} of branch {branch}", at.step),
    }
}

/// Returns the name of a reason to stop, without details.
fn words(reason: &Reason) -> String {
    match reason {
        Reason::Trap(explanation) if matches!(explanation.cause, Cause::NoMemory(_)) => {
            "memory ran out".to_owned()
        }
        _ => reason.kind().name().replace('-', " "),
    }
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

pub(crate) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
