// One client of a service with customers: people of two sign in, and one of both chooses between them.

import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { Browser } from './browser.mjs'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PASSWORD, CUSTOMER_SIGN_INS } = process.env
const own = new URL(ISSUER).origin
const options = { execute: [client.allowInsecureRequests] }
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, options)

// The claims about the expected names.
const told = (claims, expected) => Object.fromEntries(Object.keys(expected).map((name) => [name, claims[name]]))

for (const { email, customer, claims } of JSON.parse(CUSTOMER_SIGN_INS)) {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    // The one line: the library passes on what it does not know.
    ...(customer && { customer }),
  })
  const back = new URL(await new Browser(email, PASSWORD).open(address.href, own))
  const checks = { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true }
  const tokens = await client.authorizationCodeGrant(config, back, checks)
  const known = tokens.claims()
  assert.equal(known.email, email)
  assert.deepEqual(told(known, claims), claims)
  assert.deepEqual(told(await client.fetchUserInfo(config, tokens.access_token, known.sub), claims), claims)
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
  assert.deepEqual(told(await client.tokenIntrospection(config, refreshed.access_token), claims), claims)
}
console.log('all customers')
