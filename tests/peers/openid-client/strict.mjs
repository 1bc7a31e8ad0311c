// A service with the security profile fapi2, with openid-client: pushed requests, assertions and proofs, unchanged.

import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { Browser } from './browser.mjs'

const { ISSUER, STRICT_CLIENT_ID, REDIRECT_URI, EMAIL, PASSWORD, PRIVATE_KEY } = process.env
const own = new URL(ISSUER).origin
const options = { execute: [client.allowInsecureRequests] }
const key = await crypto.subtle.importKey(
  'jwk', JSON.parse(PRIVATE_KEY), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'],
)
const config = await client.discovery(
  new URL(ISSUER),
  STRICT_CLIENT_ID,
  { id_token_signed_response_alg: 'ES256' },
  client.PrivateKeyJwt({ key, kid: 'one' }),
  options,
)
const browser = new Browser(EMAIL, PASSWORD)

async function parametersOf(verifier, nonce, state) {
  return {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
  }
}

async function signIn(handle) {
  const [verifier, nonce, state] = [client.randomPKCECodeVerifier(), client.randomNonce(), client.randomState()]
  const parameters = await parametersOf(verifier, nonce, state)
  const address = await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP: handle })
  const back = new URL(await browser.open(address.href, own))
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true }
  return client.authorizationCodeGrant(config, back, checks, undefined, { DPoP: handle })
}

// Proofs by both algorithms that the profile leaves.
for (const algorithm of ['ES256', 'PS256']) {
  const handle = client.getDPoPHandle(config, await client.randomDPoPKeyPair(algorithm))
  const tokens = await signIn(handle)
  const { sub, email } = tokens.claims()
  assert.equal(tokens.token_type, 'dpop')
  assert.equal(email, EMAIL)
  assert.equal((await client.fetchUserInfo(config, tokens.access_token, sub, { DPoP: handle })).sub, sub)
  await assert.rejects(client.fetchUserInfo(config, tokens.access_token, sub))

  // The refresh token stays the same, and is refused without the proof.
  for (let round = 0; round < 2; round += 1) {
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP: handle })
    assert.equal(refreshed.refresh_token, tokens.refresh_token)
    assert.equal(refreshed.claims().sub, sub)
  }
  await assert.rejects(
    client.refreshTokenGrant(config, tokens.refresh_token), (error) => error.error === 'invalid_dpop_proof',
  )
  assert.equal((await client.tokenIntrospection(config, tokens.access_token)).active, true)
  await client.tokenRevocation(config, tokens.refresh_token)
  assert.equal((await client.tokenIntrospection(config, tokens.access_token)).active, false)
}

// Without pushing there is no way in, and the other grants are refused.
const direct = client.buildAuthorizationUrl(
  config, await parametersOf(client.randomPKCECodeVerifier(), client.randomNonce(), client.randomState()),
)
assert.match(await browser.open(direct.href, own), /unauthorized_client/)
const unauthorized = (error) => error.error === 'unauthorized_client'
await assert.rejects(client.clientCredentialsGrant(config), unauthorized)
await assert.rejects(client.initiateDeviceAuthorization(config, { scope: 'openid' }), unauthorized)
console.log('all flows')
