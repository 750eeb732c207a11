//! The inputs of networks against twins that are written, piece by piece, after the published descriptions of the sets.

use crate::support::{Random, sample_positions, weird_positions};
use lanefish::chess::{Color, Piece, Position, Role, Square};
use lanefish::packed::{Group, Packed};
use lanefish::queries::GroupResults;
use lanefish::stats::Stats;
use lanefish::table::{Array, Batch, Columns, FeatureSet, Items, Lists, Tile};
use lanefish::tiers::{Analyzer, Tier};
use std::sync::Arc;

fn positions() -> Vec<Position> {
    let mut positions = sample_positions([21, 22], 8_000, 300);
    // Many pieces of all kinds anywhere, two kings among them.
    let mut random = Random::new(23);
    while positions.len() < 22_000 {
        let mut position = Position::empty();
        position.side_to_move = Color::ALL[random.below(2) as usize];
        for _ in 0..random.below(60) {
            let (at, role) = (Square::new(random.below(64) as u8), Role::ALL[random.below(5) as usize]);
            let is_outer = matches!(at.rank().index(), 0 | 7);
            if position.piece_at(at).is_none() && !(role == Role::Pawn && is_outer) {
                position.put(at, Piece { color: Color::ALL[random.below(2) as usize], role });
            }
        }
        for color in Color::ALL {
            let free: Vec<Square> = Square::all().filter(|&at| position.piece_at(at).is_none()).collect();
            position.put(free[random.below(free.len() as u64) as usize], Piece { color, role: Role::King });
        }
        positions.push(position);
    }
    positions.retain(|position| {
        position.role(Role::Pawn).iter().all(|at| !matches!(at.rank().index(), 0 | 7)) && Packed::pack(position).is_ok()
    });
    positions
}

/// The pieces of a position.
fn pieces(position: &Position) -> Vec<(u32, Piece)> {
    Square::all().filter_map(|at| position.piece_at(at).map(|piece| (at.index() as u32, piece))).collect()
}

fn king(position: &Position, side: Color) -> u32 {
    position.king(side).expect("a king").index() as u32
}

/// `^ 56` for Black's view.
fn o(square: u32, side: Color) -> u32 {
    if side == Color::Black { square ^ 56 } else { square }
}

fn is_right(square: u32) -> bool {
    square % 8 >= 4
}

type Twin = fn(&Position, Color) -> Vec<u32>;

fn chess768(position: &Position, side: Color) -> Vec<u32> {
    let index =
        |(square, piece): (u32, Piece)| 384 * u32::from(piece.color != side) + 64 * piece.role as u32 + o(square, side);
    pieces(position).into_iter().map(index).collect()
}

fn chess768_hm(position: &Position, side: Color) -> Vec<u32> {
    let turn = if is_right(king(position, side)) { 7 } else { 0 };
    chess768(position, side).into_iter().map(|index| index ^ turn).collect()
}

const BUCKETS_32: [u32; 32] =
    [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9];

fn buckets_64() -> Vec<u32> {
    (0..64).map(|square| (square * 7 + square / 5) % 13).collect()
}

fn chess768_kb_32(position: &Position, side: Color) -> Vec<u32> {
    let at = o(king(position, side), side);
    let (rank, file) = (at / 8, at % 8);
    let bucket = BUCKETS_32[(4 * rank + file.min(7 - file)) as usize];
    chess768_hm(position, side).into_iter().map(|index| index + 768 * bucket).collect()
}

fn chess768_kb_64(position: &Position, side: Color) -> Vec<u32> {
    let bucket = buckets_64()[o(king(position, side), side) as usize];
    chess768(position, side).into_iter().map(|index| index + 768 * bucket).collect()
}

fn halfkp(position: &Position, side: Color) -> Vec<u32> {
    let p = |square: u32| if side == Color::Black { square ^ 63 } else { square };
    let king = p(king(position, side));
    let index = |(square, piece): (u32, Piece)| {
        let kind = 2 * piece.role as u32 + u32::from(piece.color != side);
        (piece.role != Role::King).then(|| 1 + p(square) + 64 * kind + 641 * king)
    };
    pieces(position).into_iter().filter_map(index).collect()
}

