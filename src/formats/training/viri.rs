//! viriformat: games for training, each as its start position and its moves with their scores.
//!
//! | bytes | meaning |
//! | --- | --- |
//! | 32 | the start position as a record of [marlinformat](super::marlin), whose score is not used |
//! | 4 for each ply | the move (2) and the score of the position before it, as White sees it (2) |
//! | 4 | zero: the game ends |
//!
//! Numbers are little-endian. A move has its origin in bits 0 to 5, its target in bits 6 to 11, the promotion piece in
//! bits 12 and 13 (knight, bishop, rook, queen), and its kind in bits 14 and 15: normal, en passant, castling (the king
//! takes its rook, also in standard chess), promotion. There is no header, no index and no checksum. The end of a game
//! can be found without the rules of chess, so that a file can be divided between any two games.
//!
//! ## Reading
//!
//! Every position before a move is a record: with its move, its score, the result of the game, the number of the game
//! and the ply, counted from the start position that is stored. A game with an impossible start position is rejected.
//! An illegal move is also a reject: the records before it stay, and the rest of the game is not read. A game without
//! an end is damage, because that is what a truncated file looks like. En passant squares of start positions follow the
//! rule of all readers.
//!
//! ## Writing
//!
//! Records that continue the game of the one before are written as one game; any other record begins a game and costs
//! 40 bytes instead of 4. A record without a legal move cannot be written; the exception is the last position of a
//! game, which is left out because it follows from the moves.
//!
//! The layout is that of the crate `viriformat`.

use super::decode_chains::{self, IllegalMoveFound, Run, Scored};
use super::encode_chains;
use super::marlin::{self, Marlin};
use crate::chess::{Move, MoveKind, Role, Square};
use crate::error::Damage;
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::decode_records::{BadRecord, Fixed, hexadecimal};
use crate::formats::codec::encode::{BlockRecords, Boundaries, Encoded, Encoder, lost_columns};
use crate::formats::codec::encoder_columns::Rows;
use crate::formats::codec::layout::{Chains, Link};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, Sampled, too_long};
use crate::replay::Board;
use crate::table::{Field, Fields, ScoreCodes, Tile};
use std::io;

/// Number of bytes of a start position.
const START: usize = 32;
/// Number of bytes of a move with its score.
const PLY: usize = 4;
/// Minimum number of records of a block.
const BLOCK: usize = 4096;
/// Number of bytes of a bad game that a reject keeps.
const RAW: usize = 4096;

/// The fields of the records.
pub(in crate::formats) const CARRIES: Fields =
    Fields::of(&[Field::Score, Field::Result, Field::Move, Field::Ply, Field::Game, Field::KeyEnPassant]);

/// The codec of viriformat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viri;

