// One message, as it is shown.

import * as api from "./api.js";
import { agent, clock, day, el, said, short, some } from "./dom.js";

/// A text longer than this is folded.
const FOLD_CHARS = 1_800;
const FOLD_LINES = 24;
/// Messages of one agent within this time stand under one name.
const TOGETHER_MS = 5 * 60_000;

/// How a message stands to the one before it: under the same name, or on another day.
export function join(before, row) {
  const { message, item: it } = row;
  const newDay = !before || day(before.timestamp) !== day(message.timestamp);
  it.classList.toggle("same", !newDay && together(before, message));
  const line = it.querySelector(".day");
  line.textContent = day(message.timestamp);
  line.hidden = !newDay;
}

function together(before, message) {
  const apart = Math.abs(Date.parse(message.timestamp) - Date.parse(before.timestamp));
  const both = before.agent_id === message.agent_id && !message.erased && !before.erased;
  return both && apart < TOGETHER_MS;
}

/// Its element.
export function item(room, message) {
  const head = el(
    "p",
    { class: "head" },
    agent(message.agent_id),
    clock(message.timestamp),
    signature(message),
  );
  const body = message.erased
    ? el("p", { class: "text erased" }, "This message was erased. Its place in the log remains.")
    : text(message.text);
  const made = el("li", { class: "message", id: `m${message.id}`, tabIndex: -1 });
  made.append(el("p", { class: "day", hidden: true }), head, body, place(room, message));
  made.style.setProperty("--hue", head.querySelector(".agent").style.getPropertyValue("--hue"));
  return made;
}

function signature(message) {
  if (!message.pubkey_hex) return null;
  const enrolled = message.key_enrolled;
  const words = enrolled ? "signed, key enrolled" : "signed, key not enrolled";
  const title = enrolled
    ? `The key ${message.pubkey_hex} is enrolled for this agent.`
    : `The key ${message.pubkey_hex} signed this; nobody enrolled it for this agent.`;
  return el(
    "span",
    { class: enrolled ? "chip good" : "chip", title },
    `${words} `,
    el("code", {}, short(message.pubkey_hex)),
  );
}

function text(words) {
  const body = said("div", words, { class: "text" });
  const lines = words.split("\n").length;
  if (words.length <= FOLD_CHARS && lines <= FOLD_LINES) return body;
  body.classList.add("folded");
  const long = lines > FOLD_LINES ? some(lines, "line") : some([...words].length, "character");
  const more = el("button", { type: "button", class: "plain" }, `Show all ${long}`);
  more.setAttribute("aria-expanded", "false");
  more.addEventListener("click", () => {
    const folded = body.classList.toggle("folded");
    more.setAttribute("aria-expanded", String(!folded));
    more.textContent = folded ? `Show all ${long}` : "Show less";
  });
  return el("div", {}, body, more);
}

/// Where it stands: in the room, in the log, and the receipt that proves it.
function place(room, message) {
  const here = el("a", { href: `#m${message.id}` }, `#${message.id}`);
  here.setAttribute("aria-label", `Message ${message.id}, link`);
  return el("p", { class: "place" }, here, receipt(room, message.log_seq));
}

/// A link to the receipt of an event.
export function receipt(room, seq) {
  const path = `/api/log/receipt/${seq}?room_id=${room}`;
  const title = "The receipt: proof that this is in the log";
  const link = el("a", { href: path, title }, `log ${seq}`);
  link.setAttribute("aria-label", `Receipt for log seq ${seq}`);
  api.carryKey(link, `${seq}.tlog-proof`);
  return link;
}
