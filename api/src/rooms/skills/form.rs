//! An upload's form: `multipart/form-data`, read whole and judged in the peer's order.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use futures_util::stream;
use minutebook_domain::limits::{
    AGENT_NAME_CHARS_MAX, ROOM_DESCRIPTION_CHARS_MAX, SKILL_BYTES_MAX, SKILL_NAME_CHARS_MAX,
    SKILL_VERSION_CHARS_MAX,
};
use minutebook_domain::text::{AgentName, Description, SkillName, SkillVersion};
use multer::Multipart;

use super::super::wire;
use super::super::write::bad_field;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::App;
use crate::http::fields::Invalid;

/// Most parts of a form; there are seven that mean something.
const PARTS_MAX: usize = 64;
const UNREADABLE: &str = "There was an error parsing the body";
const REQUIRED: &str = "Field required";

/// What the form may hold, for the description of the API.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes what `Form::read` takes")]
pub(super) struct FormBody {
    /// The bundle: a tar.gz of up to 524,288 bytes with a SKILL.md inside.
    #[schema(value_type = String, format = Binary, example = "@skill.tar.gz")]
    file: Vec<u8>,
    /// What the skill is called: 1 to 100 code points.
    #[schema(example = "boltbook-query")]
    name: String,
    /// Which version of it: 1 to 50 code points.
    #[schema(example = "0.3")]
    version: String,
    /// What it is for: up to 500 code points.
    description: Option<String>,
    /// Who publishes it.
    #[schema(example = "alice")]
    agent_id: String,
    /// The author's Ed25519 public key, 64 hex digits; with `author_sig` or not at all.
    author_pubkey: Option<String>,
    /// Its signature over the 64 hex digits of the file's SHA-256 as ASCII, 128 hex digits.
    author_sig: Option<String>,
}

/// A form whose fields are as they should be, each for itself.
pub(super) struct Form {
    pub(super) file: Bytes,
    pub(super) name: SkillName,
    pub(super) version: SkillVersion,
    pub(super) description: Description,
    pub(super) agent: AgentName,
    pubkey: Option<String>,
    sig: Option<String>,
}

/// A form's parts, in the order the peer declares them.
#[derive(Default)]
struct Parts {
    file: Option<Bytes>,
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    agent_id: Option<String>,
    author_pubkey: Option<String>,
    author_sig: Option<String>,
}

impl Form {
    /// Reads a request's body.
    pub(super) async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Self, ApiError> {
        let body = app.body(body).await.map_err(|error| {
            if error.code != ErrorCode::ContentTooLarge {
                return error;
            }
            // In the peer's words: a body this large can only be the file's fault.
            let most = app.config.bounds.body_bytes_max;
            invalid(format!(
                "file too large: more than {most} bytes, limit {SKILL_BYTES_MAX}"
            ))
        })?;
        let parts = Parts::read(headers, body).await?;
        let file = parts.file.ok_or_else(|| missing("file"))?;
        let name = required("name", parts.name, SKILL_NAME_CHARS_MAX)?;
        let version = required("version", parts.version, SKILL_VERSION_CHARS_MAX)?;
        let description = parts.description.unwrap_or_default();
        at_most("description", &description, ROOM_DESCRIPTION_CHARS_MAX)?;
        let agent = required("agent_id", parts.agent_id, AGENT_NAME_CHARS_MAX)?;
        Ok(Self {
            file,
            name: SkillName::parse(&name).map_err(|why| bad_field("name", &why))?,
            version: SkillVersion::parse(&version).map_err(|why| bad_field("version", &why))?,
            description: Description::parse(&description)
                .map_err(|why| bad_field("description", &why))?,
            agent: wire::agent_name("agent_id", &agent)?,
            pubkey: parts.author_pubkey,
            sig: parts.author_sig,
        })
    }

