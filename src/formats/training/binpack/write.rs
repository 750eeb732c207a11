//! Writes chains, and chunks of chains.

use super::bits::{BitWriter, bits_for, to_zigzag};
use super::move_index::Choices;
use super::stem::{self, Values};
use super::{CARRIES, HEADER, MAGIC, MOST_PLIES, STEM};
use crate::chess::{Move, MoveKind, Position};
use crate::formats::Losses;
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::encode::{BlockRecords, Boundaries, Encoded, Encoder, Writer, lost_columns};
use crate::formats::codec::encoder_columns::Rows;
use crate::formats::training::encode_chains;
use crate::replay::Board;
use crate::simd::bmi2::Bmi2;
use crate::simd::inlined;
use crate::table::{Field, Fields, Tile};
use std::io;
use std::ops::Range;

/// Minimum number of records of a block that is encoded at once.
const BLOCK: usize = 4096;
/// Size at which a chunk ends, with the chain that reaches it.
const CHUNK: usize = 1 << 20;
/// Maximum number of bytes of the further plies of a chain: the original program has no room for more.
const MOST_MOVETEXT: usize = 10 << 10;
/// Maximum number of bits of a further ply: for 32 pieces, for 255 choices, and for four groups of a score.
const MOST_BITS: usize = 5 + 8 + 20;

/// Writes binpack files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing;

/// The move of a record, unless it castles as in Chess960.
#[inline(always)]
fn move_of(rows: &Rows<'_>, row: usize) -> Option<Move> {
    let mv = rows.mv(row)?;
    (mv.kind != MoveKind::Castle || rows.castles_as_standard(row)).then_some(mv)
}

/// The values that decide whether a record continues the chain of another one.
#[derive(Clone, Copy)]
struct Member {
    board: Board,
    mv: Option<Move>,
    ply: u16,
    castles_as_standard: bool,
}

impl Member {
    #[inline(always)]
    fn of(rows: &Rows<'_>, row: usize) -> Self {
        Self {
            board: rows.board(row).unmarked(),
            mv: move_of(rows, row),
            ply: rows.ply_with_fullmove(row),
            castles_as_standard: rows.castles_as_standard(row),
        }
    }

    /// Whether a record of the same game continues the chain.
    #[inline(always)]
    fn leads_to(&self, next: &Self) -> bool {
        let (Some(mv), Some(_)) = (self.mv, next.mv) else {
            return false;
        };
        let mut after = self.board;
        if !self.castles_as_standard
            || !next.castles_as_standard
            || next.ply != self.ply.wrapping_add(1)
            || !after.play_pseudolegal(mv.to_bits())
        {
            return false;
        }
        // The number follows from the ply.
        after.fullmove = next.board.fullmove;
        after.unmarked() == next.board
    }
}

