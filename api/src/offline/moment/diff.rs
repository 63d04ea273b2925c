//! What differs between two JSON values.

use serde_json::Value;

/// One difference between two JSON values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: keys joined by `/`.
    pub path: String,
    /// What was there; none if it is new.
    pub before: Option<Value>,
    /// What is there now; none if it is gone.
    pub after: Option<Value>,
}

/// The differences between two moments, in the order of their paths.
pub fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    differ(String::new(), Some(before), Some(after), &mut found);
    found
}

/// Recursion is as deep as the moments above are nested.
fn differ(
    path: String,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}/{key}")
                };
                differ(path, old.get(key), new.get(key), found);
            }
        }
        (before, after) => {
            found.push(Difference {
                path,
                before: before.cloned(),
                after: after.cloned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::differences;

    #[test]
    fn differences_name_what_came_went_and_changed() {
        let before = json!({"a": 1, "gone": 2, "deep": {"x": {"y": 1}, "same": 0}});
        let after = json!({"a": 1, "new": {"z": 3}, "deep": {"x": {"y": 2}, "same": 0}});
        let found: Vec<_> = differences(&before, &after)
            .into_iter()
            .map(|one| (one.path, one.before, one.after))
            .collect();
        assert_eq!(
            found,
            [
                ("deep/x/y".to_owned(), Some(json!(1)), Some(json!(2))),
                ("gone".to_owned(), Some(json!(2)), None),
                ("new".to_owned(), None, Some(json!({"z": 3}))),
            ]
        );
        assert!(differences(&before, &before).is_empty());
    }
}
