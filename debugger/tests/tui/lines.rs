//! Tests of command lines, which keys execute and which the prompt `:` accepts. In such a line, the selected item
//! replaces `@`.

use crate::behaviour::{commands, fib, said};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::panes::PaneKind;

#[test]
fn actions_of_keys_can_be_typed_as_commands() {
    let mut screen = fib();
    screen.command("focus calls");
    assert_eq!(screen.app.focus(), PaneKind::Calls);
    screen.command("focus next").command("focus previous").command("foc timeline").command("cursor bottom");
    assert_eq!(screen.app.focus(), PaneKind::Timeline);
    screen.command("end").command("goto 4").command("cursor top").command("open");
    assert_eq!(screen.step(), 0);
    screen.command("scrub").command("scrub").command("reverse-scrub");
    assert_eq!(screen.step(), 1);
    screen.command("toggle fence").command("toggle fence").command("toggle fence");
    assert_eq!(screen.app.session().unwrap().fences().collect::<Vec<_>>(), [1]);
    screen.command("keys");
    assert!(screen.text().contains("Esc closes"), "{}", screen.text());
    screen.keys("Esc").command("ask goto");
    assert!(screen.last_row().starts_with(":goto"), "{}", screen.text());
    screen.keys("Esc").command("search swap");
    assert!(screen.text().contains("swap"), "{}", screen.text());
    screen.command("leave");
    assert!(screen.has_quit);
}

#[test]
fn refused_screen_commands_have_a_reason_and_a_remedy() {
    let mut screen = fib();
    let cases = [
        ("focus", "`focus` takes a pane", "usage: focus PANE | next | previous"),
        ("focus nowhere", "there is no pane `nowhere`: there are code, inverse", ""),
        ("cursor sideways", "`sideways` is none of up, down", "usage: cursor up | down"),
        ("toggle speed", "`speed` is none of break, watch, plot, fence", "usage: toggle break PLACE"),
        ("zoom inn", "`inn` is neither in, out, all", "usage: zoom [FROM..TO"),
        ("array x", "there are no arrays here", ""),
        (
            "expect-stop @",
            "`@` is a cell, a line, a step or a frame, and `expect-stop` takes none of these",
            "",
        ),
    ];
    for (line, cause, cure) in cases {
        screen.keys("Esc").command(line);
        let heard = said(&screen).join("\n");
        assert!(heard.contains(cause) || screen.text().contains(cause), "{line}: {heard}");
        assert!(heard.contains(cure), "{line}: {heard}");
    }
}

#[test]
fn the_selected_item_replaces_placeholders() {
    let mut screen = fib();
    screen.keys("3 Down").command("watch @ if $new > 20").command("print @ + 1");
    screen.keys("1 Ctrl-Home").command("search neg").command("search swap").command("break @");
    screen.command("toggle break @");
    assert_eq!(commands(&screen)[..2], ["watch a if $new > 20", "print a + 1"]);
    assert!(commands(&screen)[2].starts_with("break "), "{:?}", commands(&screen));
    assert_eq!(commands(&screen)[3], "delete 2");
    // Toggling removes an item that is set, even if it was set with other options.
    screen
        .command("toggle watch @ any")
        .command("toggle watch @ any")
        .command("toggle plot @")
        .command("toggle plot a");
    assert_eq!(commands(&screen)[4..], ["delete 1", "watch a any", "plot a", "unplot a"]);
    screen.keys("End 9 Ctrl-Home").command("goto @");
    assert_eq!(screen.step(), 0);
    screen.command("mark @").command("info line @");
    let heard = said(&screen).join("\n");
    assert!(
        heard.contains("and `mark` takes none") && heard.contains("line 27 has 1 instruction"),
        "{heard}"
    );
}

/// To find the watchpoint to remove, `toggle` compares the watched cells and not the texts.
#[test]
fn a_watched_slice_is_removed_as_a_whole() {
    let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
    for watched in ["A[1..4]", "A", "A[i] + 0", "A[2..3]"] {
        screen.command(&format!("toggle watch {watched}"));
        assert_eq!(screen.app.session().unwrap().points().len(), 1, "{watched}");
        let other = if watched == "A" { "A[0..6]" } else { watched };
        screen.command(&format!("toggle watch {other}"));
        assert_eq!(screen.app.session().unwrap().points().len(), 0, "{watched}");
    }
    screen.command("toggle watch A[1..4]").command("toggle watch A[1..5]").command("toggle watch P[1..4]");
    assert_eq!(screen.app.session().unwrap().points().len(), 3);
}

#[test]
fn frames_and_files_can_be_selected() {
    let text = support::text("bundle_adjustment.rasm");
    let mut screen = Screen::open(support::subject(&text), 120, 40);
    screen.command("until dot_3").keys("5 Down").command("frame @");
    assert!(screen.text().contains("►1 → rotate"), "{}", screen.text());
}

#[test]
fn names_of_panes_are_completed() {
    let mut screen = fib();
    screen.keys(": f o c Tab");
    assert!(screen.last_row().starts_with(":focus"), "{}", screen.last_row());
    screen.keys("t i Tab Enter");
    assert_eq!(screen.app.focus(), PaneKind::Timeline);
}

/// Returns the key bar, above the status line.
fn hints(screen: &Screen) -> String {
    screen.text().lines().rev().nth(2).unwrap_or_default().to_owned()
}

#[test]
fn key_hints_match_the_context() {
    let mut screen = fib();
    assert!(
        hints(&screen).starts_with(" s step →  c run  End  b break  : command  ? keys"),
        "{}",
        screen.text()
    );
    screen.keys("s");
    assert!(
        hints(&screen).starts_with(" s step →  S back ←  c/C run  End  b break  t/T until  ? keys"),
        "{}",
        screen.text()
    );
    screen.keys("3 Down");
    assert!(
        hints(&screen).contains("y why a  w/W write  v watch  d plot  e set  ? keys"),
        "{}",
        screen.text()
    );
    screen.keys("y");
    screen.keys("End 3 y");
    assert!(
        hints(&screen).starts_with(" Enter go there  Right/Left unfold  Esc close  s step →  S back ←"),
        "{}",
        screen.text()
    );
    screen.keys("Esc p");
    assert!(
        hints(&screen).starts_with(" playing: Space pause  +/- faster  P play back"),
        "{}",
        screen.text()
    );
    let text = ".inout a default 3, b\n.out q\n        add.div q, a, b\n";
    let mut screen = Screen::open(support::subject(text), 80, 24);
    screen.keys("s");
    assert!(
        hints(&screen).starts_with(" TRAPPED: y why b  W last write  S back ←  u undo"),
        "{}",
        screen.text()
    );
    // On a screen with few rows, the panes get the row of the key bar.
    screen.resize(80, 23);
    assert!(!screen.text().contains("TRAPPED"), "{}", screen.text());
}
