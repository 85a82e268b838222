//! Debugger on a terminal: the screen after each key, and the terminal after the end.

use reviver_debugger::tui::terminal::Screen;

use crate::tmux::Terminal;

const REVIVER: &str = env!("CARGO_BIN_EXE_reviver");

/// Starts the debugger in a terminal of a size, at the start of a program.
fn debug(columns: u16, rows: u16, arguments: &str) -> Terminal {
    let terminal = Terminal::open(columns, rows);
    terminal.line(&format!("{REVIVER} debug {arguments}"));
    terminal
}

fn a_short_session(columns: u16, rows: u16) {
    let terminal = debug(columns, rows, "programs/fib.rasm");
    terminal.shows("step 0/");
    terminal.keys(&["s"]);
    terminal.shows("step 1, line 28");
    terminal.keys(&["s", "s", "s"]);
    terminal.shows("step 4, line 31");
    terminal.keys(&["S"]);
    terminal.shows("step 3, line 30");
    terminal.keys(&["c"]);
    terminal.shows("history end");
    terminal.shows("step 52/52");
    terminal.keys(&["C"]);
    terminal.shows("history begin");
    command(&terminal, "goto 50%");
    terminal.shows("step 26, line 28");
    terminal.keys(&["?"]);
    let help = "Make one step backward";
    terminal.shows(help);
    terminal.keys(&["Escape"]);
    // The rows under the help are always visible. A key that follows Escape immediately would be read as Alt and the
    // key.
    terminal.wait_for(|screen| !screen.contains(help));
    terminal.keys(&["q"]);
    terminal.is_restored();
}

pub fn a_small_terminal() {
    a_short_session(80, 24);
}

pub fn a_large_terminal() {
    a_short_session(120, 40);
}

/// The tour of docs/debugger.md, with keys and the mouse.
pub fn a_tour() {
    let terminal = debug(120, 40, "programs/besselj.rasm");
    terminal.shows("step 0/");
    terminal.keys(&["c"]);
    terminal.shows("step 388/388");
    terminal.keys(&["m"]);
    let screen = terminal.shows("the mouse is on");
    let row = screen.lines().position(|line| line.starts_with("time")).unwrap();
    terminal.drag(row, 119, 65);
    let middle = terminal.shows("step 191/388");
    assert!(middle.contains("travel ←"), "{middle}");
    command(&terminal, "why sum");
    // The answer is a tree whose rows lead to their time points.
    terminal.shows("▾ sum  0.11490348492980633  add sum, term");
    terminal.keys(&["Down", "Right"]);
    terminal.shows("▸ term  5.6514033564814804e-8");
    terminal.keys(&["Enter"]);
    terminal.shows("step 160/388");
    terminal.keys(&["Up", "Enter"]);
    terminal.shows("step 190/388");
    terminal.keys(&["Escape"]);
    terminal.wait_for(|screen| !screen.contains("▾ sum"));
    terminal.keys(&["u", "u"]);
    terminal.shows("step 191/388");
    command(&terminal, "watch sum");
    terminal.keys(&["C"]);
    terminal.shows("watch 1: sum: 0.114903485333478 -> 0.11490348492980633");
    terminal.shows("step 190/388");
    command(&terminal, "delete");
    terminal.keys(&["End"]);
    terminal.shows("step 388/388");
    command(&terminal, "gradient out");
    terminal.shows("mode gradient");
    terminal.keys(&["Home"]);
    terminal.shows("0.21024361585183118");
    // The gradient is a branch; leaving it needs a confirmation.
    terminal.keys(&["q"]);
    terminal.shows("q again quits without saving 1 branch");
    terminal.keys(&["q"]);
    terminal.is_restored();
}

/// The tour that explains the screen detects the user's attempts, and counts steps.
pub fn the_tour_for_beginners() {
    let terminal = debug(80, 24, "programs/fib.rasm --tour --preset vi");
    terminal.shows("tour 1 of 14: the screen");
    terminal.keys(&["r"]);
    terminal.shows("l executes the instruction at ►");
    terminal.keys(&["l", "l", "l"]);
    terminal.shows("tour 2 of 14: one step forward ✓ tried");
    terminal.shows("`add a, b` adds the function's value to the target: a ← a + b;");
    terminal.keys(&["r", "h"]);
    terminal.shows("`add a, b` is undone: a ← a - b; here a ← 1 - 1 = 0.");
    terminal.keys(&["R"]);
    terminal.shows("tour 2 of 14");
    terminal.keys(&["Q"]);
    terminal.shows("the tour is over");
    terminal.wait_for(|screen| !screen.contains("tour 2 of 14"));
    terminal.keys(&["q"]);
    terminal.is_restored();
    // Without a screen, an error says that the tour needs one.
    terminal.line(&format!("{REVIVER} debug programs/fib.rasm --tour | cat; echo end"));
    terminal.shows("start the tour in a terminal: the tour explains the screen");
}

