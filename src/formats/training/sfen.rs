//! Packed sfen: positions for training, 40 bytes each, as Stockfish's tools write them.
//!
//! | at | bytes | meaning |
//! | --- | --- | --- |
//! | 0 | 32 | the position: a stream of bits, the lowest bit of a byte first |
//! | 32 | 2 | score, as the side to move sees it |
//! | 34 | 2 | move: 6 bits to, 6 bits from, 2 bits promotion (knight, bishop, rook, queen), 2 bits kind (0 normal, 1 promotion, 2 en passant, 3 castling, king takes rook); 0 without one |
//! | 36 | 2 | ply of the game |
//! | 38 | 1 | result for the side to move: 1 win, 0 draw, -1 loss |
//! | 39 | 1 | free, not read |
//!
//! The stream consists of the following parts, each number with its lowest bit first:
//!
//! | bits | meaning |
//! | --- | --- |
//! | 1 | Black is to move |
//! | 6, 6 | squares of the white and the black king |
//! | 1 or 5 each | the other 62 squares, from a8 to h8, then from a7 to h7, and so on: 0 if it is empty; else 1, three bits (0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen) and one for the color (1 black) |
//! | 4 | castling rights: White king side, queen side, Black king side, queen side, each with the outermost rook |
//! | 1 or 7 | 1 and the en passant square, if there is one |
//! | 6, 16, 1 | halfmove clock (six bits), fullmove number, the seventh bit of the halfmove clock |
//! | the rest | 0 |
//!
//! Clocks and plies are kept as they are stored: writers do not agree on the fullmove number, and old ones leave the
//! last nine bits of the clocks out. En passant squares follow the rule of all readers: one on which no capture is
//! legal is dropped, unless keeping it was requested. A score may be any 16-bit number, including mates and sentinels.
//!
//! ## How eight records are decoded at once
//!
//! Where a square begins depends on all squares before it. A plain reader therefore goes from piece to piece, and the
//! branch predictor often misses whether there is another one. Here, this walk is done for eight records in lanes, and
//! only to find where squares begin: the lowest bit of what is left begins a piece; it and the four bits after it are
//! taken out; whatever was never part of such four bits begins a square. Then everything else is done with whole words:
//! PEXT collects the bits at the beginnings, and those one to four bits later, PDEP makes room for the kings, and the
//! bytes of a word are its ranks.
//!
//! ## Writing
//!
//! A record without a move gets move 0; one without a ply gets the ply of its fullmove number. The format cannot store
//! castling as in Chess960: such rights are removed, and such moves are left out. Halfmove clocks above 127 become 127,
//! and a score of -32,768 of White becomes 32,767 for Black; a sentinel of either sign is stored as the positive one.
//! An en passant square on which no capture is legal is stored if a pawn could capture there but for a pin or check, as
//! in Stockfish. The last byte is 255.
//!
//! The squares are written eight at a time: a table says where the pieces of eight squares begin, and PDEP puts each
//! bit of their codes there.
//!
//! The layout is that of Stockfish's tools and of the trainer nnue-pytorch.

use super::board_tests::{BlackToMove, EN_PASSANT_RANKS, Fact, HasChess960Castling};
use super::encode_chains::{self, result_of_mover, score_of_mover};
use super::encode_fixed_records::{self, WriteFixed};
use super::piece_codes;
use crate::chess::{Bitboard, CastlingRights, Color, Move, Piece, Position, Role, Square};
use crate::formats::codec::conversion_losses::Refuse;
use crate::formats::codec::decode_records::{self, BadRecord, Eight, Fixed, Record};
use crate::formats::codec::encode::{Encoded, Encoder, lost_columns};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, Sampled};
use crate::packed::{Group, Planes};
use crate::simd::bmi2::Bmi2;
use crate::simd::nibbles::Bits;
use crate::simd::{Lanes, Simd, inlined};
use crate::table::{Batch, Field, Fields, ScoreCodes, Tile};
use std::ops::Range;

/// Number of bytes of a record.
const LEN: usize = 40;
/// Number of bits of the stream.
const STREAM: usize = 256;
/// Number of bits before the squares.
const HEADER: u64 = 13;
/// Number of squares without those of the kings.
const SQUARES: u32 = 62;
/// Maximum number of pieces without the kings.
const MOST: u32 = 30;
/// Number of bits after the squares, without an en passant square.
const STATE: u64 = 28;

/// The codec of packed sfen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sfen;

