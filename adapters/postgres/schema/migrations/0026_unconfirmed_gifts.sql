-- gatehouse: compatible from 0025
-- What an organization gives to an address stays unconfirmed until its person confirms it (decisions 5.7).

-- How a link came to be. Until now nothing recorded it; the default fills the rows without rewriting the table, and keeps
-- the access that they give today. What came with a membership is marked by a later migration.
ALTER TABLE service_users ADD COLUMN origin text NOT NULL DEFAULT 'key';
-- From now on a statement decides; one that does not gives the least.
ALTER TABLE service_users ALTER COLUMN origin SET DEFAULT 'self';
ALTER TABLE service_users ADD CONSTRAINT service_users_origin_check CHECK (origin IN ('membership', 'key', 'self')) NOT VALID;
COMMENT ON COLUMN service_users.origin IS 'What the link came with: a membership, an API key, or a sign-in by its user.';
COMMENT ON COLUMN service_users.last_login_at IS 'The last sign-in, which confirms the link; null until then, and after a first proof of the address.';

ALTER TABLE users
    ADD COLUMN disowned_at timestamptz,
    ADD COLUMN disowned_by_organization_id uuid,
    ADD COLUMN changed_by_service_at timestamptz;
ALTER TABLE users ADD CONSTRAINT users_disowned_by_organization_id_fkey
    FOREIGN KEY (disowned_by_organization_id) REFERENCES organizations (id) ON DELETE SET NULL NOT VALID;
COMMENT ON COLUMN users.disowned_at IS 'When the organization of its mail domain took the address back; the user has to choose another one.';
COMMENT ON COLUMN users.disowned_by_organization_id IS 'The organization that has verified the mail domain.';
COMMENT ON COLUMN users.changed_by_service_at IS 'When the token of a service first changed how the account signs in; then what is unconfirmed waits for a mailed proof.';

CREATE TABLE address_conflicts (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    occurred_at     timestamptz NOT NULL
);
CREATE INDEX address_conflicts_of_organization ON address_conflicts (organization_id, occurred_at);
CREATE INDEX address_conflicts_ended ON address_conflicts (occurred_at);
COMMENT ON TABLE address_conflicts IS 'When an organization learned that an address is taken; more than 20 an hour are refused.';

CREATE FUNCTION lapse_deactivations(of_organization_id uuid, of_domain text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users
    SET    deactivated_at = NULL, deactivated_by_organization_id = NULL, email_verified_at = NULL
    WHERE  deactivated_by_organization_id = of_organization_id AND anonymized_at IS NULL
      AND  split_part(email, '@', 2) = coalesce(of_domain, split_part(email, '@', 2));
    UPDATE users
    SET    disowned_at = NULL, disowned_by_organization_id = NULL
    WHERE  disowned_by_organization_id = of_organization_id
      AND  split_part(email, '@', 2) = coalesce(of_domain, split_part(email, '@', 2));
END
$$;
COMMENT ON FUNCTION lapse_deactivations(uuid, text) IS 'Ends what an organization has decided about accounts of a mail domain; null stands for all its domains.';

CREATE FUNCTION mail_domain_lost() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lapse_deactivations(OLD.organization_id, OLD.domain);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION mail_domain_lost() IS 'Ends what an organization has decided about accounts of a mail domain that is no longer its own.';
CREATE TRIGGER domain_routes_lost AFTER UPDATE OF verified_at ON domain_routes
    FOR EACH ROW WHEN (OLD.verified_at IS NOT NULL AND NEW.verified_at IS NULL) EXECUTE FUNCTION mail_domain_lost();
CREATE TRIGGER domain_routes_deleted AFTER DELETE ON domain_routes
    FOR EACH ROW WHEN (OLD.verified_at IS NOT NULL) EXECUTE FUNCTION mail_domain_lost();

CREATE FUNCTION organization_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lapse_deactivations(OLD.id, NULL);
    RETURN OLD;
END
$$;
COMMENT ON FUNCTION organization_deleted() IS 'Ends what an organization has decided about accounts.';
-- Before, because the foreign keys forget which organization it was.
CREATE TRIGGER organizations_deleted BEFORE DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION organization_deleted();
