//! Detection of CPU features.
//!
//! This is the only place that queries the CPU. Tokens, tiers, algorithms and `lanefish info` all use it. So one
//! variable, [`LEVEL`], hides features from all of them, so that tests can show the behaviour on an older CPU. A tier
//! can also be the limit of a whole process, by [`Tier::restrict_process`](crate::tiers::Tier::restrict_process).
//! Features are only ever removed: the CPU has every feature that is reported here.

use crate::ParseError;
use std::sync::{LazyLock, OnceLock};

/// Environment variable of tests: the level beyond which the features of this CPU are hidden.
pub const LEVEL: &str = "LANEFISH_CPU";

/// An instruction set extension that some algorithm of this crate can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The name of the feature in `std::arch`.
    pub name: &'static str,
    /// Whether the CPU (and the operating system) has it, and it is not hidden.
    pub present: bool,
    /// Whether it is present and this process may use it.
    pub enabled: bool,
}

/// A kind of CPU, as a value of [`LEVEL`].
struct Level {
    name: &'static str,
    /// Bits of the features that it has.
    has: u32,
}

const BMI2: u32 = bits(&["popcnt", "lzcnt", "bmi1", "bmi2"]);
const AVX2: u32 = BMI2 | bits(&["avx2"]);
const AVX512: u32 = AVX2 | bits(&["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"]);

#[rustfmt::skip]
const LEVELS: [Level; 4] = [
    Level { name: "x86-64", has: 0 },
    Level { name: "bmi2", has: BMI2 },
    Level { name: "avx2", has: AVX2 },
    Level { name: "avx512", has: AVX512 },
];

/// Generates the names of the extensions and the detection of all of them from one list.
macro_rules! ask {
    ($($name:tt)*) => {
        /// The relevant extensions, oldest first. The place of a name is the number of its bit.
        const NAMES: &[&str] = &[$($name),*];

        /// The bits of the extensions that the CPU has.
        fn ask() -> u32 {
            #[cfg(target_arch = "x86_64")]
            let found = [$(is_x86_feature_detected!($name)),*];
            #[cfg(not(target_arch = "x86_64"))]
            let found = [false; NAMES.len()];
            (0..).zip(found).fold(0, |bits, (bit, found)| bits | u32::from(found) << bit)
        }
    };
}

ask! {
    "popcnt" "lzcnt" "bmi1" "bmi2" "avx2" "gfni" "avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl"
    "avx512vbmi" "avx512bitalg" "avx512vpopcntdq" "avx512vbmi2"
}

/// The bits of these extensions.
///
/// # Panics
/// If one is not in the list; at compile time where the names are constants.
pub(crate) const fn bits(names: &[&str]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        let mut bit = 0;
        while !same(NAMES[bit], names[at]) {
            bit += 1;
        }
        bits |= 1 << bit;
        at += 1;
    }
    bits
}

/// `==`, which is not yet available in constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The features that this process uses, fixed at the first query.
static ENABLED: OnceLock<u32> = OnceLock::new();

/// Whether the CPU has all of these [bits], and none is hidden or disabled.
#[inline]
pub(crate) fn has(bits: u32) -> bool {
    *ENABLED.get_or_init(present) & bits == bits
}

/// Disables all features except these [bits] for the rest of the process. Returns whether that succeeded: others may
/// already be in use.
#[must_use]
pub(crate) fn enable_only(bits: u32) -> bool {
    *ENABLED.get_or_init(|| present() & bits) & !bits == 0
}

/// The bits of the features that the CPU has and that are not hidden.
fn present() -> u32 {
    // A level that does not exist hides everything.
    ask() & shown().unwrap_or(0)
}

/// The bits that are not hidden.
fn shown() -> Result<u32, ParseError> {
    let Some(name) = std::env::var_os(LEVEL).filter(|name| !name.is_empty()) else {
        return Ok(u32::MAX);
    };
    let level = LEVELS.iter().find(|level| *level.name == *name);
    level.map(|level| level.has).ok_or_else(|| {
        let known = LEVELS.map(|level| level.name).join(", ");
        ParseError::new(format!("{LEVEL}: unknown level `{}`: expected one of {known}", name.to_string_lossy()))
    })
}

/// Checks the value of [`LEVEL`].
///
/// # Errors
/// If it is not the name of a level.
pub fn check_level() -> Result<(), ParseError> {
    shown().map(|_| ())
}

/// The relevant extensions, oldest first; none on other architectures.
pub fn features() -> Vec<Feature> {
    let names: &[&'static str] = if cfg!(target_arch = "x86_64") { NAMES } else { &[] };
    let present = present();
    let features = names.iter().enumerate().map(|(at, &name)| (1 << at, name));
    features.map(|(bit, name)| Feature { name, present: present & bit != 0, enabled: has(bit) }).collect()
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
    // The CPU is queried once: in a virtual machine a query takes as long as thousands of instructions.
    static FOUND: LazyLock<bool> = LazyLock::new(find_microcoded_pext);
    *FOUND
}

fn find_microcoded_pext() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        let vendor = __cpuid(0);
        let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let signature = __cpuid(1).eax;
        let family = (signature >> 8 & 0xF) + if signature >> 8 & 0xF == 0xF { signature >> 20 & 0xFF } else { 0 };
        match vendor.as_flattened() {
            _ if !has(BMI2) => false,
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
        assert!(!has(bits(&["avx512f"])) || has(AVX2));
        for pair in LEVELS.windows(2) {
            assert_eq!(pair[0].has & !pair[1].has, 0, "{}", pair[1].name);
        }
    }

    #[test]
    fn every_name_has_a_bit_of_its_own() {
        let all = NAMES.iter().map(|&name| bits(&[name]));
        assert_eq!(all.sum::<u32>(), (1 << NAMES.len()) - 1);
        assert_eq!(bits(NAMES).count_ones() as usize, NAMES.len());
        let enabled: Vec<_> =
            features().into_iter().filter(|feature| feature.enabled).map(|feature| feature.name).collect();
        assert!(has(bits(&enabled)));
    }

    /// Code that queried the CPU elsewhere would see hidden features.
    #[test]
    fn the_cpu_is_asked_in_one_place() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = ["crates", "src", "python/src", "benches", "tests", "fuzz"].map(|f| root.join(f)).to_vec();
        let mut asked = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.extend(path.file_name().filter(|&name| name != "target").map(|_| path.clone()));
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let questions =
                        [concat!("feature_", "detected!"), concat!("__cpu", "id"), concat!("cfg!(target_", "feature")];
                    let found = questions.map(|question| text.matches(question).count());
                    if found != [0; 3] {
                        asked.push((path, found[0]));
                    }
                }
            }
        }
        assert_eq!(asked, [(root.join("crates/core/src/cpu.rs"), 1)]);
    }
}
