-- gatehouse: compatible from 0025
-- Groups of directories, and the rules by which groups give roles.

ALTER TABLE scim_tokens ADD COLUMN groups text NOT NULL DEFAULT 'organization'
    CHECK (groups IN ('organization', 'directory'));
COMMENT ON COLUMN scim_tokens.groups IS 'What the directory finds under /Groups: the organization alone, or the groups that it sends.';

CREATE TABLE directory_groups (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    display_name    text NOT NULL,
    external_id     text,
    members         bigint NOT NULL DEFAULT 0,
    changes         bigint NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    UNIQUE (organization_id, id)
);
COMMENT ON TABLE directory_groups IS 'Groups that the directory of an organization sends by SCIM.';
COMMENT ON COLUMN directory_groups.members IS 'How many members it has; triggers write it, as they do changes.';
COMMENT ON COLUMN directory_groups.changes IS 'How often the group or its members changed, for its version.';
CREATE UNIQUE INDEX directory_groups_name ON directory_groups (organization_id, lower(display_name));
CREATE UNIQUE INDEX directory_groups_external_id ON directory_groups (organization_id, external_id)
    WHERE external_id IS NOT NULL;

CREATE TABLE directory_authorities (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    maker_role        text,
    maker_permissions text[]
);
COMMENT ON TABLE directory_authorities IS 'What the makers of SCIM tokens could do whose directories have put members into groups; each once.';
COMMENT ON COLUMN directory_authorities.maker_role IS 'As in scim_tokens; it stays when the token is revoked.';
CREATE UNIQUE INDEX directory_authorities_once ON directory_authorities
    (organization_id, coalesce(maker_role, ''), coalesce(maker_permissions, '{}'));

CREATE TABLE directory_group_members (
    organization_id uuid NOT NULL,
    group_id        uuid NOT NULL,
    user_id         uuid NOT NULL,
    authority_id    uuid NOT NULL REFERENCES directory_authorities,
    PRIMARY KEY (group_id, user_id),
    FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);
COMMENT ON TABLE directory_group_members IS 'Which members of an organization are in a group of its directory.';
COMMENT ON COLUMN directory_group_members.authority_id IS 'What the maker of the token could do that put the member in.';
CREATE INDEX directory_group_members_of_user ON directory_group_members (organization_id, user_id);
CREATE INDEX directory_group_members_of_account ON directory_group_members (user_id);
CREATE INDEX directory_group_members_of_authority ON directory_group_members (authority_id);

CREATE FUNCTION directory_group_members_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE directory_groups AS g
    SET    members = g.members + counted.members, changes = g.changes + 1
    FROM   (SELECT group_id, count(*) AS members FROM added GROUP BY group_id) AS counted
    WHERE  g.id = counted.group_id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION directory_group_members_added() IS 'Counts new members of groups.';

CREATE FUNCTION directory_group_members_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- In this order, because accounts of one organization may be deleted at once.
    PERFORM FROM directory_groups WHERE id IN (SELECT group_id FROM removed) ORDER BY id FOR NO KEY UPDATE;
    UPDATE directory_groups AS g
    SET    members = g.members - gone.members, changes = g.changes + 1, updated_at = greatest(g.updated_at, now())
    FROM   (SELECT group_id, count(*) AS members FROM removed GROUP BY group_id) AS gone
    WHERE  g.id = gone.group_id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION directory_group_members_removed() IS 'Counts members of groups who are gone.';

CREATE TRIGGER directory_group_members_added AFTER INSERT ON directory_group_members
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION directory_group_members_added();
CREATE TRIGGER directory_group_members_removed AFTER DELETE ON directory_group_members
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION directory_group_members_removed();

CREATE TABLE directory_ends (
    organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    ended_at        timestamptz NOT NULL
);
COMMENT ON TABLE directory_ends IS 'When an organization last revoked a SCIM token that managed groups: they are kept for 30 days after the last one.';

CREATE FUNCTION scim_tokens_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The tokens of an organization are deleted after it.
    INSERT INTO directory_ends (organization_id, ended_at)
    SELECT OLD.organization_id, now() WHERE EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id)
    ON CONFLICT (organization_id) DO UPDATE SET ended_at = excluded.ended_at;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION scim_tokens_removed() IS 'Notes when a directory lost a token with which it managed groups.';
CREATE TRIGGER scim_tokens_removed AFTER DELETE ON scim_tokens
    FOR EACH ROW WHEN (OLD.groups = 'directory') EXECUTE FUNCTION scim_tokens_removed();

CREATE TABLE group_rules (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    place           integer NOT NULL,
    group_id        uuid,
    connection_id   uuid,
    asserted_group  text,
    role            text NOT NULL,
    made_by         uuid REFERENCES users ON DELETE SET NULL,
    created_at      timestamptz NOT NULL,
    CHECK ((group_id IS NOT NULL AND connection_id IS NULL AND asserted_group IS NULL)
           OR (group_id IS NULL AND connection_id IS NOT NULL AND asserted_group IS NOT NULL)),
    FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (connection_id) REFERENCES upstream_connections ON DELETE CASCADE
);
COMMENT ON TABLE group_rules IS 'Which role the members of a group have, by place: the first rule that fits counts.';
COMMENT ON COLUMN group_rules.group_id IS 'A group of the directory; without one, what a connection asserts.';
COMMENT ON COLUMN group_rules.made_by IS 'Who made the rule, which gives its role only while they may give it.';
CREATE INDEX group_rules_of_organization ON group_rules (organization_id, place);
CREATE INDEX group_rules_of_group ON group_rules (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX group_rules_of_connection ON group_rules (connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX group_rules_made_by ON group_rules (made_by) WHERE made_by IS NOT NULL;

ALTER TABLE memberships ADD COLUMN role_source text;
ALTER TABLE memberships ADD COLUMN role_group text;
COMMENT ON COLUMN memberships.role_source IS 'What gave the role by a rule: scim, or the id of a connection; null for a role that was given by hand.';
COMMENT ON COLUMN memberships.role_group IS 'The id of the group of the directory, or the value that the connection asserts.';

ALTER TABLE identities ADD COLUMN groups text[];
ALTER TABLE identities ADD COLUMN has_groups_overage boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN identities.groups IS 'The groups that the connection asserted last; null while it has asserted none.';
COMMENT ON COLUMN identities.has_groups_overage IS 'Whether the provider said last that there are too many groups to name.';
