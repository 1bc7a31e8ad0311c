-- gatehouse: compatible from 0025
-- Browsers that sign in by a connection at a custom domain: they go to the provider from the base URL, and come back
-- to the domain (decisions 13.3 and 15.5).

ALTER TABLE upstream_sign_ins
    ADD COLUMN domain_id           uuid,
    ADD COLUMN domain_browser_hash bytea;
ALTER TABLE upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_domain_id_fkey
    FOREIGN KEY (domain_id) REFERENCES custom_domains (id) ON DELETE CASCADE NOT VALID;
COMMENT ON COLUMN upstream_sign_ins.domain_id IS 'The custom domain at which the sign-in began, and ends; null for the base URL.';
COMMENT ON COLUMN upstream_sign_ins.domain_browser_hash IS 'The browser as that domain knows it, while it is under the base URL; browser_hash is that of the present host.';