fn halfka(position: &Position, side: Color) -> Vec<u32> {
    let king = o(king(position, side), side);
    let index = |(square, piece): (u32, Piece)| {
        1 + o(square, side) + 64 * (2 * piece.role as u32 + u32::from(piece.color != side)) + 769 * king
    };
    pieces(position).into_iter().map(index).collect()
}

fn halfka_v2(position: &Position, side: Color) -> Vec<u32> {
    let king = o(king(position, side), side);
    let index = |(square, piece): (u32, Piece)| {
        o(square, side) + 64 * (2 * piece.role as u32 + u32::from(piece.color != side)).min(10) + 704 * king
    };
    pieces(position).into_iter().map(index).collect()
}

fn halfka_v2_hm(position: &Position, side: Color, most: u32, stride: u32) -> Vec<u32> {
    let own = king(position, side);
    let h = |square: u32| o(square, side) ^ if is_right(own) { 0 } else { 7 };
    let bucket = 4 * (7 - h(own) / 8) + 7 - h(own) % 8;
    let index = |(square, piece): (u32, Piece)| {
        h(square) + 64 * (2 * piece.role as u32 + u32::from(piece.color != side)).min(most) + stride * bucket
    };
    pieces(position).into_iter().map(index).collect()
}

/// The squares that a kind of piece attacks among these occupied ones, walked step by step.
fn attacked(kind: Role, up: i32, from: u32, occupied: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let step = |at: u32, (files, ranks): (i32, i32)| {
        let (file, rank) = (at as i32 % 8 + files, at as i32 / 8 + ranks);
        ((0..8).contains(&file) && (0..8).contains(&rank)).then_some((8 * rank + file) as u32)
    };
    let straight = [(0, 1), (1, 0), (0, -1), (-1, 0)];
    let oblique = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
    let (directions, is_far): (Vec<(i32, i32)>, bool) = match kind {
        Role::Pawn => (vec![(-1, up), (1, up)], false),
        Role::Knight => (vec![(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)], false),
        Role::Bishop => (oblique.to_vec(), true),
        Role::Rook => (straight.to_vec(), true),
        Role::Queen => ([straight, oblique].concat(), true),
        Role::King => ([straight, oblique].concat(), false),
    };
    let mut found = Vec::new();
    for direction in directions {
        let mut at = from;
        while let Some(next) = step(at, direction) {
            found.push(next);
            at = next;
            if !is_far || occupied(next) {
                break;
            }
        }
    }
    found
}

/// The rows of the published table: the attacked kinds with a place, and the sizes.
fn places(version: &str, kind: Role) -> &'static str {
    match (version, kind) {
        ("sfnnv16", Role::Pawn) => "NR",
        (_, Role::Pawn) => "PNR",
        ("sfnnv10", Role::Knight | Role::Queen) => "PNBRQK",
        ("sfnnv10", Role::Bishop | Role::Rook) => "PNBRK",
        (_, Role::Knight | Role::Queen) => "PNBRQ",
        (_, Role::Bishop | Role::Rook) => "PNBR",
        ("sfnnv10" | "sfnnv11", Role::King) => "PNBR",
        (_, Role::King) => "",
    }
}

