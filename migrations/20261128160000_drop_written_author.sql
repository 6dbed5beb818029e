-- Why: `author` is the line of all authors that lists show. The text in which an import or a reader named several authors was only
-- for clients without lists of authors.
-- same-transaction

-- functions/guests.sql creates the trigger again.
DROP TRIGGER set_computed_columns ON books;
ALTER TABLE books DROP COLUMN written_author;
DROP DOMAIN book_author;
UPDATE books
SET author = author_text(authors, author_roles),
    title_card_version = title_card_version(title, author_text(authors, author_roles), genre)
WHERE cardinality(authors) > 1;
COMMENT ON COLUMN books.author IS
    'The names of the authors in one line, by which lists are sorted. A trigger computes it (`author_text`).';
