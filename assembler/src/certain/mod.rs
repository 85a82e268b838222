//! Certain errors, found without running the program: cells that can't end as required, and branch pairs that
//! must fail on a path to them.
//!
//! The analysis is an abstract interpretation of each procedure over the values of its scalar cells
//! (`state`). A value is a number, or the input value of a cell plus a number. At joins only common facts are
//! kept, until a fixed point is reached. Calls discard the values that their callees may change
//! ([`Effects`]).
//!
//! The analysis is sound: arrays, reals and values computed from inputs are unknown, and unknown values cause
//! no findings. There are no findings for programs that are too large or that call through cells.
//!
//! This module works on modules, independently of source texts and messages.

mod state;

use std::collections::HashMap;
use std::rc::Rc;

use reviver_isa::Module;
use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Argument, Base, Call, Class, Instruction, Link, Operand, Place};
use reviver_isa::module::{Passing, Procedure, Role, Shape, Values};
use reviver_isa::update::Update;

use self::state::{KnownAtEntry, KnownState, KnownValue};

/// An error that is certain to occur in a verified module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A global that must end with its initial value always ends with another value.
    Ends {
        /// The index of the global in `Module::globals`.
        global: u32,
        /// The value at the end, which differs from the initial value.
        value: i64,
    },
    /// A global that must end with its initial value ends with the input value of a global plus a number.
    /// That is correct for at most one input.
    EndsAsGiven {
        /// The index of the global that ends with a wrong value.
        global: u32,
        /// The index of the global with the input value; it may be the same global.
        given: u32,
        /// The number that is added to the input value, wrapped to a word of the program.
        plus: i64,
    },
    /// Falling into this `from` always finds its condition true, and traps. `left` is the value of the
    /// condition's left side, if known.
    Falls {
        /// The index of the `from` in `Module::code`.
        from: u32,
        /// The value of the condition's left side, or `None` if the analysis doesn't know it.
        left: Option<i64>,
    },
    /// Jumping by this `br` always finds the condition of its `from` false, and traps. `left` is the value of
    /// the condition's left side, if known.
    Jumps {
        /// The index of the `br` in `Module::code`.
        br: u32,
        /// The index of the `from` to which the `br` jumps.
        from: u32,
        /// The value of the condition's left side, or `None` if the analysis doesn't know it.
        left: Option<i64>,
    },
}

/// The maximum work of the whole analysis: instructions, and cells copied at branches.
const MOST_WORK: usize = 4_000_000;

/// Returns all certain errors of a verified module, in order of the code. Errors at the end of main come
/// first.
pub fn findings(module: &Module) -> Vec<Finding> {
    let mut work = MOST_WORK;
    let Some(effects) = Effects::within(module, &mut work) else { return Vec::new() };
    let mut findings = Vec::new();
    for procedure in &module.procedures {
        let mut walk = Analyzer::new(module, procedure, &effects);
        if walk.settle(&mut work).is_none() {
            return Vec::new();
        }
        walk.collect_findings(&mut findings);
    }
    findings
}

/// The analysis of one procedure.
struct Analyzer<'m> {
    module: &'m Module,
    procedure: &'m Procedure,
    effects: &'m Effects,
    entry: Rc<KnownAtEntry>,
    /// The state after each `from` that is reachable.
    joins: HashMap<u32, KnownState>,
    exit: Option<KnownState>,
}

/// The continuation of a path after a branch or a join.
enum Continuation {
    On,
    /// The path ends here, or continues after a `from`.
    Over,
}

