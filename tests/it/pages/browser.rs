//! A real Chromium, driven over `WebDriver`: JSON over HTTP, which the harness speaks already.
//!
//! Everything that is waited for is asked of the page again and again until it is so or the time
//! is up; what the browser's console says, violations of the policy included, fails the test.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use minutebook_tests::http::Connection;
use serde_json::{Value, json};

/// The name of an element's handle in the protocol's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const PATIENCE: Duration = Duration::from_mins(1);
/// How often a driver is started.
const STARTS: usize = 5;
const MISSING: &str = "chromedriver cannot be started: install the Debian packages chromium and \
                       chromium-driver (.ci/run does), or name it by CHROMEDRIVER";

/// A browser with one window. Ends when dropped.
pub(crate) struct Browser {
    driver: Child,
    connection: Connection,
    session: String,
}

impl Browser {
    /// A fresh profile in a window of this size.
    pub(crate) fn open(width: u32, height: u32) -> Self {
        let (driver, port) = start_driver();
        let mut browser = Self {
            driver,
            connection: Connection::open(SocketAddr::from(([127, 0, 0, 1], port))).unwrap(),
            session: String::new(),
        };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let options = json!({ "args": arguments });
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let started = browser.send("POST", "/session", &body);
        browser.session = String::from(started["sessionId"].as_str().unwrap());
        browser.size(width, height);
        browser
    }

    fn send(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let body = (method == "POST").then(|| body.to_string().into_bytes());
        let headers = [("content-type", "application/json; charset=utf-8")];
        let answer = self
            .connection
            .send(method, path, &headers, body.as_deref());
        let answer = answer.unwrap();
        let value = answer.json()["value"].clone();
        assert_eq!(answer.status, 200, "{method} {path}: {value}");
        value
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.send("POST", &path, body)
    }

    /// A command of the browser's own protocol.
    fn devtools(&mut self, command: &str, parameters: &Value) {
        self.post(
            "/goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        );
    }

    /// Changes the size of what is seen.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the system is said to prefer.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
    }

    /// Takes pages' scripts away.
    pub(crate) fn without_scripts(&mut self) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            &json!({ "value": true }),
        );
    }

    /// Takes the window from the screen, so that the page is hidden.
    pub(crate) fn hide(&mut self) {
        self.post("/window/minimize", &json!({}));
    }

    /// Brings the window back.
    pub(crate) fn show(&mut self) {
        self.post("/window/rect", &json!({ "width": 1400, "height": 900 }));
    }

    /// Runs a script in every page before its own.
    pub(crate) fn before_pages(&mut self, script: &str) {
        let command = "Page.addScriptToEvaluateOnNewDocument";
        self.devtools(command, &json!({ "source": script }));
    }

    /// Goes to an address.
    pub(crate) fn go(&mut self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    /// Where it is.
    pub(crate) fn url(&mut self) -> String {
        let path = format!("/session/{}/url", self.session);
        let url = self.send("GET", &path, &Value::Null);
        url.as_str().unwrap().to_owned()
    }

    /// Runs a script's body and returns what it returns.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    fn element(&mut self, css: &str) -> String {
        let found = self.post(
            "/element",
            &json!({ "using": "css selector", "value": css }),
        );
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Presses what this selector finds.
    pub(crate) fn click(&mut self, css: &str) {
        let element = self.element(css);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into what this selector finds.
    pub(crate) fn write(&mut self, css: &str, text: &str) {
        let element = self.element(css);
        self.post(
            &format!("/element/{element}/value"),
            &json!({ "text": text }),
        );
    }

    /// The text one sees there.
    pub(crate) fn text(&mut self, css: &str) -> String {
        let element = self.element(css);
        let path = format!("/session/{}/element/{element}/text", self.session);
        let text = self.send("GET", &path, &Value::Null);
        text.as_str().unwrap().to_owned()
    }

    /// Waits until a script's expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        let script = format!("return Boolean({expression})");
        while self.run(&script) != json!(true) {
            let page = if Instant::now() > until {
                self.run("return document.body.innerText.slice(0, 2000)")
            } else {
                continue;
            };
            panic!(
                "never so: {expression}\nThe page says:\n{}",
                page.as_str().unwrap()
            );
        }
    }

    /// Waits until some text is seen where this selector finds something.
    pub(crate) fn until_text(&mut self, css: &str, text: &str) {
        let (css, text) = (json!(css), json!(text));
        self.until(&format!(
            "document.querySelector({css})?.innerText.includes({text})"
        ));
    }

    /// Waits until the address fits.
    pub(crate) fn until_at(&mut self, fits: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let url = self.url();
            if fits(&url) {
                return url;
            }
            assert!(Instant::now() < until, "still at {url}");
        }
    }

    /// What the console has said since the last time, warnings and errors.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        let log = self.post("/se/log", &json!({ "type": "browser" }));
        let lines = log.as_array().unwrap().iter();
        lines
            .filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG")
            .map(|line| line["message"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Nothing was said on the console.
    pub(crate) fn expect_no_complaint(&mut self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

/// A driver, and the port it listens on. One that asks the system for a port asks twice, once for
/// each kind of address, and ends when somebody took the number in between: then another is tried.
fn start_driver() -> (Child, u16) {
    let program = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
    for _ in 0..STARTS {
        let mut driver = Command::new(&program)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .spawn()
            .expect(MISSING);
        if let Some(port) = port(&mut driver) {
            return (driver, port);
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver ended without listening, {STARTS} times")
}

/// The port a driver says it listens on, unless it ends before.
fn port(driver: &mut Child) -> Option<u16> {
    let stdout = BufReader::new(driver.stdout.take().unwrap());
    for line in stdout.lines() {
        let line = line.unwrap();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Some(port.trim_end_matches('.').parse().unwrap());
        }
    }
    None
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends the browser; a driver that is killed leaves it behind.
        let path = format!("/session/{}", self.session);
        let _ = self.connection.send("DELETE", &path, &[], None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
