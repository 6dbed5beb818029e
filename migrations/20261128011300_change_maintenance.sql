-- Why: enqueue_links_of_recent_editions replaces enqueue_links_of_recent_books, which read the books of all readers, inactive_guests has
-- other parameters, and prune_oauth finds expired access tokens without reading all tokens.
-- same-transaction

DROP FUNCTION IF EXISTS enqueue_links_of_recent_books, inactive_guests(int, int);

-- Each grant of an app has up to five access tokens, which expire after an hour.
CREATE INDEX access_tokens_grant_expires_at ON access_tokens (expires_at)
    WHERE grant_id IS NOT NULL;
