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
    (started_at, finished_at, current_page) = (
        SELECT r.started_at, r.finished_at, r.current_page
        FROM change_reads(
            b.user_id, b.id, b.status, (SELECT (ARRAY['READING', 'READ'])[:t::int - 1]::reading_status), NULL,
            b.started_at, b.finished_at, b.current_page
        ) r
    ),
    updated_at = now()
WHERE user_id = (SELECT md5('user-' || :u)::uuid) AND id = (SELECT md5('book-' || :s || '-' || :k)::uuid);
\endif
