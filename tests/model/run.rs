//! Runs the program on the files of a case and reads its outputs back.

use super::generate::{Case, Input, Job};
use super::records::{COLUMNS, DERIVED};
use super::texts::{Wrapping, wrapped};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often the program was run.
pub(crate) static COMMANDS: AtomicU64 = AtomicU64::new(0);

/// A row of what `compute` prints, in the order of [`COLUMNS`].
pub(crate) type Row = Vec<String>;

/// A directory with the files of a case.
#[derive(Debug)]
pub(crate) struct Place {
    dir: tempfile::TempDir,
    /// The commands so far, as a user would type them.
    pub(crate) typed: Vec<String>,
}

/// The exit status, the output and the messages of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Done {
    /// The number that a note gives for what an option left out.
    pub(crate) fn left_out(&self, option: &str) -> u64 {
        let start = format!("lanefish: --{option} left out ");
        let Some(line) = self.stderr.lines().find_map(|line| line.strip_prefix(&start)) else {
            return 0;
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| word.starts_with("position"));
        place.and_then(|place| words[place - 1].replace(',', "").parse().ok()).unwrap_or(0)
    }
    /// The number of rejected records in the first line of their list.
    pub(crate) fn rejected(&self) -> u64 {
        let number = |line: &str| -> Option<u64> {
            let line = line.strip_prefix("lanefish: ")?;
            let rejects = line.contains(" rejected") && line.contains("record");
            rejects.then(|| line.split(' ').next()?.replace(',', "").parse().ok()).flatten()
        };
        self.stderr.lines().find_map(number).unwrap_or(0)
    }
}

/// An input as arguments.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) argument: String,
    pub(crate) piped: Option<PathBuf>,
}

