-- gatehouse: compatible from 0025
-- What organizations sell, as a record of its changes and as counts by day. Triggers record, so that everything counts,
-- also what goes with its service or user. What was sold before has no record, and is the first count of each plan.

CREATE TABLE subscription_changes (
    organization_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    service_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    user_id uuid,
    kind text NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL,
    currency text NOT NULL,
    at timestamptz NOT NULL,
    is_counted boolean DEFAULT false NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT subscription_changes_kind_check
        CHECK (kind IN ('begun', 'ended', 'moved_in', 'moved_out', 'late', 'settled', 'priced'))
);
COMMENT ON TABLE subscription_changes IS 'Each change of a subscription that changes what is sold. Its ids have no reference: what was sold stays counted. It goes with the organization.';
COMMENT ON COLUMN subscription_changes.user_id IS 'Whose subscription it is; null where the price of a plan changed.';
COMMENT ON COLUMN subscription_changes.live IS 'By how much the number of paid and overdue subscriptions to the plan changed; late is that of the overdue ones.';
COMMENT ON COLUMN subscription_changes.cents IS 'By how much the price of all of them together changed.';
CREATE INDEX subscription_changes_by_time ON subscription_changes (organization_id, at DESC, id DESC);
CREATE INDEX subscription_changes_by_kind ON subscription_changes (organization_id, kind, at DESC, id DESC);
CREATE INDEX subscription_changes_by_plan ON subscription_changes (organization_id, plan_id, at DESC, id DESC);
CREATE INDEX subscription_changes_not_counted ON subscription_changes (organization_id, id) WHERE NOT is_counted;

CREATE TABLE subscription_days (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    service_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    currency text NOT NULL,
    begun bigint NOT NULL,
    ended bigint NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL,
    PRIMARY KEY (organization_id, day, service_id, plan_id, currency)
);
COMMENT ON TABLE subscription_days IS 'The changes of a day (UTC) added up by plan. What is sold at the end of a day is the sum up to it.';

CREATE TABLE subscription_totals (
    organization_id uuid NOT NULL,
    currency text NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL,
    PRIMARY KEY (organization_id, currency)
);
COMMENT ON TABLE subscription_totals IS 'All changes of an organization added up: what it sells now, but for what is not counted yet.';
CREATE INDEX subscription_totals_by_price ON subscription_totals (currency, cents DESC, organization_id);

CREATE TABLE currency_totals (
    currency text PRIMARY KEY,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL
);
COMMENT ON TABLE currency_totals IS 'What all organizations sell now: subscription_totals added up by currency.';

CREATE FUNCTION subscriptions_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was_live boolean := TG_OP <> 'INSERT' AND OLD.status IN ('active', 'past_due');
    is_live boolean := TG_OP <> 'DELETE' AND NEW.status IN ('active', 'past_due');
    was_late boolean := TG_OP <> 'INSERT' AND OLD.status = 'past_due';
    is_late boolean := TG_OP <> 'DELETE' AND NEW.status = 'past_due';
    is_moved boolean := TG_OP = 'UPDATE' AND OLD.plan_id <> NEW.plan_id;
    found record;
BEGIN
    IF was_live AND (is_moved OR NOT is_live) THEN
        -- With its organization everything goes.
        IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id) THEN
            RETURN NULL;
        END IF;
        -- A price that changes at this moment is either seen here, or this change is seen there.
        SELECT * INTO found FROM plans WHERE id = OLD.plan_id FOR SHARE;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (OLD.organization_id, OLD.service_id, OLD.plan_id, OLD.user_id,
                CASE WHEN is_live THEN 'moved_out' ELSE 'ended' END, -1, -was_late::integer,
                -coalesce(found.price_cents, 0), coalesce(found.currency, ''),
                CASE WHEN TG_OP = 'DELETE' THEN now() ELSE NEW.updated_at END);
    END IF;
    IF is_live AND (is_moved OR NOT was_live) THEN
        SELECT * INTO found FROM plans WHERE id = NEW.plan_id FOR SHARE;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.plan_id, NEW.user_id,
                CASE WHEN was_live THEN 'moved_in' ELSE 'begun' END, 1, is_late::integer, found.price_cents,
                found.currency, NEW.updated_at);
    ELSIF is_live AND was_late <> is_late THEN
        SELECT * INTO found FROM plans WHERE id = NEW.plan_id;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.plan_id, NEW.user_id,
                CASE WHEN is_late THEN 'late' ELSE 'settled' END, 0, is_late::integer - was_late::integer, 0,
                found.currency, NEW.updated_at);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION subscriptions_changed() IS 'Records what a change of a subscription changes of what is sold.';

