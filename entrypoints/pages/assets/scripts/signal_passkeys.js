// Tells the browser which passkeys of the account still count, so that it offers no other one.
//
// The element with the attribute `data-signals` has them, as JSON, on the page that follows a removal or a new name. A
// browser without support for signals still offers a removed passkey, which the server refuses.
"use strict";

(() => {
  const element = document.querySelector("[data-signals]");
  const passkeys = window.PublicKeyCredential;
  if (!element || !passkeys) return;

  const { rpId, userId, credentialIds, name } = JSON.parse(element.dataset.signals);
  const signal = (method, options) => {
    if (passkeys[method]) passkeys[method](options).catch(() => {});
  };

  signal("signalAllAcceptedCredentials", { rpId, userId, allAcceptedCredentialIds: credentialIds });
  if ("renamed" in element.dataset) signal("signalCurrentUserDetails", { rpId, userId, name, displayName: name });
})();
