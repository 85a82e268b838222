//! The labels of a procedure and the branch pairs that they link. This module is independent of operands.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Instruction;
use reviver_isa::update::Update;

use super::code::LoweredCode;
use super::frame::TakenNames;
use super::report::Reporter;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::Name;

/// The number of a copy of a body, such as the body of a macro. Each copy has its own labels. The number 0
/// denotes the procedure's own text.
type Copy = u32;

struct Defined {
    span: Span,
    at: u32,
}

/// A `br` or `from` that is written in the text, with the name of its partner.
struct Half {
    at: u32,
    copy: Copy,
    partner: Name,
}

/// The label to be recorded for a branch half.
enum RequestedLabel {
    /// The label exactly as written in the text.
    Exactly(CompactString),
    /// This text with a number appended that makes the label unique.
    Like(CompactString),
}

/// The labels of one procedure.
#[derive(Default)]
pub(super) struct Labels {
    defined: HashMap<(Copy, CompactString), Defined>,
    halves: Vec<Half>,
    wanted: Vec<(u32, RequestedLabel)>,
    /// The labels that wait for the next instruction, which they name.
    waiting: Vec<Name>,
    copies: Vec<Copy>,
    next_copy: Copy,
}

impl Labels {
    /// Begins a copy of a body, which has separate labels.
    pub(super) fn enter_copy(&mut self) {
        self.next_copy += 1;
        self.copies.push(self.next_copy);
    }

    pub(super) fn leave_copy(&mut self) {
        self.copies.pop();
    }

    fn copy(&self) -> Copy {
        self.copies.last().copied().unwrap_or(0)
    }

    /// Adds a label for the next instruction.
    pub(super) fn wait(&mut self, name: &Name) {
        self.waiting.push(name.clone());
    }

    /// Reports labels that are followed by no instruction. `instead` describes what follows.
    pub(super) fn refuse_waiting(&mut self, report: &mut Reporter, instead: &str) {
        for name in self.waiting.drain(..) {
            let message = format!("the label `{}` names no instruction", name.text);
            report.add(Diagnostic::error(ProblemCode::LabelOfNothing, message, name.span, instead));
        }
    }

    /// Assigns the waiting labels to an instruction. Only the labels of branch halves are recorded in the
    /// module.
    pub(super) fn define(&mut self, at: u32, is_half: bool, report: &mut Reporter) {
        let copy = self.copy();
        for name in std::mem::take(&mut self.waiting) {
            if is_half {
                let wanted = match copy {
                    0 => RequestedLabel::Exactly(name.text.clone()),
                    _ => RequestedLabel::Like(name.text.clone()),
                };
                self.want(at, wanted);
            }
            let previous = self.defined.insert((copy, name.text.clone()), Defined { span: name.span, at });
            if let Some(first) = previous {
                let message = format!("the label `{}` is declared twice in this procedure", name.text);
                report.add(
                    Diagnostic::error(ProblemCode::DeclaredTwice, message, name.span, "declared again")
                        .with(first.span, "first declared here"),
                );
            }
        }
    }

    /// Requests a label like `name` for a generated branch half.
    pub(super) fn generated(&mut self, at: u32, name: &'static str) {
        self.want(at, RequestedLabel::Like(CompactString::const_new(name)));
    }

    /// Requests a label for an instruction, replacing an earlier request.
    fn want(&mut self, at: u32, wanted: RequestedLabel) {
        if self.wanted.last().is_some_and(|(last, _)| *last == at) {
            self.wanted.pop();
        }
        self.wanted.push((at, wanted));
    }

    /// Adds a branch half that is written in the text, with the name of its partner.
    pub(super) fn half(&mut self, at: u32, partner: &Name) {
        self.halves.push(Half { at, copy: self.copy(), partner: partner.clone() });
    }

    /// Returns the final labels, unique in the procedure, in order of the code.
    pub(super) fn names(&self) -> Vec<(u32, String)> {
        let mut names = TakenNames::default();
        for (_, wanted) in &self.wanted {
            if let RequestedLabel::Exactly(name) = wanted {
                names.reserve(name);
            }
        }
        let mut finish = |(at, wanted): &(u32, RequestedLabel)| match wanted {
            RequestedLabel::Exactly(name) => (*at, name.as_str().into()),
            RequestedLabel::Like(name) => (*at, names.numbered(name, 1, |_| false).into()),
        };
        self.wanted.iter().map(&mut finish).collect()
    }

    fn target(&self, half: &Half) -> Option<&Defined> {
        self.defined.get(&(half.copy, half.partner.text.clone()))
    }