impl Codec for Viri {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "viri",
            title: "viriformat: training data as games with a score for each move",
            extensions: &["viri", "vf"],
            has_games: true,
            can_be_empty: false,
            selects: false,
            carries: CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::of_sample(self.sampled(head))
    }
    fn sampled(&self, head: &[u8]) -> Option<Sampled> {
        Some(sample(head))
    }
    fn layout(&self) -> Layout {
        Layout::Chains(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode(chunk, options).with_score_codes(ScoreCodes::Viridithas)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
}

/// Counts how many of the first start positions and moves can be read; a bad one ends its game.
fn sample(head: &[u8]) -> Sampled {
    /// This many are enough.
    const EXAMINED: usize = 100;
    let mut sampled = Sampled::default();
    let mut rest = head;
    while sampled.examined < EXAMINED
        && let Some((header, plies)) = rest.split_first_chunk::<START>()
    {
        sampled.examined += 1;
        let len = len_of_game(rest);
        let plies = &plies[..len.map_or(plies.len(), |len| len - START - PLY)];
        rest = len.map_or(&[], |len| &rest[len..]);
        let start = marlin::examine(header).and_then(|()| Marlin::read(header, &DecodeOptions::default()));
        let start = match start {
            Ok(start) => start,
            Err(bad) => {
                sampled.bad(bad.message.into_owned());
                continue;
            }
        };
        sampled.good += 1;
        let mut board = Board::new(&start.position);
        for &[m0, m1, ..] in plies.as_chunks::<PLY>().0.iter().take(EXAMINED) {
            sampled.examined += 1;
            let next = move_of(u16::from_le_bytes([m0, m1])).and_then(|mv| board.play_move(mv).ok());
            let Some(next) = next else {
                sampled.bad("a move that is not legal".to_owned());
                break;
            };
            sampled.good += 1;
            board = next;
        }
    }
    sampled
}

/// Number of bytes of the game that begins here, with its end; `None` if the end is not among them.
fn len_of_game(bytes: &[u8]) -> Option<usize> {
    let (plies, _) = bytes.get(START..)?.as_chunks::<PLY>();
    // Many moves at once, without a branch for each.
    const AT_ONCE: usize = 16;
    let (many, rest) = plies.as_chunks::<AT_ONCE>();
    let has_end = |plies: &[[u8; PLY]]| plies.iter().fold(false, |any, ply| any | (u32::from_ne_bytes(*ply) == 0));
    let before = many.iter().take_while(|plies| !has_end(&plies[..])).count();
    let place = match many.get(before) {
        Some(last) => last.iter().position(|ply| *ply == [0; PLY])?,
        None => rest.iter().position(|ply| *ply == [0; PLY])?,
    };
    Some(START + PLY * (AT_ONCE * before + place + 1))
}

/// Maximum number of bytes of a game: it is held in memory as a whole.
fn longest_game(max_record: usize) -> usize {
    max_record.max(2 * START) / PLY * PLY
}

impl Chains for Viri {
    fn link(&self, bytes: &[u8], max_record: usize) -> Link {
        let longest = longest_game(max_record);
        match len_of_game(&bytes[..bytes.len().min(longest)]) {
            Some(len) => Link::Chain(len as u64),
            None if bytes.len() >= longest => Link::Lost(longest as u64),
            None => Link::More,
        }
    }
}

/// The move in these bits; `None` if they are not a move.
const fn move_of(bits: u16) -> Option<Move> {
    let promotion = bits >> 12 & 3;
    let kind = match (bits >> 14, promotion) {
        (0, 0) => MoveKind::Normal,
        (1, 0) => MoveKind::EnPassant,
        (2, 0) => MoveKind::Castle,
        (3, _) => MoveKind::Promotion(Role::PROMOTIONS[promotion as usize]),
        _ => return None,
    };
    Some(Move { from: Square::new((bits & 63) as u8), to: Square::new((bits >> 6 & 63) as u8), kind })
}

/// The bits of a move as [`Move::to_bits`] has them; bits that are not a move become one that cannot be played.
#[inline(always)]
const fn usual_bits(bits: u16) -> u16 {
    // Translates the kinds normal, en passant, castling and promotion to our numbers.
    const KINDS: u16 = 0b01_11_10_00;
    bits & 0x3FFF | (KINDS >> (2 * (bits >> 14)) & 3) << 14
}

/// The bits of a move.
const fn bits_of(mv: Move) -> u16 {
    let kind = match mv.kind {
        MoveKind::Normal => 0,
        MoveKind::EnPassant => 1 << 14,
        MoveKind::Castle => 2 << 14,
        MoveKind::Promotion(role) => 3 << 14 | (role.index() as u16 - 1) << 12,
    };
    mv.from.index() as u16 | (mv.to.index() as u16) << 6 | kind
}

/// Decodes a run of games.
fn decode(chunk: &Chunk, options: &DecodeOptions) -> Decoded {
    decode_chains::read_trusting(chunk, options, CARRIES, |records| read_games(chunk, records, options))
}

pub(in crate::formats) fn read_games(
    chunk: &Chunk,
    records: &mut Scored<'_>,
    options: &DecodeOptions,
) -> Result<(), IllegalMoveFound> {
    let bytes = &chunk.bytes[..];
    records.reserve(bytes.len() / PLY);
    let mut at = 0;
    while at < bytes.len() {
        let number = records.decoded.games;
        records.decoded.games += 1;
        let rest = &bytes[at..];
        let longest = longest_game(options.max_record);
        let len = len_of_game(&rest[..rest.len().min(longest)]);
        if len.is_none() && rest.len() >= longest {
            let mut reject = too_long(&chunk.file, &hexadecimal(&rest[..RAW.min(longest)]), options.max_record);
            reject.place.game = Some(number);
            records.push_reject(at, reject);
            at += longest;
            continue;
        }
        let game = &rest[..len.unwrap_or(rest.len())];
        read_game(game, at, number, len.is_some(), records, options)?;
        at += game.len();
    }
    Ok(())
}

/// Reads the game that begins at a byte of the chunk.
///
/// # Errors
/// If a move that was trusted is illegal.
fn read_game(
    game: &[u8],
    at: usize,
    number: u64,
    is_whole: bool,
    records: &mut Scored<'_>,
    options: &DecodeOptions,
) -> Result<(), IllegalMoveFound> {
    let raw = || hexadecimal(&game[..game.len().min(RAW)]);
    let Some((header, plies)) = game.split_first_chunk::<START>() else {
        let what = format!("the last game is truncated: {} of {START} bytes of its start position", game.len());
        records.decoded.damage.push(Damage::at(at as u64, what));
        return Ok(());
    };
    let start = Marlin::read(header, options).and_then(|start| Ok((records.begin(&start)?, start)));
    let (mut board, result) = match start {
        Ok((board, start)) => (board, start.result.unwrap_or(1)),
        Err(bad) => {
            records.reject(at, (Some(number), None), bad, raw());
            return Ok(());
        }
    };
    let plies = if is_whole { &plies[..plies.len() - PLY] } else { plies };
    let (plies, rest) = plies.as_chunks::<PLY>();
    let mut wrong = None;
    if records.trust() {
        let bits = plies.iter().map(|&[m0, m1, ..]| usual_bits(u16::from_le_bytes([m0, m1])));
        let scores = plies.iter().map(|&[.., s0, s1]| i16::from_le_bytes([s0, s1]));
        records.replay(board, bits, scores)?;
    } else {
        for (ply, &[m0, m1, s0, s1]) in plies.iter().enumerate() {
            let bits = u16::from_le_bytes([m0, m1]);
            let Some((next, mv)) = move_of(bits).and_then(|mv| Some((board.play_move(mv).ok()?, mv))) else {
                wrong = Some((ply, bits));
                break;
            };
            records.push(&board, i16::from_le_bytes([s0, s1]), Some(mv.to_bits()));
            board = next;
        }
    }
    records.end_run(Run { origin: at, result, ply: 0, game: number });
    if let Some((ply, bits)) = wrong {
        let message = match move_of(bits) {
            Some(mv) => format!("the move {} is not legal", mv.uci_as(true)),
            None => format!("no move has the bits {bits:04x}"),
        };
        let place = (Some(number), Some(u16::try_from(ply).unwrap_or(u16::MAX)));
        records.reject(at + START + PLY * ply, place, BadRecord::new("illegal_move", message), raw());
        return Ok(());
    }
    if !is_whole {
        let what = format!(
            "the last game is truncated: it does not end, {} and {} bytes after its start position",
            crate::text::numbers::counted(plies.len() as u64, "move"),
            rest.len()
        );
        records.decoded.damage.push(Damage::at((at + START + PLY * plies.len()) as u64, what));
    }
    Ok(())
}

impl Encoder for Viri {
    fn fields(&self) -> Fields {
        CARRIES
    }
    fn needs(&self) -> Fields {
        Fields::of(&[Field::Move])
    }
    fn cut(&self) -> Boundaries {
        Boundaries::Chains(BLOCK)
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        encode_chains::illegal_moves(tile, refuse);
        for (row, _) in encode_chains::without_move(tile).filter(|&(_, is_implied)| !is_implied) {
            refuse(row, "no_move", "viriformat cannot hold a record without a move".to_owned());
        }
    }
    fn decides_by(&self) -> Fields {
        encode_chains::OF_LAST_POSITIONS
    }
    fn unwritten(&self, tile: &Tile<'_>) -> Vec<(usize, bool)> {
        // Others have been refused, but that was before records were put into another order.
        encode_chains::without_move(tile).collect()
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || CARRIES.contains(field));
        encode_chains::made_up(tile, losses);
        encode_chains::long_clocks(tile, losses, "halfmove clocks above 255, stored as 255", u8::MAX.into());
    }
    fn can_change(&self) -> bool {
        true
    }
    fn continues(&self, (before, last): (&Rows<'_>, usize), (next, row): (&Rows<'_>, usize)) -> bool {
        let after = || before.board_after_accepted(last, before.mv(last)?);
        before.is_of_same_game(last, next, row) && after().map(Board::unmarked) == Some(next.board(row).unmarked())
    }
    fn block(&self, records: &BlockRecords<'_>, block: &mut Encoded) -> io::Result<()> {
        records.rows(|columns, row, begins| {
            if begins {
                end_game(block);
                let clocks = [columns.batch.halfmove[row], columns.batch.fullmove[row]];
                let (idle, result) = (columns.idle(row), columns.result(row));
                let start = marlin::record_of(&columns.batch.board(row), idle, clocks, 0, result);
                block.bytes.extend_from_slice(&start);
            }
            let mv = columns.mv(row).ok_or_else(|| io::Error::other("a record without a move"))?;
            block.bytes.extend_from_slice(&bits_of(mv).to_le_bytes());
            block.bytes.extend_from_slice(&columns.score(row).to_le_bytes());
            block.records += 1;
            Ok(())
        })?;
        end_game(block);
        Ok(())
    }
}

/// Ends the game that is being written, if there is one.
fn end_game(block: &mut Encoded) {
    if !block.bytes.is_empty() {
        block.bytes.extend_from_slice(&[0; PLY]);
        block.chains.push(block.bytes.len());
    }
}
