// The claim threads with their ledgers, discrepancies and handshakes, and what the
// arbiter could not read or may not do. A server or a room without them shows none, and says
// nothing about it.

import * as api from "./api.js";
import { agent, all, clock, count, el, fill, said, short, some } from "./dom.js";
import { receipt } from "./message.js";

/// Events come in bursts: what they changed is read once they pause.
const SETTLE_MS = 250;
/// Threads shown before one asks for the rest.
const SHOWN = 40;
/// Handshakes shown, the newest first, and names of those who shook hands on one state.
const HANDSHAKES = 50;
const NAMES = 12;

const STATUS = {
  agreed: ["good", "agreed"],
  proposed: ["", "proposed"],
  disputed: ["bad", "disputed"],
  cancelled: ["gone", "cancelled"],
};
/// What an agent was heard to say, which it has not done.
const HEARD = {
  update: "would change",
  confirm: "would confirm",
  contradict: "would contradict",
  retract: "would withdraw",
};
const KINDS = {
  propose: "proposes",
  update: "changes it to",
  confirm: "confirms",
  contradict: "contradicts",
  retract: "withdraws it",
};

/// Reads and shows the room's context.
export class Threads {
  constructor(room, parts, { onJump }) {
    this.room = room;
    this.parts = parts;
    this.onJump = onJump;
    /// Ledgers that are open, by claim.
    this.open = new Map();
    this.shown = SHOWN;
    this.settled = "";
    parts.more.addEventListener("click", () => {
      this.shown += SHOWN;
      this.draw();
    });
  }

