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

/// The names that bash offers for the last of these words.
#[cfg(unix)]
fn offered_by_bash(words: &[&str]) -> Vec<String> {
    // As a file: with SQL and the cluster the script is longer than an argument may be.
    let dir = Dir::new();
    let script = dir.file("lanefish.bash", output(0, &["completions", "bash"]));
    let [.., before, last] = words else { panic!("two words or more") };
    let call = format!(
        "source '{script}'\nCOMP_WORDS=(\"$@\"); COMP_CWORD={}; _lanefish lanefish '{last}' '{before}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.len() - 1
    );
    let done = std::process::Command::new("bash").args(["-c", &call, "bash"]).args(words).output().expect("bash");
    String::from_utf8(done.stdout).expect("UTF-8").split_whitespace().map(str::to_owned).collect()
}

/// The last name of a list is completed, and the names before it stay and are not offered again.
#[cfg(unix)]
#[test]
fn bash_completes_names_in_lists() {
    let offered = |words: &[&str]| offered_by_bash(words).join(" ");
    assert_eq!(offered(&["lanefish", "compute", "--columns", "legal_c"]), "legal_captures legal_castles");
    assert_eq!(offered(&["lanefish", "compute", "--columns", "fen,legal_p"]), "fen,legal_promotions");
    assert_eq!(offered(&["lanefish", "compute", "--columns", "fen,stm,fe"]), "");
    assert_eq!(offered(&["lanefish", "compute", "--columns", "al"]), "all");
    assert_eq!(offered(&["lanefish", "games", "--columns", "black,black_e"]), "black,black_elo");
    assert_eq!(offered(&["lanefish", "games", "--columns", "legal"]), "");
    assert_eq!(offered(&["lanefish", "stats", "--by", "speed,res"]), "speed,result");
    assert_eq!(offered(&["lanefish", "convert", "--time-control", "rapid,bl"]), "rapid,blitz");
    assert_eq!(offered(&["lanefish", "stats", "--result", "1"]), "1-0 1/2-1/2");
    // The sign for any result is not taken for a pattern of file names.
    assert!(offered(&["lanefish", "stats", "--result", ""]).ends_with(" *"));
    assert_eq!(offered(&["lanefish", "stats", "--tier", "auto"]), "auto");
    for command in ["man", "help"] {
        assert_eq!(offered(&["lanefish", command, "comp"]), "compute completions");
    }
}

/// Every shell whose completions have values has those of lists. Nothing is left of the placeholders.
#[test]
fn completions_know_the_names_in_lists() {
    let columns = |first: &str, names: Vec<&str>| format!("{first}{}", names.join(" "));
    let of_positions = columns(
        "all ",
        lanefish::table::COLUMNS.iter().chain(lanefish::table::LEGAL_MOVE_COLUMNS).map(|column| column.name).collect(),
    );
    let of_games = columns("all ", lanefish::jobs::GameColumn::all().iter().map(|column| column.name()).collect());
    let groups = of_positions.trim_start_matches("all ");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(0, &["completions", shell]);
        assert!(!script.contains("LIST-OF"), "{shell}");
        let (before, after) = match shell {
            "bash" => ("_lanefish_list \"", "\""),
            "zsh" => (":_sequence compadd - ", "'"),
            "fish" => ("(__lanefish_list ", ")"),
            _ => continue,
        };
        for names in [&*of_positions, &of_games, groups, "ultrabullet bullet blitz rapid classical correspondence"] {
            assert!(script.contains(&format!("{before}{names}{after}")), "{shell}: {names}");
        }
    }
    let fish = output(0, &["completions", "fish"]);
    // `help` does not end the list of commands after it.
    let offers = |line: &&str| line.contains("_using_subcommand help;") && line.contains("-a \"stats\"");
    let line = fish.lines().find(offers).expect("help offers commands");
    assert!(line.contains(" completions man\" -f"), "{line}");
    let condition = |command: &str| format!("\"__fish_lanefish_using_subcommand {command}\" -f -a \"");
    assert!(fish.contains(&format!("{}stats compute", condition("man"))), "{fish}");
    assert!(fish.contains(&format!("{}bash ", condition("completions"))), "{fish}");
}

/// Whatever completions offer, other values are accepted as well.
#[test]
fn completions_do_not_limit_values() {
    let games = super::sample("lichess-2025-05.pgn");
    output(0, &["compute", "--columns", "fen,tag:Event", "--time-control", "600+0,bullet", "--limit", "1", &games]);
    output(0, &["stats", "--by", "ply/20", &games]);
    let stderr = stderr_of(2, &["man", "nothing"]);
    assert!(stderr.contains("there is no command"), "{stderr}");
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
