//! Tests that the reported facts about steps, such as accessed cells and stops, agree with the effects of the
//! steps, for the programs of the repository.

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reviver_assembler::files::Disk;
use reviver_debugger::access::{Access, jumped, visit};
use reviver_debugger::cell_set::CellSet;
use reviver_debugger::command::completion::candidates;
use reviver_debugger::command::names::{EVENTS, REASONS};
use reviver_debugger::command::table::COMMANDS;
use reviver_debugger::command::topics::TOPICS;
use reviver_debugger::command::{Console, Outcome, find, find_topic};
use reviver_debugger::listing::{Line, OpenedProgram, spell};
use reviver_debugger::memory::{Cell, Memory};
use reviver_debugger::outcome::{OriginCause, Printed, Reason};
use reviver_debugger::render::render;
use reviver_debugger::session::{PointOptions, Session, SessionError};
use reviver_debugger::timeline::TimelineLimits;
use reviver_debugger::tui::app::Face;
use reviver_files::UsedFiles;
use reviver_isa::instruction::{Class, Link};
use reviver_vm::stops::{Node, Stops};
use reviver_vm::{Machine, State, Stop, Trap, Travel};

/// Number of steps that the tests examine in each program.
const STEPS: usize = 1_500;

/// Returns every program of the repository that runs without input.
fn programs() -> Vec<(String, OpenedProgram)> {
    let folder = std::fs::read_dir(support::path("")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".rasm")).collect();
    names.sort();
    let open = |name: String| {
        let subject = OpenedProgram::open(&support::path(&name), support::text(&name).into_bytes(), &Disk);
        (name, subject.unwrap_or_else(|error| panic!("{error}")))
    };
    names.into_iter().map(open).collect()
}

/// Returns the cells that exist in both states and differ.
fn changed(before: &State, after: &State) -> impl Iterator<Item = Cell> {
    let ints = before.ints.iter().zip(&after.ints).enumerate().filter(|(_, (a, b))| a != b);
    let ints: Vec<Cell> = ints.map(|(n, _)| Cell::new(Class::Int, n as u32)).collect();
    let reals = before.reals.iter().zip(&after.reals).enumerate().filter(|(_, (a, b))| a != b);
    let reals: Vec<Cell> = reals.map(|(n, _)| Cell::new(Class::Real, n as u32)).collect();
    ints.into_iter().chain(reals).chain(changed_adjoints(before, after))
}

/// Returns the cells that exist in both states and whose adjoints differ.
fn changed_adjoints(before: &State, after: &State) -> Vec<Cell> {
    let cells = before.reals.len().min(after.reals.len()) as u32;
    let adjoints = (0..cells).filter_map(|n| Cell::new(Class::Real, n).adjoint());
    adjoints.filter(|adjoint| adjoint.value(before) != adjoint.value(after)).collect()
}

/// Returns the cells that the step at a node writes.
fn written(memory: &Memory, state: &State, node: Node) -> HashSet<Cell> {
    let mut written = HashSet::new();
    visit(memory, state, node, |access, cell| {
        if access == Access::Write {
            written.insert(cell);
        }
    });
    written
}

#[test]
fn a_step_changes_only_written_cells() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
        machine.keep_residues();
        for travel in [Travel::Forward, Travel::Backward] {
            for _ in 0..STEPS {
                let before = machine.state().try_clone().unwrap();
                let node = Node::of(&before, travel);
                let written = written(&memory, &before, node);
                if !machine.step(travel).is_ok_and(|stop| stop != Stop::Bound) {
                    break;
                }
                let code = &subject.program.module().code;
                let bound = before.calls.len() != machine.state().calls.len();
                for cell in changed(&before, machine.state()).filter(|_| !bound) {
                    assert!(written.contains(&cell), "{name}: step {} changes {cell:?}", before.step);
                }
                let is_branch = matches!(code[node.instruction() as usize].link, Link::Partner(_));
                assert!(is_branch || !jumped(&memory, node, machine.state().position), "{name}");
            }
        }
    }
}

