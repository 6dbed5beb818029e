\set u random(1, 2000)
\set s :u * 5 + random(0, 4)
\set k random(1, 20)
\set t random(1, 3)
\if :t = 1
UPDATE books
SET status = 'WANT_TO_READ', updated_at = now()
WHERE user_id = (SELECT md5('user-' || :u)::uuid) AND id = (SELECT md5('book-' || :s || '-' || :k)::uuid);
\else
UPDATE books b
SET status = (SELECT (ARRAY['READING', 'READ'])[:t::int - 1]::reading_status),
    started_at = r.started_at,
    finished_at = r.finished_at,
    current_page = r.current_page,
    updated_at = now()
FROM change_reads(
    (SELECT md5('user-' || :u)::uuid), (SELECT md5('book-' || :s || '-' || :k)::uuid),
    (SELECT (ARRAY['READING', 'READ'])[:t::int - 1]::reading_status), NULL, NULL
) r
WHERE user_id = (SELECT md5('user-' || :u)::uuid) AND id = (SELECT md5('book-' || :s || '-' || :k)::uuid);
\endif
