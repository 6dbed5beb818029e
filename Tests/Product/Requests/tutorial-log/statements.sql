-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT problem, page_count, length_seconds
FROM log_progress($1, $2);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.id, coalesce(p.page, (
    SELECT round(progress_fraction(p.page, p.percent, p.seconds, b.page_count, r.length_seconds) * b.page_count)::int
    FROM reads r
    JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
    WHERE r.user_id = p.user_id AND r.id = p.read_id
  )), coalesce(p.percent, (
    SELECT 100 * progress_fraction(p.page, p.percent, p.seconds, b.page_count, r.length_seconds)
    FROM reads r
    JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
    WHERE r.user_id = p.user_id AND r.id = p.read_id
  )), p.at
  FROM progress_entries p
  WHERE p.user_id = $1 AND p.id = requested.id
  OFFSET 0
) found;
