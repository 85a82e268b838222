//! Residuals of one observation with handwritten derivatives, as in `programs/bundle_adjustment.rasm`: Rodrigues
//! rotation, projection, radial distortion. This module depends on no machine.

/// Number of camera parameters.
pub const CAMERA: usize = 11;
/// Number of inputs: the camera parameters, the three coordinates of the point, and the weight.
pub const INPUTS: usize = CAMERA + 3 + 1;

/// Values and derivatives of one observation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reprojection {
    /// Two residuals, and the residual of the weight.
    pub values: [f64; 3],
    /// Derivatives of the first two residuals by camera, point and weight, in this order.
    pub rows: [[f64; INPUTS]; 2],
    /// Derivative of the third residual by the weight.
    pub weight: f64,
}

type Vector = [f64; 3];

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Rotates a point, and returns it with the columns of its derivatives by rotation and point.
fn turned(rotation: Vector, point: Vector) -> (Vector, [Vector; 3], [Vector; 3]) {
    const UNITS: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let square = dot(rotation, rotation);
    if square == 0.0 {
        let across = cross(rotation, point);
        let turned = std::array::from_fn(|i| point[i] + across[i]);
        let by_point = UNITS.map(|unit| {
            let across = cross(rotation, unit);
            std::array::from_fn(|i| unit[i] + across[i])
        });
        return (turned, UNITS.map(|unit| cross(unit, point)), by_point);
    }
    let angle = square.sqrt();
    let (sine, cosine) = angle.sin_cos();
    let versine = 2.0 * (angle * 0.5).sin().powi(2);
    let axis = rotation.map(|part| part / angle);
    let (across, along) = (cross(axis, point), dot(axis, point));
    let turn = |p: Vector, across: Vector, along: f64| -> Vector {
        std::array::from_fn(|i| p[i] * cosine + across[i] * sine + axis[i] * along * versine)
    };
    let by_point = UNITS.map(|unit| turn(unit, cross(axis, unit), dot(axis, unit)));
    let by_rotation = std::array::from_fn(|j| {
        let moved: Vector = std::array::from_fn(|i| (UNITS[j][i] - axis[i] * axis[j]) / angle);
        let (moved_across, moved_along) = (cross(moved, point), dot(moved, point));
        std::array::from_fn(|i| {
            axis[j] * (across[i] * cosine - point[i] * sine + axis[i] * along * sine)
                + moved_across[i] * sine
                + (moved[i] * along + axis[i] * moved_along) * versine
        })
    });
    (turn(point, across, along), by_rotation, by_point)
}

/// Computes the residuals of an observation and their derivatives.
pub fn jacobian(camera: &[f64; CAMERA], point: Vector, weight: f64, seen: [f64; 2]) -> Reprojection {
    let [a, b, c, centre @ .., focal, _, _, near, far] = *camera;
    let centre: [f64; 3] = centre;
    let offset = std::array::from_fn(|i| point[i] - centre[i]);
    let (p, by_rotation, by_point) = turned([a, b, c], offset);
    let (x, y) = (p[0] / p[2], p[1] / p[2]);
    let square = x * x + y * y;
    let factor = 1.0 + near * square + far * square * square;
    let scale = focal * factor;
    let slope = focal * (near + 2.0 * far * square) * 2.0;
    let by_image = [[scale + slope * x * x, slope * x * y], [slope * x * y, scale + slope * y * y]];
    let mut found = Reprojection { weight: -2.0 * weight, ..Reprojection::default() };
    for row in 0..2 {
        let image = [x, y][row];
        let error = scale * image + camera[7 + row] - seen[row];
        found.values[row] = weight * error;
        let [by_x, by_y] = by_image[row];
        let by_p = [by_x / p[2], by_y / p[2], -(by_x * x + by_y * y) / p[2]].map(|part| part * weight);
        let own = &mut found.rows[row];
        for i in 0..3 {
            own[i] = dot(by_p, by_rotation[i]);
            own[CAMERA + i] = dot(by_p, by_point[i]);
            own[3 + i] = -own[CAMERA + i];
        }
        own[6] = weight * factor * image;
        own[7 + row] = weight;
        own[9] = weight * focal * square * image;
        own[10] = weight * focal * square * square * image;
        own[INPUTS - 1] = error;
    }
    found.values[2] = 1.0 - weight * weight;
    found
}
