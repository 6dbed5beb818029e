-- Why: by default, PostgreSQL vacuums a table after a fifth of it has changed. With millions of rows that is late: dead rows
-- and an old visibility map make index-only scans read the table.

-- Large tables: after 1% of the rows, and 5% of new ones. Updates of books are HOT updates, which remove dead rows themselves, so
-- that only about 2% of the rows are dead at a time.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'access_tokens', 'apple_grants', 'book_copies', 'books', 'changes', 'collected_signals', 'covers', 'deleted_books',
        'edition_genres', 'edition_similar', 'edition_similar_sources', 'editions', 'ereader_documents', 'ereader_positions', 'feed_decks', 'feed_readers', 'followed_authors', 'identities',
        'import_failures', 'imports', 'library_counts', 'listed_books', 'logs_to_prune', 'notes', 'oauth_grants', 'progress_entries', 'reading_counts', 'reading_days',
        'reading_goals', 'reading_tombstones', 'reading_top_counts', 'reads', 'removed_covers', 'reviews', 'scans', 'sessions', 'shared_links', 'shelf_books', 'shelf_counts', 'shelves',
        'swipes', 'users'
    ] LOOP
        EXECUTE format(
            'ALTER TABLE %I SET (
                autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
                autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
                autovacuum_analyze_threshold = 1000
            )',
            name
        );
    END LOOP;
    -- Queues and counters: few rows, which change all the time.
    FOREACH name IN ARRAY ARRAY[
        'books_to_link', 'edition_changes', 'events', 'jobs', 'leases', 'moving_covers', 'oauth_requests', 'rate_buckets', 'readers_to_collect', 'reading_recounts',
        'source_usage', 'tenant_storage', 'webhook_positions', 'work_signals'
    ] LOOP
        EXECUTE format(
            'ALTER TABLE %I SET (
                autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
                autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
            )',
            name
        );
    END LOOP;
END
$$;

-- A row for each upload, which is deleted a moment later.
ALTER TABLE object_writes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Each event adds a row, updates it, and deletes it later.
ALTER TABLE webhook_deliveries SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
