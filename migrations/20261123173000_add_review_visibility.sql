-- Why: statistics of ratings read the row of each book to see which reviews are shown. With 5,000 books that took most of their time.
-- This file also contains what must take effect together with new functions: those are replaced in the transaction of the last
-- migration.

-- In the order in which requests lock the tables. They wait while this migration runs: some seconds with a million books.
LOCK TABLE users, books, reviews, progress_entries IN ACCESS EXCLUSIVE MODE;

-- Whether the API shows the review: the status of its book is READ. Triggers of `books` and `reviews` maintain it.
ALTER TABLE reviews ADD COLUMN is_visible boolean NOT NULL DEFAULT true;
-- Nothing changes for clients, so nothing is logged.
SET LOCAL app.bulk = 'on';
UPDATE reviews r
SET is_visible = false
FROM books b
WHERE b.user_id = r.user_id AND b.id = r.book_id AND b.status <> 'READ';
SET LOCAL app.bulk = '';

-- An index-only scan returns the ratings of a library.
CREATE INDEX reviews_visible ON reviews (user_id, half_stars)
    WHERE is_visible;

-- Triggers of `progress_entries` run once per statement: deleting a read with thousands of entries updated `reading_days` for
-- each of them.
DROP TRIGGER IF EXISTS log_changes ON progress_entries;
DROP FUNCTION IF EXISTS log_progress_entry, count_reading_day;

-- The feed collects signals incrementally.
ALTER TABLE feed_state DROP COLUMN similar_at;
DROP FUNCTION IF EXISTS signals_of_readers(), editions_with_news(), finish_learning(timestamptz, bigint[], boolean),
    refresh_popularity(float8);

-- Access tokens have scopes.
DROP FUNCTION IF EXISTS authenticate_access_token(bytea, access_scope);
DROP FUNCTION IF EXISTS create_access_token(
    uuid, uuid, text, access_scope[], bytea, bytea, bytea, text, timestamptz, int, int
);

-- Users who signed up with a server of the previous version since the table was created. The lock of `users` lasts until the
-- trigger that adds identities exists. The policy is that of migrations/functions/identities.sql, which does not exist yet.
CREATE POLICY administration ON identities TO CURRENT_USER
    USING (true)
    WITH CHECK (true);
INSERT INTO identities (user_id, tenant_id, subject, created_at)
SELECT u.id, u.tenant_id, u.apple_sub, u.created_at
FROM users u
WHERE u.apple_sub IS NOT NULL AND NOT EXISTS (SELECT FROM identities i WHERE i.user_id = u.id)
ON CONFLICT DO NOTHING;
