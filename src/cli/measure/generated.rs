//! Generated texts and files, with what a reader must find in them.

use lanefish::chess::Position;
use lanefish::chess::fen::CastlingStyle;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::formats::{Chunk, Decoded};
use lanefish::packed::Packed;
use lanefish::table::Batch;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Random games, of about three hundred positions each.
const GAMES: u64 = 50;

/// Random games as PGN.
pub(crate) struct RandomGames {
    /// Tags and clocks as Lichess writes them.
    pub(crate) text: String,
    /// The boards in the order of the records.
    pub(crate) boards: Vec<Packed>,
    /// The sum of their legal moves.
    pub(crate) legal_moves: u64,
}

impl RandomGames {
    /// Always the same games.
    pub(crate) fn play() -> Self {
        let (mut text, mut boards, mut legal_moves) = (String::new(), Vec::new(), 0);
        let play = RandomPlay::new(5, Start::Standard).take_while(|played| played.game < GAMES);
        for played in play {
            let mut position = played.position;
            let (game, ply) = (played.game, played.ply);
            if ply == 0 {
                text.push_str(&tags(game));
            }
            // Writing to a string cannot fail.
            let _ = match played.next {
                Some(next) => {
                    let (number, dots) = (ply / 2 + 1, if ply % 2 == 0 { "." } else { "..." });
                    let clock = 18_000 - u32::from(ply) * 40;
                    let (minutes, seconds) = (clock / 60 % 60, clock % 60);
                    write!(
                        text,
                        "{number}{dots} {} {{ [%clk {}:{minutes:02}:{seconds:02}] }} ",
                        next.san(&position),
                        clock / 3600
                    )
                }
                None => write!(text, "1/2-1/2\n\n"),
            };
            position.drop_unusable_en_passant();
            legal_moves += u64::from(position.count_legal_moves());
            boards.extend(Packed::pack(&position));
        }
        Self { text, boards, legal_moves }
    }
}

/// The tags that Lichess writes.
fn tags(game: u64) -> String {
    let (white, black) = (1000 + game * 17 % 1500, 1000 + game * 29 % 1500);
    format!(
        "[Event \"Rated Blitz game\"]\n[Site \"https://example.org/{game:08}\"]\n[Date \"2026.01.02\"]\n\
         [Round \"-\"]\n[White \"player{white}\"]\n[Black \"player{black}\"]\n[Result \"1/2-1/2\"]\n\
         [UTCDate \"2026.01.02\"]\n[UTCTime \"03:04:05\"]\n[WhiteElo \"{white}\"]\n[BlackElo \"{black}\"]\n\
         [WhiteRatingDiff \"+1\"]\n[BlackRatingDiff \"-1\"]\n[ECO \"A{:02}\"]\n[Opening \"Opening {}\"]\n\
         [TimeControl \"18000+0\"]\n[Termination \"Normal\"]\n\n",
        game % 100,
        game % 40
    )
}

/// Lines of FEN.
pub(crate) fn fen_lines(positions: &[Position]) -> Vec<u8> {
    let mut lines = Vec::new();
    for position in positions {
        position.write_fen(&mut lines, CastlingStyle::Outermost);
        lines.push(b'\n');
    }
    lines
}

/// The positions as records, without those that have no packed form.
pub(crate) fn batch_of(positions: &[Position]) -> Batch {
    let mut batch = Batch::new();
    for position in positions {
        if let Ok(board) = Packed::pack(position) {
            batch.push(board, position.halfmove, position.fullmove);
        }
    }
    batch
}

/// The boards of records.
pub(crate) fn boards_of(batch: &Batch) -> impl Iterator<Item = Packed> {
    (0..batch.len()).map(|record| batch.board(record))
}

/// The boards that a reader has found.
pub(crate) fn boards_found(decoded: &Decoded) -> Vec<Packed> {
    decoded.batches.iter().flat_map(boards_of).collect()
}

/// Bytes as they come from a file.
pub(crate) fn chunk(bytes: Vec<u8>) -> Chunk {
    Chunk::new(Arc::from(Path::new("bench")), bytes.into())
}
