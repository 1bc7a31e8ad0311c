-- gatehouse: compatible from 0079
-- As a function of SQL it was put into each statement that writes an address, and planned there. What it finds in a text
-- is the same, so the indexes over it stay as they are.
CREATE OR REPLACE FUNCTION letter_groups(value text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT substr(value, n, 3) FROM generate_series(1, length(value) - 2) AS n);
END
$$;
