-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT t.user_id, coalesce(s.reads, 0), (
  SELECT count(*)
  FROM (
    SELECT DISTINCT d.book_id
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~'
  ) k
), (
  SELECT count(*)
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'DID_NOT_FINISH' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~'
), least(coalesce(s.pages, 0), 2147483647), coalesce(s.seconds, 0)::float8 / 3600, coalesce(p.reads, 0), least(coalesce(p.pages, 0), 2147483647), coalesce(p.seconds, 0)::float8 / 3600, (
  SELECT json_agg(json_build_object('month', m.month, 'readCount', (
    SELECT count(*)
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= $3::int || to_char(m.month, '"-"FM00') AND d.finished_on < $3::int || to_char(m.month, '"-"FM00"~"')
  )) ORDER BY m.month)
  FROM generate_series(1, 12) AS m (month)
)::text, (
  SELECT json_agg(json_build_object('genre', n.genre, 'readCount', n.reads))
  FROM (
    SELECT d.genre, count(*) AS reads
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND d.genre IS NOT NULL
    GROUP BY d.genre
    ORDER BY reads DESC, d.genre COLLATE "C"
    LIMIT 50
  ) n
)::text, (
  SELECT json_agg(json_build_object('person', n.author_id, 'name', n.name, 'readCount', n.reads))
  FROM (
    SELECT d.author_id, min(d.author COLLATE "C") AS name, count(*) AS reads
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND d.author_id IS NOT NULL
    GROUP BY d.author_id
    ORDER BY reads DESC, name, d.author_id
    LIMIT 50
  ) n
)::text, (
  SELECT json_agg(json_build_object('format', n.format, 'readCount', n.reads))
  FROM (
    SELECT d.format, count(*) AS reads
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND d.format IS NOT NULL
    GROUP BY d.format
    ORDER BY d.format
  ) n
)::text, (
  SELECT avg(n.half_stars)::float8 / 2
  FROM unnest(v.half_stars) AS n (half_stars)
), (
  SELECT json_agg(json_build_object('stars', n.half_stars::float8 / 2, 'bookCount', n.books))
  FROM (
    SELECT r.half_stars, count(*) AS books
    FROM unnest(v.half_stars) AS r (half_stars)
    WHERE r.half_stars IS NOT NULL
    GROUP BY r.half_stars
    ORDER BY r.half_stars DESC
  ) n
)::text, (
  SELECT d.book_id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND d.page_count IS NOT NULL
  ORDER BY d.page_count DESC, d.book_id
  LIMIT 1
), (
  SELECT d.book_id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND d.page_count IS NOT NULL
  ORDER BY d.page_count, d.book_id
  LIMIT 1
), (
  SELECT d.id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND length(d.finished_on) = 10
  ORDER BY d.finished_on, d.id
  LIMIT 1
), (
  SELECT d.id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~' AND length(d.finished_on) = 10
  ORDER BY d.finished_on DESC, d.id DESC
  LIMIT 1
), (
  SELECT coalesce(max(s.days), 0)
  FROM (
    SELECT count(*) AS days, max(n.day) AS last_day
    FROM (
      SELECT y.day, y.day - row_number() OVER (ORDER BY y.day)::int AS streak
      FROM reading_days y
      WHERE y.user_id = $1 AND y.day BETWEEN make_date($3::int, 1, 1) AND make_date($3::int, 12, 31)
    ) n
    GROUP BY n.streak
  ) s
), (
  SELECT count(*)
  FROM reading_days y
  WHERE y.user_id = $1 AND y.day BETWEEN make_date($3::int, 1, 1) AND make_date($3::int, 12, 31)
)
FROM (
  SELECT u.id AS user_id
  FROM users u
  WHERE u.id = $1 AND $3::int IS NOT NULL
) t
LEFT JOIN (
  SELECT d.user_id, count(*) AS reads, sum(d.page_count) FILTER (WHERE NOT is_listened(d.format, d.length_seconds)) AS pages, sum(d.length_seconds) FILTER (WHERE is_listened(d.format, d.length_seconds)) AS seconds
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~'
  GROUP BY d.user_id
) s ON s.user_id = t.user_id
LEFT JOIN (
  SELECT d.user_id, count(*) AS reads, sum(d.page_count) FILTER (WHERE NOT is_listened(d.format, d.length_seconds)) AS pages, sum(d.length_seconds) FILTER (WHERE is_listened(d.format, d.length_seconds)) AS seconds
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int - 1)::text AND d.finished_on < ($3::int - 1) || '~'
  GROUP BY d.user_id
) p ON p.user_id = t.user_id
LEFT JOIN (
  SELECT r.user_id, count(*) AS reviews, array_agg(r.half_stars) AS half_stars
  FROM (
    SELECT DISTINCT d.book_id
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_on >= ($3::int)::text AND d.finished_on < ($3::int) || '~'
  ) f
  JOIN reviews r ON r.user_id = $1 AND r.book_id = f.book_id
  GROUP BY r.user_id
) v ON v.user_id = t.user_id
WHERE t.user_id = $2;
