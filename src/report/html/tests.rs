//! Pages of datasets with little in them, and with names that look like markup.

use super::super::{Comparison, Details, GroupColumn, GroupValue, Groups, Histogram, Mates, Matrix, Report, Results};
use super::{About, Input, Run, comparison, page};
use std::collections::BTreeMap;

/// A report with something of everything.
fn full() -> Report {
    let positions = 5000;
    let mut report = Report {
        positions,
        rejected: 3,
        white_to_move: 2500,
        position_counts: crate::report::PositionCounts { in_check: 200, ..Default::default() },
        legal_moves: Histogram::new(0, (0..100).collect()),
        pieces: Histogram::new(2, vec![100; 31]),
        phase: Histogram::new(0, vec![200; 25]),
        scores: Histogram::new(-5000, vec![1; 3000]),
        results: Results { white: 2000, draw: 1000, black: 1500, unknown: 500 },
        mates: Mates { white: 3, black: 4 },
        ..Report::default()
    };
    for map in report.occupancy.iter_mut().chain(&mut report.attacks) {
        map.0 = std::array::from_fn(|square| square as u64);
    }
    let mut details = Details {
        ply: Histogram::new(0, (1..=100).rev().collect()),
        pieces_moves: Matrix::new((0..33).map(|row| vec![row; 60]).collect()),
        material: Matrix::new((0..40).map(|row| vec![row; 40]).collect()),
        phase_results: Matrix::new(vec![vec![5, 3, 4, 1]; 25]),
        phase_scores: Matrix::new((1..=25).map(|row| vec![row; 81]).collect()),
        phase_score_sums: (0..25).map(|phase| 100 * (phase - 12)).collect(),
        ..Details::default()
    };
    details.signatures.insert("KRPvKR".parse().unwrap(), 4000);
    details.games.count = 50;
    details.games.eco.insert(*b"B12", 40);
    details.games.elo = [0, 1].map(|_| Histogram::new(1000, vec![1; 1500]));
    details.games.speeds = [1, 2, 3, 4, 5, 6, 7];
    let results = Results { white: 6, draw: 1, black: 3, unknown: 0 };
    details.games.results.openings = [("Réti <i>".to_owned(), results)].into();
    (details.games.results.ratings[3], details.games.results.speeds[2]) = (results, results);
    report.details = Some(Box::new(details));
    report
}

