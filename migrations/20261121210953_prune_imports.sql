-- Why: an import whose job is a dead letter kept its file for ever, and one of its reader's five places in the queue.

-- Ends imports that were not gone on with; answers whose they were.
create function prune_imports(older_than_days int) returns setof uuid
language sql security definer set search_path = public, pg_temp
begin atomic
  with ended as (
    update imports i set state = 'FAILED', content = null, updated_at = now()
      where i.content is not null and i.updated_at < now() - older_than_days * interval '1 day'
      returning i.user_id, i.id
  ), told as (
    insert into import_failures (user_id, import_id, line, message)
      select e.user_id, e.id, 0, 'This import was given up. Import the file again.' from ended e
      on conflict do nothing
  )
  select e.user_id from ended e;
end;
revoke execute on function prune_imports(int) from public;
grant execute on function prune_imports(int) to bookplate_app;
create index imports_waiting on imports (updated_at) where content is not null;
