//! The signals that end a process that doesn't ask for them. Knows no handler.

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGPROF, SIGQUIT, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};

/// All but the end of the terminal and `kill`, SIGHUP and SIGTERM, and what the keyboard interrupts by. Faults of the process
/// itself, such as SIGSEGV, are none of them: a handler that returns from those returns to the fault.
pub const ENDING: [i32; 9] =
    [SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ];
