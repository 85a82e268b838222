//! What the debugger says about steps, held against what they do, over the programs of the repository.

mod support;

use std::collections::HashSet;

use reviver_assembler::files::Disk;
use reviver_debugger::access::{Access, jumped, visit};
use reviver_debugger::command::table::COMMANDS;
use reviver_debugger::command::topics::TOPICS;
use reviver_debugger::command::{Console, find, find_topic};
use reviver_debugger::flow::{Flow, Node};
use reviver_debugger::listing::Subject;
use reviver_debugger::memory::{Cell, Memory};
use reviver_debugger::outcome::Reason;
use reviver_debugger::repl::candidates;
use reviver_debugger::session::{Session, SessionError};
use reviver_debugger::timeline::Limits;
use reviver_isa::instruction::{Class, Link, Operand};
use reviver_vm::{Machine, State, Stop, Travel, lookup};

/// Steps of each program that are looked at.
const STEPS: usize = 1_500;

/// Every program of the repository that runs without being given anything.
fn programs() -> Vec<(String, Subject)> {
    let folder = std::fs::read_dir(support::path("")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".rasm")).collect();
    names.sort();
    let open = |name: String| {
        let subject = Subject::open(&support::path(&name), support::text(&name).into_bytes(), &Disk);
        (name, subject.unwrap_or_else(|error| panic!("{error}")))
    };
    names.into_iter().map(open).collect()
}

/// The cells, of those in both states, that differ.
fn changed(before: &State, after: &State) -> impl Iterator<Item = Cell> {
    let ints = before.ints.iter().zip(&after.ints).enumerate().filter(|(_, (a, b))| a != b);
    let ints: Vec<Cell> = ints.map(|(n, _)| Cell::new(Class::Int, n as u32)).collect();
    let reals = before.reals.iter().zip(&after.reals).enumerate().filter(|(_, (a, b))| a != b);
    let reals: Vec<Cell> = reals.map(|(n, _)| Cell::new(Class::Real, n as u32)).collect();
    ints.into_iter().chain(reals).chain(changed_adjoints(before, after))
}

/// The cells of both states whose adjoints differ.
fn changed_adjoints(before: &State, after: &State) -> Vec<Cell> {
    let cells = before.reals.len().min(after.reals.len()) as u32;
    let adjoints = (0..cells).filter_map(|n| Cell::new(Class::Real, n).adjoint());
    adjoints.filter(|adjoint| adjoint.value(before) != adjoint.value(after)).collect()
}

/// The cells that the step at a node writes.
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
fn what_a_step_changes_is_what_it_writes() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone());
        machine.keep_residues();
        for travel in [Travel::Forward, Travel::Backward] {
            for _ in 0..STEPS {
                let before = machine.state().clone();
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
                assert!(is_branch || !jumped(&memory, node, machine.state()), "{name}");
            }
        }
    }
}

#[test]
fn what_gradient_mode_changes_is_what_it_writes() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone());
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
        let start = machine.state().clone();
        machine = Machine::resume(subject.program.clone(), State { step: 0, ..start }, None);
        machine.keep_residues();
        for travel in [Travel::Backward, Travel::Forward] {
            for _ in 0..STEPS {
                let before = machine.state().clone();
                let node = Node::of(&before, travel);
                let written = written(&memory, &before, node);
                if !machine.step(travel).is_ok_and(|stop| stop != Stop::Bound) {
                    break;
                }
                let is_call = before.calls != machine.state().calls;
                for cell in changed(&before, machine.state()).filter(|_| !is_call) {
                    assert!(written.contains(&cell), "{name}: step {} changes {cell:?}", before.step);
                }
            }
        }
    }
}

#[test]
fn operands_are_where_the_machine_finds_them() {
    for (name, subject) in programs() {
        let memory = Memory::new(subject.program.clone());
        let mut machine = Machine::at_begin(subject.program.clone());
        for _ in 0..STEPS {
            let state = machine.state();
            let at = Node::of(state, Travel::Forward).instruction();
            for operand in &subject.program.module().code[at as usize].operands {
                let found = memory.operand(state, operand).map(|cell| (cell.class, cell.address()));
                let expected = lookup::cell_of(&subject.program, state, at, operand);
                assert_eq!(found, expected, "{name}: {operand:?} at step {}", state.step);
                if let (Operand::Place(_), Some(cell)) = (operand, memory.operand(state, operand)) {
                    assert_eq!(memory.resolve(state, memory.target(state, cell)), Some(cell), "{name}");
                }
            }
            if !machine.step(Travel::Forward).is_ok_and(|stop| stop != Stop::Bound) {
                break;
            }
        }
    }
}

