// One room, live and read-only. Loads the end of the conversation, then follows the stream from
// where that reading stood, so that nothing falls between the two.

import * as api from "./api.js";
import { Badge } from "./badge.js";
import { addCopyButtons } from "./copy.js";
import { Messages } from "./messages.js";
import { Stream } from "./stream.js";
import { Threads } from "./threads.js";
import { Voices } from "./voices.js";

const id = (name) => document.getElementById(name);
const room = document.querySelector("main").dataset.room;
const title = document.title;

/// New messages are read out one by one; a flood is summed up.
const SPOKEN_MAX = 3;
const SPOKEN_CHARS = 300;

const status = id("status");
const spoken = id("spoken");
let waiting = [];
let ended = false;
let lost = false;

const voices = new Voices(id("voices"), id("voices-section"));
const messages = new Messages(
  room,
  {
    list: id("log"),
    older: id("older"),
    newer: id("newer"),
    first: id("first"),
    latest: id("latest"),
    empty: id("empty"),
    span: id("span"),
    total: id("total"),
    trouble: id("trouble"),
    talk: id("talk"),
    after: id("side"),
    above: [id("about"), id("threads")],
    invite: id("invite"),
  },
  { onLoaded: (loaded) => voices.note(loaded), onChange: name },
);
const badge = new Badge(room, {
  badges: document.querySelectorAll(".badge"),
  sentence: id("verdict-sentence"),
  when: id("verdict-when"),
  details: id("verdict-details"),
  evidence: id("evidence"),
  more: id("verdict-more"),
  again: id("verdict-again"),
});
const threads = new Threads(
  room,
  {
    section: id("threads"),
    link: id("to-threads"),
    count: id("threads-count"),
    rule: id("threads-rule"),
    summary: id("threads-summary"),
    list: id("threads-list"),
    more: id("threads-more"),
    discrepancies: id("discrepancies"),
    discrepancyList: id("discrepancies-list"),
    arbiter: id("arbiter"),
    arbiterTrouble: id("arbiter-trouble"),
    arbiterBy: id("arbiter-by"),
    suggestions: id("suggestions"),
    suggestionList: id("suggestions-list"),
    handshakes: id("handshakes"),
    sealed: id("sealed"),
    why: id("sealed-why"),
    hash: id("context-hash"),
    handshakeList: id("handshakes-list"),
    announce: speak,
  },
  { onJump: (n) => messages.show(n) },
);

/// Reads a sentence out.
function speak(sentence) {
  const line = document.createElement("p");
  line.textContent = sentence;
  spoken.append(line);
  while (spoken.childElementCount > SPOKEN_MAX) spoken.firstElementChild.remove();
}

/// The window's name tells how much came while nobody looked.
function name({ unseen }) {
  document.title = unseen > 0 ? `(${unseen}) ${title}` : title;
}

function announce(message) {
  waiting.push(message);
  if (waiting.length > 1) return;
  setTimeout(() => {
    const came = waiting;
    waiting = [];
    if (came.length > SPOKEN_MAX) speak(`${came.length} new messages`);
    else for (const one of came) speak(`${one.agent_id}: ${one.text.slice(0, SPOKEN_CHARS)}`);
  }, 400);
}

const STATES = {
  connecting: ["", "Connecting…"],
  live: ["good", "Live"],
  hidden: ["", "Paused while hidden"],
  gone: ["bad", "This room is gone"],
  refused: ["bad", "Not allowed"],
};

function show(state, details = {}) {
  if (ended) return;
  let [kind, words] = STATES[state] ?? ["warn", ""];
  if (state === "waiting") {
    const seconds = Math.max(1, Math.round(details.ms / 1000));
    words = details.offline
      ? "You are offline. Goes on by itself"
      : `Connection lost. Trying again in ${seconds} s`;
  }
  if (state === "waiting") lost = true;
  if (state === "live" && lost) {
    lost = false;
    badge.reconnected();
  }
  if (state === "gone" || state === "refused") ended = true;
  if (state === "refused") askForKey(details.message);
  status.className = `status ${kind}`;
  status.textContent = words;
}

