-- Organizations and governance: invitations, service grants, the platform's own log, and what large lists are read by.

CREATE TABLE invitations (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    email           text NOT NULL CHECK (length(email) <= 254),
    role            text NOT NULL,
    invited_by      uuid REFERENCES users ON DELETE SET NULL,
    status          text NOT NULL CHECK (status IN ('pending', 'accepted', 'rejected', 'cancelled', 'expired')),
    token_hash      bytea NOT NULL UNIQUE,
    token_sealed    bytea,
    proof_hash      bytea NOT NULL,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    answered_at     timestamptz
);
COMMENT ON TABLE invitations IS 'Who was asked to join an organization, and what became of it.';
COMMENT ON COLUMN invitations.token_sealed IS 'For the invited person, who sees it after signing in; erased with the answer.';
COMMENT ON COLUMN invitations.proof_hash IS 'Of what only the mailed link has, so that the token alone proves no address.';
CREATE UNIQUE INDEX invitations_one_pending ON invitations (organization_id, email) WHERE status = 'pending';
CREATE INDEX invitations_of_organization ON invitations (organization_id, created_at DESC, id DESC);
CREATE INDEX invitations_of_email ON invitations (email);
CREATE INDEX invitations_running_out ON invitations (expires_at, id) WHERE status = 'pending';
CREATE INDEX invitations_of_status ON invitations (organization_id, status, created_at DESC, id DESC);
CREATE INDEX invitations_of_inviter ON invitations (invited_by);

CREATE TABLE service_grants (
    service_id      uuid NOT NULL REFERENCES services ON DELETE CASCADE,
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL,
    relation        text NOT NULL CHECK (relation IN ('manager', 'viewer')),
    granted_by      uuid REFERENCES users ON DELETE SET NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (service_id, user_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);
COMMENT ON TABLE service_grants IS 'What a member may do with one service, beyond their role; it ends with the membership.';
CREATE INDEX service_grants_of_user ON service_grants (user_id, organization_id);
CREATE INDEX service_grants_granted_by ON service_grants (granted_by) WHERE granted_by IS NOT NULL;
CREATE INDEX service_grants_of_service ON service_grants (organization_id, service_id, created_at, user_id);

-- A page of members, all or those of a role, with everything that the page shows of a membership.
DROP INDEX memberships_newest;
CREATE INDEX memberships_newest ON memberships (organization_id, created_at, id) INCLUDE (user_id, role);
CREATE INDEX memberships_of_role ON memberships (organization_id, role, created_at, id) INCLUDE (user_id);

-- Every membership and every grant, read as object#relation@subject; a view, so that there is no second truth.
CREATE VIEW relations AS
SELECT 'organization:' || organization_id AS object, role     AS relation, 'user:' || user_id AS subject,
       organization_id, NULL::uuid AS service_id, user_id
FROM   memberships
UNION  ALL
SELECT 'service:' || service_id           AS object, relation AS relation, 'user:' || user_id AS subject,
       organization_id, service_id, user_id
FROM   service_grants;
COMMENT ON VIEW relations IS 'The tuples that every check of access is decided from (decisions 5.5).';

CREATE TABLE platform_audit_entries (
    id                uuid PRIMARY KEY,
    actor_user_id     uuid,
    action            text NOT NULL,
    target_type       text NOT NULL,
    target_id         text NOT NULL,
    organization_id   uuid,
    ip_address        text,
    user_agent        text,
    success           boolean NOT NULL,
    details           jsonb NOT NULL,
    created_at        timestamptz NOT NULL
);
COMMENT ON TABLE platform_audit_entries IS 'What platform owners did. An organization that was deleted is still named here.';
CREATE INDEX platform_audit_entries_action ON platform_audit_entries (action, id DESC);
CREATE INDEX platform_audit_entries_target ON platform_audit_entries (target_type, target_id, id DESC);

-- The audit log of a large organization is read by what happened and by what it happened to.
CREATE INDEX audit_entries_action ON audit_entries (organization_id, action, id DESC);
CREATE INDEX audit_entries_target_type ON audit_entries (organization_id, target_type, id DESC);
CREATE INDEX audit_entries_target ON audit_entries (organization_id, target_type, target_id, id DESC) INCLUDE (action);
-- What is only added to is otherwise seldom vacuumed, and until then a count has to look at the rows themselves.
ALTER TABLE audit_entries SET (autovacuum_vacuum_insert_scale_factor = 0.01);
ALTER TABLE login_events SET (autovacuum_vacuum_insert_scale_factor = 0.01);

CREATE TABLE audit_totals (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    kind            text NOT NULL,
    entries         bigint NOT NULL,
    PRIMARY KEY (organization_id, kind)
);
COMMENT ON TABLE audit_totals IS 'How many audit entries there are up to the one that audit_counting names.';
COMMENT ON COLUMN audit_totals.kind IS 'An action, a target type, or nothing for all.';

CREATE TABLE audit_milestones (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    kind            text NOT NULL,
    entries         bigint NOT NULL,
    entry_id        uuid NOT NULL,
    PRIMARY KEY (organization_id, kind, entries)
);
COMMENT ON TABLE audit_milestones IS 'Now and then, how many audit entries of a kind there are up to one of them.';

CREATE TABLE audit_counting (
    is_the_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row),
    counted_through uuid NOT NULL
);
COMMENT ON TABLE audit_counting IS 'How far the audit log of everybody is counted; without a row, nothing of it.';

