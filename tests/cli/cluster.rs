//! A scheduler and two executors as processes on the loopback address: the same answers as of one process, whatever
//! happens to them.

use super::{Dir, json, lanefish, output, sample, stderr_of};
use crate::support::shared_data;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing may take longer, on however busy a machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// Number of lines that are shown of a log when a test fails.
const SAID: usize = 40;

/// A process that is killed when it is dropped.
pub(super) struct Process {
    pub(super) child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a role of a cluster, whose messages go to a file.
    pub(super) fn start(dir: &Dir, name: &str, arguments: &[&str]) -> Self {
        Self::start_in(dir, name, arguments, Path::new("."))
    }

    pub(super) fn start_in(dir: &Dir, name: &str, arguments: &[&str], current: &Path) -> Self {
        let log = dir.path(&format!("{name}.log"));
        let child = Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
            .current_dir(current)
            .arg("cluster")
            .args(arguments)
            .arg("-v")
            .stderr(File::create(&log).expect("created"))
            .stdout(Stdio::null())
            .spawn()
            .expect("started");
        Self { child, log }
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("readable")
    }

    /// Waits for a message, and returns what follows in its line.
    pub(super) fn said(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let log = self.log();
            if let Some((_, rest)) = log.split_once(text)
                && let Some((line, _)) = rest.split_once('\n')
            {
                return line.to_owned();
            }
            let ended = self.child.try_wait().expect("known");
            assert!(ended.is_none(), "{ended:?}: {log}");
            assert!(begin.elapsed() < PATIENCE, "not said: {text}\n{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Its number in the system.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended.
    pub(super) fn wait(&mut self) {
        let begin = Instant::now();
        while self.child.try_wait().expect("known").is_none() {
            assert!(begin.elapsed() < PATIENCE, "{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Tasks that it has done.
    pub(super) fn tasks(&self) -> usize {
        self.log().matches("Finished task").count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let log = self.log();
            let begin = log.rmatch_indices('\n').nth(SAID).map_or(0, |(place, _)| place + 1);
            eprintln!("{}:\n{}", self.log.display(), &log[begin..]);
        }
    }
}

pub(super) struct Cluster {
    pub(super) scheduler: Process,
    pub(super) executors: Vec<Process>,
    pub(super) address: String,
    dir: Dir,
    /// Number of executors that were started.
    started: usize,
}

impl Cluster {
    /// With this number of executors of one slot.
    pub(super) fn start(executors: usize) -> Self {
        let mut cluster = Self::alone(&[]);
        for _ in 0..executors {
            cluster.add(&[]);
        }
        let begin = Instant::now();
        while cluster.known().len() < executors {
            assert!(begin.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
        cluster
    }

    /// A scheduler.
    pub(super) fn alone(more: &[&str]) -> Self {
        Self::alone_in(Path::new("."), more)
    }

    /// A scheduler in this directory.
    pub(super) fn alone_in(current: &Path, more: &[&str]) -> Self {
        let dir = Dir::new();
        let arguments = [&["scheduler", "--bind", "127.0.0.1:0", "--data", "/"], more].concat();
        let mut scheduler = Process::start_in(&dir, "scheduler", &arguments, current);
        let address = scheduler.said("lanefish: scheduler on ");
        Self { scheduler, executors: Vec::new(), address, dir, started: 0 }
    }

    pub(super) fn add(&mut self, more: &[&str]) {
        self.started += 1;
        let name = format!("executor{}", self.started);
        let mut arguments = vec!["executor", "--scheduler", &self.address, "--slots", "1", "--data", "/"];
        arguments.extend(more);
        let mut executor = Process::start(&self.dir, &name, &arguments);
        executor.said("lanefish: executor on ");
        self.executors.push(executor);
    }

    /// Starts an executor in the place of one that was killed.
    pub(super) fn restart(&mut self, place: usize, more: &[&str]) {
        self.add(more);
        self.executors.swap_remove(place);
    }

    /// Kills the scheduler, and starts another one at its address.
    #[cfg(unix)]
    pub(super) fn restart_scheduler(&mut self) {
        self.scheduler.kill();
        let arguments = ["scheduler", "--bind", &self.address, "--data", "/"];
        self.scheduler = Process::start(&self.dir, "scheduler", &arguments);
        self.scheduler.said("lanefish: scheduler on ");
    }

    /// The executors that the scheduler knows.
    fn known(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        write!(stream, "GET /api/executors HTTP/1.0\r\n\r\n").expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        let (_, body) = answer.split_once("\r\n\r\n").expect("HTTP");
        serde_json::from_str(body).expect("JSON")
    }

    fn stats(&self, more: &[&str]) -> Value {
        let mut arguments = vec!["stats", "--json", "--cluster", &self.address];
        arguments.extend(more);
        without_run(json(0, &arguments))
    }
}

fn without_run(mut report: Value) -> Value {
    let object = report.as_object_mut().expect("an object");
    assert!(object.remove("run").is_some());
    report
}

/// The rows of CSV in a fixed order.
fn sorted(text: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = text.lines().collect();
    rows.sort_unstable();
    rows
}

#[test]
fn statistics_are_those_of_one_process() {
    let cluster = Cluster::start(2);
    let dir = Dir::new();
    let mut inputs = vec![vec![sample("sample.epd")]];
    let generated = dir.name("random.fen");
    output(0, &["generate", "-n", "8000", "--seed", "3", "-o", &generated]);
    for name in ["random.boards", "random.parquet", "random.arrow"] {
        let converted = dir.name(name);
        output(0, &["convert", &generated, "-o", &converted]);
        inputs.push(vec![converted]);
    }
    inputs.push(vec![generated, sample("sample.epd")]);
    // The same games twice: a file that is given twice is two inputs, whatever pieces they are in.
    if let Some(games) = shared_data("pgn/lichess_db_1000k.pgn") {
        let stored = dir.name("games.boards");
        output(0, &["convert", "-q", &games.display().to_string(), "-o", &stored]);
        inputs.push(vec![stored.clone(), sample("sample.epd"), stored]);
    }
    for name in [
        "pgn/lichess_db_1000k.pgn",
        "wrappers/lichess_db_100k.pgn.multiframe.zst",
        "wrappers/lichess_db_100k.pgn.gz",
        "pgn/awkward",
        "jsonl/derived_eval_from_lichess_pgn.jsonl.zst",
        "csv/lichess_db_puzzle.half_a.csv",
    ] {
        let shared = shared_data(name);
        inputs.extend(shared.map(|path| vec![path.display().to_string()]));
    }
    for (number, files) in inputs.iter().enumerate() {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let details: &[&str] = &["--details", "--by", "phase"];
        let kinds = [&[][..], details];
        for options in if number < 2 { &kinds[..] } else { &kinds[1..] } {
            let arguments = [&files[..], options].concat();
            let own = lanefish(&[&["stats", "--json"][..], &arguments].concat()).output().expect("ended");
            let status = own.status.code().expect("a status");
            let own: Value = serde_json::from_slice(&own.stdout).expect("JSON");
            let on_cluster = ["stats", "--json", "--cluster", &cluster.address];
            let theirs = json(status, &[&on_cluster[..], &arguments].concat());
            assert_eq!(without_run(theirs), without_run(own), "{arguments:?}");
        }
    }
    let tasks: Vec<usize> = cluster.executors.iter().map(Process::tasks).collect();
    assert!(tasks.iter().all(|&tasks| tasks >= 10), "{tasks:?}");
}

#[test]
fn games_are_chosen_and_rejects_kept_as_in_one_process() {
    let cluster = Cluster::start(2);
    let dir = Dir::new();
    let good = "8/8/8/4k3/8/4K3/8/7R w - - 0 1\n".repeat(4_000);
    let bad = dir.file("bad.fen", format!("{good}nonsense\n{good}more\tnonsense\n{good}"));
    let lines = |options: &[&str], name: &str| {
        let rejects = dir.name(name);
        let arguments = [&["stats", "--json", &bad, "--rejects", &rejects], options].concat();
        let report = without_run(json(1, &arguments));
        let text = fs::read_to_string(&rejects).expect("written");
        // Shards know no lines: what is wrong with which record is the same.
        let reasons = text.lines().map(|line| line.split_once('\t').expect("tabs").1);
        (report, reasons.map(str::to_owned).collect::<Vec<_>>())
    };
    let own = lines(&[], "own.txt");
    assert_eq!(own.1.len(), 2);
    assert_eq!(lines(&["--cluster", &cluster.address], "theirs.txt"), own);
    let note = stderr_of(1, &["stats", "--cluster", &cluster.address, &bad]);
    assert!(note.contains("2 of 12,002 records rejected"), "{note}");
    assert!(note.contains("bad.fen (byte 124000"), "{note}");
    // Of a query, only the numbers are known.
    let query = format!("select count(*) from '{bad}'");
    let arguments = ["sql", "--cluster", &cluster.address, &query];
    assert_eq!(output(1, &arguments), "count(*)\n12000\n");
    let note = stderr_of(1, &arguments);
    assert!(note.contains("2 of 12,002 records rejected"), "{note}");
    let first = stderr_of(2, &[&arguments[..], &["--strict"]].concat());
    assert!(first.contains("bad.fen (byte "), "{first}");
    let Some(pgn) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let pgn = pgn.display().to_string();
    let options = [&*pgn, "--min-elo", "1500", "--every", "3", "--keep-en-passant"];
    let own = without_run(json(0, &[&["stats", "--json"][..], &options].concat()));
    assert_eq!(cluster.stats(&options), own);
    // The same games from boards, which are read in shards.
    let boards = dir.name("games.boards");
    output(0, &["convert", &pgn, "-o", &boards]);
    // What depends on the records before is the same as well.
    for options in [
        &["--where", "quiet and stm_material > nstm_material"][..],
        &["--where", "index % 3 = 1 and game > 5"],
        &["--where", "eco_position between 'B00' and 'B99'", "--by", "phase"],
        &["--where", "legal_moves > 20", "--sample", "100", "--seed", "4"],
        &["--sample", "10%"],
        &["--by", "eco_position"],
        &["--features", "threats:sfnnv16+halfka_v2_hm", "--by", "phase"],
        &["--by", "len(\"features:planes:112:stm\")"],
    ] {
        let arguments = [&[&*boards][..], options].concat();
        let own = without_run(json(0, &[&["stats", "--json"][..], &arguments].concat()));
        assert!(own["positions"].as_u64() > Some(10), "{options:?}");
        assert_eq!(cluster.stats(&arguments), own, "{options:?}");
    }
    for options in [&["--min-elo", "1500"][..], &["--skip-book", "12"]] {
        let of = |file: &str| {
            let arguments = [&["stats", "--json", file][..], options].concat();
            without_run(json(0, &arguments))
        };
        let own = of(&boards);
        assert_eq!(own["positions"], of(&pgn)["positions"]);
        assert_eq!(cluster.stats(&[&[&*boards][..], options].concat()), own);
    }
}

#[test]
fn rows_are_those_of_one_process() {
    let cluster = Cluster::start(2);
    let dir = Dir::new();
    let epd = sample("sample.epd");
    let boards = dir.name("random.boards");
    let parquet = dir.name("random.parquet");
    output(0, &["generate", "-n", "20000", "--seed", "5", "-o", &boards]);
    output(0, &["convert", &boards, "--fen", "-o", &parquet]);
    let plain = dir.file("names.csv", "side,name\nw,White\nb,Black\n");
    let queries = [
        format!("select count(*) from '{boards}'"),
        format!("select * from '{epd}'"),
        format!("select index, fen from '{boards}' where legal_moves > 45"),
        format!("select phase, count(*), avg(legal_moves) from '{boards}' group by phase order by phase"),
        format!("select phase, count(*) from '{parquet}' group by phase having count(*) > 300 order by 2 desc, 1"),
        format!("select distinct castling from '{boards}' order by 1"),
        format!("select fen, legal_moves from '{boards}' order by legal_moves desc, fen limit 20"),
        format!("select fen from '{boards}' order by key limit 5 offset 100"),
        format!("select a.fen from '{boards}' a join '{parquet}' b on a.key = b.key where a.checkmate"),
        format!("select count(*) from '{epd}' a left join '{boards}' b on a.key = b.key where b.key is null"),
        format!("select name, count(*) from '{boards}' p join '{plain}' n on p.stm = n.side group by name"),
        format!("select stm, phase, rank() over (partition by stm order by phase, fen) from '{epd}'"),
        format!("select legal_moves(fen), in_check(fen), popcount(pawns) from '{parquet}' where pieces < 12"),
        format!("select normalize_fen(fen) from '{parquet}' where matches(fen, '8/8/8/8/8/8/8/4K3')"),
        format!("select stm, position_stats(fen) from '{parquet}' group by stm"),
        format!("select max(legal_moves), min(material_white - material_black) from '{boards}' where not in_check"),
        format!("select case when in_check then 'check' else 'quiet' end as kind, count(*) from '{boards}' group by 1"),
        format!("select count(*) from '{boards}' where legal_moves > (select avg(legal_moves) from '{epd}')"),
        format!("select count(*) from '{boards}' where key in (select key from '{parquet}' where stm = 'w')"),
        format!("select fen from '{boards}' where checkmate union select fen from '{epd}' where checkmate"),
        format!(
            "select 'a' as source, legal_moves from '{boards}' where pieces < 8 \
             union all select 'b', legal_moves from '{epd}' where pieces < 8 order by 1, 2"
        ),
        format!("with checks as (select * from '{boards}' where in_check) select count(*), avg(pieces) from checks"),
        format!("select count(*) from plain('{parquet}')"),
        format!("select count(*), count(game), count(ply) from '{epd}'"),
        format!("create view v as select phase from '{boards}'; select phase, count(*) from v group by phase"),
        format!("select fen, legal_moves_uci, \"features:halfka_v2_hm:stm\" from '{boards}' order by key limit 20"),
        format!("select \"output_bucket:8\", sum(array_length(legal_moves_u16)) from '{boards}' group by 1"),
        format!("select sum(array_length(checking_moves_u16(fen))) from '{parquet}'"),
        "select 1 + 1".to_owned(),
    ];
    for query in &queries {
        let own = output(0, &["sql", query]);
        let theirs = output(0, &["sql", "--cluster", &cluster.address, query]);
        if query.contains("order by") && !query.contains("over (") {
            assert_eq!(theirs, own, "{query}");
        } else {
            assert_eq!(sorted(&theirs), sorted(&own), "{query}");
        }
    }
    // How positions are judged travels with the functions.
    let query = "select en_passant(fen) from \
        (select 'rnbqkbnr/pppp1ppp/8/8/4p3/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 1' as fen)";
    let options = ["sql", "--keep-en-passant", query];
    let own = output(0, &options);
    let on_cluster = ["--cluster", &cluster.address];
    assert_eq!(output(0, &[&options[..], &on_cluster].concat()), own);
    let explained = format!("explain select phase, legal_moves from '{boards}' where in_check limit 5");
    let plan = output(0, &["sql", "--cluster", &cluster.address, &explained]);
    let scan = "columns=[legal_moves, phase], where=[in_check], limit=5";
    assert!(plan.contains(scan), "{plan}");
    let tasks: Vec<usize> = cluster.executors.iter().map(Process::tasks).collect();
    assert!(tasks.iter().all(|&tasks| tasks >= 10), "{tasks:?}");
}

/// Inputs that keep two slots busy for some time: the same file again and again, and the report of all of them.
pub(super) fn long_job(dir: &Dir, seconds: f64) -> (Vec<String>, Value) {
    let file = dir.name("long.fen.gz");
    output(0, &["generate", "-n", "300000", "--seed", "9", "-o", &file]);
    let begin = Instant::now();
    let one = output(0, &["stats", "--json", "--threads", "1", &file]);
    let times = (2.0 * seconds / begin.elapsed().as_secs_f64()).ceil() as usize;
    let report = dir.file("one.json", one);
    let merged: Vec<&str> = std::iter::repeat_n(&*report, times).collect();
    let all = json(0, &[&["stats", "--json", "--merge"][..], &merged].concat());
    (vec![file; times], without_run(all))
}

#[test]
fn a_killed_executor_changes_nothing() {
    let mut cluster = Cluster::start(2);
    let dir = Dir::new();
    let (files, expected) = long_job(&dir, 6.0);
    let begin = Instant::now();
    let mut arguments = vec!["stats", "--json", "--cluster", &cluster.address];
    arguments.extend(files.iter().map(String::as_str));
    let client = Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
        .args(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    // It has results, and is making others.
    while cluster.executors[0].tasks() < 2 {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    cluster.executors[0].kill();
    let done = client.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(without_run(report), expected);
    assert!(begin.elapsed() > Duration::from_secs(6), "too short to show anything");
    assert!(cluster.executors[1].tasks() > 2);
}

#[test]
fn what_fails_on_the_cluster_says_so() {
    let mut cluster = Cluster::start(1);
    let dir = Dir::new();
    let epd = sample("sample.epd");
    // Known before anything is sent.
    for (arguments, reason) in [
        (&["stats", "/no/such.epd"][..], "cannot open /no/such.epd"),
        (&["sql", "select * from '/no/such.epd'"], "cannot open /no/such.epd"),
        (&["stats", "-"], "name files"),
        (&["stats", &epd, "--limit", "3"], "--limit"),
        (&["stats", &epd, "--shard", "0/2"], "--shard"),
        (&["stats", &epd, "--exact-distinct"], "--exact-distinct"),
        (&["sql", "select 1", "--rejects", "r.txt"], "--rejects"),
        (&["sql", "select x from 'y.epd'", "--memory", "1G"], "--memory"),
        (&["sql", "select nonsense from 'data/sample.epd'"], "nonsense"),
        (&["sql", "create table t as select 1 as x; select * from t"], "in the memory of this process"),
        (
            &["sql", "with recursive n as (select 1 as x union all select x + 1 from n where x < 5) select * from n"],
            "cannot carry out recursive queries",
        ),
    ] {
        let said = stderr_of(2, &[arguments, &["--cluster", &cluster.address]].concat());
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
    // A file that is damaged, and one that is gone when its task begins.
    let (mut files, _) = long_job(&dir, 3.0);
    let gone = dir.name("gone.fen.gz");
    fs::copy(&files[0], &gone).expect("copied");
    let whole = fs::read(&gone).expect("read");
    let cut = dir.file("cut.fen.gz", &whole[..whole.len() / 2]);
    let said = stderr_of(2, &["stats", "--cluster", &cluster.address, &cut]);
    assert!(said.contains("cut.fen.gz") && said.contains("(on "), "{said}");
    files.push(gone.clone());
    let mut arguments = vec!["stats", "--cluster", &cluster.address];
    arguments.extend(files.iter().map(String::as_str));
    let start = |arguments: &[&str]| {
        Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started")
    };
    let before = cluster.executors[0].tasks();
    let client = start(&arguments);
    let begin = Instant::now();
    while cluster.executors[0].tasks() == before {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::remove_file(&gone).expect("removed");
    let done = client.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot open") && said.contains("gone.fen.gz"), "{said}");
    // The scheduler goes away in the middle.
    arguments.pop();
    let before = cluster.executors[0].tasks();
    let client = start(&arguments);
    while cluster.executors[0].tasks() == before {
        std::thread::sleep(Duration::from_millis(5));
    }
    cluster.scheduler.kill();
    let killed = Instant::now();
    let done = client.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("the scheduler is gone"), "{said}");
    assert!(killed.elapsed() < Duration::from_secs(60));
    // There is none.
    let said = stderr_of(2, &["stats", "--cluster", &cluster.address, &epd]);
    assert!(said.contains("no scheduler answers at 127.0.0.1"), "{said}");
}

/// The scheduler is killed and started again while the client is stopped, which then asks for a job that nobody knows.
#[cfg(unix)]
#[test]
fn a_scheduler_that_is_started_again_ends_its_jobs() {
    let mut cluster = Cluster::start(1);
    let dir = Dir::new();
    let (files, _) = long_job(&dir, 4.0);
    let mut client = Command::new(assert_cmd::cargo::cargo_bin("lanefish"));
    client.args(["stats", "--cluster", &cluster.address]).args(&files).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut client = client.spawn().expect("started");
    let id = client.id().to_string();
    let signal = |name: &str| Command::new("kill").args([name, &id]).status();
    let begin = Instant::now();
    while cluster.executors[0].tasks() == 0 {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    if !signal("-STOP").is_ok_and(|status| status.success()) {
        crate::support::skipped("no `kill` command");
        client.kill().expect("killed");
        client.wait().expect("ended");
        return;
    }
    cluster.restart_scheduler();
    signal("-CONT").expect("sent");
    let begin = Instant::now();
    let done = client.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    // Its last question before it was stopped may have had no answer.
    assert!(said.contains("does not know the job") || said.contains("the scheduler is gone"), "{said}");
    assert!(begin.elapsed() < Duration::from_secs(60));
}

/// A directory with room for very little; `None`, with a message, where none can be made.
fn tiny(dir: &Dir) -> Option<Tiny> {
    let path = dir.path("tiny");
    fs::create_dir(&path).expect("made");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&path)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        crate::support::skipped("no small file system can be mounted");
        return None;
    }
    Some(Tiny(path))
}

struct Tiny(PathBuf);

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_work_directory_is_an_error() {
    let dir = Dir::new();
    let Some(tiny) = tiny(&dir) else {
        return;
    };
    let mut cluster = Cluster::start(0);
    cluster.add(&["--work-dir", tiny.0.to_str().expect("UTF-8")]);
    let query = format!("select fen from '{}'", sample("sample.epd"));
    let said = stderr_of(2, &["sql", "--cluster", &cluster.address, &query]);
    assert!(said.contains("No space left"), "{said}");
}

#[test]
fn nothing_listens_on_more_than_the_loopback_address() {
    let cluster = Cluster::start(1);
    assert!(cluster.address.starts_with("127.0.0.1:"));
    if !cfg!(target_os = "linux") {
        return;
    }
    for process in [&cluster.scheduler, &cluster.executors[0]] {
        let pid = process.child.id();
        let sockets: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
            .expect("open files")
            .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
            .filter_map(|to| {
                let inode = to.to_str()?.strip_prefix("socket:[")?;
                Some(inode.strip_suffix(']')?.to_owned())
            })
            .collect();
        let mut listening = 0;
        for table in ["tcp", "tcp6"] {
            let Ok(file) = File::open(format!("/proc/{pid}/net/{table}")) else {
                continue;
            };
            for line in BufReader::new(file).lines().skip(1) {
                let line = line.expect("text");
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (address, state, inode) = (fields[1], fields[3], fields[9]);
                if state != "0A" || !sockets.iter().any(|own| own == inode) {
                    continue;
                }
                listening += 1;
                // 127.0.0.1, as the kernel writes it.
                assert!(address.starts_with("0100007F:"), "{line}");
            }
        }
        assert!(listening > 0);
    }
}

#[test]
fn processes_end_when_they_are_asked_to() {
    let dir = Dir::new();
    let mut cluster = Cluster::start(0);
    let work = dir.name("work");
    fs::create_dir(&work).expect("made");
    cluster.add(&["--work-dir", &work]);
    assert_eq!(fs::read_dir(&work).expect("listed").count(), 1);
    let taken = stderr_of(2, &["cluster", "scheduler", "--bind", &cluster.address]);
    assert!(taken.contains("cannot listen on 127.0.0.1"), "{taken}");
    let begin = Instant::now();
    for process in [&mut cluster.executors[0], &mut cluster.scheduler] {
        let sent = Command::new("kill").arg(process.child.id().to_string()).status();
        if !sent.is_ok_and(|status| status.success()) {
            crate::support::skipped("no `kill` command");
            return;
        }
        let status = process.child.wait().expect("ended");
        assert_eq!(status.code(), Some(0), "{}", process.log());
    }
    assert!(begin.elapsed() < Duration::from_secs(40));
    assert_eq!(fs::read_dir(&work).expect("listed").count(), 0);
    let odd = stderr_of(2, &["cluster", "executor", "--scheduler", "nonsense"]);
    assert!(odd.contains("expected HOST:PORT"), "{odd}");
}