impl Codec for Sfen {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "sfen",
            title: "packed sfen: training data of Stockfish, positions with move, score and result",
            extensions: &["sfen"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: Sfen::CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::of_sample(self.sampled(head))
    }
    fn sampled(&self, head: &[u8]) -> Option<Sampled> {
        let examine = |record: &[u8; LEN]| Self::read(record, &DecodeOptions::default()).map(|_| ());
        Some(decode_records::sample(head, examine))
    }
    fn layout(&self) -> Layout {
        Layout::Records(LEN)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        decode_records::decode::<Self, LEN>(chunk, options).with_score_codes(ScoreCodes::Stockfish)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
}

/// Halfmove clocks are below 2 to the power of seven.
const MOST_HALFMOVE: u16 = 127;

impl Encoder for Sfen {
    fn fields(&self) -> Fields {
        Self::CARRIES
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        encode_fixed_records::encode::<Self, LEN>(batch, rows, piece);
    }
    fn refuse(&self, tile: &Tile<'_>, refuse: &mut Refuse<'_>) {
        encode_chains::illegal_moves(tile, refuse);
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || Self::CARRIES.contains(field));
        encode_chains::made_up(tile, losses);
        encode_chains::without_move_as_a1a1(tile, losses);
        encode_chains::of_chess960(tile, losses);
        encode_chains::long_clocks(tile, losses, "halfmove clocks above 127, stored as 127", MOST_HALFMOVE);
        encode_chains::saturated(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
}

impl WriteFixed<LEN> for Sfen {
    const HAS_MOVES: bool = true;

    #[inline(always)]
    fn eight<B: Bits>(bits: B, group: &Group, from: &Eight, to: &mut [[u8; LEN]; 8]) {
        let mut boards = Written::default();
        boards.set(bits.simd(), group);
        let mut lane = 0;
        while lane < 8 {
            let is_black = boards.black >> lane & 1 != 0;
            let mut stream = PutBits::default();
            stream.put(is_black.into(), 1);
            boards.put_squares(bits.bmi2(), lane, &mut stream);
            let en_passant = boards.en_passant[lane].trailing_zeros();
            let en_passant = if en_passant == NO_SQUARE { from.idle[lane].into() } else { en_passant };
            let halfmove = u64::from(from.halfmove[lane].min(MOST_HALFMOVE));
            stream.put(boards.rights(lane), 4);
            if en_passant < NO_SQUARE {
                stream.put(1 | u64::from(en_passant) << 1, 7);
            } else {
                stream.put(0, 1);
            }
            stream.put(halfmove & 63 | u64::from(from.fullmove[lane]) << 6 | halfmove >> 6 << 22, 23);
            let record = &mut to[lane];
            let mut word = 0;
            while word < 4 {
                record[8 * word..8 * word + 8].copy_from_slice(&stream.words[word].to_le_bytes());
                word += 1;
            }
            let code = from.mv[lane];
            let code = code & 0xF000 | code >> 6 & 0x3F | (code & 0x3F) << 6;
            let is_left_out = boards.of_chess960 >> lane & 1 != 0 && code >> 14 == CASTLING;
            let tail = u64::from(score_of_mover(from.score[lane], is_black) as u16)
                | u64::from(if is_left_out { 0 } else { code }) << 16
                | u64::from(from.ply[lane]) << 32
                | u64::from(result_of_mover(from.result[lane], is_black).wrapping_sub(1)) << 48
                | 0xFF << 56;
            record[32..].copy_from_slice(&tail.to_le_bytes());
            lane += 1;
        }
    }
}

/// The kind of a castling move.
const CASTLING: u16 = 3;
/// The value for no en passant square.
const NO_SQUARE: u32 = 64;

/// Boards to be written.
#[derive(Debug, Default)]
struct Written {
    occupied: [u64; 8],
    /// The bits of the codes and of the color, the lowest first, from a8 on; bits of empty squares do not matter.
    codes: [[u64; 8]; 4],
    /// The kings of White and Black.
    kings: [[u64; 8]; 2],
    castling: [u64; 8],
    en_passant: [u64; 8],
    /// The lanes in which Black is to move.
    black: u8,
    /// The lanes whose castling rights cannot be stored.
    of_chess960: u8,
}

impl Written {
    #[inline(always)]
    fn set<S: Simd>(&mut self, simd: S, group: &Group) {
        let mut at = 0;
        while at < 8 {
            let [color, t0, t1, t2] = &group.planes;
            let types = [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)];
            let planes = Planes { color: simd.load(color, at), types };
            let sentinel = planes.color & !planes.occupied();
            simd.store(sentinel & simd.splat(EN_PASSANT_RANKS), &mut self.en_passant, at);
            self.black |= (BlackToMove::of(simd, &planes).nonzero_bits() << at) as u8;
            self.of_chess960 |= (HasChess960Castling::of(simd, &planes).nonzero_bits() << at) as u8;
            let castling = planes.castling();
            simd.store(castling, &mut self.castling, at);
            let kings = planes.kings();
            simd.store(kings & !planes.color, &mut self.kings[0], at);
            simd.store(kings & planes.color, &mut self.kings[1], at);
            let [t0, t1, t2] = planes.types;
            let planes = Planes { color: planes.color, types: [t0 ^ castling, t1 ^ castling, t2] };
            let [n0, n1, n2] = piece_codes::codes_of(&planes);
            simd.store(planes.occupied().swap_bytes(), &mut self.occupied, at);
            simd.store(n0.swap_bytes(), &mut self.codes[0], at);
            simd.store(n1.swap_bytes(), &mut self.codes[1], at);
            simd.store(n2.swap_bytes(), &mut self.codes[2], at);
            simd.store(planes.color.swap_bytes(), &mut self.codes[3], at);
            at += S::WIDTH;
        }
    }

