-- Why: a page finds what was seen since its cursor by an index, and nobody waits while that is built.
-- no-transaction

create index concurrently if not exists swipes_seen_at on swipes (user_id, seen_at);
