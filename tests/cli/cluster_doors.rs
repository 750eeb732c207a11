//! Who reaches the ports of a cluster, which files it takes for the client's, what it tells about itself, and what it
//! leaves behind.

use super::cluster::{Cluster, PATIENCE, Process, long_job};
use super::{Dir, json, lanefish, output, sample, stderr_of};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The arguments for a certificate of an authority, which are files in this directory.
fn certificate(
    dir: &Dir,
    authority: &rcgen::Issuer<'_, rcgen::KeyPair>,
    authority_file: &str,
    name: &str,
) -> Vec<String> {
    let key = rcgen::KeyPair::generate().expect("a key");
    let parameters = rcgen::CertificateParams::new(["lanefish".to_owned()]).expect("a name");
    let signed = parameters.signed_by(&key, authority).expect("signed");
    let certificate = dir.file(&format!("{name}.crt"), signed.pem());
    let key = dir.file(&format!("{name}.key"), key.serialize_pem());
    ["--tls-cert", &certificate, "--tls-key", &key, "--tls-ca", authority_file].map(str::to_owned).into()
}

/// An authority, and the file with its certificate.
fn authority(dir: &Dir, name: &str) -> (rcgen::Issuer<'static, rcgen::KeyPair>, String) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut parameters = rcgen::CertificateParams::new([]).expect("no names");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key).expect("signed");
    let file = dir.file(name, certificate.pem());
    (rcgen::Issuer::new(parameters, key), file)
}

