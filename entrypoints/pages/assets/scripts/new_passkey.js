// Adding a passkey: asks the browser to make one, and submits it with the form.
//
// The form has the options for the browser in its attribute `data-options`, and the field `credential`, which this
// script fills in. Without this script, the page says that it is needed.
"use strict";

(() => {
  const form = document.querySelector("form[data-options]");
  const problem = form.querySelector("[data-problem]");
  if (!window.PublicKeyCredential) return;

  const bytes = (text) => {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, (character) => character.charCodeAt(0));
  };

  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const parsed = (options) => ({
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials || []).map((one) => ({ ...one, id: bytes(one.id) })),
  });

  const written = (credential) => ({
    id: credential.id,
    type: credential.type,
    response: {
      clientDataJSON: text(credential.response.clientDataJSON),
      attestationObject: text(credential.response.attestationObject),
      transports: credential.response.getTransports ? credential.response.getTransports() : [],
    },
  });

  form.hidden = false;
  document.querySelector("[data-without-script]").hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const credential = await navigator.credentials.create({ publicKey: parsed(JSON.parse(form.dataset.options)) });
      form.elements.credential.value = JSON.stringify(written(credential));
      form.submit();
    } catch {
      // The user has cancelled, or the authenticator has a passkey of this account already.
      problem.hidden = false;
    }
  });
})();
