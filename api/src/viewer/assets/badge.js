// The verdict on the room's record, in words and colour, and what it does not prove.

import * as api from "./api.js";
import { el, fill, some } from "./dom.js";

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
    this.when = `Checked at ${at}` + (size ? `, with the log at ${size}.` : ".");
    fill(this.parts.details, ...report(answer));
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
  const revisions = some(details.revisions_checked ?? 0, "revision");
  const handshakes = some(details.handshakes_checked ?? 0, "handshake");
  const clean = answer.verdict === "CLEAN";
  const shown = [
    clean ? `${records} in an unbroken chain that the log's key has signed` : records,
    `${messages}, ${details.messages_signed ?? 0} of them signed by agents`,
  ];
  if (details.revisions_checked) shown.push(`${revisions} of claims`);
  if (details.handshakes_checked) {
    shown.push(`${handshakes}, ${details.handshakes_signed} of them signed`);
  }
  const parts = [el("p", {}, answer.explanation)];
  if (findings.length) {
    parts.push(el("h3", {}, "What was found"), list(findings.slice(0, 20).map(finding)));
    if (findings.length > 20) parts.push(el("p", {}, `and ${findings.length - 20} more`));
  }
  parts.push(el("h3", {}, clean ? "What was shown" : "What was looked at"), list(shown));
  if (open.length) {
    parts.push(el("h3", {}, "What was not proven"), list(open.map((one) => one.text)));
  }
  if (log.origin) {
    const root = log.root ? [", root ", el("code", {}, log.root)] : [];
    parts.push(el("p", { class: "small muted" }, `Log ${log.origin}, size ${log.size}`, ...root));
  }
  return parts;
}

function finding(found) {
  const where = found.seq ? `at log seq ${found.seq}: ` : "";
  return el("span", {}, `${where}${found.message} (`, el("code", {}, found.name), ")");
}

function list(items) {
  return el("ul", {}, ...items.map((one) => el("li", {}, one)));
}
