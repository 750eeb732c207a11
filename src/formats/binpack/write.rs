//! Writing chains, and chunks of them.

use super::bits::{BitWriter, bits_for, to_zigzag};
use super::choices::Choices;
use super::stem::{self, Values};
use super::{CARRIES, HEADER, MAGIC, MOST_PLIES, STEM};
use crate::chess::{Color, Move, Position};
use crate::formats::Losses;
use crate::formats::encode::{Cut, Encoded, Encoder, Refuse, Writer, lost_fields};
use crate::formats::training::{self, board_of, number};
use crate::table::{Batch, Field, Fields, Tile};
use std::io;
use std::ops::Range;

/// Fewest records of a block that is encoded at once.
const BLOCK: usize = 4096;
/// Bytes after which a chunk ends with the chain.
const CHUNK: usize = 1 << 20;
/// Most bytes of the further plies of a chain: the original program has no room for more.
const MOST_MOVETEXT: usize = 10 << 10;
/// Most bits of a further ply: of 32 pieces, of 255 choices, and of four groups of a score.
const MOST_BITS: usize = 5 + 8 + 20;

/// Writes binpack files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing;

/// The ply of a record: the one that it has, if that fits the number of its move, which readers derive from it.
fn ply_of(batch: &Batch, row: usize) -> u16 {
    let fullmove = batch.fullmove[row];
    let black = u32::from(batch.board(row).side_to_move() == Color::Black);
    let of_fullmove = 2 * u32::from(fullmove.max(1) - 1) + black;
    let own = number(batch, row, Field::Ply).map(|ply| ply as u32);
    own.filter(|ply| ply / 2 + 1 == u32::from(fullmove)).unwrap_or(of_fullmove).min(u32::from(u16::MAX)) as u16
}

/// Whether all castling rights are those of standard chess.
fn is_standard(batch: &Batch, row: usize) -> bool {
    let castling = batch.board(row).planes().castling();
    castling == 0 || batch.position(row).is_ok_and(|position| position.castles_as_standard())
}

/// The move of a record; none that castles as in Chess960.
fn move_of(batch: &Batch, row: usize) -> Option<Move> {
    let mv = Move::from_bits(number(batch, row, Field::Move)? as u16)?;
    let castles = mv.kind == crate::chess::moves::MoveKind::Castle;
    (!castles || is_standard(batch, row)).then_some(mv)
}

impl Encoder for Writing {
    fn fields(&self) -> Fields {
        CARRIES.without(Field::KeyEnPassant)
    }
    fn cut(&self) -> Cut {
        Cut::Chains(BLOCK)
    }
    fn needs(&self) -> Fields {
        // Those that are bad: a record needs no move.
        Fields::NONE
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        training::illegal_moves(tile, refuse);
    }
    fn is_implied(&self, batch: &Batch, row: usize) -> bool {
        number(batch, row, Field::Move).is_none() && training::is_last_of_game(batch, row)
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_fields(tile, losses, |_, field| field == Field::Mate || self.fields().contains(field));
        training::made_up(tile, losses);
        let batch = tile.batch;
        let own_ply =
            |row: &usize| number(batch, *row, Field::Ply).is_some_and(|ply| ply != i64::from(ply_of(batch, *row)));
        losses.lack(Field::Ply.quoted_name(), tile.rows().filter(own_ply).count() as u64);
        let fullmove = |row: &usize| batch.fullmove[*row] != ply_of(batch, *row) / 2 + 1;
        losses
            .lack("numbers of full moves that do not follow from the ply", tile.rows().filter(fullmove).count() as u64);
        training::changed_where(tile, losses, "castling rights of Chess960, which are removed", |row| {
            !is_standard(batch, row)
        });
        training::changed_where(tile, losses, "castling moves of Chess960, which are left out", |row| {
            number(batch, row, Field::Move).is_some() && move_of(batch, row).is_none()
        });
        training::changed_where(tile, losses, "plies above 16,383, stored as 16,383", |row| {
            ply_of(batch, row) > MOST_PLIES
        });
        training::changed_where(tile, losses, "en passant squares without a pawn before them", |row| {
            batch.board(row).en_passant().is_some()
                && batch.position(row).is_ok_and(|position| position.en_passant_victim().is_none())
        });
        training::saturated(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
    fn goes_on(&self, (before, last): (&Batch, usize), (next, row): (&Batch, usize)) -> bool {
        let same = |field| number(before, last, field) == number(next, row, field);
        let (ply, next_ply) = (ply_of(before, last), ply_of(next, row));
        if !same(Field::Game) || !same(Field::Result) || next_ply != ply.wrapping_add(1) {
            return false;
        }
        let (here, there) = (board_of(before, last), board_of(next, row));
        let Some(mut after) = move_of(before, last).and_then(|mv| here.play_move(mv).ok()) else {
            return false;
        };
        after.fullmove = there.fullmove;
        after.unmarked() == there.unmarked()
            && move_of(next, row).is_some()
            && is_standard(before, last)
            && is_standard(next, row)
    }
    fn block(&self, _first: u64, runs: &[(&Batch, Range<usize>)], block: &mut Encoded) -> io::Result<()> {
        let mut chain = Chain::default();
        for (batch, rows) in runs {
            for row in rows.clone() {
                chain.add(self, batch, row, block)?;
                block.records += 1;
            }
        }
        chain.end(block);
        Ok(())
    }
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Chunks::default())
    }
}

