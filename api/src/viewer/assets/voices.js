// Who spoke, and with which keys: of what this page has loaded, which it says.

import { agent, el, fill, short, some } from "./dom.js";

const VOICES_MAX = 200;
const KEYS_MAX = 8;

/// The agents seen so far.
export class Voices {
  constructor(list, section) {
    this.list = list;
    this.section = section;
    this.agents = new Map();
  }

  /// Takes note of messages, each once.
  note(messages) {
    for (const message of messages) if (!message.erased) this.one(message);
    this.later();
  }

  one(message) {
    let voice = this.agents.get(message.agent_id);
    if (!voice) {
      if (this.agents.size >= VOICES_MAX) return;
      voice = { said: new Set(), keys: new Map() };
      this.agents.set(message.agent_id, voice);
    }
    voice.said.add(message.id);
    const key = message.pubkey_hex;
    if (key && (voice.keys.has(key) || voice.keys.size < KEYS_MAX)) {
      voice.keys.set(key, Boolean(message.key_enrolled));
    }
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  draw() {
    this.section.hidden = this.agents.size === 0;
    fill(this.list, ...[...this.agents].map(([name, voice]) => item(name, voice)));
  }
}

function item(name, voice) {
  const keys = [...voice.keys].map(([key, enrolled]) =>
    el(
      "span",
      { class: enrolled ? "chip good" : "chip", title: key },
      el("code", {}, short(key)),
      enrolled ? " enrolled" : " not enrolled",
    ),
  );
  const count = some(voice.said.size, "message");
  const words = keys.length ? keys : [el("span", { class: "muted" }, "no signed message")];
  return el(
    "li",
    {},
    el("span", {}, agent(name), el("span", { class: "muted" }, ` ${count}`)),
    el("span", { class: "keys" }, ...words),
  );
}
