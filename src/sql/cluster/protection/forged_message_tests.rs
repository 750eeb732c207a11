//! Forged messages to a scheduler and an executor: nothing is written, nothing outside of the data is read, and both
//! answer afterwards as before.

use super::data_dirs::Data;
use crate::chess::random::Random;
use crate::formats::Format;
use crate::input::Inputs;
use crate::jobs::OutputFormat;
use crate::sql::cluster::protocol::scheduler_connection::Connection;
use crate::sql::cluster::scheduling::object_store::{Digests, Stores};
use crate::sql::cluster::{
    Cluster, ExecutorOptions, ExistingPiece, PieceContent, SchedulerOptions, Writing, run_executor, run_scheduler,
};
use crate::sql::tables::files_of_datafusion::{self, Files, Store};
use crate::sql::{Session, SessionOptions, SqlError};
use crate::tiers::Tier;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use ballista_core::JobId;
use ballista_core::execution_plans::ShuffleWriterExec;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{ExecuteQueryParams, KeyValuePair};
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTableUrl};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::object_store::ObjectStoreExt;
use datafusion::physical_plan::collect;
use datafusion::prelude::{CsvReadOptions, SessionConfig, SessionContext};
use datafusion_proto::logical_plan::AsLogicalPlan;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::StreamExt;
use http_body_util::{BodyExt, Full};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use tempfile::TempDir;

/// Runs one of them until the flag is set, and sends its address.
type Role = dyn FnOnce(&AtomicBool, mpsc::Sender<SocketAddr>) + Send;

/// A scheduler and an executor in this process, with one file that they may read and one that they may not.
struct Processes {
    /// Ends both.
    end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    scheduler: SocketAddr,
    executor: SocketAddr,
    directory: TempDir,
}