#[test]
fn gradient_mode_changes_only_written_cells() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
        if machine.run(Travel::Forward, 20_000) != Ok(Stop::Bound) || subject.program.switches_mode() {
            continue;
        }
        machine.state_mut().set_mode(true);
        let globals = subject.program.module().globals.iter().enumerate();
        for (n, _) in globals.filter(|(_, global)| global.class == Class::Real) {
            let one = subject.program.parse(Class::Real, "1").unwrap();
            let cells =
                subject.program.cells(n).filter_map(|cell| Cell::new(Class::Real, cell as u32).adjoint());
            cells.for_each(|adjoint| adjoint.put(machine.state_mut(), one));
        }
        let start = machine.state().try_clone().unwrap();
        machine = Machine::resume(subject.program.clone(), State { step: 0, ..start }, None);
        machine.keep_residues();
        for travel in [Travel::Backward, Travel::Forward] {
            for _ in 0..STEPS {
                let before = machine.state().try_clone().unwrap();
                let node = Node::of(&before, travel);
                let written = written(&memory, &before, node);
                if !machine.step(travel).is_ok_and(|stop| stop != Stop::Bound) {
                    break;
                }
                // If the step is a call, cells of the callee's frame aren't compared.
                let is_call = before.calls != machine.state().calls;
                let lasting = subject.program.flow().layout().main_frame(Class::Real).end;
                let stays = |cell: &Cell| !is_call || cell.adjoint && cell.offset < lasting;
                for cell in changed(&before, machine.state()).filter(stays) {
                    assert!(written.contains(&cell), "{name}: step {} changes {cell:?}", before.step);
                }
            }
        }
    }
}

#[test]
fn cells_are_found_by_their_name_and_address() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
        for _ in 0..STEPS {
            let state = machine.state();
            let at = Node::of(state, Travel::Forward).instruction();
            let operands = &subject.program.module().code[at as usize].operands;
            for cell in operands.iter().filter_map(|operand| memory.operand(state, operand)) {
                let target = memory.target(state, cell);
                assert_eq!(memory.resolve(state, target), Some(cell), "{name} at step {}", state.step);
                let procedure = subject.program.procedure_of(at);
                let step = subject.program.flow().step(at).unwrap();
                let set = CellSet::from(target);
                let named = step.slots.iter().any(|slot| set.may_have(&memory, procedure, slot));
                assert!(named, "{name}: {cell:?} at step {}", state.step);
            }
            if !machine.step(Travel::Forward).is_ok_and(|stop| stop != Stop::Bound) {
                break;
            }
        }
    }
}

#[test]
fn a_run_stops_at_its_stops_and_nowhere_else() {
    for (name, subject) in programs() {
        let length = subject.program.module().code.len() as u32;
        for every in [3, 5] {
            let both = |position| [false, true].map(|backward| Node { position, backward });
            let positions = (0..=length).filter(|position| position % every == 0);
            let stops = Stops::new(&subject.program, positions.flat_map(both));
            let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
            machine.keep_residues();
            for travel in [Travel::Forward, Travel::Backward] {
                let first = machine.state().step;
                while machine.state().step.abs_diff(first) < STEPS as u64 {
                    let mut single = machine.try_clone().unwrap();
                    let end = steps_to(&mut single, &stops, travel);
                    assert_eq!(run_to(&mut machine, &stops, travel), end, "{name}");
                    assert_eq!(machine.state(), single.state(), "{name}");
                    if end != Ok(Stop::Budget) || machine.step(travel) == Ok(Stop::Bound) {
                        break;
                    }
                }
            }
        }
    }
}

/// Maximum number of steps between two stops.
const STRETCH: u64 = 10_000;

/// Executes single steps until the next stop.
fn steps_to(machine: &mut Machine, stops: &Stops, travel: Travel) -> Result<Stop, Trap> {
    for _ in 0..STRETCH {
        if stops.contains(Node::of(machine.state(), travel)) {
            return Ok(Stop::Budget);
        }
        if machine.step(travel)? == Stop::Bound {
            return Ok(Stop::Bound);
        }
    }
    Ok(Stop::Budget)
}

/// Runs to the next stop at full speed.
fn run_to(machine: &mut Machine, stops: &Stops, travel: Travel) -> Result<Stop, Trap> {
    let first = machine.state().step;
    loop {
        let left = STRETCH - machine.state().step.abs_diff(first);
        match machine.run_until(Some(stops), travel, left)? {
            Stop::Shown { .. } => {}
            stop => return Ok(stop),
        }
    }
}

