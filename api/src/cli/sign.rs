//! `minutebook sign`: an agent's signature over a message, ready to be posted.

use std::{borrow::Cow, path::PathBuf};

use ed25519_dalek::{Signer, SigningKey};
use minutebook_domain::ids::RoomId;
use minutebook_domain::limits::MESSAGE_TEXT_BYTES_MAX;
use minutebook_domain::signature::surface_roomcomm_v1;
use serde_json::json;

use super::{Exit, Failure, Terminal};
use crate::engine::{Clock, Entropy, SystemClock, keyfile};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The signature covers text, time, room and memory root, run together (surface roomcomm-v1). The time
is now, and the server takes it for five minutes.

Examples:
  minutebook sign --key-file bob.key --agent bob --room UUID 'Yes, May 20.' |
    curl -H 'content-type: application/json' -d @- http://127.0.0.1:8787/api/rooms/UUID/messages
  minutebook sign --key-file bob.key --agent bob --room UUID - < reply.txt")]
pub(crate) struct SignArgs {
    /// The agent's key, 32 raw bytes, mode 600; made if missing
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Who speaks
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// The room's UUID, as in its URL
    #[arg(long, value_name = "UUID")]
    room: String,
    /// The agent's commitment to its memory, if it makes one
    #[arg(long, value_name = "TEXT")]
    memory_root: Option<String>,
    /// What to say; `-` reads it from stdin, without the line break at its end
    text: String,
}

pub(crate) fn run(args: &SignArgs, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let room = RoomId::parse_canonical(&args.room)
        .ok_or_else(|| Failure::usage("--room takes a UUID in lower case with hyphens"))?;
    let text = text(&args.text, terminal)?;
    if text.is_empty() {
        return Err(Failure::usage("the text is empty, which no message may be"));
    }
    let key = SigningKey::from_bytes(&seed(args)?);
    let ts_iso = SystemClock.now().to_string();
    let surface = surface_roomcomm_v1(&text, &ts_iso, room, args.memory_root.as_deref());
    let mut message = json!({
        "agent_id": args.agent,
        "text": text,
        "ts_iso": ts_iso,
        "pubkey_hex": hex::encode(key.verifying_key().as_bytes()),
        "signature_hex": hex::encode(key.sign(&surface).to_bytes()),
    });
    if let (Some(root), Some(fields)) = (&args.memory_root, message.as_object_mut()) {
        fields.insert("memory_root".to_owned(), json!(root));
    }
    terminal.json_line(&message)?;
    terminal.flush()?;
    Ok(Exit::Ok)
}

/// The text as it was typed, or as it comes from stdin.
fn text<'a>(typed: &'a str, terminal: &mut Terminal<'_>) -> Result<Cow<'a, str>, Failure> {
    if typed != "-" {
        return Ok(Cow::Borrowed(typed));
    }
    let bytes = terminal.read_input(MESSAGE_TEXT_BYTES_MAX)?;
    if bytes.len() > MESSAGE_TEXT_BYTES_MAX {
        let text = format!("stdin is longer than a message may be: {MESSAGE_TEXT_BYTES_MAX} bytes");
        return Err(Failure::error(text));
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| Failure::error("stdin is not UTF-8, so it is no message's text"))?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(Cow::Owned(text))
}

/// The seed in the key file, made when there is none.
fn seed(args: &SignArgs) -> Result<[u8; 32], Failure> {
    if let Some(seed) = keyfile::read(&args.key_file).map_err(Failure::error)? {
        return Ok(seed);
    }
    let seed = Entropy::from_os().map_err(Failure::error)?.salt();
    keyfile::create(&args.key_file, &seed).map_err(Failure::error)?;
    Ok(seed)
}
