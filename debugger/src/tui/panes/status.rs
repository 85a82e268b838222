//! The status line: position in time, reason for the last stop, directions, and memory use. If the line is too
//! long, wordings become shorter, and then the least important parts are dropped. The memory use of the history is
//! never dropped.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use reviver_vm::Travel;

use super::parts::{RowPart, draw};
use super::{Context, Pane};
use crate::outcome::{Hit, HitKind, Reason};
use crate::points::UNNUMBERED;
use crate::render::plural;
use crate::timeline::{SpanEnd, StepSpan};
use crate::tui::theme::Theme;
use crate::view::status::{self, Status as Facts};

/// The status line of a session, drawn while no background task owns the session.
pub struct StatusWidget;

impl Pane for StatusWidget {
    fn title(&self, _: &Context<'_>) -> String {
        "status".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let facts = status::status(context.session);
        let mut parts = time_point(&facts, context.theme);
        parts.extend(directions(&facts, context.theme));
        parts.extend(costs(&facts, context.theme));
        draw(parts, context.area, buffer);
    }
}

/// Data about a long run, for the status line.
pub struct Running<'a> {
    /// The command line that is executed.
    pub command: &'a str,
    /// The step at which the run is now.
    pub step: i64,
    /// The position in the whole run, in percent, if the end of the run is known.
    pub percent: Option<f64>,
    /// Time since the command began.
    pub elapsed: Duration,
    /// Memory used by residues, in bytes.
    pub history_bytes: usize,
}

/// Draws the status line of a session during a long run.
pub fn draw_running(running: &Running<'_>, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let plain = Style::new();
    let seconds = running.elapsed.as_secs_f64();
    let mut parts = vec![
        RowPart::new([format!("running `{}`", running.command), "running".to_owned()], (6, 3), theme.active),
        RowPart::new([format!("step {}", running.step), running.step.to_string()], (2, 1), plain),
    ];
    parts.extend(running.percent.map(|percent| RowPart::new(percents(percent), (4, 4), plain)));
    parts.push(RowPart::new([format!("{seconds:.1} s"), format!("{seconds:.0} s")], (3, 5), plain));
    parts.push(history(running.history_bytes));
    parts.push(RowPart::new(["Ctrl-C stops it".to_owned(), "Ctrl-C".to_owned()], (5, 2), plain));
    draw(parts, area, buffer);
}

/// Returns the parts about the position in time and the reason for the last stop.
fn time_point(facts: &Facts, theme: &Theme) -> Vec<RowPart> {
    let plain = Style::new();
    let (step, whole) = (facts.step, last(facts.span));
    let mut parts = vec![RowPart::new(
        [format!("step {step}/{whole}"), format!("{step}/{whole}"), step.to_string()],
        (0, 1),
        plain,
    )];
    parts.extend(facts.percent.map(|percent| RowPart::new(percents(percent), (5, 6), plain)));
    if facts.branch > 0 {
        let wordings = [format!("branch {}", facts.branch), format!("b{}", facts.branch)];
        parts.push(RowPart::new(wordings, (2, 4), theme.fork));
    }
    parts.extend(reason(facts, theme).map(|(wordings, style)| RowPart::new(wordings, (7, 2), style)));
    parts
}

/// Returns the parts about directions.
fn directions(facts: &Facts, theme: &Theme) -> Vec<RowPart> {
    let machine = if facts.machine_inverted { Travel::Backward } else { Travel::Forward };
    let (go, own) = (arrow(facts.travel), arrow(machine));
    let (mode, leaves, style) = match facts.gradient_mode {
        true => ("gradient", 2, theme.adjoint),
        false => ("values", 7, Style::new()),
    };
    let mut parts = vec![
        RowPart::new([format!("travel {go}"), go.to_owned()], (3, 3), direction(facts.travel, theme)),
        RowPart::new([format!("machine {own}"), format!("m{own}")], (4, 5), direction(machine, theme)),
        RowPart::new([format!("mode {mode}"), mode.to_owned()], (8, leaves), style),
    ];
    if facts.depth > 0 {
        parts.push(RowPart::new([format!("depth {}", facts.depth), String::new()], (6, 9), Style::new()));
    }
    parts
}