#[test]
fn commands_have_one_meaning() {
    let mut names = HashSet::new();
    for command in COMMANDS {
        for name in std::iter::once(&command.name).chain(command.aliases) {
            assert!(names.insert(*name), "`{name}` twice");
            assert_eq!(find(name).unwrap(), command);
        }
        assert!(
            command.usage.starts_with(command.name) && command.help.ends_with(['.', '?']),
            "{}",
            command.name
        );
    }
    for topic in TOPICS {
        for name in std::iter::once(&topic.name).chain(topic.aliases) {
            assert_eq!(find_topic(name).unwrap(), topic);
        }
        assert!(topic.usage.starts_with(&format!("info {}", topic.name)) && topic.help.ends_with('.'));
    }
    assert_eq!(find("cont").unwrap().name, "continue");
    assert!(find("re").is_err(), "several commands begin like that");
}

#[test]
fn commands_and_cells_are_completed() {
    let console = Console::new(
        Session::at_begin(support::subject(&support::text("sort.rasm"))).unwrap(),
        UsedFiles::default(),
        Box::new(Face::default()),
    );
    assert_eq!(candidates(&console, None, "reverse-c"), (0, vec!["reverse-continue".to_owned()]));
    assert_eq!(candidates(&console, None, "print A[i] + P"), (13, vec!["P".to_owned()]));
    assert_eq!(candidates(&console, None, "info sta"), (5, vec!["stack".to_owned(), "status".to_owned()]));
    assert_eq!(candidates(&console, None, "info line ma"), (10, vec!["main".to_owned()]));
    assert_eq!(candidates(&console, None, "nonsense "), (9, Vec::new()));
}

#[test]
fn an_interrupt_stops_a_run_that_would_never_end() {
    let text = ".out n
        add   n, 1
top:    from  again, n != 1
leave:  br    done, n == 0
        add   n, 1
again:  br    top, always
done:   from  leave, always
";
    let mut session = Session::at_begin(support::subject(text)).unwrap();
    let flag = session.interrupt();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        flag.store(true, Ordering::Relaxed);
    });
    let motion = session.resume(Travel::Forward);
    waker.join().unwrap();
    assert_eq!(motion.reason, Reason::Interrupted);
    assert!(motion.to.step > 0);
    session.goto_start();
    assert_eq!(session.step_number(), 0);
}

/// Calls `visit` repeatedly until it returns a result. Another thread sets the session's interrupt flag again and
/// again, because a single interrupt might come too late on a busy machine.
fn harassed<T>(session: &mut Session, mut visit: impl FnMut(&mut Session) -> Option<T>) -> T {
    let flag = session.interrupt();
    let over = Arc::new(AtomicBool::new(false));
    let seen = over.clone();
    let waker = std::thread::spawn(move || {
        while !seen.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    });
    let answer = (0..1_000).find_map(|_| visit(session)).expect("nothing was ever interrupted");
    over.store(true, Ordering::Relaxed);
    waker.join().unwrap();
    answer
}

#[test]
fn an_interrupted_search_has_no_result() {
    let text = ".out n, m
        for i in 0..10000000
        add   n, 1
        rof
";
    let mut session = Session::at_begin(support::subject(text)).unwrap();
    session.step(Travel::Forward, 10_000_000);
    let here = session.step_number();
    let (step, reason) =
        harassed(&mut session, |session| match session.why("m", 1).unwrap().remove(0).cause {
            OriginCause::Stopped { step, reason } => Some((step, reason)),
            OriginCause::Initial { step: 0 } => None,
            cause => panic!("{cause:?}"),
        });
    assert!(step > 0 && reason == Reason::Interrupted, "{step} {reason:?}");
    let writes = harassed(&mut session, |session| {
        let history = session.history("m", 1).unwrap();
        history.stopped.map(|reason| (reason, history.writes.len()))
    });
    assert_eq!(writes, (Reason::Interrupted, 0));
    assert_eq!(session.step_number(), here);
    assert!(matches!(session.why("m", 1).unwrap()[0].cause, OriginCause::Initial { .. }));
}

#[test]
fn help_texts_list_every_kind() {
    for (command, kinds) in [("expect-stop", REASONS), ("next-event", EVENTS)] {
        let help = find(command).unwrap().help;
        let missing = kinds.iter().find(|kind| !help.contains(**kind));
        assert_eq!(missing, None, "{command}: {help}");
    }
}

