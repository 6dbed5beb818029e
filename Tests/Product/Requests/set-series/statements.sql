-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET series = $3, series_position = $4, updated_at = now()
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT s.of_book, s.id, s.name, s.position
FROM (
  SELECT b.id AS of_book, coalesce(b.series_id, e.series_id) AS id, coalesce(b.series, btrim(e.series)) AS name, CASE WHEN b.series_id IS NULL THEN e.series_position ELSE b.series_position END AS position
  FROM books b
  LEFT JOIN editions e ON e.id = b.edition_id
  WHERE b.user_id = $1 AND b.id = $2 AND coalesce(b.series_id, e.series_id) IS NOT NULL
) s;