-- Everything that analytics ask of a sign-in is in one index; not partial, so that it also serves the cascade.
DROP INDEX login_events_of_organization;
CREATE INDEX login_events_of_organization ON login_events (organization_id, success, created_at DESC, id DESC)
    INCLUDE (service_id, provider, user_id);

-- The end users of one organization are searched by a part of their address, which therefore stands in the index of
-- their links. The foreign key keeps it what it is in the account.
-- With the address first, so that nobody who looks for an id is led into this wide index.
ALTER TABLE users ADD CONSTRAINT users_email_id_key UNIQUE (email, id);
ALTER TABLE service_users ADD COLUMN email text;
COMMENT ON COLUMN service_users.email IS 'The address of the account; whoever links somebody need not know it.';
UPDATE service_users SET email = users.email FROM users WHERE users.id = service_users.user_id;
ALTER TABLE service_users
    ALTER COLUMN email SET NOT NULL,
    DROP CONSTRAINT service_users_user_id_fkey,
    ADD FOREIGN KEY (user_id, email) REFERENCES users (id, email) ON UPDATE CASCADE ON DELETE CASCADE;
CREATE FUNCTION service_users_email() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, because the address may be changed at this moment.
    SELECT email INTO NEW.email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION service_users_email IS 'Finds the address of whoever is linked to a service.';
CREATE TRIGGER service_users_email BEFORE INSERT ON service_users FOR EACH ROW EXECUTE FUNCTION service_users_email();
DROP INDEX service_users_of_organization;
CREATE INDEX service_users_of_organization ON service_users (organization_id, user_id DESC) INCLUDE (email, service_id);

-- A part of an address finds its account by the groups of three letters in it: what pg_trgm does, without the extension,
-- which not every PostgreSQL has.
CREATE FUNCTION letter_groups(value text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(DISTINCT substr(value, n, 3)), '{}')
        FROM   generate_series(1, length(value) - 2) AS n);
COMMENT ON FUNCTION letter_groups IS 'Every three letters that stand side by side in a text.';
CREATE INDEX users_letter_groups ON users USING gin (letter_groups(email));
CREATE INDEX users_email_prefix ON users (email text_pattern_ops);

ALTER TABLE users ADD COLUMN anonymized_at timestamptz;
COMMENT ON COLUMN users.anonymized_at IS 'When everything personal was removed for good; such an account never comes back.';
ALTER TABLE users ADD CONSTRAINT users_anonymized_for_good
    CHECK (anonymized_at IS NULL OR (deactivated_at IS NOT NULL AND email_verified_at IS NULL AND password_hash IS NULL
                                     AND mfa_enabled_at IS NULL AND NOT is_platform_owner));
CREATE INDEX users_with_mfa ON users (id) WHERE mfa_enabled_at IS NOT NULL;

CREATE INDEX organizations_of_status ON organizations (status, created_at DESC, id DESC);
DROP INDEX organizations_of_tier;
CREATE INDEX organizations_of_tier ON organizations (tier_id, created_at DESC, id DESC);
CREATE INDEX organizations_newest ON organizations (created_at DESC, id DESC);

DROP INDEX login_events_of_service;
CREATE INDEX login_events_of_service ON login_events (service_id, success, created_at DESC)
    WHERE service_id IS NOT NULL;

-- Whoever is to be forgotten is looked for in all logs: as who acted, and as an address in what the logs say in words.
CREATE FUNCTION addresses_in(value jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(DISTINCT lower(rtrim(found[1], '.-'))), '{}')
        FROM   regexp_matches(regexp_replace(value::text, '\\(u....|.)', ' ', 'g'),
                              '[^\s"''<>(),:;[\]]+@[\w.-]+', 'g') AS found);
COMMENT ON FUNCTION addresses_in IS 'Every email address that stands in a text somewhere in a value.';
CREATE INDEX audit_entries_addresses ON audit_entries USING gin (addresses_in(details)) WHERE details::text LIKE '%@%';
CREATE INDEX audit_entries_actor ON audit_entries (actor_user_id) WHERE actor_user_id IS NOT NULL;
CREATE INDEX audit_entries_impersonator ON audit_entries ((details ->> 'impersonator_id'))
    WHERE details ? 'impersonator_id';
CREATE INDEX events_addresses ON events USING gin (addresses_in(data)) WHERE data::text LIKE '%@%';
CREATE INDEX events_actor ON events (actor_user_id, actor_email) WHERE actor_user_id IS NOT NULL;
CREATE INDEX platform_audit_entries_addresses ON platform_audit_entries USING gin (addresses_in(details))
    WHERE details::text LIKE '%@%';
CREATE INDEX platform_audit_entries_actor ON platform_audit_entries (actor_user_id);
CREATE INDEX mails_of_recipient ON mails (recipient);
