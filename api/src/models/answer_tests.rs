//! Answers as models give them.

use proptest::prelude::*;

use super::*;
use crate::models::prompt::Message;

const THREAD: &str = "188cc2f7-6749-4a68-b015-c4d301074c14";

fn task() -> Task {
    Task {
        existing_threads: vec![Thread {
            thread_id: ClaimId::parse_canonical(THREAD).unwrap(),
            subject: "Price".to_owned(),
            subject_key: "price".to_owned(),
            current_value: "$8".to_owned(),
            status: "proposed",
            opened_by: "ann".to_owned(),
        }],
        new_message: Message::new(1, "ann", "Hello, the price is $9."),
        ..Task::default()
    }
}

fn of(text: &str) -> Result<Vec<Proposal>, Off> {
    read(text, &task())
}

fn values(text: &str) -> Vec<String> {
    let value = |proposal: &Proposal| match proposal {
        Proposal::Open { value, .. } | Proposal::Revise { value, .. } => value.to_string(),
        Proposal::Discrepancy { description, .. } => description.to_string(),
    };
    of(text).unwrap().iter().map(value).collect()
}

#[test]
fn an_answer_is_found_in_whatever_stands_around_it() {
    let object = r#"{"new_claims":[{"subject":"Price","value":"$8"}]}"#;
    for text in [
        object.to_owned(),
        format!("```json\n{object}\n```"),
        format!("Let me think. The answer is {object} as asked."),
        format!("\u{feff}  {object}  "),
    ] {
        assert_eq!(values(&text), ["$8"], "{text}");
    }
}

#[test]
fn an_answer_cut_short_keeps_its_whole_items() {
    let text = r#"{"new_claims":[{"subject":"A","value":"1"},{"subject":"B","value":"2"},{"subj"#;
    assert_eq!(values(text), ["1", "2"]);
    let text = format!(
        r#"{{"new_claims": [], "updates": [{{"thread_id":"{THREAD}",
        "kind":"confirm","value":"$8"}}, {{"thread_id":"#
    );
    assert_eq!(values(&text), ["$8"]);
}

#[test]
fn what_has_none_of_the_lists_is_no_answer() {
    for text in [
        "",
        "I would rather not.",
        "{}",
        "[]",
        "null",
        r#"{"threads":[{"subject":"Price"}]}"#,
        r#"{"new_claims":{"subject":"Price"}}"#,
        r#"{"new_claims":"#,
        "<html><body>502 Bad Gateway</body></html>",
        "}{",
        r#"{"new_claims": [{"subject":"Price","value":"8 doll"#,
    ] {
        assert_eq!(of(text), Err(Off::Schema), "{text}");
    }
    assert_eq!(of(r#"{"updates":[]}"#), Ok(Vec::new()));
}

#[test]
fn an_item_is_mended_or_dropped() {
    let kept = r#"{"new_claims":[
        {"subject":" Quantity ","value":40,"quote":"","subject_key":"The  QUANTITY"},
        {"subject":"","value":"x"},
        {"subject":"x","value":"  "},
        {"subject":"x"},
        {"value":"x"},
        {"subject":["x"],"value":{}},
        "x", null, 7
    ]}"#;
    let expected = Proposal::Open {
        quote: None,
        subject: Subject::parse("Quantity").unwrap(),
        subject_key: Some(SubjectKey::derive("the-quantity")),
        value: ClaimValue::parse("40").unwrap(),
    };
    assert_eq!(of(kept), Ok(vec![expected]));
}

#[test]
fn a_thread_the_task_does_not_show_is_none() {
    let other = "00000000-0000-4000-8000-000000000001";
    for id in [other, "", "price", &THREAD.to_uppercase(), "../x"] {
        let text = format!(r#"{{"updates":[{{"thread_id":"{id}","value":"$9"}}]}}"#);
        assert_eq!(of(&text), Ok(Vec::new()), "{id}");
        let text =
            format!(r#"{{"discrepancies":[{{"description":"x","related_thread_id":"{id}"}}]}}"#);
        let found = of(&text).unwrap();
        assert!(matches!(
            found[..],
            [Proposal::Discrepancy { claim: None, .. }]
        ));
    }
}

#[test]
fn unknown_words_have_the_mildest_meaning() {
    let text = format!(
        r#"{{"updates":[{{"thread_id":"{THREAD}","kind":"seize","value":"$9"}}],
            "discrepancies":[{{"description":"x","severity":"fatal"}}]}}"#
    );
    let found = of(&text).unwrap();
    let [
        Proposal::Revise { revision, .. },
        Proposal::Discrepancy { severity, .. },
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (*revision, *severity),
        (RevisionKind::Update, Severity::Medium)
    );
}

