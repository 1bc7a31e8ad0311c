-- gatehouse: compatible from 0025
-- Sign-ins and active users by day, counted in advance, so that no page counts millions of sign-ins. The tables begin
-- empty: an actor counts what there is in batches (`actors/sign_in_counter.py`). No statement here reads a table.

CREATE TABLE sign_in_counting (
    is_the_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row),
    counted_through uuid NOT NULL
);
COMMENT ON TABLE sign_in_counting IS 'The id up to which the login events are counted.';

-- Ids without reference: what a service or a person did stays counted when they are gone.
CREATE TABLE sign_in_counts (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             date NOT NULL,
    reason          text NOT NULL,
    provider        text NOT NULL,
    service_id      uuid NOT NULL,
    sign_ins        bigint NOT NULL CHECK (sign_ins > 0),
    PRIMARY KEY (organization_id, day, reason, provider, service_id)
);
COMMENT ON TABLE sign_in_counts IS 'The counted sign-ins to an organization by day (UTC); they outlive the login events.';
COMMENT ON COLUMN sign_in_counts.reason IS 'Why they were refused; empty for those that succeeded.';
COMMENT ON COLUMN sign_in_counts.service_id IS 'Zero for a sign-in to no service; no reference.';

CREATE TABLE platform_sign_in_counts (
    day      date NOT NULL,
    reason   text NOT NULL,
    provider text NOT NULL,
    sign_ins bigint NOT NULL CHECK (sign_ins > 0),
    PRIMARY KEY (day, reason, provider)
);
COMMENT ON TABLE platform_sign_in_counts IS 'The counted sign-ins of all organizations and of none, by day (UTC).';

CREATE TABLE active_user_changes (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    day             date NOT NULL,
    users           bigint NOT NULL,
    week_change     bigint NOT NULL,
    month_change    bigint NOT NULL,
    PRIMARY KEY (organization_id, day)
);
COMMENT ON TABLE active_user_changes IS 'How many users signed in to an organization on a day.';
COMMENT ON COLUMN active_user_changes.week_change IS 'Those active in the seven days that end here, less those of the seven days that end a day before.';
COMMENT ON COLUMN active_user_changes.month_change IS 'The same with thirty days.';

CREATE TABLE platform_active_user_changes (
    day          date PRIMARY KEY,
    users        bigint NOT NULL,
    week_change  bigint NOT NULL,
    month_change bigint NOT NULL
);
COMMENT ON TABLE platform_active_user_changes IS 'The same for the whole platform.';

CREATE TABLE active_days (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scope   uuid NOT NULL,
    day     date NOT NULL,
    PRIMARY KEY (user_id, scope, day)
);
COMMENT ON TABLE active_days IS 'On which of the last days a user signed in, so that each is counted once; deleted when no window contains them.';
COMMENT ON COLUMN active_days.scope IS 'An organization, or zero for the whole platform; no reference, because the rows go soon.';

CREATE INDEX active_days_by_day ON active_days (day);
