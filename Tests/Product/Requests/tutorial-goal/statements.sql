-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT set_reading_goal($1, $2, $3, $4::goal_unit, $5);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT ( lpad(to_hex(g.year), 16, '0') || lpad(array_position('{BOOKS, PAGES, HOURS}', g.unit::text)::text, 16, '0') )::uuid, g.target, reading_goal_progress($1, g.year, g.unit), reading_goal_progress($1, g.year, g.unit) >= g.target
  FROM reading_goals g
  WHERE g.user_id = $1 AND ( lpad(to_hex(g.year), 16, '0') || lpad(array_position('{BOOKS, PAGES, HOURS}', g.unit::text)::text, 16, '0') )::uuid = requested.id
  OFFSET 0
) found;
