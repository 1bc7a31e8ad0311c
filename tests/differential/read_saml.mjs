// node-saml as a second reader: for each line, an answer in base64, what it takes of it; null when it refuses it.
// It is started with the folder of its modules, and the certificate of the identity provider.
import { createRequire } from "node:module";
import readline from "node:readline";

const [modules, idpCert] = process.argv.slice(2);
const { SAML } = createRequire(`${modules}/`)("@node-saml/node-saml");
const saml = new SAML({
  idpCert,
  issuer: "https://sp.example/metadata",
  callbackUrl: "https://sp.example/acs",
  audience: false,
  // Times are not judged here.
  acceptedClockSkewMs: -1,
  validateInResponseTo: "never",
  wantAssertionsSigned: false,
  wantAuthnResponseSigned: false,
});

for await (const line of readline.createInterface({ input: process.stdin })) {
  let taken = null;
  try {
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: JSON.parse(line) });
    const { issuer, nameID, nameIDFormat, sessionIndex, attributes = {} } = profile;
    taken = { issuer, name: [nameID, nameIDFormat ?? null], index: sessionIndex ?? null, attributes };
  } catch (error) {
    taken = null;
  }
  process.stdout.write(JSON.stringify(taken) + "\n");
}
