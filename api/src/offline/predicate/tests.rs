//! What is a predicate, and what is said of the rest.

use super::*;

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    for (text, error) in [
        ("", "at the end: expected room.open"),
        ("cats >= 3", "at \"cats\": expected room.open"),
        ("members", "at the end: expected =, !="),
        ("members => 3", "at \"=>\": expected =, !="),
        ("members >= three", "at \"three\": expected a number"),
        ("members >= -1", "at \"-1\": expected a number"),
        (
            "members >= 3 room.closed",
            "at \"room.closed\": expected and, or",
        ),
        ("members >= 3 and", "at the end: expected room.open"),
        ("not not room.open", "at \"not\": expected room.open"),
        ("message 3", "at the end: expected exists"),
        ("name < x", "at \"<\": expected =, != or contains"),
        ("name = \"x", "at \"x\": the closing quote"),
        (r#"name = "\x""#, "at \"\": a backslash"),
        ("name =", "at the end: expected a word"),
        ("threads", "at the end: expected =, !="),
        ("discrepancies >= some", "at \"some\": expected a number"),
        ("sealed = yes", "at \"=\": expected and, or"),
        ("thread", "at the end: expected a word"),
        ("thread agreed", "at the end: expected proposed, agreed"),
        (
            "thread unit price agreed",
            "at \"price\": expected proposed",
        ),
        ("thread price = ", "at the end: expected a word"),
        ("thread price >= 8", "at \">=\": expected proposed"),
        ("thread = 8", "at \"=\": expected a word"),
        ("thread price Agreed", "at \"Agreed\": expected proposed"),
    ] {
        let found = text.parse::<Predicate>().unwrap_err().to_string();
        assert!(found.starts_with(error), "{text}: {found}");
    }
    assert!("x".repeat(BYTES_MAX + 1).parse::<Predicate>().is_err());
}

#[test]
fn white_space_and_quotes_are_optional_where_nothing_is_lost() {
    let same = |a: &str, b: &str| {
        assert_eq!(a.parse::<Predicate>().unwrap(), b.parse().unwrap(), "{a}");
    };
    same("members>=3", " members  >=  3 ");
    same("name=lobby", r#"name = "lobby""#);
    same(
        "a".replace('a', "message 5 exists").as_str(),
        "message 5 exists",
    );
    same("thread price=8", "thread \"price\" = \"8\"");
    same("thread price agreed", " thread \"price\"  agreed ");
    let quoted: Predicate = r#"name = "a \"b\" \\ c""#.parse().unwrap();
    let name = "a \"b\" \\ c".to_owned();
    let test = Test::Text(Text::Name, TextRelation::Is, name);
    let is_negated = false;
    assert_eq!(quoted, Predicate(vec![vec![Term { is_negated, test }]]));
}
