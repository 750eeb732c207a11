//! The tag section of a game: where it ends, and the position that its tags set up.
//!
//! Files have empty lines between the tags of one game, so an empty line alone does not end the section. It ends
//! at movetext, and before tags that can only be those of the next game: where [`lex::begins_game`] says so, at
//! `Event` after an empty line or for the second time, and at a paragraph that repeats a name.

use super::{GameError, Games};
use crate::chess::fen::{self, Fen, FenOptions};
use crate::chess::validity::Validity;
use crate::formats::pgn::lex;
use crate::formats::pgn::tags::{self, Tags};
use crate::games::Variant;
use std::collections::HashSet;

impl<'a> Games<'a> {
    /// The end of the line that contains `at`.
    fn line_end(&mut self, at: usize) -> usize {
        // Many games may stand in one line.
        if !self.line.contains(&at) {
            self.line = at..lex::line_end(self.bytes, at);
        }
        self.line.end
    }

    /// Reads the tag section that begins here, if there is one.
    pub(super) fn tag_section(&mut self) -> Tags<'a> {
        let start = self.at;
        let mut end = start;
        let mut has_event = false;
        // Line feeds after the last tag.
        let mut feeds = 0;
        // Names of tags, once an empty line follows them.
        let mut names = HashSet::new();
        let bytes = self.bytes;
        let mut marked = tags::Marked::default();
        loop {
            match self.peek() {
                Some(b'[') => {
                    // Up to the end of the line, looking for further tags in it.
                    let mut line = lex::find2(bytes, self.at + 1, b'\n', b'[');
                    if bytes.get(line) == Some(&b'[') {
                        marked.crowd();
                        line = self.line_end(line);
                    }
                    let is_event = bytes[self.at..].starts_with(b"[Event ");
                    let empty_line = feeds >= 2;
                    if (is_event || empty_line) && end > start {
                        if is_event && (empty_line || has_event) || lex::begins_game(bytes, self.at)
                        {
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
                    marked.look(text, self.at - start);
                    let moves = tags::moves_after(text);
                    self.at = moves.map_or(line, |len| self.at + len);
                    end = self.at;
                    feeds = 0;
                    if moves.is_some() {
                        break;
                    }
                }
                Some(b'\n') => {
                    feeds += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'%') if self.begins_line() => self.at = lex::line_end(bytes, self.at),
                Some(b';') => self.at = lex::line_end(bytes, self.at),
                _ => break,
            }
        }
        Tags::new(&bytes[start..end], marked)
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
            .filter(|line| line.starts_with(b"["))
            .map(lex::tag_name)
    };
    if stop && paragraph().any(|name| names.contains(name)) {
        return true;
    }
    names.extend(paragraph());
    false
}

/// The position of the FEN tag, or `None` for the standard one.
pub(super) fn start_position<'a>(
    tags: &Tags<'a>,
    strict: bool,
) -> Result<Option<Fen<'a>>, GameError> {
    if let Some(variant) = tags.variant()
        && Variant::from_tag(variant).is_none()
    {
        return Err(GameError::Variant(
            String::from_utf8_lossy(variant).into_owned(),
        ));
    }
    let Some(text) = tags.fen() else {
        return Ok(None);
    };
    let start = match strict {
        true => fen::parse(text, FenOptions::default()),
        false => fen::parse_tag(text),
    };
    let start = start.map_err(GameError::Fen)?;
    let violations = start.position.violations(Validity::Playable);
    if !violations.is_empty() {
        return Err(GameError::Start(violations));
    }
    Ok(Some(start))
}
