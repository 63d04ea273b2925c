//! Who is calling, and what they may do.
//!
//! Invariants
//! * A key that is sent is always judged: a bad one never falls back to "nobody in particular".
//! * The server keeps no secret: a key is found by its BLAKE3.
//! * Without a key, only a caller on this machine may use what needs a scope, and only when keys
//!   are not required. See [`Client::local`] for what "on this machine" takes.
//! * Nothing here depends on a room, so no answer from here can tell whether one exists.

use axum::http::{HeaderMap, header};
use minutebook_domain::actor::Actor;
use minutebook_domain::keys::{ApiKey, KeysState, Scope};
use minutebook_domain::text::AgentName;

use crate::error::{ApiError, ErrorCode};
use crate::http::client::Client;

/// What every secret begins with.
pub const SECRET_PREFIX: &str = "mb_";
/// Hex digits after the prefix.
const SECRET_DIGITS: usize = 64;

/// Where keys are looked up.
pub trait Keyring {
    /// The key whose secret has this BLAKE3, as 64 lower-case hex digits.
    fn by_hash(&self, hash: &str) -> Option<&ApiKey>;
}

impl Keyring for KeysState {
    fn by_hash(&self, hash: &str) -> Option<&ApiKey> {
        self.api_key_by_hash(hash)
    }
}

/// A caller whose credentials, if any, are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Nobody in particular, on this machine: the person who runs the server, as far as we know.
    Local,
    /// Nobody in particular, from elsewhere.
    Anonymous,
    /// The holder of a key.
    Key(ApiKey),
}

impl Caller {
    /// Judges a request's credentials.
    pub fn of(
        headers: &HeaderMap,
        client: Client,
        keys: &dyn Keyring,
        require_key: bool,
    ) -> Result<Self, ApiError> {
        if !headers.contains_key(header::AUTHORIZATION) {
            if require_key {
                let detail = "an API key is required: send Authorization: Bearer mb_…";
                return Err(ApiError::new(ErrorCode::KeyRequired, detail));
            }
            return Ok(if client.local {
                Self::Local
            } else {
                Self::Anonymous
            });
        }
        let unknown = || ApiError::new(ErrorCode::KeyUnknown, "this API key is not known");
        let secret = bearer(headers).ok_or_else(unknown)?;
        let hash = blake3::hash(secret.as_bytes()).to_hex();
        let key = keys.by_hash(&hash).ok_or_else(unknown)?;
        if key.revoked {
            return Err(ApiError::new(
                ErrorCode::KeyRevoked,
                "this API key was revoked",
            ));
        }
        Ok(Self::Key(key.clone()))
    }

    /// Whether the caller may use what needs this scope: a key with it or the owner's, or a caller
    /// on this machine. Anybody whom the server lets in may act as an agent.
    pub fn needs(&self, scope: Scope) -> Result<(), ApiError> {
        match (self, scope) {
            (Self::Local, _) | (Self::Anonymous, Scope::Agent) => Ok(()),
            (Self::Anonymous, Scope::Auditor | Scope::Operator | Scope::Owner) => {
                let detail = format!(
                    "this needs an API key with the scope {scope}, or the server's own machine"
                );
                Err(ApiError::new(ErrorCode::LocalOnly, detail))
            }
            (Self::Key(key), _) => {
                if key.allows(scope) {
                    return Ok(());
                }
                let detail = format!("this API key lacks the scope {scope}");
                Err(ApiError::new(ErrorCode::KeyLacksScope, detail))
            }
        }
    }

    /// The envelope's actor for something done under an agent's name.
    pub fn acting_as(&self, agent: &AgentName) -> Result<Actor, ApiError> {
        match self {
            Self::Local | Self::Anonymous => Ok(Actor::Agent(agent.clone())),
            Self::Key(ApiKey {
                agent: Some(bound), ..
            }) if bound != agent => Err(ApiError::new(
                ErrorCode::KeyBoundToAgent,
                format!("this API key may speak as {} only", bound.as_str()),
            )),
            Self::Key(key) => Ok(Actor::Key(key.id.clone())),
        }
    }

    /// The envelope's actor for something done under no agent's name. Needs a scope first.
    pub fn managing(&self) -> Actor {
        match self {
            Self::Local | Self::Anonymous => Actor::Owner,
            Self::Key(key) => Actor::Key(key.id.clone()),
        }
    }
}

/// The scope with this name.
pub fn parse_scope(name: &str) -> Option<Scope> {
    let all = [Scope::Agent, Scope::Auditor, Scope::Operator, Scope::Owner];
    all.into_iter().find(|scope| scope.to_string() == name)
}

/// A fresh secret and its hash. The secret is shown once; only the hash is kept.
pub fn new_secret() -> (String, String) {
    let secret = format!("{SECRET_PREFIX}{}", hex::encode(rand::random::<[u8; 32]>()));
    let hash = blake3::hash(secret.as_bytes()).to_hex().to_string();
    (secret, hash)
}

/// A fresh key id: `k_` and 16 hex digits.
pub fn new_key_id() -> String {
    format!("k_{}", hex::encode(rand::random::<[u8; 8]>()))
}

