// Says that an organization requires its own sign-in for the typed address, before the user types a password.
//
// Where the server knows the address, and when the form was sent, the page itself says it.
"use strict";

(() => {
  const field = document.querySelector('form[action="/app/register"] input[name="email"]');
  const shown = document.getElementById("required");
  const template = document.getElementById("required-text");
  if (!field || !shown || !template) return;
  const anyway = field.form.elements.namedItem("anyway");

  async function lookedUp() {
    const { organization, service } = shown.dataset;
    const response = await fetch("/api/auth/lookup-email", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: field.value, org_slug: organization || null, service_slug: service || null }),
    });
    return response.ok ? response.json() : {};
  }

  function textFor(found) {
    const text = template.content.cloneNode(true);
    const parts = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (parts.nextNode()) {
      const part = parts.currentNode;
      part.data = part.data.replaceAll("{domain}", found.domain).replaceAll("{provider}", found.provider_name);
    }
    const link = text.querySelector("a");
    const address = new URL(link.getAttribute("href"), location.href);
    address.searchParams.set("connection_id", found.connection_id);
    link.href = address.href;
    return text;
  }

  async function tell() {
    const found = await lookedUp();
    anyway.disabled = !found.sso_required;
    anyway.value = found.sso_required ? found.domain : "";
    shown.replaceChildren(...(found.sso_required ? [textFor(found)] : []));
  }

  field.addEventListener("change", () => {
    // Without an answer the page says it once the form is sent.
    tell().catch(() => {});
  });
})();