    /// Writes the kings and the other squares.
    #[inline(always)]
    fn put_squares(&self, bmi2: Option<Bmi2>, lane: usize, stream: &mut PutBits) {
        let kings = [self.kings[0][lane].trailing_zeros() & 63, self.kings[1][lane].trailing_zeros() & 63];
        stream.put(u64::from(kings[0] | kings[1] << 6), 12);
        let places = !(1u64 << (kings[0] ^ 56) | 1 << (kings[1] ^ 56));
        let occupied = self.occupied[lane];
        let codes = [self.codes[0][lane], self.codes[1][lane], self.codes[2][lane], self.codes[3][lane]];
        let Some(bmi2) = bmi2 else {
            return put_each_square(occupied, codes, places, stream);
        };
        let mut occupied = bmi2.pext(occupied, places) & ((1 << SQUARES) - 1);
        let mut codes = [
            bmi2.pext(codes[0], places),
            bmi2.pext(codes[1], places),
            bmi2.pext(codes[2], places),
            bmi2.pext(codes[3], places),
        ];
        let mut squares = SQUARES;
        while squares > 0 {
            let count = squares.min(8);
            let here = occupied & 0xFF;
            let begins = BEGINS[here as usize];
            let pieces = bmi2.pdep(here, begins);
            let mut bits = pieces;
            // The codes of empty squares would be bits of the stream: the sentinel bit is one.
            let mut bit = 0;
            while bit < 4 {
                bits |= bmi2.pdep(codes[bit] & here, begins) << (bit + 1);
                codes[bit] >>= 8;
                bit += 1;
            }
            stream.put(bits, count + 4 * here.count_ones());
            occupied >>= 8;
            squares -= count;
        }
    }

    /// The four castling rights; none if one of them cannot be stored.
    #[inline(always)]
    fn rights(&self, lane: usize) -> u64 {
        let rooks = self.castling[lane];
        let rights = rooks >> 7 & 1 | (rooks & 1) << 1 | (rooks >> 63) << 2 | (rooks >> 56 & 1) << 3;
        if self.of_chess960 >> lane & 1 != 0 { 0 } else { rights }
    }
}

/// Writes the squares of `places` one after the other.
fn put_each_square(occupied: u64, codes: [u64; 4], places: u64, stream: &mut PutBits) {
    // There are more if an impossible board has a king on one side only.
    for square in (0..64).filter(|square| places >> square & 1 != 0).take(SQUARES as usize) {
        let bit = |set: u64| set >> square & 1;
        match bit(occupied) {
            0 => stream.put(0, 1),
            _ => stream.put((0..4).fold(1, |bits, of| bits | bit(codes[of]) << (of + 1)), 5),
        }
    }
}

/// For eight squares with these occupied ones, the bits of the stream with which squares begin.
static BEGINS: [u64; 256] = {
    let mut begins = [0; 256];
    let mut occupied = 0;
    while occupied < 256 {
        let (mut at, mut square) = (0, 0);
        while square < 8 {
            begins[occupied] |= 1 << at;
            at += if occupied >> square & 1 != 0 { 5 } else { 1 };
            square += 1;
        }
        occupied += 1;
    }
    begins
};

/// Bits of a stream, the lowest of a word first.
#[derive(Debug, Default)]
struct PutBits {
    /// The stream, with room for boards that would not fit: 62 pieces, and the bits before and after them.
    words: [u64; 7],
    at: u32,
}

impl PutBits {
    /// Writes fewer than 64 bits; all others are zero.
    #[inline(always)]
    fn put(&mut self, bits: u64, count: u32) {
        let (word, shift) = ((self.at / 64) as usize, self.at % 64);
        self.words[word] |= bits << shift;
        self.words[word + 1] |= bits >> 1 >> (63 - shift);
        self.at += count;
    }
}

impl Fixed<LEN> for Sfen {
    const CARRIES: Fields = Fields::of(&[Field::Score, Field::Result, Field::Move, Field::Ply, Field::KeyEnPassant]);

