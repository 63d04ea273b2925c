//! Who is at the other end of a connection, and by what name they reached us.
//!
//! Invariants
//! * A forwarded address counts only when the connection comes from a trusted proxy, and then it
//!   is the rightmost one that is not itself a trusted proxy: what lies further left is hearsay.
//! * "On this machine" is never concluded from a header. A connection from loopback that carries
//!   any sign of a proxy or of a web page elsewhere is not the owner at the keyboard, and neither
//!   is one that does not say clearly whom it asks.

use std::net::{IpAddr, SocketAddr};

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Version, header};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Headers by which a proxy gives itself away, beside all that begin with [`FORWARDED_PREFIX`].
const RELAYED: [HeaderName; 9] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("cf-connecting-ip"),
    HeaderName::from_static("client-ip"),
    HeaderName::from_static("true-client-ip"),
    HeaderName::from_static("x-client-ip"),
    HeaderName::from_static("x-cluster-client-ip"),
    HeaderName::from_static("x-original-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
];
const FORWARDED_PREFIX: &str = "x-forwarded";
/// Longest `Host` that is understood.
const HOST_BYTES_MAX: usize = 255;

/// A caller's place in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its address, the one limits count by.
    pub addr: IpAddr,
    /// Whether it is a person or program on this machine that reached us directly.
    pub local: bool,
}

impl Client {
    /// Judges a request.
    pub fn of(peer: SocketAddr, request: &Parts, trusted: &[IpNet]) -> Self {
        let peer = peer.ip().to_canonical();
        let is_trusted = |addr: &IpAddr| trusted.iter().any(|net| net.contains(addr));
        let addr = if is_trusted(&peer) {
            forwarded(peer, &request.headers, is_trusted)
        } else {
            peer
        };
        let local = peer.is_loopback() && !relayed(request) && asks_this_machine(request);
        Self { addr, local }
    }
}

/// Whether a proxy passed the request on. Nothing that runs on this machine for its owner speaks
/// HTTP/1.0 any more, and proxies that say nothing else of themselves do.
fn relayed(request: &Parts) -> bool {
    let is_mark = |name: &HeaderName| {
        name.as_str().starts_with(FORWARDED_PREFIX) || RELAYED.iter().any(|mark| mark == name)
    };
    request.version < Version::HTTP_11 || request.headers.keys().any(is_mark)
}

/// Whether the request names this machine, and no web page of another origin, or one that rebound
/// a foreign name to loopback, is behind it. What is missing, doubled or malformed does not.
fn asks_this_machine(request: &Parts) -> bool {
    let Some(host) = host(request).filter(|host| is_loopback(host)) else {
        return false;
    };
    let headers = &request.headers;
    let same_origin = match one(headers, &header::ORIGIN) {
        One::None => true,
        One::Some(origin) => origin.strip_prefix("http://") == Some(host),
        One::Unclear => false,
    };
    let same_site = match one(headers, &FETCH_SITE) {
        One::None => true,
        One::Some(site) => matches!(site, "none" | "same-origin"),
        One::Unclear => false,
    };
    same_origin && same_site
}

/// The value of a header that comes once.
enum One<'a> {
    None,
    Some(&'a str),
    /// It comes twice, or is no text.
    Unclear,
}

fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> One<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => One::None,
        (Some(value), None) => value.to_str().map_or(One::Unclear, One::Some),
        (Some(_), Some(_)) => One::Unclear,
    }
}

/// The name the request reached us by: its one sane `Host`, which the target's authority, if it
/// has one, must repeat.
fn host(request: &Parts) -> Option<&str> {
    let One::Some(host) = one(&request.headers, &header::HOST) else {
        return None;
    };
    let authority = request.uri.authority().map(Authority::as_str);
    let agree = authority.is_none_or(|authority| authority == host);
    (agree && is_sane_host(host)).then_some(host)
}

/// Whether a sane host is this machine's own: `localhost` or an address of loopback.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|addr| addr.to_canonical().is_loopback())
}

fn forwarded(peer: IpAddr, headers: &HeaderMap, is_trusted: impl Fn(&IpAddr) -> bool) -> IpAddr {
    let mut nearest = peer;
    for value in headers.get_all(FORWARDED_FOR).iter().rev() {
        for hop in value.to_str().unwrap_or_default().rsplit(',') {
            // An entry that is no address ends the walk: nothing left of it can be believed.
            let Some(addr) = parse_hop(hop.trim()) else {
                return nearest;
            };
            nearest = addr;
            if !is_trusted(&addr) {
                return nearest;
            }
        }
    }
    nearest
}

fn parse_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(hop);
    let addr = bare
        .parse()
        .or_else(|_| hop.parse::<SocketAddr>().map(|addr| addr.ip()));
    addr.ok().map(|addr| addr.to_canonical())
}

/// The part of an address that limits count by: all of IPv4, the first half of IPv6, because a
/// single customer is given that many.
pub fn limit_key(addr: IpAddr) -> [u8; 8] {
    let mut key = [0; 8];
    match addr.to_canonical() {
        IpAddr::V4(v4) => key
            .iter_mut()
            .zip(v4.octets())
            .for_each(|(to, from)| *to = from),
        IpAddr::V6(v6) => key
            .iter_mut()
            .zip(v6.octets())
            .for_each(|(to, from)| *to = from),
    }
    key
}

/// `http://host[:port]` for addresses in answers: the request's `Host` when it is one, else the
/// address we listen on.
pub fn base_url(request: &Parts, bound: SocketAddr) -> String {
    match host(request) {
        Some(host) => format!("http://{host}"),
        None => format!("http://{bound}"),
    }
}

/// `name`, `1.2.3.4` or `[v6]`, with or without a port.
pub(super) fn is_sane_host(host: &str) -> bool {
    if host.len() > HOST_BYTES_MAX {
        return false;
    }
    if let Some(rest) = host.strip_prefix('[') {
        let Some((literal, tail)) = rest.split_once(']') else {
            return false;
        };
        let port = tail.strip_prefix(':');
        return literal.parse::<std::net::Ipv6Addr>().is_ok()
            && (tail.is_empty() || port.is_some_and(is_port));
    }
    let (name, port) = host
        .split_once(':')
        .map_or((host, None), |(name, port)| (name, Some(port)));
    let good_label = |label: &str| {
        let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(inner) && !label.starts_with('-')
    };
    name.split('.').all(good_label) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