/// The chain that is being written.
#[derive(Default)]
struct Chain<'a> {
    /// Where its stem is among the bytes of the block, and the last record.
    last: Option<(usize, &'a Batch, usize)>,
    further: u16,
    /// The last score, of its side to move.
    score: i16,
    bits: BitWriter,
}

impl<'a> Chain<'a> {
    fn add(&mut self, encoder: &Writing, batch: &'a Batch, row: usize, block: &mut Encoded) -> io::Result<()> {
        let wrong = || io::Error::other("a record without a legal move");
        let score = training::score_of_mover(batch, row);
        if let Some((start, before, last)) = self.last
            && self.further < u16::MAX
            && block.bytes.len() - start - STEM + MOST_BITS.div_ceil(8) + 1 <= MOST_MOVETEXT
            && encoder.goes_on((before, last), (batch, row))
        {
            let mv = move_of(batch, row).ok_or_else(wrong)?;
            let sides = board_of(batch, row).sides();
            let choices = Choices::of(&sides, mv.from).ok_or_else(wrong)?;
            let number = choices.number_of(mv).ok_or_else(wrong)?;
            let piece = (sides.own & ((1 << mv.from.index()) - 1)).count_ones();
            let to = &mut block.bytes;
            self.bits.put(piece, bits_for(sides.own.count_ones()), to);
            self.bits.put(number, bits_for(choices.count()), to);
            let mut change = to_zigzag(score.wrapping_sub(self.score.wrapping_neg()));
            loop {
                let more = change > 15;
                self.bits.put(u32::from(change & 15) | u32::from(more) << 4, 5, to);
                if !more {
                    break;
                }
                change >>= 4;
            }
            self.further += 1;
            self.last = Some((start, batch, row));
        } else {
            self.end(block);
            let start = block.bytes.len();
            let mut position = batch.position(row).map_err(io::Error::other)?;
            if !position.castles_as_standard() {
                position.castling = Position::empty().castling;
            }
            let values = Values {
                mv: move_of(batch, row),
                score,
                ply: ply_of(batch, row).min(MOST_PLIES),
                result: training::result_of_mover(batch, row),
                further: 0,
            };
            block.bytes.extend_from_slice(&stem::write(&position, values));
            self.last = Some((start, batch, row));
        }
        self.score = score;
        Ok(())
    }

    /// Ends the chain, if there is one.
    fn end(&mut self, block: &mut Encoded) {
        if let Some((start, ..)) = self.last.take() {
            std::mem::take(&mut self.bits).finish(&mut block.bytes);
            let further = std::mem::take(&mut self.further);
            block.bytes[start + STEM - 2..start + STEM].copy_from_slice(&further.to_be_bytes());
            block.chains.push(block.bytes.len());
        }
    }
}

/// Gathers chains into chunks.
#[derive(Debug, Default)]
struct Chunks {
    content: Vec<u8>,
}

impl Chunks {
    fn chunk(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        if self.content.is_empty() {
            return Ok(());
        }
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4..].copy_from_slice(&(self.content.len() as u32).to_le_bytes());
        out.write_all(&header)?;
        out.write_all(&self.content)?;
        self.content.clear();
        Ok(())
    }
}

impl Writer for Chunks {
    fn put(&mut self, block: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        let mut start = 0;
        for &end in &block.chains {
            if self.content.len() >= CHUNK {
                self.chunk(out)?;
            }
            self.content.extend_from_slice(&block.bytes[start..end]);
            start = end;
        }
        Ok(())
    }
    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<Option<Vec<u8>>> {
        self.chunk(out)?;
        Ok(None)
    }
}
