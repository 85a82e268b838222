//! Tests with six programs, each with a typical mistake. After a program is opened, at most six keys are needed to find
//! its mistake.

use crate::screen::Screen;
use crate::support;
use reviver_debugger::outcome::Reason;
use reviver_debugger::session::Session;
use reviver_vm::Travel;

/// Maximum number of keys to be pressed after opening the program.
const MOST_KEYS: usize = 6;

/// Comment that marks the line of the mistake.
const MARK: &str = "; here";

/// Opens a program at both screen sizes, presses keys, and checks that a row of the screen shows the mistake. The row
/// must have the statement, and its line number: next to a sign in the code, or in a text such as `line 5`.
fn is_found(text: &str, keys: &str) {
    assert!(keys.split_whitespace().count() <= MOST_KEYS, "{keys}");
    let (number, line) = text.lines().enumerate().find(|(_, line)| line.ends_with(MARK)).unwrap();
    let (number, statement) = (number + 1, line.trim_end_matches(MARK).trim());
    for (width, height) in [(80, 24), (120, 40)] {
        let mut screen = Screen::open(support::subject(text), width, height);
        screen.keys(keys);
        let shown = screen.text();
        let is_named = |row: &str| {
            let short = [format!("►{number} "), format!("×{number} "), format!("↓ {number} ")];
            let long = [format!("►{number:>2} "), format!("×{number:>2} "), format!("line {number}")];
            short.iter().chain(&long).any(|place| row.contains(place.as_str())) && row.contains(statement)
        };
        assert!(shown.lines().any(is_named), "line {number} is named nowhere after {keys}:\n{shown}");
    }
}

/// Corrects the mistake in a program, and runs the program to its end.
fn recomputed(text: &str, wrong: &str, right: &str) -> Session {
    assert!(text.contains(wrong), "{wrong}");
    let mut session = Session::at_begin(support::subject(&text.replace(wrong, right))).unwrap();
    let motion = session.resume(Travel::Forward);
    assert_eq!(motion.reason, Reason::HistoryEnd);
    session
}

fn value(session: &Session, text: &str) -> String {
    session.evaluate(text).unwrap().1
}

#[test]
fn a_wrong_fi() {
    let text = ".inout n default 5
.out steps
        if n > 3
            sub n, 2
            add steps, 1
        fi n > 3 ; here
";
    recomputed(text, "fi n > 3", "fi steps > 0");
    is_found(text, "c");
}

#[test]
fn a_wrong_sign() {
    // The mistake: the program computes the kinetic energy minus the potential energy, instead of their sum.
    let text = ".out energy: real
.in  v: real default 2, x: real default 3
        local kinetic = square(v)
        local potential = square(x)
            add energy, kinetic
            sub energy, potential ; here
        delocal potential = square(x)
        delocal kinetic = square(v)
";
    assert_eq!(value(&recomputed(text, "sub energy", "add energy"), "energy"), "13.0");
    is_found(text, "End y Enter");
}

#[test]
fn off_by_one() {
    // Each element should become the sum of all elements up to it.
    let text = ".const N = 5
.inout A[N] default {1, 2, 3, 4, 5}
        for i in 1..N+1 ; here
            add A[i], A[i-1]
        rof
";
    assert_eq!(value(&recomputed(text, "1..N+1", "1..N"), "A[4]"), "15");
    // The last executed line has set i to 5.
    is_found(text, "c");
}

#[test]
fn a_late_delocal() {
    let text = ".inout x default 3
.out y
        local t = x
            add y, t
            add x, 1
        delocal t = x ; here
";
    recomputed(text, "add x, 1\n        delocal t = x ; here", "delocal t = x\n        add x, 1");
    is_found(text, "c");
}

#[test]
fn arguments_that_alias() {
    let text = ".inout A[4] default {4, 3, 2, 1}
        for i in 0..4
            for j in i..4
                call mix(A[i], A[j]) ; here
            rof
        rof

.proc mix(inout a: int, inout b: int)
        add a, b
.end
";
    recomputed(text, "in i..4", "in i+1..4");
    is_found(text, "c");
}

#[test]
fn a_wrong_adjoint_rule() {
    // The derivative of log(1 + x) is 1 / (1 + x): the rule must divide by 1 + x, but multiplies.
    let text = ".real f64
.in  x: real default 0.5
.out y: real
        call log1p(y, x)

.proc log1p(inout v: real, in u: real) rule log1p_adjoint
.ancilla t: real
        add.sum t, u, 1
        add.log v, t
        sub.sum t, u, 1
.end

.proc log1p_adjoint(inout v: real, in u: real)
.ancilla t: real
        add.sum t, u, 1
        add.mul u', v', t ; here
        sub.sum t, u, 1
.end
";
    let mut right = recomputed(text, "add.mul u', v', t", "add.div u', v', t");
    right.gradient("y").unwrap();
    right.goto_start();
    assert_eq!(value(&right, "x'"), "0.6666666666666666");
    // The keys ask for the origin of the adjoint of x. This origin is an instruction of the rule. The backward run
    // executed the rule.
    is_found(text, "End G Home a y Enter");
}
