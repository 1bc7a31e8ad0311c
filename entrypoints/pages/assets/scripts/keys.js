// The keys of the console: "/" and Ctrl-K open its palette or go to the search, "?" shows the dialog with the keys.
//
// "/" and "?" act only where no field has the focus, and can be turned off in the dialog (WCAG 2.1.4), whose button then
// stays. The choice is kept in this browser.
"use strict";

(() => {
  const KEPT = "gatehouse.keys";
  const TYPED_IN = "input, textarea, select, [contenteditable]";
  const dialog = document.getElementById("keys");
  const button = document.getElementById("keys-button");
  const choice = document.getElementById("keys-on");
  if (dialog === null || button === null || choice === null || typeof dialog.showModal !== "function") {
    return;
  }

  // A browser may refuse to keep anything; then the choice lasts as long as the page.
  try {
    choice.checked = localStorage.getItem(KEPT) !== "off";
  } catch {
    choice.checked = true;
  }
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem(KEPT, choice.checked ? "on" : "off");
    } catch {
      // It is not kept.
    }
  });

  const show = () => {
    if (!dialog.open) {
      dialog.showModal();
    }
  };
  button.hidden = false;
  button.querySelector("button").addEventListener("click", show);
  document.getElementById("keys-close").addEventListener("click", () => dialog.close());

  // The consoles have a palette (palette.js). A page without one has its own search, or the search of its list.
  const palette = document.getElementById("palette");
  const opener = document.getElementById("palette-opener");
  const goToSearch = (event) => {
    const field = document.getElementById("find") ?? document.querySelector('main form[role="search"] input');
    if (opener !== null && !opener.hidden) {
      event.preventDefault();
      opener.click();
    } else if (field !== null) {
      // The key is not typed into the field.
      event.preventDefault();
      field.focus();
      field.select();
    }
  };

  // The browser empties the field first.
  document.getElementById("find")?.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.value === "") {
      event.target.blur();
    }
  });

  // On a Mac, Ctrl-K deletes to the end of the line.
  const isMac = navigator.platform.startsWith("Mac");

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || dialog.open) {
      return;
    }
    const isOne = event.ctrlKey !== event.metaKey && (isMac ? event.metaKey : event.ctrlKey);
    if (isOne && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      goToSearch(event);
      return;
    }
    const isCombined = event.ctrlKey || event.metaKey || event.altKey;
    if (palette?.open) {
      return;
    }
    const isTyped = event.target instanceof Element && event.target.closest(TYPED_IN) !== null;
    if (!choice.checked || isCombined || isTyped) {
      return;
    }
    if (event.key === "?") {
      event.preventDefault();
      show();
    } else if (event.key === "/") {
      goToSearch(event);
    }
  });
})();