/// The active inputs of threats, and their number.
fn threats(version: &str, position: &Position, side: Color) -> (Vec<u32>, u32) {
    let pushes = version == "sfnnv14";
    let own = king(position, side);
    let t = |square: u32| o(square, side) ^ if is_right(own) { 7 } else { 0 };
    let all: Vec<(u32, bool, Role)> =
        pieces(position).into_iter().map(|(square, piece)| (t(square), piece.color != side, piece.role)).collect();
    let occupied = |square: u32| all.iter().any(|&(at, ..)| at == square);
    // All pairs of an attacker on an empty board, in their order.
    let pairs = |them: bool, kind: Role| -> Vec<(u32, u32)> {
        let up = if them { -1 } else { 1 };
        let mut pairs = Vec::new();
        for from in (0..64).filter(|from| kind != Role::Pawn || (8..56).contains(from)) {
            let mut targets = attacked(kind, up, from, &|_| false);
            if kind == Role::Pawn && pushes {
                targets.push((from as i32 + 8 * up) as u32);
            }
            targets.sort_unstable();
            pairs.extend(targets.into_iter().map(|to| (from, to)));
        }
        pairs
    };
    let letter = |kind: Role| kind.letter().to_ascii_uppercase();
    let (mut found, mut first) = (Vec::new(), 0);
    for them in [false, true] {
        for kind in Role::ALL {
            let places = places(version, kind);
            let pairs = pairs(them, kind);
            for &(a, ..) in all.iter().filter(|piece| piece.1 == them && piece.2 == kind) {
                let mut targets = attacked(kind, if them { -1 } else { 1 }, a, &occupied);
                let before = if them { a.wrapping_sub(8) } else { a + 8 };
                if kind == Role::Pawn && pushes && all.iter().any(|piece| piece.0 == before && piece.2 == Role::Pawn) {
                    targets.push(before);
                }
                for &(b, other, attacked_kind) in all.iter().filter(|piece| targets.contains(&piece.0)) {
                    let Some(place) = places.find(letter(attacked_kind)) else { continue };
                    let is_left_out = kind == attacked_kind && (kind != Role::Pawn || them != other) && a < b;
                    if is_left_out {
                        continue;
                    }
                    let pair = pairs.iter().position(|&pair| pair == (a, b)).expect("a pair of an empty board");
                    let block = places.len() * usize::from(other) + place;
                    found.push(first + (block * pairs.len() + pair) as u32);
                }
            }
            first += (places.len() * 2 * pairs.len()) as u32;
        }
    }
    (found, first)
}

fn pp_3wide(position: &Position, side: Color) -> Vec<u32> {
    let own = king(position, side);
    let t = |square: u32| o(square, side) ^ if is_right(own) { 7 } else { 0 };
    let pawns: Vec<u32> = pieces(position)
        .into_iter()
        .filter(|(_, piece)| piece.role == Role::Pawn)
        .map(|(square, piece)| 48 * u32::from(piece.color != side) + t(square) - 8)
        .collect();
    let mut found = Vec::new();
    for (at, &one) in pawns.iter().enumerate() {
        for &other in &pawns[..at] {
            let (high, low) = (one.max(other), one.min(other));
            if (one % 8).abs_diff(other % 8) <= 1 {
                found.push(high * (high - 1) / 2 + low);
            }
        }
    }
    found
}

/// The lists of a column for all positions, in one tile.
/// The records of positions, without results, from which tiles are made.
struct Records {
    batch: Arc<Batch>,
    results: Vec<GroupResults>,
    mask: Vec<u64>,
}

