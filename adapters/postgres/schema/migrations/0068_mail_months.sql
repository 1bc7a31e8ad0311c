-- gatehouse: compatible from 0025
-- The outbox is partitioned by month. What was written until now is the first partition; no row is read.

LOCK TABLE mails IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER mails_inserted ON mails;
SELECT begin_log_months('mails');
COMMENT ON COLUMN mails.organization_id IS 'Zeros for a mail of the platform itself.';
CREATE TRIGGER mails_inserted BEFORE INSERT ON mails
    FOR EACH ROW EXECUTE FUNCTION mail_inserted();
