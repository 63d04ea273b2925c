// The conversation: a window of messages in the page, any of which can be fetched again by its
// position. What is far away is not kept, so a room of any length costs the same.

import * as api from "./api.js";
import { count, some } from "./dom.js";
import { item, join } from "./message.js";

const PAGE = 100;
/// Messages in the page, at most, while one reads back; a little more while one only watches.
const WINDOW = 300;
const SLACK = 200;
/// So long new ones are collected.
const TOGETHER_SHOWN_MS = 30;
/// So near to the end one is watching it, not reading back, and not what stands below it.
const PINNED_PX = 120;

/// The window and its controls.
export class Messages {
  constructor(room, parts, { onLoaded, onChange }) {
    this.room = room;
    this.parts = parts;
    this.onLoaded = onLoaded;
    this.onChange = onChange;
    /// What is shown, as `{ message, item }`, without gaps.
    this.rows = [];
    /// How many messages the room has.
    this.total = 0;
    /// New ones that nobody has seen, and those not shown yet.
    this.unseen = 0;
    this.arrived = [];
    this.loading = Promise.resolve();
    this.busy = false;
    /// Whether the end is being watched.
    this.stuck = false;
    parts.older.addEventListener("click", () => this.older());
    parts.newer.addEventListener("click", () => this.newer());
    parts.latest.addEventListener("click", () => this.toLatest());
    parts.first.addEventListener("click", () => this.show(1));
    this.watchEnds();
  }

  get first() {
    return this.rows.length ? this.rows[0].message.id : 1;
  }

  get last() {
    return this.rows.length ? this.rows.at(-1).message.id : 0;
  }

  get atEnd() {
    return this.last >= this.total;
  }

  /// Begins: at the message the address names, else at the end.
  async start(total, asked) {
    this.total = total;
    if (asked !== null && asked >= 1 && asked <= total) await this.show(asked);
    else await this.toLatest();
  }

  /// Reads messages after a position.
  async page(since, limit) {
    const query = `since=${Math.max(0, since)}&limit=${limit}`;
    const answer = await api.get(`/api/rooms/${this.room}/messages?${query}`);
    this.onLoaded(answer.messages);
    return answer.messages;
  }

  /// One change of the window at a time.
  turn(work) {
    const run = async () => {
      this.busy = true;
      this.parts.list.setAttribute("aria-busy", "true");
      try {
        await work();
        this.parts.trouble.hidden = true;
      } catch (error) {
        this.parts.trouble.hidden = false;
        this.parts.trouble.textContent = `Messages could not be loaded: ${error.message}`;
      } finally {
        this.busy = false;
        this.parts.list.setAttribute("aria-busy", "false");
        this.update();
      }
    };
    this.loading = this.loading.then(run);
    return this.loading;
  }

  /// The newest messages, at the bottom.
  toLatest() {
    return this.turn(async () => {
      this.replace(await this.page(this.total - PAGE, PAGE));
      this.unseen = 0;
      this.stuck = this.total > 0;
      if (this.stuck) this.toEnd();
    });
  }

  /// The messages around a position, with that one in view.
  show(n) {
    return this.turn(async () => {
      if (!this.row(n)) this.replace(await this.page(n - PAGE / 2, PAGE));
      const row = this.row(n);
      if (!row) return;
      row.item.scrollIntoView({ block: "center" });
      row.item.focus({ preventScroll: true });
    });
  }

  older() {
    return this.turn(async () => {
      if (this.first <= 1) return;
      const before = this.first;
      const from = Math.max(0, before - PAGE - 1);
      const found = await this.page(from, Math.min(PAGE, before - 1 - from));
      const anchor = this.rows[0];
      stay(anchor.item, () => {
        this.insert(found, 0);
        this.trim(this.rows.length - WINDOW, false);
      });
    });
  }

  newer() {
    return this.turn(async () => {
      if (this.atEnd) return;
      const found = await this.page(this.last, PAGE);
      const anchor = this.isBelow() ? this.parts.after : this.rows.at(-1).item;
      stay(anchor, () => {
        this.insert(found, this.rows.length);
        this.trim(this.rows.length - WINDOW, true);
      });
    });
  }

