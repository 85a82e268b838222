//! Terminal tests of the debugger, and of commands that adapt to the terminal size; `debugger/tests` covers the panes
//! alone. A custom harness decides at run time if a terminal is available. Without a terminal the tests count as
//! ignored, and with `REVIVER_TERMINAL_TESTS=required` they fail.

#[cfg(unix)]
mod debugger;
#[cfg(unix)]
mod plots;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod skipped;
#[cfg(unix)]
mod slow;
#[cfg(unix)]
mod tmux;

#[cfg(not(unix))]
fn main() {
    println!("skipped: the tests in a terminal need tmux, and there is none here");
}

/// Test function with its name.
#[cfg(unix)]
type Named = (&'static str, fn());

/// Lists functions with their names.
#[cfg(unix)]
macro_rules! named {
    ($module:ident: $($test:ident)*) => { &[$((stringify!($test), $module::$test as fn())),*] };
}

#[cfg(unix)]
const IN_A_TERMINAL: &[Named] = named! {
    debugger:
    a_small_terminal
    a_large_terminal
    a_tour
    the_tour_for_beginners
    ctrl_c_stops_a_run_and_never_quits
    a_program_with_errors_is_shown_with_them
    ctrl_c_in_the_line_mode
    leaving_the_line_mode_asks_once
    lines_typed_ahead_are_executed
    signals_at_the_prompt_restore_the_terminal
    terminating_signals_restore_the_terminal
    the_debugger_ends_with_its_terminal
    an_external_interrupt_acts_like_ctrl_c
    ctrl_z_suspends_and_fg_resumes
    a_dumb_terminal_is_refused
    a_panic_restores_the_terminal
    a_picture_of_the_screen
};

#[cfg(unix)]
const PRINTED_IN_A_TERMINAL: &[Named] = named! {
    plots:
    a_plot_fits_its_terminal
    a_terminal_too_small_for_a_plot_is_reported
};

/// Functions that aren't tests themselves: other tests run them in a terminal.
#[cfg(unix)]
const RUN_BY_OTHERS: &[Named] = named! { debugger: panics_with_a_screen };

#[cfg(unix)]
const ANYWHERE: &[Named] = named! {
    skipped:
    without_tmux_the_tests_are_counted_as_ignored
    required_tests_fail_without_tmux
};

/// Tests on a pseudoterminal, which every system has.
#[cfg(unix)]
const ON_A_LINE: &[Named] = named! {
    slow:
    split_escape_sequences_are_keys
    a_lone_escape_is_a_key
    a_late_terminal_response_types_nothing
    a_late_background_response_selects_the_colours
    the_screen_is_drawn_without_terminal_responses
    a_response_after_the_end_is_discarded
};

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use libtest_mimic::{Arguments, Trial};

    let trial = |(name, test): &Named| {
        let test = *test;
        Trial::test(*name, move || {
            test();
            Ok(())
        })
    };
    let is_skipped = !tmux::is_here() && !tmux::is_required();
    let kind = if is_skipped { "tmux is missing" } else { "" };
    let mut trials: Vec<Trial> = ANYWHERE.iter().chain(ON_A_LINE).map(trial).collect();
    let in_a_terminal = IN_A_TERMINAL.iter().chain(PRINTED_IN_A_TERMINAL);
    trials.extend(in_a_terminal.map(|test| trial(test).with_kind(kind).with_ignored_flag(is_skipped)));
    trials.extend(RUN_BY_OTHERS.iter().map(|test| trial(test).with_ignored_flag(true)));
    let arguments = Arguments::from_args();
    if is_skipped && !arguments.list {
        eprintln!("skipped: without tmux there is no terminal to test the debugger in");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
