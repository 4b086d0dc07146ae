//! A certificate authority for the duration of a test, which signs Discord's host names.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The host names by which clients reach Discord.
const NAMES: [&str; 6] = [
    "discord.com",
    "gateway.discord.gg",
    "cdn.discordapp.com",
    "media.discordapp.net",
    "localhost",
    "127.0.0.1",
];

/// The authority's certificate for clients, and the server's configuration.
pub(crate) struct Authority {
    pub(crate) pem: String,
    pub(crate) config: Arc<rustls::ServerConfig>,
}

pub(crate) fn authority() -> Authority {
    let key = || KeyPair::generate().expect("a key can be made");
    let mut params = CertificateParams::new(Vec::new()).expect("no names to be wrong");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "loopback Discord");
    let authority = CertifiedIssuer::self_signed(params, key()).expect("an authority can be made");
    let leaf_key = key();
    let leaf = CertificateParams::new(NAMES.map(str::to_owned)).expect("names of hosts");
    let leaf = leaf
        .signed_by(&leaf_key, &authority)
        .expect("it can be signed");
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
    // Chosen explicitly, since the dependency tree may contain two providers.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], private)
        .expect("the key is the certificate's");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Authority {
        pem: authority.pem(),
        config: Arc::new(config),
    }
}
