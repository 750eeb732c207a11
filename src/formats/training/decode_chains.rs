//! Records with scores: shared by the readers of training formats whose records vary in length.
//!
//! Every record has the same fields, so that columns are filled as plain vectors; only a move may be missing. Positions
//! of games and chains come from a replay [`Board`].
//!
//! Nearly all chunks have nothing but legal moves. So they are first [read trustingly](read_trusting): everything about
//! a move is checked except the king's safety, which is then checked for many positions at once. A chunk with an
//! illegal move is read again, with each move checked on its own, to find out which move is illegal, and why.

use crate::chess::Square;
use crate::error::{Place, Reject};
use crate::formats::codec::decode_records::{BadRecord, DROPPED_EN_PASSANT, PseudoEnPassants, Record};
use crate::formats::codec::fields_from_whole_games::OF_WHOLE_GAMES;
use crate::formats::codec::game_history::OF_HISTORY;
use crate::formats::{Chunk, DecodeOptions, Decoded};
use crate::packed::{Group, Packed};
use crate::replay::Board;
use crate::replay::KingSafety;
use crate::simd::bmi2::Bmi2;
use crate::table::{Array, Batch, Field, Fields, Values};
use std::path::Path;
use std::sync::Arc;

/// The common values of a run of records: those of a game or chain, or a single one.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Run {
    /// The offset of the run in the chunk.
    pub(in crate::formats) origin: usize,
    /// 0 Black won, 1 draw, 2 White won.
    pub(in crate::formats) result: u8,
    /// The ply of its first record; the others follow.
    pub(in crate::formats) ply: u16,
    /// The number of the game in the chunk, for formats of games.
    pub(in crate::formats) game: u64,
}

/// The records of a chunk so far.
pub(in crate::formats) struct Scored<'a> {
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    pub(in crate::formats) decoded: Decoded,
    groups: Vec<Group>,
    halfmove: Vec<u16>,
    fullmove: Vec<u16>,
    origins: Vec<u32>,
    /// The rejects, from the first bad record on.
    ordinals: Option<Vec<u32>>,
    scores: Vec<i16>,
    moves: Vec<u16>,
    /// Rows without a move.
    null_moves: Vec<usize>,
    results: Vec<u8>,
    plies: Vec<u16>,
    games: Vec<u64>,
    idle: PseudoEnPassants,
    carries: Fields,
    /// If moves are trusted: the check whether they left kings in check.
    safety: Option<KingSafety>,
    /// Proof of the CPU features with which boards are replayed faster.
    bits: Option<Bmi2>,
}

/// Rows that are being filled, counted from the first of them.
pub(in crate::formats) struct NewRows<'a> {
    start: usize,
    groups: &'a mut [Group],
    halfmove: &'a mut [u16],
    fullmove: &'a mut [u16],
    scores: &'a mut [i16],
    moves: &'a mut [u16],
    null_moves: &'a mut Vec<usize>,
    idle: &'a mut PseudoEnPassants,
}

impl NewRows<'_> {
    /// Number of rows.
    #[inline(always)]
    pub(in crate::formats) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Sets the position of a row.
    #[inline(always)]
    pub(in crate::formats) fn set_position(&mut self, row: usize, board: &Board) {
        let place = self.start + row;
        self.groups[place / Group::LEN].set(place % Group::LEN, board.packed());
        (self.halfmove[row], self.fullmove[row]) = (board.halfmove, board.fullmove);
        self.idle.add(place, board.pseudo_en_passant().map(Square::new));
    }

    /// Sets the score of a row, as White sees it, and the bits of its move; `None` for a null move.
    #[inline(always)]
    pub(in crate::formats) fn set_values(&mut self, row: usize, score: i16, mv: Option<u16>) {
        self.scores[row] = score;
        self.moves[row] = mv.unwrap_or(0);
        if mv.is_none() {
            self.null_moves.push(self.start + row);
        }
    }
}

/// Means that a chunk, or a part of it, has to be read again with each move checked on its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct IllegalMoveFound;

/// Reads a chunk trustingly, and once more if that fails; `read` must not trust moves if the records do not.
pub(in crate::formats) fn read_trusting<'a>(
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    carries: Fields,
    read: impl Fn(&mut Scored<'a>) -> Result<(), IllegalMoveFound>,
) -> Decoded {
    let trusting = KingSafety::new().and_then(|safety| read_with(Some(safety), chunk, options, carries, &read));
    // Without trust, reading cannot fail in this way.
    trusting.or_else(|| read_with(None, chunk, options, carries, &read)).unwrap_or_default()
}