#[test]
fn an_invented_quote_is_left_out_of_its_item() {
    let text = |quote: &str| {
        format!(
            r#"{{"new_claims":[{{"subject":"Price","value":"$9","quote":"{quote}"}}],
                "updates":[{{"thread_id":"{THREAD}","value":"$9","quote":"{quote}"}}]}}"#
        )
    };
    let quotes = |text: &str| -> Vec<_> {
        let quote = |proposal: &Proposal| match proposal {
            Proposal::Open { quote, .. } | Proposal::Revise { quote, .. } => quote.clone(),
            Proposal::Discrepancy { .. } => None,
        };
        of(text).unwrap().iter().map(quote).collect()
    };
    let quote = Quote::parse("the price is $9").ok();
    assert_eq!(
        quotes(&text("\u{201c}the  price is $9\u{201d}")),
        [quote.clone(), quote]
    );
    assert_eq!(quotes(&text("never said")), [None, None]);
    let long = format!("the price is $9.{}", " Indeed.".repeat(100));
    assert_eq!(quotes(&text(&long)), [None, None]);
}

#[test]
fn subjects_and_values_in_another_script_are_no_answer() {
    let claim = |subject: &str, key: &str, value: &str| {
        format!(
            r#"{{"new_claims":[{{"subject":"A","value":"1"}},
                {{"subject":"{subject}","subject_key":"{key}","value":"{value}"}}]}}"#
        )
    };
    assert_eq!(
        values(&claim("Price", "price", "10 \u{3bc}s")),
        ["1", "10 \u{3bc}s"]
    );
    for text in [
        claim("Цена", "price", "$8"),
        claim("Price", "цена", "$8"),
        claim("Price", "price", "восемь"),
        format!(r#"{{"updates":[{{"thread_id":"{THREAD}","value":"восемь"}}]}}"#),
    ] {
        assert_eq!(of(&text), Err(Off::Language), "{text}");
    }
    // What is dropped anyway, and what may quote, is not looked at.
    assert_eq!(of(r#"{"new_claims":[{"subject":"Цена"}]}"#), Ok(Vec::new()));
    assert_eq!(
        values(r#"{"discrepancies":[{"description":"says «восемь»"}]}"#).len(),
        1
    );
}

#[test]
fn a_value_that_a_thread_has_is_named_as_it_is() {
    let mut task = task();
    task.existing_threads[0].current_value = "восемь".to_owned();
    let confirm = |value: &str| {
        let text = format!(
            r#"{{"updates":[{{"thread_id":"{THREAD}","kind":"confirm","value":"{value}"}}]}}"#
        );
        read(&text, &task).map(|found| found.len())
    };
    assert_eq!(
        (confirm("восемь"), confirm("девять")),
        (Ok(1), Err(Off::Language))
    );
}

#[test]
fn sizes_are_within_the_record_limits() {
    let long = "\u{1f9f1}".repeat(5_000);
    let item = format!(r#"{{"subject":"{long}","value":"{long}","quote":"{long}"}}"#);
    let items = vec![item; 100].join(",");
    let found = of(&format!(r#"{{"new_claims":[{items}]}}"#)).unwrap();
    assert_eq!(found.len(), EXTRACTION_PROPOSALS_MAX);
    for cut in [items.len() / 2, items.len() - 3] {
        let cut = (0..=cut)
            .rev()
            .find(|at| items.is_char_boundary(*at))
            .unwrap();
        let text = format!(r#"{{"new_claims":[{}"#, &items[..cut]);
        assert!(of(&text).unwrap().len() <= EXTRACTION_PROPOSALS_MAX);
    }
}

#[test]
fn deep_nesting_is_no_answer() {
    let deep = format!("{{\"new_claims\":{}", "[".repeat(100_000));
    assert_eq!(of(&deep), Err(Off::Schema));
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert_eq!(of(&deep), Err(Off::Schema));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in ".{0,200}", cut in 0..120_usize) {
        of(&text).ok();
        let whole = r#"{"new_claims":[{"subject":"A","value":"1","quote":"q"}],"updates":[{}]}"#;
        of(&format!("{text}{}", &whole[..cut.min(whole.len())])).ok();
    }
}