/// Every start tag has its end tag, in the right order, and attributes are quoted.
fn assert_well_formed(page: &str) {
    const VOID: [&str; 3] = ["meta", "wbr", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>') || open.iter().any(|tag| ["style", "script"].contains(tag)), "{text}");
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("an end of the tag");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or("");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
            if ["style", "script"].contains(&name) {
                let end = rest.find("</").expect("an end of the style or script");
                rest = &rest[end..];
            }
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn everything_is_there() {
    let mut about = About::new("All of it");
    about.run = Some(Run { tier: "portable".to_owned(), threads: 2, ..Run::default() });
    let text = page(&full(), &about);
    assert_well_formed(&text);
    let order = ["results", "summary", "games", "scores", "positions", "material", "joint", "boards", "about"];
    for id in order {
        assert_eq!(text.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
        assert_eq!(text.matches(&format!("<a href=\"#{id}\">")).count(), 1, "{id}");
    }
    assert!(order.map(|id| text.find(&format!("<section id=\"{id}\">"))).is_sorted());
    // Every fact has its title somewhere.
    let report = full();
    let titles = report
        .plots()
        .into_iter()
        .map(|plot| plot.title)
        .chain(report.boards().into_iter().map(|board| board.title))
        .chain(report.tables().into_iter().map(|table| table.title))
        .chain(report.shares().into_iter().map(|share| share.title));
    for title in titles {
        assert!(text.contains(&title.replace('\'', "&#39;")), "{title}");
    }
    let drawings = text.matches("<svg ").count();
    let others =
        ["stack", "stack shares", "sig"].map(|class| text.matches(&format!("class=\"{class}\" role=\"img\"")).count());
    assert_eq!(text.matches("role=\"img\" aria-label=\"").count(), drawings + others.iter().sum::<usize>());
    assert_eq!(text.matches("<table>").count(), text.matches("<caption>").count());
    // Nothing is loaded.
    for loading in ["http", "src=", "@import", "url("] {
        assert!(!text.contains(loading), "{loading}");
    }
    assert_eq!(text.contains("application/json"), cfg!(feature = "json"));
}

#[test]
fn what_is_missing_is_left_out() {
    let text = page(&Report::default(), &About::new("Nothing"));
    assert_well_formed(&text);
    assert!(text.contains("The dataset has no position."));
    assert!(!text.contains("<svg"));
    let mut plain = full();
    plain.details = None;
    plain.scores = Histogram::default();
    plain.mates = Mates::default();
    plain.results = Results { unknown: plain.positions, ..Results::default() };
    let text = page(&plain, &About::new("Plain"));
    assert_well_formed(&text);
    for id in ["results", "scores", "joint", "games", "groups"] {
        assert!(!text.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(!text.contains("Score") && !text.contains("Distinct"));
    // A position, and nothing else known of it.
    let one = Report { positions: 1, ..Report::default() };
    assert_well_formed(&page(&one, &About::new("One")));
}

#[test]
fn names_are_not_markup() {
    const NAME: &str = "</title><script>alert(\"1\")</script>&'\u{1}\u{202E}\u{2028}";
    const SAFE: &str =
        "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\u{FFFD}\u{FFFD}\u{FFFD}";
    let mut about = About::new(NAME);
    about.inputs = vec![Input::new(NAME); 9];
    about.run = Some(Run { tier: NAME.to_owned(), ..Run::default() });
    let mut report = full();
    let mut values = BTreeMap::new();
    values.insert(vec![GroupValue::Text(NAME.to_owned())], full());
    values.insert(vec![GroupValue::Number(-5)], full());
    values.insert(vec![GroupValue::Missing], Report::default());
    let by = vec![GroupColumn { name: NAME.to_owned(), width: 1, decimals: None }];
    report.groups = Some(Groups { by, values, others: None });
    report.details.as_mut().unwrap().games.eco = BTreeMap::from([(*b"<i>", 500), (*b"\"'&", 5)]);
    for text in
        [page(&report, &about), comparison(&[Comparison::of(&report, &full())], &[about.clone(), about.clone()])]
    {
        assert_well_formed(&text);
        assert!(text.contains(SAFE) && !text.contains(['\u{202E}', '\u{2028}']));
        assert!(!text.contains("alert(\"1\")") && !text.contains("<i>0"));
    }
    assert!(page(&report, &about).contains("and 5 more"));
}

#[test]
fn comparisons() {
    let mut other = full();
    other.scores = Histogram::default();
    let text = comparison(&[Comparison::of(&full(), &other)], &[About::new("one"), About::new("two")]);
    assert_well_formed(&text);
    assert!(text.contains("<h1>one and two</h1>"));
    assert!(text.contains("Only A has: Score."));
    assert!(text.contains("distance 0.000"));
    let none = Comparison::of(&Report::default(), &Report::default());
    assert_well_formed(&comparison(&[none], &[About::default(), About::default()]));
    // Nothing in common.
    let apart = Comparison::of(&full(), &Report::default());
    assert_well_formed(&comparison(&[apart], &[About::default(), About::default()]));
    // The first one is compared with each of the others, in sections of their own.
    let both = [Comparison::of(&full(), &other), Comparison::of(&full(), &full())];
    let text = comparison(&both, &["one", "two", "three"].map(About::new));
    assert_well_formed(&text);
    assert!(text.contains("<h1>one, two and three</h1>") && text.contains("comparison of 3 datasets"));
    assert!(text.contains("Summary of A and C") && text.contains("id=\"summary2\""));
    assert!(text.contains("differ by no more than chance: they may be samples of the same source."));
    assert!(text.contains("differ by no more than chance</summary>"));
}

/// The kinds of material are shown as figurines, and their letters are there for readers without pictures.
#[test]
fn material_is_shown_as_pieces() {
    let mut report = full();
    report.details.as_mut().unwrap().signatures.insert("KQRRPPPvKRRN".parse().unwrap(), 5);
    let text = page(&report, &About::new("Pieces"));
    let side = |pieces: &str| format!("<span class=\"pieces\" aria-hidden=\"true\">{pieces}</span>");
    let sides = side("♔ ♕ ♖♖ ♙×3") + &side("♚ ♜♜ ♞");
    assert!(text.contains(&format!("aria-label=\"KQRRPPPvKRRN\" title=\"KQRRPPPvKRRN\">{sides}</span>")));
    // A heat map of a piece begins with it.
    assert!(text.contains(&(side("♘") + " White knights")));
}

#[test]
fn results_are_bars() {
    let text = page(&full(), &About::new("Results"));
    let (_, section) = text.split_once("<section id=\"results\">").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for (title, name) in [("opening", "Réti &lt;i&gt;"), ("rating", "1,400 to 1,599"), ("time control", "blitz")] {
        let (_, figure) = section.split_once(&format!("<h3>Results by {title}</h3>")).unwrap();
        let bar = "aria-label=\"White won 60.0\u{A0}%, drawn 10.0\u{A0}%, Black won 30.0\u{A0}%\"";
        let (row, _) = figure.split_once("</figure>").unwrap();
        assert!(row.contains(&format!("<th scope=\"row\">{name}</th><td>10</td>")) && row.contains(bar), "{row}");
        assert!(row.contains(">60\u{202F}%</i>") && row.contains("10.0\u{A0}%)\"></i>"), "{row}");
    }
}

/// Drawings have the width of their coordinates, so that their letters have the same size in all of them.
#[test]
fn letters_have_one_size() {
    let text = page(&full(), &About::new("Letters"));
    for (class, width) in [("plot", 360), ("joint", 360), ("board", 176)] {
        assert!(text.contains(&format!("svg.{class} {{ width: {width}px; }}")), "{class}");
    }
    for drawing in text.split("<svg class=\"").skip(1) {
        let (class, rest) = drawing.split_once('"').unwrap();
        let width = if class == "board" { 176 } else { 360 };
        assert!(["plot", "plot moves", "plot scores", "joint", "board"].contains(&class), "{class}");
        assert!(rest.starts_with(&format!(" viewBox=\"0 0 {width} ")), "{class}");
    }
    // Nothing is wider than a phone.
    assert!(text.contains("svg { display: block; max-width: 100%;") && text.contains("overflow-x: auto"));
    assert_eq!(text.matches("font: 11px").count(), 1);
}

/// The cells of a joint distribution are drawn as runs of one colour, and cover each cell that has a count.
#[test]
fn cells_are_drawn_once() {
    let text = page(&full(), &About::new("Cells"));
    let (_, figure) = text.split_once("<h3>Material of both sides").unwrap();
    let (cells, _) = figure.split_once("</g>").unwrap();
    let cells: u64 = cells.split("v1h-").skip(1).filter_map(|run| run.split_once('z')?.0.parse::<u64>().ok()).sum();
    let (table, _) = figure.split_once("</table>").unwrap();
    let counts = table.matches("<td>").count() - table.matches("<td>0</td>").count();
    assert_eq!(cells, counts as u64);
}

#[test]
fn pages_stay_small() {
    let mut report = full();
    let details = report.details.as_mut().unwrap();
    details.signatures = (0..100_000).map(|index| (super::super::Signature::from_index(index).unwrap(), 1)).collect();
    details.material = Matrix::new(vec![vec![7; 128]; 128]);
    details.pieces_moves = Matrix::new(vec![vec![7; 128]; 33]);
    report.scores = Histogram::new(-32_000, vec![1; 64_000]);
    let values = (0..1000).map(|number| (vec![GroupValue::Number(number)], Report::default()));
    let by = vec![GroupColumn { name: "ply".to_owned(), width: 10, decimals: None }];
    report.groups = Some(Groups { by, values: values.collect(), others: None });
    let length = page(&report, &About::new("Large")).len();
    assert!(length < 1_000_000, "{length}");
}
