-- gatehouse: compatible from 0079
-- What a setup link makes can do no more than the link: a SCIM token or a rule by it gives, changes and takes the roles of the
-- link and member. All these tables are small: a few rows for each organization.

ALTER TABLE scim_tokens ADD COLUMN link_roles text[];
COMMENT ON COLUMN scim_tokens.link_roles IS 'The roles of the setup link that made the token, which changes members with these and plain members; null for one that a member made.';
ALTER TABLE group_rules ADD COLUMN link_roles text[];
COMMENT ON COLUMN group_rules.link_roles IS 'The roles of the setup link that made the rule, which takes no others; null for one that a member made.';

ALTER TABLE directory_authorities ADD COLUMN link_roles text[];
COMMENT ON COLUMN directory_authorities.link_roles IS 'As in scim_tokens.';
DROP INDEX directory_authorities_once;
CREATE UNIQUE INDEX directory_authorities_once ON directory_authorities
    (organization_id, coalesce(maker_role, ''), coalesce(maker_permissions, '{}'), coalesce(link_roles, '{}'));

-- A token that puts people into a group to which a customer assigns a product gives what the capability products.manage gives.
-- Who is in a group already keeps what it gives. A constant default rewrites no row.
ALTER TABLE directory_group_members ADD COLUMN gives_products boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN directory_group_members.gives_products IS 'Whether the maker of the token could say who uses the products of the organization; true for members of earlier versions.';

CREATE FUNCTION groups_of_customers_raised() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM check_customer_user(x.organization_id, x.user_id)
    FROM    (SELECT DISTINCT changed.organization_id, changed.user_id
             FROM   changed
             JOIN   before ON before.group_id = changed.group_id AND before.user_id = changed.user_id
                          AND before.gives_products <> changed.gives_products
             JOIN   customer_assignments a ON a.organization_id = changed.organization_id
                                          AND a.group_id = changed.group_id) AS x;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION groups_of_customers_raised() IS 'Notes that people are in a group by the word of a maker that may give what a customer assigns to it.';
CREATE TRIGGER groups_of_customers_raised AFTER UPDATE ON directory_group_members
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_raised();

-- A stream sends sign-ins where its record says so; those that exist go on with the audit log alone. An earlier version that
-- saves a stream leaves that as it is.
ALTER TABLE siem_streams
    ADD COLUMN include     text[] NOT NULL DEFAULT '{audit}',
    ADD COLUMN sign_ins_at timestamptz,
    ADD COLUMN sign_ins_id uuid;
COMMENT ON COLUMN siem_streams.include IS 'What is sent: audit, sign_ins, or both.';
COMMENT ON COLUMN siem_streams.sign_ins_at IS 'The time of the last sign-in that was received, or up to which there was none; null without sign-ins.';
COMMENT ON COLUMN siem_streams.sign_ins_id IS 'The id of that sign-in, behind all of that time where there was none.';

-- Tokens that setup links have made: the audit log says by which link, and which roles that had.
DO $$
DECLARE
    token   record;
    link_id text;
    named   text[];
    limited bigint := 0;
BEGIN
    FOR token IN SELECT id, organization_id, created_at FROM scim_tokens WHERE name = 'Setup link' ORDER BY id LOOP
        SELECT details ->> 'setup_link_id' INTO link_id
        FROM   audit_entries
        WHERE  organization_id = token.organization_id AND action = 'scim_token.created'
          AND  details ->> 'scim_token_id' = token.id::text;
        CONTINUE WHEN link_id IS NULL;
        SELECT ARRAY(SELECT role FROM unnest(roles) AS role WHERE role <> 'member' ORDER BY role) INTO named
        FROM   setup_links
        WHERE  id = link_id::uuid AND organization_id = token.organization_id;
        IF NOT FOUND THEN
            -- A link is valid for 30 days at most. Ids follow the clock of the process that made the row.
            SELECT ARRAY(SELECT role FROM jsonb_array_elements_text(details #> '{setup_link,roles}') AS role
                         WHERE  role <> 'member'
                         ORDER BY role) INTO named
            FROM   audit_entries
            WHERE  organization_id = token.organization_id AND action = 'organization.updated'
              AND  id BETWEEN first_id_at(token.created_at - interval '31 days')
                          AND first_id_at(token.created_at + interval '1 hour')
              AND  details #>> '{setup_link,id}' = link_id AND details #>> '{setup_link,action}' = 'created';
        END IF;
        named := coalesce(named, '{}');
        UPDATE scim_tokens t
        SET    link_roles = named,
               maker_role = CASE WHEN 'admin' = ANY (named) THEN 'admin' WHEN named <> '{}' THEN '' END,
               maker_permissions = CASE WHEN named <> '{}' AND 'admin' <> ALL (named) THEN
                   ARRAY(SELECT   DISTINCT allowed
                         FROM     (SELECT unnest(r.permissions) AS allowed
                                   FROM   organization_roles r
                                   WHERE  r.organization_id = t.organization_id AND r.slug = ANY (named)
                                   UNION ALL
                                   SELECT 'org.roles.manage') AS one
                         ORDER BY allowed) END
        WHERE  t.id = token.id;
        limited := limited + 1;
    END LOOP;
    RAISE NOTICE '% SCIM tokens of setup links change only members with the roles of their links', limited;
END
$$;
