// Signing in with a passkey. Without this script, every other way works.
//
// A form with the attribute `data-passkey` has the fields `challenge_id` and `credential`, which this script fills in
// before it submits the form. The form's button asks for a passkey of the address in its attribute `data-email`, if it
// has one. A field with the autocomplete token `webauthn` offers every passkey of this site by itself. A form with the
// attribute `data-options` has the options for the browser there, and the field `credential` alone; where another form
// has the attribute `data-other`, that one is shown when its user presses the button in `data-another-way`.
"use strict";

(() => {
  const START = "/api/auth/passkeys/authenticate/start";
  // A challenge is valid for five minutes.
  const CHALLENGE_MILLISECONDS = 4 * 60 * 1000;

  const form = document.querySelector("form[data-passkey]");
  if (!form || !window.PublicKeyCredential) return;

  const problem = form.querySelector("[data-problem]");
  let waiting = null;

  const bytes = (text) => {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, (character) => character.charCodeAt(0));
  };

  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const parsed = (options) => ({
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: (options.allowCredentials || []).map((one) => ({ ...one, id: bytes(one.id) })),
  });

  const written = (credential) => ({
    id: credential.id,
    type: credential.type,
    response: {
      clientDataJSON: text(credential.response.clientDataJSON),
      authenticatorData: text(credential.response.authenticatorData),
      signature: text(credential.response.signature),
      userHandle: credential.response.userHandle ? text(credential.response.userHandle) : null,
    },
  });

  const start = async (email, own) => {
    if (form.dataset.options) return { options: JSON.parse(form.dataset.options) };
    const answer = await fetch(START, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      credentials: "omit",
      body: JSON.stringify(email ? { email } : {}),
      signal: own.signal,
    });
    if (!answer.ok) throw new Error("no challenge");
    return answer.json();
  };

  const ask = async (email, mediation) => {
    if (waiting) waiting.abort();
    const own = (waiting = new AbortController());
    const started = await start(email, own);
    const request = { publicKey: parsed(started.options), signal: own.signal };
    if (mediation) request.mediation = mediation;
    const credential = await navigator.credentials.get(request);
    if (started.challenge_id) form.elements.challenge_id.value = started.challenge_id;
    form.elements.credential.value = JSON.stringify(written(credential));
    form.submit();
  };

  const offer = () => {
    ask("", "conditional").catch(() => {});
  };

  const other = document.querySelector("form[data-other]");
  const anotherWay = document.querySelector("[data-another-way]");
  if (other && anotherWay) {
    const show = () => {
      anotherWay.hidden = true;
      other.hidden = false;
    };
    document.querySelector("[data-without-script]").hidden = true;
    // What was refused stays in sight.
    if (!other.querySelector("[aria-invalid=true]")) {
      other.hidden = true;
      anotherWay.hidden = false;
    }
    anotherWay.querySelector("button").addEventListener("click", () => {
      show();
      other.elements.code.focus();
    });
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (problem) problem.hidden = true;
    ask(form.dataset.email, "").catch(() => {
      if (problem) problem.hidden = false;
    });
  });

  if (document.querySelector("input[autocomplete~=webauthn]") && PublicKeyCredential.isConditionalMediationAvailable) {
    PublicKeyCredential.isConditionalMediationAvailable().then((isAvailable) => {
      if (!isAvailable) return;
      offer();
      setInterval(() => document.hidden || offer(), CHALLENGE_MILLISECONDS);
    });
  }
})();
