//! The reversible text: declarations, main, levels of segments, copies of the state, and the parts. This module
//! defines how these procedures call each other. Other modules generate the bodies of the parts.

use std::fmt::Write as _;

use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::format::{format, print_with};
use reviver_assembler::source::{Sources, Span};
use reviver_assembler::tree::{BinaryOperator, Body, Directive, Expression, Limit, Statement};
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Role;
use reviver_isa::update::Update;

use crate::plan::{SegmentPlan, WantedPlan};
use crate::program::SortedProgram;
use crate::state::KeptPlace;
use crate::transform::{Transformed, transform};
use crate::{declare, level};
use reviver_assembler::keep::make::{self, node};

/// Returns the reversible text of a program.
pub fn emit(
    sources: &Sources,
    program: SortedProgram,
    wanted: &WantedPlan,
) -> Result<String, Vec<Diagnostic>> {
    let made = transform(program)?;
    let plan = planned(&made, wanted)?;
    let emission = Emission { sources, made: &made, plan };
    emission.counted()?;
    canonical(emission.text())
}

/// Returns the requested plan, or the plan that fits into the requested space.
fn planned(made: &Transformed, wanted: &WantedPlan) -> Result<SegmentPlan, Vec<Diagnostic>> {
    let (bytes, rounds) = match *wanted {
        WantedPlan::Exact(plan) => return Ok(plan),
        WantedPlan::Space { bytes, rounds } => (bytes, rounds),
    };
    let mut cells = made.state.iter().map(|variable| variable.cells(&made.program.constants));
    let cells = cells.try_fold(1u64, |all, cells| all.checked_add(cells?));
    let state = cells.and_then(|cells| cells.checked_mul(8)).unwrap_or(u64::MAX);
    SegmentPlan::within(bytes, state, rounds).ok_or_else(|| {
        let least = SegmentPlan::least_memory(state);
        let message = format!("the states of 64 segments don't fit into {bytes} bytes");
        let label = format!("one state takes {state} bytes, and the smallest plan keeps nine states");
        vec![
            Diagnostic::error(ProblemCode::NoRoomForStates, message, Span::default(), label)
                .help(format!("write `--space {least}`, or `--segments 2` instead of `--space`")),
        ]
    })
}

/// Returns the text in the canonical layout. The transformation printed the text from syntax trees, so a syntax error
/// in it is reported as a bug of the transformation.
fn canonical(text: String) -> Result<String, Vec<Diagnostic>> {
    let mut sources = Sources::new();
    let file = sources.add("reversible text", text);
    format(&sources, file).map_err(|problems| {
        let why = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        vec![Diagnostic::our_mistake(format!("the generated program has a syntax error: {why}"))]
    })
}

struct Emission<'e> {
    sources: &'e Sources,
    made: &'e Transformed,
    plan: SegmentPlan,
}

/// Number of calls that the transformation opens in addition to one call for each level: a call each for the search, a
/// segment, the segment's rounds, one round, and the round's part.
const CALLS_AROUND: u64 = 5;

