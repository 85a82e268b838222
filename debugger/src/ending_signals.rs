//! Signals that end the process by default.

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGPROF, SIGQUIT, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};

/// The signals that end the process by default, except SIGHUP, SIGTERM and SIGINT, which are handled
/// elsewhere. Signals for faults of the process, such as SIGSEGV, aren't included: when their handler
/// returns, the faulting instruction is executed again.
pub const ENDING: [i32; 9] =
    [SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ];
