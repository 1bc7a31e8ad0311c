-- gatehouse: compatible from 0025
-- A trigger deletes the attempts of deliveries with them: no foreign key leads to a log that is partitioned by month.

CREATE FUNCTION webhook_deliveries_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- An array, so that an index finds them whatever the planner estimates.
    DELETE FROM webhook_attempts WHERE delivery_id = ANY (ARRAY(SELECT id FROM deleted));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION webhook_deliveries_deleted() IS 'Deletes the attempts of deliveries with them.';

LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_attempts IN ACCESS EXCLUSIVE MODE;
ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_delivery_id_fkey;
CREATE TRIGGER webhook_deliveries_deleted AFTER DELETE ON webhook_deliveries
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION webhook_deliveries_deleted();
