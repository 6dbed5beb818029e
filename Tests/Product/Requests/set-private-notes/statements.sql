-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET binding = $3, private_notes = $4, content_notes = $5, moods = $6::text[], updated_at = now()
WHERE b.user_id = $1 AND b.id = $2
RETURNING b.id, b.binding, b.private_notes, b.content_notes, b.moods, b.original_year;
