//! Character plots, which adapt to the terminal size.

use super::tmux::Terminal;

/// Returns the rows that `plot` prints on a terminal of `columns` columns.
fn plotted(columns: u16) -> Vec<String> {
    let terminal = Terminal::open(columns, 60);
    terminal.line(&format!(
        "{} plot programs/fib.rasm --cells a,b --there; echo done",
        env!("CARGO_BIN_EXE_reviver")
    ));
    let screen = terminal.wait_for(|screen| screen.lines().any(|row| row == "done"));
    screen.lines().map(str::to_owned).collect()
}

pub fn a_plot_fits_its_terminal() {
    for columns in [100, 60, 40] {
        let rows = plotted(columns);
        let axes: Vec<&String> = rows.iter().filter(|row| row.starts_with("+--")).collect();
        let widest = usize::from(columns).min(73);
        assert_eq!(axes.len(), 2, "{rows:?}");
        assert!(axes.iter().all(|axis| axis.len() == widest), "{rows:?}");
        assert!(rows.iter().any(|row| row.contains(" steps ")), "{rows:?}");
        assert_eq!(rows.iter().filter(|row| row.starts_with('|')).count(), 18, "{rows:?}");
    }
}

pub fn a_terminal_too_small_for_a_plot_is_reported() {
    let rows = plotted(39);
    assert!(!rows.iter().any(|row| row.starts_with(['|', '+'])), "{rows:?}");
    let said = rows.concat();
    assert!(said.contains("curves in characters need 40 columns, and this terminal has 39"), "{said}");
}
