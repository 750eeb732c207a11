//! Connections between executors, which are kept for the next task that reads rows from the same one.

use crate::poisoned_locks::Unpoisoned;
use ballista_core::client::BallistaClient;
use ballista_core::client_pool::{BallistaClientPool, PooledClient};
use ballista_core::error::Result;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::utils::GrpcClientConfig;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time for which a connection is kept that nobody uses.
const KEEP: Duration = Duration::from_secs(30);

/// The address of an executor, and how to connect.
type Peer = (String, u16, GrpcClientConfig);
/// The connections with each peer that nobody uses, and since when.
type Unused = HashMap<Peer, Vec<(BallistaClient, Instant)>>;

/// Connections that are kept for some time.
#[derive(Clone, Default)]
pub(in crate::sql::cluster) struct Connections {
    unused: Arc<Mutex<Unused>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl Connections {
    /// Those that are not too old.
    fn unused(&self) -> MutexGuard<'_, Unused> {
        let mut unused = self.unused.lock().unpoisoned();
        unused.retain(|_, of_peer| {
            of_peer.retain(|(_, since)| since.elapsed() < KEEP);
            !of_peer.is_empty()
        });
        unused
    }
}

#[async_trait::async_trait]
impl BallistaClientPool for Connections {
    async fn acquire(
        &self,
        host: &str,
        port: u16,
        config: &GrpcClientConfig,
        customize_endpoint: Option<Arc<BallistaConfigGrpcEndpoint>>,
    ) -> Result<PooledClient> {
        let peer = (host.to_owned(), port, config.clone());
        let kept = self.unused().get_mut(&peer).and_then(Vec::pop);
        let client = match kept {
            Some((client, _)) => client,
            None => {
                BallistaClient::try_new(
                    host,
                    port,
                    config.max_message_size,
                    config.use_tls,
                    customize_endpoint,
                    config.io_retries_times,
                    config.io_retry_wait_time_ms,
                    config.initial_connection_window_size,
                    config.initial_stream_window_size,
                )
                .await?
            }
        };
        let connections = self.clone();
        let keep = move |client| connections.unused().entry(peer).or_default().push((client, Instant::now()));
        Ok(PooledClient::new(client, Box::new(keep)))
    }

    async fn evict_idle(&self) {
        drop(self.unused());
    }
}
