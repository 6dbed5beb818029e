\set u random(1, 2000)
\set s :u * 5 + random(0, 4)
\set k random(1, 20)
\set t random(1, 3)
UPDATE books
SET status = (ARRAY['WANT_TO_READ', 'READING', 'READ'])[:t::int]::reading_status, updated_at = now()
WHERE user_id = (SELECT md5('user-' || :u)::uuid) AND id = (SELECT md5('book-' || :s || '-' || :k)::uuid);
