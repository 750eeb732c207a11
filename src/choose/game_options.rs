//! The options that choose games and positions of games: an option is one item of the list below.
//!
//! An item has the field of [`GameFilter`], the name on the command line, the help, how a text becomes a value, which
//! fields records must carry, and what the option leaves out. Everything else follows from the list: the arguments of
//! the command line, the keys of `games=` in Python, the order in which counts of what was left out are reported, the
//! message for inputs that cannot be tested, and the message that goes to the machines of a cluster.

use super::expression::Condition;
use super::game_filter::split_mix;
use super::game_option_values::{EcoRange, Plies, TimeControl, number, result};
use super::position_sequence::PositionSequence;
use crate::games::{Date, Facts, Outcome, PlayerName, Variant};
use crate::option_setters::setters;
use crate::table::{Control, Field, Fields};
use std::cmp::Ordering;
use std::num::ParseIntError;
use std::str::FromStr;

/// When an option is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GameOptionStage {
    /// To whole games, by what is known about them.
    Games,
    /// To games that cannot be parsed to their end.
    BadGames,
    /// To the games that are left, by their positions.
    Sequence,
    /// To the positions of the games that are left.
    Positions,
    /// To all records: conditions and samples.
    Records,
}

/// The positions of a game, of which options take some.
pub(super) struct PositionsOfGame<'a> {
    /// The ply of each, if it is known.
    pub(super) ply: &'a dyn Fn(usize) -> Option<u32>,
    /// Identifies the game.
    pub(super) hash: u64,
}

