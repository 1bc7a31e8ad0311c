-- gatehouse: compatible from 0079
-- The troubles of clients: requests that were refused in the name of a service. They take the place of
-- refused_redirects, which older processes still write.
CREATE TABLE client_problems (
    organization_id uuid        NOT NULL,
    service_id      uuid        NOT NULL,
    kind            text        NOT NULL,
    network         text        NOT NULL,
    minute          timestamptz NOT NULL,
    noted_at        timestamptz NOT NULL,
    ip_address      text        NOT NULL,
    sent            text,
    registered      text[]      NOT NULL,
    PRIMARY KEY (organization_id, service_id, kind, network, minute),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE client_problems IS 'Requests that were refused in the name of a service: one for each kind, network and minute, the last few of each kind.';
COMMENT ON COLUMN client_problems.kind IS 'A word of core/services/problems.py.';
COMMENT ON COLUMN client_problems.network IS 'From where it came: a /24, or a /48 of IPv6.';
COMMENT ON COLUMN client_problems.ip_address IS 'The address of a backend, the network of a browser.';
COMMENT ON COLUMN client_problems.sent IS 'What the request said, without secrets and persons; null where it said nothing.';
COMMENT ON COLUMN client_problems.registered IS 'What the service had registered then, or what the request might have said.';
CREATE INDEX client_problems_ended ON client_problems (noted_at);

COMMENT ON TABLE refused_redirects IS 'Of each service, the redirect URI that was refused last; versions before the troubles of clients write it.';
