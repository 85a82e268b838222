//! The status line: where one is in time, which way everything goes, why one stopped, and what it costs.
//! Where there isn't room for all of it, what matters least is left out first.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use reviver_vm::Travel;

use super::text::{Pen, width};
use super::{Context, Pane};
use crate::outcome::{Hit, HitKind, Reason};
use crate::tui::theme::Theme;
use crate::view::status::{self, Status as Facts};

pub struct Status;

impl Pane for Status {
    fn title(&self, _: &Context<'_>) -> String {
        "status".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let mut parts = parts(&status::status(context.session), context.theme);
        let room = usize::from(context.area.width);
        while parts.len() > 1 && parts.iter().map(|part| width(&part.text) + GAP).sum::<usize>() > room {
            let least = (0..parts.len()).max_by_key(|n| parts.get(*n).map(|part| part.rank));
            least.into_iter().for_each(|n| drop(parts.remove(n)));
        }
        for row in context.area.rows().take(1) {
            let mut pen = Pen::new(row, buffer);
            pen.skip(1);
            for part in &parts {
                pen.write(&part.text, part.style).skip(GAP);
            }
        }
    }
}

/// Blanks behind each part.
const GAP: usize = 2;

/// A part of the line.
struct Part {
    /// The higher, the sooner it is left out.
    rank: u8,
    text: String,
    style: Style,
}

fn parts(facts: &Facts, theme: &Theme) -> Vec<Part> {
    let plain = Style::new();
    let last = facts.extent.1;
    let whole = if facts.end_is_known { last.to_string() } else { format!("{last}+") };
    let machine = if facts.machine_inverted { Travel::Backward } else { Travel::Forward };
    let (reason, reason_style) = reason(facts, theme);
    let mut parts = vec![(0, format!("step {}/{whole}", facts.step), plain)];
    parts.extend(facts.percent.map(|percent| (5, format!("{percent:.1}%"), plain)));
    if facts.line > 0 {
        parts.push((3, format!("branch {}", facts.line), theme.fork));
    }
    parts.push((2, format!("travel {}", arrow(facts.travel)), direction(facts.travel, theme)));
    parts.push((4, format!("machine {}", arrow(machine)), direction(machine, theme)));
    parts.push(match facts.gradient_mode {
        true => (1, "mode gradient".to_owned(), theme.adjoint),
        false => (7, "mode values".to_owned(), plain),
    });
    if facts.depth > 0 {
        parts.push((9, format!("depth {}", facts.depth), plain));
    }
    parts.push((1, reason, reason_style));
    parts.push((6, format!("history {}", bytes(facts.history_bytes)), plain));
    if facts.checkpoint_bytes > 0 {
        parts.push((10, format!("checkpoints {}", bytes(facts.checkpoint_bytes)), plain));
    }
    parts.push((8, format!("erased {} bits", facts.erased_bits), plain));
    if facts.discarded_bits > 0 {
        parts.push((11, format!("discarded {} bits", facts.discarded_bits), plain));
    }
    if facts.drops > 0 {
        parts.push((12, format!("dropped adjoints {}", facts.drops), theme.adjoint));
    }
    let part = |(rank, text, style)| Part { rank, text, style };
    parts.into_iter().map(part).filter(|part| !part.text.is_empty()).collect()
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

/// Why the last motion stopped, unless it just arrived.
fn reason(facts: &Facts, theme: &Theme) -> (String, Style) {
    match &facts.reason {
        None | Some(Reason::Arrived) => (String::new(), theme.text),
        Some(Reason::Points(hits)) => (hits.first().map_or(String::new(), hit), theme.breakpoint),
        Some(Reason::HistoryBegin) => ("history begin".to_owned(), theme.mark),
        Some(Reason::HistoryEnd) => ("history end".to_owned(), theme.mark),
        Some(Reason::Trap(_)) => ("trap".to_owned(), theme.trap),
        Some(Reason::Interrupted) => ("interrupted".to_owned(), theme.warning),
        Some(Reason::Fence) => ("fence".to_owned(), theme.fence),
    }
}

fn hit(hit: &Hit) -> String {
    match &hit.what {
        HitKind::Break { .. } => format!("breakpoint {}", hit.id),
        HitKind::Watch { write, .. } if hit.id == 0 => format!("write of {}", write.name),
        HitKind::Watch { .. } => format!("watchpoint {}", hit.id),
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
