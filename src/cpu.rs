//! A description of the CPU and its features; nothing is decided here.
//!
//! The tiers check what they need themselves; this module only lists it, so that `lanefish info` can show
//! why a tier was chosen.

/// An instruction set extension that some algorithm of this crate can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name in `std::arch`.
    pub name: &'static str,
    /// Whether the CPU (and the operating system) has it.
    pub present: bool,
}

/// The relevant extensions, oldest first; none on other architectures.
pub fn features() -> Vec<Feature> {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! features {
            ($($name:tt)*) => {
                vec![$(Feature { name: $name, present: is_x86_feature_detected!($name) }),*]
            };
        }
        features! {
            "popcnt" "bmi1" "bmi2" "avx2" "gfni" "avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl"
            "avx512vbmi" "avx512bitalg" "avx512vpopcntdq"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        Vec::new()
    }
}

/// The name that the CPU reports, or that of the architecture if it reports none.
pub fn model() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        if __cpuid(0x8000_0000).eax >= 0x8000_0004 {
            let bytes: Vec<u8> = (0x8000_0002..=0x8000_0004)
                .map(__cpuid)
                .flat_map(|part| [part.eax, part.ebx, part.ecx, part.edx])
                .flat_map(u32::to_le_bytes)
                .take_while(|&byte| byte != 0)
                .collect();
            let name = String::from_utf8_lossy(&bytes);
            let words: Vec<&str> = name.split_whitespace().collect();
            if !words.is_empty() {
                return words.join(" ");
            }
        }
    }
    std::env::consts::ARCH.to_owned()
}

/// Whether PEXT is present but slow, in microcode: AMD families 15h and 17h, Hygon 18h.
pub fn pext_is_microcoded() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        let vendor = __cpuid(0);
        let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let signature = __cpuid(1).eax;
        let family = (signature >> 8 & 0xF)
            + if signature >> 8 & 0xF == 0xF {
                signature >> 20 & 0xFF
            } else {
                0
            };
        match vendor.as_flattened() {
            b"AuthenticAMD" => matches!(family, 0x15 | 0x17),
            b"HygonGenuine" => family == 0x18,
            _ => false,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_a_name() {
        assert!(!model().trim().is_empty());
    }

    #[test]
    fn newer_extensions_come_with_older_ones() {
        let has = |name| {
            features()
                .iter()
                .any(|feature| feature.name == name && feature.present)
        };
        assert!(!has("avx512f") || has("avx2"));
    }
}
