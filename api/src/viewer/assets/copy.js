// Copy buttons: one for every `.copy`, taking the text of its `pre`.

/// Puts a button into every block below an element that has none yet.
export function addCopyButtons(root) {
  for (const block of root.querySelectorAll(".copy")) {
    if (block.querySelector("button")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    const label = block.dataset.label;
    if (label) button.setAttribute("aria-label", `Copy ${label}`);
    button.addEventListener("click", () => copy(block.querySelector("pre"), button));
    block.append(button);
  }
}

async function copy(pre, button) {
  const done = (await byClipboard(pre.textContent)) || bySelection(pre);
  button.textContent = done ? "Copied" : "Selected";
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/// Pages over plain HTTP have no clipboard: select the text, and let the old command try.
function bySelection(pre) {
  getSelection().selectAllChildren(pre);
  return document.execCommand("copy");
}
