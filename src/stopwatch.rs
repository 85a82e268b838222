//! Times of pieces of work: the best of many rounds, in which they take turns, so that a noisy moment hits all alike. Knows no
//! program.

use std::time::{Duration, Instant};

/// A piece of work that is timed over and over.
pub struct TimedWork<'w, E> {
    work: Box<dyn FnMut() -> Result<(), E> + 'w>,
    /// So often it is done in one timed part.
    repeats: u32,
    best: Duration,
    /// The time that it took before it was timed in parts.
    first: Duration,
}

/// One timed part takes about so long, so that the clock's own time doesn't count.
const PART: Duration = Duration::from_millis(1);
const MOST_REPEATS: u32 = 1 << 16;
/// What takes so long takes as long the first time.
const LONG: Duration = Duration::from_millis(100);

impl<'w, E> TimedWork<'w, E> {
    /// Does it once, and again if that was quick, which tells how often to do it in a timed part: what is done for the first time,
    /// with cold caches, is no measure for what is done often.
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

    /// The time of one execution in the best of the timed parts; the first time if no part reached its end.
    pub fn seconds(&self) -> f64 {
        let is_timed = self.best < Duration::MAX;
        if is_timed { self.best.as_secs_f64() / f64::from(self.repeats) } else { self.first.as_secs_f64() }
    }
}

/// Times all pieces in turns until a time point, each as often as the others and at least once; how many rounds came to their end, and
/// what has ended the last one.
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
    fn what_fails_ends_it() {
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
