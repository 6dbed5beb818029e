-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT (array_agg(s.id ORDER BY s.id DESC))[1], count(*)::int
FROM (
  SELECT b.id, floor( sum( greatest( ( 1000 + 250 * coalesce(r.reads, 0) + 250 * coalesce(r.entries, 0) + coalesce(r.notes, 0) + coalesce(octet_length(b.description), 0) + coalesce(octet_length(b.private_notes), 0) + coalesce(octet_length(b.content_notes), 0) + coalesce(octet_length(v.text), 0) + coalesce(c.byte_counts[2], 0) + 250 * coalesce(n.notes, 0) + coalesce(n.bytes, 0) + coalesce(o.bytes, 0) )::float8 / 18000000, (1 + coalesce(r.entries, 0) + coalesce(n.notes, 0))::float8 / 45000 ) ) OVER (ORDER BY b.id) ) AS part
  FROM books b
  LEFT JOIN reviews v ON v.user_id = $1 AND v.book_id = b.id
  LEFT JOIN covers c ON c.user_id = $1 AND c.book_id = b.id
  LEFT JOIN (
    SELECT d.book_id, count(*) AS reads, sum(p.entries) AS entries, sum(coalesce(octet_length(d.note), 0) + coalesce(p.notes, 0)) AS notes
    FROM reads d
    LEFT JOIN (
      SELECT e.read_id, count(*) AS entries, sum(octet_length(e.note)) AS notes
      FROM progress_entries e
      WHERE e.user_id = $1
      GROUP BY e.read_id
    ) p ON p.read_id = d.id
    WHERE d.user_id = $1
    GROUP BY d.book_id
  ) r ON r.book_id = b.id
  LEFT JOIN (
    SELECT t.book_id, count(*) AS notes, sum(octet_length(concat(t.text, t.comment, t.chapter))) AS bytes
    FROM notes t
    WHERE t.user_id = $1
    GROUP BY t.book_id
  ) n ON n.book_id = b.id
  LEFT JOIN (
    SELECT k.book_id, sum(octet_length(to_jsonb(k)::text)) AS bytes
    FROM book_copies k
    WHERE k.user_id = $1
    GROUP BY k.book_id
  ) o ON o.book_id = b.id
  WHERE b.user_id = $1
) s
GROUP BY s.part
ORDER BY s.part;

SELECT (array_agg(s.edition_id ORDER BY s.edition_id DESC))[1], count(*)::int
FROM (
  SELECT edition_id, row_number() OVER (ORDER BY edition_id) / 45000 AS part
  FROM current_swipes
  WHERE user_id = $1
) s
GROUP BY s.part
ORDER BY s.part;
