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

SELECT t.user_id, coalesce(s.number, 0), coalesce((
  SELECT k.number
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'BOOKS' AND k.year = $3::int AND k.key = ''
), 0), coalesce((
  SELECT k.number
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'GIVEN_UP' AND k.year = $3::int AND k.key = ''
), 0), least(coalesce(s.pages, 0), 2147483647), coalesce(s.seconds, 0)::float8 / 3600, coalesce(p.number, 0), least(coalesce(p.pages, 0), 2147483647), coalesce(p.seconds, 0)::float8 / 3600, (
  SELECT json_agg( json_build_object( 'month', m.month, 'readCount', coalesce((
    SELECT k.number
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
  ), 0), 'pages', least(coalesce((
    SELECT k.pages
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
  ), 0), 2147483647), 'hours', coalesce((
    SELECT k.seconds
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
  ), 0)::float8 / 3600 ) ORDER BY m.month )
  FROM generate_series(1, 12) AS m (month)
)::text, (
  SELECT json_agg(json_build_object('genre', n.key, 'readCount', n.number))
  FROM (
    SELECT k.key, k.number
    FROM reading_top_counts k
    WHERE k.user_id = $1 AND k.kind = 'GENRE' AND k.year = $3::int AND k.number > 0
    ORDER BY k.number DESC, k.key
    LIMIT 50
  ) n
)::text, (
  SELECT json_agg(json_build_object('mood', n.key, 'readCount', n.number))
  FROM (
    SELECT k.key, k.number
    FROM reading_top_counts k
    WHERE k.user_id = $1 AND k.kind = 'MOOD' AND k.year = $3::int AND k.number > 0
    ORDER BY k.number DESC, k.key
    LIMIT 50
  ) n
)::text, (
  SELECT json_agg(json_build_object('person', n.person, 'name', n.name, 'readCount', n.number))
  FROM (
    SELECT a.person, r.name, a.number
    FROM (
      SELECT k.key::uuid AS person, k.number
      FROM reading_top_counts k
      WHERE k.user_id = $1 AND k.kind = 'AUTHOR' AND k.year = $3::int AND k.number > 0
      ORDER BY k.number DESC, k.key
      LIMIT 50
    ) a
    CROSS JOIN LATERAL (
      SELECT d.author AS name
      FROM reads d
      WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.author_id = a.person
      ORDER BY d.author COLLATE "C"
      LIMIT 1
    ) r
    ORDER BY a.number DESC, r.name COLLATE "C", a.person
  ) n
)::text, (
  SELECT json_agg(json_build_object('format', n.key, 'readCount', n.number, 'pages', least(n.pages, 2147483647), 'hours', n.seconds::float8 / 3600))
  FROM (
    SELECT k.key, k.number, k.pages, k.seconds
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'FORMAT' AND k.year = $3::int AND k.number > 0
    ORDER BY k.key::read_format
  ) n
)::text, (
  SELECT sum(k.key::int * k.number)::float8 / nullif(sum(k.number), 0) / 4
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = $3::int AND k.key <> '0'
), (
  SELECT json_agg(json_build_object('stars', n.key::float8 / 4, 'bookCount', n.number))
  FROM (
    SELECT k.key, k.number
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = $3::int AND k.key <> '0' AND k.number > 0
    ORDER BY k.key::int DESC
  ) n
)::text, (
  SELECT d.book_id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_year = $3::int AND d.page_count IS NOT NULL
  ORDER BY d.page_count DESC, d.book_id DESC
  LIMIT 1
), (
  SELECT d.book_id
  FROM reads d
  WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.finished_year = $3::int AND d.page_count IS NOT NULL
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
LEFT JOIN reading_counts s ON s.user_id = $1 AND s.kind = 'READS' AND s.year = $3::int AND s.key = ''
LEFT JOIN reading_counts p ON p.user_id = $1 AND p.kind = 'READS' AND p.year = $3::int - 1 AND p.key = ''
WHERE t.user_id = $2;
