//! Timing of several pieces of work. The pieces take turns, so that disturbances affect all of them alike. The best
//! time of each piece counts.

use std::time::{Duration, Instant};

/// Work that is timed repeatedly.
pub struct TimedWork<'w, E> {
    work: Box<dyn FnMut() -> Result<(), E> + 'w>,
    /// Number of executions of the work in one timed part.
    repeats: u32,
    best: Duration,
    /// Duration of one execution before the timed parts.
    first: Duration,
}

/// Target duration of a timed part. It is much longer than the resolution of the clock.
const PART: Duration = Duration::from_millis(1);
const MOST_REPEATS: u32 = 1 << 16;
/// Work whose first execution takes at least this long isn't executed a second time before the timed parts. At this
/// duration, cold caches don't matter.
const LONG: Duration = Duration::from_millis(100);

impl<'w, E> TimedWork<'w, E> {
    /// Runs the work once, and a second time if the first run was quick. The second run has warm caches; its duration
    /// determines the number of repetitions in a timed part.
    pub fn new(work: impl FnMut() -> Result<(), E> + 'w) -> Result<TimedWork<'w, E>, E> {
        let mut timed =
            TimedWork { work: Box::new(work), repeats: 1, best: Duration::MAX, first: Duration::ZERO };
        timed.round()?;
        if timed.best < LONG {
            timed.best = Duration::MAX;
            timed.round()?;
        }
        timed.first = timed.best;
        let once = timed.best.max(Duration::from_nanos(1));
        let repeats = u32::try_from(PART.as_nanos() / once.as_nanos()).unwrap_or(MOST_REPEATS);
        timed.repeats = repeats.clamp(1, MOST_REPEATS);
        timed.best = Duration::MAX;
        Ok(timed)
    }

    fn round(&mut self) -> Result<(), E> {
        let start = Instant::now();
        for _ in 0..self.repeats {
            (self.work)()?;
        }
        self.best = self.best.min(start.elapsed());
        Ok(())
    }

    /// Returns the duration of one execution in the best timed part. If no timed part was completed, returns the
    /// duration of one execution before the timed parts.
    pub fn seconds(&self) -> f64 {
        let is_timed = self.best < Duration::MAX;
        if is_timed { self.best.as_secs_f64() / f64::from(self.repeats) } else { self.first.as_secs_f64() }
    }
}

/// Times all pieces of work in turns until a time point: each equally often, and at least once. Returns the number of
/// complete rounds, and the error if an error ended the last round early.
pub fn in_turns<E>(works: &mut [TimedWork<'_, E>], until: Instant) -> (u64, Result<(), E>) {
    let mut rounds = 0;
    loop {
        if let Err(error) = works.iter_mut().try_for_each(TimedWork::round) {
            return (rounds, Err(error));
        }
        rounds += 1;
        if Instant::now() >= until {
            return (rounds, Ok(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_timed_at_least_once() {
        let mut counts = [0; 2];
        let [first, second] = &mut counts;
        let quick = TimedWork::new(|| {
            *first += 1;
            Ok::<(), ()>(())
        });
        let slow = TimedWork::new(|| {
            std::thread::sleep(Duration::from_millis(3));
            *second += 1;
            Ok(())
        });
        let mut works = [quick.unwrap(), slow.unwrap()];
        assert_eq!(in_turns(&mut works, Instant::now()), (1, Ok(())));
        let [quick, slow] = works.each_ref().map(TimedWork::seconds);
        assert!(slow >= 0.003 && quick < 0.001);
        drop(works);
        assert!(counts[0] > 100 && counts[1] == 3, "{counts:?}");
    }

    #[test]
    fn a_failure_ends_the_measurement() {
        let mut left = 4;
        let work = TimedWork::new(|| {
            left -= 1;
            std::thread::sleep(Duration::from_millis(2));
            if left == 0 { Err("broken") } else { Ok(()) }
        });
        let until = Instant::now() + Duration::from_secs(60);
        assert_eq!(in_turns(&mut [work.unwrap()], until), (1, Err("broken")));
    }
}
