-- Why: each search compares a bounded number of words and letters, whatever was typed.
-- same-transaction

-- The functions that replace them are in functions/search.sql.
DROP FUNCTION IF EXISTS search_similar_words(text), search_matches(text, text);
