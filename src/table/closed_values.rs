//! The columns of text that can have only certain values, and these values: words, or texts of one form.
//!
//! Nothing that lanefish computes is compared with them. They are for people: a condition with a value that a column
//! never has is an error that names the nearest one, and completions offer the words.

use super::judgments_and_accuracy::Judgment;
use super::time_class::Speed;

/// The names of the items of a list.
macro_rules! names {
    ($type:ident) => {{
        const NAMES: [&str; $type::ALL.len()] = {
            let mut names = [""; $type::ALL.len()];
            let mut at = 0;
            while at < names.len() {
                names[at] = $type::ALL[at].name();
                at += 1;
            }
            names
        };
        &NAMES
    }};
}

/// The values that a column of text can have.
///
/// ```
/// use lanefish::table::ClosedValues;
///
/// let speeds = ClosedValues::of("speed").unwrap();
/// assert!(speeds.contains("blitz") && !speeds.contains("Blitz"));
/// assert_eq!(speeds.nearest("Blitz").as_deref(), Some("blitz"));
/// let material = ClosedValues::of("material").unwrap();
/// assert_eq!(material.nearest("KRPKR").as_deref(), Some("KRPvKR"));
/// assert!(ClosedValues::of("opening").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClosedValues(Values);

#[derive(Clone, Copy, Debug)]
enum Values {
    /// Words, and other texts that people write for them.
    Words(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// Texts of a form.
    Form(&'static Form),
}

/// A form of texts.
#[derive(Debug)]
struct Form {
    /// What the texts are.
    what: &'static str,
    contains: fn(&str) -> bool,
    /// What may have been meant by a text without blanks around it.
    meant: fn(&str) -> Option<String>,
}

/// Names of pieces that people write for their letters; the letters in lower case are found without them.
const PIECES: &[(&str, &str)] =
    &[("pawn", "P"), ("knight", "N"), ("bishop", "B"), ("rook", "R"), ("queen", "Q"), ("king", "K")];

static ECO: Form = Form {
    what: "codes such as B12",
    contains: |text| matches!(text.as_bytes(), [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9', ..]),
    meant: |text| {
        let code: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
        let end = code.len().min(3);
        Some(code[..end].to_owned())
    },
};

static ECO_OF_POSITIONS: Form =
    Form { contains: |text| text.len() == 3 && (ECO.contains)(text), what: ECO.what, meant: |text| (ECO.meant)(text) };

static MATERIAL: Form = Form {
    what: "White's pieces, `v` and Black's, in the order KQRBNP, such as KRPvKR",
    contains: |text| signature_of(text).is_some_and(|signature| signature.join("v") == text),
    meant: |text| signature_of(text).map(|signature| signature.join("v")),
};

static MATERIAL_KEY: Form = Form {
    what: "the pieces of the stronger side, `v` and those of the other one, in the order KQRBNP, such as KRPvKR",
    contains: |text| strongest_first(text).is_some_and(|signature| signature == text),
    meant: strongest_first,
};

static SQUARE: Form = Form { what: "squares such as e4", contains: is_square, meant: in_lower_case };

static EN_PASSANT: Form = Form {
    what: "- and squares such as e3 or d6",
    contains: |text| text == "-" || is_square(text) && matches!(text.as_bytes()[1], b'3' | b'6'),
    meant: |text| match text.to_ascii_lowercase().as_bytes() {
        // The square of the pawn, which other programs name.
        &[file @ b'a'..=b'h', rank @ (b'3' | b'4' | b'5' | b'6')] => {
            Some(format!("{}{}", char::from(file), if rank < b'5' { 3 } else { 6 }))
        }
        b"" | b"none" | b"no" => Some("-".to_owned()),
        _ => None,
    },
};

static CASTLING: Form = Form {
    what: "- and rights in the order KQkq, or files of rooks, such as Kq",
    contains: |text| {
        let is_right = |letter: u8| matches!(letter.to_ascii_uppercase(), b'K' | b'Q' | b'A'..=b'H');
        let letters = text.as_bytes();
        let usual = letters.iter().all(|letter| b"KQkq".contains(letter));
        let place = |letter: &u8| b"KQkq".iter().position(|right| right == letter);
        text == "-"
            || !letters.is_empty()
                && letters.iter().all(|&letter| is_right(letter))
                && letters.is_sorted_by_key(u8::is_ascii_lowercase)
                && (!usual || letters.is_sorted_by(|one, next| place(one) < place(next)))
    },
    meant: |text| {
        let rights: String = "KQkq".chars().filter(|&right| text.contains(right)).collect();
        let is_all = text.chars().all(|letter| "KQkq -".contains(letter));
        match text.to_ascii_lowercase().as_str() {
            "" | "none" | "no" => Some("-".to_owned()),
            _ => is_all.then_some(rights),
        }
    },
};

static MOVE: Form = Form {
    what: "moves in UCI form, such as e2e4 or e7e8q; `san` has them as Nf3",
    contains: is_uci,
    meant: |text| Some(text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()),
};

static SAN: Form = Form {
    what: "moves such as Nf3, exd5, O-O, e8=Q+ or Qxf7#; `move` has them as g1f3",
    contains: |text| {
        let is_of_san = |letter: u8| b"KQRBNOabcdefgh12345678x=+#-".contains(&letter);
        !text.is_empty() && text.bytes().all(is_of_san) && !is_uci(text)
    },
    meant: |text| {
        let text = text.trim_end_matches(['!', '?']).replace('0', "O").replace([' ', ':'], "").replace("e.p.", "");
        (!text.is_empty()).then_some(text)
    },
};

static MONTH: Form = Form {
    what: "months as YYYY.MM, or years",
    contains: |text| match text.as_bytes() {
        [year @ .., b'.', tens @ b'0'..=b'1', ones @ b'0'..=b'9'] => {
            let month = (tens - b'0') * 10 + (ones - b'0');
            is_year(year) && (1..=12).contains(&month)
        }
        year => is_year(year),
    },
    meant: |text| {
        let mut parts = text.split(['-', '.', '/']);
        let (year, month) = (parts.next()?, parts.next()?.parse::<u8>().ok()?);
        Some(format!("{year}.{month:02}"))
    },
};

fn is_year(text: &[u8]) -> bool {
    text.len() == 4 && text.iter().all(u8::is_ascii_digit)
}

fn is_square(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a'..=b'h', b'1'..=b'8'])
}

fn is_uci(text: &str) -> bool {
    let (squares, promotion) = text.as_bytes().split_at(text.len().min(4));
    let is_move = matches!(squares, [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8']);
    is_move && matches!(promotion, [] | [b'q' | b'r' | b'b' | b'n'])
}

fn in_lower_case(text: &str) -> Option<String> {
    Some(text.to_ascii_lowercase())
}

/// Letters of pieces, the king first, in the order of [`MATERIAL`].
const LETTERS: &str = "KQRBNP";

/// The pieces of both sides, in order, in a text with their letters; kings separate the sides.
fn signature_of(text: &str) -> Option<[String; 2]> {
    let letters: Vec<char> = text
        .chars()
        .map(|letter| letter.to_ascii_uppercase())
        .filter(|letter| !letter.is_whitespace() && !"V-_:,/".contains(*letter))
        .collect();
    let sorted = |side: &[char]| -> String {
        LETTERS.chars().flat_map(|piece| side.iter().copied().filter(move |&letter| letter == piece)).collect()
    };
    let second = letters.iter().skip(1).position(|&letter| letter == 'K')? + 1;
    let (white, black) = letters.split_at(second);
    let is_side = |side: &[char]| {
        side.first() == Some(&'K') && side[1..].iter().all(|&letter| letter != 'K' && LETTERS.contains(letter))
    };
    (is_side(white) && is_side(black)).then(|| [sorted(white), sorted(black)])
}

/// The pieces of both sides with the stronger one first, as the column `material_key` has them.
fn strongest_first(text: &str) -> Option<String> {
    let [one, other] = signature_of(text)?;
    let points = |side: &str| -> u32 {
        let value = |letter| match letter {
            'Q' => 9,
            'R' => 5,
            'B' | 'N' => 3,
            'P' => 1,
            _ => 0,
        };
        side.chars().map(value).sum()
    };
    // Of equal points, the side with the stronger piece where they first differ.
    let places = |side: &str| -> Vec<Option<usize>> {
        // A side with no more pieces comes after any piece.
        side.chars().map(|letter| LETTERS.find(letter)).chain([Some(LETTERS.len())]).collect()
    };
    let is_first = points(&one) > points(&other) || points(&one) == points(&other) && places(&one) <= places(&other);
    Some(if is_first { format!("{one}v{other}") } else { format!("{other}v{one}") })
}

impl ClosedValues {
    /// The values of a column, if it is one of text whose values are certain words or have a certain form.
    /// `outcome` is the column of [conditions on
    /// games](crate::choose::Definitions::condition_on_games).
    pub fn of(column: &str) -> Option<Self> {
        let words = |words, others| Some(Self(Values::Words(words, others)));
        let form = |form| Some(Self(Values::Form(form)));
        match column {
            "stm" => words(&["w", "b"], &[("white", "w"), ("black", "b")]),
            "result" => words(
                &["1-0", "0-1", "1/2-1/2"],
                &[
                    ("1/2", "1/2-1/2"),
                    ("draw", "1/2-1/2"),
                    ("drawn", "1/2-1/2"),
                    ("0.5-0.5", "1/2-1/2"),
                    ("0.5", "1/2-1/2"),
                    ("white", "1-0"),
                    ("win", "1-0"),
                    ("black", "0-1"),
                    ("loss", "0-1"),
                ],
            ),
            "stm_result" => words(
                &["win", "draw", "loss"],
                &[("won", "win"), ("drawn", "draw"), ("1/2-1/2", "draw"), ("lost", "loss"), ("lose", "loss")],
            ),
            "speed" => words(names!(Speed), &[]),
            "judgment" => words(names!(Judgment), &[("?!", "inaccuracy"), ("?", "mistake"), ("??", "blunder")]),
            "outcome" => words(&["checkmate", "stalemate"], &[("mate", "checkmate"), ("checkmated", "checkmate")]),
            "moved_piece" => words(&["P", "N", "B", "R", "Q", "K"], PIECES),
            "captured_piece" => words(&["P", "N", "B", "R", "Q"], PIECES),
            "eco" => form(&ECO),
            "eco_position" => form(&ECO_OF_POSITIONS),
            "material" => form(&MATERIAL),
            "material_key" => form(&MATERIAL_KEY),
            "white_king" | "black_king" => form(&SQUARE),
            "en_passant" => form(&EN_PASSANT),
            "castling" => form(&CASTLING),
            "move" => form(&MOVE),
            "san" => form(&SAN),
            "month" => form(&MONTH),
            _ => None,
        }
    }
    /// The values, if they are words.
    pub const fn words(self) -> Option<&'static [&'static str]> {
        match self.0 {
            Values::Words(words, _) => Some(words),
            Values::Form(_) => None,
        }
    }
    /// Whether the column can have this value.
    pub fn contains(self, text: &str) -> bool {
        match self.0 {
            Values::Words(words, _) => words.contains(&text),
            Values::Form(form) => (form.contains)(text),
        }
    }
    /// Whether the column can have this value in upper or lower case. Of texts of a form, that is not known.
    pub(crate) fn contains_in_any_case(self, text: &str) -> bool {
        self.words().is_none_or(|words| words.iter().any(|word| word.to_lowercase() == text.to_lowercase()))
    }
    /// The value that was probably meant by another text.
    pub fn nearest(self, text: &str) -> Option<String> {
        // Dashes of word processors, and halves.
        let text = text.trim().replace(['–', '—', '−', '‐', '‑'], "-").replace('½', "1/2");
        match self.0 {
            Values::Words(words, others) => {
                let lower = text.to_lowercase();
                let same = words.iter().find(|word| word.to_lowercase() == lower);
                let other = || others.iter().find(|(other, _)| *other == lower).map(|(_, word)| word);
                let similar = || {
                    let distances = words.iter().map(|word| (distance(&lower, word), word));
                    let near = distances.filter(|(distance, _)| *distance <= (lower.chars().count() / 3).max(1));
                    // A letter in place of another is no misprint.
                    let near = near.filter(|(_, word)| word.len() > 2);
                    near.min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
                };
                same.or_else(other).or_else(similar).map(|word| (*word).to_owned())
            }
            Values::Form(form) => (form.meant)(&text).filter(|meant| (form.contains)(meant)),
        }
    }
    /// What the values are, for messages: `w and b`.
    pub fn description(self) -> String {
        match self.0 {
            Values::Words(words, _) => match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
                _ => words.concat(),
            },
            Values::Form(form) => form.what.to_owned(),
        }
    }
}

/// How many letters have to be added, left out or replaced to make one text of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (done, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], done + 1);
        for (at, &theirs) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != theirs);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{COLUMNS, Kind};

    #[test]
    fn nearest_values() {
        for (column, wrong, right) in [
            ("speed", "Blitz", "blitz"),
            ("speed", "blitzz", "blitz"),
            ("speed", "Ultra Bullet", "ultrabullet"),
            ("eco", "b12", "B12"),
            ("eco_position", "B12a", "B12"),
            ("material", "KRPKR", "KRPvKR"),
            ("material", "krp-kr", "KRPvKR"),
            ("material", "KPRvKR", "KRPvKR"),
            ("material", "KRP v KR", "KRPvKR"),
            ("material_key", "KRvKRP", "KRPvKR"),
            ("material_key", "KNNNvKQ", "KQvKNNN"),
            ("result", "1–0", "1-0"),
            ("result", "½-½", "1/2-1/2"),
            ("result", "Draw", "1/2-1/2"),
            ("stm", "white", "w"),
            ("stm", "B", "b"),
            ("judgment", "blundr", "blunder"),
            ("judgment", "??", "blunder"),
            ("stm_result", "lost", "loss"),
            ("outcome", "mate", "checkmate"),
            ("moved_piece", "n", "N"),
            ("moved_piece", "knight", "N"),
            ("castling", "qkQK", "KQkq"),
            ("castling", "none", "-"),
            ("en_passant", "e4", "e3"),
            ("white_king", "E1", "e1"),
            ("move", "e2-e4", "e2e4"),
            ("move", "E7E8=Q", "e7e8q"),
            ("san", "0-0", "O-O"),
            ("san", "Nf3!?", "Nf3"),
            ("month", "2025-5", "2025.05"),
            ("month", "2025-05-31", "2025.05"),
        ] {
            let values = ClosedValues::of(column).unwrap();
            assert!(!values.contains(wrong) && values.contains(right), "{column} {wrong} {right}");
            assert_eq!(values.nearest(wrong).as_deref(), Some(right), "{column} {wrong}");
        }
        for (column, wrong) in [("stm", "x"), ("material", "KR"), ("eco", ""), ("speed", "fast"), ("move", "Nf3")] {
            assert_eq!(ClosedValues::of(column).unwrap().nearest(wrong), None, "{column} {wrong}");
        }
        assert_eq!(ClosedValues::of("stm").unwrap().description(), "w and b");
    }

    #[test]
    fn they_are_of_columns_of_text() {
        let closed = COLUMNS.iter().filter(|column| ClosedValues::of(column.name).is_some());
        let closed: Vec<_> = closed.inspect(|column| assert_eq!(column.kind, Kind::Text, "{}", column.name)).collect();
        // `outcome` is only in conditions on games.
        assert_eq!(closed.len(), 18);
    }
}
