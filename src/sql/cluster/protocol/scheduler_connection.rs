//! The connection of a client with the scheduler: calls, and requests for its description of executors and jobs.

use crate::sql::SqlError;
use crate::sql::cluster::protection::tls::{Tls, endpoint, scheme, with_causes};
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::client::GrpcService;
use tonic::transport::Channel;

/// Maximum time for a connection, and for a response.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);
/// Maximum size of a response.
const MOST_BYTES: usize = 64 << 20;

/// A connection, which is made when it is first used, and again when it was lost.
#[derive(Debug)]
pub(in crate::sql::cluster) struct Connection {
    url: String,
    channel: Channel,
    runtime: Runtime,
}

impl Connection {
    /// # Errors
    /// If the address is not one.
    pub(in crate::sql::cluster) fn new(address: &str, tls: Option<&Tls>) -> Result<Self, SqlError> {
        let url = format!("{}://{address}", scheme(tls));
        let wrong = |error: &dyn std::error::Error| {
            SqlError::Cluster(format!("`{address}` is not an address: {}", with_causes(error)))
        };
        let mut made = create_grpc_client_endpoint(url.clone(), Some(&GrpcClientConfig::default()))
            .map_err(|error| wrong(&error))?
            .connect_timeout(CONNECT);
        if let Some(tls) = tls {
            made = endpoint(tls)(made).map_err(|error| wrong(&*error))?;
        }
        let runtime = crate::sql::runtime(1)?;
        let channel = {
            let _inside = runtime.enter();
            made.connect_lazy()
        };
        Ok(Self { url, channel, runtime })
    }

    pub(in crate::sql::cluster) fn url(&self) -> &str {
        &self.url
    }

    /// For calls.
    pub(in crate::sql::cluster) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Fetches the JSON at a path.
    pub(in crate::sql::cluster) fn get(&self, path: &str) -> io::Result<Value> {
        let body = self.request(Method::GET, path)?;
        serde_json::from_slice(&body).map_err(io::Error::other)
    }

    /// Sends a request without content, and returns the content of the response.
    pub(in crate::sql::cluster) fn request(&self, method: Method, path: &str) -> io::Result<Vec<u8>> {
        let uri = format!("{}{path}", self.url);
        let request = Request::builder().method(method).uri(uri).body(tonic::body::Body::empty());
        self.send(request.map_err(io::Error::other)?)
    }

    /// Sends a request, and returns the content of the response.
    pub(in crate::sql::cluster) fn send(&self, request: Request<tonic::body::Body>) -> io::Result<Vec<u8>> {
        let mut channel = self.channel();
        let answer = async {
            std::future::poll_fn(|context| GrpcService::<tonic::body::Body>::poll_ready(&mut channel, context)).await?;
            channel.call(request).await
        };
        let answer = async {
            let answer = answer.await.map_err(|error| io::Error::other(with_causes(&error)))?;
            let status = answer.status();
            if !status.is_success() {
                return Err(io::Error::other(format!("the response has status {status}")));
            }
            to_bytes(Body::new(answer.into_body()), MOST_BYTES).await.map_err(io::Error::other)
        };
        self.wait(answer)?.map(Into::into)
    }

    /// Waits for an answer.
    ///
    /// # Errors
    /// If it takes too long.
    pub(in crate::sql::cluster) fn wait<T>(&self, answer: impl Future<Output = T>) -> io::Result<T> {
        let answer = self.runtime.block_on(async { tokio::time::timeout(ANSWER, answer).await });
        answer.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it does not answer"))
    }
}
