// A public service with oauth4webapi, which checks every answer against the RFCs by itself.

import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import { Browser } from './browser.mjs'

const { ISSUER, PUBLIC_CLIENT_ID, REDIRECT_URI, EMAIL, PASSWORD } = process.env
const issuer = new URL(ISSUER)
const insecure = { [oauth.allowInsecureRequests]: true }
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
const client = { client_id: PUBLIC_CLIENT_ID }
const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
const browser = new Browser(EMAIL, PASSWORD)

const verifier = oauth.generateRandomCodeVerifier()
const nonce = oauth.generateRandomNonce()
const state = oauth.generateRandomState()
const address = new URL(server.authorization_endpoint)
for (const [name, value] of Object.entries({
  client_id: PUBLIC_CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid email',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
  nonce,
})) address.searchParams.set(name, value)
const back = new URL(await browser.open(address.href, issuer.origin))
// Checks state and iss.
const parameters = oauth.validateAuthResponse(server, client, back, state)

async function withNonce(send, process) {
  try {
    return await process(await send())
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error
    return process(await send())
  }
}

const tokens = await withNonce(
  () => oauth.authorizationCodeGrantRequest(
    server, client, oauth.None(), parameters, REDIRECT_URI, verifier, { DPoP, ...insecure },
  ),
  (response) => oauth.processAuthorizationCodeResponse(
    server, client, response, { expectedNonce: nonce, requireIdToken: true },
  ),
)
assert.equal(tokens.token_type, 'dpop')
const { sub } = oauth.getValidatedIdTokenClaims(tokens)

const user = await withNonce(
  () => oauth.userInfoRequest(server, client, tokens.access_token, { DPoP, ...insecure }),
  (response) => oauth.processUserInfoResponse(server, client, sub, response),
)
assert.equal(user.email, EMAIL)

const refreshed = await withNonce(
  () => oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token, { DPoP, ...insecure }),
  (response) => oauth.processRefreshTokenResponse(server, client, response),
)
const ended = await oauth.revocationRequest(server, client, oauth.None(), refreshed.refresh_token, insecure)
await oauth.processRevocationResponse(ended)
console.log('all flows')
