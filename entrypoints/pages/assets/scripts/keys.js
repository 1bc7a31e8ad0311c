// The keys of the console: "/" goes to the search of the page, "?" shows the dialog with the keys.
//
// They act only where no field has the focus, and can be turned off in the dialog (WCAG 2.1.4), whose button then stays.
// The choice is kept in this browser.
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

  // The list of a page comes before the search of the navigation.
  const search = () =>
    document.querySelector('main form[role="search"] input:not([type="hidden"])') ??
    document.querySelector('nav form[role="search"] input');

  document.addEventListener("keydown", (event) => {
    const isCombined = event.ctrlKey || event.metaKey || event.altKey;
    const isTyped = event.target instanceof Element && event.target.closest(TYPED_IN) !== null;
    if (!choice.checked || event.defaultPrevented || event.isComposing || isCombined || isTyped || dialog.open) {
      return;
    }
    if (event.key === "?") {
      event.preventDefault();
      show();
    } else if (event.key === "/") {
      const field = search();
      if (field !== null) {
        // The key is not typed into the field.
        event.preventDefault();
        field.focus();
        field.select();
      }
    }
  });
})();
