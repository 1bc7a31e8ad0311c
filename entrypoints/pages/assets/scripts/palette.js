// The palette of the consoles: finds pages, actions, people and more while one types, by the keyboard alone.
//
// The server answers with the options, which are what the page with the results has. The field keeps the focus, and names the
// option that Enter opens (WAI-ARIA's combobox with a listbox). The dialog keeps the focus inside, and gives it back.
"use strict";

(() => {
  const TYPING_MS = 150;
  // As the server: fewer letters find nothing, so what is there stays.
  const LETTERS_MIN = 2;

  const opener = document.getElementById("palette-opener");
  const dialog = document.getElementById("palette");
  if (opener === null || typeof dialog?.showModal !== "function") {
    return;
  }
  const field = document.getElementById("palette-field");
  const list = document.getElementById("palette-list");
  const state = document.getElementById("palette-state");
  // Without this script neither is used, and every page is shorter without these.
  opener.setAttribute("aria-haspopup", "dialog");
  opener.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
  for (const [name, value] of Object.entries({
    "aria-autocomplete": "list",
    "aria-controls": "palette-list",
    "aria-expanded": "false",
    autocapitalize: "none",
    autocomplete: "off",
    enterkeyhint: "go",
    role: "combobox",
    spellcheck: "false",
  })) {
    field.setAttribute(name, value);
  }
  // The text whose options are shown; null before there are any.
  let shown = null;
  let isAsking = false;
  let isEntered = false;
  let timer = null;

  const text = () => {
    const typed = field.value.trim();
    return typed.length < LETTERS_MIN ? "" : typed;
  };
  const options = () => [...list.querySelectorAll('[role="option"]')];
  const chosen = () => list.querySelector('[aria-selected="true"]');

  function choose(option) {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) {
      field.setAttribute("aria-activedescendant", option.id);
    } else {
      field.removeAttribute("aria-activedescendant");
    }
  }

  function open(option) {
    dialog.close();
    option.click();
  }

  function show(answer) {
    list.replaceChildren(...answer.childNodes);
    list.hidden = options().length === 0;
    list.scrollTop = 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    state.textContent = answer.dataset.said;
    state.classList.add("unseen");
    // Enter opens nothing before the reader has searched.
    choose(text() === "" ? null : options()[0]);
  }

  // One question at a time: what was typed in the meantime is asked for next.
  async function ask() {
    clearTimeout(timer);
    const asked = text();
    if (isAsking || asked === shown) {
      return;
    }
    isAsking = true;
    try {
      const address = `${list.dataset.asks}?${new URLSearchParams({ q: asked })}`;
      const response = await fetch(address, { headers: { Accept: "text/html" }, redirect: "error" });
      if (!response.ok) {
        throw new Error(String(response.status));
      }
      const answer = new DOMParser().parseFromString(await response.text(), "text/html");
      show(answer.querySelector("[data-said]"));
      shown = asked;
    } catch {
      // The page with the results says what is the matter, such as a session that has ended.
      shown = null;
      list.replaceChildren();
      list.hidden = true;
      field.setAttribute("aria-expanded", "false");
      state.textContent = state.dataset.failed;
      state.classList.remove("unseen");
      choose(null);
      if (isEntered) {
        field.form.submit();
      }
      return;
    } finally {
      isAsking = false;
    }
    if (text() !== shown) {
      await ask();
    } else if (isEntered) {
      enter();
    }
  }

  function enter() {
    isEntered = false;
    const option = chosen();
    if (option) {
      open(option);
    }
  }

  opener.hidden = false;
  opener.closest(".bar").classList.add("has-palette");
  if (navigator.platform.startsWith("Mac")) {
    opener.querySelector("kbd").textContent = "⌘K";
  }
  opener.addEventListener("click", () => {
    if (dialog.open) {
      dialog.close();
      return;
    }
    // What is there may have changed since.
    shown = null;
    isEntered = false;
    dialog.showModal();
    field.focus();
    field.select();
    ask();
  });
  document.getElementById("palette-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) {
      dialog.close();
    }
  });
  list.addEventListener("click", () => dialog.close());
  list.addEventListener("pointermove", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option && option !== chosen()) {
      choose(option);
    }
  });

  field.addEventListener("input", () => {
    isEntered = false;
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const all = options();
      const from = all.indexOf(chosen());
      choose(event.key === "ArrowDown" ? all[(from + 1) % all.length] : all.at(from < 0 ? -1 : from - 1));
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      // Who types quickly presses it before the options are there.
      isEntered = true;
      if (text() === shown) {
        enter();
      } else {
        ask();
      }
    }
  });

  // A page that is gone back to shows itself.
  addEventListener("pagehide", () => dialog.close());
})();
