//! Values at evenly spaced distances along a run of unknown length. If there are too many values, the spacing doubles
//! and every other value is removed. The module is independent of the kind of values.

/// Values at multiples of a spacing. Value n is at distance (n + 1) · spacing.
#[derive(Clone, Debug)]
pub struct Spaced<T> {
    spacing: u64,
    values: Vec<T>,
}

impl<T> Spaced<T> {
    /// Creates an empty list with an initial spacing.
    pub fn new(spacing: u64) -> Spaced<T> {
        Spaced { spacing: spacing.max(1), values: Vec::new() }
    }

    /// Returns the distance at which the next value is due.
    pub fn due(&self) -> u64 {
        (self.values.len() as u64 + 1) * self.spacing
    }

    /// Adds the value that is due, and keeps at most `most` values.
    pub fn add(&mut self, value: T, most: usize) {
        self.values.push(value);
        while self.values.len() > most.max(1) {
            self.thin();
        }
    }

    /// Doubles the spacing and removes every other value.
    pub fn thin(&mut self) {
        self.spacing *= 2;
        let mut number = 0;
        self.values.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    }

    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Returns the values at distances up to `distance`, in ascending order.
    pub fn up_to(&self, distance: u64) -> &[T] {
        let number = (distance / self.spacing).min(self.values.len() as u64) as usize;
        &self.values[..number]
    }

    /// Returns the furthest value at a distance of at most `distance`.
    pub fn before(&self, distance: u64) -> Option<&T> {
        self.up_to(distance).last()
    }

    /// Returns the current spacing.
    pub fn spacing(&self) -> u64 {
        self.spacing
    }

    /// Iterates over the values with their distances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (1..).map(|n| n * self.spacing).zip(&self.values)
    }

    /// Iterates over the values with their distances, for mutation.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        let spacing = self.spacing;
        (1..).map(move |n| n * spacing).zip(&mut self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_stay_evenly_spaced_and_bounded() {
        let mut spaced = Spaced::new(3);
        for distance in 1..1_000_u64 {
            if distance == spaced.due() {
                spaced.add(distance, 16);
            }
            assert!(spaced.iter().all(|(at, &value)| at == value) && spaced.iter().count() <= 16);
            let furthest = spaced.iter().map(|(at, _)| at).filter(|&at| at <= 100).max();
            assert_eq!(spaced.before(100).copied(), furthest);
        }
        assert_eq!(spaced.iter().map(|(at, _)| at).next(), Some(96));
    }
}
