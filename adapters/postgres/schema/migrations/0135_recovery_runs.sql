-- gatehouse: compatible from 0079
-- When a backup was last made, and when one was last tried. Servers before this migration read and write no such table.

CREATE TABLE recovery_runs (
    kind         text PRIMARY KEY CHECK (kind IN ('backup', 'restore_drill')),
    succeeded_at timestamptz NOT NULL
);
COMMENT ON TABLE recovery_runs IS 'When a backup last succeeded, and when restoring one was last tried with success.';
