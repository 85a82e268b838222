//! The constants of the elementary functions, as integers.
//!
//! The literals were computed with mpmath at 600 bits and rounded to nearest (2/pi: down). Each one has its
//! expression in the comment, and the tests below recompute all of them with another library. The
//! coefficients of the power series are computed here, at compile time.

use super::wide::ONE;

/// ln 2 with 120 fraction bits: `nint(log(2) * 2**120)`.
pub(super) const LN_2: u128 = 0x00b17217_f7d1cf79_abc9e3b3_9803f2f7;

/// 1 / ln 2 with 62 fraction bits: `nint(2**62 / log(2))`.
pub(super) const LOG2_E: u128 = 0x5c551d94_ae0bf85e;

/// pi with 126 fraction bits, which is pi / 2 as a unit: `nint(pi * 2**126)`.
pub(super) const PI_126: u128 = 0xc90fdaa2_2168c234_c4c6628b_80dc1cd1;

/// 2 / pi with 192 fraction bits, the upper limb first: `floor(2**193 / pi)`.
pub(super) const TWO_OVER_PI: [u128; 3] = [0xa2f9836e_4e441529, 0xfc2757d1_f534ddc0, 0xdb629599_3c439041];

/// 2/sqrt(pi) as a unit: `nint(2 / sqrt(pi) * 2**127)`.
pub(super) const ERF_SLOPE: u128 = 0x906eba82_14db688d_71d48a7f_6bfec344;

/// ln(2 pi)/2 with 120 fraction bits: `nint(log(2 * pi) / 2 * 2**120)`.
pub(super) const HALF_LN_TAU: u128 = 0x00eb3f8e_4325f5a5_3494bc90_01441920;

/// The number of table steps per unit.
pub(super) const STEPS: u128 = 32;

/// ln(1 + j/32) with 120 fraction bits: `nint(log(1 + mpf(j)/32) * 2**120)`.
pub(super) static LN_TABLE: [u128; 33] = [
    0x00000000_00000000_00000000_00000000,
    0x0007e0a6_c39e0cc0_133e3f04_f1ef22a0,
    0x000f8518_6008b153_30be64b8_b7759979,
    0x0016f0d2_8ae56b4b_9be499b9_ed19b641,
    0x001e2707_6e2af2e5_e9ea87ff_e1fe9e15,
    0x00252aa5_f03fea46_980bb8e2_03edf4d1,
    0x002bfe60_e14f27a7_90e7c414_0e424776,
    0x0032a4b5_39e8ad68_ec8260ea_71712cec,
    0x00391fef_8f353443_584bb03d_e5ff7345,
    0x003f7230_dabc7c55_1aaa8cd8_6f29a594,
    0x00459d72_aeae9838_0e731f55_c41b8b82,
    0x004ba38a_eb8474c2_70b3246a_14206cf3,
    0x0051862f_08717b09_f42decde_ccf1cd10,
    0x005746f6_fd602729_4236383d_c7fe115a,
    0x005ce75f_daef401a_7389314f_eb4fbde6,
    0x006268ce_1b05096a_d69c6204_40f055b4,
    0x0067cc8f_b2fe612f_cada35d9_bd014886,
    0x006d13dd_ef323d8a_32fbb6ab_a63878ef,
    0x00723fdf_1e6a6886_b097607b_cbfee689,
    0x007751a8_13071282_fb989a92_7476e1ff,
    0x007c4a3d_7ebc1bb2_cd720ec4_4c73d75d,
    0x00812a95_2d2e87f6_34e34aeb_f73ffe34,
    0x0085f397_21295415_b4c4bdd9_9effe69b,
    0x008aa61e_97a6af4d_4c799d1c_b2f14055,
    0x008f42fa_f3820681_ef62cd2f_9f1e35f3,
    0x0093caf0_944d88d7_5bc1f9ed_cb438ffc,
    0x00983eb9_9a7885f0_fdac850f_ab36cdee,
    0x009c9f06_9ab150cd_4e221301_b6f8c38f,
    0x00a0ec7f_42339573_2325e617_a300bbcb,
    0x00a527c2_ed81f5d8_113dfa3d_3761b631,
    0x00a95169_32de2d57_73be4578_ad97aea8,
    0x00ad6a02_61acf967_d94d552f_811cd408,
    0x00b17217_f7d1cf79_abc9e3b3_9803f2f7,
];

