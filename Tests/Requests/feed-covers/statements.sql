-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

WITH start AS MATERIALIZED (
  SELECT $2::int8 AS chain, $3::int4 AS number, $4::int4 AS skipped, coalesce($6::timestamptz, now()) AS as_of
  WHERE EXISTS (
    SELECT
    FROM feed_decks d
    WHERE d.user_id = $1 AND d.chain = $2 AND d.number = $3 AND d.filter = $5::int2[]
  ) OR EXISTS (
    SELECT
    FROM cold_start_decks d
    WHERE d.chain = $2 AND $3 = 0 AND $5::int2[] = '{}'
  )
  UNION ALL
  SELECT d.chain, 0, 0, now()
  FROM (
    SELECT *
    FROM feed_decks d
    WHERE d.user_id = $1 AND d.filter = $5::int2[] AND d.number = 0
    ORDER BY d.chain DESC
    LIMIT 1
  ) d
  WHERE d.signals_version = (
    SELECT signals_version
    FROM users
    WHERE id = $1
  ) AND d.created_at > greatest( (
    SELECT decks_valid_since
    FROM feed_state
  ), now() - interval '1 day' )
  UNION ALL (
    SELECT d.chain, 0, 0, now()
    FROM cold_start_decks d
    WHERE $5::int2[] = '{}' AND (
      SELECT preferred_genres
      FROM users
      WHERE id = $1
    ) = '{}' AND NOT EXISTS (
      SELECT
      FROM swipes s
      WHERE s.user_id = $1 AND s.undone_at IS NULL
    ) AND NOT EXISTS (
      SELECT
      FROM books b
      WHERE b.user_id = $1 AND b.edition_id IS NOT NULL
    )
    ORDER BY d.chain
    LIMIT 1
  )
  LIMIT 1
)
SELECT e.title, e.id, e.cover_version, e.title_card_version, coalesce(e.cover_width, 600), coalesce(e.cover_height, 900), e.cover_dominant_color, e.genres[1], e.cover_blur_hash, CASE WHEN e.cover_version IS NULL THEN 'TITLE_CARD' WHEN e.cover_width >= 400 THEN 'HIGH_RESOLUTION' ELSE 'THUMBNAIL' END, o.chain, o.number, o.index, o.needs_successor, now()
FROM (
  SELECT s.chain, d.number, c.index::int4 AS index, c.edition_id, c.index * 2 >= cardinality(d.editions) AND d.number >= (
    SELECT coalesce(max(last.number), 0)
    FROM feed_decks last
    WHERE last.user_id = $1 AND last.chain = (
      SELECT chain
      FROM start
    )
  ) AS needs_successor
  FROM start s
  CROSS JOIN LATERAL (
    SELECT 0 AS number, d.editions
    FROM cold_start_decks d
    WHERE d.chain = s.chain AND s.number = 0
    UNION ALL (
      SELECT d.number, d.editions
      FROM feed_decks d
      WHERE d.user_id = $1 AND d.chain = s.chain AND d.number >= s.number
      ORDER BY d.number
    )
  ) d
  CROSS JOIN LATERAL unnest(d.editions) WITH ORDINALITY c (edition_id, index)
  WHERE (d.number, c.index) > (s.number, s.skipped) AND NOT EXISTS (
    SELECT
    FROM swipes w
    WHERE w.user_id = $1 AND w.edition_id = c.edition_id AND w.recorded_at <= s.as_of AND (w.undone_at IS NULL OR w.undone_at > s.as_of) AND ( w.action <> 'SKIP' OR least(w.swiped_at, w.recorded_at) > s.as_of - interval '30 days' )
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = c.edition_id AND b.added_at <= s.as_of
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM work_records w
    WHERE w.edition_id = c.edition_id AND was_other_record_seen($1, w.edition_id, s.as_of, s.as_of - interval '30 days')
    OFFSET 0
  )
  LIMIT $7
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e
ORDER BY o.number, o.index;
