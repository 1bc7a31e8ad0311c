-- gatehouse: compatible from 0025
-- The redirect URI of each service that was refused last, so that the console can show it to those who look after it.

CREATE TABLE refused_redirects (
    organization_id uuid        NOT NULL,
    service_id      uuid        NOT NULL,
    redirect_uri    text        NOT NULL,
    refused_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, service_id),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE refused_redirects IS 'Of each service, the redirect URI that was refused last; at most one is written in a minute.';
