-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.id, p.name, (
    SELECT a.bio
    FROM authors a
    WHERE a.id = p.id
  ), (
    SELECT count(*)
    FROM works_of_person(p.id)
  ), EXISTS (
    SELECT
    FROM followed_authors f
    WHERE f.user_id = $1 AND f.person_id = p.id
  )
  FROM (
    SELECT k.id, person_name(k.id) AS name
    FROM (
      SELECT requested.id
    ) k (id)
  ) p
  WHERE p.name IS NOT NULL AND p.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.title, e.popularity, e.number::float8, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT e.*
  FROM (
    SELECT e.*
    FROM works_of_person(k.id) w
    JOIN editions e ON e.id = w.edition_id
  ) e
  WHERE true
  ORDER BY e.popularity DESC, e.number::float8 DESC, e.id DESC
  LIMIT $3
) e;

SELECT s.of_person, s.id, s.name, (
  SELECT count(*)
  FROM works_of_series(s.id)
)
FROM (
  SELECT $2::uuid AS of_person, e.series_id AS id, (array_agg(btrim(e.series) ORDER BY e.popularity DESC, e.number))[1] AS name, max(e.popularity) AS popularity
  FROM editions e
  WHERE e.author_ids @> ARRAY[$2::uuid] AND e.series_id IS NOT NULL
  GROUP BY e.series_id
  ORDER BY max(e.popularity) DESC, e.series_id
  LIMIT 100
) s
ORDER BY s.popularity DESC, s.id;

SELECT b.id, b.title, b.status, b.added_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM (
    SELECT b.*
    FROM books_of_person(k.id, person_name(k.id)) w (id)
    JOIN books b ON b.user_id = $1 AND b.id = w.id
  ) b
  WHERE true
  ORDER BY b.added_at DESC, b.id DESC
  LIMIT $3
) b;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.of_edition, e.id
  FROM (
    SELECT e.*, o.id AS of_edition, coalesce(w.founder_id, o.id) AS founder_id
    FROM editions o
    LEFT JOIN work_records w ON w.edition_id = o.id
    LEFT JOIN work_records f ON f.founder_id = w.founder_id AND f.rank = 1
    JOIN editions e ON e.id = coalesce(f.edition_id, o.id)
    WHERE o.id = requested.id
  ) e
  OFFSET 0
) found;

-- round trip 4
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.of_edition, b.id, b.status
  FROM (
    SELECT e.id AS of_edition, e.id AS edition_id
    FROM editions e
    WHERE e.id = requested.id
    UNION ALL
    SELECT w.edition_id, o.edition_id
    FROM work_records w
    JOIN work_records o ON o.founder_id = w.founder_id AND o.edition_id <> w.edition_id
    WHERE w.edition_id = requested.id
  ) r
  CROSS JOIN LATERAL (
    SELECT *
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = r.edition_id
    OFFSET 0
  ) b
  ORDER BY b.added_at, b.id
  OFFSET 0
) found;
