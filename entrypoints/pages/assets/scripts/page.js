// What every page adds where scripts run: a form is sent once, also by a double click.
"use strict";

const SAME_CLICK_MS = 2000;
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  // Another script has taken the form over.
  if (event.defaultPrevented) {
    return;
  }
  const before = sent.get(event.target);
  if (before !== undefined && event.timeStamp - before < SAME_CLICK_MS) {
    event.preventDefault();
    return;
  }
  sent.set(event.target, event.timeStamp);
});
