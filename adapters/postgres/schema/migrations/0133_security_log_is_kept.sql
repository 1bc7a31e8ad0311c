-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- The security log is kept. What it had of anonymizations is written again where it was deleted after its time, and the log of the
-- platform gets all of them. What an operator shortens is found by an index of its own, without passing those that stay.

INSERT INTO mfa_events (id, user_id, event_type, success, ip_address, user_agent, details, created_at)
SELECT overlay(overlay(gen_random_uuid()::text PLACING left(first_id_at(u.anonymized_at)::text, 13) FROM 1) PLACING '7' FROM 15)::uuid,
       u.id, 'user_anonymized', true, '0.0.0.0', 'anonymized', '{}', u.anonymized_at
FROM   users u
WHERE  u.anonymized_at IS NOT NULL
  AND  NOT EXISTS (SELECT FROM mfa_events e WHERE e.user_id = u.id AND e.event_type = 'user_anonymized');

INSERT INTO platform_audit_entries (id, action, target_type, target_id, ip_address, user_agent, success, details, created_at)
SELECT e.id, e.event_type, 'user', e.user_id::text, '0.0.0.0', 'anonymized', true, '{}', e.created_at
FROM   mfa_events e
WHERE  e.event_type = 'user_anonymized'
  AND  NOT EXISTS (SELECT FROM platform_audit_entries p
                   WHERE  p.target_type = 'user' AND p.target_id = e.user_id::text AND p.action = e.event_type);

CREATE INDEX CONCURRENTLY IF NOT EXISTS mfa_events_ending ON mfa_events (created_at) WHERE event_type <> 'user_anonymized';