/// Returns the parts about the memory of the history and the lost bits.
fn costs(facts: &Facts, theme: &Theme) -> Vec<RowPart> {
    let plain = Style::new();
    let mut parts = vec![history(facts.history_bytes)];
    let mut more = |is_any: bool, text: String, rank: u8, style| {
        if is_any {
            parts.push(RowPart::new([text, String::new()], (rank, rank), style));
        }
    };
    let checkpoints = facts.checkpoint_bytes;
    more(checkpoints > 0, format!("checkpoints {}", bytes(checkpoints)), 10, plain);
    more(
        facts.discarded_bits > 0,
        format!("discarded {} bit{}", facts.discarded_bits, plural(facts.discarded_bits)),
        11,
        plain,
    );
    more(facts.drops > 0, format!("dropped adjoints {}", facts.drops), 12, theme.adjoint);
    let erased = facts.erased_bits;
    parts.push(RowPart::new(
        [format!("erased {erased} bit{}", plural(erased)), format!("erased {erased}")],
        (9, 8),
        plain,
    ));
    parts
}

fn history(count: usize) -> RowPart {
    let count = bytes(count);
    RowPart::new([format!("history {count}"), format!("hist {count}")], (1, 0), Style::new())
}

/// Renders the number of the last step. The number has a mark, `~` or `+`, if the end of the branch isn't known.
fn last(span: StepSpan) -> String {
    match span.end {
        SpanEnd::Known => span.last.to_string(),
        SpanEnd::Reached => format!("{}+", span.last),
        SpanEnd::Expected => format!("~{}", span.last),
    }
}

fn percents(percent: f64) -> [String; 2] {
    [format!("{percent:.1}%"), format!("{percent:.0}%")]
}

fn arrow(travel: Travel) -> &'static str {
    match travel {
        Travel::Forward => "→",
        Travel::Backward => "←",
    }
}

fn direction(travel: Travel, theme: &Theme) -> Style {
    match travel {
        Travel::Forward => theme.forward,
        Travel::Backward => theme.backward,
    }
}

/// Returns the reason for the last stop. Returns `None` if the movement reached its destination.
fn reason(facts: &Facts, theme: &Theme) -> Option<([String; 2], Style)> {
    let (long, short, style) = match facts.reason.as_ref()? {
        Reason::Arrived => return None,
        Reason::Points(hits) => {
            let (long, short) = hits.first().map(hit)?;
            return Some(([long, short], theme.breakpoint));
        }
        Reason::HistoryBegin => ("history begin", "begin", theme.mark),
        Reason::HistoryEnd => ("history end", "end", theme.mark),
        Reason::Trap(_) => ("trap", "trap", theme.trap),
        Reason::Interrupted => ("interrupted", "interrupt", theme.warning),
        Reason::Fence => ("fence", "fence", theme.fence),
        Reason::StepLimit => ("step limit", "limit", theme.warning),
        Reason::NoWrite(search) => {
            return Some(([format!("no write to {}", search.cells), "no write".to_owned()], theme.mark));
        }
    };
    Some(([long.to_owned(), short.to_owned()], style))
}

fn hit(hit: &Hit) -> (String, String) {
    let id = hit.id;
    match &hit.what {
        HitKind::Break { .. } => (format!("breakpoint {id}"), format!("break {id}")),
        HitKind::Watch { touches, .. } if id == UNNUMBERED => {
            let names: Vec<&str> = touches.iter().map(|touch| touch.name.as_str()).collect();
            (format!("write of {}", names.join(", ")), "write".to_owned())
        }
        HitKind::Watch { .. } => (format!("watchpoint {id}"), format!("watch {id}")),
    }
}

fn bytes(count: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| count >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => format!("{count} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_their_units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(64 << 20), "64.0 MiB");
    }
}
