// Adding a passkey: a form with the attribute `data-new-passkey` has the options for the authenticator in its attribute
// `data-options`, and a field `credential`, which this script fills in before it submits the form.
"use strict";

(() => {
  const form = document.querySelector("form[data-new-passkey]");
  if (!form || !window.PublicKeyCredential) return;

  const problem = form.querySelector("[data-problem]");

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

  const make = async () => {
    const publicKey = parsed(JSON.parse(form.dataset.options));
    const credential = await navigator.credentials.create({ publicKey });
    form.elements.credential.value = JSON.stringify(written(credential));
    form.submit();
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.hidden = true;
    make().catch(() => {
      problem.hidden = false;
    });
  });
})();
