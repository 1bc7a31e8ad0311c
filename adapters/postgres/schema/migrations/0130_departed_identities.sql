-- gatehouse: compatible from 0079
-- An older process remembers nobody who leaves. What is remembered it leaves alone, also where it gives an account back to
-- the owner of its address, and where it lets a connection lead elsewhere. Nor does it learn by which id a provider itself
-- names a person: the next sign-in by a newer one does.

CREATE TABLE departed_identities (
    organization_id uuid NOT NULL,
    connection_id   uuid NOT NULL,
    subject         text NOT NULL,
    user_id         uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at       timestamptz NOT NULL,
    left_at         timestamptz NOT NULL,
    PRIMARY KEY (organization_id, connection_id, subject),
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE departed_identities IS 'Who signed in by a connection until they left its organization: they are linked again when they belong again.';
COMMENT ON COLUMN departed_identities.linked_at IS 'When the identity was linked that leaving has unlinked.';
CREATE INDEX departed_identities_of_user ON departed_identities (user_id);

-- Keys and workloads from before, and those of an older process, do not say it, and go on as they were made.
ALTER TABLE organization_keys ADD COLUMN is_phishing_resistant boolean;
COMMENT ON COLUMN organization_keys.is_phishing_resistant IS 'Whether that factor resists phishing, as organizations may require; null for a key that does not say it.';
ALTER TABLE workloads ADD COLUMN is_phishing_resistant boolean;
COMMENT ON COLUMN workloads.is_phishing_resistant IS 'Whether that factor resists phishing, as organizations may require; null for a rule that does not say it.';

ALTER TABLE identities ADD COLUMN own_subject text;
COMMENT ON COLUMN identities.own_subject IS 'The id by which the provider itself names the person (sub, NameID), where the connection takes another one as the subject.';
