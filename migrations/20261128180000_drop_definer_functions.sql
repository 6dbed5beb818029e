-- Why: statements next to the Swift that sends them replace these functions, with privileges and policies of the server's role.
-- same-transaction

DROP FUNCTION IF EXISTS begin_object_write, end_object_write, pending_object_writes, count_expired_object_writes,
    delete_expired_object_writes, sweep_checkpoint, save_sweep_checkpoint, delete_sweep_checkpoint, written_position,
    replayed_position, record_source_misses, record_source_search, deleted_account, record_apple_revocation,
    clear_tombstone_sessions, schedule_job, enqueue_cover_searches,
    oauth_request_of_reader, decide_oauth_request, delete_allowed_oauth_requests;
