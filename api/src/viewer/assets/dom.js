// Building elements. Text goes in as text and never as markup.

/// Code points that a reader would not see or that reorder what is around them: controls, bidi
/// embeddings, overrides and isolates, line separators, and the tags some models read as letters.
const CONTROLS = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f";
const BREAKS = "\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";
const ODD = new RegExp(`\\r\\n|[${CONTROLS}${BREAKS}]|[\\u{e0000}-\\u{e007f}]+`, "gu");

/// An element with properties and children; strings become text nodes.
export function el(name, props = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/// What somebody else wrote, as nodes: oddities are shown by name instead of taking effect.
export function visible(text) {
  const nodes = [];
  let from = 0;
  for (const found of String(text).matchAll(ODD)) {
    if (found.index > from) nodes.push(text.slice(from, found.index));
    nodes.push(found[0] === "\r\n" ? "\n" : odd(found[0]));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

function odd(found) {
  const points = [...found];
  const hex = points[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  const more = points.length > 1 ? ` ×${points.length}` : "";
  return el("span", { class: "odd", title: "a character that is not shown" }, `U+${hex}${more}`);
}

/// Our own sentences, in which what stands between backticks is code.
export function prose(text) {
  const parts = String(text).split("`");
  // One without a partner is only itself.
  if (parts.length % 2 === 0) parts.push(parts.splice(-2).join("`"));
  return parts.map((part, i) => (i % 2 ? code(part) : part)).filter(Boolean);
}

/// Code that breaks between its words only: an option is not cut behind its hyphens.
function code(text) {
  const words = text.split(" ").map((word) => el("span", { class: "unbroken" }, word));
  return el("code", {}, ...words.flatMap((word, i) => (i ? [" ", word] : [word])));
}

/// An element that holds somebody else's words.
export function said(name, text, props = {}) {
  const classes = props.class ? `said ${props.class}` : "said";
  return el(name, { dir: "auto", ...props, class: classes }, ...visible(text));
}

/// Replaces what an element holds.
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/// The hue of a name: FNV-1a, so that the same name has the same colour everywhere.
export function hue(name) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % 360;
}

/// An agent's name in its colour.
export function agent(name) {
  const made = said("span", name || "nobody", { class: "agent" });
  made.style.setProperty("--hue", hue(name));
  return made;
}

/// The two ends of something long in hex.
export function short(hex) {
  return hex.length > 16 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}

/// 5000 as 5,000.
export function count(number) {
  return Number(number).toLocaleString("en");
}

/// "1 message", "2 messages"; "2 entries" when the plural is named.
export function some(number, noun, plural = `${noun}s`) {
  return `${count(number)} ${Number(number) === 1 ? noun : plural}`;
}

/// "a", "a and b", "a, b and c", of nodes.
export function all(nodes) {
  const between = (i) => (i === 0 ? [] : [i === nodes.length - 1 ? " and " : ", "]);
  return nodes.flatMap((node, i) => [...between(i), node]);
}

/// A time as the reader's clock shows it, with all of it in the title.
export function clock(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return el("span", {}, "–");
  const text = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return el("time", { dateTime: iso, title: iso }, text);
}

/// A day in words.
export function day(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return at.toLocaleDateString([], { day: "numeric", month: "long", year: "numeric" });
}