  /// A message that has just been posted. Those of one moment are shown together.
  add(message) {
    this.arrived.push(message);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.arrive();
    }, TOGETHER_SHOWN_MS);
  }

  arrive() {
    const fresh = this.arrived.filter((message) => message.id > this.total);
    this.arrived = [];
    if (!fresh.length) return;
    const { atEnd, total } = this;
    const stick = this.isPinned();
    const whole = fresh.every((message, i) => message.id === total + 1 + i);
    const room = stick || this.rows.length + fresh.length <= WINDOW + SLACK;
    this.total = fresh.at(-1).id;
    this.unseen += fresh.length;
    if (atEnd && room && whole && !this.busy) {
      const insert = () => this.insert(fresh, this.rows.length);
      if (this.isBelow()) stay(this.parts.after, insert);
      else insert();
      if (stick) this.watch();
    } else if (atEnd && room) {
      this.newer().then(() => stick && this.watch());
    }
    this.update();
  }

  /// Keeps the end in view.
  watch() {
    this.trim(this.rows.length - WINDOW, true);
    this.toEnd();
    this.seen();
  }

  /// How far the conversation's end is below the window's.
  beyond() {
    return this.parts.talk.getBoundingClientRect().bottom - innerHeight;
  }

  /// Where the page is scrolled to when the conversation's end is the window's.
  endAt() {
    return Math.max(0, scrollY + this.beyond());
  }

  /// Whether the end is being watched.
  isPinned() {
    return Math.abs(scrollY - this.endAt()) < PINNED_PX;
  }

  /// Whether what stands below the conversation is being read: on a narrow page, the record.
  isBelow() {
    return scrollY - this.endAt() >= PINNED_PX;
  }

  toEnd() {
    scrollTo({ top: this.endAt(), behavior: "instant" });
  }

  /// What is at the end was seen, when somebody looks.
  seen() {
    this.stuck = this.isPinned();
    const inView = this.beyond() < PINNED_PX && this.beyond() > -innerHeight / 2;
    if (this.atEnd && (this.stuck || inView) && !document.hidden) this.unseen = 0;
    this.update();
  }

  /// Reads what is shown again: something in it was erased.
  refresh() {
    return this.turn(async () => {
      if (!this.rows.length) return;
      const fresh = await this.page(this.first - 1, this.last - this.first + 1);
      const y = scrollY;
      this.replace(fresh);
      scrollTo(0, y);
    });
  }

  row(n) {
    const found = this.rows[n - this.first];
    return found && found.message.id === n ? found : undefined;
  }

  replace(messages) {
    this.rows = [];
    this.parts.list.replaceChildren();
    this.insert(messages, 0);
  }

  insert(messages, at) {
    const made = messages.map((message) => ({ message, item: item(this.room, message) }));
    const next = this.rows[at]?.item ?? null;
    const fragment = document.createDocumentFragment();
    for (const row of made) fragment.append(row.item);
    this.parts.list.insertBefore(fragment, next);
    this.rows.splice(at, 0, ...made);
    const end = Math.min(at + made.length, this.rows.length - 1);
    for (let i = at; i <= end; i += 1) join(this.rows[i - 1]?.message, this.rows[i]);
  }

  /// Takes so many messages out, at the beginning or at the end.
  trim(number, atStart) {
    if (number <= 0) return;
    const out = atStart ? this.rows.splice(0, number) : this.rows.splice(-number);
    for (const { item: gone } of out) gone.remove();
    if (this.rows.length) join(undefined, this.rows[0]);
  }

  /// Loads more when an end of the window comes into view.
  watchEnds() {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting || this.busy) continue;
          if (entry.target === this.parts.older) this.older();
          else this.newer();
        }
      },
      { rootMargin: "600px 0px" },
    );
    seen.observe(this.parts.older);
    seen.observe(this.parts.newer);
    addEventListener("scroll", () => this.seen(), { passive: true });
    document.addEventListener("visibilitychange", () => this.seen());
    this.watchAbove();
  }

  /// When what stands above grows, whoever watches the end stays there, and whoever reads keeps
  /// his line. What scrolls by itself, as the record beside the conversation, moves nobody.
  watchAbove() {
    for (const above of this.parts.above) {
      let height = above.offsetHeight;
      new ResizeObserver(() => {
        const grown = above.offsetHeight - height;
        height = above.offsetHeight;
        const side = above.closest("aside");
        if (side && getComputedStyle(side).position === "sticky") return;
        const wasAbove = above.getBoundingClientRect().bottom - grown <= 0;
        if (this.stuck) this.toEnd();
        else if (wasAbove) scrollBy({ top: grown, behavior: "instant" });
      }).observe(above);
    }
  }

  /// The controls around the list, as the window is now.
  update() {
    const { parts } = this;
    parts.older.hidden = this.first <= 1;
    parts.first.hidden = this.first <= 1;
    parts.newer.hidden = this.atEnd;
    parts.empty.hidden = this.total > 0;
    parts.invite.hidden = this.total === 0;
    const below = this.isBelow();
    // Whoever reads the record is not called back for nothing.
    const far = below ? this.unseen > 0 : !this.atEnd || !this.isPinned();
    parts.latest.hidden = this.total === 0 || !far;
    const news = this.unseen > 0 ? some(this.unseen, "new message") : "Latest";
    parts.latest.textContent = `${news} ${below ? "↑" : "↓"}`;
    parts.span.textContent = this.rows.length
      ? `Messages ${count(this.first)} to ${count(this.last)} of ${count(this.total)}`
      : "";
    parts.total.textContent = some(this.total, "message");
    this.onChange(this);
  }
}

/// Changes the list without moving what is read.
function stay(anchor, change) {
  const before = anchor.getBoundingClientRect().top;
  change();
  if (!anchor.isConnected) return;
  scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
}
