-- Why: a restored book had lost the last position of the reader's e-reader.

-- The row of `ereader_positions`; null if there is none.
ALTER TABLE deleted_books ADD COLUMN ereader_position jsonb;

-- Purging a deleted book ends its links.
CREATE INDEX ereader_documents_of_book ON ereader_documents (user_id, book_id)
    WHERE book_id IS NOT NULL;
