//! `exp`, `ln` and `power`, the same to the bit on every machine.
//!
//! System libraries differ in the last bit of results, and CPUs differ in which operations they fuse. `libm` consists of
//! sums, products and quotients of doubles, whose rounding IEEE 754 defines exactly; a test below fails where a compiler
//! or a version of it fuses some of them.

pub(super) use libm::{exp, log as ln, pow as power};

#[cfg(test)]
mod tests {
    use super::*;

    /// x, y, e^x, ln x and x^y: the doubles that are nearest to results with 60 decimal digits.
    #[rustfmt::skip]
    const NEAREST: [[u64; 5]; 32] = [
        [0x3FE0_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x3FFA_6129_8E1E_069C, 0xBFE6_2E42_FEFA_39EF, 0x3FE6_A09E_667F_3BCD],
        [0x3FF0_0000_0000_0001, 0x4008_0000_0000_0000, 0x4005_BF0A_8B14_576B, 0x3CAF_FFFF_FFFF_FFFF, 0x3FF0_0000_0000_0003],
        [0x3FEF_FFFF_FFFF_FFFF, 0x3FE6_C5EE_5B7C_C5E4, 0x4005_BF0A_8B14_5769, 0xBCA0_0000_0000_0000, 0x3FEF_FFFF_FFFF_FFFF],
        [0x4000_0000_0000_0000, 0xBFF0_0000_0000_0000, 0x401D_8E64_B8D4_DDAE, 0x3FE6_2E42_FEFA_39EF, 0x3FE0_0000_0000_0000],
        [0x4024_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x40D5_829D_CF95_0560, 0x4002_6BB1_BBB5_5516, 0x4009_4C58_3ADA_5B53],
        [0x4008_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x4034_15E5_BF6F_B106, 0x3FF1_93EA_7AAD_030B, 0x3FFB_B67A_E858_4CAA],
        [0x01A5_6E1F_C2F8_F359, 0xBFF0_0000_0000_0000, 0x3FF0_0000_0000_0000, 0xC085_9634_47F8_7FB5, 0x7E37_E43C_8800_759B],
        [0x0000_0000_0000_0001, 0xBFCF_793D_BD88_FC20, 0x3FF0_0000_0000_0000, 0xC087_4385_446D_71C3, 0x5070_F30A_E3F6_6452],
        [0x4085_E400_0000_0000, 0xBFF0_0000_0000_0000, 0x7F18_625C_7D4F_56C2, 0x401A_3509_950C_84A7, 0x3F57_6396_04C0_3A79],
        [0x4086_2D99_9999_999A, 0x3FE0_0000_0000_0000, 0x7FED_75AE_7A50_EE14, 0x401A_4266_0825_CE24, 0x403A_A3E3_D50F_592D],
        [0x7E37_E43C_8800_759C, 0x3FEA_4472_76E4_1792, 0x7FF0_0000_0000_0000, 0x4085_9634_47F8_7FB5, 0x7310_86E4_D7B4_90D4],
        [0x3FB9_9999_9999_999A, 0x3FC3_E7D6_0963_9DE0, 0x3FF1_AEC7_B35A_00D4, 0xC002_6BB1_BBB5_5515, 0x3FE6_5E57_D756_1F0A],
        [0x3FF8_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x4011_ED3F_E64F_C541, 0x3FD9_F323_ECBF_984C, 0x3FF3_988E_1409_212E],
        [0x4050_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x45B4_2598_2CF5_97CD, 0x4010_A2B2_3F3B_AB73, 0x4020_0000_0000_0000],
        [0x3FE6_2E42_FEFA_39EF, 0xBFF0_31CB_251F_77A3, 0x4000_0000_0000_0000, 0xBFD7_74F2_9BDD_6B9F, 0x3FF7_2FAA_B1E9_DC99],
        [0x3DDB_7CDF_D9D7_BDBB, 0xBFF0_0000_0000_0000, 0x3FF0_0000_0006_DF38, 0xC037_069E_2AA2_AA5B, 0x4202_A05F_2000_0000],
        [0x403F_0000_0000_0000, 0x4008_0000_0000_0000, 0x42BA_6B76_5D8C_DF6D, 0x400B_78CE_4891_2B5A, 0x40DD_17C0_0000_0000],
        [0x3FF4_0000_0000_0000, 0x3FE0_0000_0000_0000, 0x400B_EC38_EDB0_FAF0, 0x3FCC_8FF7_C79A_9A22, 0x3FF1_E377_9B97_F4A8],
        [0x3FCE_36D2_E4DA_4F9C, 0x3FE0_0000_0000_0000, 0x3FF4_427F_D7C0_1B4D, 0xBFF7_1979_DA9E_C4B1, 0x3FDF_1821_6474_04BB],
        [0x402B_BE79_DE47_46E5, 0x3FFF_0F4F_2C99_3B5E, 0x4130_255C_5798_0FEC, 0x4005_09FB_70D2_4C8A, 0x4064_9C1E_FEE9_0665],
        [0x3FF0_0000_3B92_C9C1, 0x3FE0_0000_0000_0000, 0x4005_BF0A_DC0C_5057, 0x3E8D_C964_A90C_0BE3, 0x3FF0_0000_1DC9_64C5],
        [0x4081_0E93_3888_DD7C, 0x3FB2_36BF_C7D3_5330, 0x7125_ECE2_B976_CADF, 0x4019_358C_3805_64B6, 0x3FF9_0D81_19D7_A186],
        [0x4084_49DD_10B1_F2A1, 0x3FE0_0000_0000_0000, 0x7A79_05B9_357A_FFB1, 0x4019_E735_E838_5AEE, 0x4039_7AE4_8C90_849F],
        [0x3FF0_0000_532C_BA18, 0x4008_0000_0000_0000, 0x4005_BF0A_FC20_298B, 0x3E94_CB2E_4FF3_EFC3, 0x3FF0_0000_F986_3359],
        [0x4085_052B_28D6_40FC, 0x4008_0000_0000_0000, 0x7C95_7426_4CB4_ABA1, 0x401A_0B7D_125C_B0AC, 0x41B2_23DE_4FCB_1EA9],
        [0x3FF0_0000_B44E_F8FD, 0x3FE0_0000_0000_0000, 0x4005_BF0B_8024_E927, 0x3EA6_89DE_A0A0_DD3A, 0x3FF0_0000_5A27_7B81],
        [0x3FF0_0000_4B29_49CA, 0xBFF0_0000_0000_0000, 0x4005_BF0A_F13B_F79A, 0x3E92_CA52_465D_90C0, 0x3FEF_FFFF_69AD_6F2E],
        [0x3FF0_0000_4E5E_1429, 0x3FE0_0000_0000_0000, 0x4005_BF0A_F597_8999, 0x3E93_9784_DA45_12E5, 0x3FF0_0000_272F_09E5],
        [0x4082_8D0C_013F_A53D, 0xBFF0_0000_0000_0000, 0x7575_87C5_8398_DE2B, 0x4019_8B87_2234_96EA, 0x3F5B_9982_3823_C111],
        [0x3FDB_1E68_F4CA_929E, 0x3FFD_B272_A142_10AA, 0x3FF8_7141_E19E_DEDD, 0xBFEB_7A1C_B92F_9DE8, 0x3FCA_0167_120D_123A],
        [0x3FD3_86F2_CA13_C612, 0xC002_6412_C80E_7BC0, 0x3FF5_B55B_2D39_AA0E, 0xBFF2_FE45_2A2A_1AAB, 0x402E_A20B_1634_FDDD],
        [0x3FF0_0000_8B48_9E46, 0x3FE0_0000_0000_0000, 0x4005_BF0B_4862_B907, 0x3EA1_6913_7CF8_113E, 0x3FF0_0000_45A4_4E8B],
    ];

