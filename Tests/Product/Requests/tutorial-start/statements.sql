-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT outcome, other_id
FROM add_read($1, $2, $3);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.id, r.started_on, r.book_id
  FROM reads r
  WHERE r.user_id = $1 AND r.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.status
FROM books b
WHERE b.user_id = $1 AND b.id = $2;
