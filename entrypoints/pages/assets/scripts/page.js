// What every page adds where scripts run: a form is sent once, even by a double click, and its button says so;
// passwords can be shown, and times are in the reader's time zone.
//
// A field for a password has the text of its button in the attribute `data-show`. The button is made here, because
// without a script nothing can show what such a field holds.
"use strict";

const SAME_CLICK_MS = 2000;
const BUSY_MS = 15000;
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  // Another script has taken the form over, or a frame shows the answer and nothing is changed by it.
  if (event.defaultPrevented || event.submitter?.formTarget) {
    return;
  }
  const before = sent.get(event.target);
  if (before !== undefined && event.timeStamp - before < SAME_CLICK_MS) {
    event.preventDefault();
    return;
  }
  sent.set(event.target, event.timeStamp);
  const button = event.submitter;
  // What another tab answers leaves this page as it is. A field may be named "target".
  if (button?.classList.contains("button") && !event.target.hasAttribute("target")) {
    button.setAttribute("aria-busy", "true");
    // What answers with a file stays on the page.
    setTimeout(() => button.removeAttribute("aria-busy"), BUSY_MS);
  }
});

// A page that is gone back to waits for nothing.
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll(".button[aria-busy]")) {
    button.removeAttribute("aria-busy");
  }
});

// Times are in UTC until this writes them in the reader's zone, in the language of the page: whole in a sentence, and short
// in a list, where the whole one is its title.
const whole = { dateStyle: "long", timeStyle: "short" };
const brief = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const HOUR_MS = 3600 * 1000;

// What other scripts add to a page is written in the same way.
function inOwnZone(part) {
  const times = part.querySelectorAll("time[datetime]");
  if (times.length === 0) {
    return;
  }
  const { lang } = document.documentElement;
  // A page has one way to write a day, and so have its times: the day before the month.
  const language = lang === "en" ? "en-GB" : lang;
  const long = new Intl.DateTimeFormat(language, whole);
  const short = new Intl.DateTimeFormat(language, brief);
  const dated = new Intl.DateTimeFormat(language, { ...brief, year: "numeric" });
  const past = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const now = Date.now();
  for (const time of times) {
    const at = new Date(time.dateTime);
    if (!time.classList.contains("brief")) {
      time.title = time.textContent;
      time.textContent = long.format(at);
      continue;
    }
    const hours = (now - at) / HOUR_MS;
    const isNear = hours >= 0 && hours < 24 && time.closest("[data-relative]") !== null;
    const isThisYear = at.getFullYear() === new Date(now).getFullYear();
    time.textContent = isNear
      ? past.format(hours < 1 ? -Math.round(hours * 60) : -Math.round(hours), hours < 1 ? "minute" : "hour")
      : (isThisYear ? short : dated).format(at);
    time.title = long.format(at);
  }
}

document.addEventListener("DOMContentLoaded", () => inOwnZone(document));

// How long a platform owner still acts as another person, minute by minute.
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

function countDown(left) {
  const { lang } = document.documentElement;
  const format = new Intl.NumberFormat(lang, { style: "unit", unit: "minute", unitDisplay: "long" });
  // By the time that passes here, because the clock of the reader may be wrong.
  const until = Date.now() + Number(left.dataset.secondsLeft) * SECOND_MS;
  const timer = setInterval(write, SECOND_MS);
  function write() {
    const rest = until - Date.now();
    const text = rest > 0 ? format.format(Math.ceil(rest / MINUTE_MS)) : left.dataset.over;
    if (left.textContent !== text) {
      left.textContent = text;
    }
    if (rest <= 0) {
      clearInterval(timer);
    }
  }
  write();
}

for (const left of document.querySelectorAll("[data-seconds-left]")) {
  countDown(left);
}

// A page about something in progress reloads itself, unless the reader uses one of its controls.
for (const part of document.querySelectorAll("[data-load-again]")) {
  setInterval(() => {
    if (document.activeElement === document.body) {
      location.reload();
    }
  }, 1000 * Number(part.dataset.loadAgain));
}

// A slug is proposed while its name is typed, as the server makes it of the name, until it is typed by hand.
const SLUG_CHARACTERS_MAX = 50;

function slugOf(name) {
  const plain = name.toLowerCase().replaceAll("ß", "ss").normalize("NFKD").replace(/[\u0300-\u036f'’]/g, "");
  return (plain.match(/[a-z0-9]+/g) ?? []).join("-").slice(0, SLUG_CHARACTERS_MAX).replace(/-$/, "");
}

for (const slug of document.querySelectorAll("input[data-slug-of]")) {
  const name = document.getElementById(slug.dataset.slugOf);
  let proposed = slugOf(name.value);
  name.addEventListener("input", () => {
    const isOwn = slug.value !== "" && slug.value !== proposed;
    proposed = slugOf(name.value);
    if (!isOwn) {
      slug.value = proposed;
    }
  });
}

for (const field of document.querySelectorAll("input[data-show]")) {
  const button = document.createElement("button");
  const show = (isShown) => {
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  button.type = "button";
  button.className = "show";
  button.textContent = field.dataset.show;
  button.setAttribute("aria-controls", field.id);
  // A password is neither corrected nor begun with a capital, nor sent to a service that checks spelling.
  field.spellcheck = false;
  field.autocapitalize = "none";
  show(false);
  button.addEventListener("click", () => show(field.type === "password"));
  // Browsers remember what was sent from a field of another type, and show a page again as it was left.
  field.form.addEventListener("submit", () => show(false));
  window.addEventListener("pagehide", () => show(false));
  field.after(button);
}
