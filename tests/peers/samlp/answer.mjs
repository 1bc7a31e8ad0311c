// An identity provider of SAML: it prints its metadata, and then answers each line of its input, which is a list with the
// address of a request and that of the assertion consumer service.
//
// Arguments: the files of its certificate and of its private key, and "response" if it signs whole responses.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import samlp from "samlp";

const [certificate, key, signs] = process.argv.slice(2);
const user = { id: "employee-1", displayName: "Ada", emails: [{ value: "ada@acme.example" }], name: {} };
const options = {
  issuer: "urn:samlp",
  cert: readFileSync(certificate, "utf8"),
  key: readFileSync(key, "utf8"),
  signAssertion: signs !== "response",
  signResponse: signs === "response",
  getUserFromRequest: () => user,
  nameIdentifierFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  redirectEndpointPath: "/samlp",
};

function acs(audience, request, _, callback) {
  callback(null, request.documentElement.getAttribute("AssertionConsumerServiceURL"));
}

const print = (value) => console.log(JSON.stringify(value.toString()));
const host = { headers: { host: "idp.acme.example", "x-forwarded-proto": "https" } };
samlp.metadata(options)({ ...host, originalUrl: "" }, { set() {}, send: print });

for await (const line of createInterface({ input: process.stdin })) {
  const [address, acsUrl] = JSON.parse(line);
  const query = Object.fromEntries(new URL(address).searchParams);
  const recipient = { destination: acsUrl, recipient: acsUrl };
  const request = { method: "GET", query, originalUrl: address };
  samlp.auth({ ...options, ...recipient, getPostURL: acs })(request, { set() {}, send: print }, (error) => {
    throw error;
  });
}
