// The reference: its search answers while one types, and an address of an earlier version, which had everything on one
// page, redirects to the page of its operation or error code.
"use strict";

const TYPING_MS = 150;
const SEARCH = "/docs";
const PAGES = "/docs/pages";

const field = document.getElementById("find");
const found = document.querySelector("[data-found]");
const state = document.querySelector("[data-found-state]");
const content = document.querySelector("[data-unless-found]");
const opened = location.href;
let asked = null;
let timer = null;

async function search() {
  asked?.abort();
  const text = field.value.trim();
  if (text === "") {
    if (new URL(opened).searchParams.has("q")) {
      // The page was opened for its results, and has nothing else.
      location.replace(SEARCH);
      return;
    }
    found.replaceChildren();
    state.textContent = "";
    content.hidden = false;
    history.replaceState(null, "", opened);
    return;
  }
  asked = new AbortController();
  const address = `${SEARCH}?${new URLSearchParams({ q: text })}`;
  try {
    const response = await fetch(address, { signal: asked.signal });
    if (!response.ok) {
      return;
    }
    const answer = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-found]");
    found.replaceChildren(...answer.childNodes);
    content.hidden = true;
    state.textContent = [...found.querySelectorAll(".empty, h2 + ul, h2 + dl")]
      .map((part) => (part.matches(".empty") ? part.textContent : `${part.previousElementSibling.textContent}: ${part.children.length}`))
      .join(", ");
    history.replaceState(null, "", address);
  } catch {
    // Another letter was typed, or the server is away: Enter opens the page with the results.
  }
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, TYPING_MS);
});

// Only lines of lists have the anchors of an earlier version, and no link of these pages leads to one of them.
function leadOn() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  if (anchor === "" || ![SEARCH, PAGES].includes(location.pathname)) {
    return;
  }
  const line = document.getElementById(anchor);
  if (line?.matches("li")) {
    location.replace(line.querySelector("a").href);
  } else if (line === null && location.pathname === SEARCH) {
    location.replace(PAGES + location.hash);
  }
}

addEventListener("hashchange", leadOn);
leadOn();