impl<'m> Analyzer<'m> {
    fn new(module: &'m Module, procedure: &'m Procedure, effects: &'m Effects) -> Analyzer<'m> {
        let is_main = module.procedures.first().is_some_and(|main| main.entry == procedure.entry);
        let globals = if is_main { module.globals.iter().zip(0..).map(begins).collect() } else { Vec::new() };
        let frame = procedure.frame.iter().map(|variable| (variable.class, variable.shape));
        let vacant = |(class, shape)| match (class, shape) {
            (Class::Int, Shape::Scalar) => KnownValue::Known(0),
            _ => KnownValue::Unknown,
        };
        let entry = KnownAtEntry { word: module.word, globals, frame: frame.map(vacant).collect() };
        Analyzer { module, procedure, effects, entry: Rc::new(entry), joins: HashMap::new(), exit: None }
    }

    fn start(&self) -> (u32, KnownState) {
        (self.procedure.entry + 1, KnownState::new(Rc::clone(&self.entry)))
    }

    /// Iterates to the fixed point. Returns `None` if that is too much work.
    fn settle(&mut self, work: &mut usize) -> Option<()> {
        let (first, state) = self.start();
        let mut open = self.walked(first, state, work)?;
        while let Some(at) = open.pop() {
            let Some(state) = self.joins.get(&at).cloned() else { continue };
            open.extend(self.walked(at, state, work)?);
        }
        Some(())
    }

    /// Analyses the path from a place, and returns the joins at which facts were lost.
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

    /// Follows the path from a place to the next join, and returns the state after each `from` that is
    /// reached. `look` receives the state before each join, the two halves of its pair, and true if the join
    /// is reached by a jump.
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
            if matches!(step, Continuation::Over) {
                break;
            }
        }
        Some(reached)
    }

    /// Follows both outcomes of a `br`.
    fn part(
        &self,
        state: &mut KnownState,
        br: u32,
        from: u32,
        look: &mut dyn FnMut(&KnownState, u32, u32, bool),
        reached: &mut Vec<(u32, KnownState)>,
    ) -> Continuation {
        let code = &self.module.code;
        let (Some(split), Some(join)) = (code.get(br as usize), code.get(from as usize)) else {
            return Continuation::Over;
        };
        let mut taken = state.clone();
        if taken.assume(split, true) {
            look(&taken, br, from, true);
            if taken.assume(join, true) {
                reached.push((from + 1, taken));
            }
        }
        if state.assume(split, false) { Continuation::On } else { Continuation::Over }
    }

    /// Applies an instruction that is no branch.
    fn pass(&self, state: &mut KnownState, instruction: &Instruction) -> Continuation {
        if let Link::Calls(calls) = &instruction.link {
            calls.iter().for_each(|call| self.call(state, call));
            return Continuation::On;
        }
        if instruction.update == Update::Assert {
            return if state.assume(instruction, true) { Continuation::On } else { Continuation::Over };
        }
        state.change(instruction, |place| self.is_scalar_int(place));
        Continuation::On
    }

    fn is_scalar_int(&self, place: &Place) -> bool {
        let declaration = self.module.declaration(self.procedure, place.base);
        place.index.is_none() && !place.adjoint && declaration.is_some_and(|d| d.class == Class::Int)
    }

    /// Discards the values that a call may change: its `inout` arguments, and the globals that its callee
    /// changes.
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

    /// Reports the certain errors, based on the fixed point.
    fn collect_findings(mut self, findings: &mut Vec<Finding>) {
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
            self.check_end(findings);
        }
        findings.append(&mut broken);
    }

    /// Checks the globals of main at its end.
    fn check_end(&self, findings: &mut Vec<Finding>) {
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

/// Returns the value of a global at the beginning of main.
fn begins((global, number): (&reviver_isa::module::Global, u32)) -> KnownValue {
    let scalar_int = global.class == Class::Int && global.shape == Shape::Scalar;
    match initial(&global.initial) {
        // The values on stacks aren't tracked.
        _ if global.shape == Shape::Stack => KnownValue::Unknown,
        _ if global.role.is_given() => KnownValue::Given { global: number, plus: 0 },
        Some(value) if scalar_int && global.role != Role::In => KnownValue::Known(value),
        _ => KnownValue::Unknown,
    }
}

/// Returns the initial value of a scalar integer.
fn initial(values: &Values) -> Option<i64> {
    match values {
        Values::Ints(list) => Some(list.first().copied().unwrap_or(0)),
        Values::Reals(_) => None,
    }
}
