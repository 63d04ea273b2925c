//! The description of the API as a page for people.
//!
//! Invariant: everything but our own words is escaped, and the page loads nothing.

mod contents;

use std::fmt::Write;

use serde_json::{Map, Value};

use self::contents::Operation;
use crate::error::ErrorCode;

/// The page's style.
pub const STYLE: &str = include_str!("style.css");

/// What stands for a parameter in an example.
const EXAMPLES: [(&str, &str); 8] = [
    ("file", "$SHA256.tar.gz"),
    ("from", "1"),
    ("id", "$ROOM"),
    ("n", "1"),
    ("name", "alice"),
    ("path", "entries/000.p/2"),
    ("room_id", "$ROOM"),
    ("seq", "3"),
];

/// The page about a finished description.
pub fn page(document: &Value) -> String {
    let groups = contents::groups(document);
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Minutebook API</title><style>{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#main\">Skip the contents</a><div class=\"page\">"
    );
    let mut folded = String::new();
    contents::render(&mut out, &mut folded, &groups);
    write!(
        out,
        "<main id=\"main\" tabindex=\"-1\"><p><a href=\"/\">Minutebook</a></p>\
         <h1>Minutebook API</h1><p>{}</p>\
         <p>For programs: <a href=\"/openapi.json\">openapi.json</a>. In the examples \
         <code>URL</code> is this server and <code>ROOM</code> a room's UUID; where a key is \
         needed, add <code>-H \"Authorization: Bearer $KEY\"</code>.</p>{folded}",
        prose(document.pointer("/info/description"))
    )
    .ok();
    for group in &groups {
        let (id, title) = (group.id, group.title);
        write!(out, "<section id=\"{id}\"><h2>{title}</h2>").ok();
        for operation in &group.operations {
            section(&mut out, document, operation);
        }
        out.push_str("</section>");
    }
    shapes(&mut out, document);
    errors(&mut out);
    out.push_str("</main></div></body></html>");
    out
}

fn shapes(out: &mut String, document: &Value) {
    out.push_str("<section id=\"shapes\"><h2>Shapes</h2>");
    for (name, schema) in entries(document.pointer("/components/schemas")) {
        let name = escape(name);
        write!(
            out,
            "<section id=\"shape-{name}\"><h3><code>{name}</code></h3>"
        )
        .ok();
        write!(out, "<p>{}</p>", prose(schema.get("description"))).ok();
        fields(out, schema);
        out.push_str("</section>");
    }
    out.push_str("</section>");
}

fn errors(out: &mut String) {
    out.push_str(
        "<section id=\"errors\"><h2>Errors</h2><div class=\"scroll\"><table>\
         <tr><th>code<th>status<th>retry<th>meaning",
    );
    for code in ErrorCode::ALL {
        let (name, status, title) = (code.as_str(), code.status(), escape(code.title()));
        let retry = if code.is_retryable() { "yes" } else { "no" };
        let row = format!("<tr id=\"{name}\"><td><code>{name}</code><td>{status}<td>{retry}");
        out.push_str(&row);
        out.push_str("<td>");
        out.push_str(&title);
    }
    out.push_str("</table></div></section>");
}

fn section(out: &mut String, document: &Value, operation: &Operation<'_>) {
    let (method, path) = (operation.method.as_str(), operation.path);
    let (anchor, shown) = (operation.anchor(), escape(path));
    write!(
        out,
        "<section id=\"{anchor}\"><h3><a href=\"#{anchor}\"><code>{method} {shown}</code></a></h3>"
    )
    .ok();
    let operation = operation.what;
    for about in ["summary", "description"] {
        if let Some(about) = operation.get(about) {
            write!(out, "<p>{}</p>", prose(Some(about))).ok();
        }
    }
    parameters(out, operation);
    let body = operation.get("requestBody");
    if let Some(schema) = body.and_then(|body| json_schema(body).or_else(|| form_schema(body))) {
        out.push_str("<h4>Body</h4>");
        fields(out, resolve(document, schema));
    }
    responses(out, document, operation);
    let example = example(document, method, path, operation);
    write!(
        out,
        "<h4>Example</h4><pre>{}</pre></section>",
        escape(&example)
    )
    .ok();
}

fn parameters(out: &mut String, operation: &Value) {
    let parameters = list(operation.get("parameters"));
    if parameters.is_empty() {
        return;
    }
    out.push_str("<h4>Parameters</h4><div class=\"scroll\"><table>");
    for parameter in parameters {
        let needed = if is_required(parameter) {
            ", required"
        } else {
            ""
        };
        write!(
            out,
            "<tr><td><code>{}</code><td>{}{needed}<td>{}<td>{}",
            text(parameter.get("name")),
            text(parameter.get("in")),
            parameter.get("schema").map(kind).unwrap_or_default(),
            prose(parameter.get("description"))
        )
        .ok();
    }
    out.push_str("</table></div>");
}

/// The fields of an object, one per row.
fn fields(out: &mut String, schema: &Value) {
    if entries(schema.get("properties")).next().is_none() {
        return;
    }
    let required = list(schema.get("required"));
    out.push_str("<div class=\"scroll\"><table>");
    for (name, field) in entries(schema.get("properties")) {
        let needed = required.iter().any(|one| one.as_str() == Some(name));
        write!(
            out,
            "<tr><td><code>{}</code><td>{}{}<td>{}",
            escape(name),
            kind(field),
            if needed { ", required" } else { "" },
            prose(field.get("description"))
        )
        .ok();
    }
    out.push_str("</table></div>");
}

