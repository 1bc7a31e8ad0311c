-- gatehouse: compatible from 0025
-- What waits for its position waits with 0. No process of version 0.1.0 gives positions meanwhile, nor afterwards: it finds
-- nothing that waits. The processes of the new version give them.

SELECT FROM event_sequencing FOR UPDATE;
UPDATE events SET position = 0 WHERE position IS NULL;