fn command(terminal: &Terminal, text: &str) {
    terminal.keys(&[":"]);
    terminal.line(text);
}

pub fn ctrl_c_stops_a_run_and_never_quits() {
    let terminal = debug(80, 24, "programs/fib.rasm --set n=1000000000000");
    terminal.shows("step 0/");
    terminal.keys(&["C-c"]);
    terminal.keys(&["c"]);
    terminal.shows("Ctrl-C stops");
    terminal.keys(&["C-c"]);
    terminal.shows("interrupted");
    terminal.keys(&["C-c", "C-c"]);
    command(&terminal, "goto 7");
    terminal.shows("step 7, line 29");
    terminal.keys(&["q"]);
    terminal.is_restored();
}

pub fn a_program_with_errors_is_shown_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.rasm");
    std::fs::write(&file, "add r0, r0\n").unwrap();
    let terminal = debug(100, 24, &format!("{}; echo code $?", file.display()));
    terminal.shows("the program can't be debugged: 1 error");
    terminal.shows("target and a source");
    terminal.keys(&["q"]);
    terminal.shows("\ncode 3");
    terminal.is_restored();
}

pub fn ctrl_c_in_the_line_mode() {
    let terminal = Terminal::open(80, 24);
    terminal.line(&format!("{REVIVER} repl programs/fib.rasm --set n=1000000000000"));
    terminal.shows("(reviver)");
    terminal.line("continue");
    // The hint appears once the run has started. Before that, Ctrl-C would be a key at the prompt.
    terminal.shows("Ctrl-C stops it");
    terminal.keys(&["C-c"]);
    terminal.shows("interrupted");
    terminal.line("goto 7");
    terminal.shows("step 7,");
    terminal.line("quit");
    terminal.is_restored();
}

pub fn leaving_the_line_mode_asks_once() {
    let terminal = Terminal::open(80, 24);
    terminal.line(&format!("{REVIVER} repl programs/fib.rasm"));
    terminal.shows("(reviver)");
    terminal.line("break 29");
    terminal.line("quit");
    terminal.shows("`quit` again quits without saving 1 point; `save FILE` saves the commands");
    // Another command cancels the confirmation.
    terminal.line("print n");
    terminal.shows("n = 10");
    terminal.keys(&["C-d"]);
    terminal.shows("Ctrl-D again quits without saving 1 point");
    terminal.keys(&["C-d"]);
    terminal.is_restored();
    // If nothing would be lost, no confirmation is needed. A script needs none either. The test waits until the earlier
    // prompt has disappeared, because a key that is sent too early would reach the shell.
    terminal.line("clear");
    terminal.wait_for(|screen| !screen.contains("(reviver)"));
    terminal.line(&format!("{REVIVER} repl programs/fib.rasm; echo ended $?"));
    terminal.shows("(reviver)");
    terminal.keys(&["C-d"]);
    terminal.shows("ended 0");
    terminal.line(&format!("clear; echo break 29 | {REVIVER} repl programs/fib.rasm; echo scripted $?"));
    terminal.shows("scripted 0");
    assert!(!terminal.screen().contains("again"), "{}", terminal.screen());
}

pub fn lines_typed_ahead_are_executed() {
    let terminal = Terminal::open(80, 24);
    terminal.line(&format!("{REVIVER} repl programs/fib.rasm"));
    terminal.shows("(reviver)");
    terminal.keys(&["break 29", "Enter", "print n", "Enter", "quit", "Enter", "quit", "Enter"]);
    terminal.shows("n = 10");
    terminal.is_restored();
}

pub fn signals_at_the_prompt_restore_the_terminal() {
    for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-QUIT", 131), ("-USR1", 138), ("-ALRM", 142)] {
        let (terminal, pid) = started("repl programs/fib.rasm", "(reviver)");
        kill(signal, pid);
        terminal.shows(&format!("code {code}"));
        terminal.is_restored();
    }
}

/// Starts the debugger in a terminal, and returns its process identifier.
fn debug_and_pid(arguments: &str) -> (Terminal, u32) {
    started(&format!("debug {arguments}"), "step 0/")
}

