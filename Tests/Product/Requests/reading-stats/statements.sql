-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::float8, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::float8, (NULL)::text, (NULL)::uuid, (NULL)::uuid, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (t.user_id)::uuid, (coalesce(s.reads, 0))::int8, ((
    SELECT count(*)
    FROM (
      SELECT DISTINCT d.book_id
      FROM reads d
      WHERE d.user_id = $1 AND d.outcome = 'FINISHED'
    ) k
  ))::int8, ((
    SELECT count(*)
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'DID_NOT_FINISH'
  ))::int8, (least(coalesce(s.pages, 0), 2147483647))::int8, (coalesce(s.seconds, 0)::float8 / 3600)::float8, ((
    SELECT json_agg(json_build_object('genre', n.genre, 'readCount', n.reads))
    FROM (
      SELECT d.genre, count(*) AS reads
      FROM reads d
      WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.genre IS NOT NULL
      GROUP BY d.genre
      ORDER BY reads DESC, d.genre COLLATE "C"
      LIMIT 50
    ) n
  )::text)::text, ((
    SELECT json_agg(json_build_object('person', n.author_id, 'name', n.name, 'readCount', n.reads))
    FROM (
      SELECT d.author_id, min(d.author COLLATE "C") AS name, count(*) AS reads
      FROM reads d
      WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.author_id IS NOT NULL
      GROUP BY d.author_id
      ORDER BY reads DESC, name, d.author_id
      LIMIT 50
    ) n
  )::text)::text, ((
    SELECT json_agg(json_build_object('format', n.format, 'readCount', n.reads))
    FROM (
      SELECT d.format, count(*) AS reads
      FROM reads d
      WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.format IS NOT NULL
      GROUP BY d.format
      ORDER BY d.format
    ) n
  )::text)::text, ((
    SELECT avg(n.half_stars)::float8 / 2
    FROM unnest(v.half_stars) AS n (half_stars)
  ))::float8, ((
    SELECT json_agg(json_build_object('stars', n.half_stars::float8 / 2, 'bookCount', n.books))
    FROM (
      SELECT r.half_stars, count(*) AS books
      FROM unnest(v.half_stars) AS r (half_stars)
      WHERE r.half_stars IS NOT NULL
      GROUP BY r.half_stars
      ORDER BY r.half_stars DESC
    ) n
  )::text)::text, ((
    SELECT d.book_id
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.page_count IS NOT NULL
    ORDER BY d.page_count DESC, d.book_id
    LIMIT 1
  ))::uuid, ((
    SELECT d.book_id
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.page_count IS NOT NULL
    ORDER BY d.page_count, d.book_id
    LIMIT 1
  ))::uuid, 1
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

SELECT m.user_id, m.month, (
  SELECT count(*)
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= $3::int || to_char(m.month, '"-"FM00') AND d.finished_on < $3::int || to_char(m.month, '"-"FM00"~"')
)
FROM (
  SELECT $1::uuid AS user_id, generate_series(1, 12) AS month
) m
WHERE m.user_id = $2 AND $3::int IS NOT NULL
ORDER BY m.month;

SELECT b.id, b.title, b.page_count
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

SELECT b.id, b.title, b.page_count
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

SELECT k.user_id, k.current_days, k.longest_days, k.reading_days, to_char(k.last_day, 'YYYY-MM-DD')
FROM (
  SELECT $1::uuid AS user_id, coalesce(max(s.days) FILTER (WHERE s.last_day BETWEEN u.today - 1 AND u.today + 1), 0) AS current_days, coalesce(max(s.days), 0) AS longest_days, coalesce(sum(s.days), 0)::int8 AS reading_days, max(s.last_day) AS last_day
  FROM (
    SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date AS today
    FROM users u
    WHERE u.id = $1
  ) u
  LEFT JOIN (
    SELECT count(*) AS days, max(n.day) AS last_day
    FROM (
      SELECT y.day, y.day - row_number() OVER (ORDER BY y.day)::int AS streak
      FROM reading_days y
      WHERE y.user_id = $1
    ) n
    GROUP BY n.streak
  ) s ON true
) k
WHERE k.user_id = $2;
