//! Tests of the selection of cells in panes, by keys and by the mouse. Cells stay selected while frames open and
//! close.

use crate::behaviour::{CALLS, commands, said};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::Gesture;

#[test]
fn breakpoints_at_the_cursor_belong_to_the_shown_file() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    // The machine stops in the library, and the cursor is in the program.
    screen.command("break ifactorial").keys("c 5 Down Enter");
    let line = screen.app.messages().len();
    screen.keys("b");
    let said = screen.app.messages().iter().skip(line).map(|message| message.text.as_str());
    let said: Vec<&str> = said.collect();
    assert!(said[0].starts_with("break ") && said[1].starts_with("breakpoint 2: line"), "{said:?}");
    assert!(screen.text().contains("●"), "{}", screen.text());
}

#[test]
fn a_frame_is_selected_in_the_calls() {
    let text = support::text("bundle_adjustment.rasm");
    let mut screen = Screen::open(support::subject(&text), 120, 40);
    screen.command("until dot_3").keys("5 Down Enter");
    assert!(screen.text().contains("►1 → rotate") && screen.text().contains("▷ 83"), "{}", screen.text());
    assert!(screen.text().contains("ancillas of rotate"), "{}", screen.text());
    screen.keys("(");
    assert!(screen.text().contains("►2 → main") && screen.text().contains("ancillas of main"));
    screen.keys("(");
    assert!(screen.last_row().contains("outermost frame"), "{}", screen.last_row());
    screen.keys(") )");
    assert!(screen.text().contains("►0 → dot_3"), "{}", screen.text());
    screen.keys("( s");
    assert!(screen.text().contains("►0 → dot_3"), "a motion selects the innermost");
}

#[test]
fn adjoints_can_be_chosen_watched_and_plotted() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    screen.keys("3 a");
    assert!(screen.last_row().contains("there are no adjoints yet"), "{}", screen.text());
    screen.command("goto end").command("gradient out").command("reverse-step 250");
    // The row below `nu`, an integer, contains the real `z`.
    screen.keys("3 Ctrl-Home Down > v d e");
    assert!(screen.last_row().starts_with(":set z' ="), "{}", screen.text());
    screen.keys("Esc < v d Up a v");
    let heard = said(&screen);
    for expected in ["watchpoint 1: z'", "plots z'", "watchpoint 2: z", "plots z", "watchpoint 3: nu"] {
        assert!(heard.iter().any(|text| text == expected), "{expected} in {heard:?}");
    }
    let below = screen.text().split_once("timeline").unwrap().1.to_owned();
    assert!(below.contains("z' ") && below.contains("z "), "{below}");
    screen.keys("Down d").command("unplot z");
    assert!(said(&screen).iter().any(|text| text == "nothing is plotted any more"));
}

#[test]
fn the_mouse_chooses_values_and_adjoints() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    screen.command("goto end").command("gradient out").command("reverse-step 250");
    let text = screen.text();
    let find = |text: &str, what: &str| {
        let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains(what)).unwrap();
        let byte = line.find(what).unwrap();
        (line[..byte].chars().count() as u16, row as u16)
    };
    let (column, heading) = find(&text, "adjoint");
    let (_, row) = find(&text, "  z ");
    assert!(heading < row, "{text}");
    screen.mouse(Gesture::Press, column + 2, row).keys("v");
    screen.mouse(Gesture::Press, column - 6, row).keys("v");
    let heard = said(&screen);
    assert!(heard.iter().any(|text| text == "watchpoint 1: z'"), "{heard:?}\n{text}");
    assert!(heard.iter().any(|text| text == "watchpoint 2: z"), "{heard:?}\n{text}");
}

#[test]
fn the_selected_cell_is_the_same_across_calls() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("3 / d i r t Enter w w w w");
    assert_eq!(commands(&screen), ["next-write dirt"; 4]);
    // Both main and `imul` have a cell `term`, in different rows.
    screen.keys("/ t e r m Enter w");
    assert!(screen.text().contains("│› term") || screen.text().contains("│* term"), "{}", screen.text());
    screen.keys("w w");
    assert_eq!(commands(&screen)[4..], ["next-write term"; 3]);
}

