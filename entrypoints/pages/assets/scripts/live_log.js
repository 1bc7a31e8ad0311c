// Follows an audit log: requests new entries, which the server answers when there are some, and puts them on top.
//
// The address of the next question comes with each answer. Where the server takes no more readers, the page is loaded
// again from time to time instead, as without scripts.
"use strict";

const ROWS_MAX = 500;
const ERRORS_MAX = 5;

const live = document.querySelector("[data-feed]:not([data-feed=''])");
const state = document.querySelector("[data-live-state]");

function pause(seconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

function show(table, answer) {
  const body = table.tBodies[0];
  // The newest comes first; an entry that is there already is left out.
  for (const row of [...answer.querySelectorAll("tbody tr")].reverse()) {
    if (document.getElementById(row.id) === null) {
      const taken = document.importNode(row, true);
      inOwnZone(taken);
      body.prepend(taken);
    }
  }
  while (body.rows.length > ROWS_MAX) {
    body.lastElementChild.remove();
  }
}

async function follow() {
  const table = live.querySelector("table");
  const seconds = Number(live.dataset.seconds);
  let feed = live.dataset.feed;
  let errors = 0;
  while (errors < ERRORS_MAX) {
    try {
      const response = await fetch(feed, { headers: { Accept: "text/html" }, redirect: "error" });
      if (response.status === 429) {
        state.textContent = state.dataset.full;
        break;
      }
      if (response.status >= 400 && response.status < 500) {
        break;
      }
      if (!response.ok) {
        throw new Error(String(response.status));
      }
      const answer = new DOMParser().parseFromString(await response.text(), "text/html");
      show(table, answer);
      feed = answer.querySelector("[data-feed]").dataset.feed;
      state.textContent = state.dataset.following;
      errors = 0;
    } catch {
      errors += 1;
      state.textContent = state.dataset.waiting;
      await pause(seconds);
    }
  }
  // The page itself says what has ended, such as the session or the role.
  await pause(seconds);
  location.replace(live.dataset.again);
}

if (live !== null) {
  state.textContent = state.dataset.following;
  follow();
}
