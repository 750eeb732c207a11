//! Shared helpers of the tests.

use lanefish::Error;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{Color, Piece, Position, Role, Square};
use lanefish::formats::DecodeOptions;
use lanefish::input::{Access, Inputs};
use lanefish::packed::{Group, Packed};
use lanefish::pipeline::{Job, ReadOptions, RunError, RunOptions, Shard, Summary};
use std::io::Read;
use std::ops::Deref;

#[path = "../src/testing.rs"]
mod testing;
pub(crate) use testing::{shared_data, skipped};

/// The text of a file of the shared sample data, decompressed; `None` as in [`shared_data`].
pub(crate) fn shared_text(name: &str) -> Option<String> {
    let bytes = std::fs::read(shared_data(name)?).expect("readable sample data");
    let mut text = String::new();
    if name.ends_with(".zst") {
        let mut decoder = zstd::Decoder::new(&bytes[..]).expect("a zstd frame");
        decoder.read_to_string(&mut text).expect("valid sample data");
    } else {
        text = String::from_utf8(bytes).expect("sample data is UTF-8");
    }
    Some(text)
}

/// The start position, Kiwipete and other positions commonly used to test move generators; some are Chess960.
pub(crate) const FAMOUS: [&str; 9] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
    "rbbqn1kr/pp2p1pp/6n1/2pp1p2/2P4P/P7/BP1PPPP1/R1BQNNKR w HAha - 0 9",
];

/// Boards in groups, the last group padded with empty boards.
pub(crate) fn groups(boards: &[Packed]) -> Vec<Group> {
    boards
        .chunks(Group::LEN)
        .map(|chunk| {
            let mut group = Group::default();
            for (lane, &board) in chunk.iter().enumerate() {
                group.set(lane, board);
            }
            group
        })
        .collect()
}

/// The text files of a directory of the shared sample data, decompressed, by name; none if the data is missing.
pub(crate) fn shared_texts(folder: &str) -> Vec<(String, String)> {
    let Some(path) = shared_data(folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> = std::fs::read_dir(path)
        .expect("a readable directory")
        .map(|entry| entry.expect("a readable directory").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.into_iter().filter_map(|name| shared_text(&format!("{folder}/{name}")).map(|text| (name, text))).collect()
}

/// Positions of all kinds: famous ones, random play of standard chess and of Chess960 with these seeds, and some of each
/// file of the sample data.
pub(crate) fn sample_positions(seeds: [u64; 2], played: usize, of_each_file: usize) -> Vec<Position> {
    let mut positions: Vec<Position> = FAMOUS.iter().map(|fen| fen.parse().expect("a position")).collect();
    for (seed, start) in seeds.into_iter().zip([Start::Standard, Start::Chess960]) {
        positions.extend(RandomPlay::new(seed, start).take(played).map(|played| played.position));
    }
    for (_, text) in shared_texts("epd") {
        let lines: Vec<&str> = text.lines().collect();
        for line in lines.iter().step_by(lines.len().div_ceil(of_each_file)) {
            let fen: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            positions.extend(Position::from_fen_unvalidated(&format!("{} 0 1", fen.join(" "))).ok());
        }
    }
    positions.retain(|position| {
        let kings = Color::ALL.map(|color| position.pieces(color, Role::King).len());
        kings == [1, 1] && Packed::pack(position).is_ok()
    });
    positions
}

/// Boards that decode, and are not positions of chess: without kings, with many of them, with 64 queens.
pub(crate) fn weird_positions(random: &mut Random, count: usize) -> Vec<Position> {
    let mut positions = Vec::new();
    while positions.len() + 1 < count {
        let mut position = Position::empty();
        for _ in 0..[3, 12, 40, 64, 300][random.below(5) as usize] {
            let roles = [&Role::ALL[..], &[Role::Queen], &[Role::King, Role::Rook]][random.below(3) as usize];
            let role = roles[random.below(roles.len() as u64) as usize];
            let color = Color::ALL[random.below(2) as usize];
            position.put(Square::new(random.below(64) as u8), Piece { color, role });
        }
        position.side_to_move = Color::ALL[random.below(2) as usize];
        if Packed::pack(&position).is_ok() {
            positions.push(position);
        }
    }
    let mut full = Position::empty();
    Square::all().for_each(|square| full.put(square, Piece { color: Color::White, role: Role::Queen }));
    positions.push(full);
    positions
}

/// Random numbers that are the same in every run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// What a run read, and why it ended early, if it did.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) summary: Summary,
    pub(crate) failure: Option<Error>,
}

impl Deref for Ended {
    type Target = Summary;
    fn deref(&self) -> &Summary {
        &self.summary
    }
}

/// Runs a job, as programs do; many tests look at what was read before a failure.
pub(crate) fn run<J: Job>(
    inputs: &Inputs,
    options: RunOptions<'_>,
    job: &J,
    sink: impl FnMut(J::Part) -> Result<(), Error>,
) -> Ended {
    match lanefish::pipeline::run(inputs, options, job, sink) {
        Ok(summary) => Ended { summary, failure: None },
        Err(RunError { error, summary }) => Ended { summary: *summary, failure: Some(error) },
    }
}

/// Sets what is read, in the chain of the options of a run.
pub(crate) trait SetRead: Sized {
    fn reading(self, set: impl FnOnce(ReadOptions) -> ReadOptions) -> Self;
    fn decode(self, decode: DecodeOptions) -> Self {
        self.reading(|read| read.decode(decode))
    }
    fn access(self, access: Access) -> Self {
        self.reading(|read| read.access(access))
    }
    fn shard(self, shard: Option<Shard>) -> Self {
        self.reading(|read| read.shard(shard))
    }
}

impl SetRead for RunOptions<'_> {
    fn reading(mut self, set: impl FnOnce(ReadOptions) -> ReadOptions) -> Self {
        self.read = set(self.read);
        self
    }
}
