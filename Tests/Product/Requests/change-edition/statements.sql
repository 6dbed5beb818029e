-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH input AS MATERIALIZED (
  SELECT i.n, i.id, i.new, i.shelf_ids, i.is_card_unknown, b.id IS NULL AS is_unknown, b.added_at, i.new ->> 'isbn13' AS isbn13, i.new ->> 'edition_id' AS edition_id, CASE WHEN i.new ->> 'current_page' IS NOT NULL THEN (i.new ->> 'current_page')::int WHEN num_nonnulls(p.page, p.percent, p.seconds) > 0 THEN p.page WHEN i.new ? 'current_page' THEN NULL ELSE b.current_page END AS page, CASE WHEN i.new ? 'page_count' THEN (i.new ->> 'page_count')::int ELSE b.page_count END AS page_count
  FROM (
    SELECT e.n, (e.entry ->> 'id')::uuid AS id, coalesce(c.facts, '{}') || (e.entry -> 'values') AS new, e.entry -> 'values' ? 'edition_id' AND c.facts IS NULL AS is_card_unknown, CASE WHEN e.entry ? 'shelf_ids' THEN ARRAY(
      SELECT jsonb_array_elements_text(e.entry -> 'shelf_ids')::uuid
    ) END AS shelf_ids
    FROM jsonb_array_elements($2) WITH ORDINALITY AS e (entry, n)
    LEFT JOIN LATERAL (
      SELECT jsonb_build_object( 'linked_by', 'CARD', 'title', c.title, 'subtitle', left(nullif(btrim(c.subtitle), ''), 500), 'authors', c.authors, 'author_roles', c.author_roles, 'isbn13', c.isbn13, 'publisher', c.publisher, 'published_date', c.published_date, 'page_count', c.page_count, 'language', c.language, 'description', coalesce(c.description, b.description) ) || CASE WHEN b.current_page > c.page_count AND NOT EXISTS (
        SELECT
        FROM newest_progress($1, b.id) p
        WHERE p.page IS NULL
      ) THEN jsonb_build_object('current_page', c.page_count) ELSE '{}' END AS facts
      FROM editions c
      LEFT JOIN books b ON b.user_id = $1 AND b.id = (e.entry ->> 'id')::uuid
      WHERE c.id = (e.entry -> 'values' ->> 'edition_id')::uuid
      OFFSET 0
    ) c ON true
  ) i
  LEFT JOIN LATERAL (
    SELECT *
    FROM books b
    WHERE b.user_id = $1 AND b.id = i.id
    OFFSET 0
  ) b ON true
  LEFT JOIN LATERAL newest_progress($1, i.id) p ON i.new ?| '{current_page, page_count}'
), checked AS MATERIALIZED (
  SELECT i.*, coalesce(c.id, o.id) AS same_book, CASE WHEN i.is_unknown THEN 'BOOK' WHEN i.is_card_unknown THEN 'CARD' WHEN EXISTS (
    SELECT
    FROM unnest(i.shelf_ids) AS requested (id)
    WHERE NOT EXISTS (
      SELECT
      FROM shelves s
      WHERE s.user_id = $1 AND s.id = requested.id
    )
  ) THEN 'SHELF' WHEN c.id IS NOT NULL THEN 'EDITION' WHEN o.id IS NOT NULL THEN 'ISBN' WHEN i.new ? 'current_page' AND i.page > i.page_count THEN 'PAGE' WHEN i.new ? 'page_count' AND i.page > i.page_count THEN 'PAGE_COUNT' END AS problem
  FROM input i
  LEFT JOIN LATERAL (
    SELECT b.id
    FROM books b
    WHERE b.user_id = $1 AND b.isbn13 = i.isbn13 AND b.id <> i.id
    OFFSET 0
  ) o ON true
  LEFT JOIN LATERAL (
    SELECT b.id
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = i.edition_id::uuid AND b.id <> i.id
    OFFSET 0
  ) c ON true
), accepted AS MATERIALIZED (
  SELECT c.*, c.problem IS NULL AND (c.isbn13 IS NULL OR row_number() OVER same_isbn = 1) AND (c.edition_id IS NULL OR row_number() OVER same_edition = 1) AS is_accepted, CASE WHEN c.isbn13 IS NULL OR row_number() OVER same_isbn = 1 THEN first_value(c.id) OVER same_edition ELSE first_value(c.id) OVER same_isbn END AS first_with_same
  FROM checked c WINDOW same_isbn AS (PARTITION BY c.isbn13, c.problem IS NULL ORDER BY c.n), same_edition AS (PARTITION BY c.edition_id, c.problem IS NULL ORDER BY c.n)
), updated AS (
  UPDATE books b
  SET title = CASE WHEN i.new ? 'title' THEN (i.new ->> 'title')::text ELSE b.title END, subtitle = CASE WHEN i.new ? 'subtitle' THEN (i.new ->> 'subtitle')::text ELSE b.subtitle END, authors = CASE WHEN i.new ? 'authors' THEN ARRAY(
    SELECT jsonb_array_elements_text(i.new -> 'authors')
  )::text[] ELSE b.authors END, author_roles = CASE WHEN i.new ? 'author_roles' THEN ARRAY(
    SELECT jsonb_array_elements_text(i.new -> 'author_roles')
  )::author_role[] ELSE b.author_roles END, isbn13 = CASE WHEN i.new ? 'isbn13' THEN (i.new ->> 'isbn13')::text ELSE b.isbn13 END, publisher = CASE WHEN i.new ? 'publisher' THEN (i.new ->> 'publisher')::text ELSE b.publisher END, published_date = CASE WHEN i.new ? 'published_date' THEN (i.new ->> 'published_date')::text ELSE b.published_date END, page_count = CASE WHEN i.new ? 'page_count' THEN (i.new ->> 'page_count')::int ELSE b.page_count END, language = CASE WHEN i.new ? 'language' THEN (i.new ->> 'language')::text ELSE b.language END, category = CASE WHEN i.new ? 'category' THEN (i.new ->> 'category')::text ELSE b.category END, genre = CASE WHEN i.new ? 'genre' THEN (i.new ->> 'genre')::text ELSE b.genre END, description = CASE WHEN i.new ? 'description' THEN (i.new ->> 'description')::text ELSE b.description END, series = CASE WHEN i.new ? 'series' THEN (i.new ->> 'series')::text ELSE b.series END, series_position = CASE WHEN i.new ? 'series_position' THEN (i.new ->> 'series_position')::text ELSE b.series_position END, binding = CASE WHEN i.new ? 'binding' THEN (i.new ->> 'binding')::text ELSE b.binding END, private_notes = CASE WHEN i.new ? 'private_notes' THEN (i.new ->> 'private_notes')::text ELSE b.private_notes END, content_notes = CASE WHEN i.new ? 'content_notes' THEN (i.new ->> 'content_notes')::text ELSE b.content_notes END, moods = CASE WHEN i.new ? 'moods' THEN ARRAY(
    SELECT jsonb_array_elements_text(i.new -> 'moods')
  )::text[] ELSE b.moods END, edition_id = CASE WHEN i.new ? 'edition_id' THEN (i.new ->> 'edition_id')::uuid ELSE b.edition_id END, linked_by = CASE WHEN i.new ? 'linked_by' THEN (i.new ->> 'linked_by')::book_link ELSE b.linked_by END, status = CASE WHEN i.new ? 'status' THEN (i.new ->> 'status')::reading_status ELSE b.status END, started_at = r.started_at, finished_at = r.finished_at, current_page = CASE WHEN i.new ->> 'current_page' IS NOT NULL THEN (i.new ->> 'current_page')::int WHEN i.new ? 'current_page' AND NOT EXISTS (
    SELECT
    FROM newest_progress($1, i.id)
  ) THEN NULL ELSE r.current_page END, updated_at = now()
  FROM accepted i
  CROSS JOIN LATERAL change_reads( $1, i.id, (i.new ->> 'status')::reading_status, (i.new ->> 'current_page')::int, 2147483647::int ) r
  WHERE b.user_id = $1 AND b.id = i.id AND i.is_accepted AND i.new <> '{}'
), shelved AS (
  INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
  SELECT $1, requested.id, i.id, i.added_at
  FROM accepted i
  CROSS JOIN unnest(i.shelf_ids) AS requested (id)
  WHERE i.is_accepted
  ON CONFLICT DO NOTHING
), removed AS (
  DELETE FROM shelf_books sb USING accepted i
  WHERE sb.user_id = $1 AND sb.book_id = ANY(ARRAY(
    SELECT id
    FROM accepted
    WHERE is_accepted AND shelf_ids IS NOT NULL
  )) AND sb.book_id = i.id AND sb.shelf_id <> ALL(i.shelf_ids)
)
SELECT CASE WHEN NOT i.is_accepted THEN coalesce(i.problem, 'ISBN') END, coalesce(i.same_book, i.first_with_same), i.page, i.page_count
FROM accepted i
ORDER BY i.n;

SELECT link_books(array_fill($1::uuid, ARRAY[cardinality($2)]), $2::uuid[]);

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title, b.isbn13, b.page_count, b.status
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
