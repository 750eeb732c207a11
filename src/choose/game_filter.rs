//! What [`GameFilter`] leaves out: games by their [`Facts`], positions by their ply, whatever the format.
//!
//! The options are a list ([`game_options`](super::game_options)), and are applied one after the other. Everything left
//! out is counted under the name of its option.

use super::expression::Condition;
use super::game_options::{GameFilter, GameOption, GameOptionStage, PositionsOfGame, keep_last};
use super::position_sequence::HAVING;
use crate::games::Facts;
use crate::packed::Packed;
use crate::table::{Batch, Field, Fields};

/// Stands for [`GameFilter::last_of_games`] among the names of options.
pub(crate) const ROWS_OF_GAMES: &str = "";

/// The option of the condition.
pub(crate) const WHERE: &str = "where";

/// The fields of clocks and evaluations.
pub(crate) const CLOCKS_AND_EVALUATIONS: Fields =
    Fields::of(&[Field::Clock, Field::MoveTime, Field::Score, Field::Mate]);

impl GameFilter {
    /// Sets the first ply to take.
    #[must_use]
    pub fn first_ply(mut self, first: u32) -> Self {
        self.plies.first = first;
        self
    }
    /// Sets the last ply to take.
    #[must_use]
    pub fn last_ply(mut self, last: Option<u32>) -> Self {
        self.plies.last = last;
        self
    }