impl Processes {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["data", "secret", "work", "out"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        let lines = "8/8/8/4k3/8/4K3/8/7R w - - 0 1\n".repeat(1000);
        std::fs::write(directory.path().join("data/a.fen"), &lines).unwrap();
        std::fs::write(directory.path().join("secret/b.csv"), "a,b\n1,2\n").unwrap();
        std::fs::write(directory.path().join("secret/b.fen"), &lines).unwrap();
        let end = Arc::new(AtomicBool::new(false));
        let (sender, ready) = mpsc::channel();
        let begin = |run: Box<Role>| {
            let (end, sender) = (Arc::clone(&end), sender.clone());
            std::thread::spawn(move || run(&end, sender))
        };
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let scheduler_options = SchedulerOptions::new(any).data(vec![directory.path().join("data")]);
        let scheduler_thread = begin(Box::new(move |end, sender| {
            run_scheduler(&scheduler_options, end, |bind| sender.send(bind).unwrap()).unwrap();
        }));
        let scheduler = ready.recv().unwrap();
        let options = ExecutorOptions::new(scheduler.to_string())
            .data(vec![directory.path().join("data")])
            .out(Some(directory.path().join("out")))
            .work_directory(Some(directory.path().join("work")));
        let executor_thread = begin(Box::new(move |end, sender| {
            run_executor(&options, end, |bind| sender.send(bind).unwrap()).unwrap();
        }));
        let executor = ready.recv().unwrap();
        Self { end, threads: vec![scheduler_thread, executor_thread], scheduler, executor, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The answer to a query of a client.
    fn ask(&self, query: &str) -> Result<i64, String> {
        let cluster = Cluster::connect(&self.scheduler.to_string(), None).unwrap();
        let options = SessionOptions::new(Tier::best().analyzer().unwrap());
        let session = Session::on_cluster(options, cluster).unwrap();
        let statements = Session::parse(query).unwrap();
        let text = |error: SqlError| error.to_string();
        let rows = session.run(&statements[0]).map_err(text)?;
        let batches = rows.collect::<Result<Vec<RecordBatch>, _>>().map_err(text)?;
        Ok(batches[0].column(0).as_primitive::<Int64Type>().value(0))
    }

    /// Lets the executor write its file under this name, and returns how many files it says that it has written.
    fn write(&self, name: PathBuf, existing: ExistingPiece) -> Result<usize, String> {
        let cluster = Cluster::connect(&self.scheduler.to_string(), None).unwrap();
        let options = SessionOptions::new(Tier::best().analyzer().unwrap());
        let session = Session::on_cluster(options.clone(), cluster).unwrap();
        let content = PieceContent::Records { fen: false };
        let writing = Writing::new(name, content, Some(OutputFormat::Records(Format::BOARDS))).existing(existing);
        let text = |error: SqlError| error.to_string();
        let inputs = Inputs::of([self.path("data/a.fen")]);
        let (rows, mut written) = session.write(inputs, &options, writing).map_err(text)?;
        for batch in rows {
            written.add(&batch.map_err(text)?, |_| Ok::<(), SqlError>(())).map_err(text)?;
        }
        Ok(written.finish().map_err(text)?.files)
    }

    /// Sends a query to the scheduler, and returns its answer, whatever it is, as text.
    async fn send(&self, query: Query) -> String {
        self.send_with(query, Vec::new()).await
    }

    async fn send_with(&self, query: Query, settings: Vec<KeyValuePair>) -> String {
        let mut client = SchedulerGrpcClient::connect(format!("http://{}", self.scheduler)).await.unwrap();
        let mut request = tonic::Request::new(ExecuteQueryParams {
            session_id: "forged".to_owned(),
            operation_id: "forged".to_owned(),
            settings,
            query: Some(query),
        });
        ballista_core::version::insert_version_header(request.metadata_mut());
        format!("{:?}", client.execute_query(request).await)
    }

    /// Checks that both still answer, and nothing was written.
    fn check(&self) {
        let counted = self.ask(&format!("select count(*) from '{}'", self.path("data/a.fen").display()));
        assert_eq!(counted, Ok(1000));
        for (name, files) in [("", 4), ("data", 1), ("secret", 2), ("out", 0)] {
            assert_eq!(std::fs::read_dir(self.path(name)).unwrap().count(), files, "{name}");
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    crate::sql::runtime(2).unwrap().block_on(future)
}

/// A session with all that the engine has, and a table from a file.
async fn engine(table: &Path) -> SessionContext {
    let context = SessionContext::new();
    context.register_csv("secret", table.to_str().unwrap(), CsvReadOptions::new()).await.unwrap();
    context
}

/// A plan in a message; `None` if the engine has no message for it.
fn encoded(plan: &LogicalPlan) -> Option<Vec<u8>> {
    let codec = BallistaLogicalExtensionCodec::default();
    let mut bytes = Vec::new();
    LogicalPlanNode::try_from_logical_plan(plan, &codec).ok()?.try_encode(&mut bytes).unwrap();
    Some(bytes)
}

#[test]
fn forged_queries_are_refused() {
    let processes = Processes::start();
    let out = processes.path("out").display().to_string();
    let secret = processes.path("secret/b.csv");
    let secret_name = secret.display().to_string();
    let statements = [
        format!("copy (select 1 as a) to '{out}/a.csv' stored as csv"),
        format!("copy (select 1 as a) to '{out}/a.json' stored as json"),
        format!("copy (select 1 as a) to '{out}/a.parquet' stored as parquet"),
        format!("copy (select 1 as a) to '{out}/a.arrow' stored as arrow"),
        "select * from secret".to_owned(),
        "select 1 where exists (select * from secret)".to_owned(),
        "select (select max(a) from secret)".to_owned(),
        "insert into secret values (1, 2)".to_owned(),
        format!("create external table t (a int) stored as csv location '{secret_name}'"),
        "create view v as select 1".to_owned(),
        "create schema s".to_owned(),
        "create database s".to_owned(),
        "drop view if exists v".to_owned(),
        "prepare p as select 1".to_owned(),
        "with recursive r as (select 1 as n union all select n + 1 from r) select * from r".to_owned(),
    ];
    block_on(async {
        let context = engine(&secret).await;
        let (mut refused, mut accepted) = (0, Vec::new());
        for statement in &statements {
            let plan = context.state().create_logical_plan(statement).await.unwrap();
            let Some(message) = encoded(&plan) else {
                continue;
            };
            let answer = processes.send(Query::LogicalPlan(message)).await;
            if answer.contains("Success") {
                // Its table is looked at when it is planned.
                accepted.push(statement);
                continue;
            }
            let is_known = ["does not carry out", "cannot carry out"].iter().any(|reason| answer.contains(reason));
            assert!(is_known, "{statement}: {answer}");
            refused += 1;
        }
        assert!(refused >= 10, "{refused}");
        assert!(accepted.iter().all(|statement| statement.contains("from secret")), "{accepted:?}");
        // Plans of tasks, of which this is a harmless one.
        let plan = context.sql("select 1").await.unwrap().create_physical_plan().await.unwrap();
        let codec = BallistaPhysicalExtensionCodec::default();
        let mut bytes = Vec::new();
        PhysicalPlanNode::try_from_physical_plan(plan, &codec).unwrap().try_encode(&mut bytes).unwrap();
        let answer = processes.send(Query::PhysicalPlan(bytes)).await;
        assert!(answer.contains("does not carry out plans of tasks"), "{answer}");
        let answer = processes.send(Query::SubstraitPlan(vec![1, 2, 3])).await;
        assert!(answer.contains("Failure") || answer.contains("Err"), "{answer}");
        for settings in
            [("datafusion.execution.batch_size", "0"), ("datafusion.runtime.temp_directory", "/"), ("x", "")]
        {
            let pair = KeyValuePair { key: settings.0.to_owned(), value: Some(settings.1.to_owned()) };
            let plan = context.sql("select 1").await.unwrap().logical_plan().clone();
            processes.send_with(Query::LogicalPlan(encoded(&plan).unwrap()), vec![pair]).await;
        }
    });
    processes.check();
}

#[test]
fn tasks_that_write_or_read_other_files_fail() {
    let (directory, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = directory.path().join("b.csv");
    std::fs::write(&secret, "a,b\n1,2\n").unwrap();
    let out = directory.path().join("out").display().to_string();
    let statements = [
        format!("copy (select 1 as a) to '{out}/a.csv' stored as csv"),
        format!("copy (select 1 as a) to '{out}/a.json' stored as json"),
        format!("copy (select 1 as a) to '{out}/a.parquet' stored as parquet"),
        format!("copy (select 1 as a) to '{out}/a.arrow' stored as arrow"),
        "insert into secret values (1, 2)".to_owned(),
        "select * from secret".to_owned(),
    ];
    block_on(async {
        let context = engine(&secret).await;
        // What an executor has.
        let stores = Stores::of(Data::of(&[data.path().to_owned()]).unwrap());
        let stores = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(stores));
        let own = SessionContext::new_with_config_rt(SessionConfig::new(), stores.build_arc().unwrap());
        for statement in &statements {
            let Ok(plan) = context.sql(statement).await.unwrap().create_physical_plan().await else {
                continue;
            };
            let error = match collect(plan, own.task_ctx()).await {
                Ok(rows) => panic!("{statement}: {rows:?}"),
                Err(error) => error.to_string(),
            };
            // The engine does not repeat the reason of what stops it from writing.
            let is_known = statement.starts_with("copy") || error.contains("does not carry out queries of files");
            assert!(is_known, "{statement}: {error}");
        }
        // The same file under the name that clients give it, and under forged ones.
        let files = Files::of(std::slice::from_ref(&secret)).unwrap().unwrap();
        let store = Arc::new(Store::new(Arc::new(Digests::of_client())));
        let options = ListingOptions::new(Arc::new(CsvFormat::default())).with_file_extension(".csv");
        let table = files.table(false, options, &store, &context.state()).await.unwrap();
        let name = table.table_paths()[0].as_str().to_owned();
        let own_store =
            own.runtime_env().object_store(ObjectStoreUrl::parse(files_of_datafusion::STORE).unwrap()).unwrap();
        for (forged, reason) in [
            (name.clone(), "outside of the directories"),
            (name.replacen("2f", "2f2e2e2f", 1), "outside of the directories"),
            (name.replacen("-8.", "-9.", 1), "outside of the directories"),
            (format!("{}etc/passwd", files_of_datafusion::STORE), "only files that a query names"),
            (format!("{}00000000-8-0-zz/a", files_of_datafusion::STORE), "only files that a query names"),
        ] {
            let url = ListingTableUrl::parse(&forged).unwrap();
            let location = url.prefix().clone().join("b.csv");
            let error = own_store.head(&location).await.unwrap_err();
            assert!(format!("{error:?}").contains(reason), "{forged}: {error:?}");
            assert!(own_store.list(Some(&location)).all(async |found| found.is_err()).await);
        }
    });
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&secret).unwrap(), b"a,b\n1,2\n");
}

#[cfg(unix)]
#[test]
fn files_outside_of_the_data_are_refused() {
    let processes = Processes::start();
    std::os::unix::fs::symlink(processes.path("secret/b.fen"), processes.path("data/link.fen")).unwrap();
    std::os::unix::fs::symlink(processes.path("secret"), processes.path("data/way")).unwrap();
    for name in ["secret/b.fen", "data/link.fen", "data/way/b.fen", "data/../secret/b.fen"] {
        let error = processes.ask(&format!("select count(*) from '{}'", processes.path(name).display())).unwrap_err();
        assert!(error.contains("outside of the directories"), "{name}: {error}");
    }
    // A table of the engine, which the scheduler looks for when it plans.
    let error = processes.ask(&format!("select count(*) from '{}'", processes.path("secret/b.csv").display()));
    assert!(error.unwrap_err().contains("outside of the directories"));
    for name in ["data/link.fen", "data/way"] {
        std::fs::remove_file(processes.path(name)).unwrap();
    }
    processes.check();
}

#[cfg(unix)]
#[test]
fn files_outside_of_the_output_directory_are_not_written() {
    use std::os::unix::fs::symlink;
    let processes = Processes::start();
    symlink(processes.path("secret"), processes.path("out/way")).unwrap();
    symlink(processes.path("secret/new"), processes.path("out/dangling")).unwrap();
    symlink(processes.path("secret/b.fen"), processes.path("out/to-00000.boards")).unwrap();
    symlink(processes.path("secret/c.json"), processes.path("out/beside-00000.boards.manifest.json")).unwrap();
    let secret = std::fs::read(processes.path("secret/b.fen")).unwrap();
    let names = [
        "secret/{n}.boards",
        "data/{n}.boards",
        "{n}.boards",
        "out/../secret/{n}.boards",
        "out/./../{n}.boards",
        "out/way/{n}.boards",
        "out/way/deep/{n}.boards",
        "out/way/../{n}.boards",
        "out/dangling/{n}.boards",
        "out/to-{n}.boards",
        "out/beside-{n}.boards",
        "out/../out/{n}.boards",
    ];
    for existing in [ExistingPiece::Refuse, ExistingPiece::Replace, ExistingPiece::Keep] {
        for name in names {
            processes.write(processes.path(name), existing).unwrap_err();
        }
        for name in ["/{n}.boards", "{n}.boards", "", "/", "..", "out/{n}.boards", "/proc/self/fd/{n}"] {
            processes.write(PathBuf::from(name), existing).unwrap_err();
        }
    }
    assert_eq!(std::fs::read(processes.path("secret/b.fen")).unwrap(), secret);
    for name in ["way", "dangling", "to-00000.boards", "beside-00000.boards.manifest.json"] {
        std::fs::remove_file(processes.path("out").join(name)).unwrap();
    }
    processes.check();
    assert_eq!(processes.write(processes.path("out/deep/{n}.boards"), ExistingPiece::Refuse), Ok(1));
    assert_eq!(std::fs::read_dir(processes.path("out/deep")).unwrap().count(), 2);
    std::fs::remove_dir_all(processes.path("out/deep")).unwrap();
    processes.check();
}

/// Changes some bytes, cuts, or repeats a part.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(u32::try_from(bytes.len().max(1)).unwrap()) as usize;
        match random.below(6) {
            0 => bytes.truncate(place),
            1 => {
                let part = bytes[place..(place + 16).min(bytes.len())].to_vec();
                bytes.splice(place..place, part);
            }
            2 => bytes.insert(place, random.below(256) as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = match random.below(3) {
                        0 => random.below(256) as u8,
                        1 => *byte ^ 1 << random.below(8),
                        _ => [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
                    };
                }
            }
        }
    }
    bytes
}

