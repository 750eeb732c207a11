//! The order of the slider algorithms: for one square at a time, which an engine needs, and for eight at once, which
//! only bulk work can use. The two are never ranked against each other.
//!
//! Algorithms are ranked by the mean time of the pieces, since an engine needs all of them. A row that is unreliable,
//! or whose results are wrong, takes its algorithm out of the order, which therefore never wins.

use super::noise::Time;
use super::row_titles::LANES;
use crate::cli::measure::{Row, Subject};
use crate::cli::measure::{slider_queries::SliderPiece, sliders::Source};
use lanefish::sliders::Kind;

/// How many squares an algorithm looks up in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    One,
    Eight,
}

impl Calls {
    pub(super) const ALL: [Self; 2] = [Self::One, Self::Eight];

    /// Of an algorithm.
    pub(super) fn of(name: &str) -> Self {
        if LANES.contains(&name) { Self::Eight } else { Self::One }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::One => "one square at a time",
            Self::Eight => "eight squares at once",
        }
    }

    /// A sentence that explains it.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::One => "An engine can call these algorithms for any single square.",
            Self::Eight => {
                "These algorithms answer eight queries in one call, one per SIMD lane, so they only suit programs that \
                 have eight boards ready; a query takes an eighth of the call."
            }
        }
    }
}

/// A sentence that explains the queries.
pub(super) fn sentence(source: Source) -> &'static str {
    match source {
        Source::Random => "The random queries have any square of a board of which half is occupied, unlike in games.",
        Source::Real => "The real queries have the squares of such pieces on real boards.",
        Source::Pressure => {
            "The pressure queries are the real ones, in bursts after other data has filled the L1 and L2 caches."
        }
    }
}

/// Piece and source of a slider row.
pub(super) fn query(row: &Row) -> Option<(SliderPiece, Source)> {
    match row.subject {
        Subject::Slider { piece, source, .. } => Some((piece, source)),
        _ => None,
    }
}

/// An algorithm with its mean time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) time: Time,
}

/// The algorithms for one kind of call and one source of queries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranking {
    /// The pieces whose mean counts: those that were measured for every algorithm.
    pub(super) pieces: Vec<SliderPiece>,
    /// The fastest first.
    pub(super) ranked: Vec<Ranked>,
    /// Algorithms that were measured, but not well enough.
    pub(super) unreliable: Vec<&'static str>,
}

