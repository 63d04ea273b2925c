//! API keys, scopes and agents' keys.

use super::here::{Here, JSON, detail};

/// Issues a key on this machine and returns its id and secret.
fn issue(here: &Here, body: &str) -> (String, String) {
    let answer = here.json("POST", "/api/keys", body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let json = answer.json();
    let text = |field: &str| json[field].as_str().unwrap().to_owned();
    (text("key"), text("secret"))
}

fn status(here: &Here, method: &str, path: &str, key: Option<&str>, body: &str) -> (u16, String) {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let mut headers = vec![JSON];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    let answer = here.ask(method, path, &headers, body);
    (
        answer.status,
        answer.json()["code"].as_str().unwrap_or("").to_owned(),
    )
}

const MESSAGE: &str = r#"{"agent_id":"alice","text":"hi"}"#;

#[test]
fn a_key_opens_what_its_scopes_say_and_a_bad_one_nothing() {
    let here = Here::start();
    let room = here.room();
    let messages = format!("/api/rooms/{room}/messages");
    let (id, agent) = issue(&here, r#"{"label":"a","scopes":["agent"]}"#);
    let (_, auditor) = issue(&here, r#"{"label":"b","scopes":["auditor"]}"#);
    let ask = |method, path, key: &str, body| status(&here, method, path, Some(key), body);
    assert_eq!(ask("POST", &messages, &agent, MESSAGE).0, 201);
    assert_eq!(
        ask("POST", &messages, &auditor, MESSAGE),
        (403, "key_lacks_scope".to_owned())
    );
    assert_eq!(ask("GET", &messages, &auditor, "").0, 200);
    assert_eq!(
        ask("GET", "/api/keys", &auditor, ""),
        (403, "key_lacks_scope".to_owned())
    );
    let other = format!("mb_{}", "0".repeat(64));
    for bad in [other.as_str(), "mb_x", "x"] {
        assert_eq!(
            ask("GET", &messages, bad, ""),
            (401, "key_unknown".to_owned()),
            "{bad}"
        );
    }
    let revoked = here.json("DELETE", &format!("/api/keys/{id}"), r#"{"reason":"lost"}"#);
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    assert_eq!(
        ask("POST", &messages, &agent, MESSAGE),
        (403, "key_revoked".to_owned())
    );
    assert_eq!(
        ask("GET", &messages, &agent, ""),
        (403, "key_revoked".to_owned())
    );
    let listed = here.get("/api/keys").json();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains("mb_"), "secrets are not kept");
}

#[test]
fn a_bound_key_speaks_as_its_agent_and_grants_no_more_than_it_has() {
    let here = Here::start();
    let room = here.room();
    let messages = format!("/api/rooms/{room}/messages");
    let (_, bound) = issue(&here, r#"{"label":"a","scopes":["agent"],"agent":"alice"}"#);
    let ask = |key: &str, path: &str, body: &str| status(&here, "POST", path, Some(key), body);
    assert_eq!(ask(&bound, &messages, MESSAGE).0, 201);
    let other = r#"{"agent_id":"bob","text":"hi"}"#;
    assert_eq!(
        ask(&bound, &messages, other),
        (403, "key_bound_to_agent".to_owned())
    );
    let (_, operator) = issue(&here, r#"{"label":"o","scopes":["operator"]}"#);
    let grant = |scope: &str| {
        ask(
            &operator,
            "/api/keys",
            &format!(r#"{{"label":"x","scopes":["{scope}"]}}"#),
        )
        .0
    };
    assert_eq!(grant("operator"), 201);
    assert_eq!(grant("owner"), 403);
    assert_eq!(grant("auditor"), 403);
    assert_eq!(grant("root"), 400);
    let bound_operator = r#"{"label":"b","scopes":["agent","operator"],"agent":"alice"}"#;
    let (_, bound) = issue(&here, bound_operator);
    let issue_for = |agent: &str| {
        let body = format!(r#"{{"label":"x","scopes":["agent"],"agent":{agent}}}"#);
        ask(&bound, "/api/keys", &body)
    };
    assert_eq!(issue_for(r#""alice""#).0, 201);
    for other in ["null", r#""bob""#] {
        assert_eq!(issue_for(other), (403, "key_bound_to_agent".to_owned()));
    }
}

#[test]
fn with_keys_required_nothing_but_health_and_the_public_key_answers_without() {
    let here = Here::with(|config| config.require_key = true);
    for path in [
        "/healthz",
        "/readyz",
        "/api/arbiter/pubkey",
        "/docs",
        "/openapi.json",
    ] {
        assert_eq!(here.get(path).status, 200, "{path}");
    }
    let nil = "/api/rooms/00000000-0000-0000-0000-000000000000";
    for (method, path) in [
        ("GET", "/api/rooms"),
        ("POST", "/api/rooms"),
        ("GET", nil),
        ("GET", "/api/events"),
        ("GET", "/api/log/checkpoint"),
        ("GET", "/api/log/bundle"),
        ("GET", "/api/log/tile/0/000.p/1"),
        ("GET", "/api/log/receipt/1"),
        ("GET", "/api/keys"),
        ("GET", "/metrics"),
        ("POST", "/api/keys"),
        ("DELETE", nil),
    ] {
        let answer = here.json(method, path, "");
        assert_eq!(answer.status, 401, "{method} {path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
}

#[test]
fn privileges_of_this_machine_are_not_lent_to_proxies_and_foreign_pages() {
    let here = Here::start();
    let room = here.room();
    let path = format!("/api/rooms/{room}");
    let body = r#"{"reason":"because"}"#;
    for header in [
        ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
        ("via", "1.1 proxy"),
        ("origin", "http://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let answer = here.ask("DELETE", &path, &[JSON, header], body);
        assert_eq!(answer.status, 403, "{header:?}");
        assert_eq!(answer.json()["code"].as_str(), Some("local_only"));
        for path in ["/api/log/bundle", "/api/events", "/api/keys", "/metrics"] {
            assert_eq!(
                here.ask("GET", path, &[header], "").status,
                403,
                "{header:?} {path}"
            );
        }
    }
    let mut connection = here.connect();
    let rebound = format!(
        "DELETE {path} HTTP/1.1\r\nhost: rebound.example\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.send_raw(rebound.as_bytes()).unwrap();
    assert_eq!(connection.read_answer(false).unwrap().status, 403);
    assert_eq!(here.get(&path).status, 200);
    assert_eq!(here.json("DELETE", &path, body).status, 200);
}

#[test]
fn a_request_that_does_not_say_clearly_whom_it_asks_is_not_the_owners() {
    let here = Here::start();
    let addr = here.addr();
    let status = |head: String| {
        let mut connection = here.connect();
        connection.send_raw(head.as_bytes()).unwrap();
        connection.read_answer(false).unwrap().status
    };
    let keys =
        |version: &str, hosts: &str| status(format!("GET /api/keys {version}\r\n{hosts}\r\n"));
    let own = format!("Host: {addr}\r\n");
    assert_eq!(keys("HTTP/1.1", &own), 200);
    assert_eq!(
        keys("HTTP/1.0", &own),
        403,
        "a proxy that says nothing of itself"
    );
    for hosts in [
        "",
        "Host:\r\n",
        "Host: localhost/\r\n",
        "Host: localhost:\r\n",
        "Host: localhost@evil.example\r\n",
        "Host: evil.example\r\nHost: localhost\r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: \u{e9}\r\n",
    ] {
        assert_eq!(keys("HTTP/1.1", hosts), 403, "{hosts:?}");
    }
    let target = |target: &str| status(format!("GET {target} HTTP/1.1\r\n{own}\r\n"));
    assert_eq!(target(&format!("http://{addr}/api/keys")), 200);
    for other in [
        "http://evil.example/api/keys",
        "http://localhost:1/api/keys",
    ] {
        assert_eq!(target(other), 403, "{other}");
    }
}

#[test]
fn an_enrolled_key_marks_its_agents_messages() {
    let here = Here::start();
    let pubkey = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737";
    let path = "/api/agents/alice/keys";
    let body = format!(r#"{{"pubkey_hex":"{}"}}"#, pubkey.to_uppercase());
    assert_eq!(here.json("POST", path, &body).status, 200);
    assert_eq!(here.get(path).json()["pubkeys"][0].as_str(), Some(pubkey));
    let again = here.json("POST", path, &body);
    assert_eq!(
        (again.status, again.json()["code"].as_str()),
        (409, Some("agent_key_taken"))
    );
    let revoke = format!(r#"{{"pubkey_hex":"{pubkey}","reason":"lost"}}"#);
    assert_eq!(here.json("DELETE", path, &revoke).status, 200);
    assert_eq!(
        here.get(path).json()["pubkeys"].as_array().unwrap().len(),
        0
    );
    let twice = here.json("DELETE", path, &revoke);
    assert_eq!(
        (twice.status, twice.json()["code"].as_str()),
        (409, Some("agent_key_revoked"))
    );
    let bad = here.json("POST", path, r#"{"pubkey_hex":"zz"}"#);
    assert_eq!(
        (bad.status, detail(&bad).as_str()),
        (400, "pubkey_hex must be 64 hex chars")
    );
}

#[test]
fn a_repeat_never_shows_the_secret_again() {
    let here = Here::start();
    let headers = [JSON, ("idempotency-key", "k")];
    let ask = || {
        here.ask(
            "POST",
            "/api/keys",
            &headers,
            r#"{"label":"a","scopes":["agent"]}"#,
        )
    };
    let (first, again) = (ask().json(), ask().json());
    assert_eq!(first["key"], again["key"]);
    assert!(first["secret"].is_string() && again["secret"].is_null());
}

#[test]
fn an_agents_own_key_looks_after_its_public_keys_and_no_others() {
    let here = Here::start();
    let body =
        r#"{"pubkey_hex":"d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737"}"#;
    let (_, own) = issue(&here, r#"{"label":"a","scopes":["agent"],"agent":"alice"}"#);
    let (_, unbound) = issue(&here, r#"{"label":"b","scopes":["agent"]}"#);
    let path = "/api/agents/alice/keys";
    let lacks = (403, "key_lacks_scope".to_owned());
    assert_eq!(status(&here, "POST", path, Some(&unbound), body), lacks);
    let others = "/api/agents/bob/keys";
    assert_eq!(status(&here, "POST", others, Some(&own), body), lacks);
    let (_, bound) = issue(
        &here,
        r#"{"label":"c","scopes":["agent","operator"],"agent":"alice"}"#,
    );
    assert_eq!(
        status(&here, "POST", others, Some(&bound), body),
        (403, "key_bound_to_agent".to_owned())
    );
    assert_eq!(status(&here, "POST", path, Some(&own), body).0, 200);
    let revoke = body.replace('}', r#","reason":"lost"}"#);
    assert_eq!(
        status(&here, "DELETE", path, Some(&unbound), &revoke),
        lacks
    );
    assert_eq!(status(&here, "DELETE", path, Some(&own), &revoke).0, 200);
    let proxied = [JSON, ("x-forwarded-for", "9.9.9.9")];
    assert_eq!(here.ask("POST", path, &proxied, body).status, 403);
}

#[test]
fn what_a_key_may_grant_is_the_rules_to_say() {
    let here = Here::start();
    let (_, operator) = issue(&here, r#"{"label":"o","scopes":["operator"]}"#);
    let bearer = format!("Bearer {operator}");
    let headers = [JSON, ("authorization", bearer.as_str())];
    let body = r#"{"label":"x","scopes":["agent","operator"]}"#;
    let refused = here.ask("POST", "/api/keys", &headers, body);
    let text = "this needs an API key with the scope agent";
    assert_eq!((refused.status, detail(&refused).as_str()), (403, text));
}
