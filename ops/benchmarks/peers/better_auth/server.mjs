// better-auth as its documentation sets it up for production: one process, PostgreSQL, email and password, and the
// plugins for the compared operations. `ops/bench --beside better-auth` starts it; its settings are in the environment.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { admin, jwt } from "better-auth/plugins";
import pg from "pg";

const { PEER_PORT, PEER_DATABASE_HOST, PEER_DATABASE_PASSWORD, PEER_SECRET } = process.env;
const { PEER_ADMIN, PEER_PASSWORD, PEER_CLIENT_FILE } = process.env;
// As many connections as a process of Gatehouse has, which is the default of `pg`, and over the socket as well.
const database = new pg.Pool({
  host: PEER_DATABASE_HOST,
  user: "gatehouse",
  password: PEER_DATABASE_PASSWORD,
  database: "gatehouse",
});

const auth = betterAuth({
  baseURL: `http://127.0.0.1:${PEER_PORT}`,
  secret: PEER_SECRET,
  database,
  emailAndPassword: { enabled: true, autoSignIn: false },
  // A mail to a new address, as Gatehouse queues one; here a function takes it.
  emailVerification: { sendOnSignUp: true, sendVerificationEmail: async () => {} },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    admin(),
    // As the OAuth provider's documentation has it; otherwise every session that is read signs a token.
    jwt({ disableSettingJwtHeader: true }),
    oauthProvider({
      loginPage: "/sign-in",
      consentPage: "/consent",
      scopes: ["openid", "email", "offline_access", "bench"],
      clientPrivileges: ({ user }) => user?.role === "admin",
      // With a resource a token of a client is a signed one, as Gatehouse's is.
      resources: ["https://api.example.com"],
      enforcePerClientResources: false,
    }),
  ],
});

await (await getMigrations(auth.options)).runMigrations();
// The administrator, who registers the client.
await auth.api.signUpEmail({ body: { email: PEER_ADMIN, password: PEER_PASSWORD, name: "Admin" } });
await database.query(`UPDATE "user" SET role = 'admin' WHERE email = $1`, [PEER_ADMIN]);
const signedIn = await auth.api.signInEmail({ body: { email: PEER_ADMIN, password: PEER_PASSWORD }, returnHeaders: true });
const client = await auth.api.adminCreateOAuthClient({
  headers: new Headers({ cookie: signedIn.headers.get("set-cookie").split(";")[0] }),
  body: {
    redirect_uris: ["https://shop.example/callback"],
    scope: "openid email offline_access",
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
    client_credentials_scopes: ["bench"],
    skip_consent: true,
  },
});
writeFileSync(PEER_CLIENT_FILE, JSON.stringify(client));
createServer(toNodeHandler(auth)).listen(Number(PEER_PORT), "127.0.0.1");
