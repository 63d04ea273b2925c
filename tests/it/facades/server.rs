//! What holds for every path, and what hostile clients try.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::here::{Here, JSON, detail};

#[test]
fn unknown_paths_other_methods_and_slashes_are_answered_as_the_peer_does() {
    let here = Here::start();
    for path in ["/api/nope", "/API/rooms", "/api//rooms", "/api/nope/"] {
        let answer = here.get(path);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (404, "Not Found"),
            "{path}"
        );
    }
    for (method, path, allow) in [
        ("PUT", "/api/rooms", "GET,HEAD,POST"),
        ("GET", "/api/rooms/x/verify", "POST"),
        ("OPTIONS", "/api/rooms", "GET,HEAD,POST"),
    ] {
        let answer = here.ask(method, path, &[], "");
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (405, "Method Not Allowed"),
            "{method} {path}"
        );
        let mut methods: Vec<_> = answer.header("allow").unwrap().split(',').collect();
        methods.sort_unstable();
        assert_eq!(methods.join(","), allow);
    }
    for (path, to) in [
        ("/api/rooms/", "/api/rooms"),
        ("/api/rooms/?limit=3", "/api/rooms?limit=3"),
        ("/api/rooms//", "/api/rooms"),
        ("/api/rooms/x/messages/", "/api/rooms/x/messages"),
    ] {
        let answer = here.get(path);
        assert_eq!(answer.status, 307, "{path}");
        let location = format!("http://{}{to}", here.addr());
        assert_eq!(answer.header("location"), Some(location.as_str()));
    }
}

#[test]
fn head_answers_as_get_without_a_body() {
    let here = Here::start();
    let room = here.room();
    for path in [
        "/api/rooms".to_owned(),
        format!("/api/rooms/{room}"),
        "/healthz".to_owned(),
    ] {
        let (get, head) = (here.get(&path), here.ask("HEAD", &path, &[], ""));
        assert_eq!(head.status, 200);
        assert_eq!(head.header("content-length"), get.header("content-length"));
        assert_eq!(head.body.len(), 0);
    }
}

