-- gatehouse: compatible from 0025
-- Single logout with the SAML identity providers of organizations (decisions 10.9).

CREATE TABLE provider_sessions (
    session_id        uuid PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    organization_id   uuid NOT NULL,
    connection_id     uuid NOT NULL,
    name_id           text NOT NULL,
    name_format       text,
    name_qualifier    text,
    sp_name_qualifier text,
    session_index     text,
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE provider_sessions IS 'How the SAML identity providers of connections name users and their sessions there, by the session here.';
CREATE INDEX provider_sessions_of_name ON provider_sessions (organization_id, connection_id, name_id);

-- Few rows, each of some minutes.
ALTER TABLE saml_logouts
    ADD COLUMN connection_id       uuid,
    ADD COLUMN provider_session_id uuid,
    ADD FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE;
COMMENT ON COLUMN saml_logouts.connection_id IS 'The connection whose identity provider has asked, or is to be told at the end.';
COMMENT ON COLUMN saml_logouts.provider_session_id IS 'The session here of which that identity provider is to be told; null when it has asked itself, or has answered.';
CREATE UNIQUE INDEX saml_logouts_of_connection ON saml_logouts (organization_id, connection_id, message_id)
    WHERE connection_id IS NOT NULL;
