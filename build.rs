//! Links the program of debug builds to a fixed address on Linux.
//!
//! With the SQL engine it has 685,000 pointers in its tables, which the loader of a program without a fixed address
//! changes at every start: 15 ms instead of 5.5 (AMD EPYC, Zen 4, `perf stat --repeat 40 lanefish --version`). The tests
//! start it tens of thousands of times. Release builds keep their random address.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|actual| actual == value);
    let target = [("OS", "linux"), ("ENV", "gnu"), ("ARCH", "x86_64")];
    if is("PROFILE", "debug") && target.iter().all(|(key, value)| is(&format!("CARGO_CFG_TARGET_{key}"), value)) {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
