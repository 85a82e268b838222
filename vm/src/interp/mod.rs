//! The interpreter: the reference implementation of every instruction.
//!
//! One loop serves both directions, because the program also contains the inverse of its code. The loop is generic over
//! the width of integers, the number system, the history and the gradient mode, so that no step has to test these
//! settings. The hot loop handles branches and the most frequent instructions on cells. [`rare`] has the other
//! instructions on cells, and [`structural`] those that change more than cells. The effect of a step on cells is
//! defined by the instruction table, through the templates of [`reviver_isa::step`]. The interpreter prints nothing and
//! uses no names.

pub(crate) mod address;
mod calls;
mod direct;
pub(crate) mod distinct;
pub(crate) mod engine;
pub(crate) mod mode;
mod moves;
pub(crate) mod op;
mod rare;
pub(crate) mod recording;
pub(crate) mod resolve;
mod sources;
mod store;
mod structural;
pub(crate) mod tasks;
mod touched;
pub(crate) mod window;

use std::marker::PhantomData;

use reviver_isa::function::{Function, Signature, rows};
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::step::{AnyFunction, Engine, Failed, Operation, accumulate, step};
use reviver_isa::update::{Action, Update};

use crate::allocation::AllocationPurpose;
use crate::history::{Cells, History};
use crate::interp::address::Addresses;
use crate::interp::op::{Kind, Op, for_frequent_steps};
use crate::interp::window::Window;
use crate::program::{BACKWARD, FORWARD, Program};
use crate::reports::Reports;
use crate::state::lanes::Lanes;
use crate::state::{Part, State};
use crate::trap::{Cause, Trap};
use crate::travel::{Clock, Segment, Stop, Track, Travel};
use crate::watch::mark;

use direct::Direct;
use mode::{Mode, Plain, WithAdjoints, is_silent};
use rare::{LoopPlace, Rare};

/// The reason why the hot loop paused.
pub(crate) enum LoopExit {
    Budget,
    /// The next instruction isn't handled by the hot loop.
    Structural,
    /// The condition of the join that the next instruction jumps to is false.
    Denied,
    Trap(Cause),
}

/// A run: the parts of the machine, and the current position in the code of one direction.
pub(crate) struct Run<'a, W, R: Reals, H> {
    pub program: &'a Program,
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    pub state: &'a mut State<R::Bits>,
    pub history: &'a mut H,
    pub reports: &'a mut Reports,
    pub travel: Travel,
    /// The number of steps left in the budget.
    pub left: u64,
    /// The direction in which the code is executed, which is the index into `Program::code`.
    pub direction: usize,
    pub counter: usize,
    /// The track of the next step, unless the step leads into a rule.
    pub track: Track,
    /// The window of the current call: the addresses of the operands of its procedure.
    pub window: &'a mut Window,
}

/// Executes the steps of a segment.
///
/// # Errors
/// Returns a trap; the state is then the one before the instruction that trapped.
pub(crate) fn run<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>>(
    program: &Program,
    numbers: Arithmetic<W, R>,
    state: &mut State<R::Bits>,
    history: &mut H,
    reports: &mut Reports,
    window: &mut Window,
    Segment { travel, budget }: Segment,
) -> Result<Stop, Trap> {
    let tolerance = program.module().tolerance();
    let direction = effective_direction(state.inverted, travel);
    let counter = program.counter(state.position, direction);
    if state.adjoints.is_some() || program.needs_adjoints || state.mode() {
        let at = program.instruction_at(counter, direction);
        state
            .make_adjoints()
            .map_err(|_| Trap { at, cause: Cause::NoMemory(AllocationPurpose::Adjoints) })?;
    }
    let track = track_of(program, state);
    let mut run = Run {
        program,
        numbers,
        tolerance,
        state,
        history,
        reports,
        travel,
        left: budget,
        direction,
        counter,
        track,
        window,
    };
    run.fill_window(program.procedure_of(program.instruction_at(counter, direction)));
    let outcome = run.go();
    let at = run.program.instruction_at(run.counter, run.direction);
    run.state.position = run.program.position(run.counter, run.direction);
    outcome.map_err(|cause| Trap { at, cause })
}

/// Returns the direction in which the code is executed: the machine's own direction combined with the user's direction
/// of travel.
pub(crate) fn effective_direction(inverted: bool, travel: Travel) -> usize {
    match (inverted, travel) {
        (false, Travel::Forward) | (true, Travel::Backward) => FORWARD,
        _ => BACKWARD,
    }
}

