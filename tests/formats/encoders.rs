//! Plain encoders of training records, from FEN: as the documentation of the formats describes the bytes, and without
//! anything of this crate, so that unit tests can include them as well.

/// A board that was read from FEN.
struct Fields {
    /// 0 to 5 for pawn, knight, bishop, rook, queen and king, and 8 more for Black, or nothing, from a1 on.
    squares: [Option<u8>; 64],
    black_to_move: bool,
    /// Castling rooks, and which of K, Q, k and q they are.
    rooks: Vec<(usize, usize)>,
    en_passant: Option<u8>,
    halfmove: u16,
    fullmove: u16,
}

fn fields(fen: &str) -> Fields {
    let parts: Vec<&str> = fen.split(' ').collect();
    let mut squares = [None; 64];
    for (row, rank) in parts[0].split('/').enumerate() {
        let mut file = 0;
        for symbol in rank.chars() {
            match symbol.to_digit(10) {
                Some(empty) => file += empty as usize,
                None => {
                    let kind = "pnbrqk".find(symbol.to_ascii_lowercase()).unwrap() as u8;
                    let black = u8::from(symbol.is_ascii_lowercase()) << 3;
                    squares[(7 - row) * 8 + file] = Some(kind | black);
                    file += 1;
                }
            }
        }
    }
    let rooks = parts[2].chars().filter(|&letter| letter != '-').map(|letter| {
        let (first, color) = if letter.is_ascii_uppercase() { (0, 0) } else { (56, 8) };
        let home = first..first + 8;
        let king = home.clone().find(|&square| squares[square] == Some(5 | color)).unwrap();
        let is_rook = |square: &usize| squares[*square] == Some(3 | color);
        let rook = match letter.to_ascii_lowercase() {
            'k' => home.rev().find(is_rook).unwrap(),
            'q' => home.clone().find(is_rook).unwrap(),
            file => first + (file as usize - 'a' as usize),
        };
        (rook, usize::from(rook < king) + if color == 0 { 0 } else { 2 })
    });
    let en_passant = match parts[3].as_bytes() {
        [file, rank] => Some((rank - b'1') * 8 + file - b'a'),
        _ => None,
    };
    Fields {
        squares,
        black_to_move: parts[1] == "b",
        rooks: rooks.collect(),
        en_passant,
        halfmove: parts[4].parse().unwrap(),
        fullmove: parts[5].parse().unwrap(),
    }
}

/// The squares and codes of the first 24 bytes.
fn board(squares: &[Option<u8>; 64]) -> [u8; 32] {
    let mut record = [0; 32];
    for (number, square) in (0..64).filter(|&square| squares[square].is_some()).enumerate() {
        record[square / 8] |= 1 << (square % 8);
        record[8 + number / 2] |= squares[square].unwrap() << (4 * (number % 2));
    }
    record
}

/// A record of bulletformat; score and result are those of the side to move.
pub(crate) fn bullet(fen: &str, score: i16, result: u8) -> [u8; 32] {
    let fields = fields(fen);
    let flip = if fields.black_to_move { 56 } else { 0 };
    let color = if fields.black_to_move { 8 } else { 0 };
    let squares = std::array::from_fn(|square| fields.squares[square ^ flip].map(|code| code ^ color));
    let mut record = board(&squares);
    record[24..26].copy_from_slice(&score.to_le_bytes());
    record[26] = result;
    let king = |code| squares.iter().position(|&piece| piece == Some(code)).unwrap() as u8;
    record[27] = king(5);
    record[28] = king(13) ^ 56;
    record
}

/// A record of marlinformat; score and result are those of White.
pub(crate) fn marlin(fen: &str, score: i16, result: u8) -> [u8; 32] {
    let mut fields = fields(fen);
    for (rook, _) in &fields.rooks {
        fields.squares[*rook] = fields.squares[*rook].map(|code| code & 8 | 6);
    }
    let mut record = board(&fields.squares);
    record[24] = fields.en_passant.unwrap_or(64) | u8::from(fields.black_to_move) << 7;
    record[25] = fields.halfmove as u8;
    record[26..28].copy_from_slice(&fields.fullmove.to_le_bytes());
    record[28..30].copy_from_slice(&score.to_le_bytes());
    record[30] = result;
    record
}

/// A record of packed sfen; score and result are those of the side to move.
pub(crate) fn sfen(fen: &str, score: i16, mv: u16, ply: u16, result: i8) -> [u8; 40] {
    let fields = fields(fen);
    let (mut record, mut at) = ([0; 40], 0);
    let mut put = |value: u16, count: usize| {
        for bit in 0..count {
            record[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            at += 1;
        }
    };
    let king = |code| fields.squares.iter().position(|&piece| piece == Some(code)).unwrap();
    let kings = [king(5), king(13)];
    put(fields.black_to_move.into(), 1);
    kings.iter().for_each(|&king| put(king as u16, 6));
    for square in (0..64).map(|number| number ^ 56).filter(|square| !kings.contains(square)) {
        match fields.squares[square] {
            None => put(0, 1),
            Some(code) => {
                put(1, 1);
                put(u16::from(code & 7), 3);
                put(u16::from(code >> 3), 1);
            }
        }
    }
    (0..4).for_each(|right| put(fields.rooks.iter().any(|&(_, of)| of == right).into(), 1));
    put(fields.en_passant.is_some().into(), 1);
    if let Some(square) = fields.en_passant {
        put(square.into(), 6);
    }
    put(fields.halfmove, 6);
    put(fields.fullmove, 16);
    put(fields.halfmove >> 6, 1);
    record[32..34].copy_from_slice(&score.to_le_bytes());
    record[34..36].copy_from_slice(&mv.to_le_bytes());
    record[36..38].copy_from_slice(&ply.to_le_bytes());
    record[38] = result as u8;
    record[39] = 0xFF;
    record
}
