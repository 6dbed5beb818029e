-- Why: taking the next editions without a picture reads no more than it takes, and nobody waits while the index is built.
-- no-transaction

-- Those that were never asked for come first, the popular first of all. An instant plus days depends on the session's time zone, which
-- no index may: so it is reckoned in UTC.
create index concurrently if not exists editions_due_for_cover on editions (
    greatest(cover_due_at, (cover_asked_at at time zone 'UTC' + interval '90 days') at time zone 'UTC'), popularity desc, id)
  where cover_version is null and (isbn13 is not null or cover_links <> '{}');
create index concurrently if not exists editions_late_for_cover on editions (cover_due_at)
  where cover_version is null and cover_failures > 0;
drop index concurrently if exists editions_without_cover;