#[test]
fn texts_with_errors_are_refused_with_their_diagnostics() {
    let error = OpenedProgram::open("x.rasm", b"add a, b\n".to_vec(), &Disk).unwrap_err().to_string();
    assert!(error.contains("error") && error.contains("x.rasm"), "{error}");
    assert!(OpenedProgram::open("x.rbc", b"RVRBnonsense".to_vec(), &Disk).is_err());
}

#[test]
fn an_image_is_shown_disassembled() {
    let OpenedProgram { program, .. } = support::subject(&support::text("fib.rasm"));
    let image = reviver_assembler::image::encode(program.module()).unwrap();
    let subject = OpenedProgram::open("fib.rbc", image, &Disk).unwrap();
    let mut console =
        Console::new(Session::at_begin(subject).unwrap(), UsedFiles::default(), Box::new(Face::default()));
    console.execute("break again").unwrap();
    console.execute("c").unwrap();
    console.execute("expect b == 1").unwrap();
    let pane = reviver_debugger::view::code::around_here(&console.session, 3);
    assert!(pane.lines.iter().any(|line| line.is_next && line.text.contains("br")), "{pane:?}");
}

#[test]
fn an_image_names_its_source_files() {
    let OpenedProgram { program, .. } = support::subject(&support::text("complex_multiply.rasm"));
    let image = reviver_assembler::image::encode(program.module()).unwrap();
    let text = reviver_assembler::disassemble::disassemble(program.module());
    let origins = |subject: &OpenedProgram| {
        let ats = 0..subject.program.module().code.len() as u32;
        ats.filter_map(|at| subject.listing.origin(at)).collect::<Vec<_>>()
    };
    let image = OpenedProgram::open("complex.rbc", image, &Disk).unwrap();
    assert_eq!(origins(&image)[1], "line 30");
    assert_eq!(origins(&image)[6], "lib/complex.rasm:9");
    // An image records the lines of the text from which it was assembled, and so does its disassembly. A program that
    // is opened as text records no such lines.
    assert_eq!(origins(&OpenedProgram::open("x.rasm", text.into_bytes(), &Disk).unwrap()), origins(&image));
    assert!(origins(&support::subject(&support::text("complex_multiply.rasm"))).is_empty());
    let mut console =
        Console::new(Session::at_begin(image).unwrap(), UsedFiles::default(), Box::new(Face::default()));
    let outcome = console.execute("s").unwrap();
    let said = render(&console.session, &outcome);
    assert!(said.contains(" (source: lib/complex.rasm:9): add.mul"), "{said}");
}

#[test]
fn every_instruction_has_an_inverse_line() {
    for (name, subject) in programs() {
        if subject.listing.inverse().is_err() {
            continue;
        }
        let main = &subject.program.module().procedures[0];
        for at in main.entry + 1..main.exit {
            let line = subject.listing.line(at);
            assert!(subject.listing.counterpart(line).is_some(), "{name}: {}", subject.listing.name(line));
        }
    }
}

#[test]
fn a_compound_condition_that_fails_is_named() {
    let reported = |text: &str| {
        let mut console = Console::new(
            Session::at_begin(support::subject(text)).unwrap(),
            UsedFiles::default(),
            Box::new(Face::default()),
        );
        let outcome = console.execute("c").unwrap();
        render(&console.session, &outcome)
    };
    let said = reported(
        ".inout s default 3, n default 2\n\tif s > 0 and n > 0\n\t sub s, 5\n\t neg n\n\
         \tfi (s > 0 and n < 0) or not s != 7\n",
    );
    let wanted = "the first body ran (line 2: 3 > 0 and 2 > 0), but `fi s > 0 and n < 0 or not s != 7` (line 5) is \
                  false: `s > 0` doesn't (s is -2), `s != 7` holds (s is -2)\n  \
                  at `fi s > 0 and n < 0 or not s != 7` (line 5)\n  \
                  `if s > 0 and n > 0` (line 2): the first body ran: 3 > 0 and 2 > 0\n";
    assert!(said.contains(wanted), "{said}");
    // A flag declared by the author is shown by its name.
    let said = reported(".inout n default 2\n.ancilla flag\n\txor flag, n\n\tvacate flag\n");
    assert!(said.contains("`flag` must be vacant but is 2"), "{said}");
}

