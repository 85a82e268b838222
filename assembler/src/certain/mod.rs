//! Finds errors that are certain to occur, without running the program: globals that can't end with the
//! required value, and branch pairs that must trap on some path.
//!
//! The analysis is an abstract interpretation of each procedure over the values of its scalar cells (module
//! `state`). An abstract value is a number, or the input value of a global plus a number. At a join of
//! control flow, only the facts that hold on both paths are kept. Loops are iterated until a fixed point is
//! reached. A call discards the values that its callee may change ([`Effects`]).
//!
//! The analysis is sound: arrays, reals and values computed from inputs are unknown, and unknown values cause
//! no findings. Programs that are too large, or that call through cells, have no findings.
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
    /// A global must end with its initial value, but always ends with another value.
    Ends {
        /// The index of the global in `Module::globals`.
        global: u32,
        /// The value at the end, which differs from the initial value.
        value: i64,
    },
    /// A global must end with its initial value, but ends with the input value of a global plus a number. The
    /// final value is correct for at most one input value.
    EndsAsGiven {
        /// The index of the global that ends with the wrong value.
        global: u32,
        /// The index of the global with the input value; it may be the same global.
        given: u32,
        /// The number that is added to the input value, wrapped to a word of the program.
        plus: i64,
    },
    /// Whenever control reaches this `from` from above, the condition of the `from` is true, so the `from`
    /// traps. `left` is the value of the condition's left side, if known.
    Falls {
        /// The index of the `from` in `Module::code`.
        from: u32,
        /// The value of the condition's left side, or `None` if the analysis doesn't know it.
        left: Option<i64>,
    },
    /// Whenever this `br` jumps, the condition of its `from` is false, so the `from` traps. `left` is the
    /// value of the condition's left side, if known.
    Jumps {
        /// The index of the `br` in `Module::code`.
        br: u32,
        /// The index of the `from` to which the `br` jumps.
        from: u32,
        /// The value of the condition's left side, or `None` if the analysis doesn't know it.
        left: Option<i64>,
    },
}

/// The maximum work of the whole analysis, in visited instructions and copied facts. A larger program has no
/// findings.
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

/// The analysis of one procedure, with the abstract states found so far.
struct Analyzer<'m> {
    module: &'m Module,
    procedure: &'m Procedure,
    effects: &'m Effects,
    entry: Rc<KnownAtEntry>,
    /// The abstract state after each reachable `from`, by the index of the instruction after the `from`.
    joins: HashMap<u32, KnownState>,
    exit: Option<KnownState>,
}

/// States whether a path continues at the next instruction.
enum Continuation {
    On,
    /// The path ends here, or is continued later from the state after a `from`.
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

    /// Iterates to the fixed point. Returns `None` if that would exceed the budget `work`.
    fn settle(&mut self, work: &mut usize) -> Option<()> {
        let (first, state) = self.start();
        let mut open = self.walked(first, state, work)?;
        while let Some(at) = open.pop() {
            let Some(state) = self.joins.get(&at).cloned() else { continue };
            open.extend(self.walked(at, state, work)?);
        }
        Some(())
    }

    /// Follows the path from an instruction to the next join. Merges the state at the end of the path, and the states
    /// at its jumps, into the states of the joins that they reach. Returns the joins whose states have changed: the
    /// paths from these joins must be followed again.
    fn walked(&mut self, start: u32, state: KnownState, work: &mut usize) -> Option<Vec<u32>> {
        let mut news = Vec::new();
        for (at, state) in self.follow_path(start, state, work, &mut |_, _, _, _| {})? {
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

    /// Follows the path from an instruction to the next join. Returns the states after the joins that are
    /// reached, each with the index of the instruction after the join. `look` is called before each join; the
    /// arguments of `look` are the state, the indices of the `br` and of the `from`, and true if the `br`
    /// jumps.
    fn follow_path(
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

    /// Follows both outcomes of a `br`. If the `br` may jump, the state after its `from` is added to `reached`.
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

    /// Applies an instruction that isn't a branch to the state.
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

    /// Discards the values that a call may change: those of its `inout` arguments, and of the globals that
    /// its callee changes.
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

    /// Adds the certain errors to the findings, based on the states of the fixed point.
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
            self.follow_path(start, state, &mut work, look);
        }
        if self.procedure.entry == 0 {
            self.check_end(findings);
        }
        findings.append(&mut broken);
    }

    /// Adds the globals that end main with a wrong value to the findings.
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

/// Returns the abstract value of a global at the beginning of main.
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

/// Returns the initial value of a scalar integer; `None` for reals.
fn initial(values: &Values) -> Option<i64> {
    match values {
        Values::Ints(list) => Some(list.first().copied().unwrap_or(0)),
        Values::Reals(_) => None,
    }
}
