-- A changed address is a request until it is proved, and reserves nothing (decisions 3.10). It is a token with the
-- purpose change_email at the new address; drop_email_change is the link in the notice to the present one.

-- Until now a change took effect at once, and the old address kept a link that undid it for a week, whatever the account
-- had become since. An attacker could move an account to the address of a person without one, wait until that person
-- had reset its password and governed with it, and take it back. So no such link undoes anything any longer, and an
-- account whose new address nobody has proved returns to the address that it had proved before: what the new rules
-- would have left it with. A person who is locked out of a taken account resets the password at the old address; where
-- the new address was verified meanwhile, an operator decides whose account it is.

CREATE TEMPORARY TABLE returning_accounts ON COMMIT DROP AS
SELECT   DISTINCT ON (t.user_id)
         t.user_id, u.email AS new_email, t.email AS old_email, t.created_at AS changed_at
FROM     one_time_tokens t
JOIN     users u ON u.id = t.user_id
WHERE    t.purpose = 'undo_email_change' AND t.used_at IS NULL AND t.expires_at > now()
  AND    u.email_verified_at IS NULL AND u.anonymized_at IS NULL
ORDER BY t.user_id, t.created_at DESC;

-- Two kinds stay as they are, unverified: an account whose old address another one has, and one that was made the owner
-- of an organization which it joined since. Proving the address removes whatever was set up before (decisions 3.13).
DELETE FROM returning_accounts r
WHERE  EXISTS (SELECT FROM users o WHERE o.email = r.old_email AND o.id <> r.user_id)
   OR  EXISTS (SELECT
               FROM   memberships m
               WHERE  m.user_id = r.user_id AND m.role = 'owner' AND m.created_at >= r.changed_at);

-- What was given to the new address does not come along.
DELETE FROM memberships m
USING  returning_accounts r
WHERE  m.user_id = r.user_id AND m.created_at >= r.changed_at;
DELETE FROM service_grants g
USING  returning_accounts r
WHERE  g.user_id = r.user_id AND g.created_at >= r.changed_at;
DELETE FROM service_users s
USING  returning_accounts r
WHERE  s.user_id = r.user_id AND s.first_login_at >= r.changed_at;

UPDATE users u
SET    email = r.old_email, email_verified_at = r.changed_at, updated_at = now()
FROM   returning_accounts r
WHERE  u.id = r.user_id;

-- The newest link that was mailed to the new address still makes the change.
UPDATE one_time_tokens t
SET    purpose = 'change_email', data = jsonb_build_object('signed_in_at', r.changed_at)
FROM   returning_accounts r
WHERE  t.token_hash = (SELECT   v.token_hash
                       FROM     one_time_tokens v
                       WHERE    v.user_id = r.user_id AND v.purpose = 'verify_email' AND v.email = r.new_email
                         AND    v.used_at IS NULL AND v.expires_at > now() AND r.new_email <> r.old_email
                       ORDER BY v.created_at DESC
                       LIMIT    1);

UPDATE one_time_tokens SET used_at = now() WHERE purpose = 'undo_email_change' AND used_at IS NULL;

-- It found who could still get an address back.
DROP INDEX one_time_tokens_of_address;