    #[inline(always)]
    fn eight<B: Bits>(bits: B, records: &[[u8; LEN]; 8], to: &mut Eight) -> u8 {
        let Some(bmi2) = bits.bmi2() else {
            return 0;
        };
        let words = words(records);
        let begins = begins(bits.simd(), &words);
        let mut squares = Squares::default();
        let mut lane = 0;
        while lane < 8 {
            let stream = [words[0][lane], words[1][lane], words[2][lane], words[3][lane]];
            let begins = [begins[0][lane], begins[1][lane], begins[2][lane], begins[3][lane]];
            squares.read(bmi2, lane, stream, begins, &records[lane], to);
            lane += 1;
        }
        let bad = boards(bits.simd(), &squares, &mut to.group);
        let mut good = !(bad | squares.bad);
        let mut lane = 0;
        while lane < 8 {
            let (code, mover) = (to.mv[lane], squares.of_mover(lane, &to.group));
            good &= !(u8::from(!is_possible(code, mover)) << lane);
            lane += 1;
        }
        good
    }

    fn read(record: &[u8; LEN], options: &DecodeOptions) -> Result<Record, BadRecord> {
        let mut stream = Stream { record, at: 0 };
        let mut read = Record::of(stream.pieces()?);
        stream.castling(&mut read.position)?;
        let en_passant = match stream.bits(1) {
            0 => None,
            _ => piece_codes::square(stream.bits(6) as u8),
        };
        read.position.halfmove = stream.bits(6);
        read.position.fullmove = stream.bits(16);
        read.position.halfmove |= stream.bits(1) << 6;
        if stream.at > STREAM {
            return Err(BadRecord::new("too_many_pieces", "a position of more than 256 bits"));
        }
        if (stream.at..STREAM).any(|at| record[at / 8] >> (at % 8) & 1 != 0) {
            return Err(BadRecord::new("unused_bits", "bits after the position are not zero"));
        }
        read.mv = mv(u16::from_le_bytes([record[34], record[35]]), &read.position)?;
        read.ply = Some(u16::from_le_bytes([record[36], record[37]]));
        read.set_score_of_mover(i16::from_le_bytes([record[32], record[33]]));
        let result = record[38].wrapping_add(1);
        if result > 2 {
            return Err(BadRecord::new("invalid_result", "a result that is not -1, 0 or 1"));
        }
        read.result = Some(match read.position.side_to_move {
            Color::White => result,
            Color::Black => 2 - result,
        });
        if let Some(square) = en_passant {
            read.set_en_passant(square, options)?;
        }
        Ok(read)
    }
}

/// The move in these 16 bits, in which the target square comes first.
///
/// # Errors
/// If the side to move cannot have such a move.
fn mv(bits: u16, position: &Position) -> Result<Option<Move>, BadRecord> {
    if bits == 0 {
        return Ok(None);
    }
    let bad = |message| Err(BadRecord::new("invalid_move", message));
    let swapped = bits & 0xF000 | bits >> 6 & 0x3F | (bits & 0x3F) << 6;
    let Some(mv) = Move::from_bits(swapped).filter(|_| bits >> 14 == 1 || bits & 0x3000 == 0) else {
        return bad("a promotion piece in a move that does not promote");
    };
    if mv.from == mv.to {
        return bad("a move from a square to itself");
    }
    if !position.color(position.side_to_move).contains(mv.from) {
        return bad("a move from a square without a piece of the side to move");
    }
    Ok(Some(mv))
}

/// Whether a move, in the form of [`Field::Move`], is absent or possible: with a piece of the mover, and of a known
/// kind.
#[inline(always)]
fn is_possible(code: u16, of_mover: u64) -> bool {
    let is_promotion = code >> 14 == 1;
    let form = is_promotion | (code & 0x3000 == 0);
    let moves = (code >> 6 ^ code) & 0x3F != 0;
    (code == 0) | (form & moves & (of_mover >> (code & 0x3F) & 1 != 0))
}

/// Reads the stream bit by bit.
struct Stream<'a> {
    record: &'a [u8; LEN],
    at: usize,
}

