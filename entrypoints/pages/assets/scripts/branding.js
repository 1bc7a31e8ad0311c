// Picks colours, and shows a change of the branding in the frame at once: presses the button of the preview that was
// used last.
"use strict";

const form = document.getElementById("branding");
let shown = document.querySelector("button[formtarget]");

document.addEventListener("change", (event) => {
  if (event.target.form === form) {
    form.requestSubmit(shown);
  }
});

document.addEventListener("submit", (event) => {
  if (event.submitter?.formTarget) {
    shown = event.submitter;
  }
});
