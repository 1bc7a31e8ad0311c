// Picks colours, and shows a change of the branding in the frame at once: presses the button of the preview that was
// used last.
"use strict";

const form = document.getElementById("branding");
let shown = document.querySelector("button[formtarget]");

// A colour is picked beside the field that holds it as text, which is enough without this script.
for (const field of document.querySelectorAll("input[data-picks]")) {
  const picker = document.createElement("input");
  const row = document.createElement("span");
  const follow = () => {
    if (/^#[0-9a-f]{6}$/i.test(field.value)) {
      picker.value = field.value.toLowerCase();
    }
  };
  picker.type = "color";
  picker.setAttribute("aria-label", `${field.labels[0].firstChild.textContent.trim()}: ${field.dataset.picks}`);
  follow();
  picker.addEventListener("input", () => {
    field.value = picker.value;
  });
  field.addEventListener("input", follow);
  row.className = "color-row";
  field.replaceWith(row);
  row.append(field, picker);
}

document.addEventListener("change", (event) => {
  if (event.target.form === form) {
    // What is chosen for one button presses it.
    const { presses } = event.target.dataset;
    shown = (presses && document.querySelector(`button[formtarget][value="${presses}"]`)) || shown;
    form.requestSubmit(shown);
  }
});

document.addEventListener("submit", (event) => {
  if (event.submitter?.formTarget) {
    shown = event.submitter;
  }
});
