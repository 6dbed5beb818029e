-- Why: deleting a read with thousands of progress entries updated `reading_days` once per entry. Now a trigger does it once per
-- statement. The functions are in migrations/functions/reads.sql.

DROP TRIGGER IF EXISTS log_changes ON progress_entries;
DROP FUNCTION IF EXISTS log_progress_entry, count_reading_day;