#[test]
fn a_cell_without_a_name_in_scope_stays_selected() {
    let mut screen = Screen::open(support::subject(CALLS), 80, 24);
    screen.command("break p").keys("c s s 3 Ctrl-End").command("finish").keys("e");
    assert!(
        screen.last_row().contains("`mine` is selected, but has no name in this frame"),
        "{}",
        screen.text()
    );
    assert!(screen.text().contains("mine: not in this frame"), "{}", screen.text());
    screen.command("goto 3").keys("e");
    assert!(screen.last_row().starts_with(":set mine ="), "{}", screen.text());
    screen.keys("Esc").command("finish").keys("Down e");
    assert!(screen.last_row().starts_with(":set a ="), "{}", screen.text());
}

#[test]
fn a_selected_element_is_the_same_under_another_name() {
    let text = ".out A[9]\n        call p(A[2..9])\n.proc p(inout B[])\n        call q(B[1..4])\n.end\n\
                .proc q(inout C[])\n        add C[0], 7\n.end\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("s 4 ] > e");
    assert!(screen.last_row().starts_with(":set B[1] ="), "{}", screen.text());
    screen.keys("Esc s e");
    assert!(screen.last_row().starts_with(":set A[3] ="), "{}", screen.text());
    screen.keys("Esc S e");
    assert!(screen.last_row().starts_with(":set A[3] ="), "{}", screen.text());
}

#[test]
fn the_wheel_scrolls_and_only_a_double_click_opens() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("Home m");
    let first = |screen: &Screen| screen.text().lines().nth(1).unwrap().to_owned();
    let before = first(&screen);
    screen.mouse(Gesture::ScrollDown, 5, 5);
    assert_ne!(first(&screen), before);
    screen.mouse(Gesture::ScrollUp, 5, 5);
    assert_eq!(first(&screen), before);
    screen.mouse(Gesture::Press, 5, 5).mouse(Gesture::Release, 5, 5).mouse(Gesture::Press, 5, 5);
    assert!(screen.app.session().unwrap().points().is_empty());
    screen.mouse(Gesture::DoublePress, 5, 5);
    assert_eq!(screen.app.session().unwrap().points().len(), 1);
}

#[test]
fn an_element_passed_to_a_call_stays_selected() {
    let text = ".out A[3]\n        call p(A[1])\n.proc p(inout x)\n        add x, 5\n.end\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    // A global array has the same name in every frame.
    screen.keys("4 > s s e");
    assert!(screen.last_row().starts_with(":set A[1] ="), "{}", screen.text());
    // An element of an array in a frame is a scalar in the call to which it is passed.
    let text = ".out a\n.ancilla z\n        call p(a)\n.proc p(inout u)\n.ancilla B[3]\n        add B[1], 5\n\
                \x20       call q(B[1], u)\n        sub B[1], 5\n.end\n.proc q(inout v, inout w)\n        add w, v\n.end\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("s s 4 e");
    assert!(screen.last_row().starts_with(":set B[1] ="), "{}", screen.text());
    screen.keys("Esc s e");
    assert!(screen.last_row().starts_with(":set v ="), "{}", screen.text());
    screen.keys("Esc s s e");
    assert!(screen.last_row().starts_with(":set B[1] ="), "{}", screen.text());
    screen.keys("Esc S S e");
    assert!(screen.last_row().starts_with(":set v ="), "{}", screen.text());
}

#[test]
fn the_cell_of_a_trap_is_selected() {
    let cases = [
        (".inout a default 3, b\n.out q\n        add a, 1\n        add.div q, a, b\n", "why b"),
        (".out A[3], i\n        add i, 7\n        add A[i], 1\n", "why i"),
        (".out a\n.ancilla t\n        add a, 4\n        vacate a\n", "why a"),
        (
            ".inout A[3] default {4, 5, 6}\n.out q\n        add A[0], 1\n        assert A[1] == 7\n",
            "why A[1]",
        ),
    ];
    for (text, expected) in cases {
        let mut screen = Screen::open(support::subject(text), 80, 24);
        screen.keys("c y");
        assert_eq!(commands(&screen).last().unwrap(), expected, "{}", screen.text());
    }
}

