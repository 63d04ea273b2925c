//! What every operation has in common, put into the API's description by rule and not by hand.
//!
//! Invariant: a test asks the running server for each of these rules, operation by operation.

use serde_json::{Map, Value, json};

/// The methods an operation can have, as a description spells them.
pub const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];
/// What answers without a look at who asks.
const OPEN: [&str; 5] = [
    "/api/arbiter/pubkey",
    "/docs",
    "/healthz",
    "/openapi.json",
    "/readyz",
];

/// Adds servers, security, and the parameters, headers and errors nobody states one by one.
pub fn complete(mut document: Value) -> Value {
    if let Some(root) = document.as_object_mut() {
        root.insert("servers".to_owned(), json!([{ "url": "/" }]));
    }
    if let Some(components) = object(document.get_mut("components")) {
        let scheme = json!({ "apiKey": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "mb_ and 64 hex digits",
            "description": "An API key. Needed when the server asks for one (--require-key) and \
                for what needs a scope, but for callers on the server's own machine.",
        } });
        components.insert("securitySchemes".to_owned(), scheme);
    }
    for (path, item) in object(document.get_mut("paths")).into_iter().flatten() {
        for (method, operation) in object(Some(item)).into_iter().flatten() {
            if METHODS.contains(&method.as_str())
                && let Some(operation) = operation.as_object_mut()
            {
                guard(operation, OPEN.contains(&path.as_str()));
                if operation.contains_key("requestBody") {
                    write(operation);
                }
                headers(operation);
            }
        }
    }
    document
}

fn object(value: Option<&mut Value>) -> Option<&mut Map<String, Value>> {
    value.and_then(Value::as_object_mut)
}

/// Who may ask, and what the others are told.
fn guard(operation: &mut Map<String, Value>, is_open: bool) {
    if is_open {
        operation.insert("security".to_owned(), json!([]));
        return;
    }
    operation.insert("security".to_owned(), json!([{}, { "apiKey": [] }]));
    let unavailable = "The log cannot be used now: try again after Retry-After";
    also(
        operation,
        "401",
        "An API key is required, or this one is not known",
    );
    also(
        operation,
        "403",
        "The API key was revoked, or lacks what this needs",
    );
    also(operation, "503", unavailable);
}

/// What every write takes and answers.
fn write(operation: &mut Map<String, Value>) {
    let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "Makes a retry safe: the same key with the same request is answered \
                again. 1 to 200 visible ASCII characters",
            "schema": { "type": "string", "minLength": 1, "maxLength": 200 },
        }));
    }
    also(operation, "400", "Not valid");
    also(operation, "408", "The body came too slowly");
    also(
        operation,
        "409",
        "The Idempotency-Key stands for another request",
    );
    also(operation, "413", "The body is larger than 1 MiB");
}

/// Adds an error, unless the operation says itself what it means here.
fn also(operation: &mut Map<String, Value>, status: &str, text: &str) {
    let Some(responses) = object(operation.get_mut("responses")) else {
        return;
    };
    responses.entry(status).or_insert_with(|| {
        json!({
            "description": text,
            "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Problem" },
            } },
        })
    });
}

/// The headers that go with a status.
fn headers(operation: &mut Map<String, Value>) {
    let is_write = operation.contains_key("requestBody");
    for (status, response) in object(operation.get_mut("responses")).into_iter().flatten() {
        let (name, kind, text) = match status.as_str() {
            "401" => ("WWW-Authenticate", "string", "Bearer"),
            "429" | "503" => ("Retry-After", "integer", "Seconds, when waiting helps"),
            "200" | "201" if is_write => {
                ("Minutebook-Seq", "integer", "The log seq of what was done")
            }
            _ => continue,
        };
        let header = json!({ "description": text, "schema": { "type": kind } });
        if let Some(response) = response.as_object_mut() {
            response.insert("headers".to_owned(), json!({ name: header }));
        }
    }
}
