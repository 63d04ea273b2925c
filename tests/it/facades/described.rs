//! What the description of the API says of every operation is what the server does.

use serde_json::{Map, Value};

use super::here::{Here, JSON, detail};

/// An operation of the description.
struct Operation {
    method: String,
    path: String,
    what: Value,
}

impl Operation {
    /// Its path with something in every place.
    fn filled(&self, room: &str) -> String {
        let path = self.path.replace("/keys/{id}", "/keys/k_0123456789abcdef");
        path.replace("{id}", room)
            .replace("{n}", "1")
            .replace("{cid}", "00000000-0000-0000-0000-000000000000")
            .replace("{seq}", "1")
            .replace("{name}", "alice")
            .replace("{file}", "x.tar.gz")
            .replace("{path}", "0/000.p/1")
    }

    fn answers(&self, status: &str) -> bool {
        self.what["responses"].get(status).is_some()
    }

    fn takes_idempotency_keys(&self) -> bool {
        let parameters = self.what["parameters"].as_array();
        let mut names = parameters.into_iter().flatten().map(|one| &one["name"]);
        names.any(|name| name == "Idempotency-Key")
    }
}

fn describe(here: &Here) -> (Value, Vec<Operation>) {
    let document = here.get("/openapi.json").json();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, what) in item.as_object().unwrap() {
            operations.push(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                what: what.clone(),
            });
        }
    }
    assert_eq!(operations.len(), 43);
    (document, operations)
}

/// The properties of the body an operation takes.
fn body_fields<'a>(document: &'a Value, operation: &Operation) -> Option<&'a Map<String, Value>> {
    let body = operation.what.get("requestBody")?;
    let name = body["content"]["application/json"]["schema"]["$ref"].as_str()?;
    let name = name.strip_prefix("#/components/schemas/")?;
    document["components"]["schemas"][name]["properties"].as_object()
}

#[test]
fn who_needs_a_key_is_described() {
    let here = Here::with(|config| config.require_key = true);
    let (document, operations) = describe(&here);
    let scheme = &document["components"]["securitySchemes"]["apiKey"];
    assert_eq!(scheme["scheme"].as_str(), Some("bearer"));
    assert_eq!(document["servers"][0]["url"].as_str(), Some("/"));
    let nil = "00000000-0000-0000-0000-000000000000";
    for operation in &operations {
        let answer = here.ask(&operation.method, &operation.filled(nil), &[JSON], "");
        let is_open = operation.what["security"] == serde_json::json!([]);
        let name = format!("{} {}", operation.method, operation.path);
        assert_eq!(answer.status == 401, !is_open, "{name}: {}", answer.text());
        for status in ["401", "403"] {
            assert_eq!(operation.answers(status), !is_open, "{name} {status}");
        }
        assert!(is_open || operation.answers("503"), "{name}");
    }
}

#[test]
fn every_write_takes_an_idempotency_key_and_says_so() {
    let here = Here::start();
    let room = here.room();
    let (_, operations) = describe(&here);
    let malformed = [JSON, ("idempotency-key", "a b")];
    for operation in operations.iter().filter(|one| one.path != "/api/events") {
        let answer = here.ask(
            &operation.method,
            &operation.filled(&room),
            &malformed,
            "{}",
        );
        let is_refused = answer.text().contains("header.Idempotency-Key");
        let name = format!("{} {}", operation.method, operation.path);
        assert_eq!(
            operation.takes_idempotency_keys(),
            is_refused,
            "{name}: {}",
            answer.text()
        );
        assert_eq!(
            operation.what.get("requestBody").is_some(),
            is_refused,
            "{name}"
        );
        let seq =
            |status: &str| operation.what["responses"][status]["headers"].get("Minutebook-Seq");
        assert_eq!(seq("200").or(seq("201")).is_some(), is_refused, "{name}");
        // Reading a room needs no key to be repeated, but the room may be closed.
        let has_conflicts = is_refused || operation.path.ends_with("/context/refresh");
        assert_eq!(operation.answers("409"), has_conflicts, "{name}");
    }
}

#[test]
fn every_example_is_a_request_the_server_takes() {
    let here = Here::start();
    let (document, operations) = describe(&here);
    let page = here.get("/docs").text();
    let mut bodies = 0;
    for operation in &operations {
        let title = format!("<code>{} {}</code>", operation.method, operation.path);
        let section = page
            .split(&title)
            .nth(1)
            .unwrap_or_else(|| panic!("no {title}"));
        let section = section.split("</section>").next().unwrap();
        assert!(section.contains("<pre>curl -s"), "{section}");
        let Some(fields) = body_fields(&document, operation) else {
            continue;
        };
        bodies += 1;
        let example: Map<String, Value> = fields
            .iter()
            .filter_map(|(name, field)| Some((name.clone(), field.get("example")?.clone())))
            .collect();
        for name in fields.keys() {
            assert!(
                section.contains(&format!("<code>{name}</code>")),
                "{title} {name}"
            );
        }
        let example = Value::Object(example).to_string();
        let shown = example.replace('"', "&quot;");
        assert!(section.contains(&format!("--json '{shown}'")), "{section}");
        let room = here.room();
        here.post(&room, "bob", "hi");
        let answer = here.json(&operation.method, &operation.filled(&room), &example);
        let is_fit = answer.status < 300 || [404, 409].contains(&answer.status);
        assert!(is_fit, "{title} {example}: {}", answer.text());
        if answer.status >= 400 {
            detail(&answer);
            assert!(operation.answers(&answer.status.to_string()), "{title}");
        }
    }
    assert_eq!(bodies, 16);
}