/// atan(j/32) with 120 fraction bits: `nint(atan(mpf(j)/32) * 2**120)`.
pub(super) static ATAN_TABLE: [u128; 33] = [
    0x00000000_00000000_00000000_00000000,
    0x0007ff55_6eea5d89_2a13bceb_bb6ed463,
    0x000ffaad_db967ef4_e36cb279_2dc0e2e1,
    0x0017ee18_2602f10e_8c126acf_cf099f07,
    0x001fd5ba_9aac2f6d_c65912f3_13e7d112,
    0x0027addd_d18cc4d8_b0d1d867_4940d840,
    0x002f72f6_979cb604_4d1ec2d3_e207271d,
    0x003721ae_a524c144_08bd8869_7072d54c,
    0x003eb6eb_f25901ba_c55b71e7_bd7de886,
    0x00462fd6_8c2fc5e0_986523a4_58dfc415,
    0x004d89dc_dc1faf2f_34e2d5da_4c693d7a,
    0x0054c2b6_65473527_6d4cdbfb_bdfbecf4,
    0x005bd865_07937bc2_39c55190_916e7f22,
    0x0062c934_e5286c95_b6d0ba37_48fa8514,
    0x006993bb_0f308ff2_db213e4a_f4800f39,
    0x007036d3_253b27be_33e318f6_cb3cc65c,
    0x0076b19c_1586ed3d_a2b7f222_f65e1d47,
    0x007d0374_2d50505f_2e33691e_3eaee476,
    0x00832bf4_a6d9867e_2a4b6a09_cb61a516,
    0x00892aec_dfde9547_b5094478_fc472b4b,
    0x008f005d_5ef7f59f_9b5c835e_1665c437,
    0x0094ac72_c9847186_f618c4f3_93f78a33,
    0x009a2f80_e671bdda_204226f8_e2204ff4,
    0x009f89fd_c4f4b7a1_ecf8b492_644f0702,
    0x00a4bc7d_1934f709_2419a87f_2a457dad,
    0x00a9c7ab_dc4830f5_c8916a84_b5be7934,
    0x00aeac4c_38b4d8c0_8014725e_2f3e5207,
    0x00b36b31_c91f0436_91590141_744462f9,
    0x00b8053e_2bc2319e_73cb2da5_5210a444,
    0x00bc7b5d_eae98af2_80d41130_06e80fb3,
    0x00c0ce85_b8ac5266_4089dd62_c46e92fa,
    0x00c4ffaf_fabf8fbd_548cb43d_10bc9e02,
    0x00c90fda_a22168c2_34c4c662_8b80dc1d,
];

/// 1/n!, 1/(n + 2)!, 1/(n + 4)!, ... as units, rounded down.
pub(super) const fn inverse_factorials<const N: usize>(mut n: u128) -> [u128; N] {
    let mut factorial = 1;
    let mut factor = 1;
    while factor < n {
        factor += 1;
        factorial *= factor;
    }
    let mut inverses = [0; N];
    let mut k = 0;
    while k < N {
        inverses[k] = ONE / factorial;
        factorial *= (n + 1) * (n + 2);
        n += 2;
        k += 1;
    }
    inverses
}

/// 1, 1/3, 1/5, ... as units, rounded down.
pub(super) const fn inverse_odds<const N: usize>() -> [u128; N] {
    let mut inverses = [0; N];
    let mut k = 0;
    while k < N {
        inverses[k] = ONE / (2 * k as u128 + 1);
        k += 1;
    }
    inverses
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;
    use std::fmt::Display;

    type Real = FBig<HalfEven, 2>;

    /// `numerator / denominator` with 400 bits.
    fn real(numerator: u64, denominator: u64) -> Real {
        let precise = |n: u64| Real::from(n).with_precision(400).value();
        precise(numerator) / precise(denominator)
    }

    fn assert_nearest(literal: impl Display, value: Real, bits: isize) {
        let nearest = (value << bits).round().to_int().value();
        assert_eq!(literal.to_string(), nearest.to_string());
    }

    #[test]
    fn the_literals_are_the_nearest_integers() {
        assert_nearest(LN_2, real(2, 1).ln(), 120);
        assert_nearest(LOG2_E, real(1, 1) / real(2, 1).ln(), 62);
        assert_nearest(PI_126, Real::pi(400), 126);
        assert_nearest(ERF_SLOPE, real(2, 1) / Real::pi(400).sqrt(), 127);
        assert_nearest(HALF_LN_TAU, (real(2, 1) * Real::pi(400)).ln() / real(2, 1), 120);
        for (j, (ln, atan)) in (0..).zip(LN_TABLE.iter().zip(&ATAN_TABLE)) {
            assert_nearest(ln, real(32 + j, 32).ln(), 120);
            assert_nearest(atan, real(j, 32).atan(), 120);
        }
    }

    #[test]
    fn two_over_pi_is_rounded_down() {
        let value = ((real(2, 1) / Real::pi(400)) << 192).floor();
        let limbs = TWO_OVER_PI
            .iter()
            .fold(Real::from(0), |sum, &limb| (sum.with_precision(400).value() << 64) + Real::from(limb));
        assert_eq!(limbs, value);
    }

    #[test]
    fn the_coefficients_are_the_inverses_rounded_down() {
        assert_eq!(inverse_odds::<3>(), [ONE, ONE / 3, ONE / 5]);
        assert_eq!(inverse_factorials::<4>(0), [ONE, ONE / 2, ONE / 24, ONE / 720]);
        assert_eq!(inverse_factorials::<3>(1), [ONE, ONE / 6, ONE / 120]);
    }
}
