// Compiled strictly against the generated types, and never run: what the types do not say would be an error here.
import createClient from "openapi-fetch";
import type { components, paths } from "./gatehouse";

type Member = components["schemas"]["MemberItem"];

const client = createClient<paths>({ baseUrl: "http://localhost:8000" });

export async function signIn(email: string, password: string): Promise<string> {
  const { data, error } = await client.POST("/api/auth/login", { body: { email, password } });
  if (error) {
    const code: string = error.error_code;
    throw new Error(`${code}: ${error.error}`);
  }
  // Each of the two answers has a field that the other lacks.
  if ("mfa_required" in data) {
    const required: true = data.mfa_required;
    return `${required} ${data.preauth_token}`;
  }
  return data.access_token + data.device_token;
}

export async function members(slug: string): Promise<Member[]> {
  const { data, error, response } = await client.GET("/api/organizations/{slug}/members", {
    params: { path: { slug }, query: { role: "admin", limit: 10 } },
  });
  if (error) {
    const problems = "details" in error ? (error.details ?? []) : [];
    throw new Error(`${response.status} ${problems.map((problem) => `${problem.field}: ${problem.message}`).join()}`);
  }
  const limit: number | null = data.limits.max_users;
  console.log(limit);
  return data.members;
}

export async function suspended(id: string): Promise<boolean> {
  const { data } = await client.POST("/api/platform/organizations/{id}/suspend", {
    params: { path: { id } },
    body: { reason: null },
  });
  return data?.organization.status === "suspended";
}
