-- Services as clients of OAuth and OpenID Connect: what they register, and what is in progress between them and Gatehouse.

ALTER TABLE services
    ADD COLUMN post_logout_redirect_uris text[] NOT NULL DEFAULT '{}',
    ADD COLUMN backchannel_logout_uri    text,
    ADD COLUMN frontchannel_logout_uri   text,
    ADD COLUMN jwks_uri                  text,
    ADD COLUMN jwks                      jsonb,
    ADD COLUMN audiences                 text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN services.jwks IS 'The public keys with which the service signs its assertions, when it publishes them nowhere.';

CREATE TABLE service_audiences (
    audience        text PRIMARY KEY,
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE service_audiences IS 'Which service has which audience: none is that of two (decisions 10.5).';
CREATE INDEX service_audiences_of_service ON service_audiences (organization_id, service_id);

-- After a form a browser is led to another site by a page, which needs no exception in the policy of the form.
ALTER TABLE browser_returns
    DROP COLUMN leaves_for,
    ADD  COLUMN email text;
COMMENT ON COLUMN browser_returns.email IS 'The address that the sign-in page proposes.';

CREATE TABLE client_grants (
    session_id      uuid PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    scopes          text[] NOT NULL,
    audience        text,
    key_thumbprint  text,
    host            text
);
COMMENT ON TABLE client_grants IS 'What a service was granted at the token endpoint, with a session of a user.';
COMMENT ON COLUMN client_grants.key_thumbprint IS 'The key to which the tokens of the session are bound (RFC 9449).';
COMMENT ON COLUMN client_grants.host IS 'The custom domain under which the sign-in began; null for the base URL.';

CREATE TABLE authorization_requests (
    id_hash         bytea PRIMARY KEY,
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    is_pushed       boolean NOT NULL,
    parameters      jsonb NOT NULL,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE authorization_requests
    IS 'Requests that a service has pushed (RFC 9126), or that wait while their user signs in or answers a question.';
CREATE INDEX authorization_requests_of_service ON authorization_requests (organization_id, service_id);
CREATE INDEX authorization_requests_ended ON authorization_requests (expires_at);

CREATE TABLE authorization_codes (
    code_hash       bytea PRIMARY KEY,
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    session_id      uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    redirect_uri    text NOT NULL,
    scopes          text[] NOT NULL,
    audience        text,
    nonce           text,
    code_challenge  text,
    key_thumbprint  text,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    host            text,
    used_at         timestamptz,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE authorization_codes IS 'Codes that a browser carries to a service; each is exchanged for tokens once.';
CREATE INDEX authorization_codes_of_service ON authorization_codes (organization_id, service_id);
CREATE INDEX authorization_codes_of_session ON authorization_codes (session_id);
CREATE INDEX authorization_codes_ended ON authorization_codes (expires_at);

CREATE TABLE device_codes (
    device_code_hash bytea PRIMARY KEY,
    user_code_hash   bytea NOT NULL UNIQUE,
    organization_id  uuid,
    service_id       uuid,
    scopes           text[] NOT NULL,
    audience         text,
    ip_address       text,
    user_agent       text,
    created_at       timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    polled_at        timestamptz,
    interval_seconds integer NOT NULL,
    host             text,
    denied_at        timestamptz,
    session_id       uuid REFERENCES sessions ON DELETE CASCADE,
    used_at          timestamptz,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE device_codes IS 'Devices that wait until a user approves them on another one (RFC 8628).';
COMMENT ON COLUMN device_codes.session_id IS 'The session that began when a user approved the device.';
COMMENT ON COLUMN device_codes.service_id IS 'Null for the command line of Gatehouse, whose sessions are on the platform.';
CREATE INDEX device_codes_of_service ON device_codes (organization_id, service_id);
CREATE INDEX device_codes_of_session ON device_codes (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX device_codes_ended ON device_codes (expires_at);

CREATE TABLE single_uses (
    id_hash    bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE single_uses IS 'Ids of proofs and assertions that were used, and of access tokens that were revoked.';
CREATE INDEX single_uses_ended ON single_uses (expires_at);

CREATE TABLE logout_queues (
    service_id      uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    due_at          timestamptz,
    leased_until    timestamptz,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE logout_queues IS 'When each service has the next logout token to receive; like webhook_queues.';
CREATE INDEX logout_queues_due ON logout_queues (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX logout_queues_of_organization ON logout_queues (organization_id, service_id);

CREATE TABLE logout_notices (
    id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    session_id      uuid NOT NULL,
    user_id         uuid NOT NULL,
    attempt_count   integer NOT NULL DEFAULT 0,
    next_retry_at   timestamptz NOT NULL,
    queued_at       timestamptz NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE logout_notices
    IS 'Ended sessions of which their service is still to be told (OpenID Connect Back-Channel Logout).';
CREATE INDEX logout_notices_due ON logout_notices (service_id, next_retry_at, id);
CREATE INDEX logout_notices_of_service ON logout_notices (organization_id, service_id);

-- A trigger, because many statements end sessions, and each has to tell the services of those.
CREATE FUNCTION sessions_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    ended_at timestamptz := NEW.revoked_at;
BEGIN
    INSERT INTO logout_notices (organization_id, service_id, session_id, user_id, next_retry_at, queued_at)
    SELECT organization_id, id, OLD.id, OLD.user_id, ended_at, ended_at
    FROM   services
    WHERE  id = OLD.service_id AND organization_id = OLD.organization_id AND backchannel_logout_uri IS NOT NULL;
    IF FOUND THEN
        INSERT INTO logout_queues AS queue (service_id, organization_id, due_at)
        VALUES (OLD.service_id, OLD.organization_id, ended_at)
        ON CONFLICT (service_id) DO UPDATE SET due_at = least(queue.due_at, excluded.due_at);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION sessions_ended() IS 'Queues a logout token for the service of a session that has ended.';
CREATE TRIGGER sessions_revoked AFTER UPDATE OF revoked_at ON sessions
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL AND OLD.service_id IS NOT NULL)
    EXECUTE FUNCTION sessions_ended();
