-- Why: statistics of ratings read the row of each book to see which reviews are shown. With 5,000 books that took most of their time.

-- Whether the API shows the review: the status of its book is READ. The trigger of `books` maintains it.
ALTER TABLE reviews ADD COLUMN is_visible boolean NOT NULL DEFAULT true;
UPDATE reviews r
SET is_visible = false
FROM books b
WHERE b.user_id = r.user_id AND b.id = r.book_id AND b.status <> 'READ';

-- An index-only scan returns the ratings of a library.
CREATE INDEX reviews_visible ON reviews (user_id, half_stars)
    WHERE is_visible;
