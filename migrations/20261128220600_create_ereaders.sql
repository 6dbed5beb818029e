-- Why: e-readers report how far a reader is, in files that they identify by a hash, and ask where another device has stopped.

-- The files that KOReader has reported, with their last position.
CREATE TABLE ereader_documents (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- What the e-reader calls the file: usually the MD5 of parts of its content, or of its name.
    hash text COLLATE "C" NOT NULL CHECK (hash ~ '^[A-Za-z0-9_]{1,128}$'),
    -- The book that the reader has linked. Not a foreign key: the link of a deleted book works again when the book is restored.
    book_id uuid,
    -- Sent only by e-readers whose owner allows it.
    title text CHECK (char_length(title) BETWEEN 1 AND 500),
    author text CHECK (char_length(author) BETWEEN 1 AND 500),
    -- The place in the file, in the e-reader's own notation.
    progress text NOT NULL CHECK (char_length(progress) <= 4000),
    fraction float8 NOT NULL CHECK (fraction BETWEEN 0 AND 1),
    device_name text NOT NULL CHECK (char_length(device_name) <= 200),
    device_id text CHECK (char_length(device_id) <= 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The time of the last position, by the clock of the server.
    synced_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, hash)
);
ALTER TABLE ereader_documents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE ereader_documents ALTER COLUMN user_id SET (n_distinct = -0.01);
CREATE INDEX ereader_documents_synced ON ereader_documents (user_id, synced_at, id);

-- Purging a deleted book ends its links.
CREATE INDEX ereader_documents_of_book ON ereader_documents (user_id, book_id)
    WHERE book_id IS NOT NULL;

COMMENT ON TABLE ereader_documents IS 'The files that KOReader has reported, with the last position in each.';
COMMENT ON COLUMN ereader_documents.hash IS
    'How the e-reader identifies the file: usually the MD5 of parts of its content, or of its name.';
COMMENT ON COLUMN ereader_documents.book_id IS
    'The book that the reader has linked. Not a foreign key: the link works again when a deleted book is restored.';
COMMENT ON COLUMN ereader_documents.title IS 'Null if the settings of the e-reader do not send it.';
COMMENT ON COLUMN ereader_documents.progress IS 'The position in the file, in the notation of the e-reader.';
COMMENT ON COLUMN ereader_documents.fraction IS 'The position from 0 to 1.';
COMMENT ON COLUMN ereader_documents.synced_at IS 'When the last position arrived, by the clock of the server.';

-- The last position in each book that an e-reader has reported, as a document of OPDS Progression.
CREATE TABLE ereader_positions (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    -- By the clock of the device with OPDS Progression, and of the server with KOReader.
    modified_at timestamptz NOT NULL,
    fraction float8 NOT NULL CHECK (fraction BETWEEN 0 AND 1),
    -- A URI.
    device_id text NOT NULL CHECK (char_length(device_id) <= 500),
    device_name text NOT NULL CHECK (char_length(device_name) <= 200),
    title text CHECK (char_length(title) <= 500),
    -- Places inside the publication. Null if the device has sent none.
    place_refs text[],
    -- The progress entry that the device has written last, and the time of the first position in it.
    entry_id uuid,
    entry_began_at timestamptz,
    PRIMARY KEY (user_id, book_id),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE ereader_positions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE ereader_positions IS 'The last position in each book, in the terms of OPDS Progression.';
COMMENT ON COLUMN ereader_positions.modified_at IS
    'The time of the position, by the clock of the device; by that of the server for KOReader.';
COMMENT ON COLUMN ereader_positions.fraction IS 'The position from 0 to 1.';
COMMENT ON COLUMN ereader_positions.device_id IS 'A URI.';
COMMENT ON COLUMN ereader_positions.place_refs IS
    'References to positions inside the publication (`references` in OPDS Progression), such as URIs with fragments. Null if '
    'the device has sent none.';
COMMENT ON COLUMN ereader_positions.entry_id IS
    'The progress entry that the device has written last. Positions of the next 15 minutes change this entry instead of '
    'adding others.';
COMMENT ON COLUMN ereader_positions.entry_began_at IS 'The time of the first position in that entry.';