impl Stream<'_> {
    /// The next bits, zeros after the last one.
    fn bits(&mut self, count: usize) -> u16 {
        let places = self.at..self.at + count;
        self.at += count;
        let is_set = |at: usize| at < STREAM && self.record[at / 8] >> (at % 8) & 1 != 0;
        places.rev().fold(0, |bits, at| bits << 1 | u16::from(is_set(at)))
    }

    /// The side to move and the pieces.
    fn pieces(&mut self) -> Result<Position, BadRecord> {
        const ROLES: [Role; 5] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        let mut position = Position::empty();
        position.side_to_move = if self.bits(1) == 0 { Color::White } else { Color::Black };
        let kings = [Color::White, Color::Black].map(|color| (color, Square::new(self.bits(6) as u8)));
        if kings[0].1 == kings[1].1 {
            return Err(BadRecord::new("not_one_king_each", "both kings on the same square"));
        }
        for (color, square) in kings {
            position.put(square, Piece { color, role: Role::King });
        }
        let mut count = 0;
        for square in (0..64).map(|number| Square::new(number ^ 56)) {
            if kings.iter().any(|&(_, king)| king == square) || self.bits(1) == 0 {
                continue;
            }
            let Some(&role) = ROLES.get(usize::from(self.bits(3))) else {
                return Err(BadRecord::new("unknown_piece", "a piece with a code above 4"));
            };
            let color = if self.bits(1) == 0 { Color::White } else { Color::Black };
            position.put(square, Piece { color, role });
            count += 1;
        }
        if count > MOST {
            return Err(BadRecord::new("too_many_pieces", "more than 32 occupied squares"));
        }
        Ok(position)
    }

    /// The castling rights, each with the outermost rook of its side.
    fn castling(&mut self, position: &mut Position) -> Result<(), BadRecord> {
        for color in [Color::White, Color::Black] {
            let rank = Bitboard::rank(CastlingRights::back_rank(color));
            let king = position.pieces(color, Role::King) & rank;
            let rooks = position.pieces(color, Role::Rook) & rank;
            let below = Bitboard(king.0.wrapping_sub(1) & !king.0);
            for rook in [(rooks - below).last(), (rooks & below).first()] {
                if self.bits(1) == 0 {
                    continue;
                }
                let Some(rook) = rook.filter(|_| !king.is_empty()) else {
                    return Err(BadRecord::new("castling_rights", "a castling right without king and rook in place"));
                };
                position.castling.0 |= Bitboard::square(rook);
            }
        }
        Ok(())
    }
}

/// The words of eight streams, the first word of all of them first.
#[inline(always)]
fn words(records: &[[u8; LEN]; 8]) -> [[u64; 8]; 4] {
    let mut words = [[0; 8]; 4];
    let mut lane = 0;
    while lane < 8 {
        let mut word = 0;
        while word < 4 {
            words[word][lane] = word_at(&records[lane], 8 * word);
            word += 1;
        }
        lane += 1;
    }
    words
}

/// Eight bytes of a record.
#[inline(always)]
fn word_at(record: &[u8; LEN], at: usize) -> u64 {
    u64::from_le_bytes(*record[at..].first_chunk().expect("eight bytes"))
}

/// The bits with which squares begin in eight streams, as if squares followed until the end.
#[inline(always)]
fn begins<S: Simd>(simd: S, words: &[[u64; 8]; 4]) -> [[u64; 8]; 4] {
    let mut begins = [[0; 8]; 4];
    let mut at = 0;
    while at < 8 {
        let zero = simd.splat(0);
        // The bits that follow the first one of a piece; at first, those before the squares.
        let mut inner = simd.splat((1 << HEADER) - 1);
        let mut word = 0;
        while word < 4 {
            let stream = simd.load(&words[word], at);
            let mut rest = stream & !inner;
            while rest.any() {
                let first = rest & zero.sub(rest);
                // The bit and four more; those beyond the word are lost.
                let piece = first.shl::<5>().sub(first);
                rest = rest & !piece;
                inner = inner | (piece ^ first);
            }
            simd.store(!inner, &mut begins[word], at);
            // A piece that begins in the last four bits has the rest in the next word.
            let last = (stream & !inner).shr::<60>();
            inner = last | last.shr::<1>() | last.shr::<2>() | last.shr::<3>();
            word += 1;
        }
        at += S::WIDTH;
    }
    begins
}

