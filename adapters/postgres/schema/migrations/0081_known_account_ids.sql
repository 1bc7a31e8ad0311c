-- gatehouse: compatible from 0025
-- The ids by which organizations know users whom they gave another address while others had given something to the old one
-- (decisions 5.7). Processes of an older version show the ids of the accounts meanwhile.

CREATE TABLE known_account_ids (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    known_id        uuid NOT NULL,
    user_id         uuid REFERENCES users (id) ON DELETE SET NULL,
    PRIMARY KEY (organization_id, known_id)
);
COMMENT ON TABLE known_account_ids IS 'By which id SCIM and the interface of services know an account of an organization, where it is not the id of the account.';
COMMENT ON COLUMN known_account_ids.user_id IS 'The account; null once the organization has it no more: the id is given to no other one.';
CREATE UNIQUE INDEX known_account_ids_of_user ON known_account_ids (user_id, organization_id);

CREATE FUNCTION known_ids_given() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- An account whose id is that of another user there gets one of its own.
    INSERT INTO known_account_ids (organization_id, known_id, user_id)
    SELECT k.organization_id, gen_random_uuid(), k.known_id
    FROM   known_account_ids k
    WHERE  (k.organization_id, k.known_id) IN (SELECT organization_id, user_id FROM added)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION known_ids_given() IS 'Gives an account another id in an organization that knows another user by the id of the account.';

CREATE FUNCTION known_ids_ended() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE known_account_ids k
    SET    user_id = NULL
    WHERE  (k.organization_id, k.user_id) IN (SELECT organization_id, user_id FROM removed)
      AND  NOT EXISTS (SELECT FROM memberships m WHERE m.organization_id = k.organization_id AND m.user_id = k.user_id)
      AND  NOT EXISTS (SELECT FROM service_users l WHERE l.organization_id = k.organization_id AND l.user_id = k.user_id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION known_ids_ended() IS 'Ends the id by which an organization knows a user whom it has no more.';

CREATE TRIGGER memberships_known_ids_given AFTER INSERT ON memberships
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION known_ids_given();
CREATE TRIGGER memberships_known_ids_ended AFTER DELETE ON memberships
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION known_ids_ended();
CREATE TRIGGER service_users_known_ids_given AFTER INSERT ON service_users
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION known_ids_given();
CREATE TRIGGER service_users_known_ids_ended AFTER DELETE ON service_users
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION known_ids_ended();

-- A link that moves to another account counts as removed from one and added to the other.
CREATE FUNCTION service_users_moved() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO service_user_changes (service_id, user_id, change)
    VALUES (OLD.service_id, OLD.user_id, -1), (NEW.service_id, NEW.user_id, 1);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION service_users_moved() IS 'Records that a link belongs to another account, for the numbers of users of services.';

CREATE TRIGGER service_users_moved AFTER UPDATE OF user_id ON service_users
    FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION service_users_moved();
