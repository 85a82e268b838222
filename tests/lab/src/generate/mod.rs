//! Generator of random programs, as text. Programs are valid by construction, and most run to their end. Each statement
//! is written so that its requirements hold: index bounds, exit conditions, vacant cells. Profiles with risk violate
//! some of these requirements.
//!
//! The generator uses the definition of the language and the domains of functions, but neither assembler nor machine.

mod block;
mod condition;
mod control;
mod declare;
mod facts;
mod flat;
mod gradient;
mod operand;
mod procedure;
mod scope;
mod storage;
mod tasks;
mod update;
mod writer;

use reviver_isa::module::{RealSystem, Word};

use crate::rng::Rng;
use writer::{Place, Writer};

/// Properties of the programs to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub word: Word,
    pub real: RealSystem,
    /// Number of statements in main, without those in blocks.
    pub statements: usize,
    pub procedures: usize,
    /// Approximate upper bound on the steps of a run.
    pub steps: u64,
    /// Probability of constructs that may trap, in percent.
    pub risk: u32,
    /// True to use `overwrite` and `erase`.
    pub lossy: bool,
    /// True to use gradient mode, adjoints as operands, and rules.
    pub gradient: bool,
    /// True to use tasks (`par`).
    pub tasks: bool,
    /// True to use stacks, tapes and `show`.
    pub stores: bool,
}

impl Profile {
    /// Returns the profile of small programs in the default number system that take no risks and lose no information.
    pub fn plain() -> Profile {
        Profile {
            word: Word::W64,
            real: RealSystem::F64,
            statements: 8,
            procedures: 2,
            steps: 2000,
            risk: 0,
            lossy: false,
            gradient: false,
            tasks: false,
            stores: true,
        }
    }

    /// Returns the profile of a seed. All combinations of number systems occur. One program in five takes risks, one
    /// in ten loses information, two in five use gradient mode, and one in four has tasks.
    pub fn of_seed(seed: u64) -> Profile {
        let mut rng = Rng::new(seed ^ 0x7072_6f66_696c_6573);
        let fixed = *rng.pick(&[43, 43, 16, 32, 48, 52]);
        Profile {
            word: *rng.pick(&[Word::W8, Word::W16, Word::W32, Word::W64, Word::W64]),
            real: *rng.pick(&[RealSystem::F64, RealSystem::F64, RealSystem::F32, RealSystem::Fixed(fixed)]),
            statements: 3 + rng.below(12),
            procedures: rng.below(5),
            steps: *rng.pick(&[300, 1000, 3000]),
            risk: if rng.chance(20) { 6 } else { 0 },
            lossy: rng.chance(10),
            gradient: rng.chance(40),
            tasks: seed.is_multiple_of(4),
            stores: true,
        }
    }
}

/// Generates the program of a seed.
pub fn program(seed: u64, profile: &Profile) -> String {
    let mut writer = Writer::new(seed, profile);
    writer.settings();
    writer.constants();
    writer.shared_globals();
    (0..2).for_each(|_| writer.macro_definition());
    let head = writer.take_lines();
    let tasks = writer.task_procedures();
    let others = (0..profile.procedures).map(|_| writer.procedure()).collect::<Vec<_>>().concat();
    let procedures = [tasks, others].concat();
    writer.main();
    let (main, frame) = (writer.take_lines(), writer.take_frame());
    let tape = match writer.tape.as_slice() {
        [] => Vec::new(),
        entries => vec![format!("{}{}", crate::subject::TAPE, entries.join(", "))],
    };
    let comment = format!("; the program of seed {seed}");
    let lines = [vec![comment], tape, head, frame, main, procedures].concat();
    lines.join("\n") + "\n"
}

/// Function that writes one kind of statement. It returns false if that isn't possible at the current place.
type Kind = fn(&mut Writer<'_>) -> bool;

/// Kinds of statements without a body, each with its relative frequency.
const FLAT: [(usize, Kind); 16] = [
    (14, |w| w.accumulate()),
    (2, |w| w.contribute()),
    (3, |w| w.swap()),
    (3, |w| w.rotate()),
    (3, |w| w.involute()),
    (2, |w| w.assertion()),
    (1, |w| w.profile.stores && w.show()),
    (2, |w| w.profile.stores && w.exchange()),
    (1, |w| w.profile.stores && w.turn_around()),
    (2, |w| w.profile.stores && w.store_without_inverse()),
    (1, |w| w.speck()),
    (2, |w| w.macro_use()),
    (5, |w| w.tasks() || w.call()),
    (6, |w| w.lose()),
    (4, |w| w.touch_adjoint()),
    (4, |w| w.read_adjoint()),
];

/// Kinds of statements with a body, each with its relative frequency.
const BLOCKS: [(usize, Kind); 19] = [
    (5, |w| w.branch()),
    (2, |w| w.marked_branch()),
    (5, |w| w.counted()),
    (3, |w| w.counted_loop()),
    (2, |w| w.real_loop()),
    (3, |w| w.flat_skip()),
    (2, |w| w.flat_choice()),
    (2, |w| w.flat_while()),
    (2, |w| w.flat_repeat()),
    (2, |w| w.flat_crossing()),
    (8, |w| w.local()),
    (3, |w| w.raised()),
    (4, |w| w.computed()),
    (3, |w| w.profile.stores && w.shelved()),
    (3, |w| w.called_and_taken_back()),
    (2, |w| w.profile.stores && w.echo()),
    (1, |w| w.profile.stores && w.pour()),
    (4, |w| w.profile.stores && w.unstack()),
    (16, |w| w.gradient_section()),
];

/// Maximum nesting depth of blocks.
const DEEPEST: usize = 4;

impl Writer<'_> {
    /// Writes the statements of main.
    fn main(&mut self) {
        self.main_globals();
        self.mode_off = true;
        self.place = Place::Trunk;
        self.times = 1;
        self.room = self.profile.steps;
        for _ in 0..self.profile.statements {
            self.statement();
        }
    }

    /// Writes one to `most` statements.
    fn statements(&mut self, most: usize) {
        let count = 1 + self.rng.below(most);
        (0..count).for_each(|_| self.statement());
    }

    /// Writes one statement of any kind that is possible here.
    fn statement(&mut self) {
        for _ in 0..8 {
            let deep = self.nesting >= DEEPEST || self.room < 60;
            let block = !deep && self.rng.chance(if self.nesting == 0 { 60 } else { 40 });
            let kinds: &[(usize, Kind)] = if block { &BLOCKS } else { &FLAT };
            let kind = self.kind(kinds);
            if kind(self) {
                return;
            }
        }
        self.assertion();
    }

    fn kind(&mut self, kinds: &[(usize, Kind)]) -> Kind {
        let mut n = self.rng.below(kinds.iter().map(|(weight, _)| weight).sum());
        let chosen = kinds.iter().find(|(weight, _)| {
            let here = n < *weight;
            n = n.wrapping_sub(*weight);
            here
        });
        chosen.map_or(|w| w.accumulate(), |(_, kind)| *kind)
    }
}
