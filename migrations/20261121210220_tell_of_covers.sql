-- Why: devices and brokers hear of each cover, whoever set it: the outbox is written with the cover itself.

-- A picture came, or another one.
create function tell_cover_stored() returns trigger language plpgsql as $$
begin
  insert into events (user_id, kind, payload)
    values (new.user_id, 'cover_changed', jsonb_build_object(
      'book_id', new.book_id, 'status', 'READY', 'source', new.source, 'version', new.version));
  return null;
end
$$;
create trigger tell_stored after insert on covers
  for each row execute function tell_cover_stored();
create trigger tell_replaced after update of version on covers
  for each row when (old.version <> new.version) execute function tell_cover_stored();

-- A search began or found nothing, or the picture went. READY is told with the picture.
create function tell_cover_status() returns trigger language plpgsql as $$
begin
  insert into events (user_id, kind, payload)
    values (new.user_id, 'cover_changed', jsonb_build_object(
      'book_id', new.id, 'status', new.cover_status));
  return null;
end
$$;
create trigger tell_cover_status after update of cover_status on books
  for each row when (old.cover_status <> new.cover_status and new.cover_status <> 'READY')
  execute function tell_cover_status();
