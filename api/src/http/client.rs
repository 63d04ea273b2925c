//! Who is at the other end of a connection, and by what name they reached us.
//!
//! Invariants
//! * A forwarded address counts only when the connection comes from a trusted proxy, and then it
//!   is the rightmost one that is not itself a trusted proxy: what lies further left is hearsay.
//! * "On this machine" is never concluded from a header. A connection from loopback that carries
//!   any sign of a proxy or of a web page elsewhere is not the owner at the keyboard.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED: HeaderName = header::FORWARDED;
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Longest `Host` that is echoed in answers.
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
    pub fn of(peer: SocketAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let peer = peer.ip().to_canonical();
        let is_trusted = |addr: &IpAddr| trusted.iter().any(|net| net.contains(addr));
        let addr = if is_trusted(&peer) {
            forwarded(peer, headers, is_trusted)
        } else {
            peer
        };
        let relayed = [FORWARDED_FOR, FORWARDED, REAL_IP, header::VIA]
            .iter()
            .any(|name| headers.contains_key(name));
        let local = peer.is_loopback() && !relayed && !from_elsewhere(headers);
        Self { addr, local }
    }
}

/// Whether a web page of another origin, or one that rebound a foreign name to loopback, asks.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host_is_local = host.is_none_or(is_local_host);
    let origin_is_host = headers.get(header::ORIGIN).is_none_or(|origin| {
        let origin = origin.to_str().ok().and_then(|text| text.split_once("://"));
        origin.is_some_and(|(_, authority)| Some(authority) == host)
    });
    let site = headers.get(FETCH_SITE).and_then(|site| site.to_str().ok());
    let same_site = matches!(site, None | Some("none" | "same-origin"));
    !(host_is_local && origin_is_host && same_site)
}

fn is_local_host(host: &str) -> bool {
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
pub fn base_url(headers: &HeaderMap, bound: SocketAddr) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    match host.filter(|host| is_sane_host(host)) {
        Some(host) => format!("http://{host}"),
        None => format!("http://{bound}"),
    }
}

/// `name`, `1.2.3.4` or `[v6]`, with or without a port.
fn is_sane_host(host: &str) -> bool {
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
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn addr(peer: &str, trusted: &[&str], pairs: &[(&'static str, &'static str)]) -> String {
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        Client::of(peer.parse().unwrap(), &headers(pairs), &trusted)
            .addr
            .to_string()
    }

    #[test]
    fn a_forwarded_address_counts_only_from_a_trusted_proxy() {
        let forged = [("x-forwarded-for", "9.9.9.9")];
        assert_eq!(addr("1.2.3.4:5", &[], &forged), "1.2.3.4");
        assert_eq!(addr("127.0.0.1:5", &["10.0.0.0/8"], &forged), "127.0.0.1");
        assert_eq!(addr("10.0.0.1:5", &["10.0.0.0/8"], &forged), "9.9.9.9");
    }

    #[test]
    fn the_rightmost_untrusted_hop_is_the_client() {
        let net = &["10.0.0.0/8"][..];
        let hops = |value: &'static str| addr("10.0.0.1:5", net, &[("x-forwarded-for", value)]);
        assert_eq!(hops("6.6.6.6, 7.7.7.7, 10.0.0.9"), "7.7.7.7");
        assert_eq!(hops("10.1.1.1"), "10.1.1.1");
        assert_eq!(hops("6.6.6.6, nonsense"), "10.0.0.1");
        assert_eq!(hops("6.6.6.6, nonsense, 10.0.0.2"), "10.0.0.2");
        assert_eq!(hops("[2001:db8::1]:443"), "2001:db8::1");
        assert_eq!(hops("::ffff:7.7.7.7"), "7.7.7.7");
        assert_eq!(hops(""), "10.0.0.1");
        let two = [
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-for", "7.7.7.7"),
        ];
        assert_eq!(addr("[::ffff:10.0.0.1]:5", net, &two), "7.7.7.7");
    }

    #[test]
    fn only_a_direct_caller_on_this_machine_is_local() {
        let local = |peer: &str, pairs: &[(&'static str, &'static str)]| {
            Client::of(peer.parse().unwrap(), &headers(pairs), &[]).local
        };
        assert!(local("127.0.0.1:5", &[("host", "127.0.0.1:8787")]));
        assert!(local("[::1]:5", &[("host", "[::1]:8787")]));
        assert!(local("[::ffff:127.0.0.1]:5", &[("host", "LOCALHOST")]));
        let page = [("host", "localhost:1"), ("origin", "http://localhost:1")];
        assert!(local("127.0.0.1:5", &page));
        assert!(!local("192.168.0.9:5", &[]));
        for pairs in [
            [("x-forwarded-for", "127.0.0.1")],
            [("forwarded", "for=127.0.0.1")],
            [("x-real-ip", "127.0.0.1")],
            [("via", "1.1 proxy")],
            [("origin", "http://evil.example")],
            [("origin", "null")],
            [("sec-fetch-site", "cross-site")],
            [("host", "rebound.example:8787")],
            [("host", "127.0.0.1.evil.example")],
        ] {
            assert!(!local("127.0.0.1:5", &pairs), "{pairs:?}");
        }
    }

    #[test]
    fn addresses_in_answers_come_from_a_sane_host_only() {
        let bound = "127.0.0.1:8787".parse().unwrap();
        let url = |host: &'static str| base_url(&headers(&[("host", host)]), bound);
        for host in [
            "example.org",
            "example.org:80",
            "[::1]:9",
            "10.0.0.1:1",
            "a_b-c.d",
        ] {
            assert_eq!(url(host), format!("http://{host}"));
        }
        let bad = [
            "a/b", "a b", "a\"b", "user@a", "a:b", "a:99999", "[::1", "[x]:1", "", "-a", "a..b",
        ];
        for host in bad {
            assert_eq!(url(host), "http://127.0.0.1:8787", "{host:?}");
        }
        assert_eq!(base_url(&HeaderMap::new(), bound), "http://127.0.0.1:8787");
    }

    #[test]
    fn one_ipv6_customer_is_one_address() {
        let key = |text: &str| limit_key(text.parse().unwrap());
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:1.2.3.4"), key("1.2.3.4"));
    }
}
