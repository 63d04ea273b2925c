// The live stream: Server-Sent Events read by fetch, because an EventSource can send no key and
// tells nobody why it was refused.

import { headers, refusal } from "./api.js";

/// The server sends a comment every 15 s; three missed ones are a dead connection.
const SILENCE_MS = 45_000;
const RETRY_MS = 3_000;
const RETRY_MS_MAX = 30_000;
/// A browser has six connections to a server: tabs nobody looks at give theirs back.
const HIDDEN_MS = 30_000;

/// Follows one path, for as long as the page lives.
///
/// `onEvent(name, data, id)` gets every event once and in order; `onState(state, details)` gets
/// `connecting`, `live`, `waiting`, `hidden`, `gone` or `refused`.
export class Stream {
  constructor(path, since, { onEvent, onState }) {
    this.path = path;
    this.last = String(since);
    this.onEvent = onEvent;
    this.onState = onState;
    this.retry = RETRY_MS;
    this.failures = 0;
    this.over = false;
    this.paused = false;
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => this.looked());
  }

  /// Connects, and again whenever the connection ends.
  async run() {
    while (!this.over) {
      if (this.paused) {
        this.onState("hidden");
        await this.sleep(null);
        continue;
      }
      let wait = null;
      try {
        this.onState("connecting");
        await this.connect();
      } catch (error) {
        if (this.stopAt(error)) return;
        wait = error.retryAfter ? error.retryAfter * 1000 : null;
      }
      if (this.over || this.paused) continue;
      await this.pause(wait);
    }
  }

  /// Ends for good.
  stop() {
    this.over = true;
    this.abort?.abort();
    this.hurry();
  }

  stopAt(error) {
    if (error.status === 404) this.onState("gone");
    else if (error.wantsKey) this.onState("refused", error);
    else return false;
    this.over = true;
    return true;
  }

  async pause(wait) {
    const backoff = Math.min(this.retry * 2 ** this.failures, RETRY_MS_MAX);
    // Spread, so that a restarted server does not meet everybody at once.
    const ms = wait ?? backoff * (0.7 + Math.random() * 0.3);
    this.failures += 1;
    this.onState("waiting", { ms, offline: navigator.onLine === false });
    await this.sleep(ms);
  }

  sleep(ms) {
    return new Promise((resolve) => {
      this.wake = resolve;
      if (ms !== null) setTimeout(resolve, ms);
    });
  }

  hurry() {
    this.wake?.();
  }

  looked() {
    clearTimeout(this.hiding);
    if (document.visibilityState === "hidden") {
      this.hiding = setTimeout(() => {
        this.paused = true;
        this.abort?.abort();
      }, HIDDEN_MS);
      return;
    }
    this.paused = false;
    this.hurry();
  }

  async connect() {
    this.abort = new AbortController();
    const asked = headers({ accept: "text/event-stream", "last-event-id": this.last });
    const answer = await fetch(this.path, {
      headers: asked,
      cache: "no-store",
      signal: this.abort.signal,
    });
    if (!answer.ok) throw await refusal(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const frames = new Frames((frame) => this.take(frame));
    let watchdog;
    const fed = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => this.abort.abort(), SILENCE_MS);
    };
    try {
      fed();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        fed();
        frames.push(value);
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  take({ name, data, id, retry }) {
    if (retry) this.retry = Math.min(Math.max(retry, 500), RETRY_MS_MAX);
    if (name === "ready") {
      this.failures = 0;
      this.onState("live");
    }
    if (data === null) return;
    let json;
    try {
      json = JSON.parse(data);
    } catch {
      return;
    }
    this.onEvent(name, json, id);
    if (id !== null) this.last = id;
  }
}

/// Splits text into frames.
class Frames {
  constructor(onFrame) {
    this.onFrame = onFrame;
    this.rest = "";
    this.clear();
  }

  clear() {
    this.name = "message";
    this.lines = [];
    this.id = null;
    this.retry = null;
  }

  push(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  line(line) {
    if (line === "") {
      this.end();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.lines.push(value);
    else if (field === "event") this.name = value;
    else if (field === "id" && /^\d+$/.test(value)) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  end() {
    const data = this.lines.length ? this.lines.join("\n") : null;
    const { name, id, retry } = this;
    this.clear();
    if (data !== null || id !== null || retry !== null) this.onFrame({ name, data, id, retry });
  }
}
