//! Which texts are taken, and every reason why not.

use super::*;

type Refusal = (&'static str, Rejection);

fn refusal<T>(parsed: Result<T, Rejection>, says: &'static str) -> Refusal {
    match parsed {
        Ok(_) => panic!("taken: {says}"),
        Err(rejection) => (says, rejection),
    }
}

/// What each text refuses, and why.
pub(crate) fn refusals() -> Vec<Refusal> {
    let agent = |text: &str, says| refusal(AgentName::parse(text), says);
    let room = |text: &str, says| refusal(RoomName::parse(text), says);
    let description = |text: &str, says| refusal(Description::parse(text), says);
    let message = |text: &str, says| refusal(MessageText::parse(text), says);
    let reason = |text: &str, says| refusal(Reason::parse(text), says);
    vec![
        agent("", "text_empty"),
        agent(" \t\u{1c}\u{a0}\u{2003}\u{3000} ", "text_empty"),
        agent("\u{3164}", "text_empty"),
        agent(&"a".repeat(101), "text_too_long"),
        agent(&"é".repeat(101), "text_too_long"),
        agent(&"a".repeat(1_000_000), "text_too_long"),
        agent("a\0b", "text_unprintable"),
        agent("a\tb", "text_unprintable"),
        agent("a\u{7f}b", "text_unprintable"),
        agent("a\u{85}b", "text_unprintable"),
        agent("a\u{ad}b", "text_unprintable"),
        agent("a\u{200b}", "text_unprintable"),
        agent("\u{202e}ecila", "text_unprintable"),
        agent("\u{feff}a", "text_unprintable"),
        agent("a\u{2028}b", "text_unprintable"),
        agent("a\u{e0041}b", "text_unprintable"),
        agent("\u{1f469}\u{200d}\u{1f4bb}", "text_unprintable"),
        agent("owner", "name_reserved"),
        agent(
            " \u{ff33}\u{ff39}\u{ff33}\u{ff34}\u{ff25}\u{ff2d} ",
            "name_reserved",
        ),
        room("", "text_empty"),
        room(&"a".repeat(81), "text_too_long"),
        room(
            "7002cc19-fc28-4472-a4ca-828206128894",
            "room_name_looks_like_id",
        ),
        room(
            "7002CC19FC284472A4CA828206128894",
            "room_name_looks_like_id",
        ),
        room("a\nb", "text_unprintable"),
        description(&"é".repeat(501), "text_too_long"),
        message("", "text_empty"),
        message(&"é".repeat(32 * 1024 + 1), "text_too_long"),
        reason("  \n ", "text_empty"),
        reason(&"é".repeat(501), "text_too_long"),
        refusal(AgentName::recorded(" alice"), "text_not_canonical"),
        refusal(AgentName::recorded("Zoe\u{308}"), "text_not_canonical"),
        refusal(Description::recorded("a "), "text_not_canonical"),
    ]
}

#[test]
fn a_text_that_breaks_a_rule_is_refused_for_it() {
    for (code, rejection) in refusals() {
        assert_eq!(rejection.code(), code, "{rejection}");
    }
}

#[test]
fn a_name_is_normalised_and_trimmed() {
    for (text, name) in [
        ("alice", "alice"),
        ("\u{1f} alice \u{a0}\r\n", "alice"),
        ("Zoe\u{308} ", "Zo\u{eb}"),
        ("\u{212b}ngstro\u{308}m", "\u{c5}ngstr\u{f6}m"),
        ("two words", "two words"),
        ("\u{1f9f1}", "\u{1f9f1}"),
        ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
    ] {
        assert_eq!(AgentName::parse(text).unwrap().as_str(), name);
        assert_eq!(RoomName::parse(text).unwrap().as_str(), name);
    }
    let longest = "e\u{308}".repeat(100);
    assert_eq!(
        AgentName::parse(&longest).unwrap().as_str(),
        "\u{eb}".repeat(100)
    );
}

#[test]
fn a_rooms_name_may_be_a_reserved_word() {
    assert_eq!(RoomName::parse("System").unwrap().as_str(), "System");
}

#[test]
fn a_description_and_a_reason_are_trimmed_and_keep_their_lines() {
    assert_eq!(Description::parse("  ").unwrap().as_str(), "");
    assert_eq!(
        Description::parse(" N\u{e9}go\n1\0 ").unwrap().as_str(),
        "N\u{e9}go\n1\0"
    );
    assert_eq!(
        Reason::parse(" spam,\nmostly\n").unwrap().as_str(),
        "spam,\nmostly"
    );
}

#[test]
fn a_message_is_kept_as_sent() {
    let largest = "a".repeat(limits::MESSAGE_TEXT_BYTES_MAX);
    for text in [
        " hi\nthere  ",
        "\0",
        "\u{2028}\u{202e}",
        " ",
        "e\u{301}",
        largest.as_str(),
    ] {
        assert_eq!(MessageText::parse(text).unwrap().as_str(), text);
        assert_eq!(MessageText::recorded(text).unwrap().as_str(), text);
    }
}