/// Clears the flags of the positions that are left out.
type LeaveOutPositions = fn(&GameFilter, &PositionsOfGame<'_>, &mut [bool]);
/// Whether a game is left out: `Some(true)` if that is because the tested value is unknown.
type LeaveOutGame = fn(&GameFilter, &dyn Facts) -> Option<bool>;

/// An option that chooses games or positions of games.
#[derive(Clone, Copy, Debug)]
pub struct GameOption {
    /// The name on the command line, without the two dashes. Python has underscores in place of dashes.
    pub name: &'static str,
    /// What stands for the value in help; empty for options without a value.
    pub value: &'static str,
    /// The description.
    pub help: &'static str,
    /// Whether the value is a whole number.
    pub is_number: bool,
    /// Whether the option takes several values, which commas separate.
    pub takes_several: bool,
    /// Whether values may begin with a dash, as options do.
    pub allows_hyphens: bool,
    /// The possible values, if they can be listed, each with its other names.
    pub values: &'static [&'static [&'static str]],
    /// When it is applied.
    pub stage: GameOptionStage,
    /// Whether the positions to take depend on the other positions of their game.
    pub(super) needs_whole_games: bool,
    /// The fields that records of a format without games must carry; `None` if it needs more than records can carry.
    pub(super) fields: Option<&'static [Field]>,
    /// What is unknown of a game that is left out because of it.
    pub(super) unknown: &'static str,
    /// Sets the value, or adds another one.
    set: fn(&mut GameFilter, &str) -> Result<(), String>,
    /// Whether it may leave out anything.
    pub(super) is_set: fn(&GameFilter) -> bool,
    pub(super) leaves_out_game: Option<LeaveOutGame>,
    pub(super) leaves_out_positions: Option<LeaveOutPositions>,
}

/// What most options have in common.
const GAMES: GameOption = GameOption {
    name: "",
    value: "",
    help: "",
    is_number: false,
    takes_several: false,
    allows_hyphens: false,
    values: &[],
    stage: GameOptionStage::Games,
    needs_whole_games: false,
    fields: None,
    unknown: "",
    set: |_, _| Ok(()),
    is_set: |_| false,
    leaves_out_game: None,
    leaves_out_positions: None,
};
const POSITIONS: GameOption = GameOption { stage: GameOptionStage::Positions, ..GAMES };
/// What the options have in common that look at all positions of a game.
const WHOLE_GAMES: GameOption = GameOption { needs_whole_games: true, fields: Some(&[Field::Game]), ..POSITIONS };

macro_rules! game_options {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $option:expr;)*) => {
        /// The choice of games and of their positions. The default takes everything.
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        #[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub struct GameFilter {
            $($(#[$doc])* pub $field: $type,)*
            /// The games that have this sequence of positions. Runs apply it, not decoders.
            pub having: PositionSequence,
            /// Takes only the last record of each game, and no records without the number of a game: a
            /// [`GameRow`](crate::games::GameRow) is made of it. This is not an option, and is not reported as one.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) last_of_games: bool,
            /// Games are copied unchanged, which needs their text. This is not an option either.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) copies_games: bool,
            /// Games are read as wholes, and these fields are found for their records. In shards, they may be none:
            /// something else looks at the way to a position. This is not an option either.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) whole_games: Option<Fields>,
            /// The fields of whole games are only found for games with clocks or evaluations. Nor is this an option.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) only_annotated: bool,
            /// The records of each game have to follow one another. This is not an option either.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) games_in_order: bool,
            /// Rows of games have their moves. This is not an option either.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) moves: bool,
            /// The condition is true for the game. It comes from [`Choose::filter`](super::Choose::filter) if rows of
            /// games are made.
            #[cfg_attr(feature = "cluster", serde(skip))]
            pub(crate) condition: Option<Condition>,
        }

        setters!(GameFilter { $($field: $type,)* having: PositionSequence, });

        impl GameOption {
            /// All of them, in the order of help.
            pub const ALL: &[Self] = &[$($option),*];
        }
    };
}

game_options! {
    /// Also take the positions of variations, in the order of the text.
    variations: bool = GameOption {
        name: "variations",
        help: "Also take the positions of variations",
        set: |filter, _| {
            filter.variations = true;
            Ok(())
        },
        is_set: |filter| filter.variations,
        ..POSITIONS
    };
    /// Skip a whole game if any part of it cannot be parsed.
    drop_bad_games: bool = GameOption {
        name: "drop-bad-games",
        help: "Skip a whole game if any part of it cannot be parsed",
        stage: GameOptionStage::BadGames,
        set: |filter, _| {
            filter.drop_bad_games = true;
            Ok(())
        },
        is_set: |filter| filter.drop_bad_games,
        ..GAMES
    };
    /// The plies to take; 0 is the start position of the game.
    plies: Plies = GameOption {
        name: "plies",
        value: "A..B",
        help: "Take only these plies, both ends included; 0 is the start position of the game",
        fields: Some(&[Field::Ply]),
        set: |filter, text| {
            filter.plies = text.parse()?;
            Ok(())
        },
        is_set: |filter| filter.plies != Plies::default(),
        // An unknown ply is not in any range.
        leaves_out_positions: Some(|filter, game, keep| {
            keep_where(keep, |row| (game.ply)(row).is_some_and(|ply| filter.plies.contains(ply)));
        }),
        ..POSITIONS
    };
    /// Number of plies to skip at the beginning as opening theory.
    skip_book: u32 = GameOption {
        name: "skip-book",
        value: "N",
        help: "Skip the first N plies of each game",
        is_number: true,
        fields: Some(&[Field::Ply]),
        set: |filter, text| {
            filter.skip_book = number(text, 0, u32::MAX)?;
            Ok(())
        },
        is_set: |filter| filter.skip_book > 0,
        leaves_out_positions: Some(|filter, game, keep| {
            keep_where(keep, |row| (game.ply)(row).is_some_and(|ply| ply >= filter.skip_book));
        }),
        ..POSITIONS
    };
    /// Of the remaining positions, take every Nth, starting with the first; 0 means 1.
    every: u32 = GameOption {
        name: "every",
        value: "N",
        help: "Take every Nth of the remaining positions of each game, starting with the first",
        is_number: true,
        set: |filter, text| {
            filter.every = number(text, 1, u32::MAX)?;
            Ok(())
        },
        is_set: |filter| filter.every > 1,
        leaves_out_positions: Some(|filter, _, keep| {
            let mut turn = 0;
            keep_where(keep, |_| {
                turn += 1;
                (turn - 1) % filter.every == 0
            });
        }),
        ..WHOLE_GAMES
    };
    /// Of the remaining positions, take only the last.
    last: bool = GameOption {
        name: "last",
        help: "Take only the last of the remaining positions of each game",
        set: |filter, _| {
            filter.last = true;
            Ok(())
        },
        is_set: |filter| filter.last,
        leaves_out_positions: Some(|_, _, keep| keep_last(keep)),
        ..WHOLE_GAMES
    };
    /// Of the remaining positions, take a sample of at most N. It depends only on the seed and the game, not on the place
    /// of the game in the input or the thread that decodes it.
    max_per_game: Option<u32> = GameOption {
        name: "max-per-game",
        value: "N",
        help: "Take a random sample of at most N of the remaining positions of each game",
        is_number: true,
        set: |filter, text| {
            filter.max_per_game = Some(number(text, 0, u32::MAX)?);
            Ok(())
        },
        is_set: |filter| filter.max_per_game.is_some(),
        leaves_out_positions: Some(|filter, game, keep| {
            let most = filter.max_per_game.map_or(usize::MAX, |most| most as usize);
            let mut rows: Vec<usize> = (0..keep.len()).filter(|&row| keep[row]).collect();
            let mut state = filter.seed ^ game.hash;
            // The first of a random permutation.
            let taken = rows.len().min(most);
            for at in 0..taken {
                let other = at + (split_mix(&mut state) % (rows.len() - at) as u64) as usize;
                rows.swap(at, other);
            }
            rows[taken..].iter().for_each(|&row| keep[row] = false);
        }),
        ..WHOLE_GAMES
    };
    /// Seed of the sample.
    seed: u64 = GameOption {
        name: "seed",
        value: "SEED",
        help: "Seed for everything that is chosen at random",
        is_number: true,
        set: |filter, text| {
            filter.seed = text.parse().map_err(|wrong: ParseIntError| wrong.to_string())?;
            Ok(())
        },
        ..POSITIONS
    };
    /// Both players are rated this Elo or higher.
    min_elo: Option<u16> = GameOption {
        name: "min-elo",
        value: "ELO",
        help: "Only games in which both players are rated ELO or higher",
        is_number: true,
        fields: Some(&[Field::WhiteElo, Field::BlackElo]),
        unknown: "rating",
        set: |filter, text| {
            filter.min_elo = Some(number(text, 0, u16::MAX)?);
            Ok(())
        },
        is_set: |filter| filter.min_elo.is_some(),
        leaves_out_game: Some(|filter, game| filter.min_elo.and_then(|least| unless_both(game, |elo| elo >= least))),
        ..GAMES
    };
    /// Both players are rated this Elo or lower.
    max_elo: Option<u16> = GameOption {
        name: "max-elo",
        value: "ELO",
        help: "Only games in which both players are rated ELO or lower",
        is_number: true,
        fields: Some(&[Field::WhiteElo, Field::BlackElo]),
        unknown: "rating",
        set: |filter, text| {
            filter.max_elo = Some(number(text, 0, u16::MAX)?);
            Ok(())
        },
        is_set: |filter| filter.max_elo.is_some(),
        leaves_out_game: Some(|filter, game| filter.max_elo.and_then(|most| unless_both(game, |elo| elo <= most))),
        ..GAMES
    };
    /// White or Black has a name that [agrees](PlayerName::agrees_with) with this one.
    player: Option<PlayerName> = GameOption {
        name: "player",
        value: "NAME",
        help: "Only games of this player, with either colour: case, titles and the order of names do not matter",
        fields: Some(&[Field::White, Field::Black]),
        unknown: "names",
        set: |filter, text| {
            filter.player = Some(text.parse()?);
            Ok(())
        },
        is_set: |filter| filter.player.is_some(),
        leaves_out_game: Some(|filter, game| {
            let wanted = filter.player.as_ref()?;
            let players = game.players().map(|name| PlayerName::of(&name));
            let is_one = players.iter().any(|player| player.agrees_with(wanted));
            (!is_one).then(|| players.iter().all(PlayerName::is_unknown))
        }),
        ..GAMES
    };
    /// The time control is one of these; all if empty.
    time_controls: Vec<TimeControl> = GameOption {
        name: "time-control",
        value: "CLASS|SPEC",
        help: "Only games with these time controls: ultrabullet, bullet, blitz, rapid, classical, correspondence, or tag \
               values in any form (300+3)",
        takes_several: true,
        allows_hyphens: true,
        fields: Some(&[Field::TimeControl]),
        unknown: "time control",
        set: |filter, text| {
            filter.time_controls.push(parse(text)?);
            Ok(())
        },
        is_set: |filter| !filter.time_controls.is_empty(),
        leaves_out_game: Some(|filter, game| {
            let tag = game.time_control();
            // An unknown value is `?` or empty.
            let parsed = Control::parse(tag);
            let fits = |control: &TimeControl| control.fits(if tag.is_empty() { b"?" } else { tag }, parsed.as_ref());
            (!filter.time_controls.iter().any(fits)).then_some(parsed.is_none())
        }),
        ..GAMES
    };
    /// The result is one of these, `None` meaning unknown; all if empty.
    results: Vec<Option<Outcome>> = GameOption {
        name: "result",
        value: "RESULT",
        help: "Only games with these results",
        takes_several: true,
        values: &[&["1-0"], &["0-1"], &["1/2-1/2", "1/2", "draw"], &["*", "unknown"]],
        fields: Some(&[Field::Result]),
        set: |filter, text| {
            filter.results.push(result(text)?);
            Ok(())
        },
        is_set: |filter| !filter.results.is_empty(),
        leaves_out_game: Some(|filter, game| (!filter.results.contains(&game.outcome())).then_some(false)),
        ..GAMES
    };
    /// The game has N or more plies.
    min_plies: u32 = GameOption {
        name: "min-plies",
        value: "N",
        help: "Only games with N or more plies",
        is_number: true,
        set: |filter, text| {
            filter.min_plies = number(text, 0, u32::MAX)?;
            Ok(())
        },
        is_set: |filter| filter.min_plies > 0,
        leaves_out_game: Some(|filter, game| (game.plies() < filter.min_plies).then_some(false)),
        ..GAMES
    };
    /// The `Termination` tag is one of these, ignoring case; all if empty.
    terminations: Vec<String> = GameOption {
        name: "termination",
        value: "TEXT",
        help: "Only games with these Termination tags (Normal, Time forfeit, etc.)",
        takes_several: true,
        fields: Some(&[Field::Termination]),
        set: |filter, text| {
            filter.terminations.push(text.to_owned());
            Ok(())
        },
        is_set: |filter| !filter.terminations.is_empty(),
        leaves_out_game: Some(|filter, game| {
            let is = |requested: &String| requested.as_bytes().eq_ignore_ascii_case(game.termination());
            (!filter.terminations.iter().any(is)).then_some(false)
        }),
        ..GAMES
    };
    /// The opening code is in one of these ranges; all if empty.
    ecos: Vec<EcoRange> = GameOption {
        name: "eco",
        value: "CODES",
        help: "Only games with these opening codes: B, B12, B10-B19",
        takes_several: true,
        fields: Some(&[Field::Eco]),
        set: |filter, text| {
            filter.ecos.push(parse(text)?);
            Ok(())
        },
        is_set: |filter| !filter.ecos.is_empty(),
        leaves_out_game: Some(|filter, game| {
            (!filter.ecos.iter().any(|range| range.contains(game.eco()))).then_some(false)
        }),
        ..GAMES
    };
    /// The game was played on this day or later.
    since: Option<Date> = GameOption {
        name: "since",
        value: "DATE",
        help: "Only games since this day, month or year (2025.05.01, 2025-05-01, 20250501, 31.05.2025, 2025.05, 2025)",
        fields: Some(&[Field::Date]),
        unknown: "date",
        set: |filter, text| {
            filter.since = Some(parse(text)?);
            Ok(())
        },
        is_set: |filter| filter.since.is_some(),
        leaves_out_game: Some(|filter, game| if_date_is(game, filter.since, Ordering::Less)),
        ..GAMES
    };
    /// The game was played on this day or earlier.
    until: Option<Date> = GameOption {
        name: "until",
        value: "DATE",
        help: "Only games up to this day, month or year",
        fields: Some(&[Field::Date]),
        unknown: "date",
        set: |filter, text| {
            filter.until = Some(parse(text)?);
            Ok(())
        },
        is_set: |filter| filter.until.is_some(),
        leaves_out_game: Some(|filter, game| if_date_is(game, filter.until, Ordering::Greater)),
        ..GAMES
    };
    /// The game is of this variant.
    variant: Option<Variant> = GameOption {
        name: "variant",
        value: "VARIANT",
        help: "Only games of this variant",
        values: &[&["standard"], &["chess960"]],
        set: |filter, text| {
            filter.variant = Some(super::game_option_values::variant(text)?);
            Ok(())
        },
        is_set: |filter| filter.variant.is_some(),
        leaves_out_game: Some(|filter, game| (game.variant() != filter.variant).then_some(false)),
        ..GAMES
    };
}

impl GameOption {
    /// The option of this name, with dashes or underscores.
    ///
    /// ```
    /// use lanefish::choose::{GameFilter, GameOption};
    ///
    /// let mut filter = GameFilter::default();
    /// GameOption::named("min_elo").expect("an option").set(&mut filter, "2400")?;
    /// assert_eq!(filter, GameFilter::default().min_elo(Some(2400)));
    /// # Ok::<(), String>(())
    /// ```
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|option| option.name.replace('-', "_") == name.replace('-', "_"))
    }

    /// Whether the option is set in a filter.
    pub fn is_set_in(&self, filter: &GameFilter) -> bool {
        (self.is_set)(filter)
    }

    /// Sets the value in a filter, or adds another one if the option takes several. The text of an option without a value
    /// is not looked at.
    ///
    /// # Errors
    /// The text is not a valid value.
    pub fn set(&self, filter: &mut GameFilter, text: &str) -> Result<(), String> {
        (self.set)(filter, text)
    }

    /// Whether it can leave out games or positions.
    pub(super) const fn chooses(&self) -> bool {
        self.leaves_out_game.is_some()
            || self.leaves_out_positions.is_some()
            || matches!(self.stage, GameOptionStage::BadGames)
    }
}

