//! The address under which others reach this server, when a proxy stands before it.
//!
//! Invariant: it is scheme and host alone, in the spelling that is put into answers.

use std::fmt;
use std::str::FromStr;

use super::client::is_sane_host;

/// `http://host[:port]` or `https://host[:port]` (RFC 6454 calls this an origin), at most
/// 255 bytes of host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// Why a text is no such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlError {
    /// Neither `http://` nor `https://`.
    #[error("it begins with https:// or http://, as https://rooms.example.org")]
    Scheme,
    /// A path, a query, a user, or no host.
    #[error(
        "behind the scheme it takes a host and a port only: rooms are found directly under it, as \
         https://rooms.example.org"
    )]
    Host,
}

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(PublicUrlError::Scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return Err(PublicUrlError::Scheme);
        }
        let host = rest.strip_suffix('/').unwrap_or(rest).to_ascii_lowercase();
        if !is_sane_host(&host) {
            return Err(PublicUrlError::Host);
        }
        Ok(Self(format!("{scheme}://{host}")))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_scheme_and_host_alone() {
        for (given, kept) in [
            ("https://rooms.example.org", "https://rooms.example.org"),
            ("HTTPS://Rooms.Example.org/", "https://rooms.example.org"),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080"),
            ("https://[::1]:9", "https://[::1]:9"),
        ] {
            let url: PublicUrl = given.parse().unwrap();
            assert_eq!(url.to_string(), kept);
        }
        for text in ["rooms.example.org", "ftp://a", "javascript://a", "", "//a"] {
            assert_eq!(text.parse::<PublicUrl>(), Err(PublicUrlError::Scheme));
        }
        for text in [
            "https://",
            "https:///",
            "https://a/rooms",
            "https://a//",
            "https://a?b",
            "https://a#b",
            "https://u@a",
            "https://a b",
            "https://a\r\nx: y",
            "https://a:99999",
        ] {
            let parsed = text.parse::<PublicUrl>();
            assert_eq!(parsed, Err(PublicUrlError::Host), "{text}");
        }
    }
}
