-- SCIM 2.0: the tokens of directories, what a directory says of a member, memberships that it suspends, and its log.

ALTER TABLE users ADD COLUMN deactivated_by_organization_id uuid REFERENCES organizations ON DELETE SET NULL;
COMMENT ON COLUMN users.deactivated_by_organization_id
    IS 'The organization that deactivated the account, which was its own, and may activate it again.';

ALTER TABLE memberships ADD COLUMN suspended_at timestamptz;
COMMENT ON COLUMN memberships.suspended_at IS 'Since when a directory has this member inactive; they have no access.';

CREATE OR REPLACE VIEW relations AS
    SELECT 'organization:' || organization_id AS object, role AS relation, 'user:' || user_id AS subject,
           organization_id, NULL::uuid AS service_id, user_id
    FROM   memberships
    WHERE  suspended_at IS NULL
    UNION ALL
    SELECT 'service:' || g.service_id, g.relation, 'user:' || g.user_id, g.organization_id, g.service_id, g.user_id
    FROM   service_grants g
    JOIN   memberships m ON m.organization_id = g.organization_id AND m.user_id = g.user_id
    WHERE  m.suspended_at IS NULL;

CREATE TABLE scim_tokens (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    name            text NOT NULL,
    prefix          text NOT NULL,
    token_hash      bytea NOT NULL,
    last_used_at    timestamptz,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL,
    created_by      uuid REFERENCES users ON DELETE SET NULL
);
COMMENT ON TABLE scim_tokens IS 'Tokens with which the directory of an organization calls /scim/v2; stored as hashes.';
CREATE INDEX scim_tokens_prefix ON scim_tokens (prefix);
CREATE INDEX scim_tokens_of_organization ON scim_tokens (organization_id, created_at DESC, id DESC);
CREATE INDEX scim_tokens_created_by ON scim_tokens (created_by) WHERE created_by IS NOT NULL;

CREATE TABLE scim_profiles (
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL,
    user_name       text NOT NULL,
    external_id     text,
    formatted_name  text,
    given_name      text,
    family_name     text,
    display_name    text,
    is_primary      boolean NOT NULL DEFAULT true,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);
COMMENT ON TABLE scim_profiles IS 'What the directory of an organization says of a member; the account itself has none of it.';
COMMENT ON COLUMN scim_profiles.user_name IS 'As it was sent: the address of the account in any case, or a name to sign in with at the directory.';
COMMENT ON COLUMN scim_profiles.is_primary IS 'What the directory says of the address of the account, which is the only one.';
CREATE INDEX scim_profiles_external_id ON scim_profiles (organization_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX scim_profiles_login_name ON scim_profiles (organization_id, lower(user_name))
    WHERE user_name NOT LIKE '%@%';
CREATE INDEX scim_profiles_of_user ON scim_profiles (user_id);

CREATE TABLE scim_log_entries (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    token_id        uuid NOT NULL,
    token_name      text NOT NULL,
    method          text NOT NULL,
    path            text NOT NULL,
    resource_id     uuid,
    user_name       text,
    status          integer NOT NULL,
    scim_type       text,
    detail          text,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE scim_log_entries IS 'What the directory of an organization changed or failed to do; kept for 30 days.';
COMMENT ON COLUMN scim_log_entries.token_id IS 'No reference: the log names a token that was revoked since.';
CREATE INDEX scim_log_entries_newest ON scim_log_entries (organization_id, id DESC);
CREATE INDEX scim_log_entries_old ON scim_log_entries (created_at);
CREATE INDEX scim_log_entries_user_name ON scim_log_entries (user_name) WHERE user_name IS NOT NULL;

CREATE TABLE membership_totals (
    organization_id uuid PRIMARY KEY,
    members         bigint NOT NULL,
    changes         bigint NOT NULL,
    changed_at      timestamptz NOT NULL
);
COMMENT ON TABLE membership_totals IS 'How many members an organization has, and how often that changed; a trigger writes it.';
COMMENT ON COLUMN membership_totals.organization_id IS 'No reference: the memberships of an organization are deleted after it.';

CREATE FUNCTION membership_totals_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO membership_totals AS total (organization_id, members, changes, changed_at)
    SELECT   added.organization_id, count(*), 1, max(added.created_at)
    FROM     added
    GROUP BY added.organization_id
    ORDER BY added.organization_id
    ON CONFLICT (organization_id) DO UPDATE
    SET members = total.members + excluded.members, changes = total.changes + 1,
        changed_at = greatest(total.changed_at, excluded.changed_at);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION membership_totals_added() IS 'Counts new members.';

CREATE FUNCTION membership_totals_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE membership_totals AS total
    SET    members = total.members - gone.members, changes = total.changes + 1,
           changed_at = greatest(total.changed_at, now())
    FROM   (SELECT organization_id, count(*) AS members FROM removed GROUP BY organization_id) AS gone
    WHERE  total.organization_id = gone.organization_id;
    DELETE FROM membership_totals
    WHERE  organization_id IN (SELECT organization_id FROM removed)
      AND  NOT EXISTS (SELECT FROM organizations o WHERE o.id = membership_totals.organization_id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION membership_totals_removed() IS 'Counts members who are gone.';

CREATE TRIGGER membership_totals_added AFTER INSERT ON memberships
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION membership_totals_added();
CREATE TRIGGER membership_totals_removed AFTER DELETE ON memberships
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION membership_totals_removed();

INSERT INTO membership_totals (organization_id, members, changes, changed_at)
SELECT organization_id, count(*), 1, max(created_at) FROM memberships GROUP BY organization_id;