fn responses(out: &mut String, document: &Value, operation: &Value) {
    out.push_str("<h4>Answers</h4><div class=\"scroll\"><table>");
    for (status, response) in entries(operation.get("responses")) {
        let shape = json_schema(response).map(kind).unwrap_or_default();
        let about = prose(response.get("description"));
        write!(
            out,
            "<tr><td><code>{}</code><td>{shape}<td>{about}",
            escape(status)
        )
        .ok();
    }
    out.push_str("</table></div>");
    let answers = entries(operation.get("responses"));
    let done = answers.filter(|(status, _)| status.starts_with('2'));
    for schema in done.filter_map(|(_, response)| json_schema(response)) {
        out.push_str("<h4>Fields of the answer</h4>");
        fields(out, resolve(document, schema));
    }
}

/// A type in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        let name = escape(name);
        return format!("<a href=\"#shape-{name}\">{name}</a>");
    }
    if let Some(items) = schema.get("items") {
        return format!("array of {}", kind(items));
    }
    match schema.get("type") {
        Some(Value::String(one)) => escape(one),
        Some(Value::Array(some)) => {
            let names: Vec<_> = some.iter().filter_map(Value::as_str).collect();
            escape(&names.join(" or "))
        }
        _ => "any".to_owned(),
    }
}

/// A request that can be pasted.
fn example(document: &Value, method: &str, path: &str, operation: &Value) -> String {
    let url = path.replace("/keys/{id}", "/keys/$KEY_ID");
    let mut url = url.replace("/skills/{id}", "/skills/$SKILL");
    for (name, value) in EXAMPLES {
        url = url.replace(&format!("{{{name}}}"), value);
    }
    let mut mark = '?';
    for parameter in list(operation.get("parameters")) {
        let name = parameter
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_query = parameter.get("in").and_then(Value::as_str) == Some("query");
        let value = EXAMPLES.iter().find(|(known, _)| *known == name);
        if let Some((_, value)) = value.filter(|_| is_query) {
            write!(url, "{mark}{name}={value}").ok();
            mark = '&';
        }
    }
    let flags = match method {
        "GET" if path == "/api/events" => "-sN".to_owned(),
        "GET" => "-s".to_owned(),
        method => format!("-s -X {method}"),
    };
    let body = operation.get("requestBody");
    if let Some(schema) = body.and_then(form_schema) {
        let body = example_body(resolve(document, schema));
        let mut parts = String::new();
        for (name, value) in entries(Some(&body)) {
            write!(parts, " -F '{name}={}'", value.as_str().unwrap_or_default()).ok();
        }
        return format!("curl {flags} \"$URL{url}\"{parts}");
    }
    match body.and_then(json_schema) {
        Some(schema) => {
            let body = example_body(resolve(document, schema));
            format!("curl {flags} \"$URL{url}\" --json '{body}'")
        }
        None => format!("curl {flags} \"$URL{url}\""),
    }
}

/// The fields that have an example.
fn example_body(schema: &Value) -> Value {
    let mut body = Map::new();
    for (name, field) in entries(schema.get("properties")) {
        if let Some(example) = field.get("example") {
            body.insert(name.to_owned(), example.clone());
        }
    }
    Value::Object(body)
}

fn json_schema(holder: &Value) -> Option<&Value> {
    schema_of(holder, "application/json")
}

fn form_schema(holder: &Value) -> Option<&Value> {
    schema_of(holder, "multipart/form-data")
}

fn schema_of<'a>(holder: &'a Value, kind: &str) -> Option<&'a Value> {
    holder.get("content")?.get(kind)?.get("schema")
}

fn reference(schema: &Value) -> Option<&str> {
    let path = schema.get("$ref")?.as_str()?;
    path.strip_prefix("#/components/schemas/")
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let shapes = document.pointer("/components/schemas");
    let found = reference(schema).and_then(|name| shapes?.get(name));
    found.unwrap_or(schema)
}

fn is_required(parameter: &Value) -> bool {
    parameter.get("required").and_then(Value::as_bool) == Some(true)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let object = value.and_then(Value::as_object);
    object
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

/// Our own words, in which what stands between backticks is code.
fn prose(value: Option<&Value>) -> String {
    let escaped = text(value);
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped.as_str();
    while let Some((before, code, after)) = code(rest) {
        write!(out, "{before}<code>{code}</code>").ok();
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What stands before, between and after the first two backticks.
fn code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

fn text(value: Option<&Value>) -> String {
    escape(value.and_then(Value::as_str).unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_explains_every_error_and_escapes_what_it_shows() {
        let page = page(&Value::Null);
        for code in ErrorCode::ALL {
            assert!(page.contains(&format!("id=\"{}\"", code.as_str())));
        }
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
        assert!(!page.contains("<script") && !page.contains("http://"));
    }

    #[test]
    fn what_stands_between_backticks_is_code_and_nothing_else_is() {
        let prose = |text: &str| super::prose(Some(&Value::from(text)));
        assert_eq!(prose("a `b<` c"), "a <code>b&lt;</code> c");
        assert_eq!(prose("`a` and `b"), "<code>a</code> and `b");
        assert_eq!(prose(""), "");
    }
}
