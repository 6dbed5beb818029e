-- round trip 1
SELECT begin_request($1, $2, $3, $4);

INSERT INTO earlier_swipes (user_id, edition_id, said_at, swiped_at, action, recorded_at, saved_book_id, is_late)
SELECT $1, f.edition_id, k.*
FROM (
  SELECT *, row_number() OVER (PARTITION BY edition_id ORDER BY swiped_at DESC, coalesce(said_at, swiped_at) DESC, n DESC) = 1 AS is_newest
  FROM (
    SELECT DISTINCT ON (i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END) e.id AS edition_id, i.action::swipe_action AS action, least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() ) AS swiped_at, i.swiped_at AS said_at, i.n
    FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) WITH ORDINALITY i (edition_id, action, swiped_at, n)
    CROSS JOIN LATERAL (
      SELECT e.id
      FROM editions e
      WHERE e.id = i.edition_id
      OFFSET 0
    ) e
    WHERE NOT EXISTS (
      SELECT
      FROM swipes s
      WHERE s.user_id = $1 AND s.edition_id = e.id AND coalesce(s.said_at, s.swiped_at) = i.swiped_at
      OFFSET 0
    ) AND NOT EXISTS (
      SELECT
      FROM earlier_swipes k
      WHERE k.user_id = $1 AND k.edition_id = e.id AND k.said_at = coalesce(i.swiped_at, least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() ))
      OFFSET 0
    ) AND NOT EXISTS (
      SELECT
      FROM earlier_swipes k
      WHERE k.user_id = $1 AND k.edition_id = e.id AND k.swiped_at > least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() )
      OFFSET 19
    )
    ORDER BY i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END, i.n DESC
  ) f
) f
LEFT JOIN swipes s ON s.user_id = $1 AND s.edition_id = f.edition_id
CROSS JOIN LATERAL (
  SELECT coalesce(f.said_at, f.swiped_at), f.swiped_at, f.action, now(), NULL::uuid, true
  WHERE NOT f.is_newest OR (f.swiped_at, coalesce(f.said_at, f.swiped_at)) < (s.swiped_at, coalesce(s.said_at, s.swiped_at))
  UNION ALL
  SELECT coalesce(s.said_at, s.swiped_at), s.swiped_at, s.action, s.recorded_at, s.saved_book_id, false
  WHERE f.is_newest AND (f.swiped_at, coalesce(f.said_at, f.swiped_at)) > (s.swiped_at, coalesce(s.said_at, s.swiped_at)) AND NOT ( f.said_at IS NULL AND s.said_at IS NULL AND f.action = s.action AND s.swiped_at > now() - interval '1 day' )
) k
ON CONFLICT DO NOTHING;

INSERT INTO swipes (user_id, edition_id, action, swiped_at, said_at)
SELECT DISTINCT ON (edition_id) $1, edition_id, action, swiped_at, said_at
FROM (
  SELECT DISTINCT ON (i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END) e.id AS edition_id, i.action::swipe_action AS action, least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() ) AS swiped_at, i.swiped_at AS said_at, i.n
  FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) WITH ORDINALITY i (edition_id, action, swiped_at, n)
  CROSS JOIN LATERAL (
    SELECT e.id
    FROM editions e
    WHERE e.id = i.edition_id
    OFFSET 0
  ) e
  WHERE NOT EXISTS (
    SELECT
    FROM swipes s
    WHERE s.user_id = $1 AND s.edition_id = e.id AND coalesce(s.said_at, s.swiped_at) = i.swiped_at
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM earlier_swipes k
    WHERE k.user_id = $1 AND k.edition_id = e.id AND k.said_at = coalesce(i.swiped_at, least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() ))
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM earlier_swipes k
    WHERE k.user_id = $1 AND k.edition_id = e.id AND k.swiped_at > least( coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond'), now() )
    OFFSET 19
  )
  ORDER BY i.edition_id, i.swiped_at, CASE WHEN i.swiped_at IS NULL THEN i.action END, i.n DESC
) f
ORDER BY edition_id, swiped_at DESC, coalesce(said_at, swiped_at) DESC, n DESC
ON CONFLICT (user_id, edition_id) DO UPDATE
SET action = excluded.action, swiped_at = excluded.swiped_at, said_at = excluded.said_at, recorded_at = now(), saved_book_id = CASE WHEN NOT EXISTS (
  SELECT
  FROM earlier_swipes k
  WHERE k.user_id = $1 AND k.edition_id = excluded.edition_id AND k.said_at = coalesce(swipes.said_at, swipes.swiped_at)
) THEN swipes.saved_book_id END
WHERE (swipes.swiped_at, coalesce(swipes.said_at, swipes.swiped_at)) < (excluded.swiped_at, coalesce(excluded.said_at, excluded.swiped_at));

INSERT INTO books ( user_id, id, edition_id, title, author, isbn13, publisher, published_date, page_count, genre, description, cover_status, cover_requested_at )
SELECT $1, gen_random_uuid(), e.id, e.title, e.authors[1], e.isbn13, e.publisher, e.published_date, e.page_count, e.genres[1], e.description, CASE WHEN $2 THEN 'FETCHING' ELSE 'NONE' END::cover_status, CASE WHEN $2 THEN now() END
FROM swipes s
JOIN editions e ON e.id = s.edition_id
WHERE s.user_id = $1 AND s.recorded_at = now() AND s.action IN ('LIKE', 'BUY')
ON CONFLICT DO NOTHING;

UPDATE swipes s
SET saved_book_id = b.id
FROM books b
WHERE s.user_id = $1 AND s.recorded_at = now() AND b.user_id = $1 AND b.edition_id = s.edition_id AND b.added_at = now();

WITH input AS (
  SELECT i.edition_id, i.action, i.n
  FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) WITH ORDINALITY i (edition_id, action, swiped_at, n)
  JOIN editions e ON e.id = i.edition_id
)
SELECT (
  SELECT count(*)
  FROM input
), b.id
FROM (
  SELECT
) one
LEFT JOIN (
  SELECT edition_id, min(n) AS n
  FROM input
  WHERE action IN ('LIKE', 'BUY')
  GROUP BY edition_id
) liked ON true
LEFT JOIN books b ON b.user_id = $1 AND b.edition_id = liked.edition_id
ORDER BY liked.n;

DELETE FROM earlier_swipes e USING (
  SELECT DISTINCT id
  FROM unnest($2::uuid[]) c (id)
) c
CROSS JOIN LATERAL (
  SELECT k.said_at
  FROM earlier_swipes k
  WHERE k.user_id = $1 AND k.edition_id = c.id
  ORDER BY k.swiped_at DESC, k.said_at DESC
  OFFSET 20
) old
WHERE e.user_id = $1 AND e.edition_id = c.id AND e.said_at = old.said_at;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT enqueue_cover_searches($1, $2, $3);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.status
FROM books b
WHERE b.user_id = $1 AND b.id = ANY($2);
