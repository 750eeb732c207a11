//! `completions` and `man`.

use super::{Dir, output, stderr_of};

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(0, &["completions", shell]);
        assert!(script.contains("lanefish") && script.contains("keep-en-passant"), "{shell}");
    }
    stderr_of(2, &["completions", "csh"]);
}

#[test]
fn manual_pages() {
    let page = output(0, &["man"]);
    assert!(page.contains(".TH lanefish 1"), "{page}");
    assert!(output(0, &["man", "compute"]).contains("list\\-columns"));
    stderr_of(2, &["man", "nothing"]);
    let dir = Dir::new();
    output(0, &["man", "--directory", &dir.name("pages")]);
    assert!(dir.path("pages/lanefish.1").exists());
    assert!(dir.path("pages/lanefish-stats.1").exists());
}
