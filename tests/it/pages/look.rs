//! What can be measured about how the pages look.

use serde_json::json;

use super::browser::Browser;
use crate::support::start;

/// The least contrast of text, by WCAG 2 level AA.
const CONTRAST: f64 = 4.5;

/// Returns the worst contrast of every hue of agents' names, and of the pages' own inks.
const MEASURE: &str = r"
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgb = (colour) => {
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (colour) => {
  const [r, g, b] = rgb(colour).map((c) => {
    c /= 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((x, y) => y - x);
  return (x + 0.05) / (y + 0.05);
};
const probe = document.createElement('span');
document.body.append(probe);
const ink = (css) => {
  probe.removeAttribute('class');
  probe.style.cssText = '';
  css(probe);
  return getComputedStyle(probe).color;
};
const named = (name) => ink((span) => span.style.setProperty('color', `var(--${name})`));
const papers = ['paper', 'raised'].map(named);
const worst = {};
const note = (name, colour, on) => {
  worst[name] = Math.min(worst[name] ?? 99, ...on.map((paper) => contrast(colour, paper)));
};
for (let hue = 0; hue < 360; hue += 1) {
  const colour = ink((span) => {
    span.className = 'agent';
    span.style.setProperty('--hue', hue);
  });
  note('agent', colour, papers);
}
for (const name of ['ink', 'muted', 'accent', 'good', 'bad', 'warn']) {
  note(name, named(name), papers);
}
for (const name of ['good', 'bad', 'warn']) {
  note(`${name}-wash`, named(name), [named(`${name}-wash`)]);
}
note('sunken', named('muted'), [named('sunken')]);
note('on-accent', named('on-accent'), [named('accent')]);
probe.remove();
return worst;
";

#[test]
fn every_ink_can_be_read_on_every_paper_by_day_and_by_night() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("colours").unwrap();
    let mut browser = Browser::open(1000, 700);
    for (scheme, chosen) in [
        ("light", ""),
        ("dark", ""),
        ("light", "dark"),
        ("dark", "light"),
    ] {
        browser.prefer(scheme);
        browser.go(&format!("http://{}/{room}", server.http));
        if !chosen.is_empty() {
            browser.run(&format!(
                "document.documentElement.dataset.theme = '{chosen}'"
            ));
        }
        let worst = browser.run(MEASURE);
        for (ink, contrast) in worst.as_object().unwrap() {
            let contrast = contrast.as_f64().unwrap();
            assert!(
                contrast >= CONTRAST,
                "{scheme}, {chosen}: {ink} has {contrast:.2}"
            );
        }
    }
}

#[test]
fn the_chosen_theme_stays() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1000, 700);
    browser.prefer("light");
    browser.go(&format!("http://{}/", server.http));
    browser.click("#theme");
    browser.click("#theme");
    assert_eq!(browser.text("#theme"), "Dark");
    browser.go(&format!("http://{}/rooms", server.http));
    let theme = browser.run("return document.documentElement.dataset.theme");
    assert_eq!(theme, json!("dark"));
    assert_eq!(browser.text("#theme"), "Dark");
    browser.expect_no_complaint();
}

#[test]
fn nothing_sticks_out_of_a_narrow_page() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let empty = server.open_room("").unwrap();
    let room = server.open_room(&"long".repeat(100)).unwrap();
    server
        .post(&room, &"agent".repeat(20), &"word".repeat(800))
        .unwrap();
    server.post(&room, "bob", "a  table\n  of  things").unwrap();
    let mut browser = Browser::open(320, 640);
    for path in [
        "/",
        "/rooms",
        "/nothing",
        &format!("/{empty}"),
        &format!("/{room}"),
    ] {
        browser.go(&format!("http://{}{path}", server.http));
        if path.len() > 20 {
            browser.until_text("#status", "Live");
        }
        let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
        assert_eq!(widths, json!([320, 320]), "{path}");
    }
}

#[test]
fn a_keyboard_reaches_everything_and_shows_where_it_is() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("keys").unwrap();
    server.post(&room, "alice", "hello").unwrap();
    let mut browser = Browser::open(1000, 700);
    browser.go(&format!("http://{}/{room}", server.http));
    browser.until_text("#verdict-heading .badge", "Clean");
    let names = browser.run(
        "return ['header', 'main', 'aside'].map((name) => document.querySelectorAll(name).length \
         > 0).concat([...document.querySelectorAll('a, button, summary, input')].filter((one) => \
         !one.closest('[hidden]') && !(one.textContent.trim() || one.getAttribute('aria-label') || \
         one.labels?.length)).map((one) => one.outerHTML))",
    );
    assert_eq!(names, json!([true, true, true]), "everything has a name");
    browser.write("body", "\u{e004}");
    let skip = browser.run("return document.activeElement.className");
    assert_eq!(skip, json!("skip"));
    let outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, json!("solid"));
}
