//! The tag section of a game: where it ends, and the position that its tags set up.
//!
//! Files have empty lines between the tags of one game, so an empty line alone does not end the section. It ends
//! at movetext, and before tags that can only be those of the next game: where [`lex::begins_game`] says so, at
//! `Event` after an empty line or for the second time, and at a paragraph that repeats a name.

use super::{GameError, Games};
use crate::chess::fen::{self, Expected, Fen, FenError, FenField, FenOptions};
use crate::chess::{Position, Validity};
use crate::formats::codec::line_records::are_moves;
use crate::formats::pgn::lex::{self, Comment};
use crate::formats::pgn::tag_syntax;
use crate::formats::pgn::tags::{self, Tags};
use crate::games::Variant;
use crate::replay::Board;
use std::collections::HashSet;

impl<'a> Games<'a> {
    /// The end of the line that contains `at`.
    fn line_end(&mut self, at: usize) -> usize {
        // One line may contain many games.
        if !self.line.contains(&at) {
            self.line = at..lex::text_line_end(self.bytes, at);
        }
        self.line.end
    }

    /// Reads the tags of a line that does not end with the bracket of its last tag; returns whether moves follow in it.
    /// Other text in the line is ignored.
    #[cold]
    fn odd_tag(&mut self, marked: &mut tags::Marked) -> bool {
        marked.crowd();
        let bytes = self.bytes;
        loop {
            let tag = tag_syntax::tag(&bytes[self.at..]);
            self.at += tag.len.max(1);
            marked.ignored += u32::from(tag.has_more);
            // The tag may end in a later line.
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
                self.at += 1;
            }
            match self.peek() {
                Some(b'[') => continue,
                None | Some(b'\n' | b'{' | b';') => return false,
                Some(_) => {}
            }
            let end = self.line_end(self.at);
            let behind = bytes[self.at..end].trim_ascii_end();
            // A single byte is a damaged line end.
            if behind.len() > 1 {
                if begins_moves(behind) {
                    return true;
                }
                marked.ignored += 1;
            }
            self.at = end;
            return false;
        }
    }

    /// The tag after the comments here, if there is one: then the comments are among the tags, not before the moves.
    /// Also returns the number of line feeds before the tag, some of which come before the comments.
    fn after_comments(&self, mut feeds: usize) -> Option<(usize, usize)> {
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            match bytes.get(at)? {
                b'{' => match lex::comment(bytes, at) {
                    Comment::Closed(end) if end - self.at < self.max_record => {
                        feeds = after_text(feeds);
                        at = end + 1;
                    }
                    _ => return None,
                },
                b'\n' => {
                    feeds += 1;
                    at += 1;
                }
                b' ' | b'\t' | b'\r' => at += 1,
                &byte if byte == b';' || byte == b'%' && matches!(bytes[at - 1], b'\n' | b'\r') => {
                    feeds = after_text(feeds);
                    at = lex::text_line_end(bytes, at);
                }
                b'[' if !lex::begins_game(bytes, at) => return Some((at, feeds)),
                _ => return None,
            }
        }
    }

    /// Reads the tags that begin here as long as they have the names of an earlier game, in its order, each in a line of
    /// its own; returns the end of the last of them. The text is mostly such tags.
    #[inline(always)]
    fn expected_tags(&mut self, marked: &mut tags::Marked) -> usize {
        let (bytes, start) = (self.bytes, self.at);
        let expected = self.usual_names.expected();
        let (mut at, mut count) = (start, 0);
        for &name in expected {
            if !name.begins(bytes, at) {
                break;
            }
            let line = lex::find2(bytes, at + 1, b'\n', b'[');
            if bytes.get(line) != Some(&b'\n') || !tag_syntax::ends_regularly(&bytes[at..line]) {
                break;
            }
            marked.note_expected(name, at - start);
            (at, count) = (line + 1, count + 1);
        }
        if count == 0 {
            return start;
        }
        self.at = at - 1;
        marked.expected_names(&self.usual_names, count, &bytes[start..at - 1]);
        at - 1
    }

    /// The tags of the game that begins at a place.
    pub(in crate::formats::pgn) fn tags_at(&mut self, start: usize) -> Tags<'a> {
        self.at = start;
        self.tag_section()
    }

    /// Reads the tag section that begins here, if there is one.
    pub(super) fn tag_section(&mut self) -> Tags<'a> {
        let start = self.at;
        let bytes = self.bytes;
        let mut marked = tags::Marked::default();
        let mut end = self.expected_tags(&mut marked);
        let mut has_event = end > start && bytes[start..].starts_with(b"[Event ");
        // Line feeds after the last tag.
        let mut feeds = 0;
        // Names of tags, once an empty line follows them.
        let mut names = HashSet::new();
        loop {
            match self.peek() {
                Some(b'[') => {
                    // Up to the end of the line, looking for further tags in it.
                    let mut line = lex::find2(bytes, self.at + 1, b'\n', b'[');
                    let is_crowded = bytes.get(line) == Some(&b'[');
                    if is_crowded {
                        line = self.line_end(self.at);
                    }
                    let is_event = bytes[self.at..].starts_with(b"[Event ");
                    let empty_line = feeds >= 2;
                    if (is_event || empty_line) && end > start {
                        if is_event && (empty_line || has_event) || lex::begins_game(bytes, self.at) {
                            break;
                        }
                        if empty_line {
                            if names.is_empty() {
                                add_names(bytes, start, &mut names, false);
                            }
                            if add_names(bytes, self.at, &mut names, true) {
                                break;
                            }
                        }
                    }
                    has_event |= is_event;
                    let text = &bytes[self.at..line];
                    marked.look(&bytes[start..line], self.at - start);
                    if is_crowded {
                        marked.crowd();
                    }
                    feeds = 0;
                    if tag_syntax::ends_regularly(text) {
                        self.at = line;
                        end = line;
                    } else {
                        let has_moves = self.odd_tag(&mut marked);
                        end = self.at;
                        if has_moves {
                            break;
                        }
                    }
                }
                Some(b'{') if end > start => match self.after_comments(feeds) {
                    Some((after, feeds_after)) => {
                        marked.has_comments = true;
                        marked.crowd();
                        self.at = after;
                        feeds = feeds_after;
                    }
                    None => break,
                },
                Some(b'\n') => {
                    feeds += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(byte) if byte == b';' || byte == b'%' && self.begins_line() => {
                    marked.has_comments = true;
                    feeds = after_text(feeds);
                    self.at = lex::text_line_end(bytes, self.at);
                }
                _ => break,
            }
        }
        let mut tags = Tags::new(&bytes[start..end], marked);
        tags.look_for_variants(&mut self.usual_names);
        tags
    }
}

