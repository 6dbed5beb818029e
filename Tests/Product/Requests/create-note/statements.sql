-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT problem
FROM create_notes($1, $2);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT n.id, n.text, n.comment, n.chapter, n.color, coalesce(n.page, (
    SELECT round(progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds) * b.page_count)::int
    FROM books b
    CROSS JOIN LATERAL (
      SELECT audio_length(b.user_id, b.id) AS seconds
    ) l
    WHERE b.user_id = n.user_id AND b.id = n.book_id
  )), coalesce(n.percent, (
    SELECT 100 * progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds)
    FROM books b
    CROSS JOIN LATERAL (
      SELECT audio_length(b.user_id, b.id) AS seconds
    ) l
    WHERE b.user_id = n.user_id AND b.id = n.book_id
  )), CASE WHEN n.page IS NOT NULL THEN 'PAGE' WHEN n.percent IS NOT NULL THEN 'PERCENT' WHEN n.seconds IS NOT NULL THEN 'SECONDS' END, n.created_at
  FROM notes n
  WHERE n.user_id = $1 AND n.id = requested.id
  OFFSET 0
) found;
