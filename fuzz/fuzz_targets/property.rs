//! Checks the property that `LANEFISH_FUZZ_TARGET` names.

#![no_main]

#[path = "../../tests/fuzz/properties.rs"]
#[allow(dead_code, reason = "one of the properties is checked")]
mod properties;

use std::sync::LazyLock;

static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let names: Vec<&str> = properties::TARGETS.iter().map(|(name, _)| *name).collect();
    let name = std::env::var("LANEFISH_FUZZ_TARGET").unwrap_or_default();
    let target = properties::TARGETS.iter().find(|(other, _)| *other == name);
    target.unwrap_or_else(|| panic!("LANEFISH_FUZZ_TARGET is one of {}", names.join(", "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHECK(bytes));
