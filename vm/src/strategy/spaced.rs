//! Values at evenly spaced distances along a way whose length isn't known before: whenever there are
//! too many the spacing doubles, and every other one goes. Knows nothing of what the values are.

/// Values at multiples of a spacing. The n-th is at distance (n + 1) · spacing.
#[derive(Clone, Debug)]
pub struct Spaced<T> {
    spacing: u64,
    values: Vec<T>,
}

impl<T> Spaced<T> {
    /// None yet. `spacing` is the distance between two of them at first.
    pub fn new(spacing: u64) -> Spaced<T> {
        Spaced { spacing: spacing.max(1), values: Vec::new() }
    }

    /// The distance at which the next one is due.
    pub fn due(&self) -> u64 {
        (self.values.len() as u64 + 1) * self.spacing
    }

    /// Takes the one that is due, and keeps no more than `most`.
    pub fn add(&mut self, value: T, most: usize) {
        self.values.push(value);
        while self.values.len() > most.max(1) {
            self.thin();
        }
    }

    /// Doubles the spacing: every other one goes.
    pub fn thin(&mut self) {
        self.spacing *= 2;
        let mut number = 0;
        self.values.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Those that are at most so far away, the furthest last.
    pub fn up_to(&self, distance: u64) -> &[T] {
        let number = (distance / self.spacing).min(self.values.len() as u64) as usize;
        &self.values[..number]
    }

    /// The furthest one that is at most so far away.
    pub fn before(&self, distance: u64) -> Option<&T> {
        self.up_to(distance).last()
    }

    /// The distance between two of them now.
    pub fn spacing(&self) -> u64 {
        self.spacing
    }

    /// All of them, with their distances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (1..).map(|n| n * self.spacing).zip(&self.values)
    }

    /// All of them, with their distances, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        let spacing = self.spacing;
        (1..).map(move |n| n * spacing).zip(&mut self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stay_evenly_spaced_and_few() {
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
