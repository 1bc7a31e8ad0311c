-- gatehouse: compatible from 0079
-- What a connection asks its identity provider for, whether signing out goes on to the provider, and what connections call
-- people. An older process leaves all of it as it is. Constant defaults rewrite no row.
ALTER TABLE upstream_connections
    ADD COLUMN name_id_format        text,
    ADD COLUMN signs_out_at_provider boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN upstream_connections.name_id_format IS 'The format of names that requests by SAML ask for; null for whichever the identity provider chooses.';
COMMENT ON COLUMN upstream_connections.signs_out_at_provider IS 'Whether who signs out here is led on to the end_session_endpoint of the OpenID provider.';

ALTER TABLE provider_sessions ADD COLUMN id_token_sealed bytea;
ALTER TABLE mfa_challenges ADD COLUMN id_token_sealed bytea;
COMMENT ON COLUMN mfa_challenges.id_token_sealed IS 'That of provider_sessions, while the sign-in waits for its second factor.';
COMMENT ON TABLE provider_sessions IS 'How the identity providers of connections name users and their sessions there, by the session here.';
COMMENT ON COLUMN provider_sessions.name_id IS 'The NameID of SAML, or the sub of OpenID Connect.';
COMMENT ON COLUMN provider_sessions.session_index IS 'The SessionIndex of SAML, or the sid of OpenID Connect.';
COMMENT ON COLUMN provider_sessions.id_token_sealed IS 'The ID token that goes back to the provider as a hint when its person signs out; null where signing out ends here.';

ALTER TABLE identities
    ADD COLUMN name        text,
    ADD COLUMN given_name  text,
    ADD COLUMN family_name text;
COMMENT ON COLUMN identities.name IS 'What the connection called the person last, as are given_name and family_name; null where it has said none.';

CREATE TRIGGER said_names_of_customers_added AFTER INSERT ON identities FOR EACH ROW
    WHEN (NEW.connection_id IS NOT NULL AND coalesce(NEW.name, NEW.given_name, NEW.family_name) IS NOT NULL)
    EXECUTE FUNCTION members_of_customers_changed();
CREATE TRIGGER said_names_of_customers_changed AFTER UPDATE OF name, given_name, family_name ON identities FOR EACH ROW
    WHEN (NEW.connection_id IS NOT NULL
          AND (OLD.name IS DISTINCT FROM NEW.name OR OLD.given_name IS DISTINCT FROM NEW.given_name
               OR OLD.family_name IS DISTINCT FROM NEW.family_name))
    EXECUTE FUNCTION members_of_customers_changed();
