// The verdict on the room's record, in words and colour, and what it does not prove.

import * as api from "./api.js";
import { count, el, fill, prose, some } from "./dom.js";

/// A check follows new events once the room has been quiet for so long …
const QUIET_MS = 4_000;
/// … and not sooner than this after the last one, or many times what that one took.
const REST_MS = 20_000;
const REST_FACTOR = 40;
const TRY_AGAIN_MS = 10_000;

const WORDS = {
  CLEAN: ["good", "Clean", "Every record, signature and rule in this room checks out."],
  REFUTED: ["bad", "Refuted", "This record was changed or is not lawful. Do not rely on it."],
  INCONCLUSIVE: ["warn", "Inconclusive", "Part of this room's record cannot be checked."],
};

/// Asks for verdicts and shows them.
export class Badge {
  constructor(room, parts) {
    this.room = room;
    this.parts = parts;
    /// The newest event known of, and the newest when the shown verdict was asked for.
    this.seen = 0;
    this.checked = 0;
    this.took = 0;
    this.endedAt = -Infinity;
    this.running = false;
    parts.again.addEventListener("click", () => this.check());
  }

  /// An event was seen.
  event(seq) {
    this.seen = Math.max(this.seen, seq);
    this.tell();
    this.later();
  }

  /// The connection was lost and is back: who knows what became of the server in between.
  reconnected() {
    this.checked = Math.min(this.checked, this.seen - 1);
    this.tell();
    this.later();
  }

  later() {
    if (this.running || this.seen <= this.checked) return;
    clearTimeout(this.timer);
    const rest = Math.max(REST_MS, this.took * REST_FACTOR);
    const wait = Math.max(QUIET_MS, this.endedAt + rest - performance.now());
    this.timer = setTimeout(() => this.check(), wait);
  }

  async check() {
    if (this.running) return;
    clearTimeout(this.timer);
    this.running = true;
    this.parts.again.disabled = true;
    this.parts.again.textContent = "Checking…";
    const asked = this.seen;
    const began = performance.now();
    try {
      const answer = await api.post(`/api/rooms/${this.room}/verify`);
      this.checked = asked;
      this.show(answer);
    } catch (error) {
      this.failed(error);
    } finally {
      this.endedAt = performance.now();
      this.took = this.endedAt - began;
      this.running = false;
      this.parts.again.disabled = false;
      this.parts.again.textContent = "Check again";
      this.tell();
    }
    if (this.seen > this.checked) this.later();
  }

  show(answer) {
    const [kind, word, sentence] = WORDS[answer.verdict] ?? ["warn", answer.verdict, ""];
    this.mark(kind, word);
    this.parts.sentence.textContent = sentence;
    const at = new Date().toLocaleTimeString([], { hourCycle: "h23" });
    const size = answer.log?.size;
    this.when = `Checked at ${at}` + (size ? `, with the log at ${some(size, "event")}.` : ".");
    fill(this.parts.details, ...report(answer));
    fill(this.parts.evidence, ...evidence(answer));
    this.parts.more.hidden = false;
  }

  failed(error) {
    const busy = error.status === 503;
    this.parts.sentence.textContent = busy
      ? "The server is busy verifying other rooms. This page will ask again."
      : `The record could not be checked: ${error.message}`;
    if (!this.when) this.mark("", busy ? "Waiting" : "Not checked");
    if (busy || error instanceof TypeError) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.check(), (error.retryAfter ?? 0) * 1000 || TRY_AGAIN_MS);
    }
  }

  mark(kind, word) {
    for (const badge of this.parts.badges) {
      badge.className = `badge ${kind}`;
      badge.querySelector(".word").textContent = word;
    }
  }

  /// What the shown verdict is about.
  tell() {
    if (!this.when) return;
    const newer = this.seen > this.checked ? " Newer events are not checked yet." : "";
    this.parts.when.textContent = this.when + newer;
  }
}

/// The report as lists: what was shown, what was found, what stays open.
function report(answer) {
  const { details = {}, findings = [], not_proven: open = [], log = {} } = answer;
  const records = some(log.events_checked ?? 0, "record");
  const messages = some(details.messages_checked ?? 0, "message");
  const signed = (number) => `${count(number ?? 0)} of them signed by agents`;
  const revisions = some(details.revisions_checked ?? 0, "revision");
  const handshakes = some(details.handshakes_checked ?? 0, "handshake");
  const clean = answer.verdict === "CLEAN";
  const shown = [
    clean ? `${records} in an unbroken chain that the log's key has signed` : records,
    `${messages}, ${signed(details.messages_signed)}`,
  ];
  if (details.revisions_checked) {
    shown.push(`${revisions} of threads, ${signed(details.revisions_signed)}`);
  }
  if (details.handshakes_checked) {
    shown.push(`${handshakes}, ${signed(details.handshakes_signed)}`);
  }
  const parts = [el("p", {}, ...prose(answer.explanation))];
  if (findings.length) {
    parts.push(el("h3", {}, "What was found"), list(findings.slice(0, 20).map(finding)));
    if (findings.length > 20) parts.push(el("p", {}, `and ${findings.length - 20} more`));
  }
  parts.push(el("h3", {}, clean ? "What was shown" : "What was looked at"), list(shown));
  if (open.length) {
    parts.push(el("h3", {}, "What was not proven"));
    for (const { remedy, items } of groups(open)) {
      parts.push(list(items.map((one) => el("span", {}, ...prose(one.text)))));
      if (remedy) {
        const words = prose(remedy);
        parts.push(el("p", { class: "remedy" }, el("span", { class: "label" }, "What to do:"), " ", ...words));
      }
    }
  }
  return parts;
}

/// Neighbours that one step helps against, together.
function groups(open) {
  const found = [];
  for (const one of open) {
    const last = found.at(-1);
    if (last && last.remedy === one.remedy) last.items.push(one);
    else found.push({ remedy: one.remedy, items: [one] });
  }
  return found;
}

/// Which log this is, and where it stood.
function evidence({ log = {} }) {
  if (!log.origin) return [];
  const row = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const rows = [row("Log", log.origin), row("Size", some(log.size ?? 0, "event"))];
  if (log.root) rows.push(row("Root", el("code", {}, log.root)));
  return rows;
}

function finding(found) {
  const where = found.seq ? `at log seq ${found.seq}: ` : "";
  return el("span", {}, where, ...prose(found.message), " (", el("code", {}, found.name), ")");
}

function list(items) {
  return el("ul", {}, ...items.map((one) => el("li", {}, one)));
}