impl Emission<'_> {
    /// Checks that the numbers of states, rounds and parts fit into the program's integers; otherwise returns an
    /// error.
    fn counted(&self) -> Result<(), Vec<Diagnostic>> {
        let numbers = [
            ("states", self.plan.states()),
            ("rounds of a segment", self.plan.rounds.unwrap_or(1).into()),
            ("parts", self.made.parts.len() as u64 + 1),
        ];
        let word = self.made.program.word;
        let most = *word.range().end() as u64;
        let Some((what, count)) = numbers.into_iter().find(|(_, count)| *count > most) else { return Ok(()) };
        let message = format!("{count} {what} can't be numbered by integers of {} bits", word.bits());
        Err(vec![
            Diagnostic::error(
                ProblemCode::NoRoomForStates,
                message,
                Span::default(),
                "the program's integers are too narrow",
            )
            .help("declare wider integers with `.word`, or choose fewer segments or rounds"),
        ])
    }

    /// Returns the directive that limits the call depth: the program's limit plus the depth that the transformation
    /// adds. The text is empty if the program has no limit.
    fn depth(&self) -> String {
        let Some(own) = &self.made.program.depth else { return String::new() };
        let more = make::int(CALLS_AROUND + u64::from(self.plan.levels));
        let value = Box::new(make::binary(BinaryOperator::Add, own.clone(), more));
        self.printed(&vec![node(Statement::Directive(Directive::Limit { what: Limit::Depth, value }))])
    }

    fn text(&self) -> String {
        let mut text = self.header();
        text.push_str(&self.printed(&self.made.program.settings));
        let _ = write!(text, "{}\n{}", self.depth(), self.constants());
        let _ = write!(text, "\n{}", self.printed(&declare::interface(self.made)));
        let _ = write!(
            text,
            "\n; The cells of the program, which are 0 while no segment runs.\n{}",
            self.printed(&declare::hidden(self.made, self.is_undone()))
        );
        let _ = write!(text, "\n; The saved states.\n{}", self.printed(&declare::kept(self.made)));
        let _ = write!(text, "\n{}", self.main());
        let _ = write!(text, "\n{}", self.searching());
        for level in (1..=self.plan.levels).rev() {
            let _ = write!(text, "\n{}", level::text(&self.made.words, &self.plan, level));
        }
        let _ = write!(text, "\n{}", self.segment());
        let _ = write!(text, "\n{}", self.copies());
        let _ = write!(text, "\n{}", self.rounds());
        for (at, part) in self.made.parts.iter().enumerate() {
            let line = self.sources.position(part.place).line;
            let comment = format!("\n; From line {line} of the program: {}.\n", part.about);
            let name = format!(".proc {}{}()\n", self.made.words.part, at + 1);
            let _ = writeln!(text, "{comment}{name}{}.end", self.printed(&part.body));
        }
        for procedure in &self.made.procedures {
            let procedure = node(Statement::Procedure(Box::new(procedure.clone())));
            let _ = write!(text, "\n{}", self.printed(&vec![procedure]));
        }
        text
    }

    fn printed(&self, body: &Body) -> String {
        print_with(self.sources, body)
    }

    fn header(&self) -> String {
        let SegmentPlan { segments, levels, .. } = self.plan;
        let (runs, states) = (self.plan.runs(), self.plan.states());
        let name = self.sources.files().next().map(|file| self.sources.name(file)).unwrap_or_default();
        let name = std::path::Path::new(name)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        format!(
            "; {name} made reversible by Bennett's method: nothing is erased, and no garbage stays.\n\
             ;\n\
             ; The program runs in rounds. A round runs one part of the program's text. A segment is a number of rounds. It\n\
             ; runs and pushes the values that it loses. Then its final state is copied, and the segment is undone.\n\
             ; Levels of segments: {levels}, with {segments} segments in each. That is {runs} runs of a segment, forward or backward, and {states}\n\
             ; saved states at a time, without the initial and the current state.\n\n"
        )
    }

    fn constants(&self) -> String {
        let words = &self.made.words;
        let last = format!(
            ".const {} = {}  ; the number of the last state; the initial state has number 0\n",
            words.last,
            self.plan.states()
        );
        let length = self.plan.rounds.map(|rounds| {
            format!(".const {} = {rounds}  ; the number of rounds in a segment\n", words.length)
        });
        format!("{last}{}", length.unwrap_or_default())
    }

    /// Returns true if main copies the results and undoes the run. If false, main moves the results out of the last
    /// state, which contains only results.
    fn is_undone(&self) -> bool {
        self.plan.rounds.is_none() || self.made.state.iter().any(|variable| variable.role == Role::Garbage)
    }

    fn main(&self) -> String {
        let words = &self.made.words;
        let top = format!("{}{}", words.level, self.plan.levels);
        let mut begins = self.printed(&self.beginning());
        let run = match self.plan.rounds {
            Some(_) => format!("call {top}(0, {}, {})\n", words.last, words.length),
            None => format!("local {0}\ncall {1}({0})\n", words.many, words.find),
        };
        let check =
            format!("assert {}[{}] == 0  ; the program has reached its end\n", words.kept_at, words.last);
        let results = format!("{check}{}", self.printed(&self.results()));
        let mut apply = format!("{run}{results}");
        if self.is_undone() {
            begins.push_str(&run);
            apply = results;
        }
        let reported = self.printed(&self.reported());
        format!(
            "        compute  ; the initial state is computed from the inputs\n{begins}        apply\n{apply}        uncompute\n{reported}"
        )
    }

    fn beginning(&self) -> Body {
        let start = make::int(0);
        let mut body = Body::new();
        for variable in &self.made.state {
            if variable.is_given() {
                body.extend(variable.each(&self.made.counters, |place| {
                    make::update(Update::Swap, [place.own(), place.kept(&start)])
                }));
            } else {
                body.extend(variable.each_initial(
                    &self.made.counters,
                    &self.made.program.constants,
                    |place, value| make::update(Update::Add, [place.kept(&start), value]),
                ));
            }
        }
        let at = make::element(&self.made.words.kept_at, [start]);
        body.push(make::noted(make::update(Update::Add, [at, make::int(1)]), "the run begins with part 1"));
        body
    }

    fn results(&self) -> Body {
        let last = make::cell(&self.made.words.last);
        let update = if self.is_undone() { Update::Add } else { Update::Swap };
        let mut body = Body::new();
        for variable in &self.made.state {
            let Some(result) = &variable.result else { continue };
            let to = if variable.role == Role::Out && !self.is_undone() { &variable.name } else { result };
            let copy = |place: &KeptPlace| make::update(update, [place.of(to), place.kept(&last)]);
            body.extend(variable.each(&self.made.counters, copy));
        }
        body
    }

    /// Returns the statements at the very end of main, which move results from their separate cells to the program's
    /// own cells.
    fn reported(&self) -> Body {
        let mut body = Body::new();
        for variable in declare::found(self.made, self.is_undone()) {
            let Some(result) = &variable.result else { continue };
            body.extend(variable.each(&self.made.counters, |place| {
                make::update(Update::Swap, [place.own(), place.of(result)])
            }));
        }
        body
    }

    /// Returns the procedure that finds a sufficient number of rounds in a segment, by trying 1, 2, 4, and so on. The
    /// text is empty if the plan specifies the number.
    fn searching(&self) -> String {
        if self.plan.rounds.is_some() {
            return String::new();
        }
        let words = &self.made.words;
        let (many, last, kept_at) = (&words.many, &words.last, &words.kept_at);
        let top = format!("{}{}(0, {last}, {many})", words.level, self.plan.levels);
        format!(
            "; Tries segments of 1, 2, 4, … rounds, until the program reaches its end.\n\
             .proc {}(inout {many})\n\
             add {many}, 1\n\
             from {many} == 1\n\
             call {top}\n\
             loop\n\
             uncall {top}\n\
             rol {many}, 1\n\
             until {kept_at}[{last}] == 0\n\
             .end\n",
            words.find
        )
    }

    fn segment(&self) -> String {
        let words = &self.made.words;
        let (source, goal, many) = (&words.source, &words.goal, &words.many);
        format!(
            "; A segment: runs its rounds, copies the final state, and undoes the rounds.\n\
             .proc {}(in {source}, in {goal}, in {many})\n\
             compute\n\
             call {}({source})\n\
             call {}({many})\n\
             apply\n\
             call {}({goal})\n\
             uncompute\n\
             .end\n",
            words.segment, words.load, words.rounds, words.keep
        )
    }

    fn copies(&self) -> String {
        let words = &self.made.words;
        let state = make::cell(&words.state);
        let at = (make::cell(&words.at), make::element(&words.kept_at, [state.clone()]));
        let copy = |forth: bool| {
            let ordered = |own: Expression, kept: Expression| if forth { [own, kept] } else { [kept, own] };
            let mut body = vec![node(make::update(Update::Add, ordered(at.0.clone(), at.1.clone())))];
            for variable in &self.made.state {
                body.extend(variable.each(&self.made.counters, |place| {
                    make::update(Update::Add, ordered(place.own(), place.kept(&state)))
                }));
            }
            self.printed(&body)
        };
        format!(
            "; Copies a saved state into the cells of the program, which are 0.\n\
             .proc {}(in {state})\n{}.end\n\n\
             ; Copies the cells of the program to a saved state.\n\
             .proc {}(in {state})\n{}.end\n",
            words.load,
            copy(true),
            words.keep,
            copy(false),
            state = words.state
        )
    }

    fn rounds(&self) -> String {
        let words = &self.made.words;
        let (at, next, done, many) = (&words.at, &words.next, &words.done, &words.many);
        let mut dispatch = String::new();
        for number in 1..=self.made.parts.len() {
            let _ =
                write!(dispatch, "if {at} == {number}\ncall {}{number}()\nfi {at} == {number}\n", words.part);
        }
        format!(
            "; Runs `{many}` rounds, or fewer if the program ends, and pushes the number of rounds.\n\
             .proc {}(in {many})\n\
             local {done}\n\
             from {done} == 0\n\
             loop\n\
             call {round}()\n\
             add {done}, 1\n\
             until {done} == {many} or {at} == 0\n\
             push {done}\n\
             delocal {done}\n\
             .end\n\n\
             ; A round runs one part, and pushes the part's number, because several parts may lead to the next part.\n\
             .proc {round}()\n{dispatch}\
             swap {at}, {next}\n\
             push {next}\n\
             .end\n",
            words.rounds,
            round = words.round
        )
    }
}