  /// Something about threads happened.
  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), SETTLE_MS);
  }

  async load() {
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      const base = `/api/rooms/${this.room}`;
      this.context = await api.get(`${base}/context`);
      this.handshakes = await api.get(`${base}/handshakes`).catch(() => []);
      const ledgers = [...this.open.keys()].map((claim) => this.ledger(claim));
      await Promise.all(ledgers);
      this.draw();
    } catch {
      // No such routes, or not now: the next event asks again.
    } finally {
      this.loading = false;
    }
    if (this.again) {
      this.again = false;
      this.changed();
    }
  }

  async ledger(claim) {
    const path = `/api/rooms/${this.room}/claims/${claim}/revisions`;
    const revisions = await api.get(path).catch(() => null);
    if (revisions && this.open.has(claim)) this.open.set(claim, revisions);
  }

  draw() {
    const { threads = [], discrepancies = [] } = this.context;
    const { parts } = this;
    const focus = document.activeElement?.closest("[data-claim]")?.dataset.claim;
    parts.section.hidden = false;
    parts.link.hidden = false;
    parts.count.textContent = threads.length ? ` ${count(threads.length)}` : "";
    parts.rule.textContent = rule(this.context.confirmations_needed);
    parts.summary.textContent = summary(threads);
    fill(parts.list, ...threads.slice(0, this.shown).map((thread) => this.thread(thread)));
    parts.more.hidden = threads.length <= this.shown;
    parts.more.textContent = `Show more of ${count(threads.length)}`;
    parts.discrepancies.hidden = discrepancies.length === 0;
    fill(parts.discrepancyList, ...discrepancies.map((one) => this.discrepancy(one)));
    this.drawArbiter(threads);
    this.drawHandshakes();
    this.announce(threads);
    if (focus) parts.list.querySelector(`[data-claim="${CSS.escape(focus)}"] summary`)?.focus();
  }

  /// Says once when a thread's status changes.
  announce(threads) {
    const now = new Map(threads.map((thread) => [thread.id, thread.status]));
    for (const thread of threads) {
      const before = this.statuses?.get(thread.id);
      if (this.statuses && before !== thread.status) {
        this.parts.announce(`${thread.subject}: ${thread.status}`);
      }
    }
    this.statuses = now;
  }

  thread(thread) {
    const [kind, word] = STATUS[thread.status] ?? ["", thread.status];
    const head = el(
      "summary",
      {},
      said("span", thread.subject, { class: "subject" }),
      el("span", { class: `chip ${kind}` }, word),
      said("span", thread.current_value, { class: "value" }),
    );
    const made = el("details", { class: `thread ${kind}`, "data-claim": thread.id }, head);
    const opener = agent(thread.opened_by);
    made.append(el("p", { class: "small muted" }, "Opened by ", opener, support(thread)));
    const ledger = el("ol", { class: "ledger" });
    made.append(ledger);
    const revisions = this.open.get(thread.id);
    if (revisions !== undefined) {
      made.open = true;
      this.drawLedger(ledger, revisions);
    }
    made.addEventListener("toggle", () => this.toggled(made, thread.id, ledger));
    return el("li", {}, made);
  }

  async toggled(made, claim, ledger) {
    if (!made.open) {
      this.open.delete(claim);
      return;
    }
    if (this.open.get(claim)) return;
    this.open.set(claim, null);
    fill(ledger, el("li", { class: "muted" }, "Loading the ledger…"));
    await this.ledger(claim);
    this.drawLedger(ledger, this.open.get(claim));
  }

  drawLedger(ledger, revisions) {
    if (!revisions) {
      fill(ledger, el("li", { class: "muted" }, "The ledger could not be loaded."));
      return;
    }
    let now = "";
    const rows = revisions.map((revision) => {
      const value = revision.value.trim();
      if (revision.kind === "propose" || revision.kind === "update") now = value;
      return this.revision(revision, revision.kind === "confirm" && value !== now);
    });
    fill(ledger, ...rows);
  }

  /// `isOther`: it confirms a value that the thread did not have.
  revision(revision, isOther) {
    const value = said("span", revision.value, { class: "value" });
    const shows = revision.kind === "retract" ? null : value;
    const verb = KINDS[revision.kind] ?? revision.kind;
    const line = el("p", {}, agent(revision.author_agent_id), ` ${verb} `, shows);
    if (isOther) line.append(" – another value than the thread's, so it does not count");
    const made = el("li", { class: isOther ? "other" : revision.kind }, line);
    if (revision.quote) made.append(said("blockquote", revision.quote));
    const facts = [clock(revision.created_at)];
    if (revision.source_msg_id) facts.push(this.jump(revision.source_msg_id));
    facts.push(signed(revision));
    if (revision.log_seq) facts.push(receipt(this.room, revision.log_seq));
    if (revision.row_hash) {
      const title = `Ledger entry ${revision.row_hash}`;
      facts.push(el("code", { title }, short(revision.row_hash)));
    }
    made.append(el("p", { class: "place" }, ...facts));
    return made;
  }

  discrepancy(one) {
    const kind = one.severity === "high" ? "bad" : "warn";
    const made = el(
      "li",
      {},
      el("span", { class: `chip ${kind}` }, one.severity),
      " ",
      said("span", one.description),
    );
    const facts = [clock(one.created_at)];
    if (one.related_msg_id) facts.push(this.jump(one.related_msg_id));
    made.append(el("p", { class: "place" }, ...facts));
    return made;
  }

  /// Which model read last, what it could not read, and what it heard and may not do.
  drawArbiter(threads) {
    const { last_extraction: last, last_extraction_error: trouble } = this.context;
    const { last_extracted_msg_id: read = Infinity } = this.context;
    const { suggestions = [] } = this.context;
    const { parts } = this;
    parts.arbiter.hidden = !last && !trouble && suggestions.length === 0;
    parts.arbiterTrouble.hidden = !trouble;
    fill(parts.arbiterTrouble, trouble ? said("span", `Not all could be read: ${trouble}`) : null);
    parts.arbiterBy.hidden = !last;
    if (last) {
      const model = said("span", `${last.model} (${last.adapter})`);
      const record = receipt(this.room, last.log_seq);
      // An attempt that failed read nothing.
      const verb = last.message_id > read ? "Last tried " : "Last read ";
      fill(parts.arbiterBy, verb, this.jump(last.message_id), " by ", model, " · ", record);
    }
    parts.suggestions.hidden = suggestions.length === 0;
    fill(parts.suggestionList, ...suggestions.map((one) => this.suggestion(one, threads)));
  }

  suggestion(one, threads) {
    const thread = threads.find((thread) => thread.id === one.claim_id);
    const subject = said("span", thread?.subject ?? short(one.claim_id), { class: "subject" });
    const value = one.kind === "retract" ? [] : [": ", said("span", one.value, { class: "value" })];
    const verb = HEARD[one.kind] ?? one.kind;
    const made = el("li", {}, agent(one.agent_id), ` ${verb} `, subject, ...value);
    if (one.quote) made.append(said("blockquote", one.quote));
    made.append(el("p", { class: "place" }, this.jump(one.source_msg_id)));
    return made;
  }

  jump(n) {
    const link = el("a", { href: `#m${n}` }, `message #${n}`);
    link.addEventListener("click", () => this.onJump(n));
    return link;
  }

  /// Whether the present state is sealed is for the server to say: it counts parties, and two names
  /// whose acts one key signed are one.
  drawHandshakes() {
    const { context_hash: hash = "", threads = [], log_seq: seq = Infinity } = this.context;
    const { parts } = this;
    // What came after the context was read is shown with the next.
    const known = this.handshakes.filter((one) => (one.log_seq ?? 0) <= seq);
    const live = known.filter((one) => one.context_hash === hash);
    const counted = threads.filter((thread) => thread.status !== "cancelled");
    const values = counted.map((thread) => thread.value_revision_id ?? 0);
    const { names, late } = shaken(live, Math.max(0, ...values));
    const { sealed = names.length >= 2 } = this.context;
    parts.handshakes.hidden = known.length === 0 && threads.length === 0;
    const agreed = counted.filter((thread) => thread.status === "agreed").length;
    const whole = agreed > 0 && agreed === counted.length;
    const kind = sealed ? (whole ? "good" : "warn") : "";
    const of = `${count(agreed)} of ${some(counted.length, "thread")} agreed`;
    parts.sealed.className = `seal ${kind}`;
    parts.sealed.textContent = `${sealed ? "Sealed" : "Not sealed"}: ${of}`;
    fill(parts.why, ...why(sealed, { names, late }, agreed));
    fill(parts.hash, "State ", el("code", { title: hash }, short(hash)));
    const newest = known.toReversed().slice(0, HANDSHAKES);
    fill(parts.handshakeList, ...newest.map((one) => this.handshake(one, hash)));
  }

  handshake(one, hash) {
    const now = one.context_hash === hash;
    const state = el("code", { title: one.context_hash }, short(one.context_hash));
    const on = now ? [" on this state"] : [" on an earlier state ", state];
    const facts = [clock(one.created_at), signed(one)];
    if (one.log_seq) facts.push(receipt(this.room, one.log_seq));
    return el(
      "li",
      { class: now ? "" : "past" },
      el("p", {}, agent(one.agent_id), ...on),
      el("p", { class: "place" }, ...facts),
    );
  }
}

