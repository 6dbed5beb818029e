-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT delete_copy($1, $2);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, EXISTS (
    SELECT
    FROM book_copies c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  )
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
