// The values of a page to copy: a click into a field selects it, and where scripts run it has a button that copies it, as
// has a program, which is no field and keeps its colours.
"use strict";

function select(source) {
  if (source.select) {
    source.select();
    return;
  }
  const range = document.createRange();
  range.selectNodeContents(source);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

async function copy(source) {
  select(source);
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
  } catch {
    // Without the permission, or without https, the older way remains.
    document.execCommand("copy");
  }
}

for (const source of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.textContent = source.dataset.copy;
  button.setAttribute("aria-describedby", `${source.id}-label`);
  button.addEventListener("click", async () => {
    await copy(source);
    button.textContent = source.dataset.copied;
  });
  if (source.select) {
    source.addEventListener("focus", () => source.select());
  }
  source.after(button);
}
