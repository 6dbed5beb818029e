-- Why: filling the catalogue's gaps takes days at the sources' pace, so each edition says when it was asked for.

alter table editions add column sources_asked_at timestamptz;

-- The plans of a search do not depend on what the planner knows of these, and gathering it takes long.
alter table editions alter column search_title set statistics 0;
alter table editions alter column search_text set statistics 0;
alter table editions alter column search_vector set statistics 0;
