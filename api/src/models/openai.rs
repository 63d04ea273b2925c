//! Any server that speaks the chat completions protocol of OpenAI, over HTTP or HTTPS.
//!
//! Sent: `POST {base}/chat/completions` with `model`, `messages` (system, user), `temperature` 0,
//! `max_tokens`, `response_format` `json_object`, and the key as `Authorization: Bearer`. Read:
//! `choices[0].message.content`, or its `reasoning_content` when that is empty.
//!
//! Invariants
//! * The key goes to the configured address and nowhere else: redirects are not followed, no
//!   proxy of the environment is used, and no error names it.
//! * An answer has a bound in bytes and in time.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::{Deserialize, Serialize};

use super::key::Key;
use super::{Completing, LanguageModel, ModelError, Prompt};

/// Largest answer of a model's server.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// As much of an error's body is told.
const TOLD_CHARS_MAX: usize = 200;
/// Longest time to reach the server.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// What a model may say at most, in its own tokens: a message with many matters needs some.
const TOKENS_MAX: u32 = 8000;

/// Where a model is, and how it is asked.
#[derive(Clone)]
pub struct Endpoint {
    /// Base address, as `https://host/v1`, or the whole one.
    pub url: Url,
    /// The model's name.
    pub model: String,
    /// The key, for servers that want one.
    pub key: Option<String>,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url.as_str())
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Why an endpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The address is none.
    #[error("the arbiter's address must begin with http:// or https:// and name a host")]
    Url,
    /// The address carries a name or a password, which would be shown with it.
    #[error("the arbiter's address must hold no name and no password: a key goes into a file")]
    Login,
    /// The key has characters no header can carry.
    #[error("the arbiter's key has characters that a key cannot have")]
    Key,
    /// The model's name is none.
    #[error("the arbiter's model has a name of 1 to 200 printable characters")]
    Model,
    /// TLS cannot be set up.
    #[error("the arbiter's HTTP client cannot be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// The adapter.
pub struct OpenAi {
    client: Client,
    url: Url,
    model: String,
    key: Option<Key>,
}

impl OpenAi {
    /// Makes ready; nothing is connected to.
    pub fn new(endpoint: &Endpoint) -> Result<Self, EndpointError> {
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            // Else the environment could have the key sent to a proxy, in clear to http addresses.
            .no_proxy()
            .connect_timeout(CONNECT_WITHIN)
            .timeout(endpoint.timeout)
            // A call takes seconds, a connection none; one that was kept may just be closing, and
            // whether the call was begun on it nobody knows.
            .pool_max_idle_per_host(0)
            .user_agent("minutebook")
            .build()?;
        let key = endpoint.key.as_deref().map(Key::new);
        Ok(Self {
            client,
            url: completions(&endpoint.url)?,
            model: endpoint.model.clone(),
            key: key.transpose()?,
        })
    }

    async fn ask(&self, prompt: &Prompt) -> Result<String, ModelError> {
        let body = serde_json::to_vec(&RequestJson::new(&self.model, prompt));
        let body = body.map_err(|error| ModelError::Refused(error.to_string()))?;
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header().clone());
        }
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = whole(response).await?;
        let body = String::from_utf8_lossy(&body);
        let body = match &self.key {
            Some(key) => key.hush(&body),
            None => body.into_owned(),
        };
        if !status.is_success() {
            return Err(refused(status, &body));
        }
        let text = content(&body)?;
        // Once more: in JSON a key can be spelled in other ways.
        Ok(match &self.key {
            Some(key) => key.hush(&text),
            None => text,
        })
    }
}

impl LanguageModel for OpenAi {
    fn adapter(&self) -> &'static str {
        "openai-chat"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn complete<'a>(&'a self, prompt: &'a Prompt) -> Completing<'a> {
        Box::pin(self.ask(prompt))
    }
}

/// The whole address, from a base one or itself.
fn completions(url: &Url) -> Result<Url, EndpointError> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(EndpointError::Url);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Login);
    }
    let mut url = url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/chat/completions") {
        url.set_path(&format!("{path}/chat/completions"));
    }
    Ok(url)
}

