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

// Times are in UTC until this writes them in the reader's zone, in the language of the page, and as the reader's
// region has it where the browser names one of that language.
function shownIn(language) {
  const spoken = navigator.languages.find((one) => one.split("-")[0] === language.split("-")[0]);
  return new Intl.DateTimeFormat(spoken ?? language, { dateStyle: "long", timeStyle: "short" });
}

document.addEventListener("DOMContentLoaded", () => {
  const times = document.querySelectorAll("time[datetime]");
  if (times.length === 0) {
    return;
  }
  const format = shownIn(document.documentElement.lang);
  for (const time of times) {
    time.title = time.textContent;
    time.textContent = format.format(new Date(time.dateTime));
  }
});