/// After a search without a result, the machine is still at the trap, and the failure pane is visible.
#[test]
fn a_search_that_finds_nothing_keeps_the_failure() {
    let text = ".inout a default 3, b\n.out q\n        add a, 1\n        add.div q, a, b\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("c");
    assert!(screen.text().contains("failure:"), "{}", screen.text());
    screen.command("next-write b");
    assert!(
        screen.text().contains("failure:") && screen.text().contains("no write to b"),
        "{}",
        screen.text()
    );
    screen.keys("S");
    assert!(!screen.text().contains("failure:"), "{}", screen.text());
}

#[test]
fn the_arrays_follow_the_accessed_elements() {
    let text =
        ".inout A[200]\n.inout B[300]\n        add A[150], 1\n        add B[250], 2\n        add A[0], 3\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("s");
    assert!(screen.text().contains("array A[200]") && screen.text().contains("[150]"), "{}", screen.text());
    screen.keys("s");
    assert!(screen.text().contains("array B[300]") && screen.text().contains("[250]"), "{}", screen.text());
    // A selected element stays visible.
    screen.keys("4 Ctrl-Home 1 s");
    assert!(screen.text().contains("array B[300]") && screen.text().contains("[0]"), "{}", screen.text());
}

#[test]
fn all_arrays_are_shown_if_they_fit_and_can_be_clicked() {
    let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
    screen.command("goto 60");
    let row_of = |screen: &Screen, text: &str| {
        let text = format!("│{text}");
        let rows = screen.text();
        let at = rows.lines().position(|row| row.contains(&text));
        at.unwrap_or_else(|| panic!("no {text} in\n{rows}")) as u16
    };
    assert!(row_of(&screen, "› i  4") < row_of(&screen, "A[6]"), "{}", screen.text());
    let row = row_of(&screen, "[0]   3   1   0   2   4   5");
    let column = screen.text().lines().nth(row.into()).unwrap().chars().position(|c| c == '1').unwrap();
    screen.mouse(Gesture::Press, column as u16, row).keys("v");
    assert!(said(&screen).iter().any(|line| line.starts_with("watchpoint 1: P[1]")), "{:?}", said(&screen));
    // A click on the name of an array selects no element.
    screen.mouse(Gesture::Press, column as u16, row_of(&screen, "A[6]")).keys("v");
    assert!(said(&screen).iter().any(|line| line.starts_with("deleted")), "{:?}", said(&screen));
    // There is no room for the large array below the other arrays.
    let with_large = support::text("sort.rasm") + ".inout B[90]\n";
    let mut screen = Screen::open(support::subject(&with_large), 80, 24);
    assert!(screen.text().contains("│ 2 of 3 arrays ─"), "{}", screen.text());
    screen.command("array B");
    assert!(screen.text().contains("│ array B[90] (3 of 3)"), "{}", screen.text());
    screen.command("array P");
    assert!(screen.text().contains("│ 2 of 3 arrays ─"), "{}", screen.text());
    // If the first array is too large, only a part of that array is shown.
    let large = support::text("sort.rasm").replace("N = 6", "N = 60").replace("{5, 2, 9, 1, 5, 6}", "7");
    let large = large.replace("{0, 1, 2, 3, 4, 5}", "0");
    let large: String =
        large.lines().filter(|line| !line.contains(";!")).map(|l| l.to_owned() + "\n").collect();
    let screen = Screen::open(support::subject(&large), 80, 24);
    assert!(screen.text().contains("│ array A[60] (1 of 2)"), "{}", screen.text());
}

/// If the next instruction is a call, the screen shows the values of the call's arguments.
#[test]
fn the_next_call_shows_its_argument_values() {
    let mut screen = Screen::open(support::subject(&support::text("hanoi.rasm")), 120, 40);
    assert!(screen.text().contains("tower(disks=4, source=0, target=2, spare=1)"), "{}", screen.text());
    screen.command("until 29");
    assert!(screen.text().contains("          move(source=0, target=1) "), "{}", screen.text());
    assert!(screen.text().contains("(source=0, target=1)│"), "{}", screen.text());
    // If the code pane has no room for the call, the card shows it.
    screen.resize(80, 24);
    screen.command("until 28").keys("s s");
    assert!(screen.text().contains("tower(disks="), "{}", screen.text());
}
