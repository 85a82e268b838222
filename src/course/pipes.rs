//! Reading of both output pipes of a child, as soon as bytes arrive. On Unix, reading needs no threads, so grading
//! works even if no more threads can be started. This module doesn't interpret the output.

/// Event on a child's output pipes.
pub enum Received {
    /// Bytes of the standard output.
    Output(Vec<u8>),
    /// Bytes of the standard error.
    Complaint(Vec<u8>),
    EndOfOutput,
    EndOfComplaints,
    /// Nothing arrived before the timeout.
    Nothing,
}

/// Maximum number of bytes in one read.
const PIECE: usize = 1 << 16;

pub use system::ChildPipes;

#[cfg(unix)]
mod system {
    use std::io::{self, Read};
    use std::process::{Child, ChildStderr, ChildStdout};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::{PIECE, Received};

    /// Output pipes of a child that haven't ended yet.
    pub struct ChildPipes {
        output: Option<ChildStdout>,
        complaints: Option<ChildStderr>,
    }

    impl ChildPipes {
        /// Takes the pipes of standard output and standard error out of a child.
        pub fn of(child: &mut Child) -> ChildPipes {
            ChildPipes { output: child.stdout.take(), complaints: child.stderr.take() }
        }

        /// Waits at most `most` for an event. A signal ends the wait.
        ///
        /// # Errors
        /// The system call to wait or read failed.
        pub fn receive(&mut self, most: Duration) -> io::Result<Received> {
            let mut waiting = Vec::with_capacity(2);
            waiting.extend(self.output.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let of_output = waiting.len();
            waiting.extend(self.complaints.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let most = Timespec::try_from(most).ok();
            match poll(&mut waiting, most.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => return Ok(Received::Nothing),
                Err(error) => return Err(error.into()),
            }
            let mut has_arrived = waiting.iter().map(|pipe| !pipe.revents().is_empty());
            let outputs = has_arrived.by_ref().take(of_output).any(|has| has);
            let complaints = has_arrived.any(|has| has);
            if outputs {
                let bytes = piece(&mut self.output)?;
                return Ok(bytes.map_or(Received::EndOfOutput, Received::Output));
            }
            if complaints {
                let bytes = piece(&mut self.complaints)?;
                return Ok(bytes.map_or(Received::EndOfComplaints, Received::Complaint));
            }
            Ok(Received::Nothing)
        }
    }

    /// Reads available bytes of a pipe, at most [`PIECE`]. Returns `None` and closes the pipe at its end.
    fn piece<R: Read>(pipe: &mut Option<R>) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; PIECE];
        let count = pipe.as_mut().map_or(Ok(0), |pipe| pipe.read(&mut bytes))?;
        bytes.truncate(count);
        if count == 0 {
            *pipe = None;
        }
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, Read};
    use std::process::Child;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::Duration;

    use reviver_vm::workers::detached;

    use super::{PIECE, Received};

    /// Output of a child as events that two threads send, one for each pipe. If no thread can be started, both pipes
    /// are read to their end first, and the child has no time limit.
    pub struct ChildPipes {
        received: Receiver<Received>,
    }

    impl ChildPipes {
        /// Takes the pipes of standard output and standard error out of a child.
        pub fn of(child: &mut Child) -> ChildPipes {
            let (sender, received) = channel();
            if let Some(pipe) = child.stdout.take() {
                let sender = sender.clone();
                detached("output", move || read(pipe, &sender, Received::Output, Received::EndOfOutput));
            }
            if let Some(pipe) = child.stderr.take() {
                detached("complaints", move || {
                    read(pipe, &sender, Received::Complaint, Received::EndOfComplaints)
                });
            }
            ChildPipes { received }
        }

        /// Waits at most `most` for an event.
        ///
        /// # Errors
        /// Never returns an error on this system.
        pub fn receive(&mut self, most: Duration) -> io::Result<Received> {
            match self.received.recv_timeout(most) {
                Ok(received) => Ok(received),
                Err(RecvTimeoutError::Timeout) => Ok(Received::Nothing),
                Err(RecvTimeoutError::Disconnected) => Ok(Received::EndOfComplaints),
            }
        }
    }

    fn read(mut pipe: impl Read, sender: &Sender<Received>, piece: fn(Vec<u8>) -> Received, end: Received) {
        loop {
            let mut bytes = vec![0; PIECE];
            let count = pipe.read(&mut bytes).unwrap_or(0);
            bytes.truncate(count);
            if count == 0 || sender.send(piece(bytes)).is_err() {
                break;
            }
        }
        // Sending fails if the receiver is gone.
        sender.send(end).ok();
    }
}