#[test]
fn a_line_is_entered_by_every_control_transfer() {
    let text = ".inout s default 3\n\tif s > 0\n\t neg s\n\telse\n\t not s\n\tfi s < 0\n\
                \tif s > 0 and s < 9\n\t neg s\n\tfi s < 0 and s > -9\n\
                \tfor i in 0..s\n\t show i\n\trof\n\tcompute\n\t xor s, 1\n\tapply\n\t show s\n\tuncompute\n";
    let OpenedProgram { program, listing, .. } = support::subject(text);
    let come_to = |line, inverted| {
        let of_line = listing.entries(program.module(), Line { file: 0, line }, inverted);
        let said = |at: u32| {
            let update = program.module().code[at as usize].update;
            let update = if inverted { update.inverse() } else { update };
            format!("{}: {}", update.name(), spell(&program, at, inverted))
        };
        of_line.into_iter().map(said).collect::<Vec<_>>()
    };
    let entries = |line| come_to(line, false);
    assert_eq!(entries(4), ["br: else", "from: else"]);
    assert_eq!(entries(6), ["from: fi s < 0"]);
    // A jump over the body of a compound `if` passes the join, but doesn't compute the flag.
    assert_eq!(entries(9), ["from: fi s < 0 and s > -9"]);
    assert_eq!(entries(10), ["br: for i in 0..s"]);
    assert_eq!(entries(14), ["xor: xor s, 1", "xor: xor s, 1"]);
    assert_eq!(entries(15), [""; 0]);
    // An inverted machine enters a loop at the loop's end, and every iteration also returns to the end. So the
    // machine may reach this line although the loop has no iteration.
    assert_eq!(come_to(12, true), ["br: rof", "from: rof"]);
    assert_eq!(come_to(10, true).len(), 1);
}

/// Returns the arrivals at lines, found by single steps in one direction. An arrival is a step that leads to another
/// line. A jump within a line is an arrival, too, unless it skips a part of the line's condition. A return from a call
/// isn't an arrival: on the line of the call, only code that uncomputes temporaries follows.
fn arrivals(session: &mut Session, travel: Travel) -> Vec<(i64, Line)> {
    let mut found = Vec::new();
    let place = |session: &Session| session.instruction(travel).map(|at| (at, session.listing().line(at)));
    // The last position of the machine in each open frame, the innermost frame last.
    let mut before: Vec<(u32, Line)> = Vec::new();
    let mut is_start = true;
    while let Some((at, line)) = place(session) {
        let stays = |from: u32| {
            let mut between = from.min(at)..=from.max(at);
            from != at && between.all(|n| session.listing().line(n) == line)
        };
        let depth = session.state().calls.len();
        let fell = before.get(depth).is_some_and(|&(from, was)| was == line && stays(from));
        if !fell && !is_start {
            found.push((session.step_number(), line));
        }
        before.truncate(depth);
        before.push((at, line));
        is_start = false;
        if session.step(travel, 1).reason != Reason::Arrived {
            break;
        }
    }
    found
}