CREATE FUNCTION plans_priced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sold bigint;
    overdue bigint;
BEGIN
    SELECT count(*), count(*) FILTER (WHERE status = 'past_due') INTO sold, overdue
    FROM   subscriptions
    WHERE  service_id = NEW.service_id AND plan_id = NEW.id AND status IN ('active', 'past_due');
    IF sold = 0 THEN
        RETURN NULL;
    END IF;
    IF NEW.currency = OLD.currency THEN
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, kind, live, late, cents, currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.id, 'priced', 0, 0,
                sold * (NEW.price_cents - OLD.price_cents), NEW.currency, NEW.updated_at);
    ELSE
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, kind, live, late, cents, currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.id, 'priced', -sold, -overdue, -sold * OLD.price_cents,
                OLD.currency, NEW.updated_at),
               (NEW.organization_id, NEW.service_id, NEW.id, 'priced', sold, overdue, sold * NEW.price_cents,
                NEW.currency, NEW.updated_at);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION plans_priced() IS 'Records what the new price of a plan changes for its subscriptions.';

CREATE FUNCTION subscription_counts_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM subscription_changes WHERE organization_id = OLD.id;
    DELETE FROM subscription_days WHERE organization_id = OLD.id;
    -- In the order in which others add to them.
    PERFORM FROM currency_totals
    WHERE   currency IN (SELECT currency FROM subscription_totals WHERE organization_id = OLD.id)
    ORDER   BY currency
    FOR     UPDATE;
    UPDATE currency_totals c
    SET    live = c.live - t.live, late = c.late - t.late, cents = c.cents - t.cents
    FROM   subscription_totals t
    WHERE  t.organization_id = OLD.id AND t.currency = c.currency;
    DELETE FROM subscription_totals WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION subscription_counts_deleted() IS 'Deletes what an organization that is deleted has sold.';

LOCK TABLE subscriptions IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE;
CREATE TRIGGER subscriptions_changed AFTER INSERT OR DELETE OR UPDATE OF status, plan_id ON subscriptions
    FOR EACH ROW EXECUTE FUNCTION subscriptions_changed();
CREATE TRIGGER plans_priced AFTER UPDATE OF price_cents, currency ON plans
    FOR EACH ROW WHEN (OLD.price_cents <> NEW.price_cents OR OLD.currency <> NEW.currency)
    EXECUTE FUNCTION plans_priced();
CREATE TRIGGER subscription_counts_deleted AFTER DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION subscription_counts_deleted();
INSERT INTO subscription_days (organization_id, day, service_id, plan_id, currency, begun, ended, live, late, cents)
SELECT   b.organization_id, (now() AT TIME ZONE 'UTC')::date, b.service_id, b.plan_id, p.currency, 0, 0, count(*),
         count(*) FILTER (WHERE b.status = 'past_due'), sum(p.price_cents)
FROM     subscriptions b
JOIN     plans p ON p.service_id = b.service_id AND p.id = b.plan_id
WHERE    b.status IN ('active', 'past_due')
GROUP BY b.organization_id, b.service_id, b.plan_id, p.currency;
INSERT INTO subscription_totals (organization_id, currency, live, late, cents)
SELECT organization_id, currency, sum(live), sum(late), sum(cents) FROM subscription_days GROUP BY organization_id, currency;
INSERT INTO currency_totals (currency, live, late, cents)
SELECT currency, sum(live), sum(late), sum(cents) FROM subscription_totals GROUP BY currency;
