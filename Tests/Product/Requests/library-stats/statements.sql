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
  SELECT (t.user_id)::uuid, (coalesce( c.want_to_read + c.reading + c.read + c.paused + c.did_not_finish, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (1, 2, 3, 4, 5)
  ) ))::int8, (coalesce( c.want_to_read, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (3)
  ) ))::int8, (coalesce( c.reading, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (5)
  ) ))::int8, (coalesce( c.read, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (2)
  ) ))::int8, (coalesce( c.paused, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (4)
  ) ))::int8, (coalesce( c.did_not_finish, (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (1)
  ) ))::int8, (coalesce(v.reviews, 0))::int8, ((
    SELECT avg(n.half_stars)::float8 / 2
    FROM unnest(v.half_stars) AS n (half_stars)
  ))::float8, 1
  FROM (
    SELECT u.id AS user_id
    FROM users u
    WHERE u.id = $1
  ) t
  LEFT JOIN library_counts c ON c.user_id = t.user_id
  LEFT JOIN (
    SELECT r.user_id, count(*) AS reviews, array_agg(r.half_stars) AS half_stars
    FROM reviews r
    WHERE r.user_id = $1 AND r.is_visible
    GROUP BY r.user_id
  ) v ON v.user_id = t.user_id
  LEFT JOIN (
    SELECT d.user_id, count(*) AS reads, sum(d.page_count) FILTER (WHERE NOT is_listened(d.format, d.length_seconds)) AS pages, sum(d.length_seconds) FILTER (WHERE is_listened(d.format, d.length_seconds)) AS seconds
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED'
    GROUP BY d.user_id
  ) s ON s.user_id = t.user_id
  WHERE t.user_id = $2
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT y.user_id, y.year, y.books
FROM (
  SELECT $1::uuid AS user_id, n.year::int AS year, n.books
  FROM (
    SELECT left(finished_on, 4) AS year, count(*) AS books
    FROM reads
    WHERE user_id = $1 AND outcome = 'FINISHED' AND finished_on IS NOT NULL
    GROUP BY 1
  ) n
) y
WHERE y.user_id = $2
ORDER BY y.year DESC;
