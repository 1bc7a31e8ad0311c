-- gatehouse: compatible from 0079
-- The log of the platform shows every anonymization that the security log has, as an entry of the same action. A process writes both.
-- Those of earlier versions, which go on beside this schema, write only that of the security log, so that a trigger adds the other.
CREATE FUNCTION user_anonymized() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO platform_audit_entries (id, action, target_type, target_id, ip_address, user_agent, success, details, created_at)
    SELECT NEW.id, NEW.event_type, 'user', NEW.user_id::text, '0.0.0.0', 'anonymized', true, '{}', NEW.created_at
    WHERE  NOT EXISTS (SELECT FROM platform_audit_entries
                       WHERE  target_type = 'user' AND target_id = NEW.user_id::text AND action = NEW.event_type);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION user_anonymized() IS 'Adds an anonymization to the log of the platform, where a process of an earlier version has not.';
CREATE TRIGGER mfa_events_user_anonymized AFTER INSERT ON mfa_events
    FOR EACH ROW WHEN (NEW.event_type = 'user_anonymized') EXECUTE FUNCTION user_anonymized();
