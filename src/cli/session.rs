//! A run of the pipeline under the global options: what every command that reads positions shares.

use super::args::{Global, Reading, TierChoice, ValidityChoice};
use super::numbers::{counted, grouped};
use super::output::Output;
use super::progress::Meter;
use super::style::Style;
use super::{SOMETHING_WRONG, interrupt};
use anyhow::{Context, Result, bail};
use lanefish::Error;
use lanefish::batch::Fields;
use lanefish::chess::validity::Validity;
use lanefish::error::Reject;
use lanefish::formats::{self, DecodeOptions, Format};
use lanefish::input::{Access, Inputs};
use lanefish::one_line;
use lanefish::pipeline::{self, Job, Options, Summary, Tile};
use lanefish::tiers::{Analyzer, Tier, Wanted};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The global options, checked.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    global: &'a Global,
    pub(crate) analyzer: &'static dyn Analyzer,
    pub(crate) threads: usize,
    pub(crate) style: Style,
}

/// What a command adds to the global options of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) fields: Fields,
    pub(crate) default_validity: Validity,
    pub(crate) past_damage: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) skip: Option<u64>,
    /// Rows of games are wanted; `--skip` and `--limit` count them and are the command's to apply.
    pub(crate) game_rows: bool,
}

/// A summary and how long it took to come by.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) summary: Summary,
    pub(crate) elapsed: Duration,
}

/// Reading is all there is to do.
pub(crate) struct Nothing;

impl Job for Nothing {
    type Output = ();
    fn wanted(&self) -> Wanted {
        Wanted::NOTHING
    }
    fn begin(&self) {}
    fn tile(&self, (): &mut (), _: Tile<'_>) {}
}

/// The analyzer that was asked for.
pub(crate) fn analyzer_for(choice: TierChoice) -> Result<&'static dyn Analyzer> {
    let tier = match choice {
        TierChoice::Auto => Tier::best(),
        TierChoice::Only(tier) => tier,
    };
    tier.analyzer().with_context(|| {
        let available: Vec<_> = Tier::ALL
            .into_iter()
            .filter(|tier| tier.is_available())
            .map(Tier::name)
            .collect();
        format!(
            "this CPU cannot run the tier `{tier}`; it can run {}",
            available.join(", ")
        )
    })
}

