-- gatehouse: compatible from 0079
-- The scopes of a service's own, those that its machines may have, and the scopes that roles of an organization give. An
-- older process leaves all of it as it is. Constant defaults rewrite no row.
ALTER TABLE services
    ADD COLUMN scopes         jsonb  NOT NULL DEFAULT '[]',
    ADD COLUMN machine_scopes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN services.scopes IS 'Its own scopes: a list of name and description.';
COMMENT ON COLUMN services.machine_scopes IS 'Those of its scopes that its machines may have: its own tokens, and those of workloads.';
COMMENT ON COLUMN services.roles IS 'Its own roles: a list of name, title, description and, where a role gives some, scopes.';

ALTER TABLE organization_roles ADD COLUMN scopes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN organization_roles.scopes IS 'The scopes of services of the organization that the role gives; one that any role lists is given by roles alone.';
