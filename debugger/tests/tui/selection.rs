//! What is chosen in panes, by keys and by the mouse, and stays chosen.

use crate::behaviour::{CALLS, commands, said};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::Gesture;

#[test]
fn breakpoints_at_the_cursor_are_of_the_file_that_is_seen() {
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
    // Below nu, which is an integer, stands z.
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
fn the_selected_cell_stays_the_same_over_calls() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("3 / d i r t Enter w w w w");
    assert_eq!(commands(&screen), ["next-write dirt"; 4]);
    // `term` of main is `term` in `imul` too, in another row.
    screen.keys("/ t e r m Enter w");
    assert!(screen.text().contains("│› term") || screen.text().contains("│* term"), "{}", screen.text());
    screen.keys("w w");
    assert_eq!(commands(&screen)[4..], ["next-write term"; 3]);
}

#[test]
fn a_selected_cell_without_a_name_here_stays_selected() {
    let mut screen = Screen::open(support::subject(CALLS), 80, 24);
    screen.command("break p").keys("c s s 3 Ctrl-End").command("finish").keys("e");
    assert!(screen.last_row().contains("`mine` is selected, and has no name here"), "{}", screen.text());
    assert!(screen.text().contains("mine is selected, not here"), "{}", screen.text());
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
