// A service provider that is made with node-saml:
//
//     node sp.mjs TASK
//
// TASK is a file in JSON: `action`, the `options` of the library, the `ids` of its requests that wait for an answer, and
// what a browser brings. The result is written as JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { SAML, generateServiceProviderMetadata } = createRequire(task.modules)("@node-saml/node-saml");

// Each step is a process of its own, so the requests that wait are in the task and in the result.
const ids = new Map(Object.entries(task.ids));
const cacheProvider = {
  saveAsync: async (key, value) => (ids.set(key, value), { value, createdAt: Date.now() }),
  getAsync: async (key) => ids.get(key) ?? null,
  removeAsync: async (key) => (ids.delete(key) ? key : null),
};
const saml = new SAML({ ...task.options, cacheProvider });

async function step() {
  switch (task.action) {
    case "login":
      return { url: await saml.getAuthorizeUrlAsync(task.relayState, undefined, {}) };
    case "form":
      return { page: await saml.getAuthorizeFormAsync(task.relayState) };
    case "acs":
      return { profile: (await saml.validatePostResponseAsync(task.fields)).profile };
    case "logout":
      return { url: await saml.getLogoutUrlAsync(task.profile, "", {}) };
    case "slo": {
      const { profile, loggedOut } = await saml.validateRedirectAsync(task.fields, task.query);
      return { profile, loggedOut };
    }
    case "answer":
      return { url: await saml.getLogoutResponseUrlAsync(task.profile, task.relayState, {}, true) };
    case "metadata":
      return { metadata: generateServiceProviderMetadata({ ...task.options, publicCerts: task.options.publicCert }) };
  }
}

let result;
try {
  result = await step();
} catch (error) {
  result = { error: String(error.message) };
}
process.stdout.write(JSON.stringify({ ...result, ids: Object.fromEntries(ids) }));
