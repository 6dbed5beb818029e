-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET genre = $3, status = $4::reading_status, current_page = $5, started_at = r.started_at, finished_at = r.finished_at, updated_at = now()
FROM change_reads( $1, $2, $4::reading_status, $5::int, NULL::int ) r
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.status;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT r.finished_on, r.sorted_on, r.created_at, r.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT r.*
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = k.id
  ORDER BY r.sorted_on DESC, r.created_at DESC, r.id DESC
  LIMIT $3
) r;
