//! Playback: steps at a chosen speed, in either direction, until the run stops.

use std::time::Duration;

use reviver_vm::Travel;

/// State and speed of the playback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Player {
    /// The direction of playback, also while paused.
    pub travel: Travel,
    pub is_playing: bool,
    /// Binary logarithm of the speed in steps per second.
    exponent: u32,
    /// Number of steps that are due but not yet executed, with a fraction.
    due: f64,
}

/// Largest exponent: about a million steps per second.
const FASTEST: u32 = 20;

/// Time between two ticks during playback. If a tick is later than four times this time, the excess isn't counted
/// as elapsed time.
pub const TICK: Duration = Duration::from_millis(33);

impl Player {
    pub fn new() -> Player {
        Player { travel: Travel::Forward, is_playing: false, exponent: 3, due: 0.0 }
    }

    /// Returns the speed in steps per second.
    pub fn speed(&self) -> u64 {
        1 << self.exponent
    }

    /// Starts playback in a direction. If playback already runs in that direction, pauses it.
    pub fn toggle(&mut self, travel: Travel) {
        self.is_playing = !(self.is_playing && self.travel == travel);
        self.travel = travel;
        self.due = 0.0;
    }

    pub fn pause(&mut self) {
        self.is_playing = false;
    }

    pub fn travel_name(&self) -> &'static str {
        match self.travel {
            Travel::Forward => "forward",
            Travel::Backward => "backward",
        }
    }

    pub fn faster(&mut self) {
        self.exponent = (self.exponent + 1).min(FASTEST);
    }

    pub fn slower(&mut self) {
        self.exponent = self.exponent.saturating_sub(1);
    }

    /// Returns the number of steps due after the elapsed time.
    pub fn tick(&mut self, elapsed: Duration) -> u64 {
        if !self.is_playing {
            return 0;
        }
        self.due += elapsed.min(4 * TICK).as_secs_f64() * self.speed() as f64;
        let steps = self.due.floor();
        self.due -= steps;
        steps as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn playing_makes_the_steps_per_second_of_its_speed() {
        let mut player = Player::new();
        assert_eq!(player.tick(TICK), 0);
        player.toggle(Travel::Backward);
        for _ in 0..2 {
            player.faster();
        }
        let steps: u64 = (0..40).map(|_| player.tick(Duration::from_millis(25))).sum();
        assert!((31..=32).contains(&steps), "{steps}");
        player.toggle(Travel::Backward);
        assert!(!player.is_playing);
    }

    #[test]
    fn speed_has_bounds() {
        let mut player = Player::new();
        (0..40).for_each(|_| player.slower());
        assert_eq!(player.speed(), 1);
        (0..40).for_each(|_| player.faster());
        assert_eq!(player.speed(), 1 << FASTEST);
    }
}