/// Reads a chunk; `None` if moves were trusted, and one of them was illegal.
fn read_with<'a>(
    safety: Option<KingSafety>,
    chunk: &'a Chunk,
    options: &'a DecodeOptions,
    carries: Fields,
    read: impl Fn(&mut Scored<'a>) -> Result<(), IllegalMoveFound>,
) -> Option<Decoded> {
    let mut records = Scored { safety, ..Scored::new(chunk, options, carries) };
    read(&mut records).ok()?;
    let is_safe = records.safety.take().is_none_or(|safety| records.are_safe(safety));
    is_safe.then(|| records.finish())
}

impl<'a> Scored<'a> {
    /// Makes an empty list for records with these fields.
    pub(in crate::formats) fn new(chunk: &'a Chunk, options: &'a DecodeOptions, carries: Fields) -> Self {
        Self {
            chunk,
            options,
            decoded: Decoded::default(),
            groups: Vec::new(),
            halfmove: Vec::new(),
            fullmove: Vec::new(),
            origins: Vec::new(),
            ordinals: None,
            scores: Vec::new(),
            moves: Vec::new(),
            null_moves: Vec::new(),
            results: Vec::new(),
            plies: Vec::new(),
            games: Vec::new(),
            idle: PseudoEnPassants::default(),
            carries,
            safety: None,
            bits: Bmi2::detect(),
        }
    }

    /// Makes room for this many more records.
    pub(in crate::formats) fn reserve(&mut self, records: usize) {
        self.groups.reserve(records / Group::LEN + 1);
        self.halfmove.reserve(records);
        self.fullmove.reserve(records);
        self.origins.reserve(records);
        self.scores.reserve(records);
        self.moves.reserve(records);
        self.results.reserve(records);
        self.plies.reserve(records);
        if self.has_games() {
            self.games.reserve(records);
        }
    }

    /// Makes the board for the first position of a game or chain.
    pub(in crate::formats) fn begin(&mut self, start: &Record) -> Result<Board, BadRecord> {
        self.decoded.remarks.add(&DROPPED_EN_PASSANT, start.dropped_en_passant.into());
        // Boards without a packed form cannot be replayed.
        Packed::pack(&start.position).map_err(|error| {
            let violations = start.position.violations(crate::chess::Validity::Strict);
            BadRecord::new(violations.names().next().unwrap_or("unpackable"), error.to_string())
        })?;
        let mut board = Board::new(&start.position);
        board.mark(start.pseudo_en_passant);
        Ok(board)
    }

    fn has_games(&self) -> bool {
        self.carries.contains(Field::Game)
    }

    /// Adds a record to the run that is not [ended](Self::end_run) yet: its position, its score as White sees it, and
    /// the bits of its move; `None` for a null move.
    #[inline(always)]
    pub(in crate::formats) fn push(&mut self, board: &Board, score: i16, mv: Option<u16>) {
        let idle = board.pseudo_en_passant().map(Square::new);
        self.push_packed(board.packed(), [board.halfmove, board.fullmove], idle, score, mv);
    }

    /// Adds a record with a packed board, its clocks, and the value of [`Field::KeyEnPassant`].
    #[inline(always)]
    pub(in crate::formats) fn push_packed(
        &mut self,
        board: Packed,
        [halfmove, fullmove]: [u16; 2],
        idle: Option<Square>,
        score: i16,
        mv: Option<u16>,
    ) {
        let row = self.scores.len();
        let lane = row % Group::LEN;
        if lane == 0 {
            self.groups.push(Group::default());
        }
        if let Some(group) = self.groups.last_mut() {
            group.set(lane, board);
        }
        self.halfmove.push(halfmove);
        self.fullmove.push(fullmove);
        self.scores.push(score);
        self.moves.push(mv.unwrap_or(0));
        if mv.is_none() {
            self.null_moves.push(row);
        }
        self.idle.add(row, idle);
    }

    /// Whether moves are trusted.
    #[inline(always)]
    pub(in crate::formats) fn trust(&self) -> bool {
        self.safety.is_some()
    }

    /// Adds records to the run that is not ended yet, where moves are trusted: the positions before each of these
    /// moves, the first of which is played on this board.
    ///
    /// # Errors
    /// If a move is illegal.
    pub(in crate::formats) fn replay(
        &mut self,
        board: Board,
        moves: impl ExactSizeIterator<Item = u16>,
        scores: impl ExactSizeIterator<Item = i16>,
    ) -> Result<(), IllegalMoveFound> {
        let start = self.scores.len();
        self.moves.extend(moves);
        self.scores.extend(scores);
        match self.bits {
            Some(bits) => bits.enter(
                #[inline(always)]
                || self.replay_from(start, board),
            ),
            None => self.replay_from(start, board),
        }?;
        self.go_on()
    }