impl<'a> Session<'a> {
    pub(crate) fn new(global: &'a Global) -> Result<Self> {
        let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            global,
            analyzer: analyzer_for(global.tier)?,
            threads: global.threads.map_or_else(all_cores, usize::from),
            style: Style::for_stdout(global.color),
        })
    }

    /// The options themselves.
    pub(crate) fn global(&self) -> &Global {
        self.global
    }

    pub(crate) fn validity(&self, default: Validity) -> Validity {
        match self.global.validity {
            None => default,
            Some(ValidityChoice::Playable) => Validity::Playable,
            Some(ValidityChoice::Strict) => Validity::Strict,
        }
    }

    /// How inputs are opened.
    pub(crate) fn access(&self) -> Access {
        Access {
            map: !self.global.no_mmap,
            max_window: self.global.max_window,
        }
    }

    /// Says something to the user that is no error.
    pub(crate) fn note(&self, text: std::fmt::Arguments<'_>) {
        if !self.global.quiet {
            // A closed standard error is no reason to stop.
            let text = text.to_string();
            let _ = writeln!(std::io::stderr(), "lanefish: {}", one_line::of(&text));
        }
    }

    /// Whether `-v` was given.
    pub(crate) fn verbose(&self) -> bool {
        self.global.verbose > 0
    }

    /// Reads the inputs under the global options.
    pub(crate) fn read<J: Job>(
        &self,
        inputs: &[PathBuf],
        reading: &Reading,
        run: Run,
        job: &J,
        sink: impl FnMut(J::Output) -> Result<(), Error>,
    ) -> Result<Timed> {
        let begin = Instant::now();
        let from = reading
            .from
            .as_deref()
            .map(str::parse::<Format>)
            .transpose()?;
        let inputs = match from {
            Some(_) => Inputs::resolve(inputs, |_| true)?,
            None => Inputs::resolve(inputs, formats::is_supported)?,
        };
        if inputs
            .paths
            .iter()
            .filter(|path| path.as_os_str() == "-")
            .count()
            > 1
        {
            bail!("standard input can be read only once");
        }
        for path in &inputs.skipped {
            if self.verbose() {
                self.note(format_args!(
                    "{}: not a supported format, left out",
                    path.display()
                ));
            }
        }
        let mut rejects = match &self.global.rejects {
            None => None,
            path => Some(Output::open(path.as_deref(), self.global.force)?),
        };
        let mut on_reject = |reject: &Reject| -> Result<(), Error> {
            let Some(output) = &mut rejects else {
                return Ok(());
            };
            let mut line = Vec::new();
            reject.write_line(&mut line);
            output.put(&line)
        };
        let mut meter = Meter::new(self.global.progress, inputs.total_bytes());
        let mut on_progress = |progress| meter.show(progress);
        let summary = pipeline::run(
            &inputs,
            Options {
                threads: self.threads,
                decode: DecodeOptions {
                    keep_en_passant: reading.keep_en_passant,
                    validity: self.validity(run.default_validity),
                    fields: run.fields,
                    games: reading.games.selection(),
                    game_rows: run.game_rows,
                    strict_pgn: self.global.strict_pgn,
                    max_record: self.global.max_record,
                },
                from,
                access: self.access(),
                strict: self.global.strict,
                skip: match run.game_rows {
                    true => 0,
                    false => self.global.skip.saturating_add(run.skip.unwrap_or(0)),
                },
                limit: match run.game_rows {
                    true => None,
                    false => self.global.limit.or(run.limit),
                },
                limit_games: match run.game_rows {
                    true => self
                        .global
                        .limit
                        .map(|limit| self.global.skip.saturating_add(limit)),
                    false => None,
                },
                past_damage: run.past_damage,
                on_reject: Some(&mut on_reject),
                on_progress: Some(&mut on_progress),
                interrupt: Some(interrupt::flag()),
                ..Options::new(self.analyzer)
            },
            job,
            sink,
        );
        meter.finish();
        if let Some(output) = rejects
            && !matches!(summary.failure, Some(Error::Interrupted))
        {
            output.finish()?;
        }
        Ok(Timed {
            summary,
            elapsed: begin.elapsed(),
        })
    }

    /// Tells what was rejected and dropped, and gives the exit status or the error that ended the run.
    pub(crate) fn conclude(&self, summary: Summary) -> Result<u8> {
        let rejected = summary.rejected;
        if rejected > 0 {
            let records = grouped(summary.records);
            self.note(format_args!(
                "{} of {records} records rejected:",
                grouped(rejected)
            ));
            for reject in &summary.first_rejects {
                self.note(format_args!("  {reject}"));
            }
            let more = rejected - summary.first_rejects.len() as u64;
            if more > 0 {
                self.note(format_args!("  and {} more", grouped(more)));
            }
        }
        if self.verbose() && summary.dropped_en_passants > 0 {
            self.note(format_args!(
                "{} en passant squares dropped, because no en passant capture is legal",
                grouped(summary.dropped_en_passants)
            ));
        }
        if summary.dropped_castling > 0 {
            self.note(format_args!(
                "{} of FEN tags dropped, because the king or the rook is elsewhere",
                counted(summary.dropped_castling, "castling right")
            ));
        }
        if self.verbose() && summary.games_with_doubled_tags > 0 {
            self.note(format_args!(
                "{} with a tag given more than once; its last value is used",
                counted(summary.games_with_doubled_tags, "game")
            ));
        }
        for (option, left_out) in &summary.left_out {
            let unknown = match left_out.unknown {
                0 => String::new(),
                games => format!(
                    ", {} for a date that is unknown or cannot be read",
                    counted(games, "game")
                ),
            };
            self.note(format_args!(
                "--{option} left out {} and {}{unknown}",
                counted(left_out.games, "game"),
                counted(left_out.positions, "position")
            ));
        }
        match summary.failure {
            Some(error) if error.is_of_input() && summary.records > 0 => {
                let records = grouped(summary.records);
                self.note(format_args!(
                    "the {records} records before that place were processed"
                ));
                Err(error.into())
            }
            Some(error) => Err(error.into()),
            None if rejected > 0 => Ok(SOMETHING_WRONG),
            None => Ok(0),
        }
    }
}