/// Who shook hands on a state, and who of them signed for values from before the newest: an agent's
/// newest handshake counts, and one that does not say what was read counts for the state alone.
function shaken(handshakes, newestValue) {
  const read = new Map(handshakes.map((one) => [one.agent_id, one.position]));
  const isLate = (name) => (read.get(name) ?? newestValue) < newestValue;
  const all = [...read.keys()];
  return { names: all.filter((name) => !isLate(name)), late: all.filter(isLate) };
}

function someOf(names) {
  const shown = names.slice(0, NAMES).map(agent);
  if (names.length > NAMES) shown.push(some(names.length - NAMES, "other"));
  return all(shown);
}

/// Who shook hands on the present state, and what that makes of it.
function why(sealed, { names, late }, agreed) {
  const who = someOf(names);
  const again = late.length
    ? [" ", ...someOf(late), " signed for an earlier value, and would have to shake hands again."]
    : [];
  return [...standing(sealed, names, who, agreed), ...again];
}

function standing(sealed, names, who, agreed) {
  if (sealed) {
    const but = agreed ? "." : ", in which nothing is agreed.";
    return [...who, ` shook hands on exactly this state${but}`];
  }
  if (names.length === 0) return ["Nobody has shaken hands on this state yet."];
  if (names.length === 1) return [...who, " shook hands on this state. Another party has to."];
  const one = names.length === 2 ? "both" : "all these";
  return [
    ...who,
    ` shook hands on this state, but one key signed for ${one} names, so they count as one party.`,
  ];
}

/// When a thread is agreed in this room.
function rule(needed) {
  if (!needed) return "";
  const others = needed === 1 ? "1 agent confirms" : `${count(needed)} agents confirm`;
  return `Here it is agreed when ${others} its value, besides whoever opened it.`;
}

function summary(threads) {
  if (!threads.length) return "No thread has been opened yet.";
  const order = ["agreed", "disputed", "proposed", "cancelled"];
  const number = (status) => threads.filter((thread) => thread.status === status).length;
  const parts = order.map((status) => [number(status), status]).filter(([n]) => n > 0);
  return parts.map(([n, status]) => `${count(n)} ${status}`).join(" · ");
}

/// How far a thread is from agreement.
function support(thread) {
  const { confirmations, confirmations_needed: needed, revisions_count: revisions } = thread;
  const ledger = some(revisions ?? 0, "entry", "entries");
  if (confirmations === undefined || needed === undefined) return ` · ${ledger}`;
  // A server may count the confirmations or name who gave them.
  const got = Array.isArray(confirmations) ? confirmations.length : confirmations;
  return ` · ${count(got)} of ${some(needed, "confirmation")} · ${ledger}`;
}

function signed(act) {
  if (!act.pubkey_hex) return el("span", {}, "not signed");
  const title = `Signed with the key ${act.pubkey_hex}`;
  return el("span", { title }, "signed ", el("code", {}, short(act.pubkey_hex)));
}
