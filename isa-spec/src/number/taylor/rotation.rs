//! Rotation of points of series, as a bijection of their coefficients. If the plain system's rotation is
//! exactly invertible, the rotation of series is exactly invertible, too. The only functions of series that
//! this module uses are sine and cosine.
//!
//! Every coefficient of the point is rotated by the angle's primal. The rest of the angle then adds to each
//! coefficient a number computed from lower coefficients. Forward rotation proceeds from the highest
//! coefficient to the lowest, so that lower ones are still unchanged when they are used. Backward rotation
//! proceeds in the opposite order.

use super::TaylorReals;
use super::arithmetic::CoefficientArithmetic;
use super::series::Jet;
use crate::fault::Eval;

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// Rotates a point by an angle.
    pub fn turn(
        &self,
        mut x: Jet<R, N>,
        mut y: Jet<R, N>,
        angle: &Jet<R, N>,
    ) -> Eval<(Jet<R, N>, Jet<R, N>)> {
        for (x, y) in x.0.iter_mut().zip(&mut y.0).take(self.count()) {
            [*x, *y] = self.plain.rotate(*x, *y, angle.primal())?;
        }
        if !angle.is_constant() {
            let turn = self.waves_of_departure(angle)?;
            for k in (1..self.count()).rev() {
                let [to_x, to_y] = self.gain(&turn, &x, &y, k)?;
                x.0[k] = self.plain.add(x.0[k], to_x)?;
                y.0[k] = self.plain.add(y.0[k], to_y)?;
            }
        }
        Ok((x, y))
    }

    /// Rotates a point by the negated angle.
    pub fn turn_back(
        &self,
        mut x: Jet<R, N>,
        mut y: Jet<R, N>,
        angle: &Jet<R, N>,
    ) -> Eval<(Jet<R, N>, Jet<R, N>)> {
        if !angle.is_constant() {
            let turn = self.waves_of_departure(angle)?;
            for k in 1..self.count() {
                let [to_x, to_y] = self.gain(&turn, &x, &y, k)?;
                x.0[k] = self.plain.sub(x.0[k], to_x)?;
                y.0[k] = self.plain.sub(y.0[k], to_y)?;
            }
        }
        for (x, y) in x.0.iter_mut().zip(&mut y.0).take(self.count()) {
            [*x, *y] = self.plain.rotate_back(*x, *y, angle.primal())?;
        }
        Ok((x, y))
    }

    /// Returns the contribution of lower coefficients to coefficient k of a rotated point: coefficient k of
    /// x·cos - y·sin and of x·sin + y·cos, without the terms x_k·1 and y_k·1.
    fn gain(
        &self,
        [sine, cosine]: &[Jet<R, N>; 2],
        x: &Jet<R, N>,
        y: &Jet<R, N>,
        k: usize,
    ) -> Eval<[R::Cell; 2]> {
        let part = |wave, coordinate| self.convolved(wave, coordinate, k, 1..k + 1);
        let to_x = self.plain.sub(part(cosine, x)?, part(sine, y)?)?;
        let to_y = self.plain.add(part(sine, x)?, part(cosine, y)?)?;
        Ok([to_x, to_y])
    }
}