#[test]
fn every_step_is_an_edge_of_the_flow() {
    for (name, subject) in programs() {
        let flow = Flow::new(&subject.program);
        let mut machine = Machine::at_begin(subject.program.clone());
        machine.keep_residues();
        let mut seen = HashSet::new();
        for travel in [Travel::Forward, Travel::Backward] {
            for _ in 0..STEPS {
                let from = Node::of(machine.state(), travel);
                if !machine.step(travel).is_ok_and(|stop| stop != Stop::Bound) {
                    break;
                }
                let to = Node::of(machine.state(), travel);
                if seen.insert((from.position, from.backward, to.position, to.backward)) {
                    let distance = flow.distances([to]).from(from);
                    assert!(distance <= 1, "{name}: {from:?} to {to:?} is {distance}");
                }
            }
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
    let console = Console::new(Session::at_begin(support::subject(&support::text("sort.rasm"))));
    assert_eq!(candidates(&console, "reverse-c"), (0, vec!["reverse-continue".to_owned()]));
    assert_eq!(candidates(&console, "print A[i] + P"), (13, vec!["P".to_owned()]));
    assert_eq!(candidates(&console, "info sta"), (5, vec!["stack".to_owned(), "status".to_owned()]));
    assert_eq!(candidates(&console, "info line ma"), (10, vec!["main".to_owned()]));
    assert_eq!(candidates(&console, "nonsense "), (9, Vec::new()));
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
    let mut session = Session::at_begin(support::subject(text));
    let flag = session.interrupt();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let motion = session.resume(Travel::Forward);
    waker.join().unwrap();
    assert_eq!(motion.reason, Reason::Interrupted);
    assert!(motion.to.step > 0);
    session.goto_start();
    assert_eq!(session.step_number(), 0);
}

#[test]
fn texts_with_errors_are_refused_with_their_diagnostics() {
    let error = Subject::open("x.rasm", b"add a, b\n".to_vec(), &Disk).unwrap_err().to_string();
    assert!(error.contains("error") && error.contains("x.rasm"), "{error}");
    assert!(Subject::open("x.rbc", b"RVRBnonsense".to_vec(), &Disk).is_err());
}

#[test]
fn an_image_is_shown_disassembled() {
    let Subject { program, .. } = support::subject(&support::text("fib.rasm"));
    let image = reviver_assembler::image::encode(program.module());
    let subject = Subject::open("fib.rbc", image, &Disk).unwrap();
    let mut console = Console::new(Session::at_begin(subject));
    console.execute("break again").unwrap();
    console.execute("c").unwrap();
    console.execute("expect b == 1").unwrap();
    let pane = reviver_debugger::view::code::around_here(&console.session, 3);
    assert!(pane.lines.iter().any(|line| line.is_next && line.text.contains("br")), "{pane:?}");
}

#[test]
fn history_stays_within_its_limit() {
    let text = support::text("leapfrog.rasm").replace(".real fixed", ".real f64").replace("100_000", "1_000");
    let subject = support::subject(&text);
    let machine = Machine::at_begin(subject.program.clone());
    let limits = Limits { history: 2_048, short: 8, spacing: 1_000, ..Limits::default() };
    let mut session = Session::new(subject, &machine, limits);
    session.goto_end();
    let mut most = 0;
    for _ in 0..5_000 {
        session.step(Travel::Backward, 1);
        most = most.max(session.timeline().history_bytes());
    }
    // What one slice adds may come on top.
    assert!((1..=2_048 + 512).contains(&most), "{most}");
}

#[test]
fn integers_take_no_history() {
    let mut session = Session::at_begin(support::subject(&support::text("fib.rasm")));
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
fn samples_show_a_cell_over_time_and_leave_the_session_where_it_was() {
    let mut session = Session::at_begin(support::subject(&support::text("fib.rasm")));
    session.goto_end();
    session.goto(17);
    let before = session.state().clone();
    let cell = session.cell("n").unwrap();
    let samples = session.samples(&[cell], session.timeline().branch().extent(), 5);
    let steps: Vec<i64> = samples.iter().map(|sample| sample.step).collect();
    let values: Vec<f64> = samples.iter().filter_map(|sample| sample.values[0]).collect();
    assert_eq!((steps, values), (vec![0, 13, 26, 39, 52], vec![10.0, 8.0, 5.0, 3.0, 0.0]));
    assert_eq!(*session.state(), before);
}

#[test]
fn the_mode_is_not_switched_where_it_decides_how_a_call_is_left() {
    let text = ".out y: real
        call  p(y)

.proc p(inout u: real) rule q
        add   u, 1.0
.end
.proc q(inout u: real)
        add   u', 1.0
.end
";
    let mut console = Console::new(Session::at_begin(support::subject(text)));
    console.execute("step").unwrap();
    for command in ["set mode = 1", "gradient y"] {
        assert_eq!(console.execute(command).unwrap_err().to_string(), SessionError::RuledCall.to_string());
    }
    console.execute("finish").unwrap();
    console.execute("gradient y").unwrap();
    // The body undone, then the rule: each has a frame of its own, and the mode is off in both.
    for (command, expected) in [("rs", "mode == 0 and y' == 1.0"), ("rs 2", "y' == 1.0"), ("rs", "y' == 2.0")]
    {
        console.execute(command).unwrap();
        console.execute(&format!("expect {expected}")).unwrap_or_else(|error| panic!("{command}: {error}"));
    }
    console.execute("rfin").unwrap();
    // The rule takes two steps that the way forward didn't.
    console.execute("expect $step == -2 and mode == 1 and y' == 2.0").unwrap();
    console.execute("n").unwrap();
    console.execute("expect $depth == 0 and mode == 1 and y' == 1.0 and y == 1.0").unwrap();
}

#[test]
fn integers_have_no_adjoints() {
    let console = Console::new(Session::at_begin(support::subject(&support::text("fib.rasm"))));
    let error = console.session.evaluate("a' + 1").unwrap_err();
    assert_eq!(error.to_string(), "`a` is an integer: only reals have adjoints");
}
