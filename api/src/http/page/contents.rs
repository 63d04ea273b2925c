//! What is on the page, in groups, and the anchors it is found by.
//!
//! Invariant: every operation of the description is in one group, whatever its tag.

use std::fmt::Write;

use serde_json::Value;

use super::super::describe::METHODS;
use super::{entries, escape};

/// Tags in the page's order, and what the page calls them.
const GROUPS: [(&str, &str); 6] = [
    ("rooms", "Rooms"),
    ("claims", "Claim threads"),
    ("skills", "Skills"),
    ("log", "The log"),
    ("server", "The server"),
    ("operator", "For operators"),
];
/// What has no tag that is known.
const OTHER: (&str, &str) = ("other", "Others");

/// Operations that belong together.
pub(super) struct Group<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) operations: Vec<Operation<'a>>,
}

/// A method of a path.
pub(super) struct Operation<'a> {
    pub(super) method: String,
    pub(super) path: &'a str,
    pub(super) what: &'a Value,
}

impl Operation<'_> {
    /// Its anchor: `get-api-rooms-id`.
    pub(super) fn anchor(&self) -> String {
        let mut out = self.method.to_lowercase();
        let words = self.path.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            out.push('-');
            out.push_str(word);
        }
        out
    }
}

/// All operations of a description.
pub(super) fn groups(document: &Value) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = GROUPS
        .into_iter()
        .chain([OTHER])
        .map(|(id, title)| Group {
            id,
            title,
            operations: Vec::new(),
        })
        .collect();
    for (path, item) in entries(document.get("paths")) {
        for method in METHODS {
            let Some(what) = item.get(method) else {
                continue;
            };
            let tag = what.pointer("/tags/0").and_then(Value::as_str);
            let place = groups.iter().position(|group| Some(group.id) == tag);
            let place = place.unwrap_or(GROUPS.len());
            if let Some(group) = groups.get_mut(place) {
                let method = method.to_uppercase();
                group.operations.push(Operation { method, path, what });
            }
        }
    }
    groups.retain(|group| !group.operations.is_empty());
    groups
}

/// The contents, twice: at the side where there is room for it, folded away where there is not.
/// Styles show one of them; the page has no script that could move it.
pub(super) fn render(wide: &mut String, folded: &mut String, groups: &[Group<'_>]) {
    let links = links(groups);
    write!(
        wide,
        "<nav class=\"contents\" aria-label=\"Contents\">{links}</nav>"
    )
    .ok();
    write!(
        folded,
        "<details class=\"contents\"><summary>Contents</summary>\
         <nav aria-label=\"Contents\">{links}</nav></details>"
    )
    .ok();
}

fn links(groups: &[Group<'_>]) -> String {
    let mut out = String::new();
    for group in groups {
        let (id, title) = (group.id, group.title);
        write!(out, "<h2><a href=\"#{id}\">{title}</a></h2><ul>").ok();
        for operation in &group.operations {
            let (anchor, method) = (operation.anchor(), &operation.method);
            let path = escape(operation.path);
            let link =
                format!("<li><a href=\"#{anchor}\"><b>{method}</b> <span>{path}</span></a></li>");
            out.push_str(&link);
        }
        out.push_str("</ul>");
    }
    out.push_str("<h2><a href=\"#shapes\">Shapes</a></h2>");
    out.push_str("<h2><a href=\"#errors\">Errors</a></h2>");
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_is_in_one_group_and_has_an_anchor_of_its_own() {
        let document = json!({ "paths": {
            "/b/{id}": { "get": { "tags": ["log"] }, "post": { "tags": ["log"] } },
            "/a": { "get": { "tags": ["never heard of"] }, "put": {} },
        } });
        let groups = groups(&document);
        let titles: Vec<_> = groups.iter().map(|group| group.title).collect();
        assert_eq!(titles, ["The log", "Others"]);
        let anchors = groups.iter().flat_map(|group| &group.operations);
        let anchors: Vec<_> = anchors.map(Operation::anchor).collect();
        assert_eq!(anchors, ["get-b-id", "post-b-id", "get-a", "put-a"]);
    }
}
