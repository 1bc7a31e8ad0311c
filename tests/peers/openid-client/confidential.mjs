// A confidential service with openid-client: every flow that the library has, unchanged.

import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { Browser } from './browser.mjs'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, EMAIL, PASSWORD, PRIVATE_KEY, AUDIENCE } = process.env
const own = new URL(ISSUER).origin
const options = { execute: [client.allowInsecureRequests] }
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, options)
const browser = new Browser(EMAIL, PASSWORD)

async function signIn(configuration, { pushed = false, handle, ...more } = {}) {
  const verifier = client.randomPKCECodeVerifier()
  const nonce = client.randomNonce()
  const state = client.randomState()
  const parameters = {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
    ...more,
  }
  const address = pushed
    ? await client.buildAuthorizationUrlWithPAR(configuration, parameters, { DPoP: handle })
    : client.buildAuthorizationUrl(configuration, parameters)
  const back = new URL(await browser.open(address.href, own))
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true }
  return client.authorizationCodeGrant(configuration, back, checks, undefined, { DPoP: handle })
}

// The code flow, user information, refreshing, introspection and revocation.
const tokens = await signIn(config)
const { sub, sid, email } = tokens.claims()
assert.equal(email, EMAIL)
assert.ok(sid)
assert.equal((await client.fetchUserInfo(config, tokens.access_token, sub)).email, EMAIL)
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
assert.equal(refreshed.claims().sub, sub)
assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, true)
await client.tokenRevocation(config, refreshed.refresh_token)
assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, false)

// A pushed request, max_age, and a refusal that the service reads.
assert.ok((await signIn(config, { pushed: true })).id_token)
const silent = client.buildAuthorizationUrl(config, {
  redirect_uri: REDIRECT_URI, scope: 'openid', prompt: 'none', max_age: '0', state: 'x',
})
const refused = new URL(await browser.open(silent.href, own))
await assert.rejects(
  client.authorizationCodeGrant(config, refused, { expectedState: 'x' }),
  (error) => error.error === 'login_required',
)

// Proofs of possession.
const keys = await client.randomDPoPKeyPair('ES256')
const handle = client.getDPoPHandle(config, keys)
const bound = await signIn(config, { pushed: true, handle })
assert.equal(bound.token_type, 'dpop')
assert.equal((await client.fetchUserInfo(config, bound.access_token, sub, { DPoP: handle })).sub, sub)
assert.ok((await client.refreshTokenGrant(config, bound.refresh_token, undefined, { DPoP: handle })).access_token)
await assert.rejects(client.fetchUserInfo(config, bound.access_token, sub))

// The client itself, for an audience; by its secret and by an assertion.
const own_token = await client.clientCredentialsGrant(config, { resource: AUDIENCE })
assert.equal((await client.tokenIntrospection(config, own_token.access_token)).aud, AUDIENCE)
const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
const key = await crypto.subtle.importKey('jwk', JSON.parse(PRIVATE_KEY), algorithm, false, ['sign'])
const asserting = await client.discovery(
  new URL(ISSUER), CLIENT_ID, undefined, client.PrivateKeyJwt({ key, kid: 'one' }), options,
)
assert.ok((await client.clientCredentialsGrant(asserting)).access_token)

// A device.
const device = await client.initiateDeviceAuthorization(config, { scope: 'openid' })
assert.match(await browser.open(device.verification_uri_complete, own), /The device is signed in/)
assert.equal((await client.pollDeviceAuthorizationGrant(config, device)).claims().sub, sub)

// Signing out.
const end = client.buildEndSessionUrl(config, {
  id_token_hint: (await signIn(config)).id_token, post_logout_redirect_uri: `${REDIRECT_URI}/bye`, state: 'y',
})
assert.equal(await browser.open(end.href, own), `${REDIRECT_URI}/bye?state=y`)
console.log('all flows')
