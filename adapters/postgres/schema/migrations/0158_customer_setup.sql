-- gatehouse: compatible from 0079
-- A vendor sets its customers up: with setup links of its own kind, and with rules by which groups give roles of the
-- service.
ALTER TABLE setup_links
    ADD COLUMN return_url text,
    ADD COLUMN reported_actor text,
    ADD COLUMN made_by_api_key uuid REFERENCES api_keys (id) ON DELETE CASCADE;
COMMENT ON COLUMN setup_links.return_url IS 'Where the pages of a link lead back to that a vendor made for a customer; null for nowhere.';
COMMENT ON COLUMN setup_links.reported_actor IS 'Who uses such a link, as the vendor reports it.';
COMMENT ON COLUMN setup_links.made_by_api_key IS 'The API key of a service that made it, with which it ends; null for one that a person made.';
CREATE INDEX setup_links_made_by_api_key ON setup_links (made_by_api_key) WHERE made_by_api_key IS NOT NULL;

ALTER TABLE upstream_connections ADD COLUMN setup_state text;
COMMENT ON COLUMN upstream_connections.setup_state IS 'How far the vendor was told that a connection is which it made for a customer; null for one of an organization of its own.';

CREATE TABLE customer_group_rules (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    customer_id     uuid        NOT NULL REFERENCES service_customers (id) ON DELETE CASCADE,
    group_id        uuid,
    connection_id   uuid,
    asserted_group  text,
    role_ids        uuid[]      NOT NULL,
    created_at      timestamptz NOT NULL,
    FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, connection_id)
        REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE,
    CHECK ((group_id IS NOT NULL AND connection_id IS NULL AND asserted_group IS NULL)
           OR (group_id IS NULL AND connection_id IS NOT NULL AND asserted_group IS NOT NULL))
);
COMMENT ON TABLE customer_group_rules IS 'Which roles of a service people have for a customer by their groups, as the vendor set it up; they add up.';
COMMENT ON COLUMN customer_group_rules.organization_id IS 'The internal organization of the customer.';
COMMENT ON COLUMN customer_group_rules.group_id IS 'A group of its directory; without one, what a connection asserts.';
COMMENT ON COLUMN customer_group_rules.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';
CREATE UNIQUE INDEX customer_group_rules_once
    ON customer_group_rules (customer_id, coalesce(group_id, connection_id), coalesce(asserted_group, ''));
CREATE INDEX customer_group_rules_of_group ON customer_group_rules (organization_id, group_id);
CREATE INDEX customer_group_rules_of_connection
    ON customer_group_rules (organization_id, connection_id);
