-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Which sign-ins end with a custom domain.

CREATE INDEX CONCURRENTLY IF NOT EXISTS upstream_sign_ins_of_domain ON upstream_sign_ins (domain_id) WHERE domain_id IS NOT NULL;
ALTER TABLE upstream_sign_ins VALIDATE CONSTRAINT upstream_sign_ins_domain_id_fkey;
