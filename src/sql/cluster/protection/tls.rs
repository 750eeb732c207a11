//! Mutual TLS: everybody who connects to a port of the cluster, and everybody who listens there, proves with a
//! certificate that they belong to it.
//!
//! Certificates are signed by one authority, which signs for this cluster only, and all have the name [`NAME`]: they
//! prove that a process belongs to the cluster, not which machine it runs on, so that addresses may change.

use crate::sql::SqlError;
use ballista_core::extension::EndpointOverrideFn;
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

/// The name in all certificates.
pub const NAME: &str = "lanefish";
/// Maximum time for a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The certificate and key of a process, and the authority that signed those of the others.
///
/// ```no_run
/// use lanefish::sql::cluster::{Cluster, Tls};
///
/// let tls = Tls::read("node.crt", "node.key", "ca.crt")?;
/// let cluster = Cluster::connect("10.0.0.1:50050", Some(&tls))?;
/// # Ok::<(), lanefish::sql::SqlError>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    identity: Identity,
    authority: Certificate,
}

// The key is in no message.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a certificate, its key, and the certificate of the authority, each a file in PEM format.
    ///
    /// # Errors
    /// If a file cannot be read, has something else, or the key does not belong to the certificate.
    pub fn read(
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
        authority: impl AsRef<Path>,
    ) -> Result<Self, SqlError> {
        let read = |path: &Path| {
            let failed = |error| SqlError::Cluster(format!("cannot read {}: {error}", path.display()));
            std::fs::read(path).map_err(failed)
        };
        let (certificate, key, authority) = (certificate.as_ref(), key.as_ref(), authority.as_ref());
        let tls = Self {
            identity: Identity::from_pem(read(certificate)?, read(key)?),
            authority: Certificate::from_pem(read(authority)?),
        };
        // Both roles are tried now, so that a wrong file is not taken for a cluster that does not answer.
        let server = Server::builder().tls_config(tls.server()).map(drop);
        let client = Endpoint::from_static("https://localhost").tls_config(tls.client()).map(drop);
        server.and(client).map_err(|error| {
            let names = [certificate, key, authority].map(|path| path.display().to_string());
            let reason = with_causes(&error);
            SqlError::Cluster(format!(
                "{} are not a certificate, its key, and an authority: {reason}",
                names.join(", ")
            ))
        })?;
        Ok(tls)
    }

    /// For a process that listens.
    pub(in crate::sql::cluster) fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(self.identity.clone()).client_ca_root(self.authority.clone()).timeout(HANDSHAKE)
    }

    /// For a process that connects.
    fn client(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new().identity(self.identity.clone()).ca_certificate(self.authority.clone());
        config.domain_name(NAME)
    }
}

/// The scheme of addresses.
pub(in crate::sql::cluster) fn scheme(tls: Option<&Tls>) -> &'static str {
    match tls {
        Some(_) => "https",
        None => "http",
    }
}

/// What makes a connection of the engine one with TLS.
pub(in crate::sql::cluster) fn endpoint(tls: &Tls) -> EndpointOverrideFn {
    let tls = tls.clone();
    Arc::new(move |mut endpoint: Endpoint| {
        // An executor calls its scheduler with this scheme whatever the configuration is.
        let address = endpoint.uri().to_string();
        if let Some(rest) = address.strip_prefix("http://") {
            endpoint = create_grpc_client_endpoint(format!("https://{rest}"), Some(&GrpcClientConfig::default()))?;
        }
        Ok(endpoint.tls_config(tls.client())?)
    })
}

/// An error with its causes, without those that repeat it.
pub(in crate::sql::cluster) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
