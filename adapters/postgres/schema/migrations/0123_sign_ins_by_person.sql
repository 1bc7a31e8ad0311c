-- gatehouse: compatible from 0079
-- What a sign-in is compared with stands by person, so that no sign-in reads the log of sign-ins, whose rows may be on several
-- machines. Such a log has no foreign keys and no triggers of its own: triggers of the tables that it referred to do their
-- work, also for processes of the versions that know the log with its keys. The trigger that filled in the person served
-- version 0.1.0 alone. The index by id stays, because 0.2.0 and 0.3.0 replace an event by its id.

CREATE TABLE sign_in_habits (
    user_id    uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hours      integer[] NOT NULL,
    countries  text NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);
COMMENT ON TABLE sign_in_habits IS 'The newest sign-ins of each person, wherever they were, with which the next one is compared.';
COMMENT ON COLUMN sign_in_habits.hours IS 'In which hour since 1970 each of them was, the newest first.';
COMMENT ON COLUMN sign_in_habits.countries IS 'From which country each of them was, two letters each, or two spaces.';
COMMENT ON COLUMN sign_in_habits.expires_at IS 'When none of them counts any more, from the end of a month on, so that it is seldom another moment.';
CREATE INDEX sign_in_habits_old ON sign_in_habits (expires_at);

CREATE TABLE recent_refusals (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    organization_id uuid NOT NULL,
    reason          text NOT NULL,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE recent_refusals IS 'The refused sign-ins of the last minutes, and those that waited, which are counted by person.';
COMMENT ON COLUMN recent_refusals.id IS 'That of the event in the log of sign-ins.';
COMMENT ON COLUMN recent_refusals.organization_id IS 'As in the log of sign-ins: no reference.';
CREATE INDEX recent_refusals_of_user ON recent_refusals (user_id, created_at);

CREATE FUNCTION login_events_of_users_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    ids uuid[] := ARRAY(SELECT id FROM removed);
BEGIN
    IF cardinality(ids) > 0 THEN
        DELETE FROM login_events WHERE user_id = ANY (ids);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION login_events_of_users_deleted() IS 'Deletes the sign-ins of accounts that are deleted.';

CREATE FUNCTION login_events_of_service_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE login_events SET service_id = NULL WHERE organization_id = OLD.organization_id AND service_id = OLD.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION login_events_of_service_deleted() IS 'Takes a service that is deleted out of the sign-ins to it.';

CREATE PROCEDURE fill_sign_in_habits()
LANGUAGE plpgsql AS $$
DECLARE
    last_id  uuid := '00000000-0000-0000-0000-000000000000';
    since_id uuid := first_id_at(now() - interval '90 days');
    ids      uuid[];
BEGIN
    LOOP
        ids := ARRAY(SELECT id FROM users WHERE id > last_id ORDER BY id LIMIT 1000);
        EXIT WHEN cardinality(ids) = 0;
        INSERT INTO sign_in_habits (user_id, hours, countries, expires_at)
        SELECT u.id, newest.hours, newest.countries, newest.expires_at
        FROM   users u
        CROSS  JOIN LATERAL (
                   SELECT array_agg((extract(epoch FROM e.created_at)::bigint / 3600)::integer ORDER BY e.id DESC) AS hours,
                          string_agg(CASE WHEN length(e.geo_country) = 2 THEN e.geo_country ELSE '  ' END, ''
                                     ORDER BY e.id DESC) AS countries,
                          (date_trunc('month', max(e.created_at) AT TIME ZONE 'UTC') + interval '1 month' + interval '90 days')
                              AT TIME ZONE 'UTC' AS expires_at
                   FROM   (SELECT   id, created_at, geo_country
                           FROM     login_events
                           WHERE    user_id = u.id AND success AND id >= since_id
                           ORDER BY id DESC
                           LIMIT    100) e) newest
        WHERE  u.id = ANY (ids) AND newest.hours IS NOT NULL
        ON CONFLICT DO NOTHING;
        last_id := ids[cardinality(ids)];
        -- No account is locked longer than for one batch.
        COMMIT;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fill_sign_in_habits() IS 'Reads the habits of each person from the log of sign-ins, batch by batch; the migration after the next one drops it.';
