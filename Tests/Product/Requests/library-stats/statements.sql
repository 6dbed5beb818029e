-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::float8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (t.user_id)::uuid, (coalesce( c.books[1] + c.books[2] + c.books[3] + c.books[4] + c.books[5], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (1, 2, 3, 4, 5)
  ) ))::int8, (coalesce( c.books[3], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (3)
  ) ))::int8, (coalesce( c.books[5], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (5)
  ) ))::int8, (coalesce( c.books[2], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (2)
  ) ))::int8, (coalesce( c.books[4], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (4)
  ) ))::int8, (coalesce( c.books[1], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (1)
  ) ))::int8, (coalesce((
    SELECT sum(k.number)
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = 0
  ), 0)::int8)::int8, ((
    SELECT sum(k.key::int * k.number)::float8 / nullif(sum(k.number), 0) / 4
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = 0 AND k.key <> '0'
  ))::float8, 1
  FROM (
    SELECT u.id AS user_id
    FROM users u
    WHERE u.id = $1
  ) t
  LEFT JOIN library_counts c ON c.user_id = t.user_id
  LEFT JOIN reading_counts s ON s.user_id = $1 AND s.kind = 'READS' AND s.year = 0 AND s.key = ''
  WHERE t.user_id = $2
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT y.user_id, y.year, y.books
FROM (
  SELECT k.user_id, k.year, k.number AS books
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'READS' AND k.year > 0 AND k.key = '' AND k.number > 0
) y
WHERE y.user_id = $2
ORDER BY y.year DESC;