/// A field of a message, which has bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut len = bytes.len();
    while len >= 0x80 {
        field.push(len as u8 | 0x80);
        len >>= 7;
    }
    field.push(len as u8);
    field.extend(bytes);
    field
}

/// The body of a call with one message.
fn frame(message: &[u8]) -> Vec<u8> {
    let len = u32::try_from(message.len()).unwrap();
    [&[0][..], &len.to_be_bytes(), message].concat()
}

#[test]
fn mutated_messages_do_no_harm() {
    let processes = Processes::start();
    let mut random = Random::new(46);
    let plan = block_on(async {
        let context = engine(&processes.path("secret/b.csv")).await;
        let query = "select a, count(*) from (values (1, 'x'), (2, 'y')) as t(a, b) where b like 'x%' group by a";
        context.sql(query).await.unwrap().logical_plan().clone()
    });
    let plan = encoded(&plan).unwrap();
    let query = [field(3, b"session"), field(5, b"operation"), field(1, &plan)].concat();
    let calls = [
        (processes.scheduler, "/ballista.protobuf.SchedulerGrpc/ExecuteQuery", query.clone()),
        (processes.scheduler, "/ballista.protobuf.SchedulerGrpc/PollWork", query.clone()),
        (processes.scheduler, "/ballista.protobuf.SchedulerGrpc/GetJobStatus", query.clone()),
        (processes.scheduler, "/ballista.protobuf.SchedulerGrpc/UpdateTaskStatus", query),
        (processes.executor, "/arrow.flight.protocol.FlightService/DoGet", plan.clone()),
        (processes.executor, "/arrow.flight.protocol.FlightService/DoAction", plan),
    ];
    let scheduler = Connection::new(&processes.scheduler.to_string(), None).unwrap();
    let executor = Connection::new(&processes.executor.to_string(), None).unwrap();
    for round in 0..2_000 {
        for (address, path, message) in &calls {
            let connection = if *address == processes.scheduler { &scheduler } else { &executor };
            if *address == processes.scheduler && round % 3 != 0 {
                continue;
            }
            let mut body = frame(&mutated(message, &mut random));
            if round % 7 == 0 {
                body = mutated(&body, &mut random);
            }
            let request = Request::builder()
                .method(Method::POST)
                .uri(format!("http://{address}{path}"))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .header("ballista-version", ballista_core::BALLISTA_VERSION)
                .body(tonic::body::Body::new(Body::from(body)))
                .unwrap();
            // Any answer is right, and so is none.
            let _ = connection.send(request);
        }
    }
    processes.check();
}

