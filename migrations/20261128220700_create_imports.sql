-- Why: readers import their library from a file of another service, which a job reads in the background.

CREATE TYPE import_format AS ENUM (
    'GOODREADS', 'STORYGRAPH', 'HARDCOVER', 'LIBRARYTHING', 'CALIBRE', 'OPENREADS', 'BOOKPLATE'
);
CREATE TYPE import_state AS ENUM ('QUEUED', 'RUNNING', 'DONE', 'FAILED');

CREATE TABLE imports (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    format import_format NOT NULL,
    state import_state NOT NULL DEFAULT 'QUEUED',
    -- The file; null after the import has ended.
    content bytea,
    -- SHA-256 of the file.
    content_hash bytea NOT NULL,
    -- The number of records; null until they have been counted.
    total int,
    done int NOT NULL DEFAULT 0,
    created int NOT NULL DEFAULT 0,
    updated int NOT NULL DEFAULT 0,
    -- The columns of the file that have data which the import does not keep.
    ignored_columns text[] NOT NULL DEFAULT '{}',
    -- The books of the library by the ids that they have in the file, if the ids differ. The notes of the file name its ids.
    book_ids jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
ALTER TABLE imports ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- A file is not imported twice at the same time.
CREATE UNIQUE INDEX imports_unfinished ON imports (user_id, content_hash, format)
    WHERE state IN ('QUEUED', 'RUNNING');
-- prune_imports uses this index.
CREATE INDEX imports_waiting ON imports (updated_at)
    WHERE content IS NOT NULL;

COMMENT ON TABLE imports IS 'Imports of libraries from files of other services.';
COMMENT ON COLUMN imports.content IS 'The file; null after the import has ended.';
COMMENT ON COLUMN imports.content_hash IS 'SHA-256 of the file.';
COMMENT ON COLUMN imports.total IS 'The number of records; null until they were counted.';
COMMENT ON COLUMN imports.done IS 'The number of processed records.';
COMMENT ON COLUMN imports.created IS 'The number of books that were created.';
COMMENT ON COLUMN imports.updated IS 'The number of books that were changed.';
COMMENT ON COLUMN imports.ignored_columns IS 'The columns of the file whose data is not kept.';
COMMENT ON COLUMN imports.book_ids IS 'The ids of books in the library, by their ids in the file, if these differ.';

CREATE TABLE import_failures (
    user_id uuid NOT NULL,
    import_id uuid NOT NULL,
    -- The line of the file; 0 for a failure of the whole import.
    line int NOT NULL,
    -- Distinguishes the failures of a line.
    position int NOT NULL DEFAULT 0,
    -- The column that was left out; null if the failure is that of the whole record.
    field text,
    message text NOT NULL,
    PRIMARY KEY (user_id, import_id, line, position),
    FOREIGN KEY (user_id, import_id) REFERENCES imports ON DELETE CASCADE
);
ALTER TABLE import_failures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE import_failures IS 'Records and fields of files that could not be imported.';
COMMENT ON COLUMN import_failures.line IS 'The line of the file, from 1; 0 for a failure of the whole import.';
COMMENT ON COLUMN import_failures.position IS 'Distinguishes the failures of a line.';
COMMENT ON COLUMN import_failures.field IS 'The column that was left out; null if the whole record was.';
