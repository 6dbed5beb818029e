-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (e.title)::text, (e.id)::uuid, (NULL)::int8, (NULL)::uuid, 0
  FROM editions e
  WHERE true AND e.id = $2
)
UNION ALL (
  SELECT (e.title)::text, (work_id(e.founder_id))::uuid, ((
    SELECT greatest(count(*), 1)
    FROM work_records w
    WHERE w.founder_id = e.founder_id
  ))::int8, (e.id)::uuid, 1
  FROM (
    SELECT e.*, o.id AS of_edition, coalesce(w.founder_id, o.id) AS founder_id
    FROM editions o
    LEFT JOIN work_records w ON w.edition_id = o.id
    LEFT JOIN work_records f ON f.founder_id = w.founder_id AND f.rank = 1
    JOIN editions e ON e.id = coalesce(f.edition_id, o.id)
    WHERE o.id = $2
  ) e
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.title, e.isbn13, e.publisher, e.language, e.page_count, e.rank, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT e.*
  FROM (
    SELECT e.*, r.rank
    FROM (
      SELECT o.edition_id, o.rank::float8 AS rank
      FROM work_records w
      JOIN work_records o USING (founder_id)
      WHERE w.edition_id = k.id
      UNION ALL
      SELECT k.id, 1
      WHERE NOT EXISTS (
        SELECT
        FROM work_records w
        WHERE w.edition_id = k.id
      )
    ) r
    JOIN editions e ON e.id = r.edition_id
  ) e
  WHERE true
  ORDER BY e.rank, e.id
  LIMIT $3
) e;

SELECT r.of_edition, b.id, b.status
FROM (
  SELECT e.id AS of_edition, e.id AS edition_id
  FROM editions e
  WHERE e.id = $2
  UNION ALL
  SELECT w.edition_id, o.edition_id
  FROM work_records w
  JOIN work_records o ON o.founder_id = w.founder_id AND o.edition_id <> w.edition_id
  WHERE w.edition_id = $2
) r
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.edition_id = r.edition_id
  OFFSET 0
) b
ORDER BY b.added_at, b.id;
