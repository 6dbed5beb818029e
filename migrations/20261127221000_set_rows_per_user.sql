-- Why: a statement has one plan for all users, chosen for a user with the average number of rows. If most libraries have one book,
-- reading a whole library appears to cost as little as finding a book in it, and a large library is read for each book.
-- same-transaction

-- In tables with several indexes for the rows of a user, and in tables that are read in pages, PostgreSQL expects 100 rows of each
-- user, from the next ANALYZE of the table on.
ALTER TABLE books ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE changes ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE deleted_books ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE ereader_documents ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE notes ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE progress_entries ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE reading_goals ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE reads ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE reviews ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE shelf_books ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE shelves ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE swipes ALTER COLUMN user_id SET (n_distinct = -0.01);
