-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT outcome, stored_hash, stored_seed
FROM create_access_token( $1, $2, $3, $4::text[]::access_scope[], $5, $6, $7, $8, $9, 60, $10, $11 );

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT t.id, t.name, t.last_characters, t.expires_at
  FROM access_tokens t
  WHERE t.user_id = $1 AND t.id = requested.id
  OFFSET 0
) found;
