// An OpenID provider on a free port of this machine, with one account, until its standard input ends.
//
// Arguments: the client id, the client secret and the redirect URI of Gatehouse. It prints its issuer.

import { createServer } from "node:http";
import Provider from "oidc-provider";

const [clientId, clientSecret, redirectUri] = process.argv.slice(2);

const server = createServer((request, response) => {
  // The tests look for connections that are left open.
  response.setHeader("Connection", "close");
  handle(request, response);
});
let handle;
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@acme.example`, email_verified: true, name: "Ada" }),
    }),
    pkce: { required: () => true },
  });
  handle = provider.callback();
  console.log(issuer);
});

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
