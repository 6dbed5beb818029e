-- Why: accounts no longer move between databases, and a server has one database.
-- same-transaction

-- Triggers that no file in `functions` creates any more, and their functions.
DROP FUNCTION IF EXISTS refuse_moved_identity, refuse_moved_account, refuse_credential, keep_client_in_parcel, delete_moves_of_tenant,
    log_new_sources CASCADE;

DROP FUNCTION IF EXISTS is_moving_account, is_leaving_account, are_moved_covers_kept, refuse_move, refuse_moved_user,
    refuse_moved_hash, refuse_moved_tokens, has_arrived, identity_hash, release_moved_identity, is_client_in_parcel, forget_moves,
    delete_used_parcel, refuse_tenant_of_move, end_move_of_deleted_user, moved_tables, rebuilt_tables, remaining_tables,
    credential_tables, count_account, pack_rows, refuse_moving_covers, account_hashes, close_account, pack_account,
    uncopied_edition_columns, unpack_rows, parcel_columns, unpack_editions, found_editions, drop_grants_without_client,
    unpack_account, check_arrival, expect_account, check_arriving, begin_parcel_copy, start_change_log, receive_account,
    cancel_arrival, return_account, finish_leaving, forget_lost_account, prune_account_parcels,
    log_catalog_changes, changed_editions, catalog_copy_position, find_local_editions, copy_editions,
    claim_oauth_request, adopt_oauth_request, release_oauth_request;

DROP TABLE account_moves, account_parcels, catalog_changes;
DROP TYPE account_move_state;

ALTER TABLE oauth_requests DROP COLUMN claimed_by;

-- The job that copied the catalog, and its position.
DELETE FROM jobs WHERE kind = 'catalog.copy';
DELETE FROM checkpoints WHERE task = 'catalog.copy';
