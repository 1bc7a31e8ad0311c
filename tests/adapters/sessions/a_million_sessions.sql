-- A million sessions of 5,000 users, each a member and an end user in five of 1,000 organizations.
-- Foreign keys and the indexes of other queries are dropped, because with them the insertion takes half a minute.

ALTER TABLE sessions
    DROP CONSTRAINT sessions_user_id_fkey,
    DROP CONSTRAINT sessions_organization_id_fkey,
    DROP CONSTRAINT sessions_service_id_fkey,
    DROP CONSTRAINT sessions_device_id_fkey,
    DROP CONSTRAINT sessions_impersonator_id_fkey;
DROP INDEX sessions_of_user, sessions_of_organization, sessions_of_device, sessions_of_impersonator, sessions_ended;

-- Numbered ids are the fastest to generate; the ids of each kind begin with a byte of their own.
CREATE FUNCTION pg_temp.numbered(kind text, number bigint) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN (kind || '000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid;

INSERT INTO users (id, email, is_platform_owner, created_at, updated_at)
SELECT pg_temp.numbered('01', n), n || '@example.com', n % 1000 = 0, now(), now()
FROM   generate_series(1, 5000) AS n;

INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
SELECT pg_temp.numbered('02', n), 'org-' || n, 'Org', 'active', '00000000-0000-7000-8000-000000000001', now(), now()
FROM   generate_series(0, 999) AS n;

INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
SELECT pg_temp.numbered('03', n), pg_temp.numbered('02', n), 'shop', 'Shop', 'web', pg_temp.numbered('04', n), now(), now()
FROM   generate_series(0, 999) AS n;

INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, attribute_mapping, trust_mfa,
                                  enabled, created_at, updated_at)
SELECT pg_temp.numbered('07', n), pg_temp.numbered('02', n), 'saml', 'Connection', 'idp', '{}', '{}', false, true,
       now(), now()
FROM   generate_series(0, 999) AS n;

-- One of them is the mail domain of all users.
INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at)
SELECT pg_temp.numbered('08', n), pg_temp.numbered('02', n), CASE n WHEN 999 THEN 'example.com' ELSE n || '.example' END,
       pg_temp.numbered('07', n), true, n::text, 'verified', now()
FROM   generate_series(0, 999) AS n;

INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
SELECT pg_temp.numbered('02', n), role, role, '{services.view}', now(), now()
FROM   generate_series(0, 999) AS n, unnest('{auditor,billing,support}'::text[]) AS role;

INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
SELECT gen_random_uuid(), pg_temp.numbered('02', (n + k) % 1000), pg_temp.numbered('01', n), 'member', now(), now()
FROM   generate_series(1, 5000) AS n, generate_series(0, 4) AS k;

INSERT INTO scim_profiles (organization_id, user_id, user_name, updated_at)
SELECT organization_id, user_id, user_id::text, now()
FROM   memberships;

INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
SELECT sha256(email::bytea), 'change_email', id, 'new-' || email, now(), now() + interval '1 day'
FROM   users;

-- Every service takes all groups into its tokens.
UPDATE services SET group_claims = '{all}';

INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
SELECT pg_temp.numbered('09', n * 20 + k), pg_temp.numbered('02', n), 'Group ' || k, now(), now()
FROM   generate_series(0, 999) AS n, generate_series(0, 19) AS k;

INSERT INTO directory_authorities (id, organization_id)
SELECT pg_temp.numbered('0a', n), pg_temp.numbered('02', n)
FROM   generate_series(0, 999) AS n;

INSERT INTO directory_group_members (group_id, organization_id, user_id, authority_id)
SELECT pg_temp.numbered('09', (n + d) % 1000 * 20 + (n + k) % 20), pg_temp.numbered('02', (n + d) % 1000),
       pg_temp.numbered('01', n), pg_temp.numbered('0a', (n + d) % 1000)
FROM   generate_series(1, 5000) AS n, generate_series(0, 4) AS d, generate_series(0, 1) AS k;

-- Every service has the organizations around its own as customers, each of which has assigned roles, groups and people.
-- So has the organization of the service itself.
UPDATE services
SET    customers = 'listed', individuals = 'others', access = 'assigned', roles = '[{"name": "editor", "title": "Editor"}]',
       role_ids = jsonb_build_object('editor', pg_temp.numbered('0c', 1), 'viewer', pg_temp.numbered('0c', 2));

INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, created_at)
SELECT pg_temp.numbered('0b', n * 10 + 4 + k), pg_temp.numbered('02', n), pg_temp.numbered('03', n),
       pg_temp.numbered('02', (n + k + 1000) % 1000), now(), now()
FROM   generate_series(0, 999) AS n, generate_series(-4, 4) AS k
WHERE  k <> 0;

INSERT INTO customer_assignments (customer_id, organization_id, position, subject, role, role_ids)
SELECT c.id, c.organization_id, 1, 'role', 'member', ARRAY[pg_temp.numbered('0c', 1)]
FROM   service_customers c;

INSERT INTO customer_assignments (customer_id, organization_id, position, subject, group_id, role_ids)
SELECT c.id, c.organization_id, 2 + k,  'group',
       pg_temp.numbered('09', right(c.organization_id::text, 12)::bigint * 20 + k), ARRAY[pg_temp.numbered('0c', 2)]
FROM   service_customers c, generate_series(0, 19) AS k;

INSERT INTO service_assignments (service_id, organization_id, position, subject, role, role_ids)
SELECT s.id, s.organization_id, 1, 'role', 'member', ARRAY[pg_temp.numbered('0c', 1)]
FROM   services s;

INSERT INTO service_assignments (service_id, organization_id, position, subject, group_id, role_ids)
SELECT s.id, s.organization_id, 2 + k,  'group',
       pg_temp.numbered('09', right(s.organization_id::text, 12)::bigint * 20 + k), ARRAY[pg_temp.numbered('0c', 2)]
FROM   services s, generate_series(0, 19) AS k;

INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
SELECT c.id, m.organization_id, m.user_id, now(), now()
FROM   service_customers c
JOIN   memberships m USING (organization_id);

INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
SELECT pg_temp.numbered('03', (n + k) % 1000), pg_temp.numbered('02', (n + k) % 1000), pg_temp.numbered('01', n), now()
FROM   generate_series(1, 5000) AS n, generate_series(0, 4) AS k;

INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, is_default, created_at, updated_at)
SELECT pg_temp.numbered('06', n * 10 + k), pg_temp.numbered('02', n), pg_temp.numbered('03', n), 'Plan', 0, 'usd', k = 0,
       now(), now()
FROM   generate_series(0, 999) AS n, generate_series(0, 3) AS k;

INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at, updated_at)
SELECT gen_random_uuid(), pg_temp.numbered('02', (n + k) % 1000), pg_temp.numbered('03', (n + k) % 1000),
       pg_temp.numbered('01', n), pg_temp.numbered('06', (n + k) % 1000 * 10 + 1), status, now(), now()
FROM   generate_series(1, 5000) AS n, generate_series(0, 4) AS k, unnest('{active,cancelled}'::text[]) AS status;

INSERT INTO sessions (id, user_id, organization_id, service_id, provider, amr, authenticated_at, refresh_hash,
                      refreshed_at, expires_at, impersonator_id, customer_id, created_at)
SELECT pg_temp.numbered('05', (n - 1) * 200 + k), user_id, organization_id, service_id, 'password', '{pwd}', now(), '\x00',
       now(), now() + interval '90 days', CASE WHEN k = 7 THEN pg_temp.numbered('01', 1000) END,
       CASE WHEN k = 8 THEN pg_temp.numbered('0b', n % 1000 * 10 + 5) END, now()
FROM   (SELECT n, d, pg_temp.numbered('01', n) AS user_id, pg_temp.numbered('02', (n + d) % 1000) AS organization_id,
               pg_temp.numbered('03', (n + d) % 1000) AS service_id
        FROM   generate_series(1, 5000) AS n, generate_series(0, 4) AS d
        OFFSET 0) AS places,
       generate_series(d * 40 + 1, d * 40 + 40) AS k;

INSERT INTO client_grants (session_id, scopes)
SELECT pg_temp.numbered('05', n), '{openid}'
FROM   generate_series(1, 20000) AS n;

-- So that all rows of these tables are read, and the statistics are the same in each run.
ALTER TABLE sessions ALTER COLUMN id SET STATISTICS 3400;
ALTER TABLE customer_assignments ALTER COLUMN organization_id SET STATISTICS 600;
ALTER TABLE customer_users ALTER COLUMN organization_id SET STATISTICS 700;
ANALYZE;
