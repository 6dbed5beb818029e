-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH input AS MATERIALIZED (
  SELECT i.edition_id, i.action::swipe_action AS action, i.scope::swipe_scope AS scope, coalesce(i.swiped_at, now() - (cardinality($2) - i.n) * interval '1 microsecond') AS swiped_at, i.swiped_at IS NULL AS is_untimed, i.store, i.book_id, i.n
  FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $7::text[], $8::uuid[]) WITH ORDINALITY i (edition_id, action, swiped_at, scope, store, book_id, n)
  CROSS JOIN LATERAL (
    SELECT
    FROM editions e
    WHERE e.id = i.edition_id
    OFFSET 0
  ) e
), ranked AS (
  SELECT i.*, CASE WHEN i.action IN ('LIKE', 'BUY') THEN coalesce((
    SELECT w.founder_id
    FROM work_records w
    WHERE w.edition_id = i.edition_id
  ), i.edition_id) END AS work, c.counted_at, row_number() OVER newest_first = 1 AS is_newest, i.is_untimed AND ( c.same_action_at = c.counted_at AND c.counted_at > now() - interval '1 day' OR lag(i.action) OVER newest_first = i.action AND lag(i.scope) OVER newest_first = i.scope AND lag(i.is_untimed) OVER newest_first ) AS is_repetition, lag(i.swiped_at) OVER newest_first = i.swiped_at AS has_same_time
  FROM input i
  CROSS JOIN LATERAL (
    SELECT max(least(s.swiped_at, s.recorded_at)) FILTER (WHERE s.undone_at IS NULL) AS counted_at, max(least(s.swiped_at, s.recorded_at)) FILTER (WHERE s.undone_at IS NULL AND s.action = i.action AND s.scope = i.scope) AS same_action_at, coalesce(bool_or(s.swiped_at = i.swiped_at), false) AS is_stored
    FROM swipes s
    WHERE s.user_id = $1 AND s.edition_id = i.edition_id
  ) c
  WHERE NOT c.is_stored WINDOW newest_first AS ( PARTITION BY i.edition_id ORDER BY least(i.swiped_at, now()) DESC, i.swiped_at DESC, i.n DESC )
), stored AS (
  INSERT INTO swipes (user_id, edition_id, swiped_at, action, scope, store, saved_book_id)
  SELECT $1, r.edition_id, r.swiped_at, r.action, r.scope, r.store, CASE WHEN r.action IN ('LIKE', 'BUY') AND r.is_newest AND least(r.swiped_at, now()) > coalesce(r.counted_at, '-infinity') AND NOT EXISTS (
    SELECT
    FROM ranked first
    WHERE first.work = r.work AND first.n < r.n AND first.action IN ('LIKE', 'BUY') AND first.is_newest AND first.is_repetition IS NOT TRUE AND least(first.swiped_at, now()) > coalesce(first.counted_at, '-infinity')
  ) AND book_of_work($1, r.edition_id) IS NULL THEN CASE WHEN r.book_id IS NULL OR $1 = r.book_id OR EXISTS (
    SELECT
    FROM editions
    WHERE id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM books
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM deleted_books
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM shelves
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM reviews
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM imports
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM reads
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM progress_entries
    WHERE user_id = $1 AND id = r.book_id
  ) OR EXISTS (
    SELECT
    FROM notes
    WHERE user_id = $1 AND id = r.book_id
  ) THEN gen_random_uuid() ELSE r.book_id END END
  FROM ranked r
  WHERE r.is_repetition IS NOT TRUE AND r.has_same_time IS NOT TRUE
  RETURNING edition_id, saved_book_id
), saved AS MATERIALIZED (
  SELECT b.card_id, b.book_id
  FROM (
    SELECT array_agg(edition_id) AS cards, array_agg(saved_book_id) AS books
    FROM stored
    WHERE saved_book_id IS NOT NULL
  ) s
  CROSS JOIN LATERAL save_cards($1, s.cards, s.books, $6) b
  WHERE s.cards IS NOT NULL
)
SELECT (
  SELECT array_agg(edition_id)
  FROM input
), coalesce(s.book_id, book_of_work($1, liked.edition_id))
FROM (
  SELECT
) one
LEFT JOIN (
  SELECT edition_id, min(n) AS n
  FROM input
  WHERE action IN ('LIKE', 'BUY')
  GROUP BY edition_id
) liked ON true
LEFT JOIN saved s ON s.card_id = liked.edition_id
ORDER BY liked.n;

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

WITH requested AS MATERIALIZED (
  SELECT b.user_id, b.id, row_number() OVER (ORDER BY b.id) AS number
  FROM books b
  WHERE b.user_id = app_user_id() AND b.cover_status = 'FETCHING' AND b.cover_requested_at = now()
), recorded AS (
  INSERT INTO events (user_id, kind, payload)
  SELECT r.user_id, 'cover_changed', jsonb_build_object('book_id', r.id, 'status', 'FETCHING')
  FROM requested r
), awaited AS MATERIALIZED (
  SELECT count(*) AS count
  FROM jobs w
  WHERE w.user_id = app_user_id() AND w.kind = $1 AND w.key IS NOT NULL AND w.state <> 'DEAD' AND w.priority = 0
), added AS (
  INSERT INTO jobs AS j (user_id, kind, payload, key, priority, attempts_max)
  SELECT r.user_id, $1, jsonb_build_object('bookID', r.id), r.id::text, CASE WHEN a.count + r.number > 10 THEN 10 ELSE $2 END, $3
  FROM requested r
  CROSS JOIN awaited a
  ORDER BY r.id
  ON CONFLICT (user_id, kind, key)
  WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
  SET priority = least(j.priority, excluded.priority), run_at = least(j.run_at, excluded.run_at), attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END, again = (j.state = 'RUNNING'), updated_at = excluded.updated_at
  RETURNING 1
)
SELECT count(*)
FROM added;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title, b.status
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
