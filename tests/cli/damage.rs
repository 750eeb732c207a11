//! Damaged or truncated inputs: exactly the records before the damage are processed, and the damage is reported.

use super::{Dir, json, lanefish};
use serde_json::Value;
use std::fs;

/// The statistics without the `run` key, and standard error.
fn stats(status: i32, arguments: &[&str]) -> (Value, String) {
    let done = lanefish(arguments).assert().code(status);
    let mut stats: Value = serde_json::from_slice(&done.get_output().stdout).expect("JSON");
    stats.as_object_mut().expect("an object").remove("run");
    let stderr = String::from_utf8(done.get_output().stderr.clone()).expect("UTF-8");
    (stats, stderr)
}

#[test]
fn statistics_of_a_damaged_file_count_the_records_before_the_damage() {
    let dir = Dir::new();
    let whole = dir.name("whole.boards");
    lanefish(&["generate", "-n", "200000", "-o", &whole]).assert().success();
    let mut bytes = fs::read(&whole).expect("readable");
    let blocks: Vec<usize> = (0..bytes.len()).step_by(64).filter(|&at| bytes[at..].starts_with(b"LFBBLOCK")).collect();
    bytes[blocks[30] + 5000] ^= 1;
    let damaged = dir.file("damaged.boards", &bytes);
    let records = (30 * 4096).to_string();
    let (mut expected, _) = stats(0, &["stats", "--json", "--limit", &records, &whole]);
    for threads in ["1", "2", "8", "64"] {
        for _ in 0..3 {
            let arguments = ["stats", "--json", "--threads", threads, &damaged];
            let (found, stderr) = stats(2, &arguments);
            assert_eq!(found, expected, "{threads} threads");
            assert!(stderr.contains(&format!("damaged at byte {}", blocks[30])), "{stderr}");
            assert!(stderr.contains("the 122,880 records before that place were processed"), "{stderr}");
        }
    }
    // A later input that is a truncated container.
    let text = "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n".repeat(1000);
    let mut packed = zstd::encode_all(text.as_bytes(), 1).expect("packed");
    packed.truncate(packed.len() - 3);
    let broken = dir.file("broken.fen.zst", packed);
    let (found, stderr) = stats(2, &["stats", "--json", &whole, &broken]);
    expected = json(0, &["stats", "--json", &whole]);
    assert!(found["positions"].as_u64() >= expected["positions"].as_u64());
    assert!(stderr.contains("broken.fen.zst"), "{stderr}");
}

/// What is wrong with a later input, or a later part of one, does not take away what was read before.
#[test]
fn what_was_read_before_an_input_that_is_refused_is_reported() {
    let dir = Dir::new();
    let text = "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n".repeat(1000);
    let good = zstd::encode_all(text.as_bytes(), 1).expect("packed");
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(24).expect("a window");
    std::io::Write::write_all(&mut encoder, text.repeat(100).as_bytes()).expect("packed");
    let wide = encoder.finish().expect("packed");
    let both = dir.file("both.fen.zst", [&good[..], &wide].concat());
    let good = dir.file("good.fen.zst", good);
    let wide = dir.file("wide.fen.zst", wide);
    let none = dir.file("none.fen.zst", "no container\n");
    for (inputs, why) in [
        (&[&both][..], "a zstd frame needs a window of 16 MiB"),
        (&[&good, &wide], "a zstd frame needs a window of 16 MiB"),
        (&[&good, &none], "its content is not zstd"),
    ] {
        for threads in ["1", "2", "8"] {
            let mut arguments = vec!["stats", "--json", "--max-window", "1M"];
            arguments.extend(["--threads", threads]);
            arguments.extend(inputs.iter().map(|input| input.as_str()));
            let (found, stderr) = stats(2, &arguments);
            assert_eq!(found["positions"], 1000, "{inputs:?}");
            assert!(stderr.contains(why), "{stderr}");
            assert!(stderr.contains("the 1,000 records before that place were processed"), "{stderr}");
        }
    }
}