/// A value that is parsed by its type.
fn parse<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|wrong: T::Err| wrong.to_string())
}

/// Clears the flags of the rows that are still set and for which `keeps` does not hold.
fn keep_where(keep: &mut [bool], mut keeps: impl FnMut(usize) -> bool) {
    keep.iter_mut().enumerate().filter(|(_, keep)| **keep).for_each(|(row, keep)| *keep = keeps(row));
}

/// Clears the flags of all rows but the last one that is set.
pub(super) fn keep_last(keep: &mut [bool]) {
    let last = keep.iter().rposition(|&keep| keep);
    keep_where(keep, |row| Some(row) == last);
}

/// Whether a game is left out because a test fails for a rating, and then whether only because one is unknown.
fn unless_both(game: &dyn Facts, test: impl Fn(u16) -> bool) -> Option<bool> {
    let elos = game.elos();
    let is_known_to_fail = elos.iter().flatten().any(|&elo| !test(elo));
    (is_known_to_fail || elos.contains(&None)).then_some(!is_known_to_fail)
}

/// Whether a game is left out because its date is unknown, or compares to the limit like this.
fn if_date_is(game: &dyn Facts, limit: Option<Date>, beyond: Ordering) -> Option<bool> {
    let limit = limit?;
    match game.date() {
        None => Some(true),
        Some(date) => (date.compare_known(limit) == beyond).then_some(false),
    }
}
