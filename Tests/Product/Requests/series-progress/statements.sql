-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT s.id, (
  SELECT n.name
  FROM series n
  WHERE n.id = s.id
), (
  SELECT count(*)
  FROM works_of_series(s.id)
), count_works_of_series($1, s.id), (
  SELECT count(*)
  FROM owned_works_of_series($1, s.id)
), (
  SELECT count(*)
  FROM owned_works_of_series($1, s.id) o
  WHERE o.is_read
), next_of_series($1, s.id), next_book_of_series($1, s.id), s.added_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT s.*
  FROM (
    WITH o AS MATERIALIZED (
      SELECT b.series_id AS id, b.added_at
      FROM books b
      WHERE b.user_id = $1 AND b.series_id IS NOT NULL
      UNION ALL
      SELECT (
        SELECT e.series_id
        FROM editions e
        WHERE e.id = b.edition_id AND e.series_id IS NOT NULL
      ), b.added_at
      FROM books b
      WHERE b.user_id = $1 AND b.edition_id IS NOT NULL AND b.series_id IS NULL
    )
    SELECT o.id, max(o.added_at) AS added_at
    FROM o
    WHERE o.id IS NOT NULL
    GROUP BY o.id
  ) s
  WHERE true
  ORDER BY s.added_at DESC, s.id DESC
  LIMIT $3
) s;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.title
FROM books b
WHERE b.user_id = $1 AND b.id = $2;