#[test]
fn a_breakpoint_at_a_line_stops_on_every_path_to_it() {
    let loops = ".inout n default 3\n.out i, a\n\tfrom i == 0\n\t add i, 1\n\tuntil i == n\n\tsub i, n\n\
                 \tfrom i == 0 and a == 0\n\t add i, 1\n\tuntil i == n\n\tsub i, n\n\
                 \tfor k in 0..n reversed\n\t add a, k\n\trof\n\tuncall f(a, i)\n\tuncall f(a, n)\n\
                 .proc f(inout s, in m)\n\tadd s, 1\n\tfor j in 0..m\n\t add s, j\n\trof\n\tadd s, 1\n.end\n";
    let calls = ".inout n default 3\n.out c\n\tfor k in 0..n\n\t call f(k*2, c)\n\trof\n\tuncall f(n*n, c)\n\
                 .proc f(in m, inout r)\n\tif m > 1\n\t call g(m - 1, r)\n\tfi m > 1\n.end\n\
                 .proc g(in m, inout r)\n\tadd r, m\n.end\n";
    let programs = [loops.to_owned(), calls.to_owned()].into_iter();
    for text in programs.chain(["factor.rasm", "linear_solve.rasm", "hanoi.rasm"].map(support::text)) {
        let subject = support::subject(&text);
        let mut session = Session::at_begin(subject.clone()).unwrap();
        let ways = arrivals(&mut session, Travel::Forward);
        let lines: HashSet<Line> = ways.iter().map(|(_, line)| *line).collect();
        for line in lines {
            let mut session = Session::at_begin(subject.clone()).unwrap();
            let name = session.listing().name(line);
            let place = name.strip_prefix("line ").unwrap_or(&name).to_owned();
            // No breakpoint can be set at the beginning or the end of a procedure.
            let is_there = session.break_at(&place, &PointOptions::default()).is_ok_and(|p| p.text == name);
            if !is_there {
                continue;
            }
            let mut stops = Vec::new();
            while session.resume(Travel::Forward).reason != Reason::HistoryEnd {
                stops.push(session.step_number());
            }
            // A breakpoint stops a run that reaches the line. If the line is a join, the breakpoint stops the run after
            // the line.
            let missed = ways.iter().filter(|(_, on)| *on == line).find(|(step, _)| {
                let left = ways.iter().find(|(later, _)| later > step).map_or(i64::MAX, |(later, _)| *later);
                !stops.iter().any(|stop| (*step..=left).contains(stop))
            });
            assert_eq!(missed, None, "{name}: {stops:?}");
        }
    }
}

/// Checks that a breakpoint on a line with a call stops once. The call's arguments are expressions, which are
/// computed before the call and uncomputed after it.
#[test]
fn a_line_with_a_call_is_entered_once_from_either_side() {
    let text = ".inout n default 4\n.out c\n\tcall f(n*3, c)\n\tcall f(7 - n, c)\n\tuncall f(n+1, c)\n\
                .proc f(in n, inout r)\n\tadd.mul r, n, 2\n.end\n";
    for line in ["3", "4", "5"] {
        let mut session = Session::at_begin(support::subject(text)).unwrap();
        session.break_at(line, &PointOptions::default()).unwrap();
        session.goto_end();
        for (travel, end) in [(Travel::Backward, Reason::HistoryBegin), (Travel::Forward, Reason::HistoryEnd)]
        {
            let mut stops = Vec::new();
            while session.resume(travel).reason != end {
                stops.push(session.step_number());
            }
            // A run that starts on the first line isn't stopped by a breakpoint on this line.
            let expected = usize::from(line != "3" || travel == Travel::Backward);
            assert_eq!(stops.len(), expected, "line {line}, {travel:?}: {stops:?}");
        }
    }
}

#[test]
fn history_stays_within_its_limit() {
    let text = support::text("leapfrog.rasm").replace(".real fixed", ".real f64").replace("100_000", "1_000");
    let subject = support::subject(&text);
    let machine = Machine::at_begin(subject.program.clone()).unwrap();
    let limits = TimelineLimits { history: 2_048, short: 8, spacing: 1_000, ..TimelineLimits::default() };
    let mut session = Session::new(subject, machine.into_state(), limits).unwrap();
    session.goto_end();
    let mut most = 0;
    for _ in 0..5_000 {
        session.step(Travel::Backward, 1);
        most = most.max(session.timeline().history_bytes());
    }
    // The history may exceed its limit by the residues of one slice.
    assert!((1..=2_048 + 512).contains(&most), "{most}");
}

/// Returns the adjoint of a global real, as a cell.
fn adjoint_of(session: &Session, name: &str) -> Cell {
    session.cell(&format!("{name}'")).unwrap()
}