/// Returns the track of a state: `Rules` while an open call executes a rule. At most one open call executes a rule,
/// because rules don't nest. While gradient mode is on, no open call executes a rule.
fn track_of<B: Lanes>(program: &Program, state: &State<B>) -> Track {
    let may_be = program.has_rules && !state.mode();
    match may_be && state.calls.iter().any(|call| call.part == Part::Rule) {
        true => Track::Rules,
        false => Track::Program,
    }
}

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'_, W, R, H> {
    fn go(&mut self) -> Result<Stop, Cause> {
        loop {
            let (clock, is_watched) = (self.clock(self.track), self.is_watched());
            let loop_exit = if self.state.mode() {
                self.cells_in::<WithAdjoints>(clock, is_watched)
            } else {
                self.cells_in::<Plain>(clock, is_watched)
            };
            self.state.passed(self.travel, self.track, clock.budget - self.left);
            match loop_exit {
                LoopExit::Budget => return Ok(Stop::Budget),
                LoopExit::Trap(cause) => return Err(cause),
                LoopExit::Denied => return Err(self.denied()),
                LoopExit::Structural => {
                    if let Some(stop) = self.structural()? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    /// Runs the hot loop, with the window if there is one. Variants without a window and without jump marks
    /// exist only for the fastest configuration, because each copy of the loop costs compile time.
    fn cells_in<M: Mode>(&mut self, clock: Clock, is_watched: bool) -> LoopExit {
        if const { W::WHOLE && !H::ACTIVE } {
            if self.window.cells.is_empty() {
                self.cells_for::<M, false>(clock, is_watched)
            } else {
                self.cells_for::<M, true>(clock, is_watched)
            }
        } else {
            self.cells::<M, true, true>(clock, is_watched)
        }
    }

    /// Selects the loop that computes jump marks if a watch needs them.
    fn cells_for<M: Mode, const WINDOWED: bool>(&mut self, clock: Clock, is_watched: bool) -> LoopExit {
        if const { M::ON } || (const { !R::EXACT } && is_watched) {
            self.cells::<M, WINDOWED, true>(clock, is_watched)
        } else {
            self.cells::<M, WINDOWED, false>(clock, is_watched)
        }
    }

    /// Returns true if the watch is notified of jumps and freed cells. Two kinds of steps aren't watched: steps in
    /// rules, because they are executed in one direction only, and steps in exact number systems, because they are
    /// undone exactly.
    pub(super) fn is_watched(&self) -> bool {
        !R::EXACT && self.reports.watch.is_some() && self.track == Track::Program
    }

    /// Fills the window for the current call of a procedure.
    fn fill_window(&mut self, procedure: usize) {
        if self.program.needs_windows {
            let entries = self.program.windows.get(procedure).map_or(&[][..], |entries| entries);
            self.window.fill(entries, self.state.frame, &self.state.references);
        }
    }

    pub(crate) fn clock(&self, track: Track) -> Clock {
        Clock { travel: self.travel, budget: self.left, track, start: self.state.on_track(track) }
    }

    fn denied(&self) -> Cause {
        let landing = self.program.code[self.direction][self.counter].c as usize;
        Cause::UnexpectedJump { partner: self.program.instruction_at(landing - 1, self.direction) }
    }

    /// The hot loop: executes branches, and instructions that change only cells.
    ///
    /// [`Rare`] handles infrequent instructions, so that the variables of the loop stay in registers.
    fn cells<M: Mode, const WINDOWED: bool, const COUNTS: bool>(
        &mut self,
        clock: Clock,
        is_watched: bool,
    ) -> LoopExit {
        let numbers = self.numbers;
        let code = &self.program.code[self.direction][..];
        let landings = &self.program.landings[self.direction][..];
        let (window, lookups) = (&mut self.window.cells[..], self.program.lookups(self.direction));
        let (mut counter, mut left) = (self.counter, self.left);
        let mut marks = 0_u64;
        // The strategy `tape` also records old values of integers. The arms of the loop don't record these.
        let tapes = H::ACTIVE && self.history.tapes();
        let State { ints, reals, adjoints, frame, references, counters, .. } = &mut *self.state;
        let mut direct = Direct::<W, R, M, AnyFunction> {
            numbers,
            pool: &self.program.pool,
            flags: 0,
            ints: &mut ints[..],
            reals: &mut reals[..],
            adjoints: adjoints.as_mut().map_or(&mut [][..], |adjoints| &mut adjoints.cells),
            drops: 0,
            compiled_for: PhantomData,
        };
        let scope = Addresses { flow: self.program.flow(), frame: *frame, references };
        let mut rare = Rare {
            numbers,
            tolerance: self.tolerance,
            counters,
            history: &mut *self.history,
            reports: &mut *self.reports,
            clock,
            is_watched,
            scope,
            program: self.program,
            direction: self.direction,
        };

        macro_rules! cells {
            () => {
                Cells { ints: &mut *direct.ints, reals: &mut *direct.reals, adjoints: &mut *direct.adjoints }
            };
        }
        /// Borrows the cells for a step with a function. The parts are passed separately, so that the loop's
        /// variables stay in registers.
        macro_rules! lent {
            ($op:ident, $Mode:ident, $function:ident) => {
                Direct::<W, R, $Mode, rows::$function> {
                    numbers,
                    pool: direct.pool,
                    flags: $op.flags,
                    ints: &mut *direct.ints,
                    reals: &mut *direct.reals,
                    adjoints: &mut *direct.adjoints,
                    drops: 0,
                    compiled_for: PhantomData,
                }
            };
            ($op:ident, $Mode:ident) => {
                Direct::<W, R, $Mode, AnyFunction> {
                    numbers,
                    pool: direct.pool,
                    flags: $op.flags,
                    ints: &mut *direct.ints,
                    reals: &mut *direct.reals,
                    adjoints: &mut *direct.adjoints,
                    drops: 0,
                    compiled_for: PhantomData,
                }
            };
        }
        /// Resolves the cells of an op's operands.
        macro_rules! found {
            ($op:ident, $at:expr) => {
                if WINDOWED {
                    match window::find($op, $at, window, lookups, direct.ints) {
                        Ok(cells) => cells,
                        Err(cause) => break LoopExit::Trap(cause),
                    }
                } else {
                    $op.operands()
                }
            };
        }
        /// Jumps past the partner of a branch half, if the partner's condition is true. Otherwise the loop pauses.
        macro_rules! land {
            ($op:ident, $holds:expr) => {{
                if !$holds && keeps(Rule::LandingsAreChecked) {
                    break LoopExit::Denied;
                }
                let is_marked = COUNTS && !R::EXACT && $op.flags & op::IS_MARKED != 0;
                if is_marked && keeps(Rule::PathsAreCompared) {
                    marks = marks.wrapping_add(mark(clock, left));
                }
                counter = $op.c as usize;
                left -= 1;
                continue;
            }};
        }
        /// Evaluates the condition of a branch half's partner, and jumps there.
        macro_rules! jump {
            ($op:ident) => {{
                let agrees = if $op.flags & op::LANDING == op::LANDS_ALWAYS {
                    true
                } else if $op.flags & op::LANDING == op::LANDS_ON_INTS {
                    let join = &landings[$op.c as usize - 1];
                    join.holds(order_ints(found!(join, $op.c as usize - 1), direct.ints))
                } else if $op.flags & op::LANDING == op::LANDS_ON_REALS {
                    let join = &landings[$op.c as usize - 1];
                    join.holds(order_reals(found!(join, $op.c as usize - 1), direct.reals, numbers.reals))
                } else {
                    let join = &landings[$op.c as usize - 1];
                    match rare.order($op.c as usize - 1, cells!()) {
                        Ok(ordering) => join.holds(ordering),
                        Err(cause) => break LoopExit::Trap(cause),
                    }
                };
                land!($op, agrees)
            }};
        }
        macro_rules! branch {
            ($op:ident, $ordering:expr) => {
                if $op.holds($ordering) {
                    jump!($op);
                }
            };
        }
        macro_rules! join {
            ($op:ident, $ordering:expr) => {
                if $op.holds($ordering) && keeps(Rule::JoinsAreChecked) {
                    break LoopExit::Trap(Cause::UnexpectedFall);
                }
            };
        }

        let loop_exit = loop {
            if left == 0 {
                break LoopExit::Budget;
            }
            let op = &code[counter];
            let found = found!(op, counter);
            /// Traps if a step fails. Each arm has its own check, so that steps that can't fail have none.
            macro_rules! check {
                ($outcome:expr) => {
                    if let Err(failed) = $outcome {
                        break LoopExit::Trap(trapped(failed, op, copied(found)));
                    }
                };
            }
            /// Executes an infrequent step.
            macro_rules! execute {
                () => {{
                    let Some(operation) = op.operation() else { break LoopExit::Structural };
                    let moment = LoopPlace { counter, left };
                    let outcome = rare.execute::<M>(operation, copied(found), cells!(), moment);
                    if let Err(cause) = outcome {
                        break LoopExit::Trap(cause);
                    }
                }};
            }
            /// Accumulates the result of any function into a real. If the target's adjoint is zero, nothing is
            /// propagated, but the step may have to report a hidden derivative.
            macro_rules! accumulated {
                ($signature:expr) => {
                    if M::ON && is_silent(numbers.reals, direct.adjoint(found[0])) {
                        if op.flags & op::MAY_LOSE != 0 {
                            execute!();
                        } else {
                            check!(accumulate_any(op, $signature, copied(found), lent!(op, Plain)));
                        }
                    } else {
                        check!(accumulate_any(op, $signature, copied(found), lent!(op, M)));
                    }
                };
            }
            /// The functions of the most frequent steps are named as types, so that their code is inlined.
            macro_rules! dispatch {
                ($($Frequent:ident: $update:ident $function:ident $signature:ident,)+) => {
                    match op.kind {
                        $(
                            Kind::$Frequent
                                if const { is_direct::<R::Bits, H>(Update::$update, Signature::$signature) }
                                    && !(H::ACTIVE && tapes)
                                    && is_clear::<R>(Update::$update, Signature::$signature, found[0], direct.reals) =>
                            {
                                const OPERATION: Operation = Operation {
                                    update: Update::$update,
                                    function: Function::$function,
                                    signature: Signature::$signature,
                                    undoes: false,
                                };
                                /// Out of line, because the adjoint code takes many registers.
                                #[inline(never)]
                                fn apart<W: Words, R: Reals, M: Mode>(
                                    mut direct: Direct<W, R, M, rows::$function>,
                                    cells: [usize; 3],
                                ) -> Result<(), Failed> {
                                    accumulate(&mut direct, OPERATION, cells)
                                }
                                if M::ON && const { carries(OPERATION) } {
                                    if is_silent(numbers.reals, direct.adjoint(found[0])) {
                                        check!(accumulate(&mut lent!(op, Plain, $function), OPERATION, copied(found)));
                                    } else {
                                        check!(apart(lent!(op, M, $function), copied(found)));
                                    }
                                } else {
                                    // The action is matched explicitly, so that other actions aren't compiled
                                    // for each function.
                                    if const { matches!(OPERATION.update.action(), Action::Accumulate) } {
                                        let mut lent = lent!(op, Plain, $function);
                                        check!(accumulate(&mut lent, OPERATION, copied(found)));
                                    } else {
                                        let mut lent = lent!(op, M);
                                        check!(step(&mut lent, OPERATION, copied(found)));
                                        direct.drops += lent.drops;
                                    }
                                }
                            }
                        )+
                        Kind::Jump => jump!(op),
                        Kind::JumpOntoInts => land!(op, op.holds(order_ints(found, direct.ints))),
                        Kind::BrInt => branch!(op, order_ints(found, direct.ints)),
                        Kind::BrReal => {
                            if R::IS_TAYLOR && !M::ON {
                                rare.check_tie(counter, copied(found), direct.reals);
                            }
                            branch!(op, order_reals(found, direct.reals, numbers.reals))
                        }
                        Kind::FromInt => join!(op, order_ints(found, direct.ints)),
                        Kind::FromReal => join!(op, order_reals(found, direct.reals, numbers.reals)),
                        Kind::Reals if const { !H::ACTIVE } && is_accumulation(op) => {
                            accumulated!(Signature::Real)
                        }
                        Kind::RealInt if const { !H::ACTIVE } && is_accumulation(op) => {
                            accumulated!(Signature::RealInt)
                        }
                        Kind::IntsToReal if const { !H::ACTIVE } && is_accumulation(op) => {
                            accumulated!(Signature::IntsToReal)
                        }
                        Kind::Ints if op.update.is_reversible() && !(H::ACTIVE && tapes) => {
                            check!(any_on_ints(op, copied(found), lent!(op, Plain)));
                        }
                        Kind::BrOnAdjoints => match rare.order(counter, cells!()) {
                            Ok(ordering) => branch!(op, ordering),
                            Err(cause) => break LoopExit::Trap(cause),
                        },
                        Kind::FromOnAdjoints => match rare.order(counter, cells!()) {
                            Ok(ordering) => join!(op, ordering),
                            Err(cause) => break LoopExit::Trap(cause),
                        },
                        Kind::OnAdjoints => {
                            if let Err(cause) = rare.execute_on_adjoints(cells!(), LoopPlace { counter, left }) {
                                break LoopExit::Trap(cause);
                            }
                        }
                        _ => execute!(),
                    }
                };
            }
            for_frequent_steps!(dispatch);
            counter += 1;
            left -= 1;
        };
        rare.counters.drops += direct.drops;
        if is_watched && let Some(watch) = &mut rare.reports.watch {
            watch.jumped(clock.travel, marks);
        }
        self.counter = counter;
        self.left = left;
        loop_exit
    }
}

/// Copies the cells. The copy is passed by reference, so that the loop's own array stays in registers.
#[inline(always)]
fn copied([a, b, c]: [usize; 3]) -> [usize; 3] {
    [a, b, c]
}

/// Returns true if a frequent step has no loss to count or record. With a history, a residue of a real may
/// have to be recorded or restored.
const fn is_direct<B, H: History<B>>(update: Update, signature: Signature) -> bool {
    match (signature.result(), update.action()) {
        (Class::Int, _) | (Class::Real, Action::Exchange) => true,
        (Class::Real, _) => !H::ACTIVE,
    }
}

/// Returns true if the step discards nothing. A step that clears a real may discard a small remainder.
#[inline(always)]
fn is_clear<R: Reals>(update: Update, signature: Signature, cell: usize, reals: &[R::Bits]) -> bool {
    let clears = matches!((signature.result(), update.action()), (Class::Real, Action::Clear));
    !clears || reals[cell] == R::Bits::default()
}

/// Returns true if a step may propagate a cotangent to its sources. In gradient mode such a step runs without
/// adjoint code if its target's cotangent is 0. For example, steps that recompute intermediate values (undo an
/// `uncompute`) then cost the same as in a run without adjoints.
const fn carries(operation: Operation) -> bool {
    matches!((operation.signature, operation.update.action()), (Signature::Real, Action::Accumulate))
}

fn is_accumulation(op: &Op) -> bool {
    matches!(op.update.action(), Action::Accumulate)
}

/// y ← y ∘ f(a, b) on a real, for any function. Out of line, because the functions take many registers.
#[inline(never)]
fn accumulate_any<W: Words, R: Reals, M: Mode>(
    op: &Op,
    signature: Signature,
    cells: [usize; 3],
    mut direct: Direct<W, R, M, AnyFunction>,
) -> Result<(), Failed> {
    let operation = Operation { update: op.update, function: op.function, signature, undoes: false };
    accumulate(&mut direct, operation, cells)
}

/// Executes any lossless step on integers. Out of line, because the functions take many registers.
#[inline(never)]
fn any_on_ints<W: Words, R: Reals, M: Mode>(
    op: &Op,
    cells: [usize; 3],
    mut direct: Direct<W, R, M, AnyFunction>,
) -> Result<(), Failed> {
    let operation =
        Operation { update: op.update, function: op.function, signature: Signature::Int, undoes: false };
    step(&mut direct, operation, cells)
}

#[cold]
#[inline(never)]
fn trapped(failed: Failed, op: &Op, cells: [usize; 3]) -> Cause {
    op.operation().map_or(Cause::AssertFailed, |operation| Cause::of(failed, operation, cells[0]))
}

/// Returns the ordering of a condition's integer sources: 0 less, 1 equal, 2 greater.
#[inline(always)]
fn order_ints([a, b, _]: [usize; 3], ints: &[i64]) -> u8 {
    ordering(ints[a], ints[b])
}

/// Returns the ordering of a condition's real sources, as [`order_ints`] does.
#[inline(always)]
fn order_reals<R: Reals>([a, b, _]: [usize; 3], reals: &[R::Bits], system: R) -> u8 {
    ordering(system.of_bits(reals[a]), system.of_bits(reals[b]))
}

#[inline(always)]
fn ordering<T: PartialOrd>(a: T, b: T) -> u8 {
    1 + u8::from(a > b) - u8::from(a < b)
}
