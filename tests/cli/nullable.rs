//! Which columns of written tables are declared as optional: those that a record can lack.

#[cfg(feature = "cluster")]
use super::cluster::Cluster;
use super::{Dir, json, output, sample};

/// The columns of a file that are declared as required, and the optional ones.
fn declared(file: &str) -> (Vec<String>, Vec<String>) {
    let query = format!(
        "create view v as select * from plain('{file}'); \
         select column_name, is_nullable from information_schema.columns where table_name = 'v'"
    );
    let rows = output(0, &["sql", &query]);
    let columns = |nullable: &str| {
        let names = rows.lines().skip(1).filter_map(|row| row.strip_suffix(nullable));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    (columns(",NO"), columns(",YES"))
}

#[test]
fn columns_of_positions_are_required() {
    let dir = Dir::new();
    let (epd, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    let listed = json(0, &["compute", "--list-columns", "--json"]);
    let names: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|column| column["name"].as_str()).collect();
    let end = names.iter().position(|name| *name == "game").unwrap();
    // The columns before `game` are computed from positions alone.
    let computed = names[..end].join(",");
    let both = format!("{computed},score,move,eco");
    for name in ["x.parquet", "x.arrow"] {
        let file = dir.name(name);
        for arguments in [
            vec!["compute", "--columns", &both, &epd],
            vec!["sql", &format!("select {both} from '{epd}'")],
            vec!["sql", &format!("select {both} from '{pgn}' where score > 0")],
        ] {
            output(0, &[&arguments[..], &["-o", &file, "--force"]].concat());
            let (required, optional) = declared(&file);
            assert_eq!((required.join(","), optional.join(",")), (computed.clone(), "score,move,eco".to_owned()));
        }
        output(0, &["convert", &pgn, "-o", &file, "--force"]);
        assert_eq!(declared(&file).0, ["board", "halfmove", "fullmove"]);
        output(0, &["games", &pgn, "-o", &file, "--force"]);
        assert_eq!(declared(&file).0, ["game"]);
        // Rows without a partner have no key.
        let join = format!("select a.key, b.key as other from '{epd}' a left join '{pgn}' b on a.key = b.key");
        output(0, &["sql", &join, "-o", &file, "--force"]);
        assert_eq!(declared(&file), (vec!["key".to_owned()], vec!["other".to_owned()]));
    }
}

/// The tables of a cluster allow nulls everywhere.
#[cfg(feature = "cluster")]
#[test]
fn columns_from_clusters_are_declared_as_in_one_process() {
    let cluster = Cluster::start(1);
    let dir = Dir::new();
    let (epd, pgn) = (sample("sample.epd"), sample("lichess-2025-05.pgn"));
    for query in [
        format!("select key, fen, score, legal_moves + 1 as more from '{epd}'"),
        format!("select phase, max(key) as key, count(*) as n from '{epd}' group by phase"),
        format!("select a.key, b.key as other, b.score from '{epd}' a left join '{pgn}' b on a.key = b.key"),
        format!("select a.key, b.key as other from '{epd}' a full join '{pgn}' b on a.key = b.key"),
        format!("select key from '{epd}' where phase > 3 union all select nullif(key, 3) from '{pgn}'"),
        format!("select key from '{epd}' where key in (select key from '{pgn}')"),
    ] {
        let (one, many) = (dir.name("one.parquet"), dir.name("many.parquet"));
        output(0, &["sql", &query, "-o", &one, "--force"]);
        output(0, &["sql", &query, "-o", &many, "--force", "--cluster", &cluster.address]);
        assert_eq!(declared(&one), declared(&many), "{query}");
    }
}
