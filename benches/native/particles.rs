//! Four particles in a force field with friction, as in `programs/particles.rasm`. This module depends on no machine.

use std::hint::black_box;

use super::model::{Model, vacate};

const PARTICLES: usize = 4;
const STEPS: usize = 1000;

/// Length of a time step.
const H: f64 = 0.05;

/// Factor by which a time step multiplies areas in phase space.
const SHRINK: f64 = 1.0 - 0.2 * H + 0.5 * H * H;
/// Factor by which the unit of length shrinks in each step: the square root of [`SHRINK`].
const UNIT: f64 = 0.995_615_387_586_993_9;

/// Factor of the first of the three shears of a step. The shears use the unit of length that shrinks by [`UNIT`] in
/// each step.
const FIRST_KICK: f64 = (1.0 - UNIT) / H;
/// Factor of the second shear of a step.
const DRIFT: f64 = H / UNIT;
/// Factor of the third shear of a step.
const SECOND_KICK: f64 = FIRST_KICK - 0.2;

/// Tolerance within which a float counts as vacant.
const TOLERANCE: f64 = 1e-9;

/// One number for each particle.
type Each = [f64; PARTICLES];

/// Positions and velocities of the particles.
#[derive(Clone, Copy)]
pub struct Particles {
    pub x: Each,
    pub y: Each,
    pub vx: Each,
    pub vy: Each,
}

impl Model for Particles {
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)> {
        [("x", self.x), ("y", self.y), ("vx", self.vx), ("vy", self.vy)]
            .map(|(name, values)| (name, values.to_vec()))
            .into()
    }

    fn objective(&self) -> f64 {
        self.moved().loss()
    }

    fn reversible(&self) -> f64 {
        let mut now = *self;
        let mut scale = 0.0;
        scale += SHRINK.powi(STEPS as i32);
        for _ in 0..STEPS {
            for particle in 0..PARTICLES {
                advance(&mut now.x[particle], &mut now.vx[particle]);
                advance(&mut now.y[particle], &mut now.vy[particle]);
            }
        }
        let mut loss = 0.0;
        for (x, y) in now.x.iter().zip(&now.y) {
            let mut product = x * y;
            loss += product * scale;
            product -= x * y;
            vacate(&mut product, TOLERANCE);
        }
        for _ in 0..STEPS {
            for particle in (0..PARTICLES).rev() {
                retreat(&mut now.y[particle], &mut now.vy[particle]);
                retreat(&mut now.x[particle], &mut now.vx[particle]);
            }
        }
        scale -= SHRINK.powi(STEPS as i32);
        vacate(&mut scale, TOLERANCE);
        // The backward run is part of the work, although its result isn't read.
        black_box(now);
        loss
    }

    /// A step is linear, so its adjoint depends on neither positions nor velocities.
    fn gradient(&self, gradient: &mut [f64]) -> f64 {
        let end = self.moved();
        let (mut x, mut y) = (end.y, end.x);
        let (mut vx, mut vy) = ([0.0; PARTICLES], [0.0; PARTICLES]);
        for _ in 0..STEPS {
            for particle in 0..PARTICLES {
                adjoint_step(&mut x[particle], &mut vx[particle]);
                adjoint_step(&mut y[particle], &mut vy[particle]);
            }
        }
        for (part, values) in gradient.chunks_exact_mut(PARTICLES).zip([x, y, vx, vy]) {
            part.copy_from_slice(&values);
        }
        end.loss()
    }
}

impl Particles {
    fn moved(&self) -> Particles {
        let mut now = *self;
        for _ in 0..STEPS {
            for particle in 0..PARTICLES {
                euler(&mut now.x[particle], &mut now.vx[particle]);
                euler(&mut now.y[particle], &mut now.vy[particle]);
            }
        }
        now
    }

    fn loss(&self) -> f64 {
        self.x.iter().zip(&self.y).map(|(x, y)| x * y).sum()
    }
}

/// Advances one coordinate by an explicit Euler step.
#[inline(always)]
fn euler(p: &mut f64, v: &mut f64) {
    let force = -0.5 * *p - 0.2 * *v;
    *p += H * *v;
    *v += H * force;
}

/// Transposed Euler step on adjoints: p' -= h/2·v' and v' += h·p' - h/5·v'.
#[inline(always)]
fn adjoint_step(p: &mut f64, v: &mut f64) {
    let gained = H * *p - 0.2 * H * *v;
    *p -= 0.5 * H * *v;
    *v += gained;
}

/// Advances one coordinate by a step of three shears.
#[inline(always)]
fn advance(p: &mut f64, v: &mut f64) {
    *v += *p * FIRST_KICK;
    *p += *v * DRIFT;
    *v += *p * SECOND_KICK;
}

/// Inverse of `advance`.
#[inline(always)]
fn retreat(p: &mut f64, v: &mut f64) {
    *v -= *p * SECOND_KICK;
    *p -= *v * DRIFT;
    *v -= *p * FIRST_KICK;
}
