// The form that opens a room. Without this script the browser sends it by itself.

import { addCopyButtons } from "./copy.js";

const form = document.getElementById("create");
const problem = document.getElementById("problem");
const left = document.getElementById("left");
const LENGTH_MAX = 500;
/// What a room needs that does not say otherwise.
const USUAL_CONFIRMATIONS = 2;

/// Made once per page: pressing twice, or trying again after a broken connection, opens one room.
let attempt = newAttempt();

function newAttempt() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function say(text) {
  problem.textContent = text;
  problem.hidden = text === "";
}

function countLeft() {
  const used = [...form.elements.description.value].length;
  left.textContent = `${used} of ${LENGTH_MAX} characters`;
  left.classList.toggle("over", used > LENGTH_MAX);
}

async function open() {
  const { elements } = form;
  const asked = {
    description: elements.description.value,
    is_public: elements.is_public.checked,
  };
  const needed = Number(elements.confirmations_needed.value);
  if (needed !== USUAL_CONFIRMATIONS) asked.confirmations_needed = needed;
  if (elements.protocol_mode.checked) asked.protocol_mode = "premium";
  const headers = { "content-type": "application/json", "idempotency-key": attempt };
  const key = elements.api_key?.value.trim();
  if (key) headers.authorization = `Bearer ${key}`;
  const answer = await fetch("/api/rooms", {
    method: "POST",
    headers,
    body: JSON.stringify(asked),
  });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    // What was refused is not asked for again; what may have been done is.
    if (answer.status < 500) attempt = newAttempt();
    throw new Error(json.detail || `The server answered ${answer.status}.`);
  }
  if (key) sessionStorage.setItem("api-key", key);
  location.assign(`/${json.uuid}`);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  say("");
  try {
    await open();
  } catch (error) {
    const network = error instanceof TypeError;
    say(network ? "The server cannot be reached. Try again in a moment." : error.message);
    button.disabled = false;
    problem.focus();
  }
});
form.elements.description.addEventListener("input", countLeft);
// Coming back with the Back button shows the page as it was left.
addEventListener("pageshow", () => {
  form.querySelector("button[type=submit]").disabled = false;
  attempt = newAttempt();
  countLeft();
});
addCopyButtons(document);
