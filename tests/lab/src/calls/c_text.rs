//! Engine that translates programs to C text. All programs are compiled together, in one file. A call runs a program's
//! public C function.

use std::rc::Rc;

use reviver_ctext::text::{CGradient, CText};
use reviver_isa::instruction::Class;
use reviver_vm::codes::TrapCode;

use super::interpreter::interpreted;
use super::subject::{CallCell, CallKind, CallSubject, LaneWords};
use super::{CallAnswers, CallEngine, CallOutcome, CallResult, ReadyCalls};
use crate::c_programs::{CAnswer, CAsked, CQuestion, CompiledPrograms};

/// Engine that compiles C text with a given compiler.
#[derive(Clone, Debug)]
pub struct CTextCalls {
    pub compiler: String,
}

impl CallEngine for CTextCalls {
    fn name(&self) -> &'static str {
        "C text"
    }

    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>> {
        let texts: Vec<Option<(CText, bool)>> =
            subjects.iter().enumerate().map(|(n, subject)| text(subject, n)).collect();
        let programs: Vec<_> = subjects
            .iter()
            .zip(&texts)
            .filter_map(|(subject, text)| {
                let (text, has_loss) = text.as_ref()?;
                Some((&*subject.program, text, *has_loss))
            })
            .collect();
        if programs.is_empty() {
            return subjects.iter().map(|_| None).collect();
        }
        let compiled = Rc::new(CompiledPrograms::new(&self.compiler, &["-O1"], &programs));
        let mut numbers = 0..;
        let ready = |(subject, text): (&'s CallSubject, &Option<(CText, bool)>)| {
            let has_loss = text.as_ref()?.1;
            let (compiled, number) = (compiled.clone(), numbers.next()?);
            Some(Box::new(CTextReady { subject, compiled, number, has_loss }) as Box<dyn ReadyCalls>)
        };
        subjects.iter().zip(&texts).map(ready).collect()
    }
}

/// Returns the C text of a program, and true if the text includes the gradient.
fn text(subject: &CallSubject, number: usize) -> Option<(CText, bool)> {
    let text = |loss: Option<&str>| {
        let loss = loss.map(CGradient::Loss);
        CText::of(&subject.program, &format!("p{number}"), loss, subject.level)
    };
    let loss = subject.losses.first().map(|loss| loss.name.as_str());
    match loss.map(|loss| text(Some(loss))) {
        Some(Ok(text)) => Some((text, true)),
        _ => Some((text(None).ok()?, false)),
    }
}

struct CTextReady<'s> {
    subject: &'s CallSubject,
    compiled: Rc<CompiledPrograms>,
    /// Index of the program in the compiled file.
    number: usize,
    has_loss: bool,
}

impl ReadyCalls for CTextReady<'_> {
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers> {
        let function = match kind {
            CallKind::Forward => CAsked::Forward,
            CallKind::Backward => CAsked::Backward,
            CallKind::Gradient if self.has_loss => CAsked::Gradient,
            _ => return None,
        };
        // Functions in C have no step limit. So the interpreter runs first, to find the calls that end.
        let ends = interpreted(self.subject, kind, lanes)?;
        let is_asked = |n: &usize| ends[*n] != CallOutcome::StepLimit;
        let asked: Vec<usize> = (0..lanes.len()).filter(is_asked).collect();
        let question = |&n: &usize| {
            let start = self.subject.start(kind, &lanes[n]);
            CQuestion::of(self.number, function, &start)
        };
        let questions: Vec<CQuestion> = asked.iter().map(question).collect();
        let mut outcomes = vec![CallOutcome::StepLimit; lanes.len()];
        for (n, answer) in asked.into_iter().zip(self.compiled.ask(&questions)) {
            outcomes[n] = self.outcome(kind, answer);
        }
        Some(CallAnswers { outcomes, by_others: 0 })
    }
}

impl CTextReady<'_> {
    fn outcome(&self, kind: CallKind, answer: CAnswer) -> CallOutcome {
        match answer.status {
            0 => {}
            NOT_CLEAR => return CallOutcome::Leftovers,
            UNVERIFIED_FIRST..=UNVERIFIED_LAST => return CallOutcome::NoDerivative,
            status => return CallOutcome::TrapOf(codes(status % ON_WAY_BACK)),
        }
        let word = |cell: &CallCell| match cell.class {
            Class::Int => answer.ints[cell.address] as u64,
            Class::Real => answer.reals[cell.address],
        };
        let (words, steps) = match kind {
            kind if kind.is_derivative() => (answer.adjoints, None),
            _ => {
                let words = self.subject.found(kind).iter().map(word).collect();
                (words, Some(answer.steps.unsigned_abs()))
            }
        };
        CallOutcome::Done(CallResult { words, steps, is_noted: None })
    }
}

/// The status that a C function returns if a cell isn't cleared at the end. The header of the C text defines this
/// number.
const NOT_CLEAR: i64 = 10;
const UNVERIFIED_FIRST: i64 = 11;
const UNVERIFIED_LAST: i64 = 15;
const ON_WAY_BACK: i64 = 100;

/// Returns the codes of all traps for which a C function returns this status.
fn codes(status: i64) -> &'static [TrapCode] {
    match status {
        // A reverse sweep can't undo `overwrite` or `erase`: in their place, C text has a check that always fails.
        2 => &[
            TrapCode::AssertionFailed,
            TrapCode::JoinRefused,
            TrapCode::CountMissed,
            TrapCode::NotVacant,
            TrapCode::LeftInFrame,
            TrapCode::LostForGood,
            TrapCode::SliceOutside,
            TrapCode::ArgumentMoved,
            TrapCode::ArgumentsOverlap,
            TrapCode::TasksShareCells,
        ],
        3 => &[TrapCode::NotVacant, TrapCode::LeftInFrame],
        4 => &[TrapCode::NotFinite, TrapCode::DerivativeTooLarge],
        5 => &[TrapCode::IndexOutside, TrapCode::SliceOutside],
        6 => &[TrapCode::TargetAmongSources, TrapCode::ArgumentsOverlap],
        7 => &[TrapCode::DivisionByZero],
        8 => &[TrapCode::NegativeExponent],
        9 => &[TrapCode::OutsideDomain, TrapCode::Overflow, TrapCode::NoInteger, TrapCode::NoDerivative],
        17 => &[TrapCode::CallsTooDeep],
        _ => &[],
    }
}