/// The content of the words of eight streams.
#[derive(Debug, Default)]
struct Squares {
    /// The bits of the codes of [packed boards](crate::packed), from a8 on, without kings.
    types: [[u64; 8]; 3],
    /// Black pieces.
    black: [u64; 8],
    /// The kings of White and Black.
    kings: [[u64; 8]; 2],
    /// All ones if Black is to move.
    turn: [u64; 8],
    /// For each castling right, all ones if it is set.
    rights: [[u64; 8]; 4],
    /// A bit for each lane: something is unusual.
    bad: u8,
}

impl Squares {
    /// Reads the parts of a record that are not done in lanes.
    #[inline(always)]
    fn read(
        &mut self,
        bmi2: Bmi2,
        lane: usize,
        stream: [u64; 4],
        begins: [u64; 4],
        record: &[u8; LEN],
        to: &mut Eight,
    ) {
        // The first bit after the squares is where one more would begin.
        let first = begins[0].count_ones();
        let second = first + begins[1].count_ones();
        let before = [first, second, second + begins[2].count_ones()];
        let end = inlined(
            #[inline(always)]
            |word: usize| {
                let number = SQUARES.wrapping_sub(before[word - 1]);
                let place = bmi2.pdep(1u64.wrapping_shl(number), begins[word]);
                if number < 64 { place } else { 0 }
            },
        );
        let ends = [end(1), end(2), end(3)];
        let in_second = ends[0] != 0;
        let in_third = !in_second & (ends[1] != 0);
        let end = if in_second {
            64 + ends[0].trailing_zeros()
        } else if in_third {
            128 + ends[1].trailing_zeros()
        } else {
            192 + ends[2].trailing_zeros()
        };
        let end = u64::from(end);
        let begins = [
            begins[0],
            begins[1] & ends[0].wrapping_sub(1),
            if in_second { 0 } else { begins[2] & ends[1].wrapping_sub(1) },
            if in_second | in_third { 0 } else { begins[3] & ends[2].wrapping_sub(1) },
        ];
        // The bits of all 62 squares are joined into one number. Words after the last have no beginnings, whatever they
        // are shifted by.
        let collect = inlined(
            #[inline(always)]
            |bits: [u64; 4]| {
                bmi2.pext(bits[0], begins[0])
                    | bmi2.pext(bits[1], begins[1]).wrapping_shl(before[0])
                    | bmi2.pext(bits[2], begins[2]).wrapping_shl(before[1])
                    | bmi2.pext(bits[3], begins[3]).wrapping_shl(before[2])
            },
        );
        let later = inlined(
            #[inline(always)]
            |by: u32| {
                collect([
                    stream[0] >> by | stream[1] << (64 - by),
                    stream[1] >> by | stream[2] << (64 - by),
                    stream[2] >> by | stream[3] << (64 - by),
                    stream[3] >> by,
                ])
            },
        );
        let occupied = collect(stream);
        let (n0, n1, n2) = (later(1) & occupied, later(2) & occupied, later(3) & occupied);
        let black = later(4) & occupied;
        let squares = [occupied & !n0, n0 ^ n1, n2 ^ (n0 & n1)];
        // Both kings are on squares counted from a1, and squares from a8.
        let header = stream[0];
        let (white_king, black_king) = (header >> 1 & 63, header >> 7 & 63);
        let kings = [1 << white_king, 1 << black_king];
        let places = !((1u64 << (white_king ^ 56)) | (1 << (black_king ^ 56)));
        let mut plane = 0;
        while plane < 3 {
            self.types[plane][lane] = bmi2.pdep(squares[plane], places);
            plane += 1;
        }
        self.black[lane] = bmi2.pdep(black, places);
        self.kings[0][lane] = kings[0];
        self.kings[1][lane] = kings[1];
        let is_black = header & 1;
        self.turn[lane] = 0u64.wrapping_sub(is_black);
        // The state, of at most 28 bits without an en passant square, and all bits after it.
        let from = end.min(STREAM as u64 - STATE);
        let state = word_at(record, (from / 8) as usize) >> (from % 8);
        let mut right = 0;
        while right < 4 {
            self.rights[right][lane] = 0u64.wrapping_sub(state >> right & 1);
            right += 1;
        }
        let used = end + STATE;
        let length = if stream[3] != 0 {
            256 - stream[3].leading_zeros()
        } else if stream[2] != 0 {
            192 - stream[2].leading_zeros()
        } else {
            128 - stream[1].leading_zeros()
        };
        to.halfmove[lane] = ((state >> 5 & 0x3F) | (state >> 27 & 1) << 6) as u16;
        to.fullmove[lane] = (state >> 11) as u16;
        // The numbers beside the stream.
        let tail = word_at(record, 32);
        let (score, code) = (tail as i16, (tail >> 16) as u16);
        let sign = 0i16.wrapping_sub(is_black as i16);
        to.score[lane] = (score ^ sign).wrapping_sub(sign);
        to.mv[lane] = code & 0xF000 | code >> 6 & 0x3F | (code & 0x3F) << 6;
        to.ply[lane] = (tail >> 32) as u16;
        let result = ((tail >> 48) as u8).wrapping_add(1);
        to.result[lane] = if is_black != 0 { 2u8.wrapping_sub(result) } else { result };
        let bad = (used > STREAM as u64)
            | (u64::from(length) > used)
            | (state >> 4 & 1 != 0)
            | (n2 & (n0 | n1) != 0)
            | (occupied.count_ones() > MOST)
            | (white_king == black_king)
            | (result > 2)
            | ((is_black != 0) & (score == i16::MIN));
        self.bad |= u8::from(bad) << lane;
    }

