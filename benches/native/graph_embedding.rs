//! Embedding loss of the Petersen graph, as in `programs/graph_embedding.rasm`. This module depends on no machine.

use super::model::{Model, vacate};

/// Number of coordinates that are stored for a vertex. The first `dimensions` of them are used.
const MOST: usize = 10;
const COORDINATES: usize = 10 * MOST;

const EDGES: usize = 15;
const OTHERS: usize = 30;
const MARGIN: f64 = 0.1;

/// Tolerance within which a float counts as vacant.
const TOLERANCE: f64 = 1e-9;

/// Pair of vertex indices.
type Pair = (usize, usize);

/// Edges of the graph: pentagon 0…4, pentagram 5…9, and spokes.
const EDGE_PAIRS: [Pair; EDGES] = pairs([(0, 5, 0), (0, 0, 1), (5, 5, 2)]);
const OTHER_PAIRS: [Pair; OTHERS] = pairs([(0, 0, 2), (5, 5, 1), (0, 5, 1), (0, 5, 2), (0, 5, 3), (0, 5, 4)]);

/// Returns vertex pairs: group (p, q, turn) joins vertex p + i to vertex q + (i + turn) mod 5, for each i from 0 to 4.
const fn pairs<const GROUPS: usize, const N: usize>(groups: [(usize, usize, usize); GROUPS]) -> [Pair; N] {
    let mut pairs = [(0, 0); N];
    let mut n = 0;
    while n < N {
        let ((p, q, turn), i) = (groups[n / 5], n % 5);
        pairs[n] = (p + i, q + (i + turn) % 5);
        n += 1;
    }
    pairs
}

/// Ten points, with the first `dimensions` coordinates in use.
pub struct Embedding {
    pub dimensions: usize,
    pub x: [f64; COORDINATES],
}

impl Embedding {
    /// Returns points without symmetry.
    pub fn of_sines(dimensions: usize) -> Embedding {
        let x = std::array::from_fn(|n| {
            let (v, d) = ((n / MOST + 1) as f64, (n % MOST + 1) as f64);
            (1.0 + 0.37 * d + 1.93 * v + 0.11 * d * v).sin()
        });
        Embedding { dimensions, x }
    }

    fn vertex(&self, v: usize) -> &[f64] {
        &self.x[v * MOST..][..self.dimensions]
    }

    fn distance(&self, (u, v): Pair) -> f64 {
        let gaps = self.vertex(u).iter().zip(self.vertex(v)).map(|(p, q)| p - q);
        gaps.map(|gap| gap * gap).sum::<f64>().sqrt()
    }

    fn edges(&self) -> Lengths<EDGES> {
        Lengths::of(EDGE_PAIRS.map(|pair| self.distance(pair)))
    }

    fn others(&self) -> Lengths<OTHERS> {
        Lengths::of(OTHER_PAIRS.map(|pair| self.distance(pair)))
    }
}

/// Distances of pairs, and their mean.
struct Lengths<const N: usize> {
    each: [f64; N],
    mean: f64,
}

impl<const N: usize> Lengths<N> {
    fn of(each: [f64; N]) -> Lengths<N> {
        Lengths { each, mean: each.iter().sum::<f64>() / N as f64 }
    }

    fn variance(&self) -> f64 {
        let deviations = self.each.iter().map(|length| length - self.mean);
        deviations.map(|deviation| deviation * deviation).sum::<f64>() / (N - 1) as f64
    }

    /// Propagates the adjoints of the distances, and of their mean, to the coordinates.
    fn carry_back(&self, pairs: &[Pair; N], mean_adjoint: f64, points: &Embedding, x: &mut [f64]) {
        // Each distance contributes equally to the mean, and by its deviation to the variance.
        let steepness = 2.0 / (N - 1) as f64;
        let constant = mean_adjoint / N as f64 - steepness * self.mean;
        for (&(u, v), &length) in pairs.iter().zip(&self.each) {
            let share = steepness + constant / length;
            let mut changes = [0.0; MOST];
            for ((change, p), q) in changes.iter_mut().zip(points.vertex(u)).zip(points.vertex(v)) {
                *change = share * (p - q);
            }
            let (u, v) = (u * MOST, v * MOST);
            x[u..u + points.dimensions].iter_mut().zip(&changes).for_each(|(x, change)| *x += change);
            x[v..v + points.dimensions].iter_mut().zip(&changes).for_each(|(x, change)| *x -= change);
        }
    }
}