#[test]
fn only_members_reach_the_ports() {
    let dir = Dir::new();
    let (own, own_file) = authority(&dir, "ca.crt");
    let (foreign, foreign_file) = authority(&dir, "foreign-ca.crt");
    let own = certificate(&dir, &own, &own_file, "node");
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    // Who claims the right authority, and who trusts another.
    let claimed = certificate(&dir, &foreign, &own_file, "claimed");
    let foreign = certificate(&dir, &foreign, &foreign_file, "foreign");
    let mut cluster = Cluster::alone(&own);
    cluster.add(&own);
    cluster.add(&own);
    let address = cluster.address.clone();
    let epd = sample("sample.epd");
    let query = format!("select phase, count(*) from '{epd}' where in_check group by phase order by phase");
    let check = || {
        let rows = output(0, &[&["sql", "--cluster", &address, &query], &own[..]].concat());
        assert_eq!(rows, output(0, &["sql", &query]));
    };
    check();
    for wrong in [&[][..], &claimed[..], &foreign[..]] {
        let wrong = wrong.iter().map(String::as_str);
        let arguments: Vec<&str> = ["stats", "--cluster", &address, &epd].into_iter().chain(wrong).collect();
        let said = stderr_of(2, &arguments);
        assert!(said.contains("no scheduler answers"), "{said}");
    }
    let said = stderr_of(2, &["stats", "--cluster", &address, &epd]);
    assert!(said.contains("--tls-cert"), "{said}");
    // Executors that do not belong to it, and another that sends nothing.
    let executor = |more: &[&str]| {
        let arguments = [&["executor", "--scheduler", &address, "--data", "/"], more].concat();
        Process::start(&dir, &format!("foreign{}", more.len()), &arguments)
    };
    let claimed: Vec<&str> = claimed.iter().map(String::as_str).collect();
    let mut outsiders = [executor(&[]), executor(&claimed)];
    let silent = TcpStream::connect(&address).expect("connected");
    let port = cluster.executors[0].log();
    let port = port.split("executor on ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
    for address in [address.as_str(), port] {
        for bytes in [
            &b"GET /api/executors HTTP/1.1\r\nHost: x\r\n\r\n"[..],
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            &[0x16; 70_000],
        ] {
            let mut stream = TcpStream::connect(address).expect("connected");
            // It may be closed before all is written.
            let _ = stream.write_all(bytes);
            let mut answer = Vec::new();
            let _ = stream.set_read_timeout(Some(Duration::from_secs(15)));
            let _ = stream.read_to_end(&mut answer);
            assert!(!answer.windows(4).any(|part| part == b"HTTP"), "{answer:?}");
        }
    }
    check();
    drop(silent);
    for outsider in &mut outsiders {
        let begin = Instant::now();
        while !["poll work loop failed", "Failed to connect"].iter().any(|failed| outsider.log().contains(failed)) {
            assert!(begin.elapsed() < PATIENCE, "{}", outsider.log());
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(outsider.tasks(), 0);
        outsider.kill();
    }
    assert!(cluster.executors.iter().any(|executor| executor.tasks() > 0));
    let said = stderr_of(2, &["sql", "select 1", own[0], own[1], own[2], own[3], own[4], own[5]]);
    assert!(said.contains("--cluster"), "{said}");
    let said = stderr_of(2, &["cluster", "scheduler", "--bind", "0.0.0.0:0"]);
    assert!(said.contains("without TLS") && said.contains("--insecure"), "{said}");
    let mixed = [own[0], own[1], own[2], claimed[3], own[4], own[5]];
    let said = stderr_of(2, &[&["cluster", "scheduler", "--bind", "127.0.0.1:0"], &mixed[..]].concat());
    assert!(said.contains("are not a certificate, its key, and an authority"), "{said}");
}

/// Two processes in two directories, for which one name stands for two files, as on machines with different copies.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_another_one_on_the_executor_is_an_error() {
    let dir = Dir::new();
    for name in ["client", "executor"] {
        fs::create_dir(dir.path(name)).expect("created");
    }
    // The scheduler looks at tables that the engine reads itself.
    let mut cluster = Cluster::alone_in(&dir.path("client"), &[]);
    let arguments = ["executor", "--scheduler", &cluster.address, "--data", "."];
    let mut executor = Process::start_in(&dir, "executor", &arguments, &dir.path("executor"));
    executor.said("lanefish: executor on ");
    cluster.executors.push(executor);
    let lines = "8/8/8/4k3/8/4K3/8/7R w - - 0 1\n".repeat(4_000);
    fs::write(dir.path("client/a.fen"), &lines).expect("written");
    fs::write(dir.path("executor/a.fen"), &lines).expect("written");
    let boards = dir.name("client/a.boards");
    output(0, &["convert", &dir.name("client/a.fen"), "-o", &boards]);
    let whole = fs::read(&boards).expect("read");
    let parquet = dir.name("client/a.parquet");
    output(0, &["convert", &boards, "-o", &parquet]);
    let columns = fs::read(&parquet).expect("read");
    let text = format!("fen\n{lines}");
    fs::write(dir.path("client/a.csv"), &text).expect("written");
    let ask = |name: &str, command: &str| {
        let path = format!("/proc/self/cwd/{name}");
        let query = format!("select count(*) from '{path}'");
        let what = if command == "sql" { &query } else { &path };
        let done = Command::new(assert_cmd::cargo::cargo_bin("lanefish"))
            .current_dir(dir.path("client"))
            .args([command, what, "--cluster", &cluster.address])
            .output()
            .expect("ended");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let changed = |bytes: &[u8], place: usize| {
        let mut bytes = bytes.to_vec();
        bytes[place] ^= 1;
        bytes
    };
    let files =
        [("a.fen", lines.as_bytes()), ("a.boards", &whole), ("a.parquet", &columns), ("a.csv", text.as_bytes())];
    for (name, bytes) in files {
        let contents = [
            (None, "bytes, and"),
            (Some(changed(bytes, 0)), "another content"),
            (Some(changed(bytes, bytes.len() / 3)), "another content"),
            (Some(changed(bytes, bytes.len() - 1)), "another content"),
            (Some(bytes[..bytes.len() / 2].to_vec()), "bytes, and"),
            (Some([bytes, b"x"].concat()), "bytes, and"),
            (Some(Vec::new()), "bytes, and"),
        ];
        for (content, reason) in contents {
            let copy = dir.path("executor").join(name);
            match content {
                // The right file, which is there at last.
                None => fs::write(&copy, bytes).expect("written"),
                Some(content) => {
                    fs::write(&copy, content).expect("written");
                    for command in ["stats", "sql"] {
                        let (status, said) = ask(name, command);
                        assert_eq!(status, Some(2), "{name}, {command}: {said}");
                        let is_explained = said.contains(reason) && said.contains(name) && said.contains("(on ");
                        assert!(is_explained, "{name}, {command}: {said}");
                    }
                    fs::write(&copy, bytes).expect("written");
                }
            }
            let (status, said) = ask(name, "stats");
            assert_eq!(status, Some(0), "{name}: {said}");
        }
    }
}

/// Small queries are answered while large ones have more tasks than there are slots.
#[test]
fn a_small_query_does_not_wait_for_large_ones() {
    // Executors that are stopped for long are lost, which happens where the machine has other work.
    let fair = (0..3).any(|attempt| small_query_beside_large_ones(attempt == 2));
    assert!(fair, "a query beside large ones was given up three times");
}

/// Whether the small query was answered; if not, this is a failure in the last attempt.
fn small_query_beside_large_ones(is_last: bool) -> bool {
    let mut cluster = Cluster::start(0);
    let dir = Dir::new();
    let work = dir.name("work");
    fs::create_dir(&work).expect("created");
    cluster.add(&["--work-dir", &work]);
    let (files, _) = long_job(&dir, 15.0);
    let start = || {
        let mut arguments = vec!["stats", "--json", "--cluster", &cluster.address];
        arguments.extend(files.iter().map(String::as_str));
        let mut client = Command::new(assert_cmd::cargo::cargo_bin("lanefish"));
        client.args(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
    };
    let mut large = [start(), start(), start()];
    while cluster.executors[0].tasks() < 3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let epd = sample("sample.epd");
    let query = format!("select count(*) from '{epd}'");
    let asked = lanefish(&["sql", "--cluster", &cluster.address, &query]).output().expect("ended");
    let given_up = String::from_utf8_lossy(&asked.stderr).contains("has given up on the job");
    if given_up && !is_last {
        for client in &mut large {
            client.kill().expect("killed");
            client.wait().expect("ended");
        }
        return false;
    }
    assert!(asked.status.success(), "{asked:?}");
    assert!(
        large.iter_mut().all(|client| client.try_wait().expect("known").is_none()),
        "the large ones were too short"
    );
    let status = json(0, &["cluster", "status", &cluster.address, "--json"]);
    let states: Vec<&str> =
        status["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["state"].as_str()).collect();
    assert_eq!(states.iter().filter(|&&state| state == "Running").count(), 3, "{status}");
    assert_eq!(states.iter().filter(|&&state| state == "Completed").count(), 1, "{status}");
    assert_eq!(status["executors"][0]["slots"], 1, "{status}");
    let shown = output(0, &["cluster", "status", &cluster.address]);
    assert!(shown.starts_with("1 executor with 1 slot\n") && shown.contains("4 jobs"), "{shown}");
    for client in &mut large {
        client.kill().expect("killed");
        client.wait().expect("ended");
    }
    true
}

#[test]
fn what_is_over_leaves_nothing() {
    let mut cluster = Cluster::start(0);
    let dir = Dir::new();
    let work = dir.name("work");
    fs::create_dir(&work).expect("created");
    cluster.add(&["--work-dir", &work]);
    let epd = sample("sample.epd");
    let query = format!("select fen, count(*) from '{epd}' group by fen");
    output(0, &["sql", "--cluster", &cluster.address, &query]);
    output(0, &["stats", "--cluster", &cluster.address, &epd]);
    let rows = || {
        let own = fs::read_dir(&work).expect("listed").next().expect("a directory").expect("listed");
        fs::read_dir(own.path().join("rows")).expect("listed").count()
    };
    let begin = Instant::now();
    while rows() > 0 {
        assert!(begin.elapsed() < PATIENCE, "{} left", rows());
        std::thread::sleep(Duration::from_millis(50));
    }
    // A killed executor leaves its directory to the next one.
    cluster.executors[0].kill();
    assert_eq!(fs::read_dir(&work).expect("listed").count(), 1);
    cluster.add(&["--work-dir", &work]);
    assert_eq!(fs::read_dir(&work).expect("listed").count(), 1);
    let page = |address: &str, path: &str| {
        let mut stream = TcpStream::connect(address).expect("connected");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        answer
    };
    let metrics = page(&cluster.address, "/metrics");
    assert!(metrics.contains("\nlanefish_jobs_completed_total 2\n"), "{metrics}");
    assert!(page(&cluster.address, "/health").starts_with("HTTP/1.1 200"));
    assert!(page(&cluster.address, "/").starts_with("HTTP/1.1 404"));
    assert_eq!(cluster.scheduler.log().matches(" completed after ").count(), 2);
    let log = cluster.executors[1].log();
    let address = log.split("executor on ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
    output(0, &["stats", "--cluster", &cluster.address, &epd]);
    let metrics = page(address, "/metrics");
    let positions = metrics.lines().find_map(|line| line.strip_prefix("lanefish_positions_total "));
    assert!(positions.is_some_and(|positions| positions.parse::<u64>().is_ok_and(|count| count > 1_000)), "{metrics}");
    assert!(page(address, "/health").starts_with("HTTP/1.1 200"));
}