#[test]
fn nested_edits_are_exact_and_share_their_history() {
    let subject = support::subject(&support::text("besselj.rasm"));
    let mut session = Session::at_begin(subject.clone()).unwrap();
    session.goto_end();
    session.gradient("out").unwrap();
    let mut single = Machine::at_begin(subject.program.clone()).unwrap();
    single.keep_residues();
    single.run(Travel::Forward, u64::MAX).unwrap();
    single.state_mut().set_mode(true);
    let seeds = [adjoint_of(&session, "out"), adjoint_of(&session, "z")];
    let put = |machine: &mut Machine, cell: Cell, text: &str| {
        let value = subject.program.parse(Class::Real, text).unwrap();
        cell.put(machine.state_mut(), value);
    };
    put(&mut single, seeds[0], "1");
    for n in 1..=40 {
        let seed = format!("0.{n:02}");
        session.step(Travel::Backward, 3);
        session.set("z'", &seed).unwrap();
        single.run(Travel::Backward, 3).unwrap();
        put(&mut single, seeds[1], &seed);
    }
    assert_eq!(session.time_point().branch, 41);
    session.goto_start();
    single.run(Travel::Backward, u64::MAX).unwrap();
    for cell in seeds {
        assert_eq!(cell.value(session.state()), cell.value(single.state()));
    }
}

#[test]
fn inherited_history_counts_towards_the_limit() {
    let text = support::text("leapfrog.rasm").replace(".real fixed", ".real f64").replace("100_000", "1_000");
    let subject = support::subject(&text);
    let machine = Machine::at_begin(subject.program.clone()).unwrap();
    let limits = TimelineLimits { history: 4_096, short: 8, spacing: 1_000, ..TimelineLimits::default() };
    let mut session = Session::new(subject, machine.into_state(), limits).unwrap();
    session.goto_end();
    session.set("mode", "1").unwrap();
    let mut most = 0;
    for _ in 0..5_000 {
        session.step(Travel::Backward, 1);
        most = most.max(session.timeline().history_bytes());
    }
    // The history may exceed its limit by the residues of two slices.
    assert!((1..=4_096 + 1_024).contains(&most), "{most}");
    session.timeline_up().unwrap();
    assert_eq!(session.timeline().history_bytes(), 0);
}

#[test]
fn printed_lines_are_limited() {
    let text = ".out n\n\tfor i in 0..1000010\n\tshow i\n\trof\n";
    let mut session = Session::at_begin(support::subject(text)).unwrap();
    let motion = session.goto_end();
    assert_eq!((motion.printed.lines().len(), motion.printed.left_out()), (Printed::MOST, 10));
    let said = render(&session, &Outcome::Motion(motion));
    assert!(said.contains("i = 999999\n… and 10 more lines\nhistory end\n"));
}

#[test]
fn printed_lines_are_not_printed_again_after_going_back() {
    let text = ".out x: real\n.out y\n\
                \x20       for i in 0..200\n\
                \x20           add x, 0.1\n\
                \x20           add y, i\n\
                \x20           show x\n\
                \x20       rof\n";
    let subject = support::subject(text);
    let machine = Machine::at_begin(subject.program.clone()).unwrap();
    let limits = TimelineLimits { history: 512, short: 8, spacing: 1_000, ..TimelineLimits::default() };
    let mut session = Session::new(subject, machine.into_state(), limits).unwrap();
    let mut walk = |travel, steps: usize| -> usize {
        (0..steps).map(|_| session.step(travel, 1).printed.lines().len()).sum()
    };
    assert!(walk(Travel::Forward, 600) > 100);
    assert_eq!((walk(Travel::Backward, 500), walk(Travel::Forward, 500)), (0, 0));
    assert_eq!((walk(Travel::Backward, 40), walk(Travel::Forward, 40)), (0, 0));
}

#[test]
fn integers_take_no_history() {
    let mut session = Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap();
    let motions = [
        session.goto_end(),
        session.goto_percent(50.0),
        session.resume(Travel::Backward),
        session.goto_end(),
        session.step(Travel::Backward, 7),
    ];
    assert_eq!(motions.map(|motion| motion.to.step), [52, 26, 0, 52, 45]);
    assert_eq!((session.timeline().history_bytes(), session.timeline().checkpoint_bytes()), (0, 0));
}

#[test]
fn sampling_a_cell_keeps_the_position() {
    let mut session = Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap();
    session.goto_end();
    session.goto(17);
    let before = session.state().try_clone().unwrap();
    let target = session.memory().target(session.state(), session.cell("n").unwrap());
    let samples = session.samples(&[target], session.timeline().branch().extent(), 4).unwrap();
    let ranges: Vec<_> = samples.columns.iter().filter_map(|sample| sample.values[0]).collect();
    let ranges: Vec<_> = ranges.iter().map(|range| (range.low, range.high)).collect();
    assert_eq!((samples.steps, samples.is_exact, samples.is_whole), ((0, 52), true, true));
    assert_eq!(ranges, vec![(8.0, 10.0), (5.0, 8.0), (3.0, 5.0), (0.0, 2.0)]);
    assert_eq!(*session.state(), before);
}