impl Records {
    fn of(positions: &[Position]) -> Self {
        let mut batch = Batch::new();
        for position in positions {
            batch.push(Packed::pack(position).expect("chosen so"), position.halfmove, position.fullmove);
        }
        let results = vec![GroupResults::default(); positions.len().div_ceil(Group::LEN)];
        let mut mask = vec![!0; positions.len().div_ceil(64)];
        if let (Some(last), 1..) = (mask.last_mut(), positions.len() % 64) {
            *last = !0 >> (64 - positions.len() % 64);
        }
        Self { batch: Arc::new(batch), results, mask }
    }
    fn tile(&self, analyzer: &'static dyn Analyzer) -> Tile<'_> {
        Tile::new(analyzer, &self.batch, 0, self.batch.len(), &self.results, &self.mask)
    }
}

fn column(positions: &[Position], name: &str) -> Lists {
    let columns = Columns::named(name).unwrap_or_else(|error| panic!("{error}"));
    let records = Records::of(positions);
    match columns.iter().next().expect("a column").fill(&records.tile(Tier::PORTABLE.analyzer().unwrap())) {
        Array::Lists(lists) => lists,
        other => panic!("{other:?}"),
    }
}

fn check(positions: &[Position], set: &str, size: u32, twin: impl Fn(&Position, Color) -> Vec<u32>) {
    for (name, side) in [("white", None), ("black", None), ("stm", Some(false)), ("nstm", Some(true))] {
        let lists = column(positions, &format!("features:{set}:{name}"));
        let Items::I32(indices) = lists.items() else { panic!("{lists:?}") };
        for (row, position) in positions.iter().enumerate() {
            let side = match (name, side) {
                ("white", _) => Color::White,
                ("black", _) => Color::Black,
                (_, is_other) => {
                    if is_other == Some(true) {
                        !position.side_to_move
                    } else {
                        position.side_to_move
                    }
                }
            };
            let mut expected: Vec<i32> = twin(position, side).into_iter().map(|index| index as i32).collect();
            expected.sort_unstable();
            let found = &indices[lists.range(row).expect("no list is missing")];
            assert_eq!(found, expected, "{set} {name}: {position}");
            assert!(found.iter().all(|&index| (0..size as i32).contains(&index)), "{set} {name}: {position}");
        }
    }
}

#[test]
fn pieces_on_squares() {
    let positions = positions();
    let dotted = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    let sets: [(&str, u32, Twin); 8] = [
        ("chess768", 768, chess768),
        ("chess768_hm", 768, chess768_hm),
        ("halfkp", 41_024, halfkp),
        ("halfka", 49_216, halfka),
        ("halfka_v2", 45_056, halfka_v2),
        ("halfka_v2_hm", 22_528, |position, side| halfka_v2_hm(position, side, 10, 704)),
        ("halfka_v2_hm12", 24_576, |position, side| halfka_v2_hm(position, side, 11, 768)),
        ("pp_3wide", 4_560, pp_3wide),
    ];
    for (set, size, twin) in sets {
        check(&positions, set, size, twin);
    }
    let layout = dotted(&BUCKETS_32);
    check(&positions, &format!("chess768_kb:10:{layout}"), 7_680, chess768_kb_32);
    let layout = dotted(&buckets_64());
    check(&positions, &format!("chess768_kb:13:{layout}"), 768 * 13, chess768_kb_64);
}

#[test]
fn threats_of_all_versions() {
    let positions: Vec<Position> = positions().into_iter().step_by(9).collect();
    let versions = [
        ("sfnnv10", "sfnnv10", 79_856),
        ("sfnnv11", "sfnnv11", 66_864),
        ("sfnnv12", "sfnnv12", 60_144),
        ("sfnnv13", "sfnnv12", 60_144),
        ("sfnnv14", "sfnnv14", 60_720),
        ("sfnnv15", "sfnnv14", 60_720),
        ("sfnnv16", "sfnnv16", 59_808),
    ];
    for (name, version, size) in versions {
        check(&positions, &format!("threats:{name}"), size, |position, side| {
            let (found, inputs) = threats(version, position, side);
            assert_eq!(inputs, size);
            found
        });
    }
}

/// Each part of a joined set counts on where the one before it ends.
#[test]
fn joined_sets() {
    let positions: Vec<Position> = positions().into_iter().step_by(50).collect();
    let size = 59_808 + 4_560 + 24_576;
    check(&positions, "threats:sfnnv16+pp_3wide+halfka_v2_hm12", size, |position, side| {
        let (mut all, first) = threats("sfnnv16", position, side);
        all.extend(pp_3wide(position, side).into_iter().map(|index| first + index));
        all.extend(halfka_v2_hm(position, side, 11, 768).into_iter().map(|index| first + 4_560 + index));
        all
    });
}

#[test]
fn planes_are_sets() {
    let positions: Vec<Position> = positions().into_iter().step_by(20).collect();
    for (name, side) in [("white", Color::White), ("black", Color::Black)] {
        let lists = column(&positions, &format!("features:planes:12:{name}"));
        let Items::U64(sets) = lists.items() else { panic!("{lists:?}") };
        for (row, position) in positions.iter().enumerate() {
            let mut expected = [0_u64; 12];
            for (square, piece) in pieces(position) {
                expected[6 * usize::from(piece.color != side) + piece.role as usize] |= 1 << o(square, side);
            }
            assert_eq!(sets[lists.range(row).expect("no list is missing")], expected, "{position}");
        }
    }
}

#[test]
fn output_buckets() {
    let positions: Vec<Position> = positions().into_iter().step_by(20).collect();
    let mut batch = Batch::new();
    positions.iter().for_each(|position| batch.push(Packed::pack(position).expect("chosen so"), 0, 1));
    let batch = Arc::new(batch);
    let results = vec![GroupResults::default(); positions.len().div_ceil(Group::LEN)];
    let mask = vec![!0; positions.len().div_ceil(64)];
    let tile = Tile::new(Tier::PORTABLE.analyzer().unwrap(), &batch, 0, positions.len(), &results, &mask);
    let names = ["output_bucket:8", "output_bucket:bullet:8", "output_bucket:bullet:1", "output_bucket:bullet:5"];
    let columns = Columns::named(&names.join(",")).unwrap();
    let columns: Vec<Array> = columns.iter().map(|column| column.fill(&tile)).collect();
    for (row, position) in positions.iter().enumerate() {
        let pieces = i64::from(position.occupied().len());
        let expected = [(pieces - 1) / 4, (pieces - 2) / 4, (pieces - 2) / 32, (pieces - 2) / 7];
        assert_eq!(columns.iter().map(|column| column.number(row)).collect::<Vec<_>>(), expected.map(Some));
    }
}

#[test]
fn names_that_are_no_features() {
    for (name, message) in [
        ("features:halfkp", "halfkp"),
        ("features:halfkp:left", "`left` is no side of features; sides are white, black, stm, nstm"),
        ("features:halfpk:white", "there is no set of features `halfpk`; there are chess768, "),
        ("features:threats:white", "threats:sfnnv10, threats:sfnnv11"),
        ("features:threats:sfnnv9:stm", "in another way in each version"),
        ("features:chess768_kb:2:0.1:stm", "the layout has 2 numbers"),
        ("features:chess768_kb:4:0.1.2:stm", "the largest number of the layout is 2, and N is 4"),
        ("features:chess768_kb:2:0.x:stm", "something else than numbers"),
        ("features:chess768_kb:stm", "a part of the name is missing"),
        ("features:chess768_kb:99999999999:1:stm", "N is not a number"),
        ("features:planes:12+chess768:stm", "are not joined"),
        ("features::stm", "there is no set of features ``"),
        ("output_bucket:9", "output_bucket:8 and output_bucket:bullet:N"),
        ("output_bucket:bullet:0", "with N from 1 to 32"),
    ] {
        let error = Columns::named(name).unwrap_err().to_string();
        assert!(error.contains(message), "{name}: {error}");
    }
}

/// Boards that no game has, without kings or with 64 pieces, have some list, and nothing panics.
#[test]
fn weird_boards() {
    let positions = weird_positions(&mut Random::new(29), 1_000);
    for set in lanefish::table::feature_parts().map(|part| part.name) {
        let set = match set {
            "threats:VERSION" => "threats:sfnnv14",
            "chess768_kb:N:LAYOUT" => "chess768_kb:1:0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",
            set => set,
        };
        assert_eq!(column(&positions, &format!("features:{set}:stm")).len(), positions.len());
        check_coverage(&positions, set);
    }
}

#[test]
fn coverage_counts_lists() {
    let positions: Vec<Position> = positions().into_iter().step_by(5).collect();
    for set in ["chess768", "chess768_hm", "halfkp", "halfka", "halfka_v2", "halfka_v2_hm", "threats:sfnnv10+halfkp"] {
        check_coverage(&positions, set);
    }
}

/// The coverage of a set counts what is in the lists of both sides, in every implementation.
fn check_coverage(positions: &[Position], set: &str) {
    let Ok(parsed) = FeatureSet::parse_indices(set) else { return };
    let parsed = Arc::new(parsed);
    let mut counts = vec![0; parsed.inputs() as usize];
    let mut most = 0;
    for side in ["white", "black"] {
        let lists = column(positions, &format!("features:{set}:{side}"));
        let Items::I32(indices) = lists.items() else { panic!("{lists:?}") };
        indices.iter().for_each(|&index| counts[index as usize] += 1);
        most = (0..positions.len())
            .map(|row| lists.range(row).map_or(0, |range| range.len()))
            .max()
            .max(Some(most))
            .unwrap();
    }
    let records = Records::of(positions);
    for analyzer in Tier::all().flat_map(Tier::implementations) {
        // In two parts, which are merged.
        let (mut all, mut other) = [(); 2].map(|()| Stats::new().with_features(Arc::clone(&parsed))).into();
        all.add_tile(&records.tile(analyzer));
        other.merge(&all);
        let features = other.report(false).features.expect("counted");
        assert_eq!(features.counts, counts, "{set}, {analyzer:?}");
        assert_eq!(features.lists, 2 * positions.len() as u64);
        assert_eq!(features.active_max, most as u64, "{set}");
        assert_eq!(features, all.report(false).features.expect("counted"));
    }
}