impl Encoder for Writing {
    fn fields(&self) -> Fields {
        CARRIES.without(Field::KeyEnPassant)
    }
    fn cut(&self) -> Boundaries {
        Boundaries::Chains(BLOCK)
    }
    fn needs(&self) -> Fields {
        // Only bad moves are refused: a record need not have a move.
        Fields::NONE
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        encode_chains::illegal_moves(tile, refuse);
    }
    fn unwritten(&self, tile: &Tile<'_>) -> Vec<(usize, bool)> {
        encode_chains::without_move(tile).filter(|&(_, is_implied)| is_implied).collect()
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || self.fields().contains(field));
        encode_chains::made_up(tile, losses);
        encode_chains::without_move_as_a1a1(tile, losses);
        let (batch, rows) = (tile.batch, Rows::of(tile.batch));
        let (mut plies, mut fullmoves) = (0, 0);
        for row in tile.rows() {
            let (ply, record) = (rows.ply_with_fullmove(row), batch.index(row));
            plies += u64::from(rows.has_other_ply(row, ply));
            fullmoves += u64::from(batch.fullmove[row] != ply / 2 + 1);
            if ply > MOST_PLIES {
                losses.change("plies above 16,383, stored as 16,383", record);
            }
            if batch.board(row).en_passant().is_some()
                && batch.position(row).is_ok_and(|position| position.en_passant_victim().is_none())
            {
                losses.change("en passant squares without a pawn before them", record);
            }
        }
        losses.lack(Field::Ply.quoted_name(), plies);
        losses.lack("numbers of full moves that do not follow from the ply", fullmoves);
        encode_chains::of_chess960(tile, losses);
        encode_chains::saturated(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
    fn continues(&self, (before, last): (&Rows<'_>, usize), (next, row): (&Rows<'_>, usize)) -> bool {
        before.is_of_same_game(last, next, row) && Member::of(before, last).leads_to(&Member::of(next, row))
    }
    fn chains(&self, columns: &Rows<'_>, rows: Range<usize>, begins: &mut dyn FnMut(usize)) {
        let mut look = inlined(
            #[inline(always)]
            || {
                let mut last: Option<Member> = None;
                for row in rows.clone() {
                    let next = Member::of(columns, row);
                    if last.is_some_and(|last| !columns.is_of_same_game(row - 1, columns, row) || !last.leads_to(&next))
                    {
                        begins(row);
                    }
                    last = Some(next);
                }
            },
        );
        match Bmi2::detect() {
            Some(bmi2) => bmi2.enter(look),
            None => look(),
        }
    }
    fn block(&self, records: &BlockRecords<'_>, block: &mut Encoded) -> io::Result<()> {
        let mut write = inlined(
            #[inline(always)]
            || {
                let mut chain = Chain::default();
                records.rows(
                    #[inline(always)]
                    |columns, row, begins| {
                        block.records += 1;
                        chain.add(columns, row, begins, block)
                    },
                )?;
                chain.end(block);
                Ok(())
            },
        );
        match Bmi2::detect() {
            Some(bmi2) => bmi2.enter(write),
            None => write(),
        }
    }
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(Chunks::default())
    }
}

/// The chain that is being written.
#[derive(Default)]
struct Chain {
    /// The offset of its stem in the bytes of the block.
    start: Option<usize>,
    further: u16,
    /// The last score, for the side to move there.
    score: i16,
    bits: BitWriter,
}

impl Chain {
    /// Adds a record that `begins` a chain or continues one, as long as there is room in the chain.
    #[inline(always)]
    fn add(&mut self, rows: &Rows<'_>, row: usize, begins: bool, block: &mut Encoded) -> io::Result<()> {
        let wrong = || io::Error::other("a record without a legal move");
        let is_black = rows.is_black(row);
        let score = encode_chains::score_of_mover(rows.score(row), is_black);
        if let Some(start) = self.start
            && !begins
            && self.further < u16::MAX
            && block.bytes.len() - start - STEM + MOST_BITS.div_ceil(8) < MOST_MOVETEXT
        {
            let mv = move_of(rows, row).ok_or_else(wrong)?;
            let sides = rows.board(row).sides();
            let choices = Choices::of(&sides, mv.from).ok_or_else(wrong)?;
            let number = choices.number_of(mv).ok_or_else(wrong)?;
            let piece = (sides.own & ((1 << mv.from.index()) - 1)).count_ones();
            let (pieces, moves) = (bits_for(sides.own.count_ones()), bits_for(choices.count()));
            let mut bits = u64::from(piece) << moves | u64::from(number);
            let mut len = pieces + moves;
            let mut change = to_zigzag(score.wrapping_sub(self.score.wrapping_neg()));
            loop {
                let more = change > 15;
                bits = bits << 5 | u64::from(more) << 4 | u64::from(change & 15);
                len += 5;
                if !more {
                    break;
                }
                change >>= 4;
            }
            self.bits.put(bits, len, &mut block.bytes);
            self.further += 1;
        } else {
            self.end(block);
            let start = block.bytes.len();
            let mut position = rows.batch.position(row).map_err(io::Error::other)?;
            if !position.castles_as_standard() {
                position.castling = Position::empty().castling;
            }
            let values = Values {
                mv: move_of(rows, row),
                score,
                ply: rows.ply_with_fullmove(row).min(MOST_PLIES),
                result: encode_chains::result_of_mover(rows.result(row), is_black),
                further: 0,
            };
            block.bytes.extend_from_slice(&stem::write(&position, values));
            self.start = Some(start);
        }
        self.score = score;
        Ok(())
    }

    /// Ends the chain, if there is one.
    fn end(&mut self, block: &mut Encoded) {
        if let Some(start) = self.start.take() {
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
