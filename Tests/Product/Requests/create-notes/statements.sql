-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT problem
FROM create_notes($1, $2);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT n.id, n.created_at
  FROM notes n
  WHERE n.user_id = $1 AND n.id = requested.id
  OFFSET 0
) found;
