-- gatehouse: no transaction
-- The hash chain of each organization's audit log. Old entries are sealed by the same actor as new ones, in batches.

ALTER TABLE audit_entries ADD COLUMN IF NOT EXISTS position bigint;
COMMENT ON COLUMN audit_entries.position IS 'The place in the chain of the organization: 1, 2, 3 …; null until the entry is sealed.';
-- Sealing updates every entry once. Without frequent vacuuming, the search for unsealed entries passes the dead ones.
ALTER TABLE audit_entries SET (autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE IF NOT EXISTS audit_chains (
    organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    sealed_through  bigint NOT NULL CHECK (sealed_through > 0),
    head            text NOT NULL,
    sealed_at       timestamptz NOT NULL
);
COMMENT ON TABLE audit_chains IS 'The last position of each chain, and its hash.';

CREATE TABLE IF NOT EXISTS audit_seals (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    position        bigint NOT NULL,
    entry_id        uuid NOT NULL,
    hash            text NOT NULL,
    digests         jsonb NOT NULL,
    salts           jsonb NOT NULL,
    PRIMARY KEY (organization_id, position)
);
COMMENT ON TABLE audit_seals IS 'The hash of each sealed entry, and the salted digests of its personal fields. It refers to no entry, so that it shows which one was deleted.';
COMMENT ON COLUMN audit_seals.salts IS 'A field that was anonymized has no salt any more; its digest stays.';

CREATE TABLE IF NOT EXISTS audit_sealing (
    is_the_only_row      boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row),
    last_organization_id uuid NOT NULL
);
COMMENT ON TABLE audit_sealing IS 'The organization whose entries were sealed last; the next one in the order of the ids has its turn.';

-- Ordered by the time first: otherwise a plan may read a whole log in the order of the ids to find its unsealed entries.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_unsealed ON audit_entries (organization_id, created_at, id)
    WHERE position IS NULL;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_chain ON audit_entries (organization_id, position)
    WHERE position IS NOT NULL;
