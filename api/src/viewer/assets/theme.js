// Light, dark or whatever the system says. Runs before the first paint, so that nothing flashes.
"use strict";

(() => {
  const ORDER = ["auto", "light", "dark"];
  const WORDS = { auto: "Auto", light: "Light", dark: "Dark" };

  const read = () => {
    try {
      const kept = localStorage.getItem("theme");
      return ORDER.includes(kept) ? kept : "auto";
    } catch {
      return "auto";
    }
  };
  const keep = (theme) => {
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // A browser that keeps nothing still shows what was chosen.
    }
  };

  let theme = read();
  const apply = () => {
    const root = document.documentElement;
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.textContent = WORDS[theme];
    button.setAttribute("aria-label", `Colours: ${WORDS[theme].toLowerCase()}. Change`);
  };

  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
      keep(theme);
      apply();
    });
    apply();
  });
})();