    /// The pieces of the side to move.
    #[inline(always)]
    fn of_mover(&self, lane: usize, group: &Group) -> u64 {
        let [color, t0, t1, t2] = &group.planes;
        (t0[lane] | t1[lane] | t2[lane]) & !(color[lane] ^ self.turn[lane])
    }
}

/// The boards of eight records with kings, castling rooks and state, and the lanes in which something is unusual.
#[inline(always)]
fn boards<S: Simd>(simd: S, squares: &Squares, group: &mut Group) -> u8 {
    const RANK_1: u64 = 0xFF;
    const RANK_8: u64 = 0xFF << 56;
    const FIRSTS: u64 = 1 | 1 << 56;
    /// Squares on which a sentinel bit does not mean en passant.
    const FREE: u64 = 0xFFFF_00FF_FF00_FFFF;
    let mut bad = 0;
    let mut at = 0;
    while at < 8 {
        let zero = simd.splat(0);
        let load = inlined(
            #[inline(always)]
            |words: &[u64; 8]| simd.load(words, at),
        );
        let kings = [load(&squares.kings[0]), load(&squares.kings[1])];
        let both = kings[0] | kings[1];
        let [t0, t1, t2] = &squares.types;
        let (t0, t1, t2) = (load(t0).swap_bytes(), load(t1).swap_bytes(), load(t2).swap_bytes());
        let black = load(&squares.black).swap_bytes() | kings[1];
        let (t1, t2) = (t1 | both, t2 | both);
        // White on the first rank, and Black on the last; the two do not meet in any of these operations.
        let (white_rank, black_rank) = (simd.splat(RANK_1), simd.splat(RANK_8));
        let at_home = (white_rank & !black) | (black_rank & black);
        let king = both & at_home;
        let rooks = t2 & !(t1 | t0) & at_home;
        let below = king.sub(simd.splat(FIRSTS) & king_ranks(simd, king)) & !king;
        let firsts = rooks & below;
        // The lowest bit of each of the two bytes, and the highest.
        let queen_side = (firsts & white_rank & zero.sub(firsts & white_rank))
            | (firsts & black_rank & zero.sub(firsts & black_rank));
        let lasts = rooks & !below;
        let smeared = lasts | lasts.shr_in_bytes::<1>();
        let smeared = smeared | smeared.shr_in_bytes::<2>();
        let smeared = smeared | smeared.shr_in_bytes::<4>();
        let king_side = smeared ^ smeared.shr_in_bytes::<1>();
        let rooks = [king_side & white_rank, queen_side & white_rank, king_side & black_rank, queen_side & black_rank];
        let homes = [king & white_rank, king & white_rank, king & black_rank, king & black_rank];
        let (mut castling, mut unusual) = (zero, zero);
        let mut right = 0;
        while right < 4 {
            let is_there = load(&squares.rights[right]);
            castling = castling | (rooks[right] & is_there);
            unusual = unusual | rooks[right].if_zero(is_there, zero) | homes[right].if_zero(is_there, zero);
            right += 1;
        }
        let turn = load(&squares.turn);
        let free = !(t0 | t1 | t2) & simd.splat(FREE);
        let sentinel = free & zero.sub(free) & turn;
        bad |= unusual.nonzero_bits() << at;
        simd.store(black | sentinel, &mut group.planes[0], at);
        simd.store(t0 | castling, &mut group.planes[1], at);
        simd.store(t1 | castling, &mut group.planes[2], at);
        simd.store(t2, &mut group.planes[3], at);
        at += S::WIDTH;
    }
    bad as u8
}