/// The one well-formed bearer secret of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, secret) = value.split_once(' ')?;
    let secret = secret.trim();
    let digits = secret.strip_prefix(SECRET_PREFIX)?;
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let good = digits.len() == SECRET_DIGITS && digits.bytes().all(is_hex);
    (scheme.eq_ignore_ascii_case("bearer") && good).then_some(secret)
}

#[cfg(test)]
mod tests {
    use minutebook_domain::ids::KeyId;

    use super::*;

    struct Ring(Vec<(String, ApiKey)>);

    impl Keyring for Ring {
        fn by_hash(&self, hash: &str) -> Option<&ApiKey> {
            self.0
                .iter()
                .find(|(known, _)| known == hash)
                .map(|(_, key)| key)
        }
    }

    fn key(scopes: &[Scope], agent: Option<&str>, revoked: bool) -> (Ring, String) {
        let (secret, hash) = new_secret();
        let info = ApiKey {
            id: KeyId::parse("k_0123456789abcdef").unwrap(),
            label: "test".to_owned(),
            agent: agent.map(|name| AgentName::parse(name).unwrap()),
            scopes: scopes.to_vec(),
            revoked,
        };
        (Ring(vec![(hash, info)]), secret)
    }

    fn caller(ring: &Ring, sent: &[&str], local: bool, require: bool) -> Result<Caller, u16> {
        let mut headers = HeaderMap::new();
        for value in sent {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        let client = Client {
            addr: [127, 0, 0, 1].into(),
            local,
        };
        Caller::of(&headers, client, ring, require).map_err(|error| error.code.status())
    }

    #[test]
    fn a_key_that_is_sent_is_judged() {
        let (ring, secret) = key(&[Scope::Agent], None, false);
        let good = format!("Bearer {secret}");
        assert!(matches!(
            caller(&ring, &[&good], true, false),
            Ok(Caller::Key(_))
        ));
        let lower = format!("bearer {secret}");
        assert!(matches!(
            caller(&ring, &[&lower], false, true),
            Ok(Caller::Key(_))
        ));
        let other = format!("Bearer {}", new_secret().0);
        let upper = format!("Bearer {}", secret.to_uppercase());
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            "Basic YTpi",
            "Bearer mb_x",
            &other,
            &upper,
            &secret,
        ] {
            assert_eq!(caller(&ring, &[bad], true, false), Err(401), "{bad}");
        }
        assert_eq!(caller(&ring, &[&good, &good], true, false), Err(401));
        let (ring, secret) = key(&[Scope::Owner], None, true);
        assert_eq!(
            caller(&ring, &[&format!("Bearer {secret}")], true, false),
            Err(403)
        );
    }

    #[test]
    fn without_a_key_the_machine_itself_is_trusted_unless_keys_are_required() {
        let ring = Ring(Vec::new());
        assert_eq!(caller(&ring, &[], true, false), Ok(Caller::Local));
        assert_eq!(caller(&ring, &[], false, false), Ok(Caller::Anonymous));
        assert_eq!(caller(&ring, &[], true, true), Err(401));
        let status = |caller: Caller, scope| caller.needs(scope).map_err(|e| e.code.status());
        assert_eq!(status(Caller::Local, Scope::Operator), Ok(()));
        assert_eq!(status(Caller::Anonymous, Scope::Agent), Ok(()));
        assert_eq!(status(Caller::Anonymous, Scope::Auditor), Err(403));
    }

    #[test]
    fn a_scope_is_held_or_the_owners() {
        let needs = |held: &[Scope], scope| {
            let (ring, secret) = key(held, None, false);
            caller(&ring, &[&format!("Bearer {secret}")], false, true)
                .unwrap()
                .needs(scope)
                .is_ok()
        };
        assert!(needs(&[Scope::Auditor], Scope::Auditor));
        assert!(needs(&[Scope::Owner], Scope::Operator));
        assert!(!needs(&[Scope::Agent], Scope::Auditor));
        assert!(!needs(&[Scope::Auditor], Scope::Agent));
    }

    #[test]
    fn a_bound_key_speaks_as_its_agent_only() {
        let (ring, secret) = key(&[Scope::Agent], Some("alice"), false);
        let caller = caller(&ring, &[&format!("Bearer {secret}")], false, true).unwrap();
        let name = |name| AgentName::parse(name).unwrap();
        assert!(matches!(
            caller.acting_as(&name("alice")),
            Ok(Actor::Key(_))
        ));
        let refused = caller.acting_as(&name("bob")).unwrap_err();
        assert_eq!(refused.code, ErrorCode::KeyBoundToAgent);
        let open = Caller::Anonymous.acting_as(&name("bob"));
        assert_eq!(open.unwrap(), Actor::Agent(name("bob")));
    }

    #[test]
    fn scopes_read_back_as_written() {
        for scope in [Scope::Agent, Scope::Auditor, Scope::Operator, Scope::Owner] {
            assert_eq!(parse_scope(&scope.to_string()), Some(scope));
        }
        assert_eq!(parse_scope("Agent"), None);
    }
}
