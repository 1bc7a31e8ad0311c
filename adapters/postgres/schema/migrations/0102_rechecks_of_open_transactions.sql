-- gatehouse: compatible from 0025
-- A change notes itself also while another one waits, which may be worked off before this one is committed: then its
-- sessions would be looked through without it. What waits several times is worked off once (`customer_endings.py`).

CREATE OR REPLACE FUNCTION recheck_customer(of_service uuid, of_customer uuid, because text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- One that this transaction has noted is read by none before all of its changes.
    INSERT INTO customer_rechecks (id, service_id, customer_id, reason, created_at)
    SELECT gen_random_uuid(), of_service, of_customer, because, now()
    WHERE  NOT EXISTS (SELECT FROM customer_rechecks
                       WHERE  service_id = of_service AND customer_id IS NOT DISTINCT FROM of_customer
                         AND  after_session IS NULL AND xmin = pg_current_xact_id()::xid);
END
$$;
