//! The ports of a cluster: what is served there, and to whom.
//!
//! Without [`Tls`], a port serves everybody who reaches it, so it must be on the loopback address unless the user says
//! otherwise. With it, a connection whose certificate is not of the cluster's authority ends in the handshake, before a
//! message is read.

use crate::sql::SqlError;
use crate::sql::cluster::monitoring::metrics::CONTENT_TYPE;
use crate::sql::cluster::protection::tls::Tls;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::net::{SocketAddr, TcpListener};
use tonic::service::Routes;
use tonic::transport::server::{TcpConnectInfo, TcpIncoming, TlsConnectInfo};
use tonic::transport::{Error, Server};

/// The beginnings of paths that the scheduler serves; the engine has a page as well, which leads to another server.
const SERVED: [&str; 4] = ["/ballista.protobuf.SchedulerGrpc/", "/api/", METRICS, HEALTH];
/// What a process has done so far, and whether it answers.
const METRICS: &str = "/metrics";
const HEALTH: &str = "/health";

/// Listens at this address, if that is safe; for port 0, at any free port. Returns the address as well.
pub(in crate::sql::cluster) fn listen(
    bind: SocketAddr,
    tls: Option<&Tls>,
    insecure: bool,
) -> Result<(TcpListener, SocketAddr), SqlError> {
    if tls.is_none() && !insecure && !bind.ip().is_loopback() {
        return Err(SqlError::Cluster(format!(
            "refused to listen on {bind} without TLS: everybody who reaches that port could run queries and read the \
             files; use --tls-cert, --tls-key and --tls-ca, or --insecure in a network that nobody else can reach"
        )));
    }
    let bound = TcpListener::bind(bind).and_then(|listener| {
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    bound.map_err(|error| cannot_listen(bind, &error))
}

pub(in crate::sql::cluster) fn cannot_listen(bind: SocketAddr, error: &std::io::Error) -> SqlError {
    SqlError::Cluster(format!("cannot listen on {bind}: {error}"))
}

/// The connections of a port, which stays open when nobody takes them any more.
pub(in crate::sql::cluster) fn incoming(listener: &TcpListener) -> std::io::Result<TcpIncoming> {
    let listener = listener.try_clone()?;
    listener.set_nonblocking(true)?;
    Ok(TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?).with_nodelay(Some(true)))
}

/// Serves the routes of a scheduler.
pub(in crate::sql::cluster) async fn serve(
    connections: TcpIncoming,
    routes: Router,
    tls: Option<&Tls>,
) -> Result<(), Error> {
    let routes = routes.layer(middleware::from_fn(admit));
    let mut server = Server::builder().accept_http1(true);
    if let Some(tls) = tls {
        server = server.tls_config(tls.server())?;
    }
    server.add_routes(Routes::from(routes)).serve_with_incoming(connections).await
}

/// The routes of each process: whether it answers, and what it has done so far.
pub(in crate::sql::cluster) fn about(metrics: impl Fn() -> String + Clone + Send + Sync + 'static) -> Router {
    let metrics = async move || ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics());
    Router::new().route(METRICS, get(metrics)).route(HEALTH, get(async || "ok\n"))
}

/// Passes on what the scheduler serves, with the address that it comes from, at which others reach an executor.
async fn admit(mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !SERVED.iter().any(|begin| path.starts_with(begin)) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let extensions = request.extensions();
    let plain = || extensions.get::<TcpConnectInfo>()?.remote_addr();
    let secure = || extensions.get::<TlsConnectInfo<TcpConnectInfo>>()?.get_ref().remote_addr();
    match plain().or_else(secure) {
        Some(address) => request.extensions_mut().insert(ConnectInfo(address)),
        None => return StatusCode::BAD_REQUEST.into_response(),
    };
    next.run(request).await
}