    #[test]
    fn results_are_within_one_unit_in_the_last_place() {
        for row in NEAREST {
            let [x, y, ..] = row.map(f64::from_bits);
            let results = [exp(x), ln(x), power(x, y)];
            for (name, (result, nearest)) in ["exp", "ln", "power"].iter().zip(results.iter().zip(&row[2..])) {
                assert!(result.to_bits().abs_diff(*nearest) <= 1, "{name} of {x:?}, {y:?}: {result:?}");
            }
        }
    }

    /// A machine, a compiler or a version of `libm` that fuses or reorders operations has other bits in some of these.
    #[test]
    fn no_operations_are_fused() {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut state = 1_u64;
        let mut number = |scale: f64| {
            state = state.wrapping_mul(FACTOR).wrapping_add(1).rotate_left(29);
            (state >> 12) as f64 * scale
        };
        let mut hash = 0_u64;
        for _ in 0..100_000 {
            // Below 1024, and from -4 to 4.
            let (x, y) = (number(0.5_f64.powi(42)), number(0.5_f64.powi(49)) - 4.0);
            for value in [exp(x / 2.0), ln(x), power(x, y)] {
                hash = hash.rotate_left(7).wrapping_add(value.to_bits()).wrapping_mul(FACTOR);
            }
        }
        assert_eq!(hash, 0x2A58_FC0F_7FED_0150, "{hash:#x}");
    }

    #[test]
    fn limits_are_those_of_the_standard_library() {
        let values = [0.0, 0.5, 1.0, 2.0, 3.0, 2.5, 1e300, 1e-300, 9_007_199_254_740_993.0, f64::INFINITY]
            .into_iter()
            .flat_map(|value| [value, -value])
            .chain([f64::NAN]);
        let equal = |one: f64, other: f64| {
            if one.is_nan() || other.is_nan() {
                one.is_nan() == other.is_nan()
            } else {
                one == other && one.is_sign_negative() == other.is_sign_negative() || (one / other - 1.0).abs() < 1e-15
            }
        };
        for x in values.clone() {
            assert!(equal(exp(x), x.exp()), "exp of {x:?}");
            assert!(equal(ln(x), x.ln()), "ln of {x:?}");
            for y in values.clone() {
                assert!(equal(power(x, y), x.powf(y)), "power of {x:?}, {y:?}: {:?}", power(x, y));
            }
        }
    }

    #[test]
    fn what_is_exact_is() {
        for x in 1..40_u32 {
            for y in 0..9_u32 {
                let all = u64::from(x).pow(y);
                if all < 1 << 53 {
                    assert_eq!(power(f64::from(x), f64::from(y)), all as f64, "{x}, {y}");
                }
            }
        }
        for k in -1074_i32..1024 {
            let bits = if k < -1022 { 1 << (k + 1074) } else { ((k + 1023) as u64) << 52 };
            assert_eq!(power(2.0, f64::from(k)), f64::from_bits(bits), "{k}");
        }
        assert_eq!((exp(0.0), ln(1.0)), (1.0, 0.0));
    }
}
