#![no_main]

#[path = "../../tests/fuzz/properties.rs"]
#[allow(dead_code, reason = "each target uses one of the properties")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::zip(bytes));