async fn whole(mut response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            let text = format!("the model's answer is longer than {ANSWER_BYTES_MAX} bytes");
            return Err(ModelError::Refused(text));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What kept an answer from coming. The address may carry a name and is left out.
fn unreachable(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let is_there = !error.is_connect();
    let is_timeout = error.is_timeout();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    if is_there && is_timeout {
        ModelError::Doubtful(format!("the model did not answer in time ({text})"))
    } else if is_there {
        // It may have died of what it was asked.
        ModelError::Doubtful(format!("the model's server gave up ({text})"))
    } else {
        ModelError::Unavailable(format!("the model cannot be reached ({text})"))
    }
}

fn refused(status: StatusCode, body: &str) -> ModelError {
    let told: String = body
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(TOLD_CHARS_MAX)
        .collect();
    let text = format!("the model's server answered {status}: {told}");
    match status.as_u16() {
        400 | 413 | 415 | 422 => ModelError::Refused(text),
        403 | 408 | 500 | 502 | 504 => ModelError::Doubtful(text),
        // 401, 404, 429, 503, redirects: of the server, whatever it was asked.
        _ => ModelError::Unavailable(text),
    }
}

#[derive(Serialize)]
struct RequestJson<'a> {
    model: &'a str,
    messages: [MessageJson<'a>; 2],
    temperature: f32,
    max_tokens: u32,
    response_format: FormatJson,
}

#[derive(Serialize)]
struct MessageJson<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct FormatJson {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl<'a> RequestJson<'a> {
    fn new(model: &'a str, prompt: &'a Prompt) -> Self {
        let message = |role, content| MessageJson { role, content };
        Self {
            model,
            messages: [
                message("system", prompt.system),
                message("user", &prompt.user),
            ],
            temperature: 0.0,
            max_tokens: TOKENS_MAX,
            response_format: FormatJson {
                kind: "json_object",
            },
        }
    }
}

#[derive(Deserialize)]
struct AnswerJson {
    #[serde(default)]
    choices: Vec<ChoiceJson>,
}

#[derive(Deserialize)]
struct ChoiceJson {
    message: SaidJson,
}

#[derive(Deserialize)]
struct SaidJson {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
}

/// What the model said. A server that answers something else is not one of this protocol.
fn content(body: &str) -> Result<String, ModelError> {
    let answer: AnswerJson = serde_json::from_str(body).map_err(|error| {
        ModelError::Doubtful(format!("the answer is no chat completion ({error})"))
    })?;
    let said = answer
        .choices
        .into_iter()
        .next()
        .map(|choice| choice.message);
    let Some(said) = said else {
        let text = "the answer has no choices".to_owned();
        return Err(ModelError::Doubtful(text));
    };
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let text = given(said.content).or_else(|| given(said.reasoning_content));
    Ok(text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_base_or_the_whole() {
        let of = |text: &str| completions(&text.parse().unwrap()).map(|url| url.to_string());
        for text in [
            "https://api.example.org/v1",
            "https://api.example.org/v1/",
            "https://api.example.org/v1/chat/completions",
        ] {
            let whole = "https://api.example.org/v1/chat/completions";
            assert_eq!(of(text).unwrap(), whole);
        }
        assert_eq!(
            of("http://[::1]:9").unwrap(),
            "http://[::1]:9/chat/completions"
        );
        for text in [
            "ftp://a/v1",
            "file:///etc/passwd",
            "data:,x",
            "https://user@a/v1",
            "https://user:hush@a/v1",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_a_status_says_of_the_prompt() {
        let kind = |status: u16| refused(StatusCode::from_u16(status).unwrap(), "<b>\n no</b>");
        assert!(matches!(kind(400), ModelError::Refused(_)));
        assert!(matches!(kind(500), ModelError::Doubtful(_)));
        for status in [301, 401, 404, 429, 503] {
            assert!(
                matches!(kind(status), ModelError::Unavailable(_)),
                "{status}"
            );
        }
        assert!(
            kind(400)
                .to_string()
                .ends_with("400 Bad Request: <b> no</b>")
        );
    }

    #[test]
    fn a_key_is_not_shown() {
        let endpoint = Endpoint {
            url: "http://127.0.0.1:9/v1".parse().unwrap(),
            model: "m".to_owned(),
            key: Some("hush".to_owned()),
            timeout: Duration::from_secs(1),
        };
        assert!(!format!("{endpoint:?}").contains("hush"));
        let broken = Endpoint {
            key: Some("hu\nsh".to_owned()),
            ..endpoint
        };
        let error = OpenAi::new(&broken).err().unwrap().to_string();
        assert!(error.contains("key") && !error.contains("hu"), "{error}");
    }

    #[test]
    fn reasoning_stands_in_for_an_empty_answer() {
        let body = r#"{"choices":[{"message":{"content":" ","reasoning_content":"{}"}}]}"#;
        assert_eq!(content(body).unwrap(), "{}");
        let body = r#"{"choices":[{"message":{"role":"assistant","content":"hi"}}],"x":1}"#;
        assert_eq!(content(body).unwrap(), "hi");
        assert!(matches!(content("<html>"), Err(ModelError::Doubtful(_))));
        assert!(matches!(content("{}"), Err(ModelError::Doubtful(_))));
    }
}
