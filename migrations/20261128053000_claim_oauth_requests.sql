-- Why: two readers in different databases who entered the code of one request at the same time could both lose it.
-- same-transaction

ALTER TABLE oauth_requests ADD COLUMN claimed_by uuid;
COMMENT ON COLUMN oauth_requests.claimed_by IS
    'The reader who is deciding the request in another database; null if there is none. Without a foreign key, because this database does not have the account.';