#[test]
fn any_origin_may_read() {
    let here = Here::start();
    let plain = here.get("/api/rooms");
    assert_eq!(plain.header("vary"), Some("Origin"));
    assert_eq!(plain.header("access-control-allow-origin"), None);
    for path in ["/api/rooms", "/api/nope"] {
        let answer = here.ask("GET", path, &[("origin", "http://a")], "");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
    let preflight = here.ask(
        "OPTIONS",
        "/api/rooms",
        &[
            ("origin", "http://a"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ],
        "",
    );
    assert_eq!((preflight.status, preflight.text().as_str()), (200, "OK"));
    assert_eq!(
        preflight.header("access-control-allow-headers"),
        Some("content-type")
    );
    assert_eq!(preflight.header("access-control-max-age"), Some("600"));
}

#[test]
fn who_sends_to_the_end_before_it_reads_is_told_too() {
    let here = Here::start();
    let messages = format!("/api/rooms/{}/messages", here.room());
    let bad_key = ("authorization", "Bearer mb_x");
    let body = vec![b'x'; 6 << 20];
    let mut sending = here.connect();
    for (method, path, header, status) in [
        ("POST", &*messages, JSON, 413),
        ("POST", &*messages, bad_key, 401),
        ("POST", "/api/skills", JSON, 400),
        ("POST", "/api/nowhere", JSON, 404),
        ("PUT", &*messages, JSON, 405),
        ("GET", "/healthz", JSON, 200),
    ] {
        let told = sending.send(method, path, &[header], Some(&body)).unwrap();
        assert_eq!(told.status, status, "{method} {path}");
    }
}

#[test]
fn bodies_and_heads_over_the_limit_are_refused() {
    let here = Here::start();
    let room = here.room();
    let path = format!("/api/rooms/{room}/messages");
    let big = "x".repeat((1 << 20) + 1);
    let answer = here.json("POST", &path, &big);
    let text = "Request body is larger than 1048576 bytes";
    assert_eq!((answer.status, detail(&answer).as_str()), (413, text));
    let mut chunked = here.connect();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    chunked.send_raw(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..17 {
        if chunked.send_raw(chunk.as_bytes()).is_err() {
            break;
        }
    }
    assert_eq!(chunked.read_answer(false).unwrap().status, 413);
    let long = "x".repeat(1 << 20);
    let mut heads = here.connect();
    heads
        .send_raw(format!("GET /healthz HTTP/1.1\r\nx: {long}\r\n\r\n").as_bytes())
        .ok();
    let refused = heads.read_answer(false).unwrap();
    assert_eq!(refused.status, 431);
    assert!(detail(&refused).contains("65536 bytes"));
    let many = "x: y\r\n".repeat(101);
    let mut heads = here.connect();
    heads
        .send_raw(format!("GET /healthz HTTP/1.1\r\n{many}\r\n").as_bytes())
        .unwrap();
    let refused = heads.read_answer(false).unwrap();
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (431, Some("head_too_large"))
    );
    let mut heads = here.connect();
    let target = "x".repeat(65_535);
    heads.send_raw(format!("GET /{target}").as_bytes()).unwrap();
    heads.send_raw(b" HTTP/1.1\r\nhost: a\r\n\r\n").ok();
    let refused = heads.read_answer(false).unwrap();
    assert!([414, 431].contains(&refused.status), "{}", refused.status);
    detail(&refused);
    assert_eq!(here.get("/healthz").status, 200);
}

#[test]
fn a_request_that_does_not_arrive_ends_its_connection() {
    let here = Here::with(|config| config.bounds.request_within = Duration::from_millis(100));
    let mut slow_head = TcpStream::connect(here.addr()).unwrap();
    slow_head
        .write_all(b"GET /healthz HTTP/1.1\r\nx: ")
        .unwrap();
    let mut rest = Vec::new();
    slow_head
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    slow_head.read_to_end(&mut rest).unwrap();
    let mut slow_body = here.connect();
    let head = "POST /api/rooms HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                content-length: 10\r\n\r\n{";
    slow_body.send_raw(head.as_bytes()).unwrap();
    let answer = slow_body.read_answer(false).unwrap();
    assert_eq!(
        (answer.status, answer.json()["code"].as_str()),
        (408, Some("request_timeout"))
    );
}

#[test]
fn requests_may_be_pipelined_and_nonsense_is_not_answered_with_a_panic() {
    let here = Here::start();
    let mut connection = here.connect();
    let one = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    connection.send_raw(one.repeat(3).as_bytes()).unwrap();
    for _ in 0..3 {
        assert_eq!(connection.read_answer(false).unwrap().status, 200);
    }
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /x/%00%ff?%=%&&=& HTTP/1.1\r\nhost: \xff\r\nconnection: close\r\n\r\n",
        b"POST /api/rooms HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /api/rooms HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    ] {
        let mut stream = TcpStream::connect(here.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(nonsense).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 4"), "{nonsense:?}: {answer:?}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            body.starts_with("{\"detail\":\""),
            "{nonsense:?}: {answer:?}"
        );
        assert!(head.contains("content-type: application/json"), "{answer}");
        assert!(
            head.contains(&format!("content-length: {}", body.len())),
            "{answer}"
        );
    }
    assert_eq!(here.get("/healthz").status, 200);
}

#[test]
fn deep_and_odd_json_is_refused_and_nothing_breaks() {
    let here = Here::start();
    let path = format!("/api/rooms/{}/messages", here.room());
    for body in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!(
            "{{\"agent_id\":\"a\",\"text\":\"x\",\"z\":{}1{}}}",
            "[".repeat(65),
            "]".repeat(65)
        ),
        "{\"agent_id\":\"a\",\"text\":\"x\",\"z\":1e999}".to_owned(),
        "{\"agent_id\":\"a\",\"text\":\"x\",\"z\":Infinity}".to_owned(),
        format!("{{\"agent_id\":\"a\",\"text\":{}}}", "9".repeat(100_000)),
    ] {
        let answer = here.json("POST", &path, &body);
        assert_eq!(answer.status, 400);
        detail(&answer);
    }
    let nested = format!(
        "{{\"agent_id\":\"a\",\"text\":\"x\",\"z\":{}1{}}}",
        "[".repeat(63),
        "]".repeat(63)
    );
    assert_eq!(here.json("POST", &path, &nested).status, 201);
    let bom = "\u{feff}{\"agent_id\":\"a\",\"text\":\"x\"}";
    assert_eq!(here.json("POST", &path, bom).status, 201);
}

/// What the description describes.
const PATHS: &[&str] = &[
    "/api/agents/{name}/keys",
    "/api/arbiter/pubkey",
    "/api/events",
    "/api/keys",
    "/api/keys/{id}",
    "/api/log/bundle",
    "/api/log/checkpoint",
    "/api/log/proof/consistency",
    "/api/log/receipt/{seq}",
    "/api/log/tile/{path}",
    "/api/rooms",
    "/api/rooms/{id}",
    "/api/rooms/{id}/claims",
    "/api/rooms/{id}/claims/{cid}",
    "/api/rooms/{id}/claims/{cid}/revisions",
    "/api/rooms/{id}/close",
    "/api/rooms/{id}/context",
    "/api/rooms/{id}/context/refresh",
    "/api/rooms/{id}/handshake",
    "/api/rooms/{id}/handshakes",
    "/api/rooms/{id}/join",
    "/api/rooms/{id}/leave",
    "/api/rooms/{id}/messages",
    "/api/rooms/{id}/messages/{n}",
    "/api/rooms/{id}/rename",
    "/api/rooms/{id}/verify",
    "/api/skills",
    "/api/skills/{id}",
    "/api/skills/{id}/{file}",
    "/docs",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/skills-cdn/{file}",
];