/// A scheduler that answers to each request for work with some mutated tasks, and then with a right one.
struct Forger {
    task: Vec<u8>,
    right: Vec<u8>,
    random: Mutex<Random>,
    sent: AtomicUsize,
}

/// Number of mutated tasks, and of those in an answer.
const TASKS: usize = 4_000;
const AT_ONCE: usize = 25;

impl Forger {
    fn answer(&self, path: &str) -> Vec<u8> {
        if !path.ends_with("/PollWork") {
            return frame(&[]);
        }
        if self.sent.fetch_add(AT_ONCE, Ordering::Relaxed) >= TASKS {
            return frame(&field(1, &self.right));
        }
        let mut random = self.random.lock().unwrap();
        let tasks = (0..AT_ONCE).map(|_| field(1, &mutated(&self.task, &mut random)));
        frame(&tasks.collect::<Vec<_>>().concat())
    }
}

#[test]
fn mutated_tasks_do_no_harm() {
    let task = |job: &str, plan: &[u8]| {
        let parts =
            [field(3, job.as_bytes()), field(7, plan), field(9, b"session"), vec![1 << 3, 1, 4 << 3, 1, 13 << 3, 1]];
        parts.concat()
    };
    let directory = tempfile::tempdir().unwrap();
    for name in ["data", "work"] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
    }
    let runtime = crate::sql::runtime(2).unwrap();
    let plan = runtime.block_on(async {
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let query = "select a, count(*) from (values (1, 'x'), (2, 'y')) as t(a, b) where b like 'x%' group by a";
        let plan = context.sql(query).await.unwrap().create_physical_plan().await.unwrap();
        let writer = ShuffleWriterExec::try_new(JobId::from("right".to_owned()), 1, plan, String::new()).unwrap();
        let codec = BallistaPhysicalExtensionCodec::default();
        let mut bytes = Vec::new();
        let node = PhysicalPlanNode::try_from_physical_plan(Arc::new(writer), &codec).unwrap();
        node.try_encode(&mut bytes).unwrap();
        bytes
    });
    let forger = Arc::new(Forger {
        task: task("forged", &plan),
        right: task("right", &plan),
        random: Mutex::new(Random::new(7)),
        sent: AtomicUsize::new(0),
    });
    let forging = Arc::clone(&forger);
    let answer = async move |request: axum::extract::Request| {
        let trailers = HeaderMap::from_iter([(HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"))]);
        let body = Full::from(forging.answer(request.uri().path())).with_trailers(async { Some(Ok(trailers)) });
        ([("content-type", "application/grpc")], Body::new(body))
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    runtime.spawn(async move {
        let routes = axum::Router::new().fallback(answer);
        let server = tonic::transport::Server::builder().add_routes(tonic::service::Routes::from(routes));
        server.serve(address).await.unwrap();
    });
    let end = Arc::new(AtomicBool::new(false));
    let options = ExecutorOptions::new(address.to_string())
        .data(vec![directory.path().join("data")])
        .work_directory(Some(directory.path().join("work")));
    let ending = Arc::clone(&end);
    let executor = std::thread::spawn(move || run_executor(&options, &ending, |_| {}));
    let own = || std::fs::read_dir(directory.path().join("work")).unwrap().next().unwrap().unwrap().path();
    let begin = std::time::Instant::now();
    while begin.elapsed().as_secs() < 1 || !own().join("rows/right").exists() {
        let sent = forger.sent.load(Ordering::Relaxed);
        assert!(begin.elapsed().as_secs() < 300, "{sent} sent");
        assert!(!executor.is_finished(), "after {sent}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(forger.sent.load(Ordering::Relaxed) > TASKS);
    let names: Vec<_> = std::fs::read_dir(own()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for (name, files) in [("", 2), ("data", 0), ("work", 1)] {
        assert_eq!(std::fs::read_dir(directory.path().join(name)).unwrap().count(), files, "{name}");
    }
    end.store(true, Ordering::Relaxed);
    executor.join().unwrap().unwrap();
}
