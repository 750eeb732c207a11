//! Lichess evaluations: one JSON object per line, with a position and the evaluations of engines.
//!
//! `{"fen":"…","evals":[{"pvs":[{"cp":69,"line":"f7g7 e6e2"},..],"knodes":4189972,"depth":46},..]}`
//!
//! The deepest evaluation counts (among equally deep ones, the one with more nodes), and its first line is used: the
//! score, already from White's view, becomes `score` or `mate`, and the first move becomes `move`. `depth` and `knodes`
//! are those of the evaluation; the depth is also the EPD operation `acd`. The FEN has four fields.
//!
//! Lines hold several kilobytes of moves that are not needed, so they are not parsed into a tree: a small
//! reader walks over the JSON and stops at the few relevant values. What makes a file one of evaluations is the key
//! `evals`; any other lines with a `fen` are [tables](crate::formats::tables::text).

use crate::chess::Move;
use crate::chess::fen::{self, FenOptions};
use crate::formats::codec::decode_records::{BadRecord, Record};
use crate::formats::codec::layout::Text;
use crate::formats::codec::line_records;
use crate::formats::tables::json_walk::{self, Json};
use crate::formats::{
    About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, LostByKey, Remark, UnstoredTags, pgn,
};
use crate::table::{Field, Fields, MOST_CENTIPAWNS};

/// The codec of Lichess evaluations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evals;

impl Text for Evals {}

impl Codec for Evals {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "evals",
            title: "Lichess evaluations (JSON lines)",
            extensions: &[],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: Fields::of(&[
                Field::Score,
                Field::Mate,
                Field::Move,
                Field::Operations,
                Field::Depth,
                Field::Knodes,
                Field::KeyEnPassant,
            ]),
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(sniff(head))
    }
    fn layout(&self) -> Layout {
        Layout::Text(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        let mut lost = Lost::default();
        let (mut beyond, mut first_beyond) = (0, None);
        let mut each = options.lists_lost_of_records().then(LostByKey::default);
        let mut decoded = line_records::decode(self.about().carries, chunk, options, |line, number| {
            let record = read(line, options, &mut lost, &mut |score| {
                beyond += 1;
                first_beyond.get_or_insert(score);
            });
            if let Some(each) = &mut each {
                let lost = std::mem::take(&mut lost);
                each.add(number, lost, || lost.named());
            }
            Some(record)
        });
        decoded.remarks.add_with(&SCORES_BEYOND, beyond, first_beyond.as_deref());
        decoded.lost_tags = lost.named();
        decoded.lost_of_each = each.map(LostByKey::finish);
        decoded
    }
}

/// Whether a text looks like evaluations.
pub(in crate::formats) fn sniff(head: &[u8]) -> bool {
    let line = line_records::first_line(head);
    // The line may continue after the bytes that are there.
    let (mut position, mut evals, mut others) = (false, false, false);
    let walked = Json { rest: line }.object(|json, key| {
        match key {
            b"fen" => position = json.next() == Some(b'"'),
            b"evals" => match json.next() {
                Some(b'[') => evals = true,
                _ => others = true,
            },
            _ => {}
        }
        json.skip()
    });
    evals && !others && (position || walked.is_none())
}

/// The evaluation of an engine.
#[derive(Clone, Copy, Debug, Default)]
struct Eval<'a> {
    depth: i64,
    knodes: i64,
    cp: Option<i64>,
    mate: Option<i64>,
    line: &'a [u8],
    /// Number of lines of play.
    lines: u64,
}

/// The parts of the evaluations for which there is no field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Lost {
    /// Lines of play after the first of the deepest evaluation.
    lines: u64,
    /// Evaluations that are not the deepest one.
    evaluations: u64,
    /// Moves after the first of the first line.
    moves: u64,
}

/// Scores beyond the range of their column.
pub static SCORES_BEYOND: Remark =
    Remark { what: "score", how: "beyond 310 pawns or 1,000 moves to mate, read as that", is_detail: false };

impl Lost {
    fn named(self) -> UnstoredTags {
        let mut lost = UnstoredTags::default();
        lost.add_text("further lines of play", self.lines);
        lost.add_text("shallower evaluations", self.evaluations);
        lost.add_text("moves of lines of play after the first", self.moves);
        lost
    }
}