#[test]
fn every_described_operation_is_served_and_every_route_described() {
    let here = Here::start();
    let room = here.room();
    let description = here.get("/openapi.json").json();
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = description["paths"].as_object().unwrap();
    let mut described = 0;
    for (path, item) in paths {
        for method in ["get", "post", "put", "delete", "patch"] {
            let filled = path
                .replace("{id}", &room)
                .replace("{cid}", "x")
                .replace("{n}", "1")
                .replace("{seq}", "1")
                .replace("{name}", "alice")
                .replace("{path}", "0/000.p/1");
            if item.get(method).is_none() {
                // HEAD of a described path never falls through to the fallback either.
                continue;
            }
            described += 1;
            if path == "/api/events" {
                continue;
            }
            let answer = here.ask(&method.to_uppercase(), &filled, &[JSON], "");
            let code = serde_json::from_slice::<serde_json::Value>(&answer.body)
                .ok()
                .and_then(|json| json["code"].as_str().map(str::to_owned));
            let unrouted = ["not_found", "method_not_allowed"];
            assert!(
                !code.as_deref().is_some_and(|code| unrouted.contains(&code)),
                "{method} {path}: {}",
                answer.text()
            );
        }
    }
    // The counters know every route that is registered: as many as are described.
    let metrics = here.get("/metrics").text();
    assert!(metrics.contains("route=\"/api/rooms\",status=\"201\"} 1"));
    let mut found: Vec<_> = paths.keys().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, PATHS);
    assert_eq!(described, 43);
}

#[test]
fn the_documentation_loads_nothing_and_says_so() {
    let here = Here::start();
    let page = here.get("/docs");
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    let text = page.text();
    assert!(!text.contains("<script") && !text.contains("src=") && !text.contains("https://"));
    assert!(text.contains("POST /api/rooms/{id}/messages") && text.contains("id=\"room_full\""));
}

#[test]
fn metrics_have_bounded_labels() {
    let here = Here::start();
    let room = here.room();
    here.post(&room, "alice-the-agent", "a secret text");
    here.get(&format!("/api/rooms/{room}"));
    let answer = here.get("/metrics");
    let text = answer.text();
    for name in [
        "minutebook_http_requests_total",
        "minutebook_http_seconds_bucket",
        "minutebook_commit_commands_bucket",
        "minutebook_commit_seconds_count",
        "minutebook_append_seconds_sum",
        "minutebook_queue_seconds_bucket",
        "minutebook_followers",
        "minutebook_projection_seq{projection=\"rooms\"} 3",
        "minutebook_projection_seq{projection=\"history\"} 3",
        "minutebook_head_age_seconds",
        "minutebook_store_disk_bytes",
        "minutebook_store_commit_seconds_bucket",
        "minutebook_store_head_wait_seconds_bucket",
        "minutebook_store_compactions_total",
        "minutebook_store_compaction_seconds_total",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(name)),
            "{name}\n{text}"
        );
    }
    assert!(
        !text.contains("minutebook_fsync_seconds"),
        "nothing times the sync alone"
    );
    for private in [
        room.as_str(),
        "alice-the-agent",
        "a secret text",
        "127.0.0.1",
    ] {
        assert!(!text.contains(private), "{private}");
    }
}

#[test]
fn health_and_readiness_differ_when_the_server_stops() {
    let here = Here::start();
    assert_eq!(here.get("/healthz").status, 200);
    assert_eq!(here.get("/readyz").json()["ready"].as_bool(), Some(true));
    let mut kept = here.connect();
    assert_eq!(kept.send("GET", "/readyz", &[], None).unwrap().status, 200);
    here.engine().stop();
    let mut health = here.engine().health();
    while *health.borrow_and_update() == minutebook::engine::Health::Running {
        std::thread::yield_now();
    }
    let answer = kept.send("GET", "/readyz", &[], None).unwrap();
    assert_eq!(answer.status, 503);
    assert!(answer.header("retry-after").is_some());
    // What comes before the writer learns of it is still done.
    let refused = loop {
        let answer = here.json("POST", "/api/rooms", "{}");
        if answer.status != 201 {
            break answer;
        }
    };
    assert_eq!(
        (refused.status, refused.header("retry-after")),
        (503, Some("1"))
    );
}
