//! Signals that end the process by default.

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGPROF, SIGQUIT, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};

/// Signals that end the process by default, except SIGHUP, SIGTERM and SIGINT, which are handled
/// separately. Faults of the process itself, such as SIGSEGV, aren't included: a handler that returns from
/// them returns to the fault.
pub const ENDING: [i32; 9] =
    [SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ];