/// Reads a line; `beyond` is called with a score that is beyond the range of scores or mates.
fn read(
    line: &[u8],
    options: &DecodeOptions,
    lost: &mut Lost,
    beyond: &mut dyn FnMut(String),
) -> Result<Record, BadRecord> {
    let malformed = |json: &Json<'_>| {
        let column = line.len() - json.rest.len() + 1;
        BadRecord::new("malformed_json", format!("column {column}: expected the JSON of an evaluation"))
    };
    let mut json = Json { rest: line };
    let (mut text, mut best, mut evaluations) = (None, None, 0u64);
    let walked = json.object(|json, key| match key {
        b"fen" => {
            text = Some(json.string()?);
            Some(())
        }
        b"evals" => json.array(|json| {
            let eval = eval(json)?;
            evaluations += 1;
            let key = |eval: &Eval<'_>| (eval.depth, eval.knodes);
            if best.as_ref().is_none_or(|best| key(&eval) > key(best)) {
                best = Some(eval);
            }
            Some(())
        }),
        _ => json.skip(),
    });
    if walked.is_none() || !json.rest.trim_ascii().is_empty() {
        return Err(malformed(&json));
    }
    let text = text.ok_or_else(|| BadRecord::new("eval_without_fen", "the object has no `fen`"))?;
    let mut unescaped = Vec::new();
    let text = json_walk::unescaped(text, &mut unescaped).ok_or_else(|| malformed(&json))?;
    let fen = fen::parse(text, FenOptions::default().keep_en_passant(options.keep_en_passant))?;
    let position = fen.position.clone();
    let eval = best.unwrap_or_default();
    let mate = eval.mate.map(|mate| pgn::mate_in(mate < 0, mate.unsigned_abs()));
    let most = i64::from(MOST_CENTIPAWNS);
    let score = match mate {
        Some(_) => None,
        None => eval.cp.map(|cp| cp.clamp(-most, most) as i16),
    };
    if options.fields.intersects(Fields::of(&[Field::Score, Field::Mate])) {
        match (eval.mate, eval.cp) {
            (Some(moves), _) if moves.unsigned_abs() > pgn::LONGEST_MATE.into() => beyond(format!("mate {moves}")),
            (None, Some(cp)) if cp.unsigned_abs() > MOST_CENTIPAWNS.into() => beyond(format!("cp {cp}")),
            _ => {}
        }
    }
    let mv = match eval.line.split(|&byte| byte == b' ').next() {
        None | Some(b"") => None,
        Some(mv) => {
            let text = String::from_utf8_lossy(mv);
            Some(
                Move::from_uci(&text, &position)
                    .map_err(|error| BadRecord::new("illegal_move", format!("`{text}` in {position}: {error}")))?,
            )
        }
    };
    let mut texts = Vec::new();
    if eval.depth != 0 && options.fields.contains(Field::Operations) {
        texts.push((Field::Operations, format!("acd {};", eval.depth)));
    }
    if options.lost_tags {
        lost.lines += eval.lines.saturating_sub(1);
        lost.evaluations += evaluations.saturating_sub(1);
        let words = eval.line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        lost.moves += words.skip(1).count() as u64;
    }
    Ok(Record {
        dropped_en_passant: fen.dropped_en_passant(),
        pseudo_en_passant: position.pseudo_en_passant(fen.written_en_passant),
        mv,
        score,
        mate,
        depth: positive(eval.depth),
        knodes: positive(eval.knodes),
        texts,
        ..Record::of(position)
    })
}

/// A number, unless it is missing, negative or too large.
fn positive<T: TryFrom<i64>>(number: i64) -> Option<T> {
    T::try_from(number).ok().filter(|_| number > 0)
}

fn eval<'a>(json: &mut Json<'a>) -> Option<Eval<'a>> {
    let mut eval = Eval::default();
    json.object(|json, key| {
        match key {
            b"depth" => eval.depth = json.number()?,
            b"knodes" => eval.knodes = json.number()?,
            b"pvs" => {
                let mut first = true;
                json.array(|json| {
                    eval.lines += 1;
                    if !std::mem::take(&mut first) {
                        return json.skip();
                    }
                    json.object(|json, key| {
                        match key {
                            b"cp" => eval.cp = Some(json.number()?),
                            b"mate" => eval.mate = Some(json.number()?),
                            b"line" => eval.line = json.string()?,
                            _ => json.skip()?,
                        }
                        Some(())
                    })
                })?;
            }
            _ => json.skip()?,
        }
        Some(())
    })?;
    Some(eval)
}
