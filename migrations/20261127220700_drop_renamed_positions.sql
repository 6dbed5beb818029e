-- Why: note_place has a new name, library_positions returns another column, and search_notes names its parameter `of_color`.
-- same-transaction

DROP FUNCTION IF EXISTS note_place, library_positions, search_notes;
