// An identity provider of SAML: it prints its metadata, and then answers each line of its input, which is a list with the
// addresses of a request and of the assertion consumer service, and a certificate if the assertion is to be encrypted.
//
// Arguments: the files of its certificate and of its private key, and "response" if it signs whole responses.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import saml from "saml";
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

// It hands the certificate on to its library, and not which algorithm that shall use.
const encryptionAlgorithm = "http://www.w3.org/2009/xmlenc11#aes256-gcm";
for (const name of ["create", "createUnsignedAssertion"]) {
  const make = saml.Saml20[name];
  saml.Saml20[name] = (given, callback) => make.call(saml.Saml20, { ...given, encryptionAlgorithm }, callback);
}

function encryptedFor(pem) {
  const publicKey = new X509Certificate(pem).publicKey.export({ type: "spki", format: "pem" });
  return { encryptionCert: pem, encryptionPublicKey: publicKey };
}

function acs(audience, request, _, callback) {
  callback(null, request.documentElement.getAttribute("AssertionConsumerServiceURL"));
}

const print = (value) => console.log(JSON.stringify(value.toString()));
const host = { headers: { host: "idp.acme.example", "x-forwarded-proto": "https" } };
samlp.metadata(options)({ ...host, originalUrl: "" }, { set() {}, send: print });

for await (const line of createInterface({ input: process.stdin })) {
  const [address, acsUrl, encryptionPem] = JSON.parse(line);
  const encryption = encryptionPem ? encryptedFor(encryptionPem) : {};
  const query = Object.fromEntries(new URL(address).searchParams);
  const recipient = { destination: acsUrl, recipient: acsUrl };
  const request = { method: "GET", query, originalUrl: address };
  samlp.auth({ ...options, ...recipient, ...encryption, getPostURL: acs })(request, { set() {}, send: print }, (error) => {
    throw error;
  });
}
