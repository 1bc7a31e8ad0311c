-- gatehouse: compatible from 0025
-- For which customer of a service a request wants a sign-in that a user has yet to answer (decisions 15.3).

ALTER TABLE device_codes ADD COLUMN customer text;
ALTER TABLE saml_requests ADD COLUMN customer text;
COMMENT ON COLUMN device_codes.customer IS 'The id or the slug of the customer that the device names; null where it names none.';
COMMENT ON COLUMN saml_requests.customer IS 'The id or the slug of the customer that the request names; empty for none, null where it says nothing.';