impl Ranking {
    pub(super) fn of(rows: &[Row], calls: Calls, source: Source) -> Self {
        let measured = || {
            let is_meant =
                |row: &&Row| query(row).is_some_and(|(_, own)| own == source) && Calls::of(row.name) == calls;
            rows.iter().filter(is_meant).filter(|row| row.measured.is_some())
        };
        let mut names: Vec<(&'static str, Kind)> = Vec::new();
        for row in measured() {
            if !names.contains(&(row.name, row.kind)) {
                names.push((row.name, row.kind));
            }
        }
        let find =
            |name, piece| measured().find(|row| row.name == name && query(row).is_some_and(|(own, _)| own == piece));
        let mut pieces = SliderPiece::ALL.to_vec();
        pieces.retain(|&piece| names.iter().all(|&(name, _)| find(name, piece).is_some()));
        let mut ranking = Self { pieces, ranked: Vec::new(), unreliable: Vec::new() };
        for (name, kind) in names {
            let own: Vec<&Row> = ranking.pieces.iter().filter_map(|&piece| find(name, piece)).collect();
            if own.iter().any(|row| row.measured.is_some_and(|measured| !measured.verified)) {
                continue;
            }
            let times: Vec<Time> = own.iter().filter_map(|row| Time::of(row)).collect();
            match Time::mean(&times) {
                Some(time) if times.iter().all(|time| time.is_reliable()) => {
                    ranking.ranked.push(Ranked { name, kind, time });
                }
                Some(_) => ranking.unreliable.push(name),
                None => {}
            }
        }
        ranking.ranked.sort_by(|a, b| a.time.nanoseconds.total_cmp(&b.time.nanoseconds));
        ranking
    }

    /// How many times slower an algorithm is than the fastest one.
    pub(super) fn ratio(&self, name: &str) -> Option<f64> {
        let own = self.ranked.iter().find(|ranked| ranked.name == name)?;
        Some(own.time.nanoseconds / self.ranked[0].time.nanoseconds)
    }

    /// The place of an algorithm; those that are not ranked are last.
    pub(super) fn place(&self, name: &str) -> usize {
        let unreliable = || Some(self.ranked.len() + self.unreliable.iter().position(|&own| own == name)?);
        self.ranked.iter().position(|ranked| ranked.name == name).or_else(unreliable).unwrap_or(usize::MAX)
    }

    /// The fastest algorithms, which are equal within noise, and all slower ones.
    pub(super) fn leaders(&self) -> (&[Ranked], &[Ranked]) {
        let Some(first) = self.ranked.first() else {
            return (&[], &[]);
        };
        let slower = self.ranked.iter().position(|other| other.time.differs(first.time));
        self.ranked.split_at(slower.unwrap_or(self.ranked.len()))
    }

    /// The fastest algorithm of a kind.
    pub(super) fn fastest(&self, kind: Kind) -> Option<Ranked> {
        self.ranked.iter().copied().find(|ranked| ranked.kind == kind)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::measure::{Measured, Timing};

    /// A made-up row.
    pub(in super::super) fn row(name: &'static str, piece: SliderPiece, source: Source, time: Option<Time>) -> Row {
        let kind =
            if name.ends_with("portable") || name.starts_with("magic") { Kind::Portable } else { Kind::Intrinsic };
        Row {
            group: "sliders",
            name,
            kind,
            needs: &[],
            subject: Subject::Slider { piece, source, table_bytes: 0 },
            measured: time.map(|Time { nanoseconds, spread }| Measured {
                verified: true,
                checksum: 1,
                timing: Timing { nanoseconds, spread, per_second: 1e9 / nanoseconds, samples: 9 },
            }),
        }
    }

    /// Rows of one source for all pieces, with the same time and a spread of 1 %.
    pub(in super::super) fn rows(source: Source, times: &[(&'static str, f64)]) -> Vec<Row> {
        let of_piece = |piece| {
            times
                .iter()
                .map(move |&(name, nanoseconds)| row(name, piece, source, Some(Time { nanoseconds, spread: 0.01 })))
        };
        SliderPiece::ALL.into_iter().flat_map(of_piece).collect()
    }

    #[test]
    fn algorithms_are_ranked_by_the_mean_of_the_pieces() {
        let mut rows = rows(Source::Real, &[("slow", 3.0), ("pext", 1.0), ("lanes-fill-avx2", 0.5), ("magic", 1.01)]);
        rows[1].measured.as_mut().unwrap().timing.nanoseconds = 1.5;
        let one = Ranking::of(&rows, Calls::One, Source::Real);
        let names: Vec<_> = one.ranked.iter().map(|ranked| ranked.name).collect();
        assert_eq!(names, ["magic", "pext", "slow"]);
        assert!((one.ratio("pext").unwrap() - 3.5 / 3.03).abs() < 1e-9);
        assert_eq!((one.place("magic"), one.place("lanes-fill-avx2")), (0, usize::MAX));
        let eight = Ranking::of(&rows, Calls::Eight, Source::Real);
        assert_eq!((eight.ranked.len(), eight.ratio("lanes-fill-avx2")), (1, Some(1.0)));
        assert!(Ranking::of(&rows, Calls::One, Source::Pressure).ranked.is_empty());
    }

    #[test]
    fn unreliable_and_wrong_rows_are_not_ranked() {
        let mut rows = rows(Source::Real, &[("pext", 1.0), ("wrong", 0.5), ("magic", 2.0)]);
        rows[0].measured.as_mut().unwrap().timing.spread = 0.3;
        rows[4].measured.as_mut().unwrap().verified = false;
        rows.push(row("missing", SliderPiece::Queen, Source::Real, None));
        let ranking = Ranking::of(&rows, Calls::One, Source::Real);
        assert_eq!(ranking.ranked.len(), 1);
        assert_eq!((ranking.ranked[0].name, &ranking.unreliable[..]), ("magic", &["pext"][..]));
        assert_eq!((ranking.place("pext"), ranking.place("missing"), ranking.ratio("pext")), (1, usize::MAX, None));
    }

    #[test]
    fn only_pieces_that_all_algorithms_have_count() {
        let mut rows = rows(Source::Real, &[("pext", 1.0), ("magic", 2.0)]);
        // Without the queen of `magic`.
        rows.pop();
        let ranking = Ranking::of(&rows, Calls::One, Source::Real);
        assert_eq!(ranking.pieces, [SliderPiece::Rook, SliderPiece::Bishop]);
        assert_eq!(ranking.ranked.len(), 2);
    }
}
