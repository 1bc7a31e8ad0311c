-- gatehouse: compatible from 0025
-- Earlier versions of brandings, to use again: at most 20 for an organization, with their pictures.

CREATE TABLE branding_version_pictures (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    name            text NOT NULL,
    media_type      text NOT NULL CHECK (media_type IN ('image/png', 'image/svg+xml')),
    content         bytea NOT NULL,
    PRIMARY KEY (organization_id, name)
);
COMMENT ON TABLE branding_version_pictures IS 'The pictures of the versions of a branding, each once; the name is a hash of the content. Everybody is shown those of branding_pictures alone.';

CREATE TABLE branding_versions (
    organization_id  uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    number           integer NOT NULL,
    logo             text,
    icon             text,
    primary_color    text,
    background_color text,
    support_email    text,
    terms_url        text,
    privacy_url      text,
    updated_at       timestamptz NOT NULL,
    made_by          uuid REFERENCES users ON DELETE SET NULL,
    is_by_key        boolean NOT NULL,
    PRIMARY KEY (organization_id, number),
    FOREIGN KEY (organization_id, logo) REFERENCES branding_version_pictures (organization_id, name),
    FOREIGN KEY (organization_id, icon) REFERENCES branding_version_pictures (organization_id, name)
);
COMMENT ON TABLE branding_versions IS 'What was saved as the branding of an organization, the present one among it.';
COMMENT ON COLUMN branding_versions.number IS 'Counts the versions of the organization from 1.';
COMMENT ON COLUMN branding_versions.made_by IS 'The person who saved it; null for what was saved before versions were kept, and after the account is deleted.';
COMMENT ON COLUMN branding_versions.is_by_key IS 'Whether a key of the organization saved it, which made_by has made.';
CREATE INDEX branding_versions_of_maker ON branding_versions (made_by) WHERE made_by IS NOT NULL;