/// The number of line feeds to count after other text among the tags. One is not enough to matter: it only ends the
/// line of that text.
fn after_text(feeds: usize) -> usize {
    if feeds < 2 { 0 } else { feeds }
}

/// Whether moves begin here, after the bracket of a tag: a move number, a result, or a move.
fn begins_moves(text: &[u8]) -> bool {
    let len = text.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let word = &text[..len.min(8)];
    let squares = word.windows(2).any(|pair| (b'a'..=b'h').contains(&pair[0]) && (b'1'..=b'8').contains(&pair[1]));
    match word.first() {
        Some(b'*' | b'0'..=b'9' | b'(' | b'$') => true,
        Some(b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N') => len <= 8 && squares,
        Some(b'O') => word.starts_with(b"O-O"),
        _ => false,
    }
}

/// Adds the names of the tags of a paragraph; with `stop`, nothing is added if one is already present, and
/// the return value is whether that is so.
fn add_names<'a>(bytes: &'a [u8], at: usize, names: &mut HashSet<&'a [u8]>, stop: bool) -> bool {
    let paragraph = || {
        bytes[at..]
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .take_while(|line| matches!(line.first(), Some(b'[' | b'%' | b';')))
            .enumerate()
            // A line that begins with this tag may begin a game, and belong to another chunk.
            .take_while(|(number, line)| *number == 0 || !line.starts_with(b"[Event "))
            .map(|(_, line)| line)
            .filter(|line| line.starts_with(b"["))
            .map(lex::tag_name)
    };
    if stop && paragraph().any(|name| names.contains(name)) {
        return true;
    }
    names.extend(paragraph());
    false
}

/// The board on which a game begins.
pub(super) struct StartBoard {
    pub(super) board: Board,
    pub(super) dropped_castling: u64,
    pub(super) has_fen_rest: bool,
    pub(super) castles_as_chess960: bool,
}

/// The board on which the game of these tags begins.
///
/// # Errors
/// If it begins on none that games can be read from.
pub(super) fn start_board(tags: &Tags<'_>, strict: bool) -> Result<StartBoard, GameError> {
    let Some(start) = start_position(tags, strict)? else {
        return Ok(StartBoard {
            board: Board::new(&Position::standard()),
            dropped_castling: 0,
            has_fen_rest: false,
            castles_as_chess960: false,
        });
    };
    let mut board = Board::new(&start.position);
    board.mark(start.position.pseudo_en_passant(start.written_en_passant));
    Ok(StartBoard {
        board,
        dropped_castling: start.dropped_castling,
        has_fen_rest: !start.rest.is_empty(),
        castles_as_chess960: !start.position.castles_as_standard(),
    })
}

/// The position of the FEN tag, or `None` for the standard one.
fn start_position<'a>(tags: &Tags<'a>, strict: bool) -> Result<Option<Fen<'a>>, GameError> {
    if let Some(variant) = tags.variant()
        && Variant::from_tag(variant).is_none()
    {
        return Err(GameError::Variant(String::from_utf8_lossy(variant).into_owned()));
    }
    let Some(text) = tags.fen() else {
        return Ok(None);
    };
    let parsed = if strict { fen::parse(text, FenOptions::default()) } else { fen::parse_tag(text) };
    let start = parsed.map_err(GameError::Fen)?;
    if are_moves(start.rest) {
        return Err(GameError::FenMoves);
    }
    // As in a line of a FEN file, except that operations are ignored.
    if let Some(&found) = start.rest.first()
        && (strict || !fen::may_be_operations(start.rest))
    {
        return Err(GameError::Fen(FenError {
            field: FenField::Rest,
            column: text.trim_ascii_end().len() - start.rest.len() + 1,
            found: Some(found),
            expected: Expected::End,
        }));
    }
    let violations = start.position.violations(Validity::Playable);
    if !violations.is_empty() {
        return Err(GameError::Start(violations));
    }
    Ok(Some(start))
}
