//! Scores that are codes: how formats of training data write that a game is decided.
//!
//! Engines put mates and tablebase results among the centipawns, far beyond any evaluation. Which numbers these are
//! depends on the engine that a format comes from; the table below has those with a public source. A number without one
//! stays a score, and so does every number once a record is stored in a format that has no codes.
//!
//! | formats | scores | meaning | source |
//! | --- | --- | --- | --- |
//! | binpack, plain, sfen | ±31,754 to ±32,000 | mate in 32,000 less the score, in plies | Stockfish, `types.h`: `VALUE_MATE` 32,000, `MAX_PLY` 246 |
//! | the same | ±31,507 to ±31,753 | win or loss in the tablebase | the same: `VALUE_TB`, `VALUE_TB_WIN_IN_MAX_PLY` |
//! | the same | ±26,624 | the network of Leela is certain: Q is 1 or -1 | Leela's data become scores by 660.6 Q / (1 - 0.9751875 Q¹⁰), which is 26,624 for 1 |
//! | the same | ±32,002 | no score | Stockfish, `VALUE_NONE`; [`NO_SCORE`](super::NO_SCORE), a missing score in every format |
//! | viriformat | ±31,339 and beyond | mate, or win or loss in the tablebase | the default filter of the crate viriformat 3.0, and Viridithas |

use super::NO_SCORE;

/// The codes among the scores of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum ScoreCodes {
    /// All numbers are scores.
    #[default]
    None,
    /// Those of Stockfish, and of data that were made from Leela's.
    Stockfish,
    /// Those of Viridithas.
    Viridithas,
}

/// The meaning of a score that is a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScoreCode {
    /// A mate.
    Mate,
    /// A win or a loss in the tablebase.
    Tablebase,
    /// The network has no doubt.
    Certain,
    /// A mate, or a win or a loss in the tablebase.
    Decided,
}

impl ScoreCode {
    /// All codes, each at its number.
    pub const ALL: [Self; 4] = [Self::Mate, Self::Tablebase, Self::Certain, Self::Decided];

    /// The name in files.
    pub fn name(self) -> &'static str {
        ["mate", "tablebase", "certain", "decided"][self as usize]
    }

    /// The keys of tables in files, for a win of White and of Black.
    pub(crate) fn keys(self) -> [&'static str; 2] {
        match self {
            Self::Mate => ["score_mate_white", "score_mate_black"],
            Self::Tablebase => ["score_tablebase_white", "score_tablebase_black"],
            Self::Certain => ["score_certain_white", "score_certain_black"],
            Self::Decided => ["score_decided_white", "score_decided_black"],
        }
    }

    /// The name in tables, for a win of White and of Black.
    pub fn titles(self) -> [&'static str; 2] {
        match self {
            Self::Mate => ["score means mate for White", "score means mate for Black"],
            Self::Tablebase => ["score means tablebase win for White", "score means tablebase win for Black"],
            Self::Certain => ["score means certain win for White", "score means certain win for Black"],
            Self::Decided => ["score means decided for White", "score means decided for Black"],
        }
    }
}

impl ScoreCodes {
    const ALL: [Self; 3] = [Self::None, Self::Stockfish, Self::Viridithas];

    /// The number in temporary files.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    /// The codes with a number in temporary files.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The smallest size of a code; all scores are smaller if there are none.
    #[inline(always)]
    pub(crate) fn least(self) -> u16 {
        match self {
            Self::None => u16::MAX,
            Self::Stockfish => CERTAIN,
            Self::Viridithas => DECIDED,
        }
    }

    /// The meaning of a score, if it is a code.
    #[inline(always)]
    pub(crate) fn meaning(self, score: i16) -> Option<ScoreCode> {
        match (self, score.unsigned_abs()) {
            (Self::Stockfish, CERTAIN) => Some(ScoreCode::Certain),
            (Self::Stockfish, 31_507..=31_753) => Some(ScoreCode::Tablebase),
            (Self::Stockfish, 31_754..=32_000) => Some(ScoreCode::Mate),
            (_, NO_SCORE) => None,
            (Self::Viridithas, DECIDED..) => Some(ScoreCode::Decided),
            _ => None,
        }
    }
}

const CERTAIN: u16 = 26_624;
const DECIDED: u16 = 31_339;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_ranges() {
        let q = |q: f64| 660.6 * q / (1.0 - 0.975_187_5 * q.powi(10));
        assert_eq!((q(1.0).round(), q(-1.0).round()), (26_624.0, -26_624.0));
        let of = |codes: ScoreCodes| {
            let mut all = [0; 4];
            for score in i16::MIN..=i16::MAX {
                if let Some(code) = codes.meaning(score) {
                    all[code as usize] += 1;
                    assert!(score.unsigned_abs() >= codes.least());
                    assert_eq!(codes.meaning(score.saturating_neg()), Some(code));
                }
            }
            all
        };
        assert_eq!(of(ScoreCodes::None), [0; 4]);
        assert_eq!(of(ScoreCodes::Stockfish), [2 * 247, 2 * 247, 2, 0]);
        assert_eq!(of(ScoreCodes::Viridithas), [0, 0, 0, 2 * (32_767 - 31_338 - 1) + 1]);
        for (number, code) in ScoreCode::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, number);
        }
        for codes in ScoreCodes::ALL {
            assert_eq!(ScoreCodes::of_number(codes.number()), Some(codes));
        }
    }
}