/// Program with a cell that alternates between 0 and 100, and a cell that increases.
const OSCILLATES: &str = ".inout n default 20
.out a, b
        for i in 0..n
            xor  a, 100
            add  b, 1
        rof
";

#[test]
fn samples_report_whether_they_are_exact() {
    for (n, is_exact) in [(20, true), (100_000, true), (2_000_000, false)] {
        let text = OSCILLATES.replace("default 20", &format!("default {n}"));
        let mut session = Session::at_begin(support::subject(&text)).unwrap();
        session.goto_end();
        let targets =
            ["a", "b"].map(|name| session.memory().target(session.state(), session.cell(name).unwrap()));
        let samples = session.samples(&targets, session.timeline().branch().extent(), 7).unwrap();
        assert_eq!(samples.is_exact, is_exact, "{n}");
        let of = |number: usize| samples.columns.iter().filter_map(move |sample| sample.values[number]);
        assert!(of(0).all(|range| (range.low, range.high) == (0.0, 100.0)), "{samples:?}");
        let rising: Vec<_> = of(1).collect();
        assert_eq!((rising[0].low, rising[6].high), (0.0, f64::from(n)));
        assert!(rising.is_sorted_by(|a, b| a.high <= b.low + 1.0), "{rising:?}");
    }
}

#[test]
fn the_mode_cannot_be_switched_inside_a_procedure_with_a_rule() {
    let text = ".out y: real
        call  p(y)

.proc p(inout u: real) rule q
        add   u, 1.0
.end
.proc q(inout u: real)
        add   u', 1.0
.end
";
    let mut console = Console::new(
        Session::at_begin(support::subject(text)).unwrap(),
        UsedFiles::default(),
        Box::new(Face::default()),
    );
    console.execute("step").unwrap();
    for command in ["set mode = 1", "gradient y"] {
        assert_eq!(console.execute(command).unwrap_err().to_string(), SessionError::RuledCall.to_string());
    }
    console.execute("finish").unwrap();
    console.execute("gradient y").unwrap();
    // First the body of the procedure is undone, then the rule is executed. The body and the rule have their own
    // frames, and gradient mode is off in both.
    for (command, expected) in [("rs", "mode == 0 and y' == 1.0"), ("rs 2", "y' == 1.0"), ("rs", "y' == 2.0")]
    {
        console.execute(command).unwrap();
        console.execute(&format!("expect {expected}")).unwrap_or_else(|error| panic!("{command}: {error}"));
    }
    console.execute("rfin").unwrap();
    // The rule takes two steps that the forward run didn't execute.
    console.execute("expect $step == -2 and mode == 1 and y' == 2.0").unwrap();
    console.execute("n").unwrap();
    console.execute("expect $depth == 0 and mode == 1 and y' == 1.0 and y == 1.0").unwrap();
}

#[test]
fn integers_have_no_adjoints() {
    let console = Console::new(
        Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap(),
        UsedFiles::default(),
        Box::new(Face::default()),
    );
    let error = console.session.evaluate("a' + 1").unwrap_err();
    assert_eq!(error.to_string(), "`a` is an integer: only reals have adjoints");
}

#[test]
fn values_of_a_write_are_completed_at_a_write() {
    let mut console = Console::new(
        Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap(),
        UsedFiles::default(),
        Box::new(Face::default()),
    );
    for command in ["watch a", "break 29"] {
        console.execute(command).unwrap();
    }
    let completed = |typed: &str| candidates(&console, None, typed).1;
    for typed in ["watch a any if $o", "condition 1 b > $o", "rwatch a log it was {$o"] {
        assert_eq!(completed(typed), ["$old"], "{typed}");
    }
    for typed in ["watch $o", "break 29 if $o", "condition 2 $o", "condition $o", "print $o"] {
        assert_eq!(completed(typed), [""; 0], "{typed}");
    }
    assert_eq!(completed("break 29 if $st"), ["$step"]);
    assert_eq!(completed("watch a if b"), ["b"]);
}
