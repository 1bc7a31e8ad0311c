// A page that signs people in with Gatehouse's JSON interface. It shows what such a page has to take care of:
//
// - The tokens stay in memory. What is in localStorage can be read by every script of the origin, and long afterwards.
// - A refresh token can be used once. Requests that find the access token expired at the same time share one refresh.
// - A refusal has a text for people (`error`) and a code for programs (`error_code`).
//
// It needs the page's origin in GATEHOUSE_CORS_ORIGINS.

const gatehouse = document.querySelector('meta[name="gatehouse"]').content;
const element = (id) => document.getElementById(id);

class Refused extends Error {
  constructor(answer) {
    super(answer.error);
    this.code = answer.error_code;
  }
}

let tokens = null;
let refreshing = null;

async function call(method, path, { body, token } = {}) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers["Authorization"] = `Bearer ${token}`;
  // By its device token a browser is recognized, and needs no code while it is trusted. It opens nothing by itself.
  const device = localStorage.getItem("device_token");
  if (device) headers["X-Device-Token"] = device;
  const response = await fetch(gatehouse + path, { method, headers, body: body && JSON.stringify(body) });
  const answer = response.status === 204 ? {} : await response.json();
  if (!response.ok) throw new Refused(answer);
  return answer;
}

// Calls as the person who is signed in; an expired access token is replaced, and the call is sent once more.
async function callSignedIn(method, path, options) {
  try {
    return await call(method, path, { ...options, token: tokens.access_token });
  } catch (refused) {
    if (refused.code !== "TOKEN_EXPIRED") throw refused;
    await refresh();
    return call(method, path, { ...options, token: tokens.access_token });
  }
}

function refresh() {
  refreshing ??= call("POST", "/api/auth/refresh", { body: { refresh_token: tokens.refresh_token } })
    .then((answer) => { tokens = answer; })
    .finally(() => { refreshing = null; });
  return refreshing;
}

async function signIn(form) {
  const answer = await call("POST", "/api/auth/login", { body: { email: form.email.value, password: form.password.value } });
  form.reset();
  if (!answer.mfa_required) return signedIn(answer);
  // Until the code arrives there is only a token for this one request.
  show("second-factor");
  element("second-factor").onsubmit = handled(async (codeForm) => {
    const body = {
      preauth_token: answer.preauth_token,
      code: codeForm.code.value,
      trust_device: codeForm.trust_device.checked,
    };
    const verified = await call("POST", "/api/auth/mfa/verify", { body });
    codeForm.reset();
    await signedIn(verified);
  });
}

async function signedIn(answer) {
  tokens = answer;
  localStorage.setItem("device_token", answer.device_token);
  await showAccount();
}

async function showAccount() {
  const [user, organizations] = await Promise.all([
    callSignedIn("GET", "/api/user"),
    callSignedIn("GET", "/api/organizations"),
  ]);
  element("email").textContent = user.email;
  element("organizations").replaceChildren(...organizations.map(({ organization, membership }) => {
    const item = document.createElement("li");
    // textContent, never innerHTML: the name of an organization is text that other people have typed.
    item.textContent = `${organization.name} (${membership.role})`;
    return item;
  }));
  show("account");
}

async function signOut() {
  try {
    await callSignedIn("POST", "/api/auth/logout");
  } finally {
    tokens = null;
    show("sign-in");
  }
}

function show(shown) {
  for (const id of ["sign-in", "second-factor", "account"]) element(id).hidden = id !== shown;
}

// Runs an action for an event; a refusal is shown, and ends at the sign-in when the session has ended.
function handled(action) {
  return async (event) => {
    event.preventDefault();
    element("problem").textContent = "";
    try {
      await action(event.target);
    } catch (error) {
      element("problem").textContent = error instanceof Refused ? error.message : "Gatehouse cannot be reached. Try again.";
      if (tokens && ["UNAUTHORIZED", "JWT_ERROR", "TOKEN_EXPIRED"].includes(error.code)) {
        tokens = null;
        show("sign-in");
      }
    }
  };
}

element("sign-in").onsubmit = handled(signIn);
element("reload").onclick = handled(showAccount);
element("sign-out").onclick = handled(signOut);
