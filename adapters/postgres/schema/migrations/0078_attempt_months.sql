-- gatehouse: compatible from 0025
-- The attempts of deliveries are partitioned by month. What was written until now is the first partition; no row is read.

SELECT begin_log_months('webhook_attempts');
