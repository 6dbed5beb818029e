-- Why: follow_read and bury have new names, and append_change has another parameter.
-- same-transaction

DROP FUNCTION IF EXISTS append_change(uuid, change_kind, text, uuid);
DROP FUNCTION IF EXISTS follow_read, bury;