    fn half_at(&self, at: u32) -> Option<&Half> {
        self.halves.binary_search_by_key(&at, |half| half.at).ok().and_then(|n| self.halves.get(n))
    }
}

/// Pairs the branch halves of all procedures, and reports those without a matching partner.
pub(super) fn pair_all(procedures: &[Labels], code: &mut LoweredCode, report: &mut Reporter) {
    for labels in procedures {
        for half in &labels.halves {
            match partner(labels, half, code, procedures, report) {
                Ok(partner) => code.pair(half.at, partner),
                Err(diagnostic) => {
                    code.broken.insert(half.at);
                    diagnostic.into_iter().for_each(|d| report.add(*d));
                }
            }
        }
    }
}

fn kind(code: &LoweredCode, at: u32) -> Option<Update> {
    code.instructions.get(at as usize).map(|instruction: &Instruction| instruction.update)
}

/// Returns the index of the other half if both halves name each other. Otherwise returns the error, or `None`
/// if the error is reported at the other half.
fn partner(
    labels: &Labels,
    half: &Half,
    code: &LoweredCode,
    procedures: &[Labels],
    report: &mut Reporter,
) -> Result<u32, Option<Box<Diagnostic>>> {
    let Some(target) = labels.target(half) else {
        return Err(Some(Box::new(unknown(labels, half, procedures, report))));
    };
    let Some(other) = labels.half_at(target.at) else {
        return Err(Some(Box::new(no_branch(half, target))));
    };
    let back = labels.target(other).map(|back| back.at);
    let is_mutual = back == Some(half.at);
    if kind(code, target.at) != kind(code, half.at).map(Update::inverse) {
        // If two halves of the same kind name each other, the error is reported at the first one only.
        let is_news = !is_mutual || half.at <= target.at;
        return Err(is_news.then(|| Box::new(same_kind(half, target, code))));
    }
    match back {
        Some(_) if is_mutual => Ok(target.at),
        Some(_) => Err(Some(Box::new(one_sided(half, other)))),
        // The other half names an unknown label, which is reported at that half.
        None => Err(None),
    }
}

fn no_branch(half: &Half, target: &Defined) -> Diagnostic {
    let name = &half.partner.text;
    let message = format!("`{name}` can't be a partner: its instruction is neither `br` nor `from`");
    Diagnostic::error(ProblemCode::NoPair, message, half.partner.span, "named as the partner here")
        .with(target.span, "labelled here")
}

fn same_kind(half: &Half, target: &Defined, code: &LoweredCode) -> Diagnostic {
    let own = kind(code, half.at).unwrap_or(Update::Br);
    let message = format!("the partner of a `{}` must be a `{}`", own.name(), own.inverse().name());
    Diagnostic::error(ProblemCode::NoPair, message, half.partner.span, "named as the partner here")
        .with(target.span, format!("this is a `{}` too", own.name()))
}

fn one_sided(half: &Half, other: &Half) -> Diagnostic {
    let (name, instead) = (&half.partner.text, &other.partner.text);
    let message = format!("`{name}` does not name this branch as its partner");
    Diagnostic::error(ProblemCode::NoPair, message, half.partner.span, format!("this names `{name}`"))
        .with(other.partner.span, format!("but `{name}` names `{instead}`"))
        .help("a `br` and a `from` must name each other")
}

fn unknown(labels: &Labels, half: &Half, procedures: &[Labels], report: &mut Reporter) -> Diagnostic {
    let name = &half.partner.text;
    let message = format!("no label `{name}` in this procedure");
    let diagnostic =
        Diagnostic::error(ProblemCode::UnknownLabel, message, half.partner.span, "unknown label");
    if report.is_full() {
        return diagnostic;
    }
    if let Some(outer) = labels.defined.get(&(0, name.clone())) {
        return diagnostic.with(outer.span, "the label outside").help(
            "write both branches of the pair inside the macro or the uncomputed part, or both outside of it",
        );
    }
    let elsewhere = procedures.iter().find_map(|other| other.defined.get(&(0, name.clone())));
    if let Some(elsewhere) = elsewhere {
        return diagnostic
            .with(elsewhere.span, "the label is in another procedure")
            .help("write both branches in one procedure; to run another procedure, use `call`");
    }
    let visible = labels.defined.keys().filter(|(copy, _)| *copy == half.copy);
    let names: HashSet<&str> = visible.map(|(_, name)| name.as_str()).collect();
    diagnostic.help_if(report.suggest(name, names.into_iter()))
}