fn program() -> Command {
    let built = option_env!("CARGO_BIN_EXE_lanefish").map(Into::into);
    let path = std::env::var_os("LANEFISH_PROGRAM").or(built).expect("a program to test");
    let mut command = Command::new(path);
    command.env_remove("LANEFISH_TIER").env_remove("RUST_BACKTRACE");
    command
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory"), typed: Vec::new() }
    }
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    /// Runs the program in this directory.
    pub(crate) fn run(&self, arguments: &[String], piped: Option<&Path>) -> Done {
        COMMANDS.fetch_add(1, Ordering::Relaxed);
        let mut command = program();
        command.args(arguments).current_dir(self.dir.path());
        match piped {
            // Through a process, so that it is a pipe and not a file.
            Some(path) => {
                let mut source = Command::new("cat").arg(path).stdout(Stdio::piped()).spawn().expect("cat");
                command.stdin(source.stdout.take().expect("a pipe"));
                let done = command.output().expect("the program runs");
                let _ = source.wait();
                return Self::done(done);
            }
            None => command.stdin(Stdio::null()),
        };
        Self::done(command.output().expect("the program runs"))
    }
    fn done(output: std::process::Output) -> Done {
        Done {
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
    /// Runs the program and remembers the command.
    pub(crate) fn run_typed(&mut self, arguments: &[String], piped: Option<&Path>) -> Done {
        self.typed.push(typed(arguments, piped));
        self.run(arguments, piped)
    }
    /// Writes the file of an input, by the program where the case says so.
    pub(crate) fn prepare(&mut self, name: &str, input: &Input) -> Result<Prepared, String> {
        let (text, _) = input.written();
        let mut file = format!("{name}.{}", input.text.extension());
        fs::write(self.path(&file), &text).expect("written");
        self.typed.push(format!("cat > {file} <<'END'\n{text}END"));
        for (wanted, prefix, verb) in
            [(input.converted.is_some(), "c", "convert"), (input.shuffled && input.converted.is_some(), "s", "shuffle")]
        {
            if !wanted {
                continue;
            }
            let to = format!("{prefix}{name}.{}", input.format().extension());
            let mut arguments = vec![
                verb.to_owned(),
                file.clone(),
                "-o".to_owned(),
                to.clone(),
                "--allow-loss".to_owned(),
                "--force".to_owned(),
            ];
            if verb == "convert" {
                arguments.extend(["--from".to_owned(), input.text.extension().to_owned()]);
            }
            let done = self.run_typed(&arguments, None);
            if done.status == 2 || done.status < 0 {
                return Err(format!("preparing ended with status {}: {}", done.status, done.stderr));
            }
            file = to;
        }
        let bytes = fs::read(self.path(&file)).map_err(|error| format!("{file}: {error}"))?;
        let (content, added) = wrapped(&file, &bytes, input.wrapping);
        if !added.is_empty() {
            let tool = match input.wrapping {
                Wrapping::Gzip => format!("gzip -k {file}"),
                Wrapping::Bzip2 => format!("bzip2 -k {file}"),
                Wrapping::Zip => format!("zip -0 {file}.zip {file}"),
                Wrapping::Frames(size) => format!("split -b {size} --filter='zstd -1' {file} > {file}.zst"),
                _ => format!("zstd -1 {file}"),
            };
            self.typed.push(tool);
            file.push_str(added);
            fs::write(self.path(&file), content).expect("written");
        }
        if input.wrapping == Wrapping::Pipe {
            return Ok(Prepared { argument: "-".to_owned(), piped: Some(self.path(&file)) });
        }
        Ok(Prepared { argument: file, piped: None })
    }
    /// The rows of a file, or of inputs as they are given.
    pub(crate) fn rows(&self, inputs: &[Prepared], more: &[String]) -> Result<(Vec<Row>, Done), String> {
        let mut arguments = vec!["compute".to_owned()];
        arguments.extend(inputs.iter().map(|input| input.argument.clone()));
        arguments.extend(["--columns".to_owned(), COLUMNS.join(","), "--format".to_owned(), "csv".to_owned()]);
        arguments.extend(more.iter().cloned());
        let piped = inputs.iter().find_map(|input| input.piped.clone());
        let done = self.run(&arguments, piped.as_deref());
        if done.status == 2 || done.status < 0 {
            return Err(format!("{} ended with {}: {}", typed(&arguments, piped.as_deref()), done.status, done.stderr));
        }
        Ok((split_rows(&done.stdout), done))
    }
}

/// The rows of CSV, without its header line.
pub(crate) fn split_rows(csv: &[u8]) -> Vec<Row> {
    let text = String::from_utf8_lossy(csv);
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A command as a user would type it.
pub(crate) fn typed(arguments: &[String], piped: Option<&Path>) -> String {
    let plain =
        |argument: &str| argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=,:".contains(&byte));
    let quoted = arguments.iter().map(|argument| match plain(argument) && !argument.is_empty() {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    });
    let command = format!("lanefish {}", quoted.collect::<Vec<_>>().join(" "));
    match piped.and_then(Path::file_name) {
        Some(name) => format!("cat {} | {command}", name.to_string_lossy()),
        None => command,
    }
}

/// The arguments of a case's command, but for options of the machine.
pub(crate) fn arguments(case: &Case, inputs: &[Prepared], against: Option<&Prepared>, output: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| all.extend(words.iter().map(|&word| word.to_owned()));
    match &case.job {
        Job::Convert => add(&["convert"]),
        Job::Shuffle { by_game } => add(&["shuffle", "--by", if *by_game { "game" } else { "record" }]),
        Job::Dedup { key, keep, counts, .. } => {
            add(&["dedup", "--key", key.name(), "--keep", &super::expected::keep_text(*keep)]);
            add(if *counts { &["--counts"] } else { &[] });
        }
        Job::Split { by } => add(&["split", "--by", by, "--parts", "a=0.6,b=0.4"]),
        Job::Interleave { by_game } => add(&["interleave", "--by", if *by_game { "game" } else { "record" }]),
        Job::Compute => {
            let columns = format!("{},{DERIVED}", COLUMNS.join(","));
            add(&["compute", "--columns", &columns, "--format", "csv"]);
        }
        Job::Shards(_) => add(&["compute", "--columns", &COLUMNS.join(","), "--format", "csv"]),
        Job::Stats | Job::Merge(_) => add(&["stats", "--json"]),
        Job::Games => add(&["games", "--columns", "game,plies,result,white", "--format", "csv"]),
        Job::Verify => add(&["verify", "--json", "--validity", "playable"]),
    }
    all.extend(inputs.iter().map(|input| input.argument.clone()));
    if let Some(against) = against {
        all.extend(["--against".to_owned(), against.argument.clone()]);
    }
    if case.writes() {
        all.extend(["-o".to_owned(), output.to_owned()]);
    }
    if let Some((column, width)) = case.by {
        all.extend(["--by".to_owned(), format!("{}/{width}", column.name())]);
    }
    all.extend(case.options.arguments());
    if case.options.rejects {
        all.extend(["--rejects".to_owned(), rejects(output)]);
    }
    all
}

/// The name of the list of rejects beside an output.
pub(crate) fn rejects(output: &str) -> String {
    format!("{}.rejects", output.replace("{part}", "part"))
}

impl Case {
    /// Whether the command writes records to a file.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.job, Job::Compute | Job::Shards(_) | Job::Stats | Job::Merge(_) | Job::Games | Job::Verify)
    }
    /// The names of the outputs.
    pub(crate) fn outputs(&self, start: &str) -> Vec<String> {
        let name = |part: &str| format!("{start}{part}.{}{}", self.to.extension(), self.compressed);
        match self.job {
            _ if !self.writes() => Vec::new(),
            Job::Split { .. } => vec![name("-a"), name("-b")],
            _ => vec![name("")],
        }
    }
    /// The argument that names the outputs.
    pub(crate) fn output(&self, start: &str) -> String {
        let part = if matches!(self.job, Job::Split { .. }) { "-{part}" } else { "" };
        format!("{start}{part}.{}{}", self.to.extension(), self.compressed)
    }
}