/// All bits of the first and of the last rank, where these have a king.
#[inline(always)]
fn king_ranks<S: Simd>(simd: S, king: S::Lanes) -> S::Lanes {
    let (white, black) = (simd.splat(0xFF), simd.splat(0xFF << 56));
    let zero = simd.splat(0);
    (king & white).if_zero(zero, white) | (king & black).if_zero(zero, black)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::codec::decode_records::encoders::sfen;

    fn record(hex: &str) -> [u8; LEN] {
        decode_records::of_hexadecimal(hex).try_into().unwrap()
    }

    fn read(record: &[u8; LEN]) -> Result<Record, &'static str> {
        Sfen::read(record, &DecodeOptions::default()).map_err(|bad| bad.reason)
    }

    const START: &str = "08fece9aebbc31c618638c000000002184104208679454c6794000000000000014001c03000000ff";
    const CASTLING: &str = "08fe820b000000000070c079064b400000000000000000000000000000000000960007c1560201ff";

    #[test]
    fn records_are_turned_to_the_view_of_white() {
        for (hex, fen, score, mv, ply, result) in [
            (START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 20, "e2e4", 0, 1),
            (
                "09fe820b00008018000070c0f914700000000000000000000000000000000000e7ffd4860d00ffff",
                "r3k2r/8/8/8/3pP3/8/8/R3K2R b KQkq e3 0 7",
                25,
                "d4e3",
                13,
                2,
            ),
            (CASTLING, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 70 300", 150, "e1g1", 598, 2),
            (
                "1e042000000000000000004006000000000000000000000000000000000000008403387c1e0301ff",
                "8/P7/8/8/8/8/k6K/8 w - - 0 400",
                900,
                "a7a8q",
                798,
                2,
            ),
        ] {
            let read = read(&record(hex)).unwrap();
            assert_eq!(read.position.to_string(), fen);
            assert_eq!(read.mv.unwrap().uci(&read.position).as_str(), mv);
            assert_eq!((read.score, read.ply, read.result), (Some(score), Some(ply), Some(result)));
        }
    }

    #[test]
    fn records_with_a_fault_are_named() {
        let changed = |at: usize, bytes: &[u8]| {
            let mut record = record(START);
            record[at..at + bytes.len()].copy_from_slice(bytes);
            read(&record).map(|_| ())
        };
        let mv = |from: u16, to: u16, kind: u16| (to | from << 6 | kind << 12).to_le_bytes();
        for (at, bytes, reason) in [
            (31, &[0x80][..], "unused_bits"),
            (38, &[2], "invalid_result"),
            // The black king on e1, too: bits 7 to 12.
            (0, &[0x08, 0xE2], "not_one_king_each"),
            // From e3, from e2 to e2, and from e2 to e4 with a piece of promotion.
            (34, &mv(20, 28, 0), "invalid_move"),
            (34, &mv(12, 12, 0), "invalid_move"),
            (34, &mv(12, 28, 1), "invalid_move"),
        ] {
            assert_eq!(changed(at, bytes), Err(reason), "{at} {bytes:x?}");
        }
        // Any padding, and no move.
        assert_eq!(changed(39, &[7]), Ok(()));
        assert_eq!(changed(34, &[0, 0]), Ok(()));
        let mut full = [0xFF; LEN];
        assert_eq!(read(&full).map(|_| ()), Err("not_one_king_each"));
        full[0] = 0x7F;
        assert_eq!(read(&full).map(|_| ()), Err("unknown_piece"));
        // A right whose rook has become a knight: its bits are 15 to 17.
        let mut castling = record(CASTLING);
        assert_eq!(castling[1..3], [0xFE, 0x82]);
        castling[1] = 0xBE;
        castling[2] = 0x80;
        assert_eq!(read(&castling).map(|_| ()), Err("castling_rights"));
    }

    #[test]
    fn the_lowest_score_of_black_is_saturated() {
        let fen = "4k3/8/8/8/8/8/8/4K3 b - - 0 1";
        let read = read(&sfen(fen, i16::MIN, 0, 0, 0)).unwrap();
        assert!(read.saturated_score && read.score == Some(i16::MAX));
    }

    #[test]
    fn scores_and_clocks_are_any_number() {
        for score in [32_002, -32_002, 31_950, i16::MAX, -i16::MAX] {
            for (turn, sign) in [("w", 1), ("b", -1)] {
                let read = read(&sfen(&format!("4k3/8/8/8/8/8/8/4K3 {turn} - - 99 0"), score, 0, 9, 1)).unwrap();
                assert_eq!((read.score, read.saturated_score), (Some(sign * score), false));
                assert_eq!((read.position.halfmove, read.position.fullmove), (99, 0));
            }
        }
    }
}
