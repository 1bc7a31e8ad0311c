// Waits for the first sign-in to a service: asks for the line about it every few seconds, while the page is seen, and for
// a quarter of an hour at most. The link of the line does the same by hand.
"use strict";

const ASK_EVERY_MS = 4000;
const QUESTIONS_MAX = 225;

const place = document.querySelector("[data-first-sign-in]");
let questions = 0;

async function askForSignIn() {
  questions += 1;
  const response = await fetch(place.dataset.firstSignIn, { headers: { Accept: "text/html" }, redirect: "error" });
  if (response.status >= 400 && response.status < 500 && response.status !== 429) {
    // The session or the role has ended, which the page itself says.
    questions = QUESTIONS_MAX;
    return;
  }
  if (!response.ok) {
    return;
  }
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const line = answer.querySelector(".first-sign-in");
  if (line !== null && !line.matches("[data-waiting]")) {
    const shown = document.importNode(line, true);
    inOwnZone(shown);
    place.replaceChildren(shown);
  }
}

function isWaiting() {
  return place.querySelector("[data-waiting]") !== null && questions < QUESTIONS_MAX;
}

async function wait() {
  if (!document.hidden) {
    try {
      await askForSignIn();
    } catch {
      // The server is away for a moment.
    }
  }
  if (isWaiting()) {
    setTimeout(wait, ASK_EVERY_MS);
  }
}

if (place !== null && isWaiting()) {
  setTimeout(wait, ASK_EVERY_MS);
}