impl Model for Embedding {
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("x", self.x.to_vec())]
    }

    fn objective(&self) -> f64 {
        let (edges, others) = (self.edges(), self.others());
        edges.variance() + others.variance() + penalty(edges.mean - others.mean + MARGIN)
    }

    fn reversible(&self) -> f64 {
        let mut ancillas = Ancillas::new();
        ancillas.compute(self);
        let mut loss = 0.0;
        add_variance(&mut loss, &ancillas.edges, ancillas.edge);
        add_variance(&mut loss, &ancillas.others, ancillas.other);
        loss += ancillas.positive.exp();
        loss -= 1.0;
        ancillas.uncompute(self);
        loss
    }

    fn gradient(&self, gradient: &mut [f64]) -> f64 {
        let (edges, others) = (self.edges(), self.others());
        let excess = edges.mean - others.mean + MARGIN;
        let slope = if excess > 0.0 { excess.exp() } else { 0.0 };
        gradient.fill(0.0);
        edges.carry_back(&EDGE_PAIRS, slope, self, gradient);
        others.carry_back(&OTHER_PAIRS, -slope, self, gradient);
        edges.variance() + others.variance() + penalty(excess)
    }
}

fn penalty(excess: f64) -> f64 {
    if excess > 0.0 { excess.exp() - 1.0 } else { 0.0 }
}

/// Ancillas of the program: means, and the distance and squared distance of each pair.
struct Ancillas {
    edge_squares: [f64; EDGES],
    other_squares: [f64; OTHERS],
    edges: [f64; EDGES],
    others: [f64; OTHERS],
    edge: f64,
    other: f64,
    excess: f64,
    positive: f64,
}

impl Ancillas {
    fn new() -> Ancillas {
        Ancillas {
            edge_squares: [0.0; EDGES],
            other_squares: [0.0; OTHERS],
            edges: [0.0; EDGES],
            others: [0.0; OTHERS],
            edge: 0.0,
            other: 0.0,
            excess: 0.0,
            positive: 0.0,
        }
    }

    fn compute(&mut self, points: &Embedding) {
        add_distances(&EDGE_PAIRS, points, &mut self.edge_squares, &mut self.edges);
        add_distances(&OTHER_PAIRS, points, &mut self.other_squares, &mut self.others);
        self.edges.iter().for_each(|length| self.edge += length * (1.0 / EDGES as f64));
        self.others.iter().for_each(|length| self.other += length * (1.0 / OTHERS as f64));
        self.excess += self.edge - self.other;
        self.excess += MARGIN;
        self.positive += self.excess.max(0.0);
    }

    fn uncompute(&mut self, points: &Embedding) {
        self.positive -= self.excess.max(0.0);
        self.excess -= MARGIN;
        self.excess -= self.edge - self.other;
        self.others.iter().rev().for_each(|length| self.other -= length * (1.0 / OTHERS as f64));
        self.edges.iter().rev().for_each(|length| self.edge -= length * (1.0 / EDGES as f64));
        subtract_distances(&OTHER_PAIRS, points, &mut self.other_squares, &mut self.others);
        subtract_distances(&EDGE_PAIRS, points, &mut self.edge_squares, &mut self.edges);
        for ancilla in [&mut self.edge, &mut self.other, &mut self.excess, &mut self.positive] {
            vacate(ancilla, TOLERANCE);
        }
    }
}

fn add_distances<const N: usize>(
    pairs: &[Pair; N],
    points: &Embedding,
    squares: &mut [f64; N],
    distances: &mut [f64; N],
) {
    for ((&(u, v), square), distance) in pairs.iter().zip(squares).zip(distances) {
        for (&p, &q) in points.vertex(u).iter().zip(points.vertex(v)) {
            with_difference(p, q, |gap| *square += gap * gap);
        }
        *distance += square.sqrt();
    }
}

fn subtract_distances<const N: usize>(
    pairs: &[Pair; N],
    points: &Embedding,
    squares: &mut [f64; N],
    distances: &mut [f64; N],
) {
    for ((&(u, v), square), distance) in pairs.iter().zip(squares).zip(distances).rev() {
        *distance -= square.sqrt();
        for (&p, &q) in points.vertex(u).iter().zip(points.vertex(v)).rev() {
            with_difference(p, q, |gap| *square -= gap * gap);
        }
        vacate(square, TOLERANCE);
        vacate(distance, TOLERANCE);
    }
}

/// Adds the variance of distances, y += Σ (v[i] - mean)² / (n - 1).
fn add_variance<const N: usize>(y: &mut f64, v: &[f64; N], mean: f64) {
    let mut degrees = N as f64;
    degrees -= 1.0;
    for &length in v {
        with_difference(length, mean, |gap| {
            let mut square = gap * gap;
            *y += square / degrees;
            square -= gap * gap;
            vacate(&mut square, TOLERANCE);
        });
    }
    degrees += 1.0;
    degrees -= N as f64;
    vacate(&mut degrees, TOLERANCE);
}

/// Passes the difference of two numbers to `apply`, and uncomputes it.
#[inline(always)]
fn with_difference(p: f64, q: f64, apply: impl FnOnce(f64)) {
    let mut gap = p - q;
    apply(gap);
    gap -= p - q;
    vacate(&mut gap, TOLERANCE);
}
