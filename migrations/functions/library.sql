-- requires: accounts
-- The policies and grants of shelves, books on shelves, books, and reviews. A row is visible to its user only.

DROP POLICY IF EXISTS owner_only ON shelves;
CREATE POLICY owner_only ON shelves TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shelves;
CREATE POLICY administration ON shelves TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON books;
CREATE POLICY owner_only ON books TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON books;
CREATE POLICY administration ON books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON shelf_books;
CREATE POLICY owner_only ON shelf_books TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON shelf_books;
CREATE POLICY administration ON shelf_books TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON reviews;
CREATE POLICY owner_only ON reviews TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON reviews;
CREATE POLICY administration ON reviews TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- The table is closed to the server's role. Only functions in works.sql access it.
DROP POLICY IF EXISTS administration ON books_to_link;
CREATE POLICY administration ON books_to_link TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON shelves, books, reviews TO bookplate_app;
GRANT SELECT, INSERT, DELETE ON shelf_books TO bookplate_app;
