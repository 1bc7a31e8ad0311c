"""How applications in JavaScript are connected that have a library for it."""

from typing import Final

from core.services.services import ServiceType
from entrypoints.pages.console.recipes.recipe import SAML_GROUPS, Protocol, Recipe
from entrypoints.pages.frame.languages import marked

RECIPES: Final = (
    Recipe(
        word="auth-js",
        name="Auth.js (@auth/express)",
        run="0.12.3",
        source="https://authjs.dev/reference/express",
        redirect_uri="@PROGRAM@/auth/callback/gatehouse",
        logout_uri="@PROGRAM@/",
        settings={
            "app.mjs": """
import { ExpressAuth } from '@auth/express'
import { getToken } from '@auth/core/jwt'

const secret = process.env.AUTH_SECRET // npx auth secret
const config = {
  secret,
  trustHost: true,
  providers: [
    {
      id: 'gatehouse',
      name: 'Gatehouse',
      type: 'oidc',
      issuer: '@ISSUER@',
      clientId: '@CLIENT@',
      clientSecret: '@SECRET@',
      profile: (claims) => ({
        id: claims.sub,
        name: claims.name,
        email: claims.email,
        isAdmin: (claims.groups ?? []).includes('admins'),
      }),
    },
  ],
  callbacks: {
    jwt: ({ token, user, account }) =>
      account ? { ...token, isAdmin: user.isAdmin, idToken: account.id_token } : token,
    session: ({ session, token }) => ({ ...session, user: { ...session.user, isAdmin: token.isAdmin } }),
  },
}

app.set('trust proxy', true)
app.use(/^\\/auth\\/(.*)/, ExpressAuth(config))
app.get('/sign-out', async (request, response) => {
  const secureCookie = '@PROGRAM@'.startsWith('https:')
  const token = await getToken({ req: { headers: request.headers }, secret, secureCookie })
  const query = new URLSearchParams({ post_logout_redirect_uri: '@PROGRAM@/' })
  if (token?.idToken) query.set('id_token_hint', token.idToken)
  response.clearCookie(`${secureCookie ? '__Secure-' : ''}authjs.session-token`)
  response.redirect(`@ISSUER@/auth/logout?${query}`)
})
""",
        },
        groups=marked("profile() gets the claims of the ID token, and reads the names in groups or service_roles."),
        admins=marked("profile() says it by the group; the callbacks carry it into the session."),
        notes=(marked("A wrong client secret shows there as an error of configuration alone."),),
    ),
    Recipe(
        word="next-auth",
        name="NextAuth.js 4 (Next.js)",
        run="4.24, Next.js 15",
        source="https://next-auth.js.org/configuration/providers/oauth",
        redirect_uri="@PROGRAM@/api/auth/callback/gatehouse",
        settings={
            "app/api/auth/[...nextauth]/route.js": """
import NextAuth from 'next-auth'

const handler = NextAuth({
  providers: [
    {
      id: 'gatehouse',
      name: 'Gatehouse',
      type: 'oauth',
      wellKnown: '@ISSUER@/.well-known/openid-configuration',
      clientId: '@CLIENT@',
      clientSecret: '@SECRET@',
      authorization: { params: { scope: 'openid email profile' } },
      idToken: true,
      checks: ['pkce', 'state'],
      profile: (p) => ({ id: p.sub, name: p.name, email: p.email, isAdmin: (p.groups ?? []).includes('admins') }),
    },
  ],
  callbacks: {
    jwt: ({ token, user }) => (user ? { ...token, isAdmin: user.isAdmin } : token),
    session: ({ session, token }) => ({ ...session, user: { ...session.user, isAdmin: token.isAdmin } }),
  },
})

export { handler as GET, handler as POST }
""",
            ".env.local": """
NEXTAUTH_URL=@PROGRAM@
NEXTAUTH_SECRET=LONG_AND_RANDOM
""",
        },
        groups=marked("profile() gets the claims of the ID token, and reads the names in groups or service_roles."),
        admins=marked("profile() says it by the group; the callbacks carry it into the session."),
        notes=(marked("The name is missing for people who have not given one."),),
    ),
    Recipe(
        word="express-openid-connect",
        name="express-openid-connect",
        run="3.4",
        source="https://github.com/auth0/express-openid-connect",
        redirect_uri="@PROGRAM@/callback",
        logout_uri="@PROGRAM@",
        backchannel_uri="@PROGRAM@/backchannel-logout",
        settings={
            "app.mjs": """
import openid from 'express-openid-connect'
import memoryStore from 'memorystore'

const { auth, requiresAuth } = openid
const store = new (memoryStore(auth))({ checkPeriod: 600_000 })
app.use(
  auth({
    issuerBaseURL: '@ISSUER@',
    baseURL: '@PROGRAM@',
    clientID: '@CLIENT@',
    clientSecret: '@SECRET@',
    secret: process.env.SESSION_SECRET,
    authRequired: false,
    idpLogout: true,
    backchannelLogout: { store },
    authorizationParams: { response_type: 'code', scope: 'openid profile email' },
  }),
)
const isAdmin = (request) => (request.oidc.user?.groups ?? []).includes('admins')
""",
        },
        groups=marked("request.oidc.user has the claims of the ID token: the names in groups or service_roles."),
        admins=marked("Compare the names in your own code."),
        notes=(
            marked("Its default response_type id_token is refused."),
            marked("The address after signing out is the base address without a slash at the end."),
        ),
    ),
    Recipe(
        word="passport-openidconnect",
        name="passport-openidconnect",
        run="0.1.2",
        source="https://www.passportjs.org/packages/passport-openidconnect/",
        redirect_uri="@PROGRAM@/callback",
        settings={
            "app.mjs": """
import passport from 'passport'
import OpenIDConnectStrategy from 'passport-openidconnect'

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: '@ISSUER@',
      authorizationURL: '@ISSUER@/auth/authorize',
      tokenURL: '@ISSUER@/auth/token',
      userInfoURL: '@ISSUER@/auth/userinfo',
      clientID: '@CLIENT@',
      clientSecret: '@SECRET@',
      callbackURL: '@PROGRAM@/callback',
      scope: ['profile', 'email'],
    },
    (issuer, profile, context, idToken, done) => {
      const claims = JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url'))
      const isAdmin = (claims.groups ?? []).includes('admins')
      done(null, { id: profile.id, email: profile.emails[0].value, isAdmin })
    },
  ),
)
""",
        },
        groups=marked("Its profile has none. Read the names in groups or service_roles of the ID token."),
        admins=marked("Compare the names in your own code."),
    ),
    Recipe(
        word="oidc-client-ts",
        name="oidc-client-ts",
        run="3.5",
        source="https://authts.github.io/oidc-client-ts/",
        service_type=ServiceType.MOBILE,
        redirect_uri="@PROGRAM@/callback",
        logout_uri="@PROGRAM@/",
        settings={
            "oidc.js": """
const manager = new UserManager({
  authority: '@ISSUER@',
  client_id: '@CLIENT@',
  redirect_uri: '@PROGRAM@/callback',
  silent_redirect_uri: '@PROGRAM@/silent',
  post_logout_redirect_uri: '@PROGRAM@/',
  response_type: 'code',
  scope: 'openid email profile',
  monitorSession: false,
})
const isAdmin = (user) => (user.profile.groups ?? []).includes('admins')
""",
        },
        groups=marked("user.profile has the claims of the ID token: the names in groups or service_roles."),
        admins=marked("Show by it what an admin sees. What an interface allows is decided there, by the access token."),
        notes=(
            marked("Register the page for silent renewal as a second redirect URI."),
            marked("Leave monitorSession off: there is no check_session_iframe."),
        ),
    ),
    Recipe(
        word="passport-saml",
        name="passport-saml",
        run="5.1.1",
        source="https://github.com/node-saml/passport-saml",
        protocol=Protocol.SAML,
        entity_id="@PROGRAM@/saml/metadata",
        redirect_uri="@PROGRAM@/saml/acs",
        logout_uri="@PROGRAM@/saml/slo",
        settings={
            "app.mjs": """
import { readFileSync } from 'node:fs'
import { Strategy as SamlStrategy } from '@node-saml/passport-saml'

const person = (profile, done) =>
  done(null, { ...profile, isAdmin: [profile.attributes.groups ?? []].flat().includes('admins') })
const saml = new SamlStrategy(
  {
    issuer: '@PROGRAM@/saml/metadata',
    callbackUrl: '@PROGRAM@/saml/acs',
    logoutCallbackUrl: '@PROGRAM@/saml/slo',
    idpIssuer: '@IDP@',
    entryPoint: '@IDP@/sso',
    logoutUrl: '@IDP@/slo',
    idpCert: readFileSync('gatehouse.pem', 'utf8'), // of the page SAML
    audience: '@PROGRAM@/saml/metadata',
    identifierFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
    validateInResponseTo: 'always',
  },
  person,
  person,
)
passport.use(saml)
app.get('/sign-in', passport.authenticate('saml'))
app.post('/saml/acs', express.urlencoded(), passport.authenticate('saml', { successRedirect: '/' }))
app.get('/sign-out', (request, response, next) =>
  saml.logout(request, (error, address) => (error ? next(error) : response.redirect(address))),
)
const signedOut = [
  passport.authenticate('saml'),
  (request, response, next) => request.logout((error) => (error ? next(error) : response.redirect('/'))),
]
app.get('/saml/slo', signedOut)
app.post('/saml/slo', express.urlencoded(), signedOut)
""",
        },
        groups=SAML_GROUPS,
        admins=marked("Compare the names in groups, or the role, in your own code."),
        notes=(marked("Signing out takes a route for POST too."),),
    ),
)