/// Starts a command in a terminal, waits for its output, and returns its process identifier.
fn started(arguments: &str, shown: &str) -> (Terminal, u32) {
    let terminal = Terminal::open(80, 24);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let run = format!("echo $$ > {}; exec {REVIVER} {arguments}", file.display());
    terminal.line(&format!("sh -c '{run}'; echo code $?"));
    terminal.shows(shown);
    let pid = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    (terminal, pid)
}

fn kill(signal: &str, pid: u32) {
    let status = std::process::Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

pub fn terminating_signals_restore_the_terminal() {
    let signals = [
        ("-TERM", 143),
        ("-HUP", 129),
        ("-QUIT", 131),
        ("-ABRT", 134),
        ("-USR1", 138),
        ("-USR2", 140),
        ("-ALRM", 142),
        ("-VTALRM", 154),
        ("-PROF", 155),
        ("-XCPU", 152),
        ("-XFSZ", 153),
    ];
    for (signal, code) in signals {
        let (terminal, pid) = debug_and_pid("programs/fib.rasm --set n=1000000000000");
        terminal.keys(&["m", "c"]);
        terminal.shows("Ctrl-C stops");
        kill(signal, pid);
        terminal.shows(&format!("code {code}"));
        terminal.is_restored();
    }
}

pub fn the_debugger_ends_with_its_terminal() {
    let (terminal, pid) = debug_and_pid("programs/fib.rasm");
    drop(terminal);
    let is_there = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    let since = std::time::Instant::now();
    while is_there() {
        assert!(since.elapsed().as_secs() < 30, "{pid} is still there");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

pub fn an_external_interrupt_acts_like_ctrl_c() {
    let (terminal, pid) = debug_and_pid("programs/fib.rasm --set n=1000000000000");
    kill("-INT", pid);
    terminal.keys(&["c"]);
    terminal.shows("Ctrl-C stops");
    kill("-INT", pid);
    terminal.shows("interrupted");
    terminal.keys(&["q"]);
    terminal.shows("code 0");
    terminal.is_restored();
}

pub fn ctrl_z_suspends_and_fg_resumes() {
    let terminal = debug(80, 24, "programs/fib.rasm");
    terminal.shows("step 0/");
    terminal.keys(&["s", "s"]);
    terminal.shows("step 2,");
    terminal.keys(&["C-z"]);
    terminal.is_restored();
    terminal.line("fg");
    terminal.shows("step 2/");
    terminal.keys(&["s"]);
    terminal.shows("step 3,");
    terminal.keys(&["q"]);
    terminal.is_restored();
}

pub fn a_dumb_terminal_is_refused() {
    let terminal = Terminal::open(80, 24);
    terminal.line(&format!("TERM=dumb {REVIVER} debug programs/fib.rasm; echo code $?"));
    terminal.shows("needs a terminal");
    terminal.shows("`reviver repl FILE`");
    terminal.shows("code 2");
    terminal.is_restored();
}

pub fn a_panic_restores_the_terminal() {
    let terminal = Terminal::open(80, 24);
    let tests = std::env::current_exe().unwrap();
    terminal.line(&format!("{} --exact panics_with_a_screen --ignored --nocapture", tests.display()));
    terminal.shows("something is wrong");
    terminal.shows("test result: FAILED");
    terminal.is_restored();
}

pub fn a_picture_of_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fib.svg");
    let terminal = debug(100, 30, "programs/fib.rasm --theme light");
    terminal.shows("step 0/");
    terminal.keys(&["s", "s"]);
    terminal.shows("step 2, line 29");
    command(&terminal, &format!("picture {}", file.display()));
    terminal.shows("saved to");
    let picture = std::fs::read_to_string(&file).unwrap();
    // 100 columns and 30 rows with a margin, the light theme's background, and the current step.
    let said =
        ["width=\"824\" height=\"534\"", "fill=\"#ffffff\"", "programs/fib.rasm in the debugger, at step 2"];
    for said in said {
        assert!(picture.contains(said), "{said}: {picture}");
    }
    // The first key may only close the message of `picture`.
    terminal.keys(&["q", "q"]);
    terminal.is_restored();
}

/// Not a test itself: [`a_panic_restores_the_terminal`] runs it in a terminal.
pub fn panics_with_a_screen() {
    let mut screen = Screen::open().unwrap();
    screen.set_mouse(true).unwrap();
    panic!("something is wrong");
}
