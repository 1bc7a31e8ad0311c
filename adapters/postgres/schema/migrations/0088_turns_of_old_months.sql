-- gatehouse: compatible from 0025
-- Audit entries of old months that wait to be sealed, as after an upgrade, are sealed by turns of their own.

ALTER TABLE audit_sealing ADD COLUMN last_of_old_months uuid;
COMMENT ON COLUMN audit_sealing.last_of_old_months IS 'As last_organization_id, of the batches that seal old months; null before the first one.';
