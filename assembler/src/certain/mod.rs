//! What is certain to go wrong, found without running: cells that can't end as they must, and branch
//! pairs that must break on the way that leads to them.
//!
//! Each procedure is walked with what is known of its scalar cells (`state`): a number, or "as `n` was
//! given, plus 3". Where ways join, only what both know is kept, until nothing changes. Calls forget
//! what their callees may change ([`Effects`]). Nothing is ever guessed: arrays, reals and values that
//! are computed from what is given are unknown, and about what is unknown nothing is said. Where a
//! program is too large, or calls through cells, there are no findings.
//!
//! Knows modules; knows no source text and no words.

mod state;

use std::collections::HashMap;
use std::rc::Rc;

use reviver_isa::Module;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Argument, Base, Call, Class, Instruction, Link, Operand, Place};
use reviver_isa::module::{Passing, Procedure, Role, Shape, Values};
use reviver_isa::update::Update;

use self::state::{KnownAtEntry, KnownState, KnownValue};

/// Something that is certain to go wrong in a verified module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A global that must end at its initial value always ends at another one.
    Ends { global: u32, value: i64 },
    /// A global that must end at its initial value ends as another one (or itself) was given, plus a
    /// number: that goes well for one given value only.
    EndsAsGiven { global: u32, given: u32, plus: i64 },
    /// The way that falls into this `from` always finds its condition true, and traps. `left` is what
    /// the left side of the condition is then, if that is known too.
    Falls { from: u32, left: Option<i64> },
    /// The way over this `br` always finds the condition of its `from` false, and traps.
    Jumps { br: u32, from: u32, left: Option<i64> },
}

/// How much work the whole analysis may be: instructions, and cells that are copied where ways part.
const MOST_WORK: usize = 4_000_000;

/// Everything that is certain to go wrong in a verified module, in order of the code; what is about
/// the end of main comes first.
pub fn findings(module: &Module) -> Vec<Finding> {
    let mut work = MOST_WORK;
    let Some(effects) = Effects::of(module, &mut work) else { return Vec::new() };
    let mut findings = Vec::new();
    for procedure in &module.procedures {
        let mut walk = Walk::new(module, procedure, &effects);
        if walk.settle(&mut work).is_none() {
            return Vec::new();
        }
        walk.judge(&mut findings);
    }
    findings
}

/// The walk through one procedure.
struct Walk<'m> {
    module: &'m Module,
    procedure: &'m Procedure,
    effects: &'m Effects,
    entry: Rc<KnownAtEntry>,
    /// What is known behind each `from` that some way reaches.
    joins: HashMap<u32, KnownState>,
    exit: Option<KnownState>,
}

/// What a way does at an instruction where ways part or meet.
enum WayOn {
    On,
    /// It ends here, or goes on behind a `from`.
    Over,
}

