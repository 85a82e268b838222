//! Derived by `tests/elementary/constants/roots.rs`: not to be edited.

use super::RootsConstants;

pub const DOUBLE: RootsConstants = RootsConstants {
    enlarged: 54,
    lift: 0,
    upper: -68719476736,
    cube_root: &[
        0.4271992078573546,
        1.0494919967917438,
        -0.8763453843873725,
        0.629773233237034,
        -0.3133092283040934,
        0.10019650911433674,
        -0.01850623587250941,
        0.0014999374772160568,
    ],
    root_of_powers: &[
        0x3ff0000000000000, 0x3ff428a2f98d728b, 0x3ff965fea53d6e3d, 0x0,
    ],
    root_series: &[
        0.3333333333333333,
        -0.1111111111111111,
        0.06172839506172839,
        -0.0411522633744856,
    ],
    reach: 2.9073548971824276e135,
};

pub const SINGLE: RootsConstants = RootsConstants {
    enlarged: 24,
    lift: 2,
    upper: -65536,
    cube_root: &[
        0.5557909607887268,
        0.5808264017105103,
        -0.15866245329380035,
        0.022148698568344116,
    ],
    root_of_powers: &[
        0x3f800000, 0x3fa14518, 0x3fcb2ff5, 0x0,
    ],
    root_series: &[
        0.3333333432674408,
        -0.1111111119389534,
        0.06172839552164078,
    ],
    reach: 35184372088832.0,
};
