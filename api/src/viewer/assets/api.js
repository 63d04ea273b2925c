// Asking the server. The key, when the server wants one, stays in this tab.

const KEY = "api-key";

/// An answer that is an error.
export class Refused extends Error {
  constructor(status, detail, retryAfter) {
    super(detail || `The server answered ${status}.`);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /// Whether a key, or another key, could help.
  get wantsKey() {
    return this.status === 401 || this.status === 403;
  }
}

function kept() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/// Keeps a key until the tab is closed.
export function keepKey(key) {
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // Then it is asked for again.
  }
}

/// Headers of a request.
export function headers(more = {}) {
  const key = kept();
  return key ? { ...more, authorization: `Bearer ${key}` } : more;
}

/// The error in an answer.
export async function refusal(answer) {
  const json = await answer.json().catch(() => ({}));
  const retryAfter = Number(answer.headers.get("retry-after")) || null;
  return new Refused(answer.status, json.detail, retryAfter);
}

/// A GET of JSON.
export async function get(path) {
  const answer = await fetch(path, { headers: headers(), cache: "no-cache" });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

/// A POST without a body.
export async function post(path) {
  const answer = await fetch(path, { method: "POST", headers: headers() });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

/// Makes a link to something that may need a key: a link by itself cannot carry one.
export function carryKey(link, name) {
  link.addEventListener("click", (event) => {
    if (!kept()) return;
    event.preventDefault();
    save(link.getAttribute("href"), name).catch(() => {});
  });
}

async function save(path, name) {
  const answer = await fetch(path, { headers: headers() });
  if (!answer.ok) throw await refusal(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
