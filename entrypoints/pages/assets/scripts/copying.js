// The values of a page to copy: a click into one selects it, and where scripts run it has a button that copies it.
"use strict";

async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Without the permission, or without https, the older way remains.
    document.execCommand("copy");
  }
}

for (const field of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.textContent = field.dataset.copy;
  button.setAttribute("aria-describedby", `${field.id}-label`);
  button.addEventListener("click", async () => {
    await copy(field);
    button.textContent = field.dataset.copied;
  });
  field.addEventListener("focus", () => field.select());
  field.after(button);
}
