-- gatehouse: compatible from 0079
-- The logs lose their foreign keys to organizations, so that they can be spread over machines, and an entry costs no look-up
-- of its organization. The deletion of an organization deletes its rows instead, also that by an older process. What was
-- written beside it, which the keys refused, is deleted by housekeeping: here stand the owners for which it looks again.

-- In the order in which a transaction locks them that writes for an organization. No row is read.
LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
LOCK TABLE audit_entries IN ACCESS EXCLUSIVE MODE;
LOCK TABLE audit_seals IN ACCESS EXCLUSIVE MODE;
LOCK TABLE scim_log_entries IN ACCESS EXCLUSIVE MODE;

CREATE TABLE ended_log_owners (
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    ended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, webhook_id)
);
COMMENT ON TABLE ended_log_owners IS 'Organizations and webhooks that were deleted a short time ago: what was written to the logs beside that is still to be deleted.';
COMMENT ON COLUMN ended_log_owners.webhook_id IS 'The webhook; 00000000-0000-0000-0000-000000000000 for the whole organization.';
CREATE INDEX ended_log_owners_oldest ON ended_log_owners (ended_at);

-- The deliveries before their attempts: a transaction that writes an attempt has locked its delivery.
CREATE FUNCTION log_rows_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM webhook_deliveries WHERE organization_id = OLD.id;
    DELETE FROM webhook_attempts WHERE organization_id = OLD.id;
    DELETE FROM scim_log_entries WHERE organization_id = OLD.id;
    DELETE FROM audit_entries WHERE organization_id = OLD.id;
    DELETE FROM audit_seals WHERE organization_id = OLD.id;
    INSERT INTO ended_log_owners (organization_id, webhook_id)
    VALUES (OLD.id, '00000000-0000-0000-0000-000000000000')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION log_rows_of_organization_deleted() IS 'Deletes what the logs have of an organization that is deleted, and remembers it for what is being written.';
-- After the foreign keys, whose triggers have names that stand before: the chain of an organization is locked by then.
CREATE TRIGGER organizations_log_rows_deleted AFTER DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION log_rows_of_organization_deleted();

ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_organization_id_fkey;
ALTER TABLE audit_seals DROP CONSTRAINT audit_seals_organization_id_fkey;
ALTER TABLE scim_log_entries DROP CONSTRAINT scim_log_entries_organization_id_fkey;
