//! Formats: what goes in comes out, nothing is lost silently, damage is found wherever it is.

use lanefish::batch::{Batch, Field, Fields};
use lanefish::block::Group;
use lanefish::chess::validity::Validity;
use lanefish::formats::{DecodeOptions, Format};
use lanefish::input::Inputs;
use lanefish::pipeline::{Job, Options, Summary, Tile, run};
use lanefish::tiers::{Analyzer, GroupResults, Tier, Wanted};
use std::path::{Path, PathBuf};

/// Answers one question only, with the rules of one position: which boards are not playable.
#[derive(Debug)]
pub(crate) struct Judge;

impl Analyzer for Judge {
    fn tier(&self) -> Tier {
        Tier::Portable
    }
    fn analyze(&self, groups: &[Group], _: Wanted, results: &mut [GroupResults]) {
        for (group, results) in groups.iter().zip(results) {
            for lane in 0..Group::LEN {
                let playable = group
                    .get(lane)
                    .unpack(0, 1)
                    .is_ok_and(|position| position.is_valid(Validity::Playable));
                results.unplayable[lane] = u64::from(!playable);
            }
        }
    }
    fn features(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Keeps all records.
pub(crate) struct Collect;

impl Job for Collect {
    type Output = Batch;
    fn wanted(&self) -> Wanted {
        Wanted::NOTHING
    }
    fn begin(&self) -> Batch {
        Batch::new()
    }
    fn tile(&self, output: &mut Batch, tile: Tile<'_>) {
        output.extend_from(tile.batch, tile.rows());
    }
}

/// Reads files with all their fields.
pub(crate) fn read(paths: &[PathBuf], change: impl FnOnce(&mut Options<'_>)) -> (Batch, Summary) {
    let inputs = Inputs::resolve(paths, lanefish::formats::is_supported).unwrap();
    let mut options = Options::new(&Judge);
    options.decode = DecodeOptions {
        fields: Fields::ALL,
        ..DecodeOptions::default()
    };
    change(&mut options);
    let mut all = Batch::new();
    let summary = run(&inputs, options, &Collect, |batch| {
        all.extend_from(&batch, 0..batch.len());
        Ok(())
    });
    (all, summary)
}

/// The records as text.
pub(crate) fn lines(batch: &Batch) -> Vec<String> {
    (0..batch.len())
        .map(|row| {
            let mut line = batch.position(row).unwrap().to_string();
            for (field, values) in &batch.fields {
                if let Some(text) = values.text(row) {
                    line += &format!(" {}={text}", field.name());
                } else if let Some(number) = values.number(row) {
                    line += &format!(" {}={number}", field.name());
                }
            }
            line
        })
        .collect()
}

fn file(directory: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn lines_of_all_kinds_are_read_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let text = "\u{FEFF}# a comment\r\n\r\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\r\n\
        nonsense\n\
        8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; id \"BK.11\";\n\
        4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5 ;D2 25\n\
        4k3/8/8/8/8/8/8/8 w - - 0 1\n\
        4k3/8/8/8/8/8/8/4K2R w K -";
    let path = file(directory.path(), "mixed.epd", text.as_bytes());
    for chunk_size in [64, 100, 1 << 20] {
        for threads in [1, 2, 8] {
            let (batch, summary) = read(std::slice::from_ref(&path), |options| {
                options.chunk_size = chunk_size;
                options.threads = threads;
            });
            assert_eq!(summary.failure.map(|error| error.to_string()), None);
            assert_eq!(
                lines(&batch),
                [
                    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                    "8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - 0 1 operations=bm Rxb2; id \"BK.11\";",
                    "4k3/8/8/8/8/8/8/4K3 w - - 0 1 operations=;D1 5 ;D2 25",
                    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
                ]
            );
            assert_eq!((summary.records, summary.rejected), (6, 2));
            let places: Vec<_> = summary
                .first_rejects
                .iter()
                .map(|reject| {
                    let place = &reject.place;
                    let raw = String::from_utf8_lossy(&reject.raw).into_owned();
                    (place.line, place.offset, place.record, raw)
                })
                .collect();
            assert_eq!(
                places,
                [
                    (Some(4), 76, 1, "nonsense".to_owned()),
                    (Some(7), 192, 4, "4k3/8/8/8/8/8/8/8 w - - 0 1".to_owned()),
                ]
            );
        }
    }
    assert_eq!(Format::of_name(&path), Some(Format::Epd));
    assert_eq!(Field::Operations.name(), "operations");
}