    fn set_options(&self) -> impl Iterator<Item = &'static GameOption> {
        GameOption::ALL.iter().filter(|option| (option.is_set)(self))
    }

    /// Names of the options that may leave out games or positions.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        let options = self.set_options().filter(|option| option.chooses()).map(|option| option.name);
        let having = (!self.having.is_empty()).then_some(HAVING);
        options.chain(self.condition.is_some().then_some(WHERE)).chain(having)
    }

    /// For each option that is set: the fields that records of a format without games must carry for it; `None` for
    /// options that need more than records can carry.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = (&'static str, Option<&'static [Field]>)> {
        let rows: Option<(_, Option<&'static [Field]>)> =
            self.last_of_games.then_some((ROWS_OF_GAMES, Some(&[Field::Game])));
        // Missing fields are null.
        let condition: Option<(_, Option<&'static [Field]>)> = self.condition.as_ref().map(|_| (WHERE, Some(&[][..])));
        let having: Option<(_, Option<&'static [Field]>)> =
            (!self.having.is_empty()).then_some((HAVING, Some(&[Field::Game])));
        let options = self.set_options().map(|option| (option.name, option.fields));
        rows.into_iter().chain(options).chain(condition).chain(having)
    }

    /// The fields by which records of formats without games are selected; `game` also shows where games end.
    pub(crate) fn fields(&self) -> Fields {
        self.fields_of_games().union(self.fields_of_sequence())
    }

    /// The fields that are the same for all records of a game, and by which games are chosen.
    pub(crate) fn fields_of_games(&self) -> Fields {
        let required = self.requirements().filter_map(|(_, fields)| fields);
        let fields = required.flatten().copied();
        let of_condition = self.condition.as_ref().map_or(Fields::NONE, |condition| condition.needs().fields);
        fields.chain([Field::Game]).chain(of_condition.iter()).collect()
    }

    /// The fields that the sequence of positions reads, and plies, which show whether records follow one another.
    pub(crate) fn fields_of_sequence(&self) -> Fields {
        match self.having.is_empty() {
            true => Fields::NONE,
            false => self.having.needs().fields.union(Fields::of(&[Field::Ply])),
        }
    }

    /// Whether the positions to take depend on the other positions of their game, or a shard takes whole games.
    pub(crate) fn needs_whole_games(&self) -> bool {
        self.last_of_games
            || self.games_in_order
            || self.whole_games.is_some()
            || self.moves
            || !self.having.is_empty()
            || self.set_options().any(|option| option.needs_whole_games)
    }

    /// The option that leaves this game out, if any, and whether that is because the tested value is unknown.
    pub(crate) fn leaves_out(&self, game: &impl Facts) -> Option<(&'static str, bool)> {
        self.set_options().find_map(|option| Some((option.name, option.leaves_out_game?(self, game)?)))
    }

    /// Whether the condition leaves this game out. It is applied last, to a batch with one record of the game, which
    /// has the fields and tags that the condition reads.
    pub(crate) fn condition_leaves_out(
        &self,
        record: impl FnOnce(&Condition) -> Batch,
    ) -> Option<(&'static str, bool)> {
        let condition = self.condition.as_ref()?;
        (!condition.is_true_of_game(record(condition))).then_some((WHERE, false))
    }

    /// The condition, if it can only be judged once the games of a chunk have been decoded; of records, their number tells
    /// how long a game is.
    pub(crate) fn later_condition(&self, of_records: bool) -> Option<&Condition> {
        let needs_end = |condition: &&Condition| {
            condition.needs_whole_game() || of_records && condition.needs().fields.contains(Field::GamePlies)
        };
        self.condition.as_ref().filter(needs_end)
    }

    /// Whether everything is taken, and games are read as wholes only for the values of those with clocks or evaluations.
    pub(crate) fn only_finds_values(&self) -> bool {
        let chooses = self.set_options().next().is_some() || !self.having.is_empty() || self.condition.is_some();
        self.only_annotated && !chooses && !self.last_of_games && !self.games_in_order && !self.moves
    }
    /// Whether something is chosen among records with these fields, or found for their games.
    pub(crate) fn selects_records_of(&self, carried: Fields) -> bool {
        !self.only_finds_values() || carried.contains(Field::Game) && carried.intersects(CLOCKS_AND_EVALUATIONS)
    }
    /// Whether all positions are taken of the games that are decoded as wholes.
    pub(crate) fn takes_decoded_games(&self) -> bool {
        let is_chosen_later = !self.having.is_empty() || self.later_condition(false).is_some();
        self.takes_all_positions() && !is_chosen_later && !self.moves
    }

    /// Whether games are chosen once they have been decoded: by their positions, or by their ends.
    pub(crate) fn chooses_whole_games(&self) -> bool {
        !self.having.is_empty() || self.moves || self.whole_games.is_some() || self.later_condition(false).is_some()
    }
    /// Whether games have to follow one another as wholes: something else than a field of records needs them.
    pub(crate) fn needs_games_in_order(&self) -> bool {
        Self { whole_games: None, ..self.clone() }.needs_whole_games()
    }

    /// Whether the choice needs the numbers of games over all inputs.
    pub(crate) fn reads_game_numbers(&self) -> bool {
        self.having.reads_game_numbers() || self.condition.as_ref().is_some_and(|condition| condition.reads("game"))
    }

    /// Whether all positions of a game are taken.
    pub fn takes_all_positions(&self) -> bool {
        !self.last_of_games && !self.set_options().any(|option| option.leaves_out_positions.is_some())
    }

    /// The positions of a game to take, given the ply of each; `hash` identifies the game. Calls `left_out` for each
    /// option that is set with the number of positions that it leaves out.
    pub fn positions(&self, plies: &[u16], hash: u64, left_out: &mut impl FnMut(&'static str, u64)) -> Vec<bool> {
        let ply = |row: usize| Some(u32::from(plies[row]));
        self.positions_by(plies.len(), &ply, hash, left_out)
    }

    /// The positions of a game to take, if plies may be unknown. An unknown ply is not in any range.
    pub(crate) fn positions_by(
        &self,
        len: usize,
        ply: &dyn Fn(usize) -> Option<u32>,
        hash: u64,
        left_out: &mut impl FnMut(&'static str, u64),
    ) -> Vec<bool> {
        let game = PositionsOfGame { ply, hash };
        let mut keep = vec![true; len];
        let mut kept = len;
        for option in self.set_options() {
            let Some(leave_out) = option.leaves_out_positions else { continue };
            leave_out(self, &game, &mut keep);
            let before = std::mem::replace(&mut kept, keep.iter().filter(|&&keep| keep).count());
            left_out(option.name, (before - kept) as u64);
        }
        if self.last_of_games {
            keep_last(&mut keep);
        }
        keep
    }
}

/// The place of an option in the order of application: to whole games, to their positions, to all records.
pub(super) fn place(name: &str) -> (GameOptionStage, usize) {
    let at = GameOption::ALL.iter().position(|option| option.name == name);
    let of_records = ["where", "sample"];
    match at {
        Some(at) => (GameOption::ALL[at].stage, at),
        None if name == HAVING => (GameOptionStage::Sequence, 0),
        None => (GameOptionStage::Records, of_records.iter().position(|&other| other == name).unwrap_or(usize::MAX)),
    }
}

/// Continues the hash of a game, which identifies the game by its boards, with the next board.
pub(crate) fn hash_on(hash: u64, board: &Packed) -> u64 {
    let planes = [board.color, board.types[0], board.types[1], board.types[2]];
    planes.iter().fold(hash, |hash, plane| (hash.rotate_left(23) ^ plane).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The next number of the SplitMix64 sequence.
pub(super) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
