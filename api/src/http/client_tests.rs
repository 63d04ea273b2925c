//! Who counts as local, whose address counts, and what name is believed.

use super::*;

fn request(target: &str, pairs: &[(&'static str, &'static str)]) -> Parts {
    let mut request = axum::http::Request::get(target);
    for (name, value) in pairs {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn addr(peer: &str, trusted: &[&str], pairs: &[(&'static str, &'static str)]) -> String {
    let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
    Client::of(peer.parse().unwrap(), &request("/", pairs), &trusted)
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

const HOST: (&str, &str) = ("host", "localhost:1");

fn is_local(peer: &str, request: &Parts) -> bool {
    Client::of(peer.parse().unwrap(), request, &[]).local
}

#[test]
fn only_a_direct_caller_on_this_machine_is_local() {
    let local = |peer: &str, pairs: &[_]| is_local(peer, &request("/", pairs));
    let page = [HOST, ("origin", "http://localhost:1")];
    assert!(local("127.0.0.1:5", &page));
    let typed = [HOST, ("sec-fetch-site", "none")];
    assert!(local("[::ffff:127.0.0.1]:5", &typed));
    assert!(!local("192.168.0.9:5", &[HOST]));
    for sign in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-host", "localhost"),
        ("x-forwarded-proto", "http"),
        ("forwarded", "for=127.0.0.1"),
        ("x-real-ip", "127.0.0.1"),
        ("cf-connecting-ip", "127.0.0.1"),
        ("true-client-ip", ""),
        ("via", "1.1 proxy"),
        ("origin", "http://evil.example"),
        ("origin", "https://localhost:1"),
        ("origin", "http://localhost:1/"),
        ("origin", "http://localhost"),
        ("origin", "null"),
        ("origin", ""),
        ("origin", "é"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "none, none"),
        ("host", "localhost:1"),
    ] {
        assert!(!local("127.0.0.1:5", &[HOST, sign]), "{sign:?}");
    }
    for name in ["origin", "sec-fetch-site"] {
        let value = if name == "origin" {
            "http://localhost:1"
        } else {
            "none"
        };
        let twice = [HOST, (name, value), (name, value)];
        assert!(!local("127.0.0.1:5", &twice), "{name} twice");
    }
    let mut old = request("/", &[HOST]);
    old.version = Version::HTTP_10;
    assert!(!is_local("127.0.0.1:5", &old));
}

#[test]
fn a_host_that_is_not_clearly_loopback_is_not_local() {
    let local = |host| is_local("127.0.0.1:5", &request("/", &[("host", host)]));
    for host in [
        "127.0.0.1",
        "127.0.0.1:8787",
        "127.1.2.3:1",
        "[::1]",
        "[::1]:8787",
        "[::ffff:127.0.0.1]:1",
        "LOCALHOST",
    ] {
        assert!(local(host), "{host}");
    }
    for host in [
        "",
        " ",
        ":",
        ":80",
        "[",
        "[]",
        "[::1",
        "[::1]x",
        "[::1]:",
        "[::1]:x",
        "[::1%lo]",
        "[::2]",
        "[127.0.0.1]",
        "::1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:99999",
        "127.0.0.1:1:2",
        "127.0.0.1.",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "0.0.0.0",
        "128.0.0.1",
        "127.0.0.1.evil.example",
        "localhost.",
        "localhost.evil.example",
        "localhost:",
        "localhost/",
        "localhost:1/x",
        "localhost, localhost",
        "localhost localhost",
        "localhost@evil.example",
        "evil.example@localhost",
        "evil.example#localhost",
        "http://localhost",
        "rebound.example:8787",
        "localhost\u{e9}",
    ] {
        assert!(!local(host), "{host:?}");
    }
    assert!(!is_local("127.0.0.1:5", &request("/", &[])), "no host");
}

#[test]
fn a_target_with_an_authority_must_name_the_same_machine() {
    let local = |target| is_local("127.0.0.1:5", &request(target, &[HOST]));
    assert!(local("http://localhost:1/healthz"));
    for target in [
        "http://evil.example/healthz",
        "http://localhost/healthz",
        "http://127.0.0.1:1/",
        "http://a@localhost:1/",
        "evil.example:1",
    ] {
        assert!(!local(target), "{target}");
    }
    let bare = request("http://localhost:1/", &[]);
    assert!(!is_local("127.0.0.1:5", &bare), "no host");
}

#[test]
fn addresses_in_answers_come_from_a_sane_host_only() {
    let bound = "127.0.0.1:8787".parse().unwrap();
    let url = |host: &'static str| base_url(&request("/", &[("host", host)]), bound);
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
    assert_eq!(base_url(&request("/", &[]), bound), "http://127.0.0.1:8787");
    let two = [("host", "example.org"), ("host", "other.example")];
    assert_eq!(
        base_url(&request("/", &two), bound),
        "http://127.0.0.1:8787"
    );
}

#[test]
fn one_ipv6_customer_is_one_address() {
    let key = |text: &str| limit_key(text.parse().unwrap());
    assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
    assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
    assert_eq!(key("::ffff:1.2.3.4"), key("1.2.3.4"));
}
