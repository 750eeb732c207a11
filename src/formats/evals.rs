//! Lichess evaluations: one JSON object per line, with a position and the evaluations of engines.
//!
//! `{"fen":"…","evals":[{"pvs":[{"cp":69,"line":"f7g7 e6e2"},..],"knodes":4189972,"depth":46},..]}`
//!
//! The deepest evaluation counts (of equally deep ones that with more nodes), and of it the first
//! line: its score, already from White's view, becomes `score` or `mate`, its first move `move`; `depth` and `knodes`
//! are those of the evaluation, and the depth is also the EPD operation `acd`. The FEN has four fields.
//!
//! Lines hold several kilobytes of moves that are not needed, so they are not parsed into a tree: a small
//! reader walks over the JSON and stops at the few relevant values.

use super::layout::Text;
use super::lines;
use super::records::{BadRecord, Record};
use super::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, pgn};
use crate::chess::Move;
use crate::chess::fen::{self, FenOptions};
use crate::table::{Field, Fields, MOST_CENTIPAWNS};
use memchr::memchr2;

/// Lichess evaluations.
#[derive(Clone, Copy, Debug)]
pub struct Evals;

impl Text for Evals {}

impl Codec for Evals {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "evals",
            title: "Lichess evaluations (JSON lines)",
            extensions: &[],
            has_games: false,
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
        lines::decode(self.about().carries, chunk, options, |line| Some(read(line, options)))
    }
}

/// Whether a text looks like evaluations.
fn sniff(head: &[u8]) -> bool {
    let head = lines::without_mark(head);
    let mut json = Json { rest: head.trim_ascii_start() };
    json.take(b'{') && json.string() == Some(b"fen")
}

/// The evaluation of an engine.
#[derive(Clone, Copy, Debug, Default)]
struct Eval<'a> {
    depth: i64,
    knodes: i64,
    cp: Option<i64>,
    mate: Option<i64>,
    line: &'a [u8],
}

fn read(line: &[u8], options: &DecodeOptions) -> Result<Record, BadRecord> {
    let malformed = |json: &Json<'_>| {
        let column = line.len() - json.rest.len() + 1;
        BadRecord::new("malformed_json", format!("column {column}: expected the JSON of an evaluation"))
    };
    let mut json = Json { rest: line };
    let (mut text, mut best) = (None, None);
    let walked = json.object(|json, key| match key {
        b"fen" => {
            text = Some(json.string()?);
            Some(())
        }
        b"evals" => json.array(|json| {
            let eval = eval(json)?;
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
    // Slashes may be escaped, and nothing else in a FEN needs to be.
    let unescaped: Vec<u8>;
    let text = if text.contains(&b'\\') {
        unescaped = text.iter().copied().filter(|&byte| byte != b'\\').collect();
        &unescaped
    } else {
        text
    };
    let fen = fen::parse(text, FenOptions { keep_en_passant: options.keep_en_passant })?;
    let position = fen.position.clone();
    let eval = best.unwrap_or_default();
    let mate = eval.mate.map(|mate| pgn::mate_in(mate < 0, mate.unsigned_abs()));
    let most = i64::from(MOST_CENTIPAWNS);
    let score = match mate {
        Some(_) => None,
        None => eval.cp.map(|cp| cp.clamp(-most, most) as i16),
    };
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
    Ok(Record {
        dropped_en_passant: fen.dropped_en_passant(),
        idle_en_passant: position.idle_en_passant(fen.written_en_passant),
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

/// A walk over JSON; `None` is an error, at the beginning of the rest.
struct Json<'a> {
    rest: &'a [u8],
}

impl<'a> Json<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes a byte if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        match self.rest.strip_prefix(&[byte]) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// A raw string, with its escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let mut at = 0;
        loop {
            at += memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest[at] == b'"' {
                let (string, rest) = self.rest.split_at(at);
                self.rest = &rest[1..];
                return Some(string);
            }
            at += 2;
        }
    }

    /// A whole number; decimals are truncated.
    fn number(&mut self) -> Option<i64> {
        let text = self.number_text()?;
        let whole = text.split(|&byte| byte == b'.').next()?;
        std::str::from_utf8(whole).ok()?.parse().ok()
    }

    fn number_text(&mut self) -> Option<&'a [u8]> {
        self.blanks();
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count();
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        (len > 0).then_some(text)
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    fn array(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Skips any value, without recursion: brackets are only counted.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0u32;
        loop {
            self.blanks();
            match self.rest.first()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.rest = &self.rest[1..];
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.rest = &self.rest[1..];
                }
                b',' | b':' if depth > 0 => {
                    self.rest = &self.rest[1..];
                    continue;
                }
                b'a'..=b'z' => {
                    let len = self.rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
                    self.rest = &self.rest[len..];
                }
                _ => {
                    self.number_text()?;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}