impl<'m> Walk<'m> {
    fn new(module: &'m Module, procedure: &'m Procedure, effects: &'m Effects) -> Walk<'m> {
        let is_main = module.procedures.first().is_some_and(|main| main.entry == procedure.entry);
        let globals = if is_main { module.globals.iter().zip(0..).map(begins).collect() } else { Vec::new() };
        let frame = procedure.frame.iter().map(|variable| (variable.class, variable.shape));
        let vacant = |(class, shape)| match (class, shape) {
            (Class::Int, Shape::Scalar) => KnownValue::Known(0),
            _ => KnownValue::Unknown,
        };
        let entry = KnownAtEntry { word: module.word, globals, frame: frame.map(vacant).collect() };
        Walk { module, procedure, effects, entry: Rc::new(entry), joins: HashMap::new(), exit: None }
    }

    fn start(&self) -> (u32, KnownState) {
        (self.procedure.entry + 1, KnownState::new(Rc::clone(&self.entry)))
    }

    /// Walks until nothing new is learnt. None if that is too much work.
    fn settle(&mut self, work: &mut usize) -> Option<()> {
        let (first, state) = self.start();
        let mut open = self.walked(first, state, work)?;
        while let Some(at) = open.pop() {
            let Some(state) = self.joins.get(&at).cloned() else { continue };
            open.extend(self.walked(at, state, work)?);
        }
        Some(())
    }

    /// Walks from a place; the places of which less is known than before.
    fn walked(&mut self, start: u32, state: KnownState, work: &mut usize) -> Option<Vec<u32>> {
        let mut news = Vec::new();
        for (at, state) in self.way(start, state, work, &mut |_, _, _, _| {})? {
            *work = work.checked_sub(state.size())?;
            let join = match self.joins.get(&at) {
                Some(known) => known.joined(&state),
                None => Some(state),
            };
            if let Some(join) = join {
                self.joins.insert(at, join);
                news.push(at);
            }
        }
        Some(news)
    }

    /// From a place to where other ways may come in. What is known behind each `from` that is reached;
    /// `look` sees the ways that lead there: the halves of the pair, and whether it is jumped over.
    fn way(
        &mut self,
        start: u32,
        mut state: KnownState,
        work: &mut usize,
        look: &mut dyn FnMut(&KnownState, u32, u32, bool),
    ) -> Option<Vec<(u32, KnownState)>> {
        let mut reached = Vec::new();
        for at in start..=self.procedure.exit {
            *work = work.checked_sub(1)?;
            let Some(instruction) = self.module.code.get(at as usize) else { break };
            if at == self.procedure.exit {
                self.exit = Some(state);
                break;
            }
            let step = match (instruction.update, &instruction.link) {
                (Update::Br, Link::Partner(from)) => {
                    *work = work.checked_sub(state.size())?;
                    self.part(&mut state, at, *from, look, &mut reached)
                }
                (Update::From, Link::Partner(br)) => {
                    look(&state, *br, at, false);
                    if state.assume(instruction, false) {
                        reached.push((at + 1, state));
                    }
                    return Some(reached);
                }
                _ => {
                    if instruction.update == Update::Assert {
                        *work = work.checked_sub(state.size())?;
                    }
                    self.pass(&mut state, instruction)
                }
            };
            if matches!(step, WayOn::Over) {
                break;
            }
        }
        Some(reached)
    }

    /// Goes over a `br`, and on behind it.
    fn part(
        &self,
        state: &mut KnownState,
        br: u32,
        from: u32,
        look: &mut dyn FnMut(&KnownState, u32, u32, bool),
        reached: &mut Vec<(u32, KnownState)>,
    ) -> WayOn {
        let code = &self.module.code;
        let (Some(split), Some(join)) = (code.get(br as usize), code.get(from as usize)) else {
            return WayOn::Over;
        };
        let mut taken = state.clone();
        if taken.assume(split, true) {
            look(&taken, br, from, true);
            if taken.assume(join, true) {
                reached.push((from + 1, taken));
            }
        }
        if state.assume(split, false) { WayOn::On } else { WayOn::Over }
    }

    /// What an instruction that is no branch changes.
    fn pass(&self, state: &mut KnownState, instruction: &Instruction) -> WayOn {
        if let Link::Calls(calls) = &instruction.link {
            calls.iter().for_each(|call| self.call(state, call));
            return WayOn::On;
        }
        if instruction.update == Update::Assert {
            return if state.assume(instruction, true) { WayOn::On } else { WayOn::Over };
        }
        state.change(instruction, |place| self.is_scalar_int(place));
        WayOn::On
    }

    fn is_scalar_int(&self, place: &Place) -> bool {
        let declaration = self.module.declaration(self.procedure, place.base);
        place.index.is_none() && !place.adjoint && declaration.is_some_and(|d| d.class == Class::Int)
    }

    /// A call changes what it is passed to change, and the globals that it reaches.
    fn call(&self, state: &mut KnownState, call: &Call) {
        let Some(callee) = self.module.procedures.get(call.procedure as usize) else { return };
        for (argument, parameter) in call.arguments.iter().zip(&callee.parameters) {
            let base = match argument {
                Argument::Scalar(Operand::Place(place)) => place.base,
                Argument::Slice(slice) => slice.base,
                Argument::Scalar(_) => continue,
            };
            if parameter.passing == Passing::InOut {
                state.write(base, KnownValue::Unknown);
            }
        }
        for global in self.effects.of_call(call.procedure) {
            state.write(Base::Global(global), KnownValue::Unknown);
        }
    }

    /// Once everything is settled: what is certain to go wrong.
    fn judge(mut self, findings: &mut Vec<Finding>) {
        let mut starts: Vec<(u32, KnownState)> = self.joins.drain().collect();
        starts.push(self.start());
        starts.sort_by_key(|(at, _)| *at);
        let mut work = usize::MAX;
        let code = &self.module.code;
        let mut broken: Vec<Finding> = Vec::new();
        let look = &mut |state: &KnownState, br: u32, from: u32, jumped: bool| {
            let Some(join) = code.get(from as usize) else { return };
            let left = join.operands.first().and_then(|operand| state.known(operand));
            match (jumped, state.holds(join)) {
                (true, Some(false)) => broken.push(Finding::Jumps { br, from, left }),
                (false, Some(true)) => broken.push(Finding::Falls { from, left }),
                _ => {}
            }
        };
        for (start, state) in starts {
            self.way(start, state, &mut work, look);
        }
        if self.procedure.entry == 0 {
            self.judge_the_end(findings);
        }
        findings.append(&mut broken);
    }

    /// What the globals of main hold when it ends.
    fn judge_the_end(&self, findings: &mut Vec<Finding>) {
        let Some(exit) = &self.exit else { return };
        for (number, global) in (0..).zip(&self.module.globals) {
            if global.role.is_result() {
                continue;
            }
            let initial = initial(&global.initial);
            match exit.value(Base::Global(number)) {
                KnownValue::Known(value) if global.shape == Shape::Scalar && initial != Some(value) => {
                    findings.push(Finding::Ends { global: number, value });
                }
                KnownValue::Given { global: given, plus } => {
                    findings.push(Finding::EndsAsGiven { global: number, given, plus });
                }
                KnownValue::Known(_) | KnownValue::Unknown => {}
            }
        }
    }
}

/// What a global holds where main begins.
fn begins((global, number): (&reviver_isa::module::Global, u32)) -> KnownValue {
    let scalar_int = global.class == Class::Int && global.shape == Shape::Scalar;
    match initial(&global.initial) {
        // What lies on a stack isn't followed.
        _ if global.shape == Shape::Stack => KnownValue::Unknown,
        _ if global.role.is_given() => KnownValue::Given { global: number, plus: 0 },
        Some(value) if scalar_int && global.role != Role::In => KnownValue::Known(value),
        _ => KnownValue::Unknown,
    }
}

/// The initial value of a scalar integer.
fn initial(values: &Values) -> Option<i64> {
    match values {
        Values::Ints(list) => Some(list.first().copied().unwrap_or(0)),
        Values::Reals(_) => None,
    }
}