    /// Fills the positions of the rows from `start` on; their moves are there already.
    #[inline(always)]
    fn replay_from(&mut self, start: usize, mut board: Board) -> Result<(), IllegalMoveFound> {
        let mut rows = self.rows_from(start, self.moves.len());
        for row in 0..rows.len() {
            rows.set_position(row, &board);
            if !board.play_pseudolegal(rows.moves[row]) {
                return Err(IllegalMoveFound);
            }
        }
        // The position after the last move is not one of the records.
        if board.is_after_king_left_in_check() { Err(IllegalMoveFound) } else { Ok(()) }
    }

    /// Adds this many rows, to be filled later, to the run that is not ended yet.
    #[inline(always)]
    pub(in crate::formats) fn new_rows(&mut self, len: usize) -> NewRows<'_> {
        let start = self.scores.len();
        self.scores.resize(start + len, 0);
        self.moves.resize(start + len, 0);
        self.rows_from(start, start + len)
    }

    /// The rows from `start` on whose scores and moves are there already.
    #[inline(always)]
    fn rows_from(&mut self, start: usize, end: usize) -> NewRows<'_> {
        self.groups.resize(end.div_ceil(Group::LEN), Group::default());
        self.halfmove.resize(end, 0);
        self.fullmove.resize(end, 0);
        NewRows {
            start,
            groups: &mut self.groups,
            halfmove: &mut self.halfmove[start..end],
            fullmove: &mut self.fullmove[start..end],
            scores: &mut self.scores[start..end],
            moves: &mut self.moves[start..end],
            null_moves: &mut self.null_moves,
            idle: &mut self.idle,
        }
    }

    /// Checks kings, if moves are trusted and enough positions are waiting.
    #[inline]
    pub(in crate::formats) fn go_on(&mut self) -> Result<(), IllegalMoveFound> {
        let rows = self.halfmove.len();
        let is_safe = self.safety.as_mut().is_none_or(|safety| safety.go_on(&self.groups, rows));
        if is_safe { Ok(()) } else { Err(IllegalMoveFound) }
    }

    /// Checks all kings that have not been checked.
    fn are_safe(&self, safety: KingSafety) -> bool {
        safety.finish(&self.groups, self.halfmove.len())
    }

    /// Begins a chain with the next record.
    pub(in crate::formats) fn begin_chain(&mut self) {
        if self.options.fields.intersects(OF_HISTORY.union(OF_WHOLE_GAMES)) {
            self.decoded.chains.get_or_insert_default().push(self.scores.len());
        }
    }

    /// Ends a run: all records since the last one.
    #[inline]
    pub(in crate::formats) fn end_run(&mut self, run: Run) {
        let (start, end) = (self.results.len(), self.scores.len());
        let len = end - start;
        self.results.resize(end, run.result);
        self.origins.resize(end, run.origin as u32);
        let plies = u32::from(run.ply)..;
        self.plies.extend(plies.take(len).map(|ply| ply.min(u16::MAX.into()) as u16));
        if self.has_games() {
            self.games.resize(end, run.game);
        }
        let records = self.decoded.records;
        if let Some(ordinals) = &mut self.ordinals {
            ordinals.extend((records as u32..).take(len));
        }
        self.decoded.records += len as u64;
    }

    /// Adds a bad record at a byte of the chunk, after the end of a run: with its game in the chunk and its ply, if it
    /// has them.
    pub(in crate::formats) fn reject(
        &mut self,
        at: usize,
        (game, ply): (Option<u64>, Option<u16>),
        bad: BadRecord,
        raw: Vec<u8>,
    ) {
        let place = Place {
            offset: at as u64,
            record: self.decoded.records,
            game,
            ply,
            ..Place::start_of(Arc::clone(&self.chunk.file))
        };
        self.add_reject(Reject::new(place, vec![bad.reason], bad.message, raw));
    }

    fn add_reject(&mut self, reject: Reject) {
        // Up to here, record numbers equal row numbers.
        self.ordinals.get_or_insert_with(|| (0..self.scores.len() as u32).collect());
        self.decoded.rejects.push(reject);
        self.decoded.records += 1;
    }

    /// Adds a bad record at a byte of the chunk, with its line; `raw` is kept in the reject.
    pub(in crate::formats) fn reject_line(&mut self, at: usize, line: u64, bad: BadRecord, raw: &[u8]) {
        let place = Place { line: Some(line), ..Place::start_of(Arc::clone(&self.chunk.file)) };
        self.push_reject(at, Reject::new(place, vec![bad.reason], bad.message, raw.to_vec()));
    }

    /// The input.
    pub(in crate::formats) fn file(&self) -> &Arc<Path> {
        &self.chunk.file
    }

    /// Adds a bad record at a byte of the chunk.
    pub(in crate::formats) fn push_reject(&mut self, at: usize, mut reject: Reject) {
        reject.place.offset = at as u64;
        reject.place.record = self.decoded.records;
        self.add_reject(reject);
    }

    /// What the chunk decodes to.
    pub(in crate::formats) fn finish(mut self) -> Decoded {
        let (rows, has_games) = (self.scores.len(), self.has_games());
        if rows == 0 {
            return self.decoded;
        }
        let mut batch = Batch::owned(self.groups, rows);
        (batch.halfmove, batch.fullmove, batch.origins) = (self.halfmove, self.fullmove, self.origins);
        batch.ordinals = self.ordinals;
        let all = || Values::<()>::all_present(rows);
        let mut moves = all();
        for &row in &self.null_moves {
            moves[row / 64] &= !(1 << (row % 64));
        }
        // In formats of games, rejects always name the game and the ply, whatever fields are read.
        let places = if has_games { Fields::of(&[Field::Game, Field::Ply]) } else { Fields::NONE };
        let requested = self.options.fields.union(places);
        let columns = [
            (Field::Score, Array::I16(Values::from_clean_parts(self.scores, all()))),
            (Field::Result, Array::U8(Values::from_clean_parts(self.results, all()))),
            (Field::Move, Array::U16(Values::from_clean_parts(self.moves, moves))),
            (Field::Ply, Array::U16(Values::from_clean_parts(self.plies, all()))),
        ];
        let has = |field| requested.contains(field) && self.carries.contains(field);
        batch.fields.extend(columns.into_iter().filter(|(field, _)| has(*field)));
        if has_games {
            let games = Values::from_clean_parts(self.games, all());
            batch.fields.insert(Field::Game, Array::U64(games));
        }
        self.idle.finish(self.options, &mut batch);
        self.decoded.batches.push(batch);
        self.decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::formats::codec::chain_segments::Start;
    use crate::formats::training::{binpack, viri};
    use crate::input::Inputs;
    use crate::jobs::{FileOptions, RecordFile};
    use crate::pipeline::RunOptions;
    use crate::tiers::Tier;

    /// A small file as a format writes it.
    fn file(extension: &str) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("games").with_extension(extension);
        let file = RecordFile::new(&path, None, FileOptions::default().allow_loss(true)).unwrap();
        let mut options = RunOptions::new(Tier::best().analyzer().unwrap());
        options.read.limit = Some(1500);
        drop(file.write(&Inputs::of([Path::new("data/lichess-2025-05.pgn")]), options).unwrap());
        std::fs::read(path).unwrap()
    }

    /// Trusting reads give the same records, rejects and damage as careful ones, whatever is wrong with the chunk.
    #[test]
    fn trusting_and_checking_agree() {
        type Read = fn(&Chunk, &mut Scored<'_>, &DecodeOptions) -> Result<(), IllegalMoveFound>;
        let options = DecodeOptions::default().fields(Fields::ALL);
        let binpack: Read = |chunk, records, options| {
            binpack::read_chunks(chunk, (Start::default(), usize::MAX), records, &mut Vec::new(), options).map(|_| ())
        };
        for (extension, carries, read) in
            [("viri", viri::CARRIES, viri::read_games as Read), ("binpack", binpack::CARRIES, binpack)]
        {
            let good = file(extension);
            let mut random = Random::new(11);
            let mut trusted = 0;
            for turn in 0..400 {
                let mut bytes = good.clone();
                if turn > 0 {
                    let bit = random.bits() as usize % (8 * bytes.len());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
                let chunk = Chunk::new(Path::new("x").into(), bytes.into());
                let read = |records: &mut Scored<'_>| read(&chunk, records, &options);
                let decoded = read_trusting(&chunk, &options, carries, read);
                let checked = read_with(None, &chunk, &options, carries, read).unwrap();
                assert!(format!("{decoded:?}") == format!("{checked:?}"), "{extension} {turn}");
                let safety = KingSafety::new();
                trusted += usize::from(read_with(safety, &chunk, &options, carries, read).is_some());
            }
            // Changed scores do not affect moves.
            assert!((20..400).contains(&trusted), "{extension}: {trusted}");
        }
    }
}
