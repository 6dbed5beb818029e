-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::int8, (NULL)::float8, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::float8, (NULL)::text, (NULL)::uuid, (NULL)::uuid, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (t.user_id)::uuid, (coalesce(s.number, 0))::int8, (coalesce((
    SELECT k.number
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'BOOKS' AND k.year = 0 AND k.key = ''
  ), 0))::int8, (coalesce((
    SELECT k.number
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'GIVEN_UP' AND k.year = 0 AND k.key = ''
  ), 0))::int8, (least(coalesce(s.pages, 0), 2147483647))::int8, (coalesce(s.seconds, 0)::float8 / 3600)::float8, ((
    SELECT json_agg(json_build_object('genre', n.key, 'readCount', n.number))
    FROM (
      SELECT k.key, k.number
      FROM reading_top_counts k
      WHERE k.user_id = $1 AND k.kind = 'GENRE' AND k.year = 0 AND k.number > 0
      ORDER BY k.number DESC, k.key
      LIMIT 50
    ) n
  )::text)::text, ((
    SELECT json_agg(json_build_object('mood', n.key, 'readCount', n.number))
    FROM (
      SELECT k.key, k.number
      FROM reading_top_counts k
      WHERE k.user_id = $1 AND k.kind = 'MOOD' AND k.year = 0 AND k.number > 0
      ORDER BY k.number DESC, k.key
      LIMIT 50
    ) n
  )::text)::text, ((
    SELECT json_agg(json_build_object('person', n.person, 'name', n.name, 'readCount', n.number))
    FROM (
      SELECT a.person, r.name, a.number
      FROM (
        SELECT k.key::uuid AS person, k.number
        FROM reading_top_counts k
        WHERE k.user_id = $1 AND k.kind = 'AUTHOR' AND k.year = 0 AND k.number > 0
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
  )::text)::text, ((
    SELECT json_agg(json_build_object('format', n.key, 'readCount', n.number, 'pages', least(n.pages, 2147483647), 'hours', n.seconds::float8 / 3600))
    FROM (
      SELECT k.key, k.number, k.pages, k.seconds
      FROM reading_counts k
      WHERE k.user_id = $1 AND k.kind = 'FORMAT' AND k.year = 0 AND k.number > 0
      ORDER BY k.key::read_format
    ) n
  )::text)::text, ((
    SELECT sum(k.key::int * k.number)::float8 / nullif(sum(k.number), 0) / 4
    FROM reading_counts k
    WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = 0 AND k.key <> '0'
  ))::float8, ((
    SELECT json_agg(json_build_object('stars', n.key::float8 / 4, 'bookCount', n.number))
    FROM (
      SELECT k.key, k.number
      FROM reading_counts k
      WHERE k.user_id = $1 AND k.kind = 'RATING' AND k.year = 0 AND k.key <> '0' AND k.number > 0
      ORDER BY k.key::int DESC
    ) n
  )::text)::text, ((
    SELECT d.book_id
    FROM reads d
    WHERE d.user_id = $1 AND d.outcome = 'FINISHED' AND d.page_count IS NOT NULL
    ORDER BY d.page_count DESC, d.book_id DESC
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
  LEFT JOIN reading_counts s ON s.user_id = $1 AND s.kind = 'READS' AND s.year = 0 AND s.key = ''
  WHERE t.user_id = $2
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT m.user_id, m.month, coalesce((
  SELECT k.number
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
), 0), least(coalesce((
  SELECT k.pages
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
), 0), 2147483647), coalesce((
  SELECT k.seconds
  FROM reading_counts k
  WHERE k.user_id = $1 AND k.kind = 'MONTH' AND k.year = $3::int AND k.key = to_char(m.month, 'FM00')
), 0)::float8 / 3600
FROM (
  SELECT $1::uuid AS user_id, generate_series(1, 12) AS month
) m
WHERE m.user_id = $2 AND $3::int IS NOT NULL
ORDER BY m.month;

SELECT d.user_id, to_char(d.day, 'YYYY-MM-DD'), d.entry_count
FROM reading_days d
WHERE d.user_id = $1 AND d.user_id = $2 AND d.day BETWEEN make_date($3::int, 1, 1) AND make_date($3::int, 12, 31)
ORDER BY d.day;

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