    /// What makes a repeat the same request. Not the body: its boundary is another each time.
    pub(super) fn fingerprint(&self) -> Vec<u8> {
        let mut bytes = blake3::hash(&self.file).as_bytes().to_vec();
        let texts = [
            Some(self.name.as_str()),
            Some(self.version.as_str()),
            Some(self.description.as_str()),
            Some(self.agent.as_str()),
            self.pubkey.as_deref(),
            self.sig.as_deref(),
        ];
        for text in texts {
            // A length that no text has stands for none.
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
        bytes
    }

    /// The author's key and signature in lower case, both or neither.
    pub(super) fn author(&self) -> Result<(Option<String>, Option<String>), ApiError> {
        let (pubkey, sig) = match (&self.pubkey, &self.sig) {
            (None, None) => return Ok((None, None)),
            (Some(pubkey), Some(sig)) => (pubkey, sig),
            (Some(_), None) | (None, Some(_)) => {
                let text = "provide both author_pubkey and author_sig, or neither";
                return Err(ApiError::new(ErrorCode::SkillSignatureHalf, text));
            }
        };
        if !is_hex(pubkey, 64) {
            let text = "author_pubkey must be 64 hex chars";
            return Err(ApiError::new(ErrorCode::PublicKeyMalformed, text));
        }
        if !is_hex(sig, 128) {
            let text = "author_sig must be 128 hex chars";
            return Err(ApiError::new(ErrorCode::SignatureMalformed, text));
        }
        Ok((
            Some(pubkey.to_ascii_lowercase()),
            Some(sig.to_ascii_lowercase()),
        ))
    }

    /// Whether the file has a size that a bundle may have.
    pub(super) fn check_size(&self) -> Result<(), ApiError> {
        let size = self.file.len();
        if size as u64 > SKILL_BYTES_MAX {
            return Err(invalid(format!(
                "file too large: {size} bytes, limit {SKILL_BYTES_MAX}"
            )));
        }
        if size == 0 {
            return Err(invalid("empty file"));
        }
        Ok(())
    }
}

impl Parts {
    async fn read(headers: &HeaderMap, body: Bytes) -> Result<Self, ApiError> {
        let mut parts = Self::default();
        let content_type = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let is_form = content_type
            .and_then(|value| value.split(';').next())
            .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("multipart/form-data"));
        // The peer sees a form without fields in everything else.
        if !is_form {
            return Ok(parts);
        }
        let unreadable = |_| invalid(UNREADABLE);
        let boundary =
            multer::parse_boundary(content_type.unwrap_or_default()).map_err(unreadable)?;
        let body = stream::once(std::future::ready(Ok::<_, Infallible>(body)));
        let mut form = Multipart::new(body, boundary);
        let mut count = 0;
        while let Some(field) = form.next_field().await.map_err(unreadable)? {
            count += 1;
            if count > PARTS_MAX {
                return Err(invalid(format!("a form has at most {PARTS_MAX} parts")));
            }
            let name = field.name().unwrap_or_default().to_owned();
            parts.put(&name, field.bytes().await.map_err(unreadable)?)?;
        }
        Ok(parts)
    }

    /// Takes a part. Those of other names are passed over, as the peer does.
    fn put(&mut self, name: &str, value: Bytes) -> Result<(), ApiError> {
        let (name, slot) = match name {
            "file" => {
                return match self.file.replace(value) {
                    None => Ok(()),
                    Some(_) => Err(twice("file")),
                };
            }
            "name" => ("name", &mut self.name),
            "version" => ("version", &mut self.version),
            "description" => ("description", &mut self.description),
            "agent_id" => ("agent_id", &mut self.agent_id),
            "author_pubkey" => ("author_pubkey", &mut self.author_pubkey),
            "author_sig" => ("author_sig", &mut self.author_sig),
            _ => return Ok(()),
        };
        let text = String::from_utf8(value.into()).map_err(|_| invalid(UNREADABLE))?;
        // An empty field of a form is one that was not filled in.
        if text.is_empty() {
            return Ok(());
        }
        match slot.replace(text) {
            None => Ok(()),
            Some(_) => Err(twice(name)),
        }
    }
}

fn required(
    field: &'static str,
    value: Option<String>,
    chars_max: usize,
) -> Result<String, ApiError> {
    let value = value.ok_or_else(|| missing(field))?;
    at_most(field, &value, chars_max)?;
    Ok(value)
}

fn at_most(field: &'static str, value: &str, chars_max: usize) -> Result<(), ApiError> {
    if value.chars().count() > chars_max {
        let problem = format!("String should have at most {chars_max} characters");
        return Err(Invalid::field(field, problem).into());
    }
    Ok(())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn missing(field: &'static str) -> ApiError {
    Invalid::field(field, REQUIRED).into()
}

fn twice(field: &'static str) -> ApiError {
    Invalid::field(field, "Field sent more than once").into()
}

fn invalid(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, detail.into())
}