function end(words) {
  status.className = "status bad";
  status.textContent = words;
  ended = true;
  stream?.stop();
}

/// One event of the stream.
function take(name, data) {
  if (data.seq) badge.event(data.seq);
  if (name === "room.message_posted") {
    const { message } = data;
    // A message that was erased before we saw it comes without its words.
    if (!message) {
      catchUp();
      return;
    }
    if (message.id > messages.total) announce(message);
    voices.note([message]);
    messages.add(message);
    return;
  }
  if (name === "reset") {
    startAgain();
    return;
  }
  if (/^room\.(claim|handshake|context|discrepancy)/.test(name)) threads.changed();
  else if (name === "room.bodies_erased") messages.refresh();
  else if (name === "room.erased") end("This room was erased");
  else if (name === "room.closed") note("This room was closed: nothing more can be posted.");
}

function note(words) {
  const line = id("note");
  line.textContent = words;
  line.hidden = false;
}

async function catchUp() {
  const info = await api.get(`/api/rooms/${room}`).catch(() => null);
  if (!info || info.message_count <= messages.total) return;
  messages.total = info.message_count;
  messages.newer();
}

/// The server's log is not the one this page was reading: nothing shown counts any more.
async function startAgain() {
  note("The server's log was put back to another state. Everything was loaded again.");
  const info = await api.get(`/api/rooms/${room}`).catch((error) => {
    if (error.status === 404) end("This room is gone");
    return null;
  });
  if (!info) return;
  badge.seen = info.log_seq;
  badge.checked = 0;
  messages.total = info.message_count;
  await messages.toLatest();
  threads.changed();
  badge.check();
}

function askForKey(why) {
  const form = id("key-form");
  form.hidden = false;
  id("key-problem").textContent = why ?? "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    api.keepKey(form.elements.key.value.trim());
    location.reload();
  });
  form.elements.key.focus();
}

function asked() {
  const found = /^#m(\d{1,15})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/// A section that the address names.
function section() {
  const found = /^#(threads|record|verify)$/.exec(location.hash);
  return found ? id(found[1]) : null;
}

let stream;

async function start() {
  let info;
  try {
    info = await api.get(`/api/rooms/${room}`);
  } catch (error) {
    if (error.wantsKey) {
      show("refused", error);
    } else if (error.status === 404) {
      end("This room is gone");
    } else {
      show("waiting", { ms: 3000 });
      setTimeout(start, 3000);
    }
    return;
  }
  if (info.is_closed) note("This room was closed: nothing more can be posted.");
  describe(info);
  badge.seen = info.log_seq;
  await messages.start(info.message_count, asked());
  const path = `/api/events?room_id=${room}`;
  stream = new Stream(path, info.log_seq, { onEvent: take, onState: show });
  stream.run();
  badge.check();
  threads.load().then(() => section()?.scrollIntoView());
  addEventListener("hashchange", () => {
    const n = asked();
    if (n !== null && n <= messages.total) messages.show(n);
  });
}

/// A page made without a key knows nothing of the room yet.
function describe(info) {
  const heading = id("room-title");
  if (!heading.dataset.unknown) return;
  const first = info.description.split("\n", 1)[0].trim();
  heading.textContent = first || "Untitled room";
  id("bar-title").textContent = heading.textContent;
  if (info.protocol_mode !== "premium") return;
  id("premium").hidden = false;
  id("premium-words").textContent = info.arbiter_active
    ? "The arbiter reads every message and puts the proposals it finds on record as threads."
    : "The arbiter does not read this room now.";
}

id("to-talk").addEventListener("click", (event) => {
  event.preventDefault();
  id("talk").focus({ preventScroll: true });
  messages.toLatest();
});

api.carryKey(id("bundle"), `${room}.ndjson`);
addCopyButtons(document);
start();
